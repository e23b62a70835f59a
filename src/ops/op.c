#include "ops/op.h"

#include <stdio.h>
#include <string.h>

const op_row *op_find(const char *name)
{
    for (size_t i = 0; i < op_rows_count; i++) {
        if (strcmp(op_rows[i]->name, name) == 0) {
            return op_rows[i];
        }
    }
    return NULL;
}

op_text op_type_text(const op_type *type)
{
    op_text t;
    int used = snprintf(t.text, sizeof t.text, "%s[", tsr_dtype_name(type->dtype));
    for (size_t i = 0; i < type->rank && used > 0 && (size_t)used < sizeof t.text; i++) {
        used += snprintf(t.text + used, sizeof t.text - (size_t)used, "%s%lld", i > 0 ? "," : "",
                         (long long)type->shape[i]);
    }
    if (used > 0 && (size_t)used < sizeof t.text) {
        (void)snprintf(t.text + used, sizeof t.text - (size_t)used, "]");
    }
    return t;
}

bool op_ints_have(op_ints list, size_t dim)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.values[i] == (int64_t)dim) {
            return true;
        }
    }
    return false;
}

tsr_extents op_extents(const op_type *type)
{
    return (tsr_extents){type->rank, type->shape};
}

op_type op_type_of(tsr_dtype dtype, op_ints shape)
{
    op_type type = {.dtype = dtype, .rank = shape.count};
    if (shape.count > 0) {
        memcpy(type.shape, shape.values, shape.count * sizeof *shape.values);
    }
    return type;
}

tsr_status op_no_such_type(const op_request *r, tsr_dtype dtype)
{
    return diag_error(r->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                      "%s: there is no %s of %s; convert to another element type first", r->call,
                      r->row->name, tsr_dtype_name(dtype));
}

tsr_status op_check_dim(const op_request *r, const char *what, int64_t dim, size_t rank)
{
    if (dim < 0 || (uint64_t)dim >= rank) {
        return OP_ERROR(r, "%s %lld is out of range: operand 0, %s, has rank %zu", what,
                        (long long)dim, op_type_text(&r->operands[0]).text, rank);
    }
    return TSR_OK;
}

tsr_status op_check_dims(const op_request *r, const char *what, op_ints dims, size_t rank,
                         size_t *sizes)
{
    bool seen[OP_MAX_RANK] = {false};
    for (size_t i = 0; i < dims.count; i++) {
        const int64_t d = dims.values[i];
        if (d < 0 || (uint64_t)d >= rank) {
            return OP_ERROR(r, "%s %lld is out of range: the rank is %zu", what, (long long)d,
                            rank);
        }
        if (seen[d]) {
            return OP_ERROR(r, "%s %lld is named twice", what, (long long)d);
        }
        seen[d] = true;
        if (sizes != NULL) {
            sizes[i] = (size_t)d;
        }
    }
    return TSR_OK;
}

tsr_status op_same_dtype(const op_request *r, size_t a, size_t b)
{
    if (r->operands[a].dtype == r->operands[b].dtype) {
        return TSR_OK;
    }
    return OP_ERROR(r, "operand %zu, %s, and operand %zu, %s, differ in element type; convert one",
                    a, op_type_text(&r->operands[a]).text, b, op_type_text(&r->operands[b]).text);
}

bool op_elements(const op_type *type, int64_t *out)
{
    int64_t elements = 1;
    for (size_t i = 0; i < type->rank; i++) {
        if (!checked_mul(elements, type->shape[i], &elements)) {
            return false;
        }
    }
    *out = elements;
    return true;
}

spmd_class class_moves(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)r;
    (void)operand;
    (void)pending;
    return SPMD_LINEAR;
}

/* Averages of integers are rounded: no op is linear for them. */
static bool distributes(const op_request *r, tsr_reduction pending)
{
    const tsr_dtype dtype = r->operands[0].dtype;
    return pending == TSR_SUM ||
           (pending == TSR_AVG && (dtype_is_float(dtype) || dtype_is_complex(dtype)));
}

spmd_class class_linear(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)operand;
    return distributes(r, pending) ? SPMD_LINEAR : SPMD_NONLINEAR;
}

spmd_class class_multilinear(const op_request *r, size_t operand, tsr_reduction pending)
{
    (void)operand;
    return distributes(r, pending) ? SPMD_MULTILINEAR : SPMD_NONLINEAR;
}

bool dtype_is_float(tsr_dtype dtype)
{
    return dtype >= TSR_F4E2M1FN && dtype <= TSR_F64;
}

bool dtype_is_complex(tsr_dtype dtype)
{
    return dtype == TSR_C64 || dtype == TSR_C128;
}

bool dtype_is_integer(tsr_dtype dtype)
{
    return dtype > TSR_I1 && dtype <= TSR_U64;
}
