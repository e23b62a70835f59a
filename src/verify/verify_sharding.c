/* The checks of attributes that sdy defines on any op: shardings, rules, edges. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "factor/rule.h"
#include "ir/edges.h"
#include "verify/verify.h"

enum { MAX_PREFIX = 256 };

static tsr_status fail(tsr_context *ctx, const tsr_program *p, uint32_t op, const char *prefix,
                       const char *text)
{
    return diag_error(ctx, TSR_ERR_INVALID, op_location(p, op), "%s%s", prefix, text);
}

static bool is_sdy(const tsr_program *p, uint32_t attr, sdy_attr kind)
{
    return attr_is(p, attr, ATTR_SDY) && program_attr(p, attr)->row == kind;
}

/* ---- one sharding ---- */

/* The type that a sharding is about: a tuple of one element is its element. */
static uint32_t shaped_part(const tsr_program *p, uint32_t type)
{
    return type_is(p, type, TYPE_TUPLE) && program_type(p, type)->count == 1
               ? type_list(program_type(p, type))[0]
               : type;
}

static bool is_bare(const sharding_text *text)
{
    return text->rank == 0 && text->replicated.count == 0 && text->unreduced.count == 0;
}

static bool has_no_axes(const sharding_text *text)
{
    for (size_t i = 0; i < text->rank; i++) {
        if (text->dims[i].axes.count > 0) {
            return false;
        }
    }
    return true;
}

/* Steps 3 to 6: the type. */
static tsr_status verify_type(tsr_context *ctx, tsr_program *p, uint32_t op, const char *prefix,
                              uint32_t attr, const sharding_text *text, uint32_t type)
{
    const location where = op_location(p, op);
    if (type_is(p, type, TYPE_TUPLE) && program_type(p, type)->count != 1) {
        return diag_error(ctx, TSR_ERR_INVALID, where,
                          "%sops can only have a sharding for a tuple of size 1: '%s'", prefix,
                          type_string(ctx, p, type));
    }
    const uint32_t part = shaped_part(p, type);
    if (!type_is_shaped(p, part)) {
        return is_bare(text)
                   ? TSR_OK
                   : diag_error(ctx, TSR_ERR_INVALID, where,
                                "%snon-shaped tensors can only have a sharding with rank "
                                "0 and no replicated or unreduced axes. type: '%s', "
                                "sharding: %s",
                                prefix, type_string(ctx, p, type), attr_string_of(ctx, p, attr));
    }
    if (type_is(p, part, TYPE_UNRANKED)) {
        return diag_error(ctx, TSR_ERR_INVALID, where,
                          "%sonly ranked tensors can have a sharding. type: '%s'", prefix,
                          type_string(ctx, p, type));
    }
    const uint32_t rank = program_type(p, part)->count;
    if (text->rank != rank) {
        return diag_error(ctx, TSR_ERR_INVALID, where,
                          "%ssharding doesn't match tensor rank: %zu != %u", prefix, text->rank,
                          rank);
    }
    return TSR_OK;
}

tsr_status verify_not_bound(tsr_context *ctx, tsr_program *p, uint32_t op, const char *prefix,
                            slice name)
{
    for (uint32_t around = enclosing(p, op, OP_SDY_MANUAL_COMPUTATION); around != 0;
         around = enclosing(p, around, OP_SDY_MANUAL_COMPUTATION)) {
        name_list manual;
        TSR_TRY(manual_axes(ctx, p, around, &manual));
        if (name_list_has(&manual, name)) {
            (void)diag_error(ctx, TSR_ERR_INVALID, op_location(p, op),
                             "%soperates on axis \"%.*s\" which is already bound by a parent "
                             "sdy.manual_computation op",
                             prefix, (int)name.size, name.data);
            return note_at_op(ctx, p, around, "parent bounding this axis as manual");
        }
    }
    return TSR_OK;
}

static tsr_status verify_axes_not_bound(tsr_context *ctx, tsr_program *p, uint32_t op,
                                        const char *prefix, named_axes list)
{
    for (size_t i = 0; i < list.count; i++) {
        TSR_TRY(verify_not_bound(ctx, p, op, prefix, list.axes[i].name));
    }
    return TSR_OK;
}

