/* Checks, as ops and as custom calls; probes; printing. */
#include "interp/steps_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "interp/machine.h"
#include "ir/elements.h"
#include "number/element.h"
#include "number/float_format.h"

typedef enum check_kind { CHECK_EQUAL, CHECK_ALMOST, CHECK_CLOSE } check_kind;

typedef struct check_step {
    check_kind kind;
    double tolerance;  /* of ALMOST */
    uint64_t max_ulps; /* of CLOSE */
    uint64_t min_ulps; /* the greatest distance of all must be this at least */
    bool has_expected; /* a constant; else the second operand */
    interp_array expected;
    slice probe; /* what was probed is expected instead */
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
    const double x = element_load(dtype, a).re;
    const double y = element_load(dtype, b).re;
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
    const element_number x = element_load(dtype, a);
    const element_number y = element_load(dtype, b);
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

static index_text text_of_index(const interp_array *a, int64_t element)
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

static tsr_status report(interp_machine *m, const code_step *step, const interp_array *a,
                         const interp_array *b, int64_t element)
{
    const int64_t offset = element * tsr_dtype_item_bytes(a->dtype);
    return INTERP_RUN_ERROR(m, step, TSR_ERR_CHECK, "at %s the value is %s, expected %s",
                            text_of_index(a, element).text,
                            element_text(a->dtype, a->data + offset).text,
                            element_text(b->dtype, b->data + offset).text);
}

static tsr_status compare(interp_machine *m, const code_step *step, const check_step *c,
                          const interp_array *a, const interp_array *b)
{
    const int64_t item = tsr_dtype_item_bytes(a->dtype);
    const int64_t count = interp_array_elements(a);
    uint64_t most = 0;
    const op_type ta = interp_array_type(a);
    const op_type tb = interp_array_type(b);
    if (ta.dtype != tb.dtype || !op_shapes_agree(&ta, &tb)) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_CHECK, "the value is %s, expected %s",
                                op_type_text(&ta).text, op_type_text(&tb).text);
    }
    for (int64_t i = 0; i < count; i++) {
        if (!agrees(c, a->dtype, a->data + i * item, b->data + i * item, &most)) {
            return report(m, step, a, b, i);
        }
    }
    if (c->kind == CHECK_CLOSE && most < c->min_ulps) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_CHECK,
                                "the values differ by %llu units of the last place, expected %llu",
                                (unsigned long long)most, (unsigned long long)c->min_ulps);
    }
    return TSR_OK;
}

/* ---- probes ---- */

struct interp_probe {
    struct interp_probe *next;
    slice name;
    interp_array *value;
};

void interp_probes_clear(interp_machine *m)
{
    while (m->host->probes != NULL) {
        struct interp_probe *probe = m->host->probes;
        m->host->probes = probe->next;
        interp_array_drop(m->pool, probe->value);
        (void)context_resize(m->ctx, probe, sizeof *probe, 0);
    }
}

static slice string_property(const code_decoder *d, const code_step *step, const char *name)
{
    slice text = {"", 0};
    (void)attr_as_string(d->code->program, op_property(d->code->program, step->op, name), &text);
    return text;
}

/* The value of the probe of that name and iteration; the last is first in the list. */
static const interp_array *find_probe(const interp_machine *m, slice name, int64_t iteration)
{
    int64_t count = 0;
    for (const struct interp_probe *p = m->host->probes; p != NULL; p = p->next) {
        count += slice_equal(p->name, name);
    }
    for (const struct interp_probe *p = m->host->probes; p != NULL; p = p->next) {
        if (slice_equal(p->name, name) && --count == iteration) {
            return p->value;
        }
    }
    return NULL;
}

static tsr_status run_probe(interp_machine *m, const code_step *step)
{
    struct interp_probe *probe = context_resize(m->ctx, NULL, 0, sizeof *probe);
    interp_array *value = interp_operand(m, step, 0);
    if (probe == NULL) {
        return diag_nomem(m->ctx);
    }
    *probe = (struct interp_probe){m->host->probes, *(const slice *)step->data,
                                   interp_array_keep(value)};
    m->host->probes = probe;
    interp_set_result(m, step, 0, interp_array_keep(value));
    return TSR_OK;
}

