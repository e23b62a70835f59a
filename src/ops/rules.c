#include "ops/rules.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"

/* A use of an op. */
typedef struct known_use {
    const void *params;
    const tsr_rule *rule; /* NULL: there is none */
    size_t next;          /* another with its key: their parameters have one hash; or NO_USE */
} known_use;

#define NO_USE SIZE_MAX

struct op_rules {
    tsr_context *ctx;
    tsr_arena *kept;    /* the table itself, keys, parameters and rules */
    tsr_arena *scratch; /* of the key under way */
    map keys;           /* to 1 + the number of a use; 0: new */
    known_use *uses;
    size_t num_uses;
    size_t room;
};

static tsr_status build(tsr_context *ctx, tsr_arena *kept, op_rules **out)
{
    op_rules *rules = ARENA_NEW(kept, op_rules);
    if (rules == NULL) {
        return diag_nomem(ctx);
    }
    *rules = (op_rules){.ctx = ctx, .kept = kept, .keys = map_new(kept)};
    TSR_TRY(tsr_arena_create(ctx, &rules->scratch));
    *out = rules;
    return TSR_OK;
}

tsr_status op_rules_create(tsr_context *ctx, op_rules **out)
{
    tsr_arena *kept = NULL;
    TSR_TRY(tsr_arena_create(ctx, &kept));
    const tsr_status status = build(ctx, kept, out);
    if (status < 0) {
        tsr_arena_destroy(kept);
    }
    return status;
}

void op_rules_destroy(op_rules *rules)
{
    if (rules != NULL) {
        tsr_arena_destroy(rules->scratch);
        tsr_arena_destroy(rules->kept);
    }
}

/* ---- keys: all that a rule depends on but the parameters, of which there is a hash ---- */

typedef struct key {
    int64_t *words;
    size_t count;
} key;

static void put(key *k, int64_t word)
{
    k->words[k->count++] = word;
}

static void put_type(key *k, const op_type *type)
{
    put(k, (int64_t)type->dtype);
    put(k, (int64_t)type->rank);
    for (size_t d = 0; d < type->rank; d++) {
        put(k, type->shape[d]);
    }
}

/* The first operand of the same source: which value it is does not count. */
static size_t first_of_source(const op_operand_fact *operands, size_t operand)
{
    size_t first = 0;
    while (operands[first].source != operands[operand].source) {
        first++;
    }
    return first;
}

static void put_facts(key *k, const op_request *r)
{
    const op_operand_fact *operands = r->facts != NULL ? r->facts->operands : NULL;
    const bool feeds = r->facts != NULL && r->facts->feeds_rng_bit_generator;
    put(k, (op_is_conservative(r) ? 1 : 0) | (feeds ? 2 : 0) | (operands != NULL ? 4 : 0) |
               (r->broadcasts ? 8 : 0) | (r->own_values ? 16 : 0));
    for (size_t i = 0; operands != NULL && i < r->num_operands; i++) {
        put(k, (operands[i].is_constant ? 1 : 0) | (operands[i].is_slice ? 2 : 0) |
                   (int64_t)first_of_source(operands, i) << 2);
    }
}

static size_t count_words(const op_type *types, size_t count)
{
    size_t words = 0;
    for (size_t i = 0; i < count; i++) {
        words += 3 + types[i].rank;
    }
    return words;
}

/* The key of a use, in the scratch; NULL words when there is no memory. */
static key key_of(const op_rules *rules, const op_request *r, const op_type *results)
{
    const size_t num_results = op_request_results(r);
    const size_t room =
        5 + count_words(r->operands, r->num_operands) + count_words(results, num_results);
    key k = {ARENA_ARRAY(rules->scratch, int64_t, room), 0};
    if (k.words == NULL) {
        return k;
    }
    put(&k, (int64_t)(intptr_t)r->row);
    put(&k, (int64_t)op_params_hash(r->row->fields, r->params, 0));
    put(&k, (int64_t)r->num_operands);
    put(&k, (int64_t)num_results);
    put_facts(&k, r);
    for (size_t i = 0; i < r->num_operands; i++) {
        put_type(&k, &r->operands[i]);
    }
    for (size_t i = 0; i < num_results; i++) {
        put_type(&k, &results[i]);
    }
    return k;
}

/* ---- uses ---- */

static bool reserve(op_rules *rules)
{
    if (rules->num_uses < rules->room) {
        return true;
    }
    const size_t room = rules->room > 0 ? 2 * rules->room : 16;
    known_use *grown = ARENA_ARRAY(rules->kept, known_use, room);
    if (grown == NULL) {
        return false;
    }
    if (rules->num_uses > 0) {
        memcpy(grown, rules->uses, rules->num_uses * sizeof *grown);
    }
    rules->uses = grown;
    rules->room = room;
    return true;
}

/* Works a rule out; NULL where there is none. */
static tsr_status work_out(op_rules *rules, const op_request *r, const op_type *results,
                           known_use *out)
{
    TSR_TRY(op_params_copy(rules->ctx, rules->kept, r->row->fields, r->params, &out->params));
    const tsr_status status = op_find_rule(r, results, rules->kept, &out->rule);
    if (status == TSR_NOT_APPLICABLE) {
        out->rule = NULL;
    }
    return status;
}

static tsr_status add(op_rules *rules, const op_request *r, const op_type *results, key k,
                      size_t *out)
{
    const size_t bytes = k.count * sizeof *k.words;
    const char *kept = arena_copy(rules->kept, k.words, 1, bytes);
    known_use use = {0};
    if (kept == NULL || !reserve(rules) || !map_reserve(&rules->keys, rules->keys.count + 1)) {
        return diag_nomem(rules->ctx);
    }
    TSR_TRY(work_out(rules, r, results, &use));
    uint64_t *first = map_insert(&rules->keys, kept, bytes);
    use.next = *first > 0 ? (size_t)*first - 1 : NO_USE;
    *out = rules->num_uses++;
    rules->uses[*out] = use;
    *first = *out + 1;
    return TSR_OK;
}

/* The number of a use that is known; NO_USE when it is not. */
static size_t find(const op_rules *rules, const op_request *r, key k)
{
    const uint64_t *first =
        map_find(&rules->keys, (const char *)k.words, k.count * sizeof *k.words);
    size_t use = first != NULL ? (size_t)*first - 1 : NO_USE;
    while (use != NO_USE && !op_params_equal(r->row->fields, rules->uses[use].params, r->params)) {
        use = rules->uses[use].next;
    }
    return use;
}

tsr_status op_rules_find(op_rules *rules, const op_request *r, const op_type *results,
                         const tsr_rule **out)
{
    tsr_arena_reset(rules->scratch, (tsr_arena_mark){0});
    const key k = key_of(rules, r, results);
    if (k.words == NULL) {
        return diag_nomem(rules->ctx);
    }
    size_t use = find(rules, r, k);
    if (use == NO_USE) {
        TSR_TRY(add(rules, r, results, k, &use));
    }
    if (rules->uses[use].rule == NULL) {
        return TSR_NOT_APPLICABLE;
    }
    *out = rules->uses[use].rule;
    return TSR_OK;
}