static tsr_status verify_all_not_bound(tsr_context *ctx, tsr_program *p, uint32_t op,
                                       const char *prefix, const sharding_text *text)
{
    if (enclosing(p, op, OP_SDY_MANUAL_COMPUTATION) == 0) {
        return TSR_OK;
    }
    for (size_t i = 0; i < text->rank; i++) {
        TSR_TRY(verify_axes_not_bound(ctx, p, op, prefix, text->dims[i].axes));
    }
    TSR_TRY(verify_axes_not_bound(ctx, p, op, prefix, text->replicated));
    return verify_axes_not_bound(ctx, p, op, prefix, text->unreduced);
}

tsr_status verify_sharding(tsr_context *ctx, tsr_program *p, uint32_t op, const char *prefix,
                           uint32_t attr, uint32_t type)
{
    const sharding_text *text = NULL;
    const tsr_mesh *mesh = NULL;
    const tsr_sharding *sharding = NULL;
    TSR_TRY(sharding_written(ctx, p, op, attr, &text));
    TSR_TRY(sharding_mesh(ctx, p, op, attr, &mesh));
    if (mesh == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, op_location(p, op), "%sunknown mesh: @%.*s", prefix,
                          (int)text->mesh_name.size, text->mesh_name.data);
    }
    if (tsr_mesh_is_maximal(mesh) || (type == 0 && has_no_axes(text))) {
        return is_bare(text) ? TSR_OK
                             : fail(ctx, p, op, prefix,
                                    "a maximal sharding can only have a sharding with rank 0 and "
                                    "no replicated or unreduced axes.");
    }
    const int64_t *shape = NULL;
    if (type != 0) {
        TSR_TRY(verify_type(ctx, p, op, prefix, attr, text, type));
        const uint32_t part = shaped_part(p, type);
        shape = type_is(p, part, TYPE_TENSOR) ? type_extents(program_type(p, part)) : NULL;
    }
    TSR_TRY(sharding_of_attr(ctx, p, op, attr, op_location(p, op), prefix, shape, &sharding));
    TSR_TRY(verify_all_not_bound(ctx, p, op, prefix, text));
    return sharding_set_verified(ctx, p, op, attr, type);
}

/* ---- lists ---- */

tsr_status verify_shardings(tsr_context *ctx, tsr_program *p, uint32_t op, const char *word,
                            uint32_t list, const uint32_t *types, size_t count)
{
    char prefix[MAX_PREFIX];
    const attr_head *head = program_attr(p, list);
    const bool is_maximal_only = count == 0 && head->count == 1;
    if (head->count != count && !is_maximal_only) {
        return op_error(ctx, p, op,
                        "%s shardings don't match number of values: %u shardings vs "
                        "%zu values",
                        word, head->count, count);
    }
    for (uint32_t i = 0; i < head->count; i++) {
        const uint32_t type = is_maximal_only ? 0 : types[i];
        bool known = false;
        TSR_TRY(sharding_is_verified(ctx, p, op, attr_list(head)[i], type, &known));
        if (known) {
            continue;
        }
        if (count == 1) {
            snprintf(prefix, sizeof prefix, "'%s' op %s - ", op_name(p, op), word);
        } else {
            snprintf(prefix, sizeof prefix, "'%s' op %s %u - ", op_name(p, op), word, i);
        }
        TSR_TRY(verify_sharding(ctx, p, op, prefix, attr_list(head)[i], type));
    }
    return TSR_OK;
}

/* ---- attributes of ops ---- */

static tsr_status result_types(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t **out)
{
    const ir_op *record = program_op(p, op);
    *out = ARENA_ARRAY(p->scratch, uint32_t, record->num_results + 1);
    if (*out == NULL) {
        return diag_nomem(ctx);
    }
    for (uint32_t i = 0; i < record->num_results; i++) {
        (*out)[i] = value_type(p, record->results + i);
    }
    return TSR_OK;
}

