/* DLPack: a rank's part of a tensor, out and in, without a copy. */
#include <tessera/dlpack.h>

#include <dlpack/dlpack.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "kernel/copy.h"
#include "rt/tensor.h"

/* Truth values have had a code since version 0.8; the header here may be older. */
enum { CODE_BOOL = 6 };

typedef struct type_row {
    tsr_dtype dtype;
    uint8_t code;
    uint8_t bits;
} type_row;

static const type_row types[] = {
    {TSR_I1, CODE_BOOL, 8},    {TSR_I8, kDLInt, 8},       {TSR_I16, kDLInt, 16},
    {TSR_I32, kDLInt, 32},     {TSR_I64, kDLInt, 64},     {TSR_U8, kDLUInt, 8},
    {TSR_U16, kDLUInt, 16},    {TSR_U32, kDLUInt, 32},    {TSR_U64, kDLUInt, 64},
    {TSR_F16, kDLFloat, 16},   {TSR_F32, kDLFloat, 32},   {TSR_F64, kDLFloat, 64},
    {TSR_BF16, kDLBfloat, 16}, {TSR_C64, kDLComplex, 64}, {TSR_C128, kDLComplex, 128},
};

static const type_row *type_of(tsr_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].dtype == dtype) {
            return &types[i];
        }
    }
    return NULL;
}

/* What is exported; sizes and strides follow it. */
typedef struct lent {
    DLManagedTensor managed;
    tsr_tensor *tensor;
    size_t bytes; /* of this */
    int64_t numbers[];
} lent;

static void take_back(DLManagedTensor *self)
{
    lent *l = self->manager_ctx;
    tsr_tensor *tensor = l->tensor;
    (void)context_resize(tensor->world->ctx, l, l->bytes, 0);
    tsr_tensor_release(tensor);
}

static tsr_status check_lending(const tsr_tensor *t)
{
    tsr_context *ctx = t->world->ctx;
    const int64_t item = tsr_dtype_item_bytes(t->dtype);
    if (type_of(t->dtype) == NULL) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "DLPack does not define an element type for %s",
                          tsr_dtype_name(t->dtype));
    }
    for (size_t i = 0; i < t->geometry->rank; i++) {
        if (t->strides[i] % item != 0) {
            return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                              "DLPack counts strides in elements: that of dim %zu is %lld bytes, "
                              "an element has %lld",
                              i, (long long)t->strides[i], (long long)item);
        }
    }
    return TSR_OK;
}

tsr_status tsr_tensor_to_dlpack(tsr_tensor *tensor, struct DLManagedTensor **out)
{
    GUARD(tsr_tensor_to_dlpack);
    tsr_context *ctx = tensor->world->ctx;
    const size_t rank = tensor->geometry->rank;
    TSR_TRY(check_lending(tensor));
    const size_t bytes = sizeof(lent) + 2 * rank * sizeof(int64_t);
    lent *l = context_resize(ctx, NULL, 0, bytes);
    if (l == NULL) {
        return diag_nomem(ctx);
    }
    const type_row *type = type_of(tensor->dtype);
    for (size_t i = 0; i < rank; i++) {
        l->numbers[i] = tensor->local_shape[i];
        l->numbers[rank + i] = tensor->strides[i] / tsr_dtype_item_bytes(tensor->dtype);
    }
    l->managed = (DLManagedTensor){
        .dl_tensor = {.data = tensor->data,
                      .device = {.device_type = kDLCPU, .device_id = 0},
                      .ndim = (int)rank,
                      .dtype = {.code = type->code, .bits = type->bits, .lanes = 1},
                      .shape = l->numbers,
                      .strides = l->numbers + rank,
                      .byte_offset = 0},
        .manager_ctx = l,
        .deleter = take_back};
    l->tensor = tsr_tensor_retain(tensor);
    l->bytes = bytes;
    *out = &l->managed;
    return TSR_OK;
}

