/* The rule of an einsum equation. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "factor/rule.h"

enum { MOST_SUBSCRIPTS = 52, NO_FACTOR = -1 };

/* What is known of the subscripts: their sizes and factors. */
typedef struct subscripts {
    int64_t sizes[MOST_SUBSCRIPTS];
    int uses[MOST_SUBSCRIPTS]; /* in operands */
    bool in_result[MOST_SUBSCRIPTS];
    int64_t factors[MOST_SUBSCRIPTS];
} subscripts;

static int index_of(char c)
{
    if (c >= 'a' && c <= 'z') {
        return c - 'a';
    }
    return c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

/* The subscripts of the equation without blanks, NULL when there is no memory. */
static char *compress(tsr_arena *arena, const char *equation)
{
    char *text = ARENA_ARRAY(arena, char, strlen(equation) + 1);
    size_t size = 0;
    for (const char *c = equation; text != NULL && *c != '\0'; c++) {
        if (*c != ' ') {
            text[size++] = *c;
        }
    }
    if (text != NULL) {
        text[size] = '\0';
    }
    return text;
}

/* Takes the subscripts of one operand. */
static tsr_status read_operand(tsr_context *ctx, const char *text, size_t length, size_t index,
                               tsr_extents shape, subscripts *l)
{
    if (length != shape.rank) {
        return RULE_ERROR(ctx, "operand %zu has %zu subscripts and rank %zu", index, length,
                          shape.rank);
    }
    for (size_t i = 0; i < length; i++) {
        const int k = index_of(text[i]);
        if (k < 0) {
            return RULE_ERROR(ctx, "'%c' is no subscript of an equation", text[i]);
        }
        if (memchr(text, text[i], i) != NULL) {
            return RULE_ERROR(ctx, "'%c' is twice in operand %zu: take the diagonal first", text[i],
                              index);
        }
        if (l->uses[k] > 0 && l->sizes[k] != shape.sizes[i]) {
            return RULE_ERROR(ctx, "'%c' has size %lld in operand %zu and %lld before", text[i],
                              (long long)shape.sizes[i], index, (long long)l->sizes[k]);
        }
        l->sizes[k] = shape.sizes[i];
        l->uses[k]++;
    }
    return TSR_OK;
}

/* The result's subscripts: those after the arrow, or those that occur once, in order. */
static tsr_status read_result(tsr_context *ctx, const char *arrow, subscripts *l, char *result)
{
    size_t count = 0;
    if (arrow == NULL) {
        for (int k = 0; k < MOST_SUBSCRIPTS; k++) {
            if (l->uses[k] == 1) {
                result[count++] = (char)(k < 26 ? 'a' + k : 'A' + k - 26);
            }
        }
    }
    for (const char *c = arrow != NULL ? arrow + 2 : ""; *c != '\0'; c++) {
        const int k = index_of(*c);
        if (k < 0 || l->uses[k] == 0) {
            return RULE_ERROR(ctx, "'%c' of the result is in no operand", *c);
        }
        if (memchr(result, *c, count) != NULL) {
            return RULE_ERROR(ctx, "'%c' is twice in the result", *c);
        }
        result[count++] = *c;
    }
    result[count] = '\0';
    for (size_t i = 0; i < count; i++) {
        l->in_result[index_of(result[i])] = true;
    }
    return TSR_OK;
}

/* Puts the factors of a tensor's subscripts, making those that are new. */
static void put_subscripts(rule_builder *b, subscripts *l, size_t tensor, const char *text,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int k = index_of(text[i]);
        if (l->factors[k] == NO_FACTOR) {
            l->factors[k] = (int64_t)rule_factor(
                b, l->sizes[k], l->in_result[k] ? TSR_FACTOR_PASS_THROUGH : TSR_FACTOR_REDUCTION,
                false);
        }
        rule_put(b, tensor, i, (size_t)l->factors[k]);
    }
}

tsr_status tsr_rule_einsum(tsr_context *ctx, tsr_arena *arena, const char *equation,
                           const tsr_extents *operands, size_t num_operands, const tsr_rule **out)
{
    GUARD(tsr_rule_einsum);
    subscripts l = {0};
    char result[MOST_SUBSCRIPTS + 1];
    const char *text = compress(arena, equation);
    if (text == NULL) {
        return diag_nomem(ctx);
    }
    const char *arrow = strstr(text, "->");
    const size_t end = arrow != NULL ? (size_t)(arrow - text) : strlen(text);
    size_t at = 0;
    for (size_t i = 0; i < num_operands; i++) {
        if (at > end) {
            return RULE_ERROR(ctx, "the equation '%s' has %zu operands, got %zu tensors", equation,
                              i, num_operands);
        }
        const char *comma = memchr(text + at, ',', end - at);
        const size_t length = comma != NULL ? (size_t)(comma - text) - at : end - at;
        TSR_TRY(read_operand(ctx, text + at, length, i, operands[i], &l));
        at += length + 1;
    }
    if (at != end + 1) {
        return RULE_ERROR(ctx, "the equation '%s' has more operands than the %zu tensors", equation,
                          num_operands);
    }
    TSR_TRY(read_result(ctx, arrow, &l, result));
    const tsr_extents of_result = {.rank = strlen(result)};
    rule_builder b = rule_start(ctx, arena, operands, num_operands, &of_result, 1);
    for (int k = 0; k < MOST_SUBSCRIPTS; k++) {
        l.factors[k] = NO_FACTOR;
    }
    at = 0;
    for (size_t i = 0; i < num_operands; i++) {
        put_subscripts(&b, &l, i, text + at, operands[i].rank);
        at += operands[i].rank + 1;
    }
    put_subscripts(&b, &l, num_operands, result, of_result.rank);
    return rule_finish(&b, out);
}
