#include "ops/op_create.h"

#include "kernel/elementwise.h"
#include "ops/gradient.h"
#include "ops/rule_build.h"
#include "ops/run_linalg.h"

static const op_field iota_list[] = {OP_FIELD(iota_params, iota_dimension, INT),
                                     OP_FIELD(iota_params, result, RESULT)};
static const op_fields iota_fields = OP_FIELDS(iota_params, iota_list);

static const char *const distributions[] = {"BITS", "UNIFORM", "NORMAL", NULL};
static const op_field random_list[] = {{.name = "distribution",
                                        .kind = OP_FIELD_ENUM,
                                        .offset = offsetof(random_params, distribution),
                                        .names = distributions},
                                       OP_FIELD(random_params, key, INT),
                                       OP_FIELD(random_params, stream, INT),
                                       OP_FIELD(random_params, result, RESULT)};
static const op_fields random_fields = OP_FIELDS(random_params, random_list);

static tsr_status iota_types(const op_request *r, op_type *results)
{
    const iota_params *p = r->params;
    results[0] = p->result;
    if (p->result.dtype == TSR_I1) {
        return diag_error(r->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "%s: iota is not defined for i1; convert from another element type",
                          r->call);
    }
    if (p->iota_dimension < 0 || (uint64_t)p->iota_dimension >= p->result.rank) {
        return OP_ERROR(r, "%s",
                        p->result.rank == 0 ? "does not support scalars."
                                            : "iota dimension cannot go beyond the output rank.");
    }
    return TSR_OK;
}

static bool iota_has_kernel(const op_request *r, const op_type *results)
{
    (void)r;
    return convert_supports(TSR_I64, results[0].dtype);
}

static void iota_run(const op_call *c, void *scratch)
{
    const iota_params *p = c->params;
    const size_t dim = (size_t)p->iota_dimension;
    (void)scratch;
    kernel_iota(&c->results[0].view, dim, c->results[0].start[dim]);
}

const op_row op_iota = {.name = "iota",
                        .traits = OP_POSITIONAL,
                        .num_results = 1,
                        .fields = &iota_fields,
                        .types = iota_types,
                        .supports = iota_has_kernel,
                        .run = iota_run,
                        .gradient = gradient_none};

static tsr_status random_types(const op_request *r, op_type *results)
{
    const random_params *p = r->params;
    results[0] = p->result;
    return TSR_OK;
}

static bool random_has_kernel(const op_request *r, const op_type *results)
{
    const random_params *p = r->params;
    return random_supports((random_kind)p->distribution, results[0].dtype);
}

static void random_run(const op_call *c, void *scratch)
{
    const random_params *p = c->params;
    (void)scratch;
    kernel_random((random_kind)p->distribution, &c->results[0].view, (uint64_t)p->key,
                  (uint64_t)p->stream, c->results[0].start, c->results[0].full);
}

const op_row op_random = {.name = "random",
                          .dialect = OP_TESSERA,
                          .traits = OP_POSITIONAL,
                          .num_results = 1,
                          .fields = &random_fields,
                          .types = random_types,
                          .supports = random_has_kernel,
                          .run = random_run,
                          .gradient = gradient_none};

static const char *const algorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX", NULL};
static const op_field bits_list[] = {{.name = "rng_algorithm",
                                      .kind = OP_FIELD_ENUM,
                                      .offset = offsetof(rng_bit_generator_params, rng_algorithm),
                                      .names = algorithms}};
static const op_fields bits_fields = OP_FIELDS(rng_bit_generator_params, bits_list);

/* The state is the same on all ranks; bits are cut in any way. */
static tsr_status bits_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                            const tsr_rule **out)
{
    enum { STATE, STATE_AFTER, BITS };
    const op_type *state = &r->operands[0];
    if (results[0].rank != state->rank) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < state->rank; d++) {
        const size_t factor = rule_factor(&b, state->shape[d], TSR_FACTOR_NEED_REPLICATION, true);
        rule_map(&b, STATE, d, factor);
        rule_map(&b, STATE_AFTER, d, factor);
    }
    for (size_t d = 0; d < results[1].rank; d++) {
        rule_map(&b, BITS, d, rule_factor(&b, results[1].shape[d], TSR_FACTOR_PASS_THROUGH, false));
    }
    return rule_finish(&b, out);
}

const op_row op_rng_bit_generator = {.name = "rng_bit_generator",
                                     .num_operands = 1,
                                     .num_results = 2,
                                     .fields = &bits_fields,
                                     .rule = bits_rule,
                                     .supports = bits_supports,
                                     .run = bits_run};

static const op_row *const rows[] = {&op_iota, &op_random, &op_rng_bit_generator};
const op_family family_create = {rows, sizeof rows / sizeof rows[0]};
