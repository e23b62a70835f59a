/*
 * The rules of rows without types: those of the registry's table on a few shapes, and none, without
 * a fault, where shapes and parameters do not fit. Nothing has checked what these rules are asked.
 */
#include <string.h>

#include "ops/op_chlo.h"
#include "ops/op_collective.h"
#include "ops/op_create.h"
#include "ops/op_custom.h"
#include "ops/op_elementwise.h"
#include "ops/op_linalg.h"
#include "ops/op_slice.h"
#include "ops/op_window.h"
#include "random.h"

enum { MOST = 6 };

typedef struct shape_of {
    size_t rank;
    int64_t sizes[4];
} shape_of;

/* A use of a row, operands first; no rule where `rule` is NULL. */
typedef struct rule_case {
    const char *row;
    const void *params;
    const char *target; /* of a custom call */
    size_t num_operands;
    size_t num_results;
    shape_of tensors[MOST];
    op_facts facts;
    const char *rule;
} rule_case;

#define S0                                                                                         \
    {                                                                                              \
        0,                                                                                         \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define S1(a)                                                                                      \
    {                                                                                              \
        1,                                                                                         \
        {                                                                                          \
            a                                                                                      \
        }                                                                                          \
    }
#define S2(a, b)                                                                                   \
    {                                                                                              \
        2,                                                                                         \
        {                                                                                          \
            a, b                                                                                   \
        }                                                                                          \
    }
#define S3(a, b, c)                                                                                \
    {                                                                                              \
        3,                                                                                         \
        {                                                                                          \
            a, b, c                                                                                \
        }                                                                                          \
    }
#define LIST(...)                                                                                  \
    {                                                                                              \
        sizeof((int64_t[]){__VA_ARGS__}) / 8, (const int64_t[])                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define S4(a, b, c, d)                                                                             \
    {                                                                                              \
        4,                                                                                         \
        {                                                                                          \
            a, b, c, d                                                                             \
        }                                                                                          \
    }
#define LIST(...)                                                                                  \
    {                                                                                              \
        sizeof((int64_t[]){__VA_ARGS__}) / 8, (const int64_t[])                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const all_gather_params gather_1 = {1};
static const all_gather_params gather_2 = {2};
static const all_gather_params gather_before = {-1};
static const all_to_all_params exchange_01 = {0, 1, 2};
static const all_to_all_params exchange_00 = {0, 0, 2};
static const all_to_all_params exchange_05 = {0, 5, 2};
static const reduce_scatter_params scatter_0 = {0};
static const reduce_scatter_params scatter_3 = {3};
static const cholesky_params lower = {true};
static const fft_params fft_1 = {.fft_length = LIST(8)};
static const fft_params fft_3 = {.fft_length = LIST(2, 2, 2)};
static const triangular_solve_params left = {.left_side = true, .transpose_a = SOLVE_NO_TRANSPOSE};
static const triangular_solve_params right = {.transpose_a = SOLVE_ADJOINT};
static const batch_norm_params feature_1 = {1};
static const batch_norm_params feature_2 = {2};
static const dynamic_slice_params sizes = {LIST(4, 2)};
static const reverse_params reverse_1 = {LIST(1)};
static const reverse_params reverse_far = {LIST(7, -1)};
static const reduce_precision_params precision = {5, 2};
static const bitcast_params bitcast = {.result = {.dtype = TSR_I8}};
static const rng_bit_generator_params bits = {0};
static const reduce_window_params window = {.window_dimensions = LIST(1, 3)};
static const reduce_window_params padded = {
    .window_dimensions = LIST(1, 1), .window_strides = LIST(1, 1), .padding = LIST(0, 1, 0, 0)};
static const reduce_window_params short_padding = {.window_dimensions = LIST(1, 1),
                                                   .padding = LIST(0, 1)};
static const select_and_scatter_params select_window = {.window_dimensions = LIST(1, 2),
                                                        .window_strides = LIST(1, 2)};
static const op_operand_fact computed[4] = {{0}};
static const op_operand_fact constants[4] = {
    {0}, {0}, {.is_constant = true}, {.is_constant = true}};

/* Ops of chlo on elements: of one operand, of two, and of two of which the second broadcasts. */
#define CHLO_UNARY(name)                                                                           \
    {                                                                                              \
        (name), NULL, NULL, 1, 1, {S2(4, 3), S2(4, 3)}, {0}, "([i, j])->([i, j]) {i=4, j=3}"       \
    }
#define CHLO_BINARY(name)                                                                          \
    {                                                                                              \
        (name), NULL, NULL, 2, 1, {S2(4, 3), S2(4, 3), S2(4, 3)}, {0},                             \
            "([i, j], [i, j])->([i, j]) {i=4, j=3}"                                                \
    }
#define CHLO_BROADCAST(name)                                                                       \
    {                                                                                              \
        "broadcast_" name, &by_rank, NULL, 2, 1, {S2(4, 3), S1(3), S2(4, 3)}, {0},                 \
            "([i, j], [j])->([i, j]) {i=4, j=3}"                                                   \
    }
static const chlo_broadcast_params by_rank = {{0, NULL}};
static const int64_t rows_only[] = {0};
static const chlo_broadcast_params to_rows = {{1, rows_only}};
static const int64_t dim_0[] = {0};
static const int64_t dim_1[] = {1};
static const int64_t dim_2[] = {2};
/* The ragged dimension is free, contracted, or a batch dimension. */
static const ragged_dot_params ragged_free = {{1, dim_0}, {1, dim_1}, {1, dim_2},
                                              {1, dim_2}, {1, dim_1}, {1, dim_0}};
static const ragged_dot_params ragged_contracted = {{0, NULL},  {0, NULL},  {1, dim_1},
                                                    {1, dim_0}, {1, dim_1}, {0, NULL}};
static const ragged_dot_params ragged_batch = {{1, dim_0}, {1, dim_0}, {1, dim_2},
                                               {1, dim_1}, {1, dim_0}, {0, NULL}};
static const ragged_dot_params ragged_outside = {{0, NULL},  {0, NULL},  {1, dim_2},
                                                 {1, dim_0}, {1, dim_1}, {0, NULL}};
static const int64_t one_and_one[] = {1, 1};
static const int64_t two_and_one[] = {2, 1};
static const int64_t nine_and_one[] = {9, 1};
static const scan_params scan_0 = {0, {2, one_and_one}};
static const scan_params scan_of_two = {0, {2, two_and_one}};
static const scan_params scan_of_nine = {0, {2, nine_and_one}};
static const scan_params scan_5 = {5, {2, one_and_one}};

static const rule_case cases[] = {
    {"all_gather",
     &gather_1,
     NULL,
     2,
     2,
     {S2(4, 2), S2(4, 2), S2(4, 8), S2(4, 8)},
     {0},
     "([i, j], [i, j])->([i, k], [i, k]) {i=4, j=2, k=8} need_replication={j, k}"},
    {"all_gather", &gather_2, NULL, 1, 1, {S2(4, 2), S2(4, 8)}, {0}, NULL},
    {"all_gather", &gather_before, NULL, 1, 1, {S2(4, 2), S2(4, 8)}, {0}, NULL},
    {"all_gather", &gather_1, NULL, 1, 1, {S2(4, 2), S1(4)}, {0}, NULL},
    {"all_gather", &gather_1, NULL, 2, 2, {S2(4, 2), S1(4), S2(4, 8), S1(4)}, {0}, NULL},
    {"all_reduce",
     NULL,
     NULL,
     2,
     2,
     {S2(4, 2), S1(3), S2(4, 2), S1(3)},
     {0},
     "([i, j], [i])->([i, j], [i]) {i=4, j=2}"},
    {"all_reduce", NULL, NULL, 2, 2, {S1(3), S2(4, 2), S1(3), S2(4, 2)}, {0}, NULL},
    {"all_to_all",
     &exchange_01,
     NULL,
     1,
     1,
     {S3(4, 2, 5), S3(2, 4, 5)},
     {0},
     "([j, l, i])->([k, m, i]) {i=5, j=4, k=2, l=2, m=4} need_replication={j, k, l, m}"},
    {"all_to_all",
     &exchange_00,
     NULL,
     1,
     1,
     {S2(4, 2), S2(4, 2)},
     {0},
     "([j, i])->([k, i]) {i=2, j=4, k=4} need_replication={j, k}"},
    {"all_to_all", &exchange_05, NULL, 1, 1, {S2(4, 2), S2(4, 2)}, {0}, NULL},
    {"reduce_scatter",
     &scatter_0,
     NULL,
     1,
     1,
     {S2(8, 3), S2(4, 3)},
     {0},
     "([j, i])->([k, i]) {i=3, j=8, k=4} need_replication={j, k}"},
    {"reduce_scatter", &scatter_3, NULL, 1, 1, {S2(8, 3), S2(4, 3)}, {0}, NULL},
    {"collective_broadcast",
     NULL,
     NULL,
     1,
     1,
     {S2(0, 1), S2(0, 1)},
     {0},
     "([i, j])->([i, j]) {i=0, j=1}"},
    {"collective_permute", NULL, NULL, 1, 1, {S1(4), S1(4)}, {0}, "([i])->([i]) {i=4}"},
    {"cross-replica-sum", NULL, NULL, 1, 1, {S0, S0}, {0}, "([])->([])"},
    {"complex", NULL, NULL, 2, 1, {S1(4), S1(4), S1(4)}, {0}, "([i], [i])->([i]) {i=4}"},
    {"real", NULL, NULL, 1, 1, {S1(4), S1(4)}, {0}, "([i])->([i]) {i=4}"},
    {"imag", NULL, NULL, 1, 1, {S1(4), S1(4)}, {0}, "([i])->([i]) {i=4}"},
    {"imag", NULL, NULL, 1, 1, {S2(4, 4), S1(4)}, {0}, NULL},
    {"reduce_precision", &precision, NULL, 1, 1, {S1(4), S1(4)}, {0}, "([i])->([i]) {i=4}"},
    {"bitcast_convert", &bitcast, NULL, 1, 1, {S1(4), S1(4)}, {0}, "([i])->([i]) {i=4}"},
    {"bitcast_convert",
     &bitcast,
     NULL,
     1,
     1,
     {S1(3), S2(3, 4)},
     {0},
     "([i])->([i, j]) {i=3, j=4} need_replication={j}"},
    {"bitcast_convert",
     &bitcast,
     NULL,
     1,
     1,
     {S1(4), S0},
     {0},
     "([i])->([]) {i=4} need_replication={i}"},
    {"bitcast_convert", &bitcast, NULL, 1, 1, {S1(4), S3(4, 2, 2)}, {0}, NULL},
    {"cholesky",
     &lower,
     NULL,
     1,
     1,
     {S3(2, 4, 4), S3(2, 4, 4)},
     {0},
     "([i, j, k])->([i, j, k]) {i=2, j=4, k=4} need_replication={j, k}"},
    {"cholesky", &lower, NULL, 1, 1, {S1(4), S1(4)}, {0}, NULL},
    {"fft",
     &fft_1,
     NULL,
     1,
     1,
     {S2(3, 8), S2(3, 5)},
     {0},
     "([i, j])->([i, j]) {i=3, j=8} need_replication={j} blocked_propagation={j}"},
    {"fft", &fft_3, NULL, 1, 1, {S2(2, 2), S2(2, 2)}, {0}, NULL},
    {"triangular_solve",
     &left,
     NULL,
     2,
     1,
     {S2(4, 4), S2(4, 3), S2(4, 3)},
     {0},
     "([i, k], [i, j])->([k, j]) {i=4, j=3, k=4} need_replication={i, j, k}"},
    {"triangular_solve",
     &right,
     NULL,
     2,
     1,
     {S2(4, 4), S2(3, 4), S2(3, 4)},
     {0},
     "([j, k], [i, j])->([i, k]) {i=3, j=4, k=4} need_replication={i, j, k}"},
    {"triangular_solve", &left, NULL, 2, 1, {S1(4), S1(4), S1(4)}, {0}, NULL},
    {"triangular_solve", &left, NULL, 2, 1, {S2(4, 4), S1(4), S1(4)}, {0}, NULL},
    {"batch_norm_inference",
     &feature_1,
     NULL,
     5,
     1,
     {S2(3, 4), S1(4), S1(4), S1(4), S1(4), S2(3, 4)},
     {0},
     "([i, j], [j], [j], [j], [j])->([i, j]) {i=3, j=4}"},
    {"batch_norm_inference",
     &feature_2,
     NULL,
     5,
     1,
     {S2(3, 4), S1(4), S1(4), S1(4), S1(4), S2(3, 4)},
     {0},
     NULL},
    {"batch_norm_inference",
     &feature_1,
     NULL,
     5,
     1,
     {S2(3, 4), S1(4), S0, S1(4), S1(4), S2(3, 4)},
     {0},
     NULL},
    {"dot",
     NULL,
     NULL,
     2,
     1,
     {S2(3, 4), S2(4, 5), S2(3, 5)},
     {0},
     "([i, k], [k, j])->([i, j]) {i=3, j=5, k=4} reduction={k}"},
    {"dot", NULL, NULL, 2, 1, {S1(4), S1(4), S0}, {0}, "([i], [i])->([]) {i=4} reduction={i}"},
    {"dot", NULL, NULL, 2, 1, {S0, S1(4), S1(4)}, {0}, NULL},
    {"dot", NULL, NULL, 2, 1, {S3(2, 3, 4), S1(4), S2(2, 3)}, {0}, NULL},
    {"dynamic_slice",
     &sizes,
     NULL,
     3,
     1,
     {S2(4, 8), S0, S0, S2(4, 2)},
     {0},
     "([i, j], [], [])->([i, j]) {i=4, j=8} need_replication={j} blocked_propagation={j}"},
    {"dynamic_slice", &sizes, NULL, 1, 1, {S2(4, 8), S1(4)}, {0}, NULL},
    {"dynamic_update_slice",
     NULL,
     NULL,
     4,
     1,
     {S2(4, 8), S2(4, 2), S0, S0, S2(4, 8)},
     {.operands = computed},
     "([i, j], [i, k], [], [])->([i, j]) {i=4, j=8, k=2} need_replication={k}"},
    {"dynamic_update_slice",
     NULL,
     NULL,
     4,
     1,
     {S2(4, 8), S2(4, 2), S0, S0, S2(4, 8)},
     {.operands = constants},
     "([i, j], [i, k], [], [])->([i, j]) {i=4, j=8, k=2}"},
    {"dynamic_update_slice", NULL, NULL, 2, 1, {S2(4, 8), S1(4), S2(4, 8)}, {0}, NULL},
    {"reverse",
     &reverse_1,
     NULL,
     1,
     1,
     {S2(4, 8), S2(4, 8)},
     {0},
     "([i, j])->([i, j]) {i=4, j=8} permutation={j}"},
    {"reverse", &reverse_far, NULL, 1, 1, {S1(4), S1(4)}, {0}, "([i])->([i]) {i=4}"},
    {"reverse", &reverse_1, NULL, 1, 1, {S1(4), S2(4, 8)}, {0}, NULL},
    {"rng_bit_generator",
     &bits,
     NULL,
     1,
     2,
     {S1(2), S1(2), S2(4, 1)},
     {0},
     "([i])->([i], [j, k]) {i=2, j=4, k=1} need_replication={i} blocked_propagation={i}"},
    {"rng_bit_generator", &bits, NULL, 1, 2, {S1(2), S2(2, 2), S1(4)}, {0}, NULL},
    {"reduce_window",
     &window,
     NULL,
     2,
     1,
     {S2(4, 8), S0, S2(4, 6)},
     {0},
     "([i, j], [])->([i, j]) {i=4, j=6} permutation={j}"},
    {"reduce_window",
     &window,
     NULL,
     2,
     1,
     {S2(4, 8), S0, S2(4, 6)},
     {.conservative = true},
     "([i, j], [])->([i, j]) {i=4, j=6} permutation={j} blocked_propagation={j}"},
    {"reduce_window",
     &padded,
     NULL,
     2,
     1,
     {S2(4, 8), S0, S2(5, 8)},
     {0},
     "([i, j], [])->([i, j]) {i=5, j=8} permutation={i}"},
    {"reduce_window", &window, NULL, 2, 1, {S1(8), S0, S1(8)}, {0}, NULL},
    {"reduce_window", &short_padding, NULL, 2, 1, {S2(4, 8), S0, S2(4, 8)}, {0}, NULL},
    {"select_and_scatter",
     &select_window,
     NULL,
     3,
     1,
     {S2(4, 8), S2(4, 4), S0, S2(4, 8)},
     {0},
     "([i, k], [i, j], [])->([i, k]) {i=4, j=4, k=8} need_replication={j} permutation={k}"},
    {"select_and_scatter", &select_window, NULL, 3, 1, {S2(4, 8), S1(4), S0, S2(4, 8)}, {0}, NULL},

    {"custom_call",
     NULL,
     "mhlo.erf",
     2,
     1,
     {S2(4, 8), S0, S2(4, 8)},
     {0},
     "([i, j], [])->([i, j]) {i=4, j=8}"},
    {"custom_call", NULL, "mhlo.erf", 1, 0, {S1(4)}, {0}, NULL},
    {"custom_call", NULL, "mhlo.erf", 0, 1, {S1(4)}, {0}, NULL},
    {"custom_call", NULL, "mhlo.erf", 1, 1, {S2(4, 8), S1(4)}, {0}, NULL},
    {"custom_call", NULL, "tpu_custom_call", 1, 1, {S1(4), S1(4)}, {0}, NULL},
    {"custom_call",
     NULL,
     "Eigh",
     1,
     2,
     {S3(5, 4, 4), S3(5, 4, 4), S2(5, 4)},
     {0},
     "([i, j, k])->([i, j, k], [i, k]) {i=5, j=4, k=4}"},
    {"custom_call", NULL, "Eigh", 1, 1, {S2(4, 4), S2(4, 4)}, {0}, NULL},
    {"custom_call", NULL, "Eigh", 1, 2, {S1(4), S1(4), S0}, {0}, NULL},
    {"custom_call",
     NULL,
     "Qr",
     1,
     2,
     {S2(4, 3), S2(4, 3), S1(3)},
     {0},
     "([i, j])->([i, j], [k]) {i=4, j=3, k=3} need_replication={i, j, k}"},
    {"custom_call", NULL, "Qr", 1, 2, {S2(4, 3), S2(4, 3), S2(3, 3)}, {0}, NULL},
    {"custom_call",
     NULL,
     "ProductOfElementaryHouseholderReflectors",
     2,
     1,
     {S2(4, 3), S1(3), S2(4, 3)},
     {0},
     "([i, j], [k])->([i, j]) {i=4, j=3, k=3} need_replication={i, j, k}"},
    {"custom_call",
     NULL,
     "ProductOfElementaryHouseholderReflectors",
     1,
     1,
     {S2(4, 3), S2(4, 3)},
     {0},
     NULL},
    {"custom_call",
     NULL,
     "mhlo.topk",
     1,
     2,
     {S2(4, 8), S2(4, 2), S2(4, 2)},
     {0},
     "([i, j])->([i, j], [i, j]) {i=4, j=8} need_replication={j} blocked_propagation={j}"},
    {"custom_call", NULL, "mhlo.topk", 0, 1, {S1(4)}, {0}, NULL},
    {"custom_call",
     NULL,
     "ApproxTopK",
     4,
     2,
     {S1(8), S1(8), S0, S0, S1(2), S1(2)},
     {0},
     "([i], [i], [], [])->([j], [j]) {i=8, j=2} need_replication={j} blocked_propagation={j}"},
    {"custom_call", NULL, "PartialReduce", 1, 2, {S1(8), S1(2), S1(2)}, {0}, NULL},
    {"custom_call",
     NULL,
     "X64Combine",
     2,
     1,
     {S1(2), S1(2), S1(2)},
     {0},
     "([i], [i])->([i]) {i=2}"},
    {"custom_call",
     NULL,
     "X64Combine",
     2,
     1,
     {S1(2), S1(2), S1(2)},
     {.feeds_rng_bit_generator = true},
     "([i], [i])->([i]) {i=2} need_replication={i} blocked_propagation={i}"},
    {"custom_call",
     NULL,
     "X64Combine",
     2,
     1,
     {S0, S0, S0},
     {.feeds_rng_bit_generator = true},
     NULL},
    CHLO_UNARY("acos"),
    CHLO_UNARY("acosh"),
    CHLO_UNARY("asin"),
    CHLO_UNARY("asinh"),
    CHLO_UNARY("atan"),
    CHLO_UNARY("atanh"),
    CHLO_UNARY("bessel_i1e"),
    CHLO_UNARY("conj"),
    CHLO_UNARY("cosh"),
    CHLO_UNARY("digamma"),
    CHLO_UNARY("erf_inv"),
    CHLO_UNARY("erfc"),
    CHLO_UNARY("is_inf"),
    CHLO_UNARY("is_neg_inf"),
    CHLO_UNARY("is_pos_inf"),
    CHLO_UNARY("lgamma"),
    CHLO_UNARY("sinh"),
    CHLO_UNARY("square"),
    CHLO_BINARY("mulhi"),
    CHLO_BINARY("next_after"),
    CHLO_BINARY("polygamma"),
    CHLO_BINARY("zeta"),
    CHLO_BROADCAST("add"),
    CHLO_BROADCAST("and"),
    CHLO_BROADCAST("atan2"),
    CHLO_BROADCAST("compare"),
    CHLO_BROADCAST("complex"),
    CHLO_BROADCAST("divide"),
    CHLO_BROADCAST("maximum"),
    CHLO_BROADCAST("minimum"),
    CHLO_BROADCAST("multiply"),
    CHLO_BROADCAST("next_after"),
    CHLO_BROADCAST("or"),
    CHLO_BROADCAST("polygamma"),
    CHLO_BROADCAST("power"),
    CHLO_BROADCAST("remainder"),
    CHLO_BROADCAST("shift_left"),
    CHLO_BROADCAST("shift_right_arithmetic"),
    CHLO_BROADCAST("shift_right_logical"),
    CHLO_BROADCAST("subtract"),
    CHLO_BROADCAST("xor"),
    CHLO_BROADCAST("zeta"),
    {"square", NULL, NULL, 1, 1, {S3(2, 4, 3), S2(4, 3)}, {0}, NULL},
    {"broadcast_select",
     &by_rank,
     NULL,
     3,
     1,
     {S0, S2(4, 1), S2(4, 3), S2(4, 3)},
     {0},
     "([], [i, k], [i, j])->([i, j]) {i=4, j=3, k=1}"},
    {"broadcast_add",
     &to_rows,
     NULL,
     2,
     1,
     {S2(4, 3), S1(4), S2(4, 3)},
     {0},
     "([i, j], [i])->([i, j]) {i=4, j=3}"},
    {"broadcast_add", &by_rank, NULL, 2, 1, {S3(2, 4, 3), S1(3), S2(4, 3)}, {0}, NULL},
    {"ragged_dot",
     &ragged_free,
     NULL,
     3,
     1,
     {S3(5, 8, 16), S4(4, 5, 16, 32), S2(5, 4), S3(5, 8, 32)},
     {0},
     "([i, j, l], [m, i, l, k], [i, m])->([i, j, k]) {i=5, j=8, k=32, l=16, m=4} reduction={l} "
     "need_replication={j, m}"},
    {"ragged_dot",
     &ragged_contracted,
     NULL,
     3,
     1,
     {S2(8, 16), S2(16, 32), S1(4), S3(4, 8, 32)},
     {0},
     "([i, k], [k, j], [l])->([l, i, j]) {i=8, j=32, k=16, l=4} need_replication={k, l}"},
    {"ragged_dot",
     &ragged_batch,
     NULL,
     3,
     1,
     {S3(5, 8, 16), S3(5, 16, 32), S1(4), S3(5, 8, 32)},
     {0},
     "([i, j, l], [i, l, k], [m])->([i, j, k]) {i=5, j=8, k=32, l=16, m=1} reduction={l}"},
    {"ragged_dot",
     &ragged_outside,
     NULL,
     3,
     1,
     {S2(8, 16), S2(16, 32), S1(4), S2(8, 32)},
     {0},
     NULL},
    {"scan",
     &scan_0,
     NULL,
     2,
     2,
     {S2(8, 16), S1(16), S2(8, 16), S1(16)},
     {0},
     "([i, j], [j])->([i, j], [j]) {i=8, j=16} need_replication={i}"},
    {"scan",
     &scan_of_two,
     NULL,
     3,
     2,
     {S2(8, 16), S1(8), S1(16), S2(8, 16), S1(16)},
     {0},
     "([i, j], [i], [k])->([i, l], [m]) {i=8, j=1, k=1, l=1, m=1} need_replication={i}"},
    {"scan", &scan_of_nine, NULL, 2, 2, {S2(8, 16), S1(16), S2(8, 16), S1(16)}, {0}, NULL},
    {"scan", &scan_5, NULL, 2, 2, {S2(8, 16), S1(16), S2(8, 16), S1(16)}, {0}, NULL},
};

static int32_t target_of(const char *name)
{
    int32_t i = 0;
    while (custom_call_targets[i] != NULL && strcmp(custom_call_targets[i], name) != 0) {
        i++;
    }
    assert_non_null(custom_call_targets[i]);
    return i;
}

static void types_of(const shape_of *shapes, size_t count, op_type *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (op_type){TSR_F32, shapes[i].rank, shapes[i].sizes};
    }
}

static void rules_are_the_registrys(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const rule_case *c = &cases[i];
        const custom_call_params call = {c->target != NULL ? target_of(c->target) : 0};
        op_type types[MOST];
        types_of(c->tensors, c->num_operands + c->num_results, types);
        const op_request r = {.ctx = f->ctx,
                              .arena = f->arena,
                              .call = c->row,
                              .row = op_find(c->row),
                              .params = c->target != NULL ? &call : c->params,
                              .num_operands = c->num_operands,
                              .operands = types,
                              .num_results = c->num_results,
                              .facts = &c->facts};
        const tsr_rule *rule = NULL;
        const char *text = "none";
        assert_non_null(r.row);
        const tsr_status status = op_find_rule(&r, types + c->num_operands, f->arena, &rule);
        assert_int_equal(status, rule != NULL ? TSR_OK : TSR_NOT_APPLICABLE);
        if (rule != NULL) {
            assert_int_equal(tsr_rule_print(f->ctx, f->arena, rule, TSR_RULE_BARE, &text), TSR_OK);
        }
        if (strcmp(text, c->rule != NULL ? c->rule : "none") != 0) {
            fail_msg("case %zu, %s: %s", i, c->row, text);
        }
    }
}

static bool is_tested(const op_row *row)
{
    bool with_rule = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        with_rule = with_rule || (strcmp(cases[i].row, row->name) == 0 && cases[i].rule != NULL);
    }
    return with_rule;
}

