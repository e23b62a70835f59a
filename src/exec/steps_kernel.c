/* Steps that are the kernel of a row: on the types of the program, or by way of wider ones. */
#include <string.h>

#include "base/arena.h"
#include "exec/machine.h"
#include "exec/number.h"
#include "exec/quantized.h"
#include "exec/steps_dynamic.h"
#include "ir/message.h"
#include "ops/op_create.h"
#include "ops/op_dot.h"
#include "ops/op_elementwise.h"
#include "ops/op_reduce.h"
#include "ops/op_sort.h"

enum { MAX_REGIONS = 2, MAX_CASTS = 80 };

typedef struct kernel_step {
    op_call call;
    op_array *arrays; /* operands, then results: all but the data is fixed */
    exec_region regions[MAX_REGIONS];
    size_t num_regions;
    const exec_type **computed; /* of each array; NULL: computed as they are */
    bool as_bits;               /* narrow signed integers are their bits */
    bool counts_leading;        /* the wider type has more leading zeros */
} kernel_step;

static const int64_t no_start[OP_MAX_RANK] = {0};

/* ---- running ---- */

static tsr_status call_kernel(exec_machine *m, kernel_step *k)
{
    void *scratch = NULL;
    for (size_t i = 0; i < k->num_regions; i++) {
        k->regions[i].machine = m;
    }
    if (k->call.row->scratch != NULL) {
        scratch = exec_scratch(m, k->call.row->scratch(&k->call));
        if (scratch == NULL) {
            return diag_nomem(m->ctx);
        }
    }
    k->call.row->run(&k->call, scratch);
    return m->failed;
}

static tsr_status run_kernel(exec_machine *m, const exec_step *step)
{
    kernel_step *k = step->data;
    const size_t n = step->num_operands;
    for (size_t i = 0; i < n; i++) {
        k->arrays[i].view.data = m->slots[step->operands[i]]->data;
    }
    for (size_t i = 0; i < step->num_results; i++) {
        exec_array *result;
        const tsr_status status = exec_array_new(m->pool, step->types[n + i], &result);
        if (status != TSR_OK) {
            return status;
        }
        m->slots[step->results[i]] = result;
        k->arrays[n + i].view.data = result->data;
    }
    return call_kernel(m, k);
}

/* ---- by way of other types ---- */

/* Narrow signed integers as bits are not sign-extended. */
static void to_bits(exec_array *a, tsr_dtype narrow)
{
    const int mask = (1 << tsr_dtype_bits(narrow)) - 1;
    for (int64_t i = 0; i < a->bytes; i++) {
        a->data[i] = (char)(a->data[i] & mask);
    }
}

static tsr_status cast_operand(exec_machine *m, const exec_step *step, const kernel_step *k,
                               size_t i, exec_array **out)
{
    exec_array *from = exec_operand(m, step, i);
    const exec_type *to = k->computed[i];
    const exec_type *type = step->types[i];
    if (to->tensor.dtype == from->dtype && type->quantization == NULL) {
        *out = exec_array_keep(from);
        return TSR_OK;
    }
    TSR_TRY(exec_array_new(m->pool, to, out));
    if (type->quantization != NULL) {
        exec_dequantize(type, from, *out);
        return TSR_OK;
    }
    exec_convert(to->tensor.dtype, (*out)->data, from->dtype, from->data,
                 exec_array_elements(from));
    tsr_dtype wider;
    if (k->as_bits && exec_is_narrow(from->dtype, &wider) && wider != TSR_F32) {
        to_bits(*out, from->dtype);
    }
    return TSR_OK;
}

static tsr_status cast_result(exec_machine *m, const exec_step *step, const kernel_step *k,
                              size_t i, exec_array *computed)
{
    const exec_type *type = step->types[step->num_operands + i];
    exec_array *result;
    if (type->tensor.dtype == computed->dtype && type->quantization == NULL) {
        exec_set_result(m, step, i, exec_array_keep(computed));
        return TSR_OK;
    }
    TSR_TRY(exec_array_new(m->pool, type, &result));
    if (type->quantization != NULL) {
        exec_quantize(type, computed, result);
        exec_set_result(m, step, i, result);
        return TSR_OK;
    }
    if (k->counts_leading) {
        for (int64_t e = 0; e < computed->bytes; e++) {
            computed->data[e] =
                (char)(computed->data[e] - (8 - tsr_dtype_bits(type->tensor.dtype)));
        }
    }
    exec_convert(type->tensor.dtype, result->data, computed->dtype, computed->data,
                 exec_array_elements(computed));
    exec_set_result(m, step, i, result);
    return TSR_OK;
}

