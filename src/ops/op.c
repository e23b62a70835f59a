#include "ops/op.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"

bool op_takes(const op_row *row, size_t num_operands)
{
    return (row->traits & OP_VARIADIC) != 0
               ? num_operands >= row->num_operands &&
                     ((row->traits & OP_ANY_RESULTS) != 0 || op_num_results(row, num_operands) > 0)
               : num_operands == row->num_operands;
}

/* ---- rules ---- */

static bool any_unknown(const op_type *types, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (op_has_unknown(&types[i])) {
            return true;
        }
    }
    return false;
}

tsr_status op_find_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                        const tsr_rule **out)
{
    if (r->row->rule == NULL || any_unknown(r->operands, r->num_operands) ||
        any_unknown(results, op_request_results(r))) {
        return TSR_NOT_APPLICABLE;
    }
    return r->row->rule(r, results, arena, out);
}

tsr_status op_local_rule(const op_request *r, const op_type *results, const tsr_rule *rule,
                         tsr_arena *arena, const tsr_rule **out)
{
    const size_t count = tsr_rule_num_factors(rule);
    *out = rule;
    if (r->row->local == NULL) {
        return TSR_OK;
    }
    bool *whole = ARENA_ARRAY(arena, bool, count);
    if (whole == NULL) {
        return diag_nomem(r->ctx);
    }
    memset(whole, 0, count * sizeof *whole);
    r->row->local(r, results, rule, whole);
    return tsr_rule_keep_whole(r->ctx, arena, rule, whole, out);
}

/* ---- element types ---- */

tsr_status op_check_supported(const op_request *r, const op_type *results)
{
    const op_fields *fields = r->row->fields;
    const tsr_dtype to = results[0].dtype;
    const tsr_dtype from = r->num_operands > 0 ? r->operands[0].dtype : to;
    const bool converts = fields != NULL && fields->fields[0].kind == OP_FIELD_DTYPE;
    if (r->row->run != NULL && (r->row->supports == NULL || r->row->supports(r, results))) {
        return TSR_OK;
    }
    return diag_error(r->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "%s: %s is not defined for %s%s%s; convert to another element type first",
                      r->call, r->row->name, tsr_dtype_name(from), converts ? " to " : "",
                      converts ? tsr_dtype_name(to) : "");
}

tsr_status op_same_dtype(const op_request *r, size_t a, size_t b)
{
    if (r->mixes_dtypes) {
        return TSR_OK;
    }
    if (r->operands[a].dtype == r->operands[b].dtype) {
        return TSR_OK;
    }
    return OP_ERROR(r, "operand %zu, %s, and operand %zu, %s, differ in element type; convert one",
                    a, op_type_text(&r->operands[a]).text, b, op_type_text(&r->operands[b]).text);
}

/* ---- extents ---- */

int64_t *op_new_shape(const op_request *r, size_t rank)
{
    return ARENA_ARRAY(r->arena, int64_t, rank);
}

op_text op_type_text(const op_type *type)
{
    op_text t;
    int used = snprintf(t.text, sizeof t.text, "%s[", tsr_dtype_name(type->dtype));
    for (size_t i = 0; i < type->rank && used > 0 && (size_t)used < sizeof t.text; i++) {
        const char *comma = i > 0 ? "," : "";
        used += type->shape[i] == TSR_UNKNOWN
                    ? snprintf(t.text + used, sizeof t.text - (size_t)used, "%s?", comma)
                    : snprintf(t.text + used, sizeof t.text - (size_t)used, "%s%lld", comma,
                               (long long)type->shape[i]);
    }
    if (used > 0 && (size_t)used < sizeof t.text) {
        (void)snprintf(t.text + used, sizeof t.text - (size_t)used, "]");
    }
    return t;
}

tsr_extents op_extents(const op_type *type)
{
    return (tsr_extents){type->rank, type->shape};
}

tsr_extents *op_operand_extents(const op_request *r, tsr_arena *arena)
{
    tsr_extents *extents = ARENA_ARRAY(arena, tsr_extents, r->num_operands);
    for (size_t i = 0; extents != NULL && i < r->num_operands; i++) {
        extents[i] = op_extents(&r->operands[i]);
    }
    return extents;
}

