/* The text of rules: `([i, j], [j, k])->([i, k]) {i=4, j=8, k=16} reduction={j}`. */
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/lex.h"
#include "factor/rule.h"

/* Letters from `i` to `z`, then z_1, z_2 .. */
enum { NUM_LETTERS = 'z' - 'i' + 1 };

static const struct {
    const char *name;
    tsr_factor_kind kind;
    bool blocked;
} lists[] = {
    {"reduction", TSR_FACTOR_REDUCTION, false},
    {"need_replication", TSR_FACTOR_NEED_REPLICATION, false},
    {"permutation", TSR_FACTOR_PERMUTATION, false},
    {"blocked_propagation", TSR_FACTOR_PASS_THROUGH, true},
};
enum { NUM_LISTS = sizeof lists / sizeof lists[0] };

void factor_print(buffer *buf, size_t factor)
{
    if (factor < NUM_LETTERS) {
        buffer_char(buf, (char)('i' + factor));
    } else {
        buffer_format(buf, "z_%zu", factor - NUM_LETTERS + 1);
    }
}

static void print_tensors(buffer *buf, const tsr_rule_tensor *tensors, size_t count)
{
    buffer_char(buf, '(');
    for (size_t i = 0; i < count; i++) {
        buffer_string(buf, i > 0 ? ", [" : "[");
        for (size_t d = 0; d < tensors[i].rank; d++) {
            buffer_string(buf, d > 0 ? ", " : "");
            for (size_t k = 0; k < tensors[i].dims[d].num_factors; k++) {
                factor_print(buf, tensors[i].dims[d].factors[k]);
            }
        }
        buffer_char(buf, ']');
    }
    buffer_char(buf, ')');
}

static void print_sizes(buffer *buf, const tsr_rule *rule)
{
    const char *before = " {";
    for (size_t i = 0; i < rule->num_factors; i++) {
        if (rule->factors[i].size != TSR_UNKNOWN) {
            buffer_string(buf, before);
            factor_print(buf, i);
            buffer_format(buf, "=%lld", (long long)rule->factors[i].size);
            before = ", ";
        }
    }
    buffer_string(buf, before[0] == ',' ? "}" : "");
}

/* The factors that belong into a list. */
static void print_list(buffer *buf, const tsr_rule *rule, size_t list)
{
    bool any = false;
    for (size_t i = 0; i < rule->num_factors; i++) {
        const tsr_factor *f = &rule->factors[i];
        if (lists[list].blocked ? f->blocked : f->kind == lists[list].kind) {
            if (any) {
                buffer_string(buf, ", ");
            } else {
                buffer_format(buf, " %s={", lists[list].name);
            }
            factor_print(buf, i);
            any = true;
        }
    }
    buffer_string(buf, any ? "}" : "");
}

tsr_status tsr_rule_print(tsr_context *ctx, tsr_arena *arena, const tsr_rule *rule,
                          tsr_rule_printing printing, const char **out)
{
    GUARD(tsr_rule_print);
    buffer buf = buffer_new(arena);
    buffer_string(&buf, printing == TSR_RULE_FULL ? "#sdy.op_sharding_rule<" : "");
    print_tensors(&buf, rule->tensors, rule->num_operands);
    buffer_string(&buf, "->");
    print_tensors(&buf, rule->tensors + rule->num_operands, rule->num_results);
    print_sizes(&buf, rule);
    for (size_t i = 0; i < NUM_LISTS; i++) {
        print_list(&buf, rule, i);
    }
    buffer_string(&buf, rule->custom ? ", custom" : "");
    buffer_string(&buf, printing == TSR_RULE_FULL ? ">" : "");
    return buffer_finish(ctx, &buf, out);
}

/* A factor as written: a letter and perhaps a number; 0 for none. */
typedef struct factor_name {
    char letter;
    int64_t number;
} factor_name;

/* A rule as it is read: names in the order of their numbers. */
typedef struct rule_reader {
    lexer lex;
    factor_name *names;
    tsr_factor *factors;
    size_t count;
    size_t names_room;
    size_t factors_room;
    tsr_rule_tensor *tensors;
    size_t num_tensors;
    size_t tensors_room;
    size_t num_operands;
    const size_t *numbers; /* of the factors by their first use; NULL: those are their numbers */
} rule_reader;

static bool find_name(const rule_reader *r, factor_name name, size_t *out)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->names[i].letter == name.letter && r->names[i].number == name.number) {
            *out = i;
            return true;
        }
    }
    return false;
}

static tsr_status add_name(rule_reader *r, factor_name name, size_t *out)
{
    const tsr_factor factor = {.size = TSR_UNKNOWN};
    size_t count = r->count;
    TSR_TRY(LEX_PUSH(&r->lex, r->names, count, r->names_room, name));
    count = r->count;
    TSR_TRY(LEX_PUSH(&r->lex, r->factors, count, r->factors_room, factor));
    *out = r->count++;
    return TSR_OK;
}