static tsr_status run_cast(exec_machine *m, const exec_step *step)
{
    kernel_step *k = step->data;
    exec_array *arrays[MAX_CASTS] = {NULL};
    const size_t n = step->num_operands;
    tsr_status status = TSR_OK;
    for (size_t i = 0; i < n + step->num_results && status == TSR_OK; i++) {
        status = i < n ? cast_operand(m, step, k, i, &arrays[i])
                       : exec_array_new(m->pool, k->computed[i], &arrays[i]);
        if (status == TSR_OK) {
            k->arrays[i].view.data = arrays[i]->data;
        }
    }
    if (status == TSR_OK) {
        status = call_kernel(m, k);
    }
    for (size_t i = 0; i < step->num_results && status == TSR_OK; i++) {
        status = cast_result(m, step, k, i, arrays[n + i]);
    }
    for (size_t i = 0; i < n + step->num_results; i++) {
        exec_array_drop(m->pool, arrays[i]);
    }
    return status;
}

/* ---- decoding ---- */

/* Regions as the row asks for them: known ones, or all called element by element. */
static void set_regions(const exec_decoder *d, const exec_step *step, const op_row *row,
                        kernel_step *k, void *params, bool known)
{
    size_t count = 0;
    for (size_t f = 0; row->fields != NULL && f < row->fields->count; f++) {
        const op_field *field = &row->fields->fields[f];
        if (field->kind != OP_FIELD_REGION || count == MAX_REGIONS) {
            continue;
        }
        op_region *region = (void *)((char *)params + field->offset);
        const uint32_t number = op_region_at(d->code->program, step->op, count);
        k->regions[count].block = step->blocks[count];
        *region = (op_region){
            .body = OP_BODY_OPAQUE, .call = exec_region_call, .state = &k->regions[count]};
        count++;
        if (known) {
            op_body body = ir_region_body(d->code->program, number);
            body = body == OP_BODY_OPAQUE && step->blocks[count - 1]->num_arguments == 2
                       ? ir_region_combiner(d->code->program, number)
                       : body;
            if (body != OP_BODY_OPAQUE) {
                *region = known_region(body);
            }
        }
    }
    k->num_regions = count;
}

/* A region of single elements: scalars, of types that results[i % n] says. */
static bool is_scalar_region(const exec_block *block)
{
    for (size_t i = 0; i < block->num_arguments; i++) {
        const exec_type *t = block->argument_types[i];
        if (t->kind != EXEC_TENSOR || t->tensor.rank != 0) {
            return false;
        }
    }
    for (size_t i = 0; i < block->end.num_operands; i++) {
        const exec_type *t = block->end.types[i];
        if (t->kind != EXEC_TENSOR || t->tensor.rank != 0) {
            return false;
        }
    }
    return block->num_arguments <= 64;
}

/* Whether a region takes and gives elements of these types; no `gives`: one truth value. */
static bool region_fits(const exec_block *block, const op_type *types, size_t count, size_t repeats,
                        bool pairs, bool compares)
{
    if (!is_scalar_region(block) || block->num_arguments != count * repeats ||
        block->end.num_operands != (compares ? 1 : count)) {
        return false;
    }
    for (size_t i = 0; i < block->num_arguments; i++) {
        const size_t k = pairs ? i / repeats : i % count;
        if (block->argument_types[i]->tensor.dtype != types[k].dtype) {
            return false;
        }
    }
    for (size_t i = 0; i < block->end.num_operands; i++) {
        if (block->end.types[i]->tensor.dtype != (compares ? TSR_I1 : types[i].dtype)) {
            return false;
        }
    }
    return true;
}

static bool regions_fit(const exec_step *step, const op_row *row, const op_request *r,
                        const op_type *results, size_t num_regions)
{
    if (row == &op_sort) {
        return region_fits(step->blocks[0], r->operands, r->num_operands, 2, true, true);
    }
    if (num_regions == MAX_REGIONS) {
        return region_fits(step->blocks[0], results, 1, 2, false, true) &&
               region_fits(step->blocks[1], results, 1, 2, false, false);
    }
    return num_regions == 0 ||
           region_fits(step->blocks[0], results, step->num_results, 2, false, false);
}

static bool has_kernel(const op_request *r, const op_type *results)
{
    return r->row->run != NULL && (r->row->supports == NULL || r->row->supports(r, results));
}

