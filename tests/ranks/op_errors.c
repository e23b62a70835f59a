/*
 * Calls that are wrong: every rank gets an error that names the call and its operands, nothing is
 * written, and the next call works.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "kinds.h"
#include "texts.h"

enum { OPERANDS = 3 };

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

typedef tsr_status (*call_function)(tsr_comm *world, tsr_tensor **x, tsr_tensor **out);

/* A wrong call: the message has its name, the types of its operands, and a part. */
typedef struct wrong_row {
    const char *call;
    call_function make;
    const char *operands[OPERANDS];
    const char *part;
} wrong_row;

#define CALL(name, expression)                                                                     \
    static tsr_status name(tsr_comm *world, tsr_tensor **x, tsr_tensor **out)                      \
    {                                                                                              \
        (void)world;                                                                               \
        return expression;                                                                         \
    }

static const size_t dims_02[] = {0, 2};
static const size_t dims_00[] = {0, 0};
static const size_t dims_20[] = {2, 0};
static const size_t many_dims[40] = {0};
static const int64_t shape_7[] = {7};
static const int64_t negative[] = {-2, 4};
static const int64_t shape_35[] = {3, 5};
static const int64_t shape_6[] = {6};
static const int64_t starts[] = {0, 3};
static const int64_t limits[] = {4, 7};
static const int64_t zeros[] = {0, 0};
static const int64_t whole[] = {4, 6};
static const int64_t less[] = {-3, 0};
static const int64_t no_steps[] = {1, 0};
static const int64_t parts[] = {2, 3};
static const int64_t large_slice[] = {1, 9};
static const int64_t long_shape[40] = {1};

static const tsr_dot_dims dot_far = {0, NULL, NULL, 1, &dims_02[1], &dims_02[0]};
static const tsr_dot_dims dot_twice = {1, &dims_02[0], &dims_02[0], 1, &dims_02[0], &dims_02[0]};
static const tsr_slices_dims slices_large = {
    {1, (const size_t[]){1}, 1, (const size_t[]){0}, 0, NULL, NULL, 1}, 1, (const size_t[]){0}};
static const tsr_slices_dims slices_far = {
    {1, (const size_t[]){1}, 1, (const size_t[]){5}, 0, NULL, NULL, 1}, 1, (const size_t[]){0}};
static const tsr_slices_dims slices_vector = {
    {1, (const size_t[]){1}, 1, (const size_t[]){0}, 0, NULL, NULL, 7}, 1, (const size_t[]){0}};
static const tsr_slices_dims slices_back = {
    {2, (const size_t[]){1, 0}, 0, NULL, 0, NULL, NULL, 0}, 1, (const size_t[]){0}};

