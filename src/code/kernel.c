#include "code/kernel.h"

#include <string.h>

#include "base/arena.h"
#include "code/quantization.h"
#include "ir/message.h"
#include "kernel/elementwise.h"
#include "number/dtype.h"
#include "number/element.h"
#include "ops/op_create.h"
#include "ops/op_dot.h"
#include "ops/op_elementwise.h"
#include "ops/op_reduce.h"
#include "ops/op_sort.h"

static const int64_t no_start[OP_MAX_RANK] = {0};

/* Regions as the row asks for them: known ones, or all called element by element. */
static void set_regions(const code_decoder *d, const code_step *step, const op_row *row,
                        code_kernel *k, void *params, bool known)
{
    size_t count = 0;
    k->calls_regions = false;
    for (size_t f = 0; row->fields != NULL && f < row->fields->count; f++) {
        const op_field *field = &row->fields->fields[f];
        if (field->kind != OP_FIELD_REGION || count == CODE_MAX_REGIONS) {
            continue;
        }
        op_region *region = (void *)((char *)params + field->offset);
        const uint32_t number = op_region_at(d->code->program, step->op, count);
        k->regions[count] = step->blocks[count];
        *region = (op_region){.body = OP_BODY_OPAQUE, .call = d->code->table->call_region};
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
        k->calls_regions = k->calls_regions || region->body == OP_BODY_OPAQUE;
    }
    k->num_regions = count;
}

/* A region of single elements: scalars, of types that results[i % n] says. */
static bool is_scalar_region(const code_block *block)
{
    for (size_t i = 0; i < block->num_arguments; i++) {
        const code_type *t = block->argument_types[i];
        if (t->kind != CODE_TENSOR || t->tensor.rank != 0) {
            return false;
        }
    }
    for (size_t i = 0; i < block->end.num_operands; i++) {
        const code_type *t = block->end.types[i];
        if (t->kind != CODE_TENSOR || t->tensor.rank != 0) {
            return false;
        }
    }
    return block->num_arguments <= 64;
}

