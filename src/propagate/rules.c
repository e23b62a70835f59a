/* The rules of a program's ops: their own, or what the rows of `ops` say. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "factor/rule.h"
#include "ir/interned.h"
#include "ir/message.h"
#include "ir/params.h"
#include "ir/row.h"
#include "ops/op_custom.h"
#include "ops/op_elementwise.h"
#include "propagate/state.h"

/* ---- what ops of a name are ---- */

/* What is known of ops beside the rows of `ops`. */
typedef struct kind_info {
    bool is_special; /* the row of `ops`, if there is one, does not say how the op is visited */
    visit_kind visit;
    priority_class priority;
    bool elementwise;
    bool is_silent; /* it has no rule and needs none */
    bool is_silent_in_xla;
} kind_info;

#define SPECIAL(visit, priority, elementwise, silent)                                              \
    {                                                                                              \
        true, VISIT_##visit, PRIORITY_##priority, elementwise, silent, false                       \
    }
#define SILENT                                                                                     \
    {                                                                                              \
        .is_silent = true                                                                          \
    }
/* Likewise where XLA rewrites constants of chlo. */
#define SILENT_IN_XLA                                                                              \
    {                                                                                              \
        .is_silent_in_xla = true                                                                   \
    }

static const kind_info kinds[OP_KIND_COUNT] = {
    [OP_SDY_DATA_FLOW_EDGE] = SPECIAL(EDGE, PASSES_ON, false, true),
    [OP_SDY_FUNC_DATA_FLOW_EDGE] = SPECIAL(FUNC_EDGE, PASSES_ON, false, true),
    [OP_SDY_PROPAGATION_BARRIER] = SPECIAL(BARRIER, LATE, true, true),
    [OP_SDY_SHARDING_CONSTRAINT] = SPECIAL(RULE, PASSES_ON, true, false),
    [OP_SDY_RESHARD] = SPECIAL(RULE, PASSES_ON, true, true),
    [OP_STABLEHLO_UNIFORM_QUANTIZE] = SPECIAL(RULE, PASSES_ON, true, false),
    [OP_STABLEHLO_UNIFORM_DEQUANTIZE] = SPECIAL(RULE, PASSES_ON, true, false),
    [OP_BUILTIN_MODULE] = SILENT,
    [OP_FUNC_FUNC] = SILENT,
    [OP_FUNC_CALL] = SILENT,
    [OP_SDY_MESH] = SILENT,
    [OP_SDY_CONSTANT] = SILENT,
    [OP_SDY_SHARDING_GROUP] = SILENT,
    [OP_STABLEHLO_AFTER_ALL] = SILENT,
    [OP_STABLEHLO_CONSTANT] = SILENT,
    [OP_STABLEHLO_CREATE_TOKEN] = SILENT,
    [OP_STABLEHLO_GET_TUPLE_ELEMENT] = SILENT,
    [OP_STABLEHLO_INFEED] = SILENT,
    [OP_STABLEHLO_IOTA] = SILENT,
    [OP_STABLEHLO_OUTFEED] = SILENT,
    [OP_STABLEHLO_PARTITION_ID] = SILENT,
    [OP_STABLEHLO_RECV] = SILENT,
    [OP_STABLEHLO_SEND] = SILENT,
    [OP_CHLO_CONSTANT] = SILENT_IN_XLA,
    [OP_CHLO_CONSTANT_LIKE] = SILENT_IN_XLA,
};

static bool is_silent(const tsr_program *p, uint32_t op, bool as_xla)
{
    const ir_row *row = program_row(p, op);
    const kind_info *info = &kinds[op_kind_of(p, op)];
    return (row != NULL && (row->traits & (IR_TERMINATOR | IR_HAS_EDGES)) != 0) ||
           info->is_silent || (as_xla && info->is_silent_in_xla);
}

static priority_class priority_of(const op_row *row)
{
    if ((row->traits & (OP_ELEMENTWISE | OP_PASSES_ON)) != 0) {
        return PRIORITY_PASSES_ON;
    }
    if ((row->traits & OP_PASSES_FORWARD) != 0) {
        return PRIORITY_PASSES_FORWARD;
    }
    return (row->traits & OP_BROADCASTS) != 0 ? PRIORITY_BROADCAST : PRIORITY_LATE;
}

/*
 * Whether the row of an op says how axes pass through it. The reference knows nothing of chlo. XLA
 * rewrites such ops before propagation, all but erf, of which its propagation knows no rule.
 */
static bool takes_part(const op_row *row, bool as_xla)
{
    return row != NULL && (row->dialect == OP_STABLEHLO ||
                           (as_xla && row->dialect == OP_CHLO && row != &op_unary[UNARY_ERF]));
}