/* Takes one factor off a word: a letter, and `_` with digits. False when there is none. */
static bool take_name(slice *word, factor_name *out)
{
    if (word->size == 0 || word->data[0] < 'a' || word->data[0] > 'z') {
        return false;
    }
    *out = (factor_name){.letter = word->data[0]};
    size_t used = 1;
    if (word->size > 2 && word->data[1] == '_') {
        used = 2;
        while (used < word->size && word->data[used] >= '0' && word->data[used] <= '9' &&
               out->number < INT32_MAX) {
            out->number = 10 * out->number + (word->data[used++] - '0');
        }
        if (used == 2) {
            return false;
        }
    }
    *word = (slice){word->data + used, word->size - used};
    return true;
}

/* A list of names, `ij`: the factors of a dimension. */
static tsr_status read_dim(rule_reader *r, tsr_rule_dim *out)
{
    lexer *lex = &r->lex;
    size_t *factors = NULL;
    size_t count = 0;
    size_t room = 0;
    if (!lex_is(lex, TOKEN_WORD)) {
        return lex_error(lex, lex_here(lex), "expected the factors of a dimension");
    }
    slice word = lex_slice(lex);
    while (word.size > 0) {
        factor_name name;
        size_t factor = 0;
        if (!take_name(&word, &name)) {
            return lex_error(lex, lex_here(lex),
                             "a factor is a letter from a to z, or z_1, z_2 and so on");
        }
        if (!find_name(r, name, &factor)) {
            TSR_TRY(add_name(r, name, &factor));
        }
        TSR_TRY(LEX_PUSH(lex, factors, count, room, factor));
    }
    lex_next(lex);
    *out = (tsr_rule_dim){factors, count};
    return TSR_OK;
}

