#include "ops/op_custom.h"

#include "ops/op_chlo.h"
#include "ops/rule_build.h"

#define PASS TSR_FACTOR_PASS_THROUGH
#define NEED TSR_FACTOR_NEED_REPLICATION

typedef tsr_status (*target_rule)(const op_request *r, const op_type *results, tsr_arena *arena,
                                  const tsr_rule **out);

/* ---- decompositions: the last two dimensions are a matrix ---- */

/* Whether an op has so many operands and results, which begin with the batch of operand 0. */
static bool is_on_matrices(const op_request *r, const op_type *results, size_t num_operands,
                           size_t num_results)
{
    if (r->num_operands != num_operands || r->num_results != num_results ||
        r->operands[0].rank < 2 || results[0].rank != r->operands[0].rank) {
        return false;
    }
    const op_type *vectors = num_operands == 2 ? &r->operands[1] : &results[1];
    return vectors->rank + 1 == r->operands[0].rank;
}

/* A factor of operand 0, in one dimension of it, of result 0 and of the vectors. */
static void map_matrix(rule_builder *b, size_t num_operands, const op_type *matrix,
                       tsr_factor_kind kind, size_t dim, size_t in_vectors)
{
    const size_t factor = rule_factor(b, matrix->shape[dim], kind, false);
    rule_map(b, 0, dim, factor);
    rule_map(b, num_operands, dim, factor);
    rule_map(b, num_operands == 2 ? 1 : 2, in_vectors, factor);
}

static tsr_status eigh_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                            const tsr_rule **out)
{
    if (!is_on_matrices(r, results, 1, 2)) {
        return TSR_NOT_APPLICABLE;
    }
    const size_t m = r->operands[0].rank - 2;
    rule_builder b = op_rule_start(r, results, arena);
    op_put_dims(&b, r, 0, m);
    map_matrix(&b, 1, &r->operands[0], PASS, m, NO_DIM);
    map_matrix(&b, 1, &r->operands[0], PASS, m + 1, m);
    return rule_finish(&b, out);
}

/* Matrices to matrices, and vectors, all of them whole. */
static tsr_status whole_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                             const op_type *vectors, const tsr_rule **out)
{
    const size_t m = r->operands[0].rank - 2;
    rule_builder b = op_rule_start(r, results, arena);
    op_put_dims(&b, r, 0, m);
    map_matrix(&b, r->num_operands, &r->operands[0], NEED, m, NO_DIM);
    map_matrix(&b, r->num_operands, &r->operands[0], NEED, m + 1, NO_DIM);
    rule_map(&b, r->num_operands == 2 ? 1 : 2, m, rule_factor(&b, vectors->shape[m], NEED, false));
    return rule_finish(&b, out);
}

static tsr_status qr_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                          const tsr_rule **out)
{
    return is_on_matrices(r, results, 1, 2) ? whole_rule(r, results, arena, &results[1], out)
                                            : TSR_NOT_APPLICABLE;
}

static tsr_status householder_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                   const tsr_rule **out)
{
    return is_on_matrices(r, results, 2, 1) ? whole_rule(r, results, arena, &r->operands[1], out)
                                            : TSR_NOT_APPLICABLE;
}

/* ---- the greatest elements ---- */

/* Inputs and their indices, which results follow; initial values come after. */
static bool is_partial_reduce(const op_request *r, const op_type *results)
{
    return r->num_operands >= 2 && r->num_results == 2 && r->operands[0].rank > 0 &&
           r->operands[1].rank == r->operands[0].rank && results[0].rank == r->operands[0].rank &&
           results[1].rank == results[0].rank && op_each_has_rank(r, results, r->operands[0].rank);
}

static tsr_status partial_reduce_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                      const tsr_rule **out)
{
    if (!is_partial_reduce(r, results)) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < results[0].rank; d++) {
        if (r->operands[0].shape[d] == results[0].shape[d]) {
            op_put_dims(&b, r, d, d + 1);
            continue;
        }
        const size_t from = rule_factor(&b, r->operands[0].shape[d], PASS, false);
        rule_put(&b, 0, d, from);
        rule_put(&b, 1, d, from);
        op_put_results(&b, r, results, d, rule_factor(&b, results[0].shape[d], NEED, true));
    }
    return rule_finish(&b, out);
}

/* ---- halves of numbers ---- */