static name_info describe(const tsr_program *p, uint32_t op, bool as_xla)
{
    const op_row *row = ir_op_row(p, op);
    name_info info = {.known = true,
                      .visit = VISIT_RULE,
                      .is_silent = is_silent(p, op, as_xla),
                      .is_call = op_is(p, op, OP_STABLEHLO_CUSTOM_CALL),
                      .is_bitcast = op_is(p, op, OP_STABLEHLO_BITCAST_CONVERT)};
    if (takes_part(row, as_xla)) {
        info.row = row;
        info.elementwise = (row->traits & OP_ELEMENTWISE) != 0;
        info.expands = (row->traits & OP_EXPANDS) != 0;
        info.priority = (uint8_t)priority_of(row);
    }
    const kind_info *kind = &kinds[op_kind_of(p, op)];
    if (kind->is_special) {
        info.visit = (uint8_t)kind->visit;
        info.priority = (uint8_t)kind->priority;
        info.elementwise = kind->elementwise;
    }
    return info;
}

tsr_status rule_name_of_op(propagation *s, uint32_t op, const name_info **out)
{
    name_info *info = &s->names[program_op(s->w.p, op)->name];
    if (!info->known) {
        *info = describe(s->w.p, op, s->options->as_xla);
    }
    *out = info;
    return TSR_OK;
}

bool rule_op_is_elementwise(propagation *s, uint32_t op, const name_info *info)
{
    const tsr_program *p = s->w.p;
    if (!info->is_bitcast) {
        return info->elementwise;
    }
    const type_head *from = program_type(p, value_type(p, op_operand(p, op, 0)));
    const type_head *to = program_type(p, value_type(p, op_result(p, op, 0)));
    return from->count == to->count;
}

/* ---- rules of their own ---- */

tsr_status rule_identity(propagation *s, uint32_t type, size_t num_operands, const tsr_rule **out)
{
    const uint32_t key[] = {type, (uint32_t)num_operands};
    interned_rule_entry known;
    TSR_TRY(interned_rule_of_key(s->w.ctx, s->w.p, key, sizeof key / sizeof key[0], &known));
    if (*known.rule == 0) {
        const type_head *head = program_type(s->w.p, type);
        const tsr_rule *rule = NULL;
        const tsr_extents shape = {head->count, type_extents(head)};
        TSR_TRY(tsr_rule_elementwise(s->w.ctx, known.arena, num_operands, shape, &rule));
        *known.rule = (uint64_t)(uintptr_t)rule;
    }
    *out = (const tsr_rule *)(uintptr_t)*known.rule;
    return TSR_OK;
}

/* ---- rules of rows ---- */

/* Whether an op gives what is known when a program is compiled. */
static bool is_constant(const tsr_program *p, uint32_t op)
{
    return op_is(p, op, OP_SDY_CONSTANT) || op_is(p, op, OP_STABLEHLO_CONSTANT) ||
           op_is(p, op, OP_ARITH_CONSTANT);
}

static bool feeds_random_bits(const tsr_program *p, uint32_t op)
{
    for (uint32_t use = value_first_use(p, op_result(p, op, 0)); use != 0; use = use_next(p, use)) {
        if (op_is(p, use_op(p, use), OP_STABLEHLO_RNG_BIT_GENERATOR)) {
            return true;
        }
    }
    return false;
}

static tsr_status find_facts(propagation *s, uint32_t op, const op_row *row, op_facts *out)
{
    const tsr_program *p = s->w.p;
    const ir_op *o = program_op(p, op);
    *out = (op_facts){.conservative = s->options->conservative};
    if ((row->traits & OP_RULE_BY_OPERANDS) == 0) {
        return TSR_OK;
    }
    op_operand_fact *facts = ARENA_ARRAY(s->w.scratch, op_operand_fact, o->num_operands + 1);
    if (facts == NULL) {
        return diag_nomem(s->w.ctx);
    }
    for (uint32_t i = 0; i < o->num_operands; i++) {
        const uint32_t value = op_operand(p, op, i);
        const uint32_t from = value_op(p, value);
        const bool is_slice = from != 0 && op_is(p, from, OP_STABLEHLO_SLICE);
        facts[i] = (op_operand_fact){.is_constant = from != 0 && is_constant(p, from),
                                     .is_slice = is_slice,
                                     .source = is_slice ? op_operand(p, from, 0) : value};
    }
    out->operands = facts;
    out->feeds_rng_bit_generator = o->num_results > 0 && feeds_random_bits(p, op);
    return TSR_OK;
}

/* What a rule depends on, as numbers of the program. */
typedef struct rule_key {
    uint32_t *words;
    size_t count;
} rule_key;