static tsr_status read_tensor(rule_reader *r)
{
    lexer *lex = &r->lex;
    tsr_rule_dim *dims = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(lex_expect(lex, '['));
    while (!lex_is(lex, ']')) {
        tsr_rule_dim dim;
        TSR_TRY(read_dim(r, &dim));
        TSR_TRY(LEX_PUSH(lex, dims, count, room, dim));
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    TSR_TRY(lex_expect(lex, ']'));
    const tsr_rule_tensor tensor = {dims, count};
    return LEX_PUSH(lex, r->tensors, r->num_tensors, r->tensors_room, tensor);
}

static tsr_status read_tensors(rule_reader *r)
{
    TSR_TRY(lex_expect(&r->lex, '('));
    while (!lex_is(&r->lex, ')')) {
        TSR_TRY(read_tensor(r));
        if (!lex_accept(&r->lex, ',')) {
            break;
        }
    }
    return lex_expect(&r->lex, ')');
}

/* One factor by name; the caller says whether it may be new. */
static tsr_status read_factor(rule_reader *r, size_t *out)
{
    lexer *lex = &r->lex;
    factor_name name;
    slice word = lex_slice(lex);
    if (!lex_is(lex, TOKEN_WORD) || !take_name(&word, &name) || word.size > 0) {
        return lex_error(lex, lex_here(lex), "expected a factor");
    }
    if (!find_name(r, name, out)) {
        return lex_error(lex, lex_here(lex), "no dimension has this factor");
    }
    lex_next(lex);
    return TSR_OK;
}

/* Factors are numbered in the order of the list of sizes; others follow. */
static tsr_status number_factors(rule_reader *r, const size_t *order, size_t count)
{
    size_t *numbers = ARENA_ARRAY(r->lex.arena, size_t, r->count);
    size_t next = 0;
    if (numbers == NULL) {
        return diag_nomem(r->lex.ctx);
    }
    for (size_t i = 0; i < r->count; i++) {
        numbers[i] = SIZE_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        numbers[order[i]] = next++;
    }
    for (size_t i = 0; i < r->count; i++) {
        numbers[i] = numbers[i] == SIZE_MAX ? next++ : numbers[i];
    }
    r->numbers = numbers;
    return TSR_OK;
}

/* A copy of a tensor with the factors by their numbers. */
static tsr_status renumber_tensor(const rule_reader *r, tsr_rule_tensor *tensor)
{
    tsr_rule_dim *dims = arena_copy(r->lex.arena, tensor->dims, tensor->rank, sizeof *tensor->dims);
    if (dims == NULL) {
        return diag_nomem(r->lex.ctx);
    }
    for (size_t d = 0; d < tensor->rank; d++) {
        size_t *factors = ARENA_ARRAY(r->lex.arena, size_t, dims[d].num_factors);
        if (factors == NULL) {
            return diag_nomem(r->lex.ctx);
        }
        for (size_t k = 0; k < dims[d].num_factors; k++) {
            factors[k] = r->numbers[dims[d].factors[k]];
        }
        dims[d].factors = factors;
    }
    tensor->dims = dims;
    return TSR_OK;
}

static tsr_status renumber(rule_reader *r)
{
    tsr_factor *factors = ARENA_ARRAY(r->lex.arena, tsr_factor, r->count);
    if (r->numbers == NULL) {
        return TSR_OK;
    }
    if (factors == NULL) {
        return diag_nomem(r->lex.ctx);
    }
    for (size_t i = 0; i < r->count; i++) {
        factors[r->numbers[i]] = r->factors[i];
    }
    r->factors = factors;
    for (size_t t = 0; t < r->num_tensors; t++) {
        TSR_TRY(renumber_tensor(r, &r->tensors[t]));
    }
    return TSR_OK;
}

static tsr_status read_sizes(rule_reader *r)
{
    lexer *lex = &r->lex;
    size_t *order = NULL;
    size_t count = 0;
    size_t room = 0;
    if (!lex_accept(lex, '{')) {
        return TSR_OK;
    }
    while (!lex_is(lex, '}')) {
        size_t factor = 0;
        const location where = lex_here(lex);
        int64_t size;
        TSR_TRY(read_factor(r, &factor));
        TSR_TRY(lex_expect(lex, '='));
        TSR_TRY(lex_integer(lex, &size));
        if (r->factors[factor].size != TSR_UNKNOWN || size < 0) {
            return lex_error(lex, where,
                             size < 0 ? "the size of a factor is negative"
                                      : "the size of this factor is given twice");
        }
        r->factors[factor].size = size;
        TSR_TRY(LEX_PUSH(lex, order, count, room, factor));
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    TSR_TRY(lex_expect(lex, '}'));
    return number_factors(r, order, count);
}

static tsr_status read_list(rule_reader *r, size_t list)
{
    lexer *lex = &r->lex;
    lex_next(lex);
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(lex_expect(lex, '{'));
    while (!lex_is(lex, '}')) {
        size_t factor = 0;
        const location where = lex_here(lex);
        TSR_TRY(read_factor(r, &factor));
        tsr_factor *f = &r->factors[factor];
        if (lists[list].blocked) {
            f->blocked = true;
        } else if (f->kind != TSR_FACTOR_PASS_THROUGH) {
            return lex_error(lex, where, "this factor already has a kind; a factor has at most 1");
        } else {
            f->kind = lists[list].kind;
        }
        if (!lex_accept(lex, ',')) {
            break;
        }
    }
    return lex_expect(lex, '}');
}

static tsr_status read_lists(rule_reader *r)
{
    for (size_t i = 0; i < NUM_LISTS; i++) {
        if (lex_is_word(&r->lex, lists[i].name)) {
            TSR_TRY(read_list(r, i));
            i = SIZE_MAX;
        }
    }
    return TSR_OK;
}

static tsr_status read_rule(rule_reader *r, tsr_rule_spec *out)
{
    lexer *lex = &r->lex;
    const bool named = lex_accept_hash(lex, "#sdy.op_sharding_rule");
    const bool wrapped = lex_accept(lex, '<');
    if (named && !wrapped) {
        return lex_expect(lex, '<');
    }
    TSR_TRY(read_tensors(r));
    r->num_operands = r->num_tensors;
    if (!lex_accept(lex, TOKEN_ARROW)) {
        return lex_error(lex, lex_after(lex), "expected '->'");
    }
    TSR_TRY(read_tensors(r));
    TSR_TRY(read_sizes(r));
    TSR_TRY(read_lists(r));
    if (lex_accept(lex, ',')) {
        TSR_TRY(lex_expect_word(lex, "custom"));
        out->custom = true;
    }
    if (wrapped) {
        TSR_TRY(lex_expect(lex, '>'));
    }
    TSR_TRY(renumber(r));
    out->factors = r->factors;
    out->num_factors = r->count;
    out->operands = r->tensors;
    out->num_operands = r->num_operands;
    out->results = r->tensors != NULL ? r->tensors + r->num_operands : NULL;
    out->num_results = r->num_tensors - r->num_operands;
    return TSR_OK;
}

static tsr_status read_and_create(rule_reader *r, const tsr_rule **out)
{
    tsr_rule_spec spec = {0};
    TSR_TRY(read_rule(r, &spec));
    return tsr_rule_create(r->lex.ctx, r->lex.arena, &spec, out);
}

tsr_status tsr_rule_read(tsr_context *ctx, tsr_arena *arena, tsr_text *text, const tsr_rule **out)
{
    GUARD(tsr_rule_read);
    rule_reader r = {.lex = lex_start(ctx, arena, text)};
    return read_and_create(&r, out);
}

tsr_status tsr_rule_parse(tsr_context *ctx, tsr_arena *arena, const char *string,
                          const tsr_rule **out)
{
    GUARD(tsr_rule_parse);
    tsr_text text = tsr_text_of("<rule>", string);
    rule_reader r = {.lex = lex_start(ctx, arena, &text)};
    const tsr_rule *rule = NULL;
    TSR_TRY(read_and_create(&r, &rule));
    if (!lex_is(&r.lex, TOKEN_END)) {
        return lex_error(&r.lex, lex_here(&r.lex), "expected the end of the rule");
    }
    *out = rule;
    return TSR_OK;
}