/* What makes random numbers is the same on all ranks. */
static tsr_status x64_combine_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                   const tsr_rule **out)
{
    if (r->facts == NULL || !r->facts->feeds_rng_bit_generator) {
        return op_rule_pointwise(r, results, arena, out);
    }
    if (r->num_results == 0 || results[0].rank != 1) {
        return TSR_NOT_APPLICABLE;
    }
    const tsr_factor whole = {results[0].shape[0], NEED, true};
    return op_rule_each(r, results, arena, &whole, 1, out);
}

/* ---- by target ---- */

/* What is called, and its rule; NULL: it needs none. The first is not a target. */
#define TARGETS(X)                                                                                 \
    X("", NULL)                                                                                    \
    X("ApproxTopK", partial_reduce_rule)                                                           \
    X("Cholesky", op_rule_pointwise)                                                               \
    X("CompactWyHelper", op_rule_pointwise)                                                        \
    X("Eigh", eigh_rule)                                                                           \
    X("InspectSharding", op_rule_pointwise)                                                        \
    X("InvertDiagBlocksLowerTriangular", op_rule_pointwise)                                        \
    X("InvertDiagBlocksUpperTriangular", op_rule_pointwise)                                        \
    X("LayoutConstraint", op_rule_pointwise)                                                       \
    X("MoveToDevice", op_rule_pointwise)                                                           \
    X("MoveToHost", op_rule_pointwise)                                                             \
    X("PartialReduce", partial_reduce_rule)                                                        \
    X("ProductOfElementaryHouseholderReflectors", householder_rule)                                \
    X("Qr", qr_rule)                                                                               \
    X("QrDecompositionBlock", qr_rule)                                                             \
    X("X64Combine", x64_combine_rule)                                                              \
    X("X64SplitHigh", op_rule_pointwise)                                                           \
    X("X64SplitLow", op_rule_pointwise)                                                            \
    X("_SPMDInternalOp_MultiPad", op_rule_pointwise)                                               \
    X("_SPMDInternalOp_MultiRotate", op_rule_pointwise)                                            \
    X("_SPMDInternalOp_MultiSlice", op_rule_pointwise)                                             \
    X("_SPMDInternalOp_RotateRight", op_rule_pointwise)                                            \
    X("_SPMDInternalOp_Wrap", op_rule_pointwise)                                                   \
    X("annotate_device_placement", op_rule_pointwise)                                              \
    X("mhlo.erf", op_rule_pointwise)                                                               \
    X("mhlo.topk", op_top_k_rule)                                                                  \
    X("sdy_testonly", NULL)                                                                        \
    X("tpu_custom_call", NULL)                                                                     \
    X("xla.debug.Log", NULL)                                                                       \
    X("xla.megascale.provide_metadata", op_rule_pointwise)                                         \
    X("xla_ffi_python_cpu_callback", NULL)                                                         \
    X("xla_ffi_python_gpu_callback", NULL)                                                         \
    X("xla_python_cpu_callback", NULL)                                                             \
    X("xla_python_gpu_callback", NULL)

#define NAME_OF(name, rule) (name),
const char *const custom_call_targets[] = {TARGETS(NAME_OF) NULL};

#define RULE_OF(name, rule) (rule),
static const target_rule target_rules[] = {TARGETS(RULE_OF)};
enum { NUM_TARGETS = sizeof target_rules / sizeof target_rules[0] };

bool custom_call_is_known(slice target)
{
    for (size_t i = 1; i < NUM_TARGETS; i++) {
        if (slice_is(target, custom_call_targets[i])) {
            return true;
        }
    }
    return false;
}

static tsr_status custom_call_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                   const tsr_rule **out)
{
    const custom_call_params *p = r->params;
    const bool known = p->call_target_name > 0 && p->call_target_name < NUM_TARGETS;
    const target_rule rule = known ? target_rules[p->call_target_name] : NULL;
    return rule != NULL ? rule(r, results, arena, out) : TSR_NOT_APPLICABLE;
}

static const op_field custom_call_list[] = {
    {.name = "call_target_name",
     .kind = OP_FIELD_ENUM,
     .offset = offsetof(custom_call_params, call_target_name),
     .names = custom_call_targets}};
static const op_fields custom_call_fields = OP_FIELDS(custom_call_params, custom_call_list);

const op_row op_custom_call = {.name = "custom_call",
                               .traits = OP_VARIADIC | OP_ANY_RESULTS | OP_RULE_BY_OPERANDS,
                               .fields = &custom_call_fields,
                               .rule = custom_call_rule};

static const op_row *const rows[] = {&op_custom_call};
const op_family family_custom = {rows, sizeof rows / sizeof rows[0]};
