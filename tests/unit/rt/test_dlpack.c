/* DLPack on one rank: element types, strides, ownership, what is refused. */
#include <string.h>

#include <dlpack/dlpack.h>

#include "support.h"
#include "want.h"

static const struct {
    tsr_dtype dtype;
    uint8_t code;
    uint8_t bits;
} types[] = {
    {TSR_I1, 6, 8},   {TSR_I8, 0, 8},   {TSR_I16, 0, 16},  {TSR_I32, 0, 32}, {TSR_I64, 0, 64},
    {TSR_U8, 1, 8},   {TSR_U16, 1, 16}, {TSR_U32, 1, 32},  {TSR_U64, 1, 64}, {TSR_F16, 2, 16},
    {TSR_F32, 2, 32}, {TSR_F64, 2, 64}, {TSR_BF16, 4, 16}, {TSR_C64, 5, 64}, {TSR_C128, 5, 128},
};
enum { NUM_TYPES = sizeof types / sizeof types[0] };

static const int64_t shape[] = {2, 3};

static void launch(fixture *f, tsr_rank_function function)
{
    const tsr_launch_spec spec = {.num_ranks = 1, .segment_bytes = (size_t)1 << 22};
    const tsr_mesh *mesh = mesh_of(f, "<[\"x\"=1]>");
    const tsr_sharding *sharding = sharding_of(f, mesh, "[{\"x\"}, {}]");
    if (tsr_launch(f->ctx, &spec, function, &sharding) != TSR_OK) {
        fail_msg("%s", tsr_context_diagnostics(f->ctx)->text);
    }
}

static const tsr_sharding *sharding_at(void *state)
{
    return *(const tsr_sharding **)state;
}

static tsr_status lend(tsr_comm *world, void *state)
{
    for (size_t i = 0; i < NUM_TYPES; i++) {
        const tsr_tensor_spec spec = {sharding_at(state), types[i].dtype, 2, shape};
        tsr_tensor *t = NULL;
        DLManagedTensor *m = NULL;
        WANT(world, tsr_tensor_create(world, &spec, &t) == TSR_OK);
        WANT(world, tsr_tensor_to_dlpack(t, &m) == TSR_OK);
        const DLTensor *d = &m->dl_tensor;
        WANT(world, d->dtype.code == types[i].code && d->dtype.bits == types[i].bits);
        WANT(world, d->dtype.lanes == 1 && d->ndim == 2 && d->byte_offset == 0);
        WANT(world, d->device.device_type == kDLCPU && d->device.device_id == 0);
        WANT(world, d->shape[0] == 2 && d->shape[1] == 3);
        WANT(world, d->strides[0] == 3 && d->strides[1] == 1);
        WANT(world, d->data == tsr_tensor_data(t));
        tsr_tensor_release(t);
        memset(d->data, 1, (size_t)(6 * tsr_dtype_item_bytes(types[i].dtype)));
        tsr_tensor *again = NULL;
        WANT(world, tsr_tensor_from_dlpack(world, &spec, m, &again) == TSR_OK);
        WANT(world, tsr_tensor_data(again) == d->data);
        WANT(world, *((unsigned char *)tsr_tensor_data(again)) == 1);
        tsr_tensor_release(again);
    }
    return TSR_OK;
}

static void every_type_goes_out_and_in(void **state)
{
    launch(*state, lend);
}

static bool said(tsr_comm *world, const char *text)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(tsr_comm_context(world));
    const bool same = d != NULL && strcmp(d->text, text) == 0;
    if (same) {
        tsr_context_clear(tsr_comm_context(world));
    }
    return same;
}

static tsr_status refuse_to_lend(tsr_comm *world, void *state)
{
    const tsr_tensor_spec narrow = {sharding_at(state), TSR_F8E5M2, 2, shape};
    const tsr_tensor_spec floats = {sharding_at(state), TSR_F32, 2, shape};
    static const int64_t odd[] = {18, 6};
    char memory[64] = {0};
    tsr_tensor *t = NULL;
    DLManagedTensor *m = NULL;
    WANT(world, tsr_tensor_create(world, &narrow, &t) == TSR_OK);
    WANT(world, tsr_tensor_to_dlpack(t, &m) == TSR_ERR_UNSUPPORTED);
    WANT(world, said(world, "DLPack does not define an element type for f8E5M2"));
    tsr_tensor_release(t);
    WANT(world, tsr_tensor_wrap(world, &floats, memory, odd, &t) == TSR_OK);
    WANT(world, tsr_tensor_to_dlpack(t, &m) == TSR_ERR_UNSUPPORTED && m == NULL);
    WANT(world, said(world, "DLPack counts strides in elements: that of dim 0 is 18 bytes, an "
                            "element has 4"));
    tsr_tensor_release(t);
    return TSR_OK;
}

static void what_cannot_go_out_is_refused(void **state)
{
    launch(*state, refuse_to_lend);
}