/* An op without results may have one sharding, of a maximal mesh or without axes. */
static tsr_status verify_result_shardings(tsr_context *ctx, tsr_program *p, uint32_t op,
                                          uint32_t attr)
{
    uint32_t *types = NULL;
    if (!is_sdy(p, attr, SDY_SHARDING_PER_VALUE)) {
        return op_error(ctx, p, op,
                        "should have a sharding attribute of type TensorShardingPerValueAttr");
    }
    const ir_op *record = program_op(p, op);
    const attr_head *list = program_attr(p, attr);
    if (record->num_results == 0 && list->count == 1) {
        const sharding_text *text = NULL;
        const tsr_mesh *mesh = NULL;
        TSR_TRY(sharding_written(ctx, p, op, attr_list(list)[0], &text));
        TSR_TRY(sharding_mesh(ctx, p, op, attr_list(list)[0], &mesh));
        if (mesh != NULL && !tsr_mesh_is_maximal(mesh) && !has_no_axes(text)) {
            return op_error(ctx, p, op,
                            "result shardings don't match number of values: 1 "
                            "shardings vs 0 values");
        }
    }
    TSR_TRY(result_types(ctx, p, op, &types));
    return verify_shardings(ctx, p, op, "result", attr, types, record->num_results);
}

static tsr_status read_rule(lexer *lex, void *out)
{
    return rule_text_read(lex, out);
}

static int64_t static_rank(const tsr_program *p, uint32_t type)
{
    return type_is_static(p, type) ? (int64_t)program_type(p, type)->count : -1;
}

/* The type of a value of an op, operands first. */
static uint32_t type_at(const tsr_program *p, uint32_t op, uint32_t i)
{
    const ir_op *record = program_op(p, op);
    return i < record->num_operands ? value_type(p, op_operand(p, op, i))
                                    : value_type(p, record->results + i - record->num_operands);
}

/*
 * Whether a rule fits an op depends on the rule and the ranks of the op's values alone. This is
 * the key of both in the program's table of rules that fit; false when it does not fit the buffer.
 */
enum { MAX_KEY = 32 };
typedef struct rule_signature {
    int32_t words[MAX_KEY];
    size_t size; /* in bytes */
} rule_signature;

static bool sign_rule(const tsr_program *p, uint32_t op, uint32_t attr, rule_signature *out)
{
    const ir_op *record = program_op(p, op);
    const uint32_t count = record->num_operands + record->num_results;
    if (count + 2 > MAX_KEY) {
        return false;
    }
    out->words[0] = (int32_t)attr;
    out->words[1] = (int32_t)record->num_operands;
    for (uint32_t i = 0; i < count; i++) {
        out->words[i + 2] = (int32_t)static_rank(p, type_at(p, op, i));
    }
    out->size = (count + 2) * sizeof out->words[0];
    return true;
}