bool op_shapes_agree(const op_type *a, const op_type *b)
{
    bool agree = a->rank == b->rank;
    for (size_t d = 0; agree && d < a->rank; d++) {
        agree = extents_agree(a->shape[d], b->shape[d]);
    }
    return agree;
}

bool op_has_unknown(const op_type *type)
{
    for (size_t d = 0; d < type->rank; d++) {
        if (type->shape[d] == TSR_UNKNOWN) {
            return true;
        }
    }
    return false;
}

bool op_elements(const op_type *type, int64_t *out)
{
    int64_t elements = 1;
    for (size_t i = 0; i < type->rank; i++) {
        if (type->shape[i] == TSR_UNKNOWN || !checked_mul(elements, type->shape[i], &elements)) {
            return false;
        }
    }
    *out = elements;
    return true;
}

op_text op_ints_text(const int64_t *values, size_t count)
{
    op_text out = {.text = ""};
    size_t used = 0;
    for (size_t i = 0; i < count && used + 32 < sizeof out.text; i++) {
        used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%lld",
                                 i > 0 ? ", " : "", (long long)values[i]);
    }
    return out;
}

const int64_t *op_ints_shared(op_ints a, op_ints b)
{
    for (size_t i = 0; i < b.count; i++) {
        for (size_t j = 0; j < a.count; j++) {
            if (a.values[j] == b.values[i]) {
                const int64_t *values = b.values;
                return &values[i];
            }
        }
    }
    return NULL;
}

const int64_t *op_ints_repeated(op_ints list)
{
    const int64_t *found = NULL;
    for (size_t i = 1; i < list.count && found == NULL; i++) {
        found = op_ints_shared((op_ints){i, list.values}, (op_ints){1, list.values + i});
    }
    return found;
}

bool op_ints_sorted(op_ints list)
{
    for (size_t i = 1; i < list.count; i++) {
        if (list.values[i] < list.values[i - 1]) {
            return false;
        }
    }
    return true;
}

tsr_status op_check_dim(const op_request *r, const char *what, int64_t dim, size_t rank)
{
    if (dim < 0 || (uint64_t)dim >= rank) {
        return OP_ERROR(r, "%s %lld is out of range: the rank of operand 0, %s, is %zu", what,
                        (long long)dim, op_type_text(&r->operands[0]).text, rank);
    }
    return TSR_OK;
}

tsr_status op_check_dims(const op_request *r, const char *what, op_ints dims, size_t rank)
{
    for (size_t i = 0; i < dims.count; i++) {
        const int64_t d = dims.values[i];
        if (d < 0 || (uint64_t)d >= rank) {
            return OP_ERROR(r, "%s %lld is out of range: the rank is %zu", what, (long long)d,
                            rank);
        }
        if (op_ints_have((op_ints){i, dims.values}, (size_t)d)) {
            return OP_ERROR(r, "%s %lld is given twice", what, (long long)d);
        }
    }
    return TSR_OK;
}

/* ---- kernels ---- */

void op_copy_to(const op_array *to, size_t offset, const int64_t *to_strides, const tsr_view *from,
                const int64_t *from_strides, const int64_t *shape)
{
    char *dst = (char *)to->view.data + offset;
    kernel_copy(dst, to_strides, from->data, from_strides, shape, to->view.rank,
                (size_t)tsr_dtype_item_bytes(to->view.dtype), false);
}

/* ---- classes ---- */

spmd_class class_moves(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    (void)pending;
    return SPMD_LINEAR;
}

/* Averages of integers are rounded: no op is linear for them. Operands may differ in type. */
static bool distributes(const op_request *r, size_t operand, tsr_reduction pending)
{
    const tsr_dtype dtype = r->operands[operand].dtype;
    return pending == TSR_SUM ||
           (pending == TSR_AVG && (dtype_is_float(dtype) || dtype_is_complex(dtype)));
}

spmd_class class_linear(const op_request *r, size_t operand, tsr_reduction pending)
{
    return distributes(r, operand, pending) ? SPMD_LINEAR : SPMD_NONLINEAR;
}

spmd_class class_multilinear(const op_request *r, size_t operand, tsr_reduction pending)
{
    return distributes(r, operand, pending) ? SPMD_MULTILINEAR : SPMD_NONLINEAR;
}