static void wrong_device(DLTensor *t)
{
    t->device.device_type = kDLCUDA;
}
static void wrong_lanes(DLTensor *t)
{
    t->dtype.lanes = 4;
}
static void wrong_bits(DLTensor *t)
{
    t->dtype.bits = 64;
}
static void wrong_code(DLTensor *t)
{
    t->dtype.code = kDLInt;
}
static void wrong_rank(DLTensor *t)
{
    t->ndim = 1;
}
static void negative_rank(DLTensor *t)
{
    t->ndim = -1;
}
static void wrong_size(DLTensor *t)
{
    t->shape[1] = 4;
}
static void no_data(DLTensor *t)
{
    t->data = NULL;
}
static void huge_stride(DLTensor *t)
{
    t->strides[0] = INT64_MAX / 2;
}

static const struct {
    void (*spoil)(DLTensor *t);
    tsr_status status;
    const char *text;
} faults[] = {
    {wrong_device, TSR_ERR_INVALID,
     "the DLPack tensor is on a device of type 2; it must be in memory of the CPU, type 1"},
    {wrong_lanes, TSR_ERR_INVALID, "the DLPack tensor has vectors of 4 lanes; elements have 1"},
    {wrong_bits, TSR_ERR_INVALID, "the DLPack tensor has type code 2 of 64 bits; f32 is 2 of 32"},
    {wrong_code, TSR_ERR_INVALID, "the DLPack tensor has type code 0 of 32 bits; f32 is 2 of 32"},
    {wrong_rank, TSR_ERR_INVALID, "the DLPack tensor has 1 dimensions, the tensor 2"},
    {negative_rank, TSR_ERR_INVALID, "the DLPack tensor has -1 dimensions, the tensor 2"},
    {wrong_size, TSR_ERR_INVALID, "dim 1 of the DLPack tensor is 4; rank 0 stores 3"},
    {no_data, TSR_ERR_INVALID, "the DLPack tensor has no data and 6 elements"},
    {huge_stride, TSR_ERR_OVERFLOW,
     "stride 4611686018427387903 of dim 0 of the DLPack tensor is too large"},
};

static void count_deletion(DLManagedTensor *self)
{
    (*(int *)self->manager_ctx)++;
}

static tsr_status refuse_to_take(tsr_comm *world, void *state)
{
    const tsr_tensor_spec spec = {sharding_at(state), TSR_F32, 2, shape};
    for (size_t i = 0; i <= sizeof faults / sizeof faults[0]; i++) {
        float memory[8] = {0};
        int64_t sizes[] = {2, 3};
        int64_t strides[] = {4, 1};
        int deleted = 0;
        const bool fine = i == sizeof faults / sizeof faults[0];
        DLManagedTensor m = {.dl_tensor = {.data = memory,
                                           .device = {.device_type = kDLCPU},
                                           .ndim = 2,
                                           .dtype = {kDLFloat, 32, 1},
                                           .shape = sizes,
                                           .strides = strides},
                             .manager_ctx = &deleted,
                             .deleter = count_deletion};
        tsr_tensor *t = NULL;
        if (!fine) {
            faults[i].spoil(&m.dl_tensor);
            WANT(world, tsr_tensor_from_dlpack(world, &spec, &m, &t) == faults[i].status);
            WANT(world, said(world, faults[i].text) && t == NULL && deleted == 0);
            continue;
        }
        WANT(world, tsr_tensor_from_dlpack(world, &spec, &m, &t) == TSR_OK);
        WANT(world, tsr_tensor_strides(t)[0] == 16 && tsr_tensor_strides(t)[1] == 4);
        WANT(world, tsr_tensor_retain(t) == t);
        tsr_tensor_release(t);
        WANT(world, deleted == 0);
        tsr_tensor_release(t);
        WANT(world, deleted == 1);
    }
    return TSR_OK;
}

static void what_does_not_fit_is_refused(void **state)
{
    launch(*state, refuse_to_take);
}

/* No strides, no elements, no deleter; strides of single rows mean nothing. */
static tsr_status take_edges(tsr_comm *world, void *state)
{
    static const int64_t none[] = {0, 3};
    static const int64_t one[] = {1, 3};
    const tsr_tensor_spec empty = {sharding_at(state), TSR_F32, 2, none};
    const tsr_tensor_spec single = {sharding_at(state), TSR_F32, 2, one};
    float memory[3] = {1, 2, 3};
    int64_t sizes[] = {0, 3};
    int64_t strides[] = {-77, 1};
    DLManagedTensor m = {.dl_tensor = {.device = {.device_type = kDLCPU},
                                       .ndim = 2,
                                       .dtype = {kDLFloat, 32, 1},
                                       .shape = sizes}};
    tsr_tensor *t = NULL;
    WANT(world, tsr_tensor_from_dlpack(world, &empty, &m, &t) == TSR_OK);
    tsr_tensor_release(t);
    sizes[0] = 1;
    m.dl_tensor.data = memory;
    m.dl_tensor.strides = strides;
    WANT(world, tsr_tensor_from_dlpack(world, &single, &m, &t) == TSR_OK);
    WANT(world, tsr_tensor_strides(t)[0] == 12);
    tsr_tensor_release(t);
    return TSR_OK;
}

static void edges(void **state)
{
    launch(*state, take_edges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_type_goes_out_and_in),
        TEST(what_cannot_go_out_is_refused),
        TEST(what_does_not_fit_is_refused),
        TEST(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