static tsr_status fill_arrays(exec_decoder *d, exec_step *step, kernel_step *k)
{
    const size_t count = step->num_operands + step->num_results;
    k->arrays = ARENA_ARRAY(d->code->arena, op_array, count);
    if (k->arrays == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const exec_type *t = k->computed != NULL ? k->computed[i] : step->types[i];
        k->arrays[i] = (op_array){.view = {.dtype = t->tensor.dtype,
                                           .rank = t->tensor.rank,
                                           .shape = t->tensor.shape,
                                           .strides = t->strides},
                                  .start = no_start,
                                  .full = t->tensor.shape};
    }
    k->call.num_operands = step->num_operands;
    k->call.num_results = step->num_results;
    k->call.operands = k->arrays;
    k->call.results = k->arrays + step->num_operands;
    k->call.first = true;
    step->data = k;
    step->action = k->computed != NULL ? run_cast : run_kernel;
    return TSR_OK;
}

/* The wider of two types of numbers, to compute in. */
static tsr_dtype wider_of(tsr_dtype a, tsr_dtype b)
{
    const number_kind ka = exec_number_kind(a);
    const number_kind kb = exec_number_kind(b);
    if (ka != kb && (ka >= NUMBER_FLOAT || kb >= NUMBER_FLOAT)) {
        return ka > kb ? a : b;
    }
    if (a == TSR_F16 && b == TSR_BF16) {
        return TSR_F32;
    }
    return tsr_dtype_bits(a) > tsr_dtype_bits(b) ? a : b;
}

/* The first of the values of an op that are to have one type with a value. */
static size_t first_alike(const exec_step *step, const op_row *row, size_t i)
{
    const size_t n = step->num_results;
    switch (row->alike) {
    case OP_ALIKE_NONE:
        return i;
    case OP_ALIKE_ALL:
        return 0;
    case OP_ALIKE_INPUTS:
        return i % n;
    case OP_ALIKE_SCATTERED:
        return i <= n ? i : i <= 2 * n ? i - n - 1 : i - 2 * n - 1; /* the indices are alone */
    }
    return i;
}

/* What a value stands for. */
static tsr_dtype expressed_dtype(const exec_type *type)
{
    return type->quantization != NULL ? type->quantization->expressed : type->tensor.dtype;
}

/* The type that one of a step's values is computed in, widened or not. */
static tsr_dtype common_dtype(const exec_step *step, const op_row *row, size_t i)
{
    const size_t count = step->num_operands + step->num_results;
    const size_t first = first_alike(step, row, i);
    tsr_dtype dtype = expressed_dtype(step->types[i]);
    for (size_t k = 0; k < count; k++) {
        if (first_alike(step, row, k) == first) {
            dtype = wider_of(dtype, expressed_dtype(step->types[k]));
        }
    }
    return dtype;
}

/* Whether some value is computed in another type than it has. */
static bool is_mixed(const exec_step *step, const op_row *row)
{
    for (size_t i = 0; i < step->num_operands + step->num_results; i++) {
        const exec_type *first = step->types[first_alike(step, row, i)];
        const tsr_dtype dtype = expressed_dtype(step->types[i]);
        if (dtype != step->types[i]->tensor.dtype || dtype != expressed_dtype(first)) {
            return true;
        }
    }
    return false;
}

static tsr_dtype computed_dtype(const exec_step *step, const op_row *row, size_t i)
{
    const tsr_dtype dtype = common_dtype(step, row, i);
    tsr_dtype wider;
    if (row == &op_iota && dtype_is_complex(dtype)) {
        return dtype == TSR_C64 ? TSR_F32 : TSR_F64;
    }
    return exec_is_narrow(dtype, &wider) ? wider : dtype;
}

/* What narrow signed integers look like as bits. */
static tsr_dtype as_unsigned(tsr_dtype dtype)
{
    return dtype == TSR_I8 ? TSR_U8 : dtype;
}

static tsr_status make_computed(exec_decoder *d, const exec_step *step, const op_row *row,
                                kernel_step *k, bool *differs)
{
    const size_t count = step->num_operands + step->num_results;
    k->computed = ARENA_ARRAY(d->code->arena, const exec_type *, count);
    if (k->computed == NULL || count > MAX_CASTS) {
        return k->computed == NULL ? diag_nomem(d->code->ctx) : TSR_NOT_APPLICABLE;
    }
    k->counts_leading = row == &op_unary[UNARY_COUNT_LEADING_ZEROS];
    k->as_bits = k->counts_leading || row == &op_unary[UNARY_POPCNT] ||
                 row == &op_binary[BINARY_SHIFT_RIGHT_LOGICAL];
    for (size_t i = 0; i < count; i++) {
        const op_type *t = &step->types[i]->tensor;
        tsr_dtype dtype = computed_dtype(step, row, i);
        dtype = k->as_bits ? as_unsigned(dtype) : dtype;
        *differs = *differs || dtype != t->dtype;
        TSR_TRY(exec_make_type(d->code, dtype, t->rank, t->shape, &k->computed[i]));
    }
    return TSR_OK;
}

