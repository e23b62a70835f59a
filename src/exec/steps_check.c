/* Checks, as ops and as custom calls; probes; printing. */
#include "exec/steps_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "exec/machine.h"
#include "exec/number.h"
#include "ir/elements.h"
#include "ir/number.h"

typedef enum check_kind { CHECK_EQUAL, CHECK_ALMOST, CHECK_CLOSE } check_kind;

typedef struct check_step {
    check_kind kind;
    double tolerance;     /* of ALMOST */
    uint64_t max_ulps;    /* of CLOSE */
    uint64_t min_ulps;    /* the greatest distance of all must be this at least */
    exec_array *expected; /* a constant; NULL: the second operand */
    slice probe;          /* what was probed is expected instead */
    int64_t iteration;
} check_step;

/* ---- comparing ---- */

static bool both_nan(double a, double b)
{
    return isnan(a) && isnan(b);
}

static bool almost(double a, double b, double tolerance)
{
    if (a == b || both_nan(a, b)) {
        return true;
    }
    return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance;
}

/* The bits of a float as a number that orders them. */
static int64_t ordered(tsr_dtype dtype, const void *element)
{
    const int bits = tsr_dtype_bits(dtype);
    uint64_t pattern = 0;
    memcpy(&pattern, element, (size_t)tsr_dtype_item_bytes(dtype));
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    const int64_t magnitude = (int64_t)(pattern & (sign - 1));
    return (pattern & sign) != 0 ? -magnitude : magnitude;
}

/* How many values of the type lie between two; more than any for a NaN beside a number. */
static uint64_t ulps_between(tsr_dtype dtype, const void *a, const void *b)
{
    const double x = exec_number_load(dtype, a).re;
    const double y = exec_number_load(dtype, b).re;
    if (x == y || both_nan(x, y)) {
        return 0;
    }
    if (isnan(x) || isnan(y) || isinf(x) || isinf(y)) {
        return UINT64_MAX;
    }
    const int64_t u = ordered(dtype, a);
    const int64_t v = ordered(dtype, b);
    return u > v ? (uint64_t)u - (uint64_t)v : (uint64_t)v - (uint64_t)u;
}

/* The distance of two elements; complex numbers part by part. */
static uint64_t ulps_of(tsr_dtype dtype, const char *a, const char *b)
{
    if (dtype_is_complex(dtype)) {
        const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
        const int64_t half = tsr_dtype_item_bytes(part);
        const uint64_t re = ulps_between(part, a, b);
        const uint64_t im = ulps_between(part, a + half, b + half);
        return re > im ? re : im;
    }
    if (dtype_is_float(dtype)) {
        return ulps_between(dtype, a, b);
    }
    return memcmp(a, b, (size_t)tsr_dtype_item_bytes(dtype)) == 0 ? 0 : UINT64_MAX;
}

static bool agrees(const check_step *c, tsr_dtype dtype, const char *a, const char *b,
                   uint64_t *most)
{
    const exec_number x = exec_number_load(dtype, a);
    const exec_number y = exec_number_load(dtype, b);
    const bool is_integer = x.kind == NUMBER_SIGNED || x.kind == NUMBER_UNSIGNED;
    if (c->kind == CHECK_CLOSE) {
        const uint64_t ulps = ulps_of(dtype, a, b);
        *most = ulps > *most ? ulps : *most;
        return ulps <= c->max_ulps;
    }
    if (is_integer) {
        return x.integer == y.integer;
    }
    const double tolerance = c->kind == CHECK_ALMOST ? c->tolerance : 0;
    return almost(x.re, y.re, tolerance) && almost(x.im, y.im, tolerance);
}

/* ---- messages ---- */

typedef struct index_text {
    char text[256];
} index_text;

static index_text text_of_index(const exec_array *a, int64_t element)
{
    index_text out;
    size_t at = 0;
    int64_t rest = element;
    const int64_t item = tsr_dtype_item_bytes(a->dtype);
    out.text[at++] = '[';
    for (size_t d = 0; d < a->rank && at < sizeof out.text - 32; d++) {
        const int64_t stride = a->strides[d] / item;
        at += (size_t)snprintf(out.text + at, sizeof out.text - at, "%s%lld", d > 0 ? ", " : "",
                               (long long)(rest / stride));
        rest %= stride;
    }
    (void)snprintf(out.text + at, sizeof out.text - at, "]");
    return out;
}

