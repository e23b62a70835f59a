/* Parameters of ops as values: copied, compared, hashed. */
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "ops/op.h"

/* Where the lists are. */
static const size_t lists[] = {
    offsetof(op_params, dimensions),      offsetof(op_params, shape),
    offsetof(op_params, start),           offsetof(op_params, limit),
    offsetof(op_params, strides),         offsetof(op_params, lhs_batch),
    offsetof(op_params, rhs_batch),       offsetof(op_params, lhs_contracting),
    offsetof(op_params, rhs_contracting), offsetof(op_params, index_map),
    offsetof(op_params, slice_sizes),
};
enum { NUM_LISTS = sizeof lists / sizeof lists[0] };

static op_ints *list_at(op_params *params, size_t i)
{
    return (op_ints *)((char *)params + lists[i]);
}

static const op_ints *const_list_at(const op_params *params, size_t i)
{
    return (const op_ints *)((const char *)params + lists[i]);
}

tsr_status op_params_copy(tsr_context *ctx, tsr_arena *arena, const op_params *params,
                          op_params *out)
{
    *out = *params;
    for (size_t i = 0; i < NUM_LISTS; i++) {
        op_ints *list = list_at(out, i);
        if (list->count > 0) {
            list->values = arena_copy(arena, list->values, list->count, sizeof *list->values);
            if (list->values == NULL) {
                return diag_nomem(ctx);
            }
        }
    }
    return TSR_OK;
}

bool op_params_equal(const op_params *a, const op_params *b)
{
    if (a->dtype != b->dtype || a->variant != b->variant || a->dimension != b->dimension ||
        a->k != b->k || a->index_vector_dim != b->index_vector_dim || a->key != b->key ||
        a->stream != b->stream) {
        return false;
    }
    for (size_t i = 0; i < NUM_LISTS; i++) {
        const op_ints *x = const_list_at(a, i);
        const op_ints *y = const_list_at(b, i);
        if (x->count != y->count ||
            (x->count > 0 && memcmp(x->values, y->values, x->count * sizeof *x->values) != 0)) {
            return false;
        }
    }
    return true;
}

uint64_t op_params_hash(const op_params *params, uint64_t seed)
{
    const int64_t scalars[] = {
        (int64_t)params->dtype,   params->variant,      params->dimension,      params->k,
        params->index_vector_dim, (int64_t)params->key, (int64_t)params->stream};
    uint64_t hash = hash_bytes(scalars, sizeof scalars, seed);
    for (size_t i = 0; i < NUM_LISTS; i++) {
        const op_ints *list = const_list_at(params, i);
        if (list->count > 0) {
            hash = hash_bytes(list->values, list->count * sizeof *list->values, hash + i);
        }
    }
    return hash;
}