static tsr_status check_type(tsr_context *ctx, const DLTensor *t, tsr_dtype dtype)
{
    const type_row *wanted = type_of(dtype);
    if (t->device.device_type != kDLCPU) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the DLPack tensor is on a device of type %d; it must be in memory of "
                          "the CPU, type %d",
                          (int)t->device.device_type, (int)kDLCPU);
    }
    if (wanted == NULL) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "DLPack does not define an element type for %s", tsr_dtype_name(dtype));
    }
    if (t->dtype.lanes != 1) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the DLPack tensor has vectors of %d lanes; elements have 1",
                          (int)t->dtype.lanes);
    }
    if (t->dtype.code != wanted->code || t->dtype.bits != wanted->bits) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the DLPack tensor has type code %d of %d bits; %s is %d of %d",
                          (int)t->dtype.code, (int)t->dtype.bits, tsr_dtype_name(dtype),
                          (int)wanted->code, (int)wanted->bits);
    }
    return TSR_OK;
}

/* The imported array must have the shape that this rank stores of the tensor. */
static tsr_status check_shape(tsr_context *ctx, const DLTensor *t, const tsr_tensor *like)
{
    const size_t rank = like->geometry->rank;
    if (t->ndim < 0 || (size_t)t->ndim != rank) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the DLPack tensor has %d dimensions, the tensor %zu", t->ndim, rank);
    }
    int64_t elements = 1;
    for (size_t i = 0; i < rank; i++) {
        if (t->shape[i] != like->local_shape[i]) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "dim %zu of the DLPack tensor is %lld; rank %lld stores %lld", i,
                              (long long)t->shape[i], (long long)like->world->rank,
                              (long long)like->local_shape[i]);
        }
        elements *= t->shape[i];
    }
    if (elements > 0 && t->data == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the DLPack tensor has no data and %lld elements", (long long)elements);
    }
    return TSR_OK;
}

/* Its strides in bytes; those of the tensor for dimensions with one row. */
static tsr_status read_strides(tsr_context *ctx, const DLTensor *t, const tsr_tensor *like,
                               int64_t *strides)
{
    const int64_t item = tsr_dtype_item_bytes(like->dtype);
    for (size_t i = 0; i < like->geometry->rank; i++) {
        strides[i] = like->strides[i];
        if (t->strides != NULL && like->local_shape[i] > 1 &&
            !checked_mul(t->strides[i], item, &strides[i])) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "stride %lld of dim %zu of the DLPack tensor is too large",
                              (long long)t->strides[i], i);
        }
    }
    return TSR_OK;
}

static void call_deleter(void *state)
{
    DLManagedTensor *managed = state;
    if (managed->deleter != NULL) {
        managed->deleter(managed);
    }
}

/* A tensor over the memory, which it does not own yet. */
static tsr_status borrow(tsr_comm *world, const tsr_tensor_spec *spec,
                         const struct DLManagedTensor *managed, tsr_tensor **out)
{
    static char nothing[1];
    if (managed == NULL) {
        return diag_error(world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "rank %lld has no DLPack tensor", (long long)world->rank);
    }
    const DLTensor *t = &managed->dl_tensor;
    TSR_TRY(check_type(world->ctx, t, spec->dtype));
    char *data = t->data != NULL ? (char *)t->data + t->byte_offset : nothing;
    tsr_tensor *plain = NULL;
    int64_t strides[KERNEL_MAX_RANK];
    TSR_TRY(tensor_make(world, spec, data, NULL, &plain));
    tsr_status status = check_shape(world->ctx, t, plain);
    if (status == TSR_OK) {
        status = read_strides(world->ctx, t, plain, strides);
    }
    if (status == TSR_OK) {
        status = tensor_make(world, spec, data, strides, out);
    }
    tsr_tensor_release(plain);
    return status;
}

tsr_status tsr_tensor_from_dlpack(tsr_comm *world, const tsr_tensor_spec *spec,
                                  struct DLManagedTensor *managed, tsr_tensor **out)
{
    GUARD(tsr_tensor_from_dlpack);
    tsr_tensor *t = NULL;
    const spec_call call = {
        .ctx = world->ctx, .name = "tsr_tensor_from_dlpack", .spec = *spec, .root = -1};
    const comm_call what = spec_call_record(&call, borrow(world, spec, managed, &t));
    const tsr_status status = comm_enter(world, &what);
    if (status < 0 || t == NULL) {
        tsr_tensor_release(t);
        return status;
    }
    tensor_note_call(t, &what);
    t->on_release = call_deleter;
    t->release_state = managed;
    *out = t;
    return TSR_OK;
}