CALL(add, tsr_add(x[0], x[1], out))
CALL(maximum, tsr_maximum(x[0], x[1], out))
CALL(and, tsr_and(x[0], x[1], out))
CALL(not, tsr_not(x[0], out))
CALL(exponential, tsr_exp(x[0], out))
CALL(compare, tsr_compare(x[0], x[1], TSR_EQ, out))
CALL(choose, tsr_select(x[0], x[1], x[2], out))
CALL(convert, tsr_convert(x[0], TSR_F4E2M1FN, out))
CALL(matmul, tsr_matmul(x[0], x[1], out))
CALL(dot_far_dim, tsr_dot_general(x[0], x[1], &dot_far, out))
CALL(dot_twice_dim, tsr_dot_general(x[0], x[1], &dot_twice, out))
CALL(einsum, tsr_einsum("ij,jk->ik", x, 2, out))
CALL(einsum_letter, tsr_einsum("ij,jk->iz", x, 2, out))
CALL(einsum_few, tsr_einsum("ij->ji", x, 2, out))
CALL(einsum_text, tsr_einsum("i!,jk->ik", x, 2, out))
CALL(einsum_twice, tsr_einsum("ii->i", x, 1, out))
CALL(linear, tsr_linear(x[0], x[1], x[2], out))
CALL(linear_plain, tsr_linear(x[0], x[1], NULL, out))
CALL(sum_far, tsr_sum(x[0], dims_02, 2, out))
CALL(sum_twice, tsr_sum(x[0], dims_00, 2, out))
CALL(sum_many, tsr_sum(x[0], many_dims, 40, out))
CALL(mean, tsr_mean(x[0], NULL, 0, out))
CALL(all, tsr_all(x[0], NULL, 0, out))
CALL(argmax_first, tsr_argmax(x[0], 0, out))
CALL(argmax, tsr_argmax(x[0], 2, out))
CALL(cumsum, tsr_cumsum(x[0], SIZE_MAX, out))
CALL(reshape, tsr_reshape(x[0], shape_7, 1, out))
CALL(reshape_negative, tsr_reshape(x[0], negative, 2, out))
CALL(reshape_long, tsr_reshape(x[0], long_shape, 40, out))
CALL(transpose_far, tsr_transpose(x[0], dims_20, out))
CALL(transpose_twice, tsr_transpose(x[0], dims_00, out))
CALL(broadcast, tsr_broadcast_to(x[0], shape_35, 2, out))
CALL(broadcast_down, tsr_broadcast_to(x[0], shape_6, 1, out))
CALL(slice, tsr_slice(x[0], starts, limits, NULL, out))
CALL(slice_back, tsr_slice(x[0], whole, zeros, NULL, out))
CALL(slice_step, tsr_slice(x[0], zeros, whole, no_steps, out))
CALL(concatenate, tsr_concatenate(x, 2, 0, out))
CALL(concatenate_far, tsr_concatenate(x, 2, 5, out))
CALL(stack, tsr_stack(x, 2, 0, out))
CALL(stack_far, tsr_stack(x, 2, 4, out))
CALL(split_some, tsr_split(x[0], 0, parts, 2, out))
CALL(split_far, tsr_split(x[0], 3, parts, 2, out))
CALL(pad, tsr_pad(x[0], 0, less, less, NULL, out))
CALL(pad_between, tsr_pad(x[0], 0, zeros, zeros, less, out))
CALL(take, tsr_take(x[0], x[1], 0, out))
CALL(take_far, tsr_take(x[0], x[1], 2, out))
CALL(embedding, tsr_embedding(x[0], x[1], out))
CALL(scatter, tsr_scatter(x[0], x[1], x[2], 0, TSR_SCATTER_ADD, out))
CALL(scatter_far, tsr_scatter(x[0], x[1], x[2], 4, TSR_SCATTER_ADD, out))
CALL(gather_large, tsr_gather_slices(x[0], x[1], &slices_large, large_slice, out))
CALL(gather_far, tsr_gather_slices(x[0], x[1], &slices_far, whole, out))
CALL(gather_vector, tsr_gather_slices(x[0], x[1], &slices_vector, whole, out))
CALL(gather_back, tsr_gather_slices(x[0], x[1], &slices_back, whole, out))
CALL(scatter_back, tsr_scatter_slices(x[0], x[1], x[2], &slices_back, TSR_SCATTER_ADD, out))
CALL(one_hot, tsr_one_hot(x[0], 4, TSR_F32, out))
CALL(one_hot_depth, tsr_one_hot(x[0], -4, TSR_F32, out))
CALL(sort, tsr_sort(x[0], 2, false, out, NULL))
CALL(top_k, tsr_top_k(x[0], 1, 7, out, NULL))
CALL(top_k_less, tsr_top_k(x[0], 1, -1, out, NULL))
CALL(softmax, tsr_softmax(x[0], 2, out))
CALL(softmax_type, tsr_softmax(x[0], 1, out))
CALL(layer_norm, tsr_layer_norm(x[0], x[1], x[2], 1e-5, out))
CALL(rms_norm, tsr_rms_norm(x[0], NULL, 1e-5, out))
CALL(cross_entropy, tsr_cross_entropy(x[0], x[1], out))
CALL(gather, tsr_gather(x[0], 2, out))