static tsr_status key_of(propagation *s, uint32_t op, const op_facts *facts, rule_key *out)
{
    const tsr_program *p = s->w.p;
    const ir_op *o = program_op(p, op);
    const size_t room = 6 + 3 * (size_t)o->num_operands + o->num_results;
    uint32_t *words = ARENA_ARRAY(s->w.scratch, uint32_t, room);
    size_t n = 0;
    if (words == NULL) {
        return diag_nomem(s->w.ctx);
    }
    words[n++] = o->name;
    words[n++] = o->properties;
    words[n++] = o->num_operands;
    words[n++] = (facts->feeds_rng_bit_generator ? 1 : 0) | (facts->conservative ? 2 : 0);
    words[n++] = o->num_regions > 0 ? (uint32_t)ir_region_combiner(p, op_region_at(p, op, 0)) : 0;
    for (uint32_t i = 0; i < o->num_operands; i++) {
        words[n++] = value_type(p, op_operand(p, op, i));
        if (facts->operands != NULL) {
            words[n++] = facts->operands[i].source;
            words[n++] =
                (facts->operands[i].is_constant ? 1 : 0) | (facts->operands[i].is_slice ? 2 : 0);
        }
    }
    for (uint32_t i = 0; i < o->num_results; i++) {
        words[n++] = value_type(p, op_result(p, op, i));
    }
    *out = (rule_key){words, n};
    return TSR_OK;
}

/* Whether types and parameters give the results that a program has, by the row's own hook. */
static tsr_status infer_results(const ir_request *r, tsr_context *ctx, bool *fits)
{
    op_request request = r->request;
    op_type *inferred = ARENA_ARRAY(request.arena, op_type, r->num_results + 1);
    request.ctx = ctx;
    *fits = true;
    if (inferred == NULL) {
        return TSR_ERR_NOMEM;
    }
    const tsr_status status = request.row->types(&request, inferred);
    if (status < 0) {
        *fits = status == TSR_ERR_UNSUPPORTED;
        return status == TSR_ERR_NOMEM ? status : TSR_OK;
    }
    for (size_t i = 0; i < r->num_results; i++) {
        *fits = *fits && op_shapes_agree(&inferred[i], &r->results[i]);
    }
    return TSR_OK;
}

/*
 * Whether the rule of a row may be asked. Ops with element types that rows do not know, or with
 * parameters left out, have not been verified: their types are asked first, in a context of their
 * own, because what they refuse is not an error here.
 */
static tsr_status check_fits(propagation *s, uint32_t op, const ir_request *r, bool *fits)
{
    ir_request exact;
    tsr_context *ctx = NULL;
    *fits = true;
    if (r->request.row->types == NULL) {
        return TSR_OK;
    }
    const tsr_status verified =
        ir_request_make(s->w.ctx, s->w.scratch, s->w.p, op, r->request.row, &exact);
    if (verified != TSR_NOT_APPLICABLE) {
        return verified;
    }
    TSR_TRY(context_create_like(s->w.ctx, &ctx));
    const tsr_status status = infer_results(r, ctx, fits);
    tsr_context_destroy(ctx);
    return status == TSR_ERR_NOMEM ? diag_nomem(s->w.ctx) : status;
}

static tsr_status build_rule(propagation *s, uint32_t op, const op_row *row, const op_facts *facts,
                             tsr_arena *arena, const tsr_rule **out)
{
    ir_request r;
    *out = NULL;
    const tsr_status made = ir_rule_request(s->w.ctx, s->w.scratch, s->w.p, op, row, &r);
    if (made != TSR_OK) {
        return made == TSR_NOT_APPLICABLE ? TSR_OK : made;
    }
    bool fits = false;
    TSR_TRY(check_fits(s, op, &r, &fits));
    if (!fits) {
        return TSR_OK;
    }
    r.request.facts = facts;
    const tsr_status status = op_find_rule(&r.request, r.results, arena, out);
    return status == TSR_NOT_APPLICABLE ? TSR_OK : status;
}

/* A rule that is 1 in the table is none. */
enum { NO_RULE = 1 };

static tsr_status rule_of_row(propagation *s, uint32_t op, const op_row *row, const tsr_rule **out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(s->w.scratch);
    op_facts facts = {0};
    rule_key key = {0};
    interned_rule_entry known;
    TSR_TRY(find_facts(s, op, row, &facts));
    TSR_TRY(key_of(s, op, &facts, &key));
    TSR_TRY(interned_rule_of_key(s->w.ctx, s->w.p, key.words, key.count, &known));
    if (*known.rule == 0) {
        const tsr_rule *rule = NULL;
        TSR_TRY(build_rule(s, op, row, &facts, known.arena, &rule));
        *known.rule = rule != NULL ? (uint64_t)(uintptr_t)rule : NO_RULE;
    }
    *out = *known.rule == NO_RULE ? NULL : (const tsr_rule *)(uintptr_t)*known.rule;
    tsr_arena_reset(s->w.scratch, mark);
    return TSR_OK;
}

