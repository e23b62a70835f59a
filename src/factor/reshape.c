/* The rule of a reshape: factors that both shapes are products of. */
#include "base/base.h"
#include "base/diag.h"
#include "factor/rule.h"

/* One side of the walk: the dimension under way, and how much of it has become factors. */
typedef struct side {
    tsr_extents shape;
    size_t tensor;
    size_t dim;
    int64_t entered; /* the product of the dimensions entered */
    int64_t emitted; /* the product of the factors made of them */
} side;

static bool has_more(const side *s)
{
    return s->dim < s->shape.rank;
}

/* A dimension of size 1 is a factor of its own. */
static bool skip_one(rule_builder *b, side *s)
{
    if (!has_more(s) || s->shape.sizes[s->dim] != 1) {
        return false;
    }
    rule_map(b, s->tensor, s->dim++, rule_factor(b, 1, TSR_FACTOR_PASS_THROUGH, false));
    return true;
}

/* Opens the next dimension when all of those before have become factors. */
static void enter(side *s)
{
    if (has_more(s) && s->entered == s->emitted) {
        s->entered *= s->shape.sizes[s->dim];
    }
}

static void leave(side *s)
{
    if (has_more(s) && s->entered == s->emitted) {
        s->dim++;
    }
}

/* A factor of this side alone. */
static void emit_alone(rule_builder *b, side *s, int64_t size)
{
    rule_map(b, s->tensor, s->dim, rule_factor(b, size, TSR_FACTOR_PASS_THROUGH, false));
    s->emitted *= size;
}

static void emit_both(rule_builder *b, side *in, side *out, int64_t size)
{
    const size_t f = rule_factor(b, size, TSR_FACTOR_PASS_THROUGH, false);
    rule_map(b, in->tensor, in->dim, f);
    rule_map(b, out->tensor, out->dim, f);
    in->emitted *= size;
    out->emitted *= size;
}

/* The side that is behind makes a factor that brings it level, or as far as it gets. */
static void catch_up(rule_builder *b, side *behind, const side *ahead, int64_t common)
{
    const int64_t open = behind->entered / behind->emitted;
    const int64_t gap =
        ahead->emitted % behind->emitted == 0 ? ahead->emitted / behind->emitted : 0;
    int64_t size = open > common ? open / common : open;
    if (gap > 0 && open % gap == 0) {
        size = gap;
    }
    emit_alone(b, behind, size);
}

static void step(rule_builder *b, side *in, side *out)
{
    /* No size is 0, so neither is a product of factors. */
    const int64_t common =
        gcd_i64(in->entered / in->emitted, out->entered / out->emitted); /* NOLINT */
    if (in->emitted != out->emitted) {
        const bool in_behind = in->emitted < out->emitted;
        catch_up(b, in_behind ? in : out, in_behind ? out : in, common);
    } else if (common > 1) {
        emit_both(b, in, out, common);
    } else {
        emit_alone(b, in, in->entered / in->emitted);
        emit_alone(b, out, out->entered / out->emitted);
    }
}

static tsr_status count_elements(tsr_context *ctx, tsr_extents shape, int64_t *out)
{
    *out = 1;
    for (size_t i = 0; i < shape.rank; i++) {
        if (!checked_mul(*out, shape.sizes[i], out)) {
            return diag_error(ctx, TSR_ERR_OVERFLOW, NO_LOCATION,
                              "a shape has more than 2^63-1 elements");
        }
    }
    return TSR_OK;
}

tsr_status tsr_rule_reshape(tsr_context *ctx, tsr_arena *arena, tsr_extents operand,
                            tsr_extents result, const tsr_rule **out)
{
    int64_t before;
    int64_t behind;
    TSR_TRY(count_elements(ctx, operand, &before));
    TSR_TRY(count_elements(ctx, result, &behind));
    if (before != behind) {
        return RULE_ERROR(ctx, "a reshape keeps the elements: %lld are not %lld", (long long)before,
                          (long long)behind);
    }
    if (before == 0) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "there is no rule for a reshape without elements");
    }
    rule_builder b = rule_start(ctx, arena, &operand, 1, &result, 1);
    side in = {.shape = operand, .tensor = 0, .entered = 1, .emitted = 1};
    side to = {.shape = result, .tensor = 1, .entered = 1, .emitted = 1};
    while (has_more(&in) || has_more(&to)) {
        if (skip_one(&b, &in) || skip_one(&b, &to)) {
            continue;
        }
        enter(&in);
        enter(&to);
        step(&b, &in, &to);
        leave(&in);
        leave(&to);
    }
    return rule_finish(&b, out);
}