static const wrong_row rows[] = {
    {"tsr_add", add, {"f32[4,6]", "f32[4,5]"}, "5 is not 6"},
    {"tsr_add", add, {"f32[4,6]", "f32[4]"}, "4 is not 6"},
    {"tsr_add", add, {"f32[4,6]", "f64[4,6]"}, ""},
    {"tsr_maximum", maximum, {"f32[4,6]", "i32[4,6]"}, ""},
    {"tsr_and", and, {"f32[4]", "f32[4]"}, "f32"},
    {"tsr_not", not, {"f32[4]"}, "f32"},
    {"tsr_exp", exponential, {"i32[4]"}, "i32"},
    {"tsr_compare", compare, {"f32[4,6]", "f32[3,6]"}, "3 is not 4"},
    {"tsr_select", choose, {"i32[4]", "f32[4]", "f32[4]"}, "i1"},
    {"tsr_select", choose, {"i1[4]", "f32[4]", "f64[4]"}, ""},
    {"tsr_select", choose, {"i1[4]", "f32[5]", "f32[5]"}, "5 is not 4"},
    {"tsr_convert", convert, {"f32[4]"}, "f4E2M1FN"},
    {"tsr_matmul", matmul, {"f32[4,6]", "f32[5,4]"}, "6"},
    {"tsr_matmul", matmul, {"f32[4,6]", "f32[]"}, "each operand needs at least 1 dimension"},
    {"tsr_matmul", matmul, {"f32[2,3,4,6]", "f32[3,6,4]"}, "leading"},
    {"tsr_matmul", matmul, {"f32[3,4,6]", "f32[2,6,4]"}, "3"},
    {"tsr_matmul", matmul, {"f32[4,6]", "bf16[6,4]"}, ""},
    {"tsr_dot_general", dot_far_dim, {"f32[4,6]", "f32[6,4]"}, "2"},
    {"tsr_dot_general", dot_twice_dim, {"f32[4,6]", "f32[4,6]"}, "duplicated"},
    {"tsr_einsum", einsum, {"f32[4,6]", "f32[5,4]"}, "j"},
    {"tsr_einsum", einsum, {"f32[4,6]", "f32[4]"}, ""},
    {"tsr_einsum", einsum_letter, {"f32[4,6]", "f32[6,4]"}, "z"},
    {"tsr_einsum", einsum_few, {"f32[4,6]", "f32[6,4]"}, ""},
    {"tsr_einsum", einsum_text, {"f32[4,6]", "f32[6,4]"}, "!"},
    {"tsr_einsum", einsum_twice, {"f32[4,4]"}, "i"},
    {"tsr_linear", linear, {"f32[4,6]", "f32[5,7]", "f32[5]"}, "6"},
    {"tsr_linear", linear, {"f32[4,6]", "f32[5,6]", "f32[4]"}, "4 is not 5"},
    {"tsr_linear", linear_plain, {"f32[4,6]", "f32[6]"}, "the weight rank 2"},
    {"tsr_sum", sum_far, {"f32[4,6]"}, "2"},
    {"tsr_sum", sum_twice, {"f32[4,6]"}, "Duplicate"},
    {"tsr_sum", sum_many, {"f32[4,6]"}, "40"},
    {"tsr_mean", mean, {"i32[4]"}, "i32"},
    {"tsr_all", all, {"f32[4]"}, "f32"},
    {"tsr_argmax", argmax, {"f32[4,6]"}, "2"},
    {"tsr_argmax", argmax_first, {"f32[0,6]"}, "has extent 0"},
    {"tsr_cumsum", cumsum, {"f32[4,6]"}, "out of range"},
    {"tsr_reshape", reshape, {"f32[4,6]"}, "(7)"},
    {"tsr_reshape", reshape_negative, {"f32[4]"}, "-2"},
    {"tsr_reshape", reshape_long, {"f32[1]"}, "40"},
    {"tsr_transpose", transpose_far, {"f32[4,6]"}, "2"},
    {"tsr_transpose", transpose_twice, {"f32[4,6]"}, "permutation of [0, 1]"},
    {"tsr_broadcast_to", broadcast, {"f32[4]"}, "5"},
    {"tsr_broadcast_to", broadcast_down, {"f32[4,6]"}, ""},
    {"tsr_slice", slice, {"f32[4,6]"}, "7"},
    {"tsr_slice", slice_back, {"f32[4,6]"}, "0"},
    {"tsr_slice", slice_step, {"f32[4,6]"}, "0"},
    {"tsr_concatenate", concatenate, {"f32[4,6]", "f32[4,5]"}, ""},
    {"tsr_concatenate", concatenate, {"f32[4,6]", "f64[4,6]"}, ""},
    {"tsr_concatenate", concatenate, {"f32[4,6]", "f32[4]"}, ""},
    {"tsr_concatenate", concatenate_far, {"f32[4,6]", "f32[4,6]"}, "5"},
    {"tsr_stack", stack, {"f32[4,6]", "f32[4,5]"}, ""},
    {"tsr_stack", stack, {"f32[4,6]", "f64[4,6]"}, ""},
    {"tsr_stack", stack_far, {"f32[4,6]", "f32[4,6]"}, "4"},
    {"tsr_split", split_some, {"f32[4,6]"}, "5"},
    {"tsr_split", split_far, {"f32[5,6]"}, "3"},
    {"tsr_pad", pad, {"f32[4,6]"}, ""},
    {"tsr_pad", pad_between, {"f32[4,6]"}, "-3"},
    {"tsr_take", take, {"f32[4,6]", "f32[3]"}, "integers"},
    {"tsr_take", take_far, {"f32[4,6]", "i32[3]"}, "2"},
    {"tsr_embedding", embedding, {"f32[4]", "i32[3]"}, "must have rank 2"},
    {"tsr_embedding", embedding, {"f32[4,6]", "f32[3]"}, "integers"},
    {"tsr_scatter", scatter, {"f32[4,6]", "i32[3]", "f32[2,6]"}, "updates"},
    {"tsr_scatter", scatter, {"f32[4,6]", "i32[3]", "f64[3,6]"}, ""},
    {"tsr_scatter", scatter, {"f32[4,6]", "f32[3]", "f32[3,6]"}, "integers"},
    {"tsr_scatter", scatter_far, {"f32[4,6]", "i32[3]", "f32[3,6]"}, "4"},
    {"tsr_gather_slices", gather_large, {"f32[4,6]", "i32[3,1]"}, "9"},
    {"tsr_gather_slices", gather_far, {"f32[4,6]", "i32[3,1]"}, "5"},
    {"tsr_gather_slices", gather_vector, {"f32[4,6]", "i32[3,1]"}, "7"},
    {"tsr_gather_slices", gather_back, {"f32[4,6]", "i32[1]"}, "to be sorted, got: [1, 0]"},
    {"tsr_scatter_slices", scatter_back, {"f32[4,6]", "i32[1]", "f32[4,6]"}, "to be sorted"},
    {"tsr_one_hot", one_hot, {"f32[4]"}, "integers"},
    {"tsr_one_hot", one_hot_depth, {"i32[4]"}, "-4"},
    {"tsr_sort", sort, {"f32[4,6]"}, "2"},
    {"tsr_top_k", top_k, {"f32[4,6]"}, "7"},
    {"tsr_top_k", top_k_less, {"f32[4,6]"}, "-1"},
    {"tsr_softmax", softmax, {"f32[4,6]"}, "2"},
    {"tsr_softmax", softmax_type, {"i32[4,6]"}, "floating-point"},
    {"tsr_layer_norm", layer_norm, {"f32[4,6]", "f32[5]", "f32[6]"}, "5"},
    {"tsr_layer_norm", layer_norm, {"f32[]", "f32[6]", "f32[6]"}, "0"},
    {"tsr_layer_norm", layer_norm, {"bf16[4,6]", "f32[6]", "bf16[6]"}, "scale"},
    {"tsr_layer_norm", layer_norm, {"bf16[4,6]", "bf16[6]", "f16[6]"}, "bias"},
    {"tsr_rms_norm", rms_norm, {"i32[4,6]"}, "floating-point"},
    {"tsr_cross_entropy", cross_entropy, {"f32[4,6]", "i32[5]"}, "labels"},
    {"tsr_cross_entropy", cross_entropy, {"f32[4,6]", "f32[4]"}, "integers"},
    {"tsr_gather", gather, {"f32[4,6]"}, "2"},
};