static tsr_status prepare_probe(code_decoder *d, code_step *step)
{
    slice *name = CODE_NEW(d, slice);
    if (name == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *name = string_property(d, step, "probe_id");
    step->action = run_probe;
    step->data = name;
    return TSR_OK;
}

/* ---- checks ---- */

static tsr_status run_check(interp_machine *m, const code_step *step)
{
    const check_step *c = step->data;
    const interp_array *expected = c->has_expected ? &c->expected : NULL;
    if (c->probe.data != NULL) {
        expected = find_probe(m, c->probe, c->iteration);
        if (expected == NULL) {
            return INTERP_RUN_ERROR(m, step, TSR_ERR_CHECK,
                                    "the probe '%.*s' saw no value number %lld", (int)c->probe.size,
                                    c->probe.data, (long long)c->iteration);
        }
        return compare(m, step, c, expected, interp_operand(m, step, 0));
    }
    expected = expected != NULL ? expected : interp_operand(m, step, 1);
    return compare(m, step, c, interp_operand(m, step, 0), expected);
}

static tsr_status new_check(code_decoder *d, code_step *step, check_kind kind, check_step **out)
{
    check_step *c = CODE_NEW(d, check_step);
    if (c == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *c = (check_step){.kind = kind, .tolerance = 1e-4, .max_ulps = 3};
    step->action = run_check;
    step->data = c;
    *out = c;
    for (size_t i = 0; i < step->num_operands; i++) {
        if (step->types[i]->kind != CODE_TENSOR) {
            return TSR_NOT_APPLICABLE;
        }
    }
    return TSR_OK;
}

/* The constant that is expected. */
static tsr_status read_expected(code_decoder *d, code_step *step, check_step *c)
{
    const uint32_t attr = op_property(d->code->program, step->op, "value");
    const code_type *type = NULL;
    const void *bytes = NULL;
    size_t size = 0;
    bool is_splat = false;
    if (!attr_is_elements(d->code->program, attr)) {
        return TSR_NOT_APPLICABLE;
    }
    TSR_TRY(code_type_of(d->code, program_attr(d->code->program, attr)->type, &type));
    if (type->strides == NULL) {
        return TSR_NOT_APPLICABLE;
    }
    TSR_TRY(elements_bytes(d->code->ctx, d->code->arena, d->code->program, attr, &bytes, &size,
                           &is_splat));
    void *elements = NULL;
    TSR_TRY(code_elements(d->code, type, &elements));
    const size_t item = (size_t)tsr_dtype_item_bytes(type->tensor.dtype);
    for (size_t at = 0; at < (size_t)type->bytes; at += item) {
        memcpy((char *)elements + at, (const char *)bytes + (is_splat ? 0 : at), item);
    }
    c->has_expected = true;
    c->expected = interp_array_over(type, elements);
    return TSR_OK;
}

static void read_tolerance(const code_decoder *d, const code_step *step, check_step *c)
{
    const tsr_program *p = d->code->program;
    const uint32_t attr = op_property(p, step->op, "tolerance");
    if (attr_is(p, attr, ATTR_FLOAT)) {
        const attr_head *head = program_attr(p, attr);
        const type_head *element = program_type(p, head->type);
        c->tolerance = float_to_double((float_format)element->width, head->bits);
    }
}

static tsr_status prepare_equal(code_decoder *d, code_step *step)
{
    check_step *c;
    return new_check(d, step, CHECK_EQUAL, &c);
}

static tsr_status prepare_equal_const(code_decoder *d, code_step *step)
{
    check_step *c;
    const tsr_status status = new_check(d, step, CHECK_EQUAL, &c);
    return status != TSR_OK ? status : read_expected(d, step, c);
}

static tsr_status prepare_almost(code_decoder *d, code_step *step)
{
    check_step *c;
    const tsr_status status = new_check(d, step, CHECK_ALMOST, &c);
    if (status == TSR_OK) {
        read_tolerance(d, step, c);
    }
    return status;
}

static tsr_status prepare_almost_const(code_decoder *d, code_step *step)
{
    check_step *c;
    const tsr_status status = new_check(d, step, CHECK_ALMOST, &c);
    if (status != TSR_OK) {
        return status;
    }
    read_tolerance(d, step, c);
    return read_expected(d, step, c);
}

static tsr_status prepare_close(code_decoder *d, code_step *step)
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

static tsr_status prepare_serialized(code_decoder *d, code_step *step)
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

tsr_status interp_prepare_check_call(code_decoder *d, code_step *step, slice target)
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

static void print_elements(buffer *text, const interp_array *a, size_t dim, int64_t offset)
{
    if (dim == a->rank) {
        buffer_string(text, element_text(a->dtype, a->data + offset).text);
        return;
    }
    buffer_char(text, '[');
    for (int64_t i = 0; i < a->shape[dim]; i++) {
        buffer_string(text, i > 0 ? ", " : "");
        print_elements(text, a, dim + 1, offset + i * a->strides[dim]);
    }
    buffer_char(text, ']');
}

static tsr_status run_print(interp_machine *m, const code_step *step)
{
    const interp_array *a = interp_operand(m, step, 0);
    const op_type type = interp_array_type(a);
    tsr_arena *arena = NULL;
    const char *text = NULL;
    if (m->host->print == NULL || a->kind != CODE_TENSOR) {
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

static tsr_status prepare_print(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_print;
    return TSR_OK;
}

const code_op interp_ops_check[OP_KIND_COUNT] = {
    [OP_CHECK_EXPECT_EQ] = {.prepare = prepare_equal},
    [OP_CHECK_EXPECT_EQ_CONST] = {.prepare = prepare_equal_const},
    [OP_CHECK_EXPECT_ALMOST_EQ] = {.prepare = prepare_almost},
    [OP_CHECK_EXPECT_ALMOST_EQ_CONST] = {.prepare = prepare_almost_const},
    [OP_CHECK_EXPECT_CLOSE] = {.prepare = prepare_close},
    [OP_CHECK_EXPECT_SERIALIZED_EQ] = {.prepare = prepare_serialized},
    [OP_INTERPRETER_PROBE] = {.prepare = prepare_probe},
    [OP_INTERPRETER_PRINT] = {.prepare = prepare_print},
};
