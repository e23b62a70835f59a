/* Rules as programs have them, read with the errors of the reference and printed as it prints. */
#include <string.h>

#include "base/base.h"
#include "factor/rule.h"

static const char *const list_names[RULE_LIST_COUNT] = {
    [RULE_REDUCTION] = "reduction",
    [RULE_NEED_REPLICATION] = "need_replication",
    [RULE_PERMUTATION] = "permutation",
    [RULE_BLOCKED] = "blocked_propagation",
};

static const char dims_failed[] =
    "failed to parse Sdy_TensorMapping parameter 'dim_mappings' which is to be a "
    "`::llvm::ArrayRef<DimMappingAttr>`";
static const char operands_failed[] =
    "failed to parse Sdy_OpShardingRule parameter 'operand_mappings' which is to be a "
    "`::llvm::ArrayRef<TensorMappingAttr>`";
static const char results_failed[] =
    "failed to parse Sdy_OpShardingRule parameter 'result_mappings' which is to be a "
    "`::llvm::ArrayRef<TensorMappingAttr>`";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* An error at the current token about a part of it. */
static tsr_status refuse(lexer *lex, const char *problem, slice part)
{
    return diag_error(lex->ctx, TSR_ERR_SYNTAX, lex_here(lex), "%s'%.*s'", problem, (int)part.size,
                      part.data);
}

/* The number of digits; a too large one is reported once a rule, and stands for none. */
static tsr_status digits_value(lexer *lex, rule_text *rule, slice digits, int64_t *out)
{
    int64_t value = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (!checked_mul(value, 10, &value) || !checked_add(value, digits.data[i] - '0', &value)) {
            if (!rule->too_large) {
                (void)refuse(lex, "expecting symbol index <=2^63-1. Received: ", digits);
            }
            rule->too_large = true;
            *out = 0;
            return TSR_OK;
        }
    }
    *out = value;
    return TSR_OK;
}

/* The number after `z_`; takes it off the word. */
static tsr_status take_number(lexer *lex, rule_text *rule, slice *word, int64_t *out)
{
    size_t end = 2;
    while (end < word->size && is_digit(word->data[end])) {
        end++;
    }
    const slice digits = {word->data + 2, end - 2};
    if (digits.size == 0) {
        return refuse(lex, "expecting integer after 'z_'. Received: ", *word);
    }
    if (digits.data[0] == '0') {
        return refuse(lex, "expecting positive integer without leading zeros. Received: ", digits);
    }
    *word = (slice){word->data + end, word->size - end};
    return digits_value(lex, rule, digits, out);
}

/* Takes one factor off a word that is not empty. Numbers near 2^63 wrap, as in the reference. */
static tsr_status take_factor(lexer *lex, rule_text *rule, slice *word, int64_t *out)
{
    const char symbol = word->data[0];
    if (symbol < 'i' || symbol > 'z') {
        return refuse(lex, "expecting symbol from 'i' to 'z'. Received: ", (slice){word->data, 1});
    }
    int64_t number = 0;
    if (symbol == 'z' && word->size > 1 && word->data[1] == '_') {
        TSR_TRY(take_number(lex, rule, word, &number));
    } else {
        *word = (slice){word->data + 1, word->size - 1};
    }
    *out = (int64_t)((uint64_t)(symbol - 'i') + (uint64_t)number);
    return TSR_OK;
}

/* The factors of a dimension: a word, or nothing. */
static tsr_status read_dim(lexer *lex, rule_text *rule, rule_numbers *dim)
{
    size_t room = 0;
    if (!lex_is(lex, TOKEN_WORD)) {
        return TSR_OK;
    }
    for (slice word = lex_slice(lex); word.size > 0;) {
        int64_t factor = 0;
        TSR_TRY(take_factor(lex, rule, &word, &factor));
        TSR_TRY(LEX_PUSH(lex, dim->values, dim->count, room, factor));
    }
    lex_next(lex);
    return TSR_OK;
}

/* `[i, jk]` */
static tsr_status read_map(lexer *lex, rule_text *rule, rule_map_text *map)
{
    size_t room = 0;
    TSR_TRY(lex_expect(lex, '['));
    if (lex_accept(lex, ']')) {
        return TSR_OK;
    }
    do {
        rule_numbers dim = {0};
        if (read_dim(lex, rule, &dim) < 0) {
            return lex_follow_up(lex, dims_failed);
        }
        TSR_TRY(LEX_PUSH(lex, map->dims, map->rank, room, dim));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ']');
}

/* The maps under way: of the operands, then of the results. */
typedef struct growing_maps {
    size_t count;
    size_t room;
} growing_maps;

/* `([i, j], [k])` */
static tsr_status read_maps(lexer *lex, rule_text *rule, growing_maps *maps, const char *failed)
{
    TSR_TRY(lex_expect(lex, '('));
    do {
        rule_map_text map = {0};
        if (read_map(lex, rule, &map) < 0) {
            return lex_follow_up(lex, failed);
        }
        TSR_TRY(LEX_PUSH(lex, rule->maps, maps->count, maps->room, map));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ')');
}

/* The next factor must be the one after those that have a size. */
static tsr_status check_order(lexer *lex, const rule_text *rule, int64_t factor)
{
    if (factor == (int64_t)rule->sizes.count) {
        return TSR_OK;
    }
    buffer buf = buffer_new(lex->arena);
    buffer_string(&buf, "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. "
                        "{i=#, j=#, ...}). Expecting factor index symbol '");
    factor_print(&buf, rule->sizes.count);
    buffer_string(&buf, "', received: '");
    factor_print(&buf, (size_t)factor);
    buffer_char(&buf, '\'');
    const char *message = NULL;
    TSR_TRY(buffer_finish(lex->ctx, &buf, &message));
    return lex_error(lex, lex_here(lex), message);
}