/* ---- warnings ---- */

static tsr_status warn_of(propagation *s, uint32_t op)
{
    slice target;
    const bool is_call = op_is(s->w.p, op, OP_STABLEHLO_CUSTOM_CALL);
    bool *warned = is_call ? &s->warned_of_call : &s->warned_of_op;
    if (*warned) {
        return TSR_OK;
    }
    *warned = true;
    if (is_call && attr_as_string(s->w.p, op_property(s->w.p, op, "call_target_name"), &target)) {
        return diag_warning(s->w.ctx, op_location(s->w.p, op),
                            "custom call @%.*s is unknown to SDY sharding rule registry",
                            (int)target.size, target.data);
    }
    return diag_warning(s->w.ctx, op_location(s->w.p, op),
                        "op '%s' is unknown to SDY sharding rule registry", op_name(s->w.p, op));
}

/* ---- the rule of an op ---- */

/* Whether an op without a rule is one that the registry knows. */
static bool is_known(const tsr_program *p, uint32_t op, const op_row *row)
{
    slice target;
    if (row != &op_custom_call) {
        return row != NULL && row->rule != NULL;
    }
    return attr_as_string(p, op_property(p, op, "call_target_name"), &target) &&
           custom_call_is_known(target);
}

static tsr_status find_rule(propagation *s, uint32_t op, const tsr_rule **out)
{
    const name_info *info = NULL;
    *out = NULL;
    TSR_TRY(rule_name_of_op(s, op, &info));
    if (program_op(s->w.p, op)->attributes != 0) {
        const uint32_t attr = op_attribute(s->w.p, op, "sdy.sharding_rule");
        if (attr_is(s->w.p, attr, ATTR_SDY)) {
            return interned_rule(s->w.ctx, s->w.p, attr, out);
        }
    }
    if (info->is_silent) {
        return TSR_OK;
    }
    if (op_is(s->w.p, op, OP_SDY_SHARDING_CONSTRAINT)) {
        const uint32_t type = value_type(s->w.p, op_result(s->w.p, op, 0));
        return type_is_static(s->w.p, type) ? rule_identity(s, type, 1, out) : TSR_OK;
    }
    if (info->row != NULL && info->row->rule != NULL) {
        TSR_TRY(rule_of_row(s, op, info->row, out));
    }
    return *out != NULL || s->options->as_xla || is_known(s->w.p, op, info->row) ? TSR_OK
                                                                                 : warn_of(s, op);
}

tsr_status rule_of_op(propagation *s, uint32_t op, const tsr_rule **out)
{
    op_rule *known = &s->rules[op];
    if (!known->known) {
        TSR_TRY(find_rule(s, op, &known->rule));
        known->known = true;
    }
    *out = known->rule;
    return TSR_OK;
}

tsr_status rule_asks_operands(propagation *s, uint32_t op, bool *out)
{
    const name_info *info = NULL;
    TSR_TRY(rule_name_of_op(s, op, &info));
    *out = info->row != NULL && (info->row->traits & OP_RULE_BY_OPERANDS) != 0;
    return TSR_OK;
}

tsr_status rule_is_lacking(propagation *s, uint32_t op, bool *out)
{
    const name_info *info = NULL;
    const tsr_rule *rule = NULL;
    *out = false;
    TSR_TRY(rule_name_of_op(s, op, &info));
    if (!info->is_silent && info->visit == VISIT_RULE) {
        TSR_TRY(rule_of_op(s, op, &rule));
        *out = rule == NULL && !is_known(s->w.p, op, info->row) &&
               !op_is(s->w.p, op, OP_SDY_SHARDING_CONSTRAINT);
    }
    return TSR_OK;
}

/* ---- at the end ---- */

static tsr_status store_rule(propagation *s, uint32_t op)
{
    tsr_program *p = s->w.p;
    const uint32_t had =
        program_op(p, op)->attributes != 0 ? op_attribute(p, op, "sdy.sharding_rule") : 0;
    const tsr_rule *rule = s->rules[op].rule;
    if (s->options->keep_rules) {
        uint32_t attr = had;
        if (had == 0 && rule != NULL) {
            TSR_TRY(interned_rule_attr(s->w.ctx, p, rule, &attr));
        }
        return attr != had ? op_set_attribute(p, op, "sdy.sharding_rule", attr) : TSR_OK;
    }
    if (had != 0) {
        TSR_TRY(interned_rule(s->w.ctx, s->w.p, had, &rule));
        return rule->custom ? TSR_OK : op_set_attribute(p, op, "sdy.sharding_rule", 0);
    }
    return TSR_OK;
}

tsr_status rules_store(propagation *s)
{
    const tsr_program *p = s->w.p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        TSR_TRY(store_rule(s, op));
    }
    return TSR_OK;
}
