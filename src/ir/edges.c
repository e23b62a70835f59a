/* Reading, checking and printing of propagation edges. */
#include "ir/edges.h"

#include <string.h>

#include "base/base.h"

#define FAILED(attribute, part, type)                                                              \
    "failed to parse Sdy_" attribute " parameter '" part "' which is to be a `" type "`"

static const char kind_failed[] = FAILED("EdgeValueRef", "type", "::mlir::sdy::EdgeNodeType");
static const char index_failed[] = FAILED("EdgeValueRef", "index", "int64_t");
static const char axis_failed[] =
    FAILED("AxisToPropagationDetails", "axis_name", "::mlir::sdy::AxisRefAttr");
static const char source_failed[] =
    FAILED("AxisToPropagationDetails", "source", "::mlir::sdy::EdgeValueRefAttr");
static const char targets_failed[] =
    FAILED("AxisToPropagationDetails", "targets", "::llvm::ArrayRef<EdgeValueRefAttr>");
static const char step_failed[] = FAILED("PropagationOneStep", "step_index", "int64_t");
static const char entries_failed[] =
    FAILED("PropagationOneStep", "axis_entries", "::llvm::ArrayRef<AxisToPropagationDetailsAttr>");
static const char steps_failed[] =
    FAILED("PropagationEdges", "value", "::llvm::ArrayRef<PropagationOneStepAttr>");

static const char *const kind_names[] = {"operand", "result"};

/* A word, or a string in its place. */
static tsr_status read_word(lexer *lex, slice *out)
{
    if (lex_is(lex, TOKEN_STRING)) {
        return lex_string(lex, out);
    }
    if (!lex_is(lex, TOKEN_WORD)) {
        return lex_error(lex, lex_here(lex), "expected valid keyword or string");
    }
    *out = lex_slice(lex);
    lex_next(lex);
    return TSR_OK;
}

static tsr_status read_kind(lexer *lex, bool *is_result)
{
    const location where = lex_here(lex);
    slice word = {0};
    TSR_TRY(read_word(lex, &word));
    for (size_t i = 0; i < 2; i++) {
        if (slice_is(word, kind_names[i])) {
            *is_result = i == 1;
            return TSR_OK;
        }
    }
    return diag_error(lex->ctx, TSR_ERR_SYNTAX, where,
                      "expected ::mlir::sdy::EdgeNodeType to be one of: operand, result");
}

/* `operand-1` */
static tsr_status read_value(lexer *lex, edge_value *out)
{
    if (read_kind(lex, &out->is_result) < 0) {
        return lex_follow_up(lex, kind_failed);
    }
    TSR_TRY(lex_expect(lex, '-'));
    return lex_integer(lex, &out->index) < 0 ? lex_follow_up(lex, index_failed) : TSR_OK;
}

/* `[operand-0, result-0]` */
static tsr_status read_targets(lexer *lex, edge_entry *entry)
{
    size_t room = 0;
    TSR_TRY(lex_expect(lex, '['));
    do {
        edge_value target;
        if (read_value(lex, &target) < 0) {
            return lex_follow_up(lex, targets_failed);
        }
        TSR_TRY(LEX_PUSH(lex, entry->targets, entry->num_targets, room, target));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ']');
}

/* `{"x" = operand-1 -> [...]}` */
static tsr_status read_entry(lexer *lex, edge_entry *entry)
{
    TSR_TRY(lex_expect(lex, '{'));
    if (axis_text_read(lex, &entry->axis) < 0) {
        return lex_follow_up(lex, axis_failed);
    }
    TSR_TRY(lex_expect(lex, '='));
    if (read_value(lex, &entry->source) < 0) {
        return lex_follow_up(lex, source_failed);
    }
    TSR_TRY(lex_expect_arrow(lex));
    TSR_TRY(read_targets(lex, entry));
    return lex_expect(lex, '}');
}

static tsr_status read_entries(lexer *lex, edge_step *step)
{
    size_t room = 0;
    TSR_TRY(lex_expect(lex, '['));
    do {
        edge_entry entry = {0};
        if (read_entry(lex, &entry) < 0) {
            return lex_follow_up(lex, entries_failed);
        }
        TSR_TRY(LEX_PUSH(lex, step->entries, step->num_entries, room, entry));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ']');
}