/* A word of a list; its first factor is taken off. */
static tsr_status read_symbol(lexer *lex, rule_text *rule, slice *rest, int64_t *factor)
{
    if (!lex_is(lex, TOKEN_WORD)) {
        return lex_error(lex, lex_here(lex), "expected valid keyword");
    }
    *rest = lex_slice(lex);
    return take_factor(lex, rule, rest, factor);
}

/* `i=8` */
static tsr_status read_size(lexer *lex, rule_text *rule, int64_t *size)
{
    slice rest = {0};
    int64_t factor = 0;
    TSR_TRY(read_symbol(lex, rule, &rest, &factor));
    TSR_TRY(check_order(lex, rule, factor));
    if (rest.size > 0) {
        return diag_error(lex->ctx, TSR_ERR_SYNTAX, lex_here(lex),
                          "expecting single factor symbol: %.*s", (int)rest.size, rest.data);
    }
    lex_next(lex);
    TSR_TRY(lex_expect(lex, '='));
    return lex_integer(lex, size);
}

/* `{i=8, j=4}`, if present. */
static tsr_status read_sizes(lexer *lex, rule_text *rule)
{
    size_t room = 0;
    if (!lex_accept(lex, '{') || lex_accept(lex, '}')) {
        return TSR_OK;
    }
    do {
        int64_t size = 0;
        TSR_TRY(read_size(lex, rule, &size));
        TSR_TRY(LEX_PUSH(lex, rule->sizes.values, rule->sizes.count, room, size));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, '}');
}

/* `reduction={i, j}`, if present; of a word of several factors the reference takes the first. */
static tsr_status read_list(lexer *lex, rule_text *rule, rule_list list)
{
    rule_numbers *numbers = &rule->lists[list];
    size_t room = 0;
    if (!lex_accept_word(lex, list_names[list])) {
        return TSR_OK;
    }
    TSR_TRY(lex_expect(lex, '='));
    if (!lex_accept(lex, '{') || lex_accept(lex, '}')) {
        return TSR_OK;
    }
    do {
        slice rest = {0};
        int64_t factor = 0;
        TSR_TRY(read_symbol(lex, rule, &rest, &factor));
        lex_next(lex);
        TSR_TRY(LEX_PUSH(lex, numbers->values, numbers->count, room, factor));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, '}');
}

/* What follows the maps. */
static tsr_status read_rest(lexer *lex, rule_text *rule)
{
    TSR_TRY(read_sizes(lex, rule));
    for (int i = 0; i < RULE_LIST_COUNT; i++) {
        TSR_TRY(read_list(lex, rule, (rule_list)i));
    }
    if (lex_accept(lex, ',')) {
        TSR_TRY(lex_expect_word(lex, "custom"));
        rule->custom = true;
    }
    return lex_expect(lex, '>');
}

tsr_status rule_text_read(lexer *lex, rule_text *out)
{
    rule_text rule = {0};
    growing_maps maps = {0};
    (void)lex_accept_hash(lex, "#sdy.op_sharding_rule");
    TSR_TRY(lex_expect(lex, '<'));
    TSR_TRY(read_maps(lex, &rule, &maps, operands_failed));
    rule.num_operands = maps.count;
    TSR_TRY(lex_expect_arrow(lex));
    TSR_TRY(read_maps(lex, &rule, &maps, results_failed));
    rule.num_results = maps.count - rule.num_operands;
    TSR_TRY(read_rest(lex, &rule));
    *out = rule;
    return TSR_OK;
}

/* A dimension without factors has no text of its own in the reference. */
static void print_dim(buffer *buf, const rule_numbers *dim)
{
    for (size_t i = 0; i < dim->count; i++) {
        factor_print(buf, (size_t)dim->values[i]);
    }
    if (dim->count == 0) {
        buffer_string(buf, "#sdy.dim_mapping");
    }
}

static void print_maps(buffer *buf, const rule_map_text *maps, size_t count)
{
    buffer_char(buf, '(');
    for (size_t i = 0; i < count; i++) {
        buffer_string(buf, i > 0 ? ", [" : "[");
        for (size_t d = 0; d < maps[i].rank; d++) {
            buffer_string(buf, d > 0 ? ", " : "");
            print_dim(buf, &maps[i].dims[d]);
        }
        buffer_char(buf, ']');
    }
    buffer_char(buf, ')');
}

static void print_sizes(buffer *buf, const rule_numbers *sizes)
{
    for (size_t i = 0; i < sizes->count; i++) {
        buffer_string(buf, i > 0 ? ", " : " {");
        factor_print(buf, i);
        buffer_char(buf, '=');
        buffer_int(buf, sizes->values[i]);
    }
    buffer_string(buf, sizes->count > 0 ? "}" : "");
}

static void print_list(buffer *buf, const char *name, const rule_numbers *list)
{
    if (list->count == 0) {
        return;
    }
    buffer_format(buf, " %s={", name);
    for (size_t i = 0; i < list->count; i++) {
        buffer_string(buf, i > 0 ? ", " : "");
        factor_print(buf, (size_t)list->values[i]);
    }
    buffer_char(buf, '}');
}

void rule_text_print(buffer *buf, const rule_text *rule)
{
    buffer_char(buf, '<');
    print_maps(buf, rule->maps, rule->num_operands);
    buffer_string(buf, "->");
    print_maps(buf, rule->maps + rule->num_operands, rule->num_results);
    print_sizes(buf, &rule->sizes);
    for (int i = 0; i < RULE_LIST_COUNT; i++) {
        print_list(buf, list_names[i], &rule->lists[i]);
    }
    buffer_string(buf, rule->custom ? ", custom" : "");
    buffer_char(buf, '>');
}
