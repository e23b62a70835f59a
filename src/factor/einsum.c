/* The rule of an einsum equation. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "factor/rule.h"

/* Named ones, then the dimensions of an ellipsis, counted from the last. */
enum { NAMED = 52, MAX_ELLIPSIS = 64, MAX_SUBSCRIPTS = NAMED + MAX_ELLIPSIS };
enum { NO_FACTOR = -1 };

/* What is known of the subscripts: their sizes and factors. */
typedef struct subscripts {
    int64_t sizes[MAX_SUBSCRIPTS];
    int uses[MAX_SUBSCRIPTS]; /* in operands */
    bool in_result[MAX_SUBSCRIPTS];
    int64_t factors[MAX_SUBSCRIPTS];
    size_t ellipsis; /* the dimensions of the longest one */
} subscripts;

/* The text of one tensor, where `...` is in it (at its length: nowhere), and how many others. */
typedef struct term {
    const char *text;
    size_t length;
    size_t ellipsis;
    size_t named;
} term;

static int index_of(char c)
{
    if (c >= 'a' && c <= 'z') {
        return c - 'a';
    }
    return c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

static char name_of(int index)
{
    return (char)(index < 26 ? 'a' + index : 'A' + index - 26);
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

/* Counts the named subscripts of a tensor's text and finds its ellipsis. */
static tsr_status read_term(tsr_context *ctx, const char *text, size_t length, term *out)
{
    *out = (term){.text = text, .length = length, .ellipsis = length};
    for (size_t i = 0; i < length; i++) {
        if (i + 3 <= length && memcmp(text + i, "...", 3) == 0 && out->ellipsis == length) {
            out->ellipsis = i;
            i += 2;
        } else if (text[i] == '.') {
            return RULE_ERROR(ctx, "'%.*s': dots are allowed only as '...', once per operand",
                              (int)length, text);
        } else if (index_of(text[i]) < 0) {
            return RULE_ERROR(
                ctx, "'%c' is not a subscript: use a to z, A to Z, ',', '->' and '...'", text[i]);
        } else {
            out->named++;
        }
    }
    return TSR_OK;
}

static bool has_ellipsis(const term *t)
{
    return t->ellipsis < t->length;
}

/*
 * The subscript of dimension `dim` of a tensor of that rank; for a named one its place in the text
 * goes to `at`.
 */
static int subscript_of(const term *t, size_t rank, size_t dim, size_t *at)
{
    const size_t dots = has_ellipsis(t) ? rank - t->named : 0;
    if (dim >= t->ellipsis && dim < t->ellipsis + dots) {
        return NAMED + (int)(t->ellipsis + dots - 1 - dim);
    }
    *at = dim < t->ellipsis ? dim : dim - dots + 3;
    return index_of(t->text[*at]);
}

/* Takes a dimension of an ellipsis: sizes are the same, or 1, which repeats. */
static tsr_status take_dots(tsr_context *ctx, size_t index, int k, int64_t size, subscripts *l)
{
    if (l->uses[k] > 0 && size != 1 && l->sizes[k] != 1 && l->sizes[k] != size) {
        return RULE_ERROR(ctx,
                          "dimension %d from the end of '...' has size %lld in operand %zu and "
                          "%lld before",
                          k - NAMED, (long long)size, index, (long long)l->sizes[k]);
    }
    l->sizes[k] = l->uses[k] == 0 || l->sizes[k] == 1 ? size : l->sizes[k];
    l->uses[k]++;
    return TSR_OK;
}

/* Takes the named subscript that stands at a place of an operand's text. */
static tsr_status take_named(tsr_context *ctx, const term *t, size_t index, size_t at, int64_t size,
                             subscripts *l)
{
    const char c = t->text[at];
    const int k = index_of(c);
    if (memchr(t->text, c, at) != NULL) {
        return RULE_ERROR(ctx, "'%c' occurs twice in operand %zu; take the diagonal first", c,
                          index);
    }
    if (l->uses[k] > 0 && l->sizes[k] != size) {
        return RULE_ERROR(ctx, "'%c' has size %lld in operand %zu and %lld before", c,
                          (long long)size, index, (long long)l->sizes[k]);
    }
    l->sizes[k] = size;
    l->uses[k]++;
    return TSR_OK;
}

/* Takes the subscripts of one operand. */
static tsr_status read_operand(tsr_context *ctx, const term *t, size_t index, tsr_extents shape,
                               subscripts *l)
{
    size_t at = 0;
    if (has_ellipsis(t) ? t->named > shape.rank : t->named != shape.rank) {
        return RULE_ERROR(ctx, "operand %zu has %zu subscripts and rank %zu", index, t->named,
                          shape.rank);
    }
    const size_t dots = shape.rank - t->named;
    if (dots > MAX_ELLIPSIS) {
        return RULE_ERROR(ctx, "'...' stands for at most %d dimensions, in operand %zu it has %zu",
                          MAX_ELLIPSIS, index, dots);
    }
    l->ellipsis = dots > l->ellipsis ? dots : l->ellipsis;
    for (size_t d = 0; d < shape.rank; d++) {
        const int k = subscript_of(t, shape.rank, d, &at);
        TSR_TRY(k >= NAMED ? take_dots(ctx, index, k, shape.sizes[d], l)
                           : take_named(ctx, t, index, at, shape.sizes[d], l));
    }
    return TSR_OK;
}

/* The result's text: after the arrow, or the ellipsis and what occurs once, in order. */
static tsr_status read_result(tsr_context *ctx, const char *arrow, subscripts *l, char *room,
                              term *out)
{
    size_t count = 0;
    if (arrow == NULL) {
        for (; count < 3; count++) {
            room[count] = '.';
        }
        for (int k = 0; k < NAMED; k++) {
            if (l->uses[k] == 1) {
                room[count++] = name_of(k);
            }
        }
    }
    TSR_TRY(read_term(ctx, arrow != NULL ? arrow + 2 : room,
                      arrow != NULL ? strlen(arrow + 2) : count, out));
    if (l->ellipsis > 0 && !has_ellipsis(out)) {
        return RULE_ERROR(ctx,
                          "'...' stands for %zu dimensions of the operands but is missing in the "
                          "result; write it there too, and sum afterwards",
                          l->ellipsis);
    }
    for (size_t i = 0; i < out->length; i++) {
        const char c = out->text[i];
        const int k = index_of(c);
        if (k >= 0 && l->uses[k] == 0) {
            return RULE_ERROR(ctx, "'%c' of the result does not occur in any operand", c);
        }
        if (k >= 0 && memchr(out->text, c, i) != NULL) {
            return RULE_ERROR(ctx, "'%c' occurs twice in the result", c);
        }
        if (k >= 0) {
            l->in_result[k] = true;
        }
    }
    for (size_t d = 0; d < l->ellipsis; d++) {
        l->in_result[NAMED + d] = true;
    }
    return TSR_OK;
}

/*
 * Puts the factors of a tensor's subscripts, making those that are new. A dimension of size 1 of an
 * ellipsis that repeats gets a factor of its own when the rule is finished.
 */
static void put_subscripts(rule_builder *b, subscripts *l, size_t tensor, const term *t,
                           size_t rank, const int64_t *sizes)
{
    size_t at = 0;
    for (size_t d = 0; d < rank; d++) {
        const int k = subscript_of(t, rank, d, &at);
        if (k >= NAMED && sizes != NULL && sizes[d] != l->sizes[k]) {
            continue;
        }
        if (l->factors[k] == NO_FACTOR) {
            l->factors[k] = (int64_t)rule_factor(
                b, l->sizes[k], l->in_result[k] ? TSR_FACTOR_PASS_THROUGH : TSR_FACTOR_REDUCTION,
                false);
        }
        rule_put(b, tensor, d, (size_t)l->factors[k]);
    }
}

/* Reads the texts of the operands, which end before `end`. */
static tsr_status read_operands(tsr_context *ctx, const char *equation, const char *text,
                                size_t end, const tsr_extents *operands, size_t num_operands,
                                term *terms, subscripts *l)
{
    size_t at = 0;
    for (size_t i = 0; i < num_operands; i++) {
        if (at > end) {
            return RULE_ERROR(ctx, "the equation '%s' has %zu operands, got %zu tensors", equation,
                              i, num_operands);
        }
        const char *comma = memchr(text + at, ',', end - at);
        const size_t length = comma != NULL ? (size_t)(comma - text) - at : end - at;
        TSR_TRY(read_term(ctx, text + at, length, &terms[i]));
        TSR_TRY(read_operand(ctx, &terms[i], i, operands[i], l));
        at += length + 1;
    }
    if (at != end + 1) {
        return RULE_ERROR(ctx, "the equation '%s' has more operands than the %zu tensors", equation,
                          num_operands);
    }
    return TSR_OK;
}

tsr_status tsr_rule_einsum(tsr_context *ctx, tsr_arena *arena, const char *equation,
                           const tsr_extents *operands, size_t num_operands, const tsr_rule **out)
{
    GUARD(tsr_rule_einsum);
    subscripts l = {0};
    char room[NAMED + 3];
    term result;
    term *terms = ARENA_ARRAY(arena, term, num_operands);
    const char *text = compress(arena, equation);
    if (text == NULL || terms == NULL) {
        return diag_nomem(ctx);
    }
    const char *arrow = strstr(text, "->");
    const size_t end = arrow != NULL ? (size_t)(arrow - text) : strlen(text);
    TSR_TRY(read_operands(ctx, equation, text, end, operands, num_operands, terms, &l));
    TSR_TRY(read_result(ctx, arrow, &l, room, &result));
    const tsr_extents of_result = {.rank = result.named + l.ellipsis};
    rule_builder b = rule_start(ctx, arena, operands, num_operands, &of_result, 1);
    for (int k = 0; k < MAX_SUBSCRIPTS; k++) {
        l.factors[k] = NO_FACTOR;
    }
    for (size_t i = 0; i < num_operands; i++) {
        put_subscripts(&b, &l, i, &terms[i], operands[i].rank, operands[i].sizes);
    }
    put_subscripts(&b, &l, num_operands, &result, of_result.rank, NULL);
    return rule_finish(&b, out);
}