/* ---- on a rank ---- */

typedef struct scene {
    const tsr_mesh *mesh;
    const tsr_mesh *larger;
} scene;

/* What results are before a call. */
static char nothing[16];
static tsr_tensor *const untouched = (tsr_tensor *)(void *)nothing;

/* Dimension 0 is sharded, the others are whole. */
static tsr_status make_operands(tsr_comm *world, tsr_arena *arena, const scene *s,
                                const wrong_row *row, tsr_tensor **x)
{
    static const char *const layouts[] = {"[]", "[{\"x\"}]", "[{\"x\"}, {}]", "[{\"x\"}, {}, {}]",
                                          "[{\"x\"}, {}, {}, {}]"};
    for (size_t i = 0; i < OPERANDS && row->operands[i] != NULL; i++) {
        tsr_dtype dtype;
        size_t rank;
        int64_t shape[MAX_DIMS];
        if (!type_of_text(row->operands[i], &dtype, &rank, shape)) {
            return TSR_ERR_SYNTAX;
        }
        const tsr_status status =
            tensor_of_text(world, arena, s->mesh, row->operands[i], layouts[rank], &x[i]);
        if (status < 0) {
            return status;
        }
    }
    return TSR_OK;
}

static tsr_status complain(tsr_comm *world, const wrong_row *row, const char *what,
                           const char *part)
{
    char said[512] = "nothing";
    const tsr_diagnostic *d = tsr_context_diagnostics(tsr_comm_context(world));
    if (d != NULL) {
        (void)snprintf(said, sizeof said, "%s", d->text);
    }
    return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION,
                      "%s of %s, %s: %s%s; it says: %s", row->call, row->operands[0],
                      row->operands[1] != NULL ? row->operands[1] : "", what, part, said);
}