/* `{step-2 = [...]}` */
static tsr_status read_step(lexer *lex, edge_step *step)
{
    TSR_TRY(lex_expect(lex, '{'));
    TSR_TRY(lex_expect_word(lex, "step"));
    TSR_TRY(lex_expect(lex, '-'));
    if (lex_integer(lex, &step->index) < 0) {
        return lex_follow_up(lex, step_failed);
    }
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(read_entries(lex, step));
    return lex_expect(lex, '}');
}

static tsr_status read_steps(lexer *lex, edges_text *edges)
{
    size_t room = 0;
    TSR_TRY(lex_expect(lex, '['));
    do {
        edge_step step = {0};
        if (read_step(lex, &step) < 0) {
            return lex_follow_up(lex, steps_failed);
        }
        TSR_TRY(LEX_PUSH(lex, edges->steps, edges->num_steps, room, step));
    } while (lex_accept(lex, ','));
    return lex_expect(lex, ']');
}

static bool same_value(edge_value a, edge_value b)
{
    return a.is_result == b.is_result && a.index == b.index;
}

/* Targets differ from the source and from each other. */
static tsr_status check_entry(tsr_context *ctx, location where, int64_t step,
                              const edge_entry *entry)
{
    for (size_t i = 0; i < entry->num_targets; i++) {
        if (same_value(entry->targets[i], entry->source)) {
            return diag_error(ctx, TSR_ERR_INVALID, where,
                              "propagation edges have a source that is the same as a target");
        }
        for (size_t j = 0; j < i; j++) {
            if (same_value(entry->targets[i], entry->targets[j])) {
                return diag_error(
                    ctx, TSR_ERR_INVALID, where,
                    "propagation edges have duplicate targets for step index: %lld and axis: %.*s",
                    (long long)step, (int)entry->axis.name.size, entry->axis.name.data);
            }
        }
    }
    return TSR_OK;
}

static tsr_status check_step(tsr_context *ctx, location where, const edges_text *edges, size_t i)
{
    const edge_step *step = &edges->steps[i];
    if (step->index < 0) {
        return diag_error(ctx, TSR_ERR_INVALID, where,
                          "propagation edges have negative step index: %lld",
                          (long long)step->index);
    }
    for (size_t j = 0; j < i; j++) {
        if (edges->steps[j].index == step->index) {
            return diag_error(ctx, TSR_ERR_INVALID, where,
                              "propagation edges have duplicate step index: %lld",
                              (long long)step->index);
        }
    }
    for (size_t j = 0; j < step->num_entries; j++) {
        TSR_TRY(check_entry(ctx, where, step->index, &step->entries[j]));
    }
    return TSR_OK;
}

tsr_status edges_text_read(lexer *lex, edges_text *out)
{
    const size_t from = lex->current.at;
    edges_text edges = {0};
    (void)lex_accept_hash(lex, "#sdy.propagation_edges");
    TSR_TRY(lex_expect(lex, '<'));
    TSR_TRY(read_steps(lex, &edges));
    TSR_TRY(lex_expect(lex, '>'));
    for (size_t i = 0; i < edges.num_steps; i++) {
        TSR_TRY(check_step(lex->ctx, lex_span(lex, from), &edges, i));
    }
    *out = edges;
    return TSR_OK;
}

static void print_value(buffer *buf, edge_value value)
{
    buffer_string(buf, kind_names[value.is_result]);
    buffer_char(buf, '-');
    buffer_int(buf, value.index);
}

static void print_entry(buffer *buf, const edge_entry *entry)
{
    buffer_char(buf, '{');
    named_axis_print(buf, &entry->axis);
    buffer_string(buf, " = ");
    print_value(buf, entry->source);
    buffer_string(buf, " -> [");
    for (size_t i = 0; i < entry->num_targets; i++) {
        buffer_string(buf, i > 0 ? ", " : "");
        print_value(buf, entry->targets[i]);
    }
    buffer_string(buf, "]}");
}

static void print_step(buffer *buf, const edge_step *step)
{
    buffer_format(buf, "{step-%lld = [", (long long)step->index);
    for (size_t i = 0; i < step->num_entries; i++) {
        buffer_string(buf, i > 0 ? ", " : "");
        print_entry(buf, &step->entries[i]);
    }
    buffer_string(buf, "]}");
}

void edges_text_print(buffer *buf, const edges_text *edges)
{
    buffer_string(buf, "<[");
    for (size_t i = 0; i < edges->num_steps; i++) {
        buffer_string(buf, i > 0 ? ", " : "");
        print_step(buf, &edges->steps[i]);
    }
    buffer_string(buf, "]>");
}