/* Whether a region takes and gives elements of these types; no `gives`: one truth value. */
static bool region_fits(const code_block *block, const op_type *types, size_t count, size_t repeats,
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

static bool regions_fit(const code_step *step, const op_row *row, const op_request *r,
                        const op_type *results, size_t num_regions)
{
    if (row == &op_sort) {
        return region_fits(step->blocks[0], r->operands, r->num_operands, 2, true, true);
    }
    if (num_regions == CODE_MAX_REGIONS) {
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

static tsr_status fill_arrays(code_decoder *d, const code_step *step, code_kernel *k,
                              const code_kernel **out)
{
    const size_t count = step->num_operands + step->num_results;
    op_array *arrays = ARENA_ARRAY(d->code->arena, op_array, count);
    if (arrays == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        const code_type *t = k->computed != NULL ? k->computed[i] : step->types[i];
        arrays[i] = (op_array){.view = {.dtype = t->tensor.dtype,
                                        .rank = t->tensor.rank,
                                        .shape = t->tensor.shape,
                                        .strides = t->strides},
                               .start = no_start,
                               .full = t->tensor.shape};
    }
    k->call.num_operands = step->num_operands;
    k->call.num_results = step->num_results;
    k->call.first = true;
    k->arrays = arrays;
    *out = k;
    return TSR_OK;
}

/* The wider of two types of numbers, to compute in. */
static tsr_dtype wider_of(tsr_dtype a, tsr_dtype b)
{
    const number_kind ka = element_kind(a);
    const number_kind kb = element_kind(b);
    if (ka != kb && (ka >= NUMBER_FLOAT || kb >= NUMBER_FLOAT)) {
        return ka > kb ? a : b;
    }
    if (a == TSR_F16 && b == TSR_BF16) {
        return TSR_F32;
    }
    return tsr_dtype_bits(a) > tsr_dtype_bits(b) ? a : b;
}

/* The first of the values of an op that are to have one type with a value. */
static size_t first_alike(const code_step *step, const op_row *row, size_t i)
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
static tsr_dtype expressed_dtype(const code_type *type)
{
    return type->quantization != NULL ? type->quantization->expressed : type->tensor.dtype;
}

/* The type that one of a step's values is computed in, widened or not. */
static tsr_dtype common_dtype(const code_step *step, const op_row *row, size_t i)
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
static bool is_mixed(const code_step *step, const op_row *row)
{
    for (size_t i = 0; i < step->num_operands + step->num_results; i++) {
        const code_type *first = step->types[first_alike(step, row, i)];
        const tsr_dtype dtype = expressed_dtype(step->types[i]);
        if (dtype != step->types[i]->tensor.dtype || dtype != expressed_dtype(first)) {
            return true;
        }
    }
    return false;
}

static tsr_dtype computed_dtype(const code_step *step, const op_row *row, size_t i)
{
    const tsr_dtype dtype = common_dtype(step, row, i);
    tsr_dtype wider;
    if (row == &op_iota && dtype_is_complex(dtype)) {
        return dtype == TSR_C64 ? TSR_F32 : TSR_F64;
    }
    return kernel_is_narrow(dtype, &wider) ? wider : dtype;
}

/* What narrow signed integers look like as bits. */
static tsr_dtype as_unsigned(tsr_dtype dtype)
{
    return dtype == TSR_I8 ? TSR_U8 : dtype;
}

static tsr_status make_computed(code_decoder *d, const code_step *step, const op_row *row,
                                code_kernel *k, bool *differs)
{
    const size_t count = step->num_operands + step->num_results;
    k->computed = ARENA_ARRAY(d->code->arena, const code_type *, count);
    if (k->computed == NULL || count > CODE_MAX_CASTS) {
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
        TSR_TRY(code_make_type(d->code, dtype, t->rank, t->shape, &k->computed[i]));
    }
    return TSR_OK;
}

/* Sets the element types of operands, results and parameters to those that are computed in. */
static void retype(const code_step *step, const code_kernel *k, ir_request *request)
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
static void set_defaults(const code_decoder *d, const code_step *step, ir_request *request)
{
    if (request->request.row == &op_sort &&
        op_property(d->code->program, step->op, "dimension") == 0) {
        ((sort_params *)without_const(request->request.params))->dimension = -1;
    }
}

/* Comparators of floats in total order are not known ones. */
static bool may_be_known(const code_step *step, const op_row *row, const tsr_program *p)
{
    if (row != &op_sort || step->blocks[0]->num_steps == 0) {
        return true;
    }
    return op_property(p, step->blocks[0]->steps[0].op, "compare_type") == 0 ||
           !dtype_is_float(step->types[0]->tensor.dtype);
}

/* The shapes of results are those that the row infers: nothing else may have checked them. */
static tsr_status check_results(code_decoder *d, const code_step *step, const ir_request *request)
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
            return CODE_ERROR(d->code->ctx, d->code, step->op, TSR_ERR_INVALID,
                              "result %zu is %s in the program, and should be %s", i,
                              op_type_text(&request->results[i]).text,
                              op_type_text(&inferred[i]).text);
        }
    }
    return TSR_OK;
}

tsr_status code_kernel_prepare(code_decoder *d, const code_step *step, const op_row *row,
                               const code_kernel **out)
{
    const tsr_program *p = d->code->program;
    ir_request request;
    if (row == NULL || row->run == NULL || !code_is_static(step)) {
        return TSR_NOT_APPLICABLE;
    }
    const tsr_status made =
        ir_run_request(d->code->ctx, d->code->arena, p, step->op, row, &request);
    if (made != TSR_OK) {
        return made;
    }
    code_kernel *k = CODE_NEW(d, code_kernel);
    if (k == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *k = (code_kernel){.call = {.row = row, .params = request.request.params}};
    void *params = without_const(request.request.params);
    set_defaults(d, step, &request);
    request.request.broadcasts = op_kind_broadcasts(op_kind_of(p, step->op));
    TSR_TRY(check_results(d, step, &request));
    const bool mixed = is_mixed(step, row);
    for (int known = may_be_known(step, row, p); known >= 0 && !mixed; known--) {
        set_regions(d, step, row, k, params, known != 0);
        if (regions_fit(step, row, &request.request, request.results, k->num_regions) &&
            has_kernel(&request.request, request.results)) {
            return fill_arrays(d, step, k, out);
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
            return fill_arrays(d, step, k, out);
        }
    }
    return TSR_NOT_APPLICABLE;
}
