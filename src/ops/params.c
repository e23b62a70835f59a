#include "ops/params.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"

bool op_ints_have(op_ints list, size_t dim)
{
    for (size_t i = 0; i < list.count; i++) {
        if (list.values[i] == (int64_t)dim) {
            return true;
        }
    }
    return false;
}

fold_op op_region_fold(const op_region *region)
{
    static const fold_op folds[OP_BODY_COUNT] = {[OP_BODY_OPAQUE] = FOLD_COUNT,
                                                 [OP_BODY_SUM] = FOLD_SUM,
                                                 [OP_BODY_PROD] = FOLD_PROD,
                                                 [OP_BODY_MAX] = FOLD_MAX,
                                                 [OP_BODY_MIN] = FOLD_MIN,
                                                 [OP_BODY_AND] = FOLD_AND,
                                                 [OP_BODY_OR] = FOLD_OR,
                                                 [OP_BODY_SECOND] = FOLD_COUNT,
                                                 [OP_BODY_LESS] = FOLD_COUNT,
                                                 [OP_BODY_GREATER] = FOLD_COUNT,
                                                 [OP_BODY_LESS_EQUAL] = FOLD_COUNT,
                                                 [OP_BODY_GREATER_EQUAL] = FOLD_COUNT};
    return folds[region->body];
}

tsr_reduction op_region_reduction(const op_region *region)
{
    switch (region->body) {
    case OP_BODY_MAX:
    case OP_BODY_OR:
        return TSR_MAX;
    case OP_BODY_MIN:
    case OP_BODY_AND:
        return TSR_MIN;
    case OP_BODY_PROD:
        return TSR_PROD;
    default:
        return TSR_SUM;
    }
}

/* ---- one field ---- */

static bool copy_ints(tsr_arena *arena, op_ints *list)
{
    if (list->count > 0) {
        list->values = arena_copy(arena, list->values, list->count, sizeof *list->values);
    }
    return list->count == 0 || list->values != NULL;
}

/* The extents of a type as a list, to be treated as one. */
static op_ints extents_of(const op_type *type)
{
    return (op_ints){type->rank, type->shape};
}

/* Makes what a field of a copied struct points to the arena's own. */
static bool copy_field(tsr_arena *arena, const op_field *field, char *params)
{
    if (field->kind == OP_FIELD_INTS) {
        return copy_ints(arena, (op_ints *)(void *)(params + field->offset));
    }
    if (field->kind == OP_FIELD_RESULT) {
        op_type *type = (op_type *)(void *)(params + field->offset);
        op_ints extents = extents_of(type);
        const bool copied = copy_ints(arena, &extents);
        type->shape = extents.values;
        return copied;
    }
    return true;
}

static bool ints_equal(op_ints a, op_ints b)
{
    return a.count == b.count &&
           (a.count == 0 || memcmp(a.values, b.values, a.count * sizeof *a.values) == 0);
}

static bool regions_equal(const op_region *a, const op_region *b)
{
    return a->body == b->body &&
           (a->body != OP_BODY_OPAQUE || (a->call == b->call && a->state == b->state));
}

static bool fields_equal(const op_field *field, const char *a, const char *b)
{
    const void *x = a + field->offset;
    const void *y = b + field->offset;
    switch (field->kind) {
    case OP_FIELD_INT:
        return *(const int64_t *)x == *(const int64_t *)y;
    case OP_FIELD_INTS:
        return ints_equal(*(const op_ints *)x, *(const op_ints *)y);
    case OP_FIELD_BOOL:
        return *(const bool *)x == *(const bool *)y;
    case OP_FIELD_ENUM:
        return *(const int32_t *)x == *(const int32_t *)y;
    case OP_FIELD_REGION:
        return regions_equal(x, y);
    case OP_FIELD_DTYPE:
        return *(const tsr_dtype *)x == *(const tsr_dtype *)y;
    case OP_FIELD_RESULT:
        return ((const op_type *)x)->dtype == ((const op_type *)y)->dtype &&
               ints_equal(extents_of(x), extents_of(y));
    }
    return false;
}

static uint64_t hash_number(int64_t number, uint64_t seed)
{
    return hash_bytes(&number, sizeof number, seed);
}

static uint64_t hash_ints(op_ints list, uint64_t seed)
{
    return hash_bytes(list.values, list.count * sizeof *list.values,
                      seed + (uint64_t)list.count * 31);
}

static uint64_t hash_region(const op_region *region, uint64_t seed)
{
    return hash_number((int64_t)region->body, seed); /* addresses differ between ranks */
}

static uint64_t hash_field(const op_field *field, const char *params, uint64_t seed)
{
    const void *x = params + field->offset;
    switch (field->kind) {
    case OP_FIELD_INT:
        return hash_number(*(const int64_t *)x, seed);
    case OP_FIELD_INTS:
        return hash_ints(*(const op_ints *)x, seed);
    case OP_FIELD_BOOL:
        return hash_number(*(const bool *)x, seed);
    case OP_FIELD_ENUM:
        return hash_number(*(const int32_t *)x, seed);
    case OP_FIELD_REGION:
        return hash_region(x, seed);
    case OP_FIELD_DTYPE:
        return hash_number((int64_t) * (const tsr_dtype *)x, seed);
    case OP_FIELD_RESULT:
        return hash_ints(extents_of(x), seed + (uint64_t)((const op_type *)x)->dtype);
    }
    return seed;
}

/* ---- all of them ---- */

tsr_status op_params_copy(tsr_context *ctx, tsr_arena *arena, const op_fields *fields,
                          const void *params, const void **out)
{
    *out = NULL;
    if (fields == NULL) {
        return TSR_OK;
    }
    char *copy = arena_copy(arena, params, 1, fields->bytes);
    for (size_t i = 0; copy != NULL && i < fields->count; i++) {
        copy = copy_field(arena, &fields->fields[i], copy) ? copy : NULL;
    }
    *out = copy;
    return copy != NULL ? TSR_OK : diag_nomem(ctx);
}

bool op_params_equal(const op_fields *fields, const void *a, const void *b)
{
    for (size_t i = 0; fields != NULL && i < fields->count; i++) {
        if (!fields_equal(&fields->fields[i], a, b)) {
            return false;
        }
    }
    return true;
}

uint64_t op_params_hash(const op_fields *fields, const void *params, uint64_t seed)
{
    for (size_t i = 0; fields != NULL && i < fields->count; i++) {
        seed = hash_field(&fields->fields[i], params, seed);
    }
    return seed;
}
