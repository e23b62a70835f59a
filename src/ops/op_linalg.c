#include "ops/op_linalg.h"

#include "ops/rule_build.h"
#include "ops/run_linalg.h"

#define PASS TSR_FACTOR_PASS_THROUGH
#define NEED TSR_FACTOR_NEED_REPLICATION

/* ---- cholesky, fft ---- */

static const op_field cholesky_list[] = {OP_FIELD(cholesky_params, lower, BOOL)};
static const op_fields cholesky_fields = OP_FIELDS(cholesky_params, cholesky_list);

static const char *const fft_types[] = {"FFT", "IFFT", "RFFT", "IRFFT", NULL};
static const op_field fft_list[] = {{.name = "fft_type",
                                     .kind = OP_FIELD_ENUM,
                                     .offset = offsetof(fft_params, fft_type),
                                     .names = fft_types},
                                    OP_FIELD(fft_params, fft_length, INTS)};
static const op_fields fft_fields = OP_FIELDS(fft_params, fft_list);

/* The last dimensions are whole; the very last is blocked where its size changes. */
static tsr_status last_whole_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                  size_t count, const tsr_rule **out)
{
    const op_type *operand = &r->operands[0];
    tsr_factor factors[OP_MAX_RANK];
    if (count > operand->rank || results[0].rank != operand->rank) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t d = 0; d < operand->rank; d++) {
        const bool whole = d + count >= operand->rank;
        const bool is_last = whole && d + 1 == operand->rank;
        factors[d] = (tsr_factor){operand->shape[d], whole ? NEED : PASS,
                                  is_last && operand->shape[d] != results[0].shape[d]};
    }
    return op_rule_each(r, results, arena, factors, operand->rank, out);
}

static tsr_status cholesky_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                const tsr_rule **out)
{
    return last_whole_rule(r, results, arena, 2, out);
}

static tsr_status fft_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                           const tsr_rule **out)
{
    const fft_params *p = r->params;
    return last_whole_rule(r, results, arena, p->fft_length.count, out);
}

const op_row op_cholesky = {.name = "cholesky",
                            .num_operands = 1,
                            .num_results = 1,
                            .fields = &cholesky_fields,
                            .rule = cholesky_rule,
                            .supports = cholesky_supports,
                            .scratch = cholesky_scratch,
                            .run = cholesky_run};

const op_row op_fft = {.name = "fft",
                       .num_operands = 1,
                       .num_results = 1,
                       .fields = &fft_fields,
                       .rule = fft_rule,
                       .supports = fft_supports,
                       .scratch = fft_scratch,
                       .run = fft_run};

/* ---- triangular_solve ---- */

static const char *const transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                         "ADJOINT", NULL};
static const op_field solve_list[] = {OP_FIELD(triangular_solve_params, left_side, BOOL),
                                      OP_FIELD(triangular_solve_params, lower, BOOL),
                                      OP_FIELD(triangular_solve_params, unit_diagonal, BOOL),
                                      {.name = "transpose_a",
                                       .kind = OP_FIELD_ENUM,
                                       .offset = offsetof(triangular_solve_params, transpose_a),
                                       .names = transposes}};
static const op_fields solve_fields = OP_FIELDS(triangular_solve_params, solve_list);

/* A factor of the whole dimension that it is in, in each of a, b and the result. */
static void map_whole(rule_builder *b, int64_t size, size_t in_a, size_t in_b, size_t in_result)
{
    const size_t factor = rule_factor(b, size, NEED, false);
    rule_map(b, 0, in_a, factor);
    rule_map(b, 1, in_b, factor);
    rule_map(b, 2, in_result, factor);
}

/* On the left side the solution has rows for the columns of a, on the right the other way round. */
static tsr_status solve_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                             const tsr_rule **out)
{
    const triangular_solve_params *p = r->params;
    const op_type *a = &r->operands[0];
    const op_type *other = &r->operands[1];
    const bool transposed = p->transpose_a == SOLVE_TRANSPOSE || p->transpose_a == SOLVE_ADJOINT;
    if (a->rank < 2 || other->rank != a->rank || results[0].rank != a->rank) {
        return TSR_NOT_APPLICABLE;
    }
    const size_t m = a->rank - 2;
    const size_t n = a->rank - 1;
    rule_builder b = op_rule_start(r, results, arena);
    op_put_dims(&b, r, 0, m);
    if (p->left_side) {
        const size_t x = transposed ? n : m;
        const size_t y = transposed ? m : n;
        map_whole(&b, a->shape[x], x, m, NO_DIM);
        map_whole(&b, other->shape[n], NO_DIM, n, n);
        map_whole(&b, a->shape[y], y, NO_DIM, m);
    } else {
        const size_t x = transposed ? m : n;
        const size_t y = transposed ? n : m;
        map_whole(&b, other->shape[m], NO_DIM, m, m);
        map_whole(&b, a->shape[x], x, n, NO_DIM);
        map_whole(&b, a->shape[y], y, NO_DIM, n);
    }
    return rule_finish(&b, out);
}

const op_row op_triangular_solve = {.name = "triangular_solve",
                                    .num_operands = 2,
                                    .num_results = 1,
                                    .fields = &solve_fields,
                                    .rule = solve_rule,
                                    .supports = solve_supports,
                                    .scratch = solve_scratch,
                                    .run = solve_run};

/* ---- batch_norm_inference ---- */

static const op_field batch_norm_list[] = {OP_FIELD(batch_norm_params, feature_index, INT)};
static const op_fields batch_norm_fields = OP_FIELDS(batch_norm_params, batch_norm_list);

/* The vectors have one element for each feature. */
static tsr_status batch_norm_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                  const tsr_rule **out)
{
    const batch_norm_params *p = r->params;
    const op_type *operand = &r->operands[0];
    bool fits = results[0].rank == operand->rank && is_dim(p->feature_index, operand->rank);
    for (size_t i = 1; i < r->num_operands; i++) {
        fits = fits && r->operands[i].rank == 1;
    }
    if (!fits) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < operand->rank; d++) {
        const size_t factor = rule_factor(&b, operand->shape[d], PASS, false);
        rule_map(&b, 0, d, factor);
        for (size_t i = 1; i < r->num_operands; i++) {
            rule_map(&b, i, (int64_t)d == p->feature_index ? 0 : NO_DIM, factor);
        }
        rule_map(&b, r->num_operands, d, factor);
    }
    return rule_finish(&b, out);
}

const op_row op_batch_norm_inference = {.name = "batch_norm_inference",
                                        .num_operands = 5,
                                        .num_results = 1,
                                        .fields = &batch_norm_fields,
                                        .rule = batch_norm_rule};

static const op_row *const rows[] = {&op_cholesky, &op_triangular_solve, &op_fft,
                                     &op_batch_norm_inference};
const op_family family_linalg = {rows, sizeof rows / sizeof rows[0]};