static void every_row_without_types_is_tested(void **state)
{
    (void)state;
    for (size_t k = 0; k < op_count(); k++) {
        if (op_at(k)->types == NULL && !is_tested(op_at(k))) {
            fail_msg("no case of the op %s", op_at(k)->name);
        }
    }
}

/* Parameters that may be anything: small numbers, lists of any length, bits. */
static const void *draw_params(fixture *f, const op_row *row, rng *r)
{
    const op_fields *fields = row->fields;
    if (fields == NULL) {
        return NULL;
    }
    char *params = tsr_arena_alloc(f->arena, fields->bytes);
    assert_non_null(params);
    memset(params, 0, fields->bytes);
    for (size_t i = 0; i < fields->count; i++) {
        void *at = params + fields->fields[i].offset;
        int64_t *values = tsr_arena_alloc(f->arena, 12 * sizeof *values);
        assert_non_null(values);
        for (size_t v = 0; v < 12; v++) {
            values[v] = rng_below(r, 8) - 2;
        }
        switch (fields->fields[i].kind) {
        case OP_FIELD_INT:
            *(int64_t *)at = values[0];
            break;
        case OP_FIELD_INTS:
            *(op_ints *)at = (op_ints){(size_t)rng_below(r, 12), values};
            break;
        case OP_FIELD_BOOL:
            *(bool *)at = rng_chance(r, 50);
            break;
        case OP_FIELD_ENUM:
            *(int32_t *)at = (int32_t)rng_below(r, 40) - 2;
            break;
        default:
            break;
        }
    }
    return params;
}

