#include "layout/unbound.h"

#include "base/diag.h"
#include "factor/rule.h"
#include "shard/sharding.h"

/* Where an operand has a factor as an unbound dimension of its own; NULL: nowhere. */
static const tsr_ragged *unbound_factor(const inference *x, size_t operand, size_t factor,
                                        size_t *dim)
{
    const tsr_rule_tensor *of = &x->rule->tensors[operand];
    const tsr_sharding *s = x->on_mesh[operand];
    for (size_t d = 0; d < of->rank && d < s->rank; d++) {
        const tsr_ragged *ragged = s->dims[d].ragged;
        if (ragged != NULL && !ragged_is_bound(ragged) && of->dims[d].num_factors == 1 &&
            of->dims[d].factors[0] == factor) {
            *dim = d;
            return ragged;
        }
    }
    return NULL;
}

static tsr_status refuse_unbound(const inference *x, const size_t *operands, const size_t *dims)
{
    const char *texts[2] = {NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        TSR_TRY(tsr_sharding_print(x->r->ctx, x->arena, x->on_mesh[operands[i]], TSR_PRINT_BARE,
                                   &texts[i]));
    }
    (void)OP_ERROR(x->r,
                   "dimension %zu of operand %zu, %s, and dimension %zu of operand %zu, %s, are "
                   "both unbound and are not the same placement: their shards may differ",
                   dims[0], operands[0], texts[0], dims[1], operands[1], texts[1]);
    return diag_note(x->r->ctx, NO_LOCATION,
                     "give both the same symbol if their sizes are the same, bind them, by "
                     "tsr_symbol_bind, or redistribute one to the placement of the other");
}

tsr_status unbound_check(const inference *x)
{
    for (size_t f = 0; x->rule != NULL && f < x->rule->num_factors; f++) {
        const tsr_ragged *first = NULL;
        size_t operands[2] = {0, 0};
        size_t dims[2] = {0, 0};
        for (size_t i = 0; i < x->r->num_operands; i++) {
            const tsr_ragged *ragged = unbound_factor(x, i, f, &dims[first != NULL]);
            if (ragged == NULL) {
                continue;
            }
            operands[first != NULL] = i;
            if (first == NULL) {
                first = ragged;
                continue;
            }
            const int64_t shards[] = {tsr_sharding_num_shards(x->on_mesh[operands[0]], dims[0]),
                                      tsr_sharding_num_shards(x->on_mesh[i], dims[1])};
            if (shards[0] != shards[1] || !ragged_equal(first, ragged, shards[0])) {
                return refuse_unbound(x, operands, dims);
            }
        }
    }
    return TSR_OK;
}