static tsr_status check_wrong(tsr_comm *world, const wrong_row *row, tsr_tensor **x)
{
    tsr_tensor *out[OPERANDS] = {untouched, untouched, untouched};
    if (row->make(world, x, out) >= 0) {
        return complain(world, row, "it is not refused", "");
    }
    for (size_t i = 0; i < OPERANDS; i++) {
        if (out[i] != untouched) {
            return complain(world, row, "a result is written", "");
        }
    }
    if (!messages_have(world, row->call)) {
        return complain(world, row, "the message does not name ", row->call);
    }
    if (!messages_have(world, row->part)) {
        return complain(world, row, "the message lacks ", row->part);
    }
    for (size_t i = 0; i < OPERANDS && row->operands[1] != NULL && row->operands[i] != NULL; i++) {
        if (!messages_have(world, row->operands[i])) {
            return complain(world, row, "the message does not name ", row->operands[i]);
        }
    }
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

/* After an error everything works as before. */
static tsr_status check_good(tsr_comm *world, const wrong_row *row, tsr_tensor *x)
{
    tsr_tensor *sum = NULL;
    tsr_tensor *all = NULL;
    tsr_status status = tsr_concatenate(&x, 1, 0, &sum);
    if (status == TSR_OK) {
        status = tsr_replicate(sum, &all);
    }
    return status < 0 ? complain(world, row, "the next call fails", "") : TSR_OK;
}

static tsr_status run_row(tsr_comm *world, tsr_arena *arena, const scene *s, const wrong_row *row)
{
    tsr_tensor *x[OPERANDS] = {NULL};
    tsr_status status = tsr_scope_open(world);
    if (status < 0) {
        return status;
    }
    status = make_operands(world, arena, s, row, x);
    status = status < 0 ? status : check_wrong(world, row, x);
    if (status == TSR_OK && tsr_tensor_rank(x[0]) > 0) {
        status = check_good(world, row, x[0]);
    }
    tsr_scope_close(world);
    for (size_t i = 0; i < OPERANDS; i++) {
        tsr_tensor_release(x[i]);
    }
    return status < 0 ? status : tsr_barrier(world);
}

static tsr_status run_rows(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    for (size_t i = 0; status == TSR_OK && i < COUNT(rows); i++) {
        status = run_row(world, arena, state, &rows[i]);
    }
    tsr_arena_destroy(arena);
    return status;
}

static void launch(fixture *f, tsr_rank_function function)
{
    int64_t ranks;
    for (size_t at = 0; kinds_next_count(&at, 4, &ranks);) {
        char texts[2][32];
        (void)snprintf(texts[0], sizeof texts[0], "<[\"x\"=%lld]>", (long long)ranks);
        (void)snprintf(texts[1], sizeof texts[1], "<[\"x\"=%lld]>", (long long)ranks + 1);
        scene s = {mesh_of(f, texts[0]), mesh_of(f, texts[1])};
        const tsr_launch_spec spec = {.num_ranks = ranks,
                                      .ranks = kinds_chosen(),
                                      .timeout = 60,
                                      .checked = ranks % 2 == 0,
                                      .segment_bytes = (size_t)1 << 24};
        expect_ranks(f, &spec, function, &s);
    }
}

static void wrong_calls(void **state)
{
    launch(*state, run_rows);
    printf("%zu wrong calls\n", COUNT(rows));
}

/* ---- tensors from nothing, and of nothing ---- */

static tsr_status expect_refusal(tsr_comm *world, tsr_status status, const tsr_tensor *out,
                                 const char *part)
{
    const wrong_row row = {.call = "a tensor", .operands = {"f32[4,6]"}};
    if (status >= 0 || out != untouched) {
        return complain(world, &row, "it is not refused: ", part);
    }
    if (!messages_have(world, part)) {
        return complain(world, &row, "the message lacks ", part);
    }
    tsr_context_clear(tsr_comm_context(world));
    return TSR_OK;
}

/* Meshes that do not have the ranks of the world, and too many dimensions. */
static tsr_status refuse_specs(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    const int64_t shape[] = {4, 6};
    tsr_tensor_spec spec = {.dtype = TSR_F32, .rank = 2, .shape = shape};
    tsr_tensor *out = untouched;
    tsr_status status = tsr_sharding_parse(tsr_comm_context(world), arena, s->larger,
                                           "[{\"x\"}, {}]", &spec.sharding);
    const tsr_random_key key = {1, 2};
    for (int i = 0; status == TSR_OK && i < 6; i++) {
        status = i == 0   ? tsr_fill(world, &spec, 1, &out)
                 : i == 1 ? tsr_iota(world, &spec, 0, &out)
                 : i == 2 ? tsr_random_uniform(world, &spec, key, &out)
                 : i == 3 ? tsr_abstract(world, &spec, &out)
                 : i == 4 ? tsr_zeros(world, &spec, &out)
                          : tsr_tensor_create(world, &spec, &out);
        status = expect_refusal(world, status, out, "devices");
    }
    status = status < 0 ? status
                        : tsr_sharding_parse(tsr_comm_context(world), arena, s->mesh,
                                             "[{\"x\"}, {}]", &spec.sharding);
    if (status == TSR_OK) {
        status = expect_refusal(world, tsr_iota(world, &spec, 2, &out), out, "tsr_iota");
    }
    if (status == TSR_OK) {
        spec.dtype = TSR_I32;
        status = expect_refusal(world, tsr_random_normal(world, &spec, key, &out), out,
                                "tsr_random_normal");
    }
    if (status == TSR_OK) {
        spec.rank = 40;
        spec.shape = long_shape;
        status = expect_refusal(world, tsr_ones(world, &spec, &out), out, "40");
    }
    return status;
}

/* Elements of a tensor that has none, and layouts that do not fit. */
static tsr_status refuse_layouts(tsr_comm *world, tsr_arena *arena, const scene *s)
{
    const int64_t shape[] = {4, 6};
    tsr_tensor_spec spec = {.dtype = TSR_F32, .rank = 2, .shape = shape};
    const tsr_sharding *other = NULL;
    tsr_tensor *out = untouched;
    tsr_tensor *abstract = NULL;
    float numbers[24];
    const tsr_view view = {numbers, TSR_F32, 2, shape, NULL};
    tsr_context *ctx = tsr_comm_context(world);
    TSR_TRY(tsr_sharding_parse(ctx, arena, s->mesh, "[{\"x\"}, {}]", &spec.sharding));
    TSR_TRY(tsr_abstract(world, &spec, &abstract));
    tsr_status status = expect_refusal(world, tsr_to_local(abstract, &view), out, "tsr_to_local");
    if (status == TSR_OK) {
        status = tsr_sharding_parse(ctx, arena, s->mesh, "[{\"x\"}]", &other);
    }
    if (status == TSR_OK) {
        status = expect_refusal(world, tsr_with_sharding(abstract, other, &out), out,
                                "tsr_with_sharding");
    }
    if (status == TSR_OK) {
        status = tsr_sharding_parse(ctx, arena, s->larger, "[{\"x\"}, {}]", &other);
    }
    if (status == TSR_OK) {
        status = expect_refusal(world, tsr_shard(abstract, other, &out), out, "tsr_shard");
    }
    tsr_tensor_release(abstract);
    return status;
}

static tsr_status run_specs(tsr_comm *world, void *state)
{
    tsr_arena *arena = NULL;
    tsr_status status = tsr_arena_create(tsr_comm_context(world), &arena);
    status = status < 0 ? status : refuse_specs(world, arena, state);
    status = status < 0 ? status : refuse_layouts(world, arena, state);
    tsr_arena_destroy(arena);
    return status;
}

static void wrong_tensors(void **state)
{
    launch(*state, run_specs);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(wrong_calls), TEST(wrong_tensors)};
    kinds_choose(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