/* Any shapes, any parameters: a rule that fits every tensor, or none. */
static void whatever_is_asked_has_a_rule_or_none(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("whatever");
    size_t found = 0;
    for (size_t k = 0; k < op_count(); k++) {
        const op_row *row = op_at(k);
        for (uint64_t n = 0; row->types == NULL && n < (uint64_t)prop_cases(2000); n++) {
            rng r = rng_case(&base, 10000 * k + n);
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            shape_of shapes[2 * MOST];
            op_type types[2 * MOST];
            const bool is_variadic = (row->traits & OP_VARIADIC) != 0;
            const size_t num_operands =
                row->num_operands + (is_variadic ? (size_t)rng_below(&r, 4) : 0);
            const bool any = (row->traits & OP_ANY_RESULTS) != 0;
            const size_t num_results =
                any ? (size_t)rng_below(&r, 4) : op_num_results(row, num_operands);
            const size_t usual = (size_t)rng_below(&r, 4);
            for (size_t i = 0; i < num_operands + num_results; i++) {
                shapes[i].rank = rng_chance(&r, 70) ? usual : (size_t)rng_below(&r, 5);
                for (size_t d = 0; d < 4; d++) {
                    shapes[i].sizes[d] = rng_below(&r, 5);
                }
            }
            types_of(shapes, num_operands + num_results, types);
            const op_facts facts = {.conservative = rng_chance(&r, 50),
                                    .feeds_rng_bit_generator = rng_chance(&r, 50)};
            const op_request request = {.ctx = f->ctx,
                                        .arena = f->arena,
                                        .call = row->name,
                                        .row = row,
                                        .params = draw_params(f, row, &r),
                                        .num_operands = num_operands,
                                        .operands = types,
                                        .num_results = num_results,
                                        .facts = &facts};
            const tsr_rule *rule = NULL;
            if (op_takes(row, num_operands) &&
                op_find_rule(&request, types + num_operands, f->arena, &rule) == TSR_OK) {
                found++;
                for (size_t i = 0; i < num_operands; i++) {
                    assert_int_equal(tsr_rule_operand(rule, i)->rank, shapes[i].rank);
                }
            }
            tsr_arena_reset(f->arena, mark);
        }
    }
    assert_true(found > 100);
}

static void targets_are_known_by_name(void **state)
{
    (void)state;
    assert_true(custom_call_is_known((slice){"Eigh", 4}));
    assert_true(custom_call_is_known((slice){"tpu_custom_call", 15}));
    assert_false(custom_call_is_known((slice){"Eig", 3}));
    assert_false(custom_call_is_known((slice){"", 0}));
    assert_false(custom_call_is_known((slice){"unheard_of", 10}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rules_are_the_registrys), cmocka_unit_test(every_row_without_types_is_tested),
        TEST(whatever_is_asked_has_a_rule_or_none), cmocka_unit_test(targets_are_known_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