static tsr_status report(exec_machine *m, const exec_step *step, const exec_array *a,
                         const exec_array *b, int64_t element)
{
    const int64_t offset = element * tsr_dtype_item_bytes(a->dtype);
    return EXEC_ERROR(m->code, step->op, TSR_ERR_CHECK, "at %s the value is %s, expected %s",
                      text_of_index(a, element).text,
                      exec_number_text(a->dtype, a->data + offset).text,
                      exec_number_text(b->dtype, b->data + offset).text);
}

static tsr_status compare(exec_machine *m, const exec_step *step, const check_step *c,
                          const exec_array *a, const exec_array *b)
{
    const int64_t item = tsr_dtype_item_bytes(a->dtype);
    const int64_t count = exec_array_elements(a);
    uint64_t most = 0;
    const op_type ta = exec_array_type(a);
    const op_type tb = exec_array_type(b);
    if (ta.dtype != tb.dtype || !op_shapes_agree(&ta, &tb)) {
        return EXEC_ERROR(m->code, step->op, TSR_ERR_CHECK, "the value is %s, expected %s",
                          op_type_text(&ta).text, op_type_text(&tb).text);
    }
    for (int64_t i = 0; i < count; i++) {
        if (!agrees(c, a->dtype, a->data + i * item, b->data + i * item, &most)) {
            return report(m, step, a, b, i);
        }
    }
    if (c->kind == CHECK_CLOSE && most < c->min_ulps) {
        return EXEC_ERROR(m->code, step->op, TSR_ERR_CHECK,
                          "the values differ by %llu units of the last place, expected %llu",
                          (unsigned long long)most, (unsigned long long)c->min_ulps);
    }
    return TSR_OK;
}

/* ---- probes ---- */

struct exec_probe {
    struct exec_probe *next;
    slice name;
    exec_array *value;
};

void exec_probes_clear(exec_machine *m)
{
    while (m->host->probes != NULL) {
        struct exec_probe *probe = m->host->probes;
        m->host->probes = probe->next;
        exec_array_drop(m->pool, probe->value);
        (void)context_resize(m->ctx, probe, sizeof *probe, 0);
    }
}

static slice string_property(const exec_decoder *d, const exec_step *step, const char *name)
{
    slice text = {"", 0};
    (void)attr_as_string(d->code->program, op_property(d->code->program, step->op, name), &text);
    return text;
}

/* The value of the probe of that name and iteration; the last is first in the list. */
static const exec_array *find_probe(const exec_machine *m, slice name, int64_t iteration)
{
    int64_t count = 0;
    for (const struct exec_probe *p = m->host->probes; p != NULL; p = p->next) {
        count += slice_equal(p->name, name);
    }
    for (const struct exec_probe *p = m->host->probes; p != NULL; p = p->next) {
        if (slice_equal(p->name, name) && --count == iteration) {
            return p->value;
        }
    }
    return NULL;
}

static tsr_status run_probe(exec_machine *m, const exec_step *step)
{
    struct exec_probe *probe = context_resize(m->ctx, NULL, 0, sizeof *probe);
    exec_array *value = exec_operand(m, step, 0);
    if (probe == NULL) {
        return diag_nomem(m->ctx);
    }
    *probe =
        (struct exec_probe){m->host->probes, *(const slice *)step->data, exec_array_keep(value)};
    m->host->probes = probe;
    exec_set_result(m, step, 0, exec_array_keep(value));
    return TSR_OK;
}