/* Sets the element types of operands, results and parameters to those that are computed in. */
static void retype(const exec_step *step, const kernel_step *k, ir_request *request)
{
    const op_fields *fields = request->request.row->fields;
    op_type *operands = without_const(request->request.operands);
    for (size_t i = 0; i < step->num_operands; i++) {
        operands[i].dtype = k->computed[i]->tensor.dtype;
    }
    for (size_t i = 0; i < step->num_results; i++) {
        request->results[i].dtype = k->computed[step->num_operands + i]->tensor.dtype;
    }
    for (size_t f = 0; fields != NULL && f < fields->count; f++) {
        char *at = (char *)without_const(request->request.params) + fields->fields[f].offset;
        if (fields->fields[f].kind == OP_FIELD_DTYPE) {
            *(tsr_dtype *)(void *)at = request->results[0].dtype;
        } else if (fields->fields[f].kind == OP_FIELD_RESULT) {
            ((op_type *)(void *)at)->dtype = request->results[0].dtype;
        }
    }
}

/* Parameters whose default is not 0. */
static void set_defaults(const exec_decoder *d, const exec_step *step, ir_request *request)
{
    if (request->request.row == &op_sort &&
        op_property(d->code->program, step->op, "dimension") == 0) {
        ((sort_params *)without_const(request->request.params))->dimension = -1;
    }
}

/* Comparators of floats in total order are no known ones. */
static bool may_be_known(const exec_step *step, const op_row *row, const tsr_program *p)
{
    if (row != &op_sort || step->blocks[0]->num_steps == 0) {
        return true;
    }
    return op_property(p, step->blocks[0]->steps[0].op, "compare_type") == 0 ||
           !dtype_is_float(step->types[0]->tensor.dtype);
}

/* The shapes of results are those that the row infers: nothing else may have checked them. */
static tsr_status check_results(exec_decoder *d, const exec_step *step, const ir_request *request)
{
    const op_request *r = &request->request;
    op_type *inferred = ARENA_ARRAY(d->code->arena, op_type, step->num_results + 1);
    if (inferred == NULL) {
        return diag_nomem(d->code->ctx);
    }
    if (r->row->types == NULL) {
        return TSR_OK;
    }
    TSR_TRY(r->row->types(r, inferred));
    for (size_t i = 0; i < step->num_results; i++) {
        if (!op_shapes_agree(&inferred[i], &request->results[i])) {
            return EXEC_ERROR(d->code, step->op, TSR_ERR_INVALID,
                              "result %zu is %s in the program, and should be %s", i,
                              op_type_text(&request->results[i]).text,
                              op_type_text(&inferred[i]).text);
        }
    }
    return TSR_OK;
}

tsr_status exec_prepare_kernel(exec_decoder *d, exec_step *step)
{
    return exec_prepare_row(d, step, ir_op_row(d->code->program, step->op));
}

tsr_status exec_prepare_row(exec_decoder *d, exec_step *step, const op_row *row)
{
    const tsr_program *p = d->code->program;
    ir_request request;
    if (row == NULL || row->run == NULL) {
        return TSR_NOT_APPLICABLE;
    }
    if (!exec_is_static(step)) {
        return exec_prepare_inferred(d, step, row);
    }
    const tsr_status made =
        ir_run_request(d->code->ctx, d->code->arena, p, step->op, row, &request);
    if (made != TSR_OK) {
        return made;
    }
    kernel_step *k = EXEC_NEW(d, kernel_step);
    if (k == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *k = (kernel_step){.call = {.row = row, .params = request.request.params}};
    void *params = without_const(request.request.params);
    set_defaults(d, step, &request);
    request.request.broadcasts = op_kind_broadcasts(op_kind_of(p, step->op));
    TSR_TRY(check_results(d, step, &request));
    const bool mixed = is_mixed(step, row);
    for (int known = may_be_known(step, row, p); known >= 0 && !mixed; known--) {
        set_regions(d, step, row, k, params, known != 0);
        if (regions_fit(step, row, &request.request, request.results, k->num_regions) &&
            has_kernel(&request.request, request.results)) {
            return fill_arrays(d, step, k);
        }
    }
    bool differs = false;
    const tsr_status computed = make_computed(d, step, row, k, &differs);
    if (computed != TSR_OK || !differs) {
        return computed != TSR_OK ? computed : TSR_NOT_APPLICABLE;
    }
    retype(step, k, &request);
    for (int known = may_be_known(step, row, p); known >= 0; known--) {
        set_regions(d, step, row, k, params, known != 0);
        if ((known != 0 ||
             regions_fit(step, row, &request.request, request.results, k->num_regions)) &&
            has_kernel(&request.request, request.results)) {
            return fill_arrays(d, step, k);
        }
    }
    return TSR_NOT_APPLICABLE;
}