static tsr_status check_rule(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr)
{
    char prefix[MAX_PREFIX];
    rule_text rule = {0};
    TSR_TRY(read_attr_text(ctx, p, attr, read_rule, &rule));
    const ir_op *record = program_op(p, op);
    const uint32_t count = record->num_operands + record->num_results;
    int64_t *ranks = ARENA_ARRAY(p->scratch, int64_t, count + 1);
    const char **texts = ARENA_ARRAY(p->scratch, const char *, count + 1);
    if (ranks == NULL || texts == NULL) {
        return diag_nomem(ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t type = type_at(p, op, i);
        ranks[i] = static_rank(p, type);
        texts[i] = ranks[i] < 0 ? type_string(ctx, p, type) : "";
    }
    snprintf(prefix, sizeof prefix, "'%s' op ", op_name(p, op));
    return rule_text_verify(ctx, op_location(p, op), prefix, &rule, ranks, record->num_operands,
                            record->num_results, texts);
}

static tsr_status verify_rule(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr)
{
    rule_signature signature;
    uint32_t id = 0;
    if (!is_sdy(p, attr, SDY_RULE)) {
        return op_error(ctx, p, op,
                        "should have a sharding rule attribute of type "
                        "OpShardingRuleAttr for attr named 'sdy.sharding_rule'");
    }
    if (!sign_rule(p, op, attr, &signature)) {
        return check_rule(ctx, p, op, attr);
    }
    if (intern_find_bytes(&p->verified_rules, signature.words, signature.size) != 0) {
        return TSR_OK;
    }
    TSR_TRY(check_rule(ctx, p, op, attr));
    return intern_bytes(&p->verified_rules, signature.words, signature.size, &id) < 0
               ? diag_nomem(ctx)
               : TSR_OK;
}

/* ---- edges ---- */

/* The shardings of an op's operands and results, those that it has. */
typedef struct edge_shardings {
    const tsr_sharding **items;
    size_t count;
} edge_shardings;

static tsr_status collect_shardings(tsr_context *ctx, tsr_program *p, uint32_t op,
                                    edge_shardings *out)
{
    const ir_op *record = program_op(p, op);
    const uint32_t count = record->num_operands + record->num_results;
    out->items = ARENA_ARRAY(p->scratch, const tsr_sharding *, count + 1);
    out->count = 0;
    if (out->items == NULL) {
        return diag_nomem(ctx);
    }
    for (uint32_t i = 0; i < count; i++) {
        const tsr_sharding *sharding = NULL;
        TSR_TRY(value_sharding(ctx, p,
                               i < record->num_operands
                                   ? op_operand(p, op, i)
                                   : record->results + i - record->num_operands,
                               &sharding));
        if (sharding != NULL) {
            out->items[out->count++] = sharding;
        }
    }
    return TSR_OK;
}

static tsr_status verify_edge_value(tsr_context *ctx, tsr_program *p, uint32_t op,
                                    const edge_value *value)
{
    const ir_op *record = program_op(p, op);
    const int64_t count = value->is_result ? record->num_results : record->num_operands;
    if (value->index >= 0 && value->index < count) {
        return TSR_OK;
    }
    return op_error(
        ctx, p, op, "expected a value ref to have %s index in range [0, %lld), got: %lld",
        value->is_result ? "a result" : "an operand", (long long)count, (long long)value->index);
}

static tsr_status verify_entry(tsr_context *ctx, tsr_program *p, uint32_t op,
                               const edge_entry *entry, const tsr_mesh *mesh)
{
    if (tsr_mesh_find_axis(mesh, entry->axis.name.data, entry->axis.name.size) < 0) {
        return op_error(ctx, p, op, "expected axis ref to be in one of the meshes");
    }
    if (op_is(p, op, OP_SDY_FUNC_DATA_FLOW_EDGE)) {
        return TSR_OK;
    }
    TSR_TRY(verify_edge_value(ctx, p, op, &entry->source));
    for (size_t i = 0; i < entry->num_targets; i++) {
        TSR_TRY(verify_edge_value(ctx, p, op, &entry->targets[i]));
    }
    return TSR_OK;
}

static tsr_status read_edges(lexer *lex, void *out)
{
    return edges_text_read(lex, out);
}

static tsr_status verify_edges(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr)
{
    edges_text edges = {0};
    edge_shardings all = {0};
    TSR_TRY(read_attr_text(ctx, p, attr, read_edges, &edges));
    if (edges.num_steps == 0) {
        return TSR_OK;
    }
    TSR_TRY(collect_shardings(ctx, p, op, &all));
    if (all.count == 0) {
        return op_error(ctx, p, op, "expected propagation edges attr to reference a sharding.");
    }
    const tsr_mesh *mesh = tsr_sharding_common_mesh(all.items, all.count, false);
    if (mesh == NULL) {
        return op_error(ctx, p, op, "expected a common mesh for propagation edges attr.");
    }
    for (size_t i = 0; i < edges.num_steps; i++) {
        for (size_t k = 0; k < edges.steps[i].num_entries; k++) {
            TSR_TRY(verify_entry(ctx, p, op, &edges.steps[i].entries[k], mesh));
        }
    }
    return TSR_OK;
}

static tsr_status verify_edge_list(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr)
{
    static const char wrong[] =
        "should have a propagation edges attribute of type ArrayAttr<PropagationEdgesAttr> for "
        "attr named 'sdy.result_propagation_edges' or 'sdy.block_arg_propagation_edges'";
    if (!attr_is(p, attr, ATTR_ARRAY)) {
        return op_error(ctx, p, op, "%s", wrong);
    }
    const attr_head *list = program_attr(p, attr);
    for (uint32_t i = 0; i < list->count; i++) {
        if (!is_sdy(p, attr_list(list)[i], SDY_EDGES)) {
            return op_error(ctx, p, op, "%s", wrong);
        }
        TSR_TRY(verify_edges(ctx, p, op, attr_list(list)[i]));
    }
    return TSR_OK;
}

static tsr_status verify_one_edges(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr)
{
    if (!is_sdy(p, attr, SDY_EDGES)) {
        return op_error(ctx, p, op,
                        "should have a propagation edges attribute of type "
                        "PropagationEdgesAttr for attr named 'sdy.propagation_edges'");
    }
    return verify_edges(ctx, p, op, attr);
}

/* ---- by name ---- */

static const struct {
    const char *name;
    tsr_status (*verify)(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr);
} checks[] = {
    {"sdy.block_arg_propagation_edges", verify_edge_list},
    {"sdy.propagation_edges", verify_one_edges},
    {"sdy.result_propagation_edges", verify_edge_list},
    {"sdy.sharding", verify_result_shardings},
    {"sdy.sharding_rule", verify_rule},
};

/* The shardings in the dictionaries of a function's arguments or results. */
static tsr_status verify_value_dicts(tsr_context *ctx, tsr_program *p, uint32_t op,
                                     const char *property, const char *word, uint32_t first)
{
    char prefix[MAX_PREFIX];
    const uint32_t list = op_property(p, op, property);
    const uint32_t type = op_property(p, op, "function_type");
    if (!attr_is(p, list, ATTR_ARRAY) || !attr_is(p, type, ATTR_TYPE) ||
        !type_is(p, program_attr(p, type)->type, TYPE_FUNCTION)) {
        return TSR_OK;
    }
    const attr_head *dicts = program_attr(p, list);
    const type_head *function = program_type(p, program_attr(p, type)->type);
    for (uint32_t i = 0; i < dicts->count && first + i < function->count; i++) {
        const uint32_t attr = dict_get(p, attr_list(dicts)[i], "sdy.sharding");
        bool known = attr == 0;
        if (is_sdy(p, attr, SDY_SHARDING)) {
            TSR_TRY(sharding_is_verified(ctx, p, op, attr, type_list(function)[first + i], &known));
        }
        if (known) {
            continue;
        }
        snprintf(prefix, sizeof prefix, "'%s' op %s %u - ", op_name(p, op), word, i);
        if (!is_sdy(p, attr, SDY_SHARDING)) {
            return fail(ctx, p, op, prefix,
                        "should have a sharding attribute of type TensorShardingAttr");
        }
        TSR_TRY(verify_sharding(ctx, p, op, prefix, attr, type_list(function)[first + i]));
    }
    return TSR_OK;
}

tsr_status verify_sdy_attributes(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    const uint32_t dict = program_op(p, op)->attributes;
    const size_t size = dict_size(p, dict);
    for (size_t i = 0; i < size; i++) {
        const attr_entry entry = attr_entries(program_attr(p, dict))[i];
        const slice name = string_at(p, entry.name);
        if (name.size < 4 || memcmp(name.data, "sdy.", 4) != 0) {
            continue;
        }
        for (size_t k = 0; k < sizeof checks / sizeof checks[0]; k++) {
            if (slice_is(name, checks[k].name)) {
                TSR_TRY(checks[k].verify(ctx, p, op, entry.value));
            }
        }
    }
    const ir_row *row = program_row(p, op);
    if (row == NULL || (row->traits & IR_SIGNATURE) == 0) {
        return TSR_OK;
    }
    const uint32_t type = op_property(p, op, "function_type");
    const uint32_t inputs =
        attr_is(p, type, ATTR_TYPE) ? program_type(p, program_attr(p, type)->type)->inputs : 0;
    TSR_TRY(verify_value_dicts(ctx, p, op, "arg_attrs", "arg", 0));
    return verify_value_dicts(ctx, p, op, "res_attrs", "result", inputs);
}