static tsr_status prepare_probe(exec_decoder *d, exec_step *step)
{
    slice *name = EXEC_NEW(d, slice);
    if (name == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *name = string_property(d, step, "probe_id");
    step->action = run_probe;
    step->data = name;
    return TSR_OK;
}

/* ---- checks ---- */

static tsr_status run_check(exec_machine *m, const exec_step *step)
{
    const check_step *c = step->data;
    const exec_array *expected = c->expected;
    if (c->probe.data != NULL) {
        expected = find_probe(m, c->probe, c->iteration);
        if (expected == NULL) {
            return EXEC_ERROR(m->code, step->op, TSR_ERR_CHECK,
                              "the probe '%.*s' saw no value number %lld", (int)c->probe.size,
                              c->probe.data, (long long)c->iteration);
        }
        return compare(m, step, c, expected, exec_operand(m, step, 0));
    }
    expected = expected != NULL ? expected : exec_operand(m, step, 1);
    return compare(m, step, c, exec_operand(m, step, 0), expected);
}

static tsr_status new_check(exec_decoder *d, exec_step *step, check_kind kind, check_step **out)
{
    check_step *c = EXEC_NEW(d, check_step);
    if (c == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *c = (check_step){.kind = kind, .tolerance = 1e-4, .max_ulps = 3};
    step->action = run_check;
    step->data = c;
    *out = c;
    for (size_t i = 0; i < step->num_operands; i++) {
        if (step->types[i]->kind != EXEC_TENSOR) {
            return TSR_NOT_APPLICABLE;
        }
    }
    return TSR_OK;
}

/* The constant that is expected. */
static tsr_status read_expected(exec_decoder *d, exec_step *step, check_step *c)
{
    const uint32_t attr = op_property(d->code->program, step->op, "value");
    const exec_type *type = NULL;
    const void *bytes = NULL;
    size_t size = 0;
    bool is_splat = false;
    if (!attr_is_elements(d->code->program, attr)) {
        return TSR_NOT_APPLICABLE;
    }
    TSR_TRY(exec_code_type(d->code, program_attr(d->code->program, attr)->type, &type));
    if (type->strides == NULL) {
        return TSR_NOT_APPLICABLE;
    }
    TSR_TRY(elements_bytes(d->code->ctx, d->code->arena, d->code->program, attr, &bytes, &size,
                           &is_splat));
    TSR_TRY(exec_array_new(d->code->pool, type, &c->expected));
    const size_t item = (size_t)tsr_dtype_item_bytes(type->tensor.dtype);
    for (size_t at = 0; at < (size_t)type->bytes; at += item) {
        memcpy(c->expected->data + at, (const char *)bytes + (is_splat ? 0 : at), item);
    }
    return exec_code_keep(d->code, c->expected);
}

static void read_tolerance(const exec_decoder *d, const exec_step *step, check_step *c)
{
    const tsr_program *p = d->code->program;
    const uint32_t attr = op_property(p, step->op, "tolerance");
    if (attr_is(p, attr, ATTR_FLOAT)) {
        const attr_head *head = program_attr(p, attr);
        const type_head *element = program_type(p, head->type);
        c->tolerance = float_to_double((float_format)element->width, head->bits);
    }
}

static tsr_status prepare_equal(exec_decoder *d, exec_step *step)
{
    check_step *c;
    return new_check(d, step, CHECK_EQUAL, &c);
}

static tsr_status prepare_equal_const(exec_decoder *d, exec_step *step)
{
    check_step *c;
    const tsr_status status = new_check(d, step, CHECK_EQUAL, &c);
    return status != TSR_OK ? status : read_expected(d, step, c);
}

static tsr_status prepare_almost(exec_decoder *d, exec_step *step)
{
    check_step *c;
    const tsr_status status = new_check(d, step, CHECK_ALMOST, &c);
    if (status == TSR_OK) {
        read_tolerance(d, step, c);
    }
    return status;
}

static tsr_status prepare_almost_const(exec_decoder *d, exec_step *step)
{
    check_step *c;
    const tsr_status status = new_check(d, step, CHECK_ALMOST, &c);
    if (status != TSR_OK) {
        return status;
    }
    read_tolerance(d, step, c);
    return read_expected(d, step, c);
}

static tsr_status prepare_close(exec_decoder *d, exec_step *step)
{
    check_step *c;
    int64_t value = 0;
    const tsr_program *p = d->code->program;
    const tsr_status status = new_check(d, step, CHECK_CLOSE, &c);
    if (status != TSR_OK) {
        return status;
    }
    if (attr_as_integer(p, op_property(p, step->op, "max_ulp_difference"), &value)) {
        c->max_ulps = (uint64_t)value;
    }
    if (attr_as_integer(p, op_property(p, step->op, "min_ulp_difference"), &value)) {
        c->min_ulps = (uint64_t)value;
    }
    return TSR_OK;
}

static tsr_status prepare_serialized(exec_decoder *d, exec_step *step)
{
    check_step *c;
    const tsr_program *p = d->code->program;
    const tsr_status status = new_check(d, step, CHECK_EQUAL, &c);
    if (status == TSR_OK) {
        c->probe = string_property(d, step, "probe_id");
        (void)attr_as_integer(p, op_property(p, step->op, "iter"), &c->iteration);
    }
    return status;
}

tsr_status exec_prepare_check_call(exec_decoder *d, exec_step *step, slice target)
{
    if (step->num_operands != 2) {
        return TSR_NOT_APPLICABLE;
    }
    if (slice_is(target, op_kind_name(OP_CHECK_EXPECT_EQ))) {
        return prepare_equal(d, step);
    }
    if (slice_is(target, op_kind_name(OP_CHECK_EXPECT_ALMOST_EQ))) {
        return prepare_almost(d, step);
    }
    return slice_is(target, op_kind_name(OP_CHECK_EXPECT_CLOSE)) ? prepare_close(d, step)
                                                                 : TSR_NOT_APPLICABLE;
}

/* ---- printing ---- */

static void print_elements(buffer *text, const exec_array *a, size_t dim, int64_t offset)
{
    if (dim == a->rank) {
        buffer_string(text, exec_number_text(a->dtype, a->data + offset).text);
        return;
    }
    buffer_char(text, '[');
    for (int64_t i = 0; i < a->shape[dim]; i++) {
        buffer_string(text, i > 0 ? ", " : "");
        print_elements(text, a, dim + 1, offset + i * a->strides[dim]);
    }
    buffer_char(text, ']');
}

static tsr_status run_print(exec_machine *m, const exec_step *step)
{
    const exec_array *a = exec_operand(m, step, 0);
    const op_type type = exec_array_type(a);
    tsr_arena *arena = NULL;
    const char *text = NULL;
    if (m->host->print == NULL || a->kind != EXEC_TENSOR) {
        return TSR_OK;
    }
    TSR_TRY(tsr_arena_create(m->ctx, &arena));
    buffer out = buffer_new(arena);
    buffer_string(&out, op_type_text(&type).text);
    buffer_string(&out, " ");
    print_elements(&out, a, 0, 0);
    buffer_char(&out, '\n');
    const tsr_status status = buffer_finish(m->ctx, &out, &text);
    if (status == TSR_OK) {
        m->host->print(m->host->print_state, text, strlen(text));
    }
    tsr_arena_destroy(arena);
    return status;
}

static tsr_status prepare_print(exec_decoder *d, exec_step *step)
{
    (void)d;
    step->action = run_print;
    return TSR_OK;
}

const exec_op exec_ops_check[OP_KIND_COUNT] = {
    [OP_CHECK_EXPECT_EQ] = {.prepare = prepare_equal},
    [OP_CHECK_EXPECT_EQ_CONST] = {.prepare = prepare_equal_const},
    [OP_CHECK_EXPECT_ALMOST_EQ] = {.prepare = prepare_almost},
    [OP_CHECK_EXPECT_ALMOST_EQ_CONST] = {.prepare = prepare_almost_const},
    [OP_CHECK_EXPECT_CLOSE] = {.prepare = prepare_close},
    [OP_CHECK_EXPECT_SERIALIZED_EQ] = {.prepare = prepare_serialized},
    [OP_INTERPRETER_PROBE] = {.prepare = prepare_probe},
    [OP_INTERPRETER_PRINT] = {.prepare = prepare_print},
};
