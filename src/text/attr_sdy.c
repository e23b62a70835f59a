/*
 * Attributes of sdy. Their canonical text is what is kept: equal text is equality, and printing
 * copies it. Shardings per value are lists of shardings.
 */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "factor/rule.h"
#include "ir/edges.h"
#include "mesh/mesh.h"
#include "shard/sharding.h"
#include "text/attr_struct.h"

static tsr_status mesh_body(lexer *lex, buffer *out)
{
    const tsr_mesh *mesh = NULL;
    TSR_TRY(mesh_read(lex, TSR_READ_PROGRAM, &mesh));
    mesh_print(out, mesh);
    return TSR_OK;
}

static tsr_status sharding_body(lexer *lex, buffer *out)
{
    sharding_text text;
    TSR_TRY(sharding_text_read(lex, TSR_READ_PROGRAM, &text));
    sharding_text_print(out, &text);
    return TSR_OK;
}

static tsr_status rule_body(lexer *lex, buffer *out)
{
    rule_text rule = {0};
    TSR_TRY(rule_text_read(lex, &rule));
    rule_text_print(out, &rule);
    return rule.too_large ? TSR_ERR_SYNTAX : TSR_OK;
}

static tsr_status edges_body(lexer *lex, buffer *out)
{
    edges_text edges = {0};
    TSR_TRY(edges_text_read(lex, &edges));
    edges_text_print(out, &edges);
    return TSR_OK;
}

static tsr_status axis_body(lexer *lex, buffer *out)
{
    named_axis axis;
    TSR_TRY(axis_text_read(lex, &axis));
    named_axis_print(out, &axis);
    return TSR_OK;
}

static tsr_status mesh_axis_body(lexer *lex, buffer *out)
{
    slice name;
    int64_t size = 0;
    const location here = lex_here(lex);
    TSR_TRY(lex_string(lex, &name));
    TSR_TRY(lex_expect(lex, '='));
    TSR_TRY(lex_integer(lex, &size));
    if (size < 1) {
        return diag_error(lex->ctx, TSR_ERR_INVALID, here,
                          "axis size must be at least 1, got: %lld", (long long)size);
    }
    buffer_quoted_bytes(out, name.data, name.size);
    buffer_format(out, "=%lld", (long long)size);
    return TSR_OK;
}

static tsr_status sub_axis_body(lexer *lex, buffer *out)
{
    int64_t pre = 0;
    int64_t size = 0;
    TSR_TRY(lex_expect(lex, '('));
    TSR_TRY(lex_integer(lex, &pre));
    TSR_TRY(lex_expect(lex, ')'));
    TSR_TRY(lex_integer(lex, &size));
    buffer_format(out, "(%lld)%lld", (long long)pre, (long long)size);
    return TSR_OK;
}

typedef tsr_status (*body_reader)(lexer *lex, buffer *out);

/* What a list is made of. */
typedef struct list_row {
    char open;
    char close;
    body_reader item;
    const char *failed; /* what the failure of an item leads to */
} list_row;

static tsr_status list_body(lexer *lex, buffer *out, const list_row *row)
{
    TSR_TRY(lex_expect(lex, row->open));
    buffer_char(out, row->open);
    if (!lex_is(lex, row->close)) {
        const char *before = "";
        do {
            buffer_string(out, before);
            before = ", ";
            if (row->item(lex, out) < 0) {
                return diag_follow_up(lex->ctx, lex_here(lex), "%s", row->failed);
            }
        } while (lex_accept(lex, ','));
    }
    buffer_char(out, row->close);
    return lex_expect(lex, row->close);
}

/* `{"x", "y":(1)2}` */
static tsr_status axis_list_body(lexer *lex, buffer *out)
{
    static const list_row row = {
        '{', '}', axis_body,
        "failed to parse axis list which is expected to be an `ArrayRef<AxisRefAttr>`"};
    return list_body(lex, out, &row);
}

static tsr_status axis_lists_body(lexer *lex, buffer *out)
{
    static const list_row row = {'[', ']', axis_list_body,
                                 "failed to parse Sdy_ListOfAxisRefLists parameter 'value' which "
                                 "is to be a `::llvm::ArrayRef<AxisRefListAttr>`"};
    return list_body(lex, out, &row);
}

static tsr_status name_body(lexer *lex, buffer *out)
{
    slice name;
    TSR_TRY(lex_string(lex, &name));
    buffer_quoted_bytes(out, name.data, name.size);
    return TSR_OK;
}

/* Names of axes, without parts. */
static tsr_status manual_axes_body(lexer *lex, buffer *out)
{
    static const list_row row = {'{', '}', name_body,
                                 "failed to parse Sdy_ManualAxes parameter 'value' which is to be "
                                 "a `::llvm::ArrayRef<StringAttr>`"};
    return list_body(lex, out, &row);
}

/* `{"b"}: 0->2`; its axes are never empty. */
static tsr_status all_to_all_body(lexer *lex, buffer *out)
{
    static const list_row row = {'{', '}', axis_body,
                                 "failed to parse Sdy_AllToAllParamAttr parameter 'axes' which is "
                                 "to be a `::llvm::ArrayRef<AxisRefAttr>`"};
    int64_t source = 0;
    int64_t target = 0;
    const lexer before = *lex;
    const size_t at = lex->text->at;
    if (lex_accept(lex, '{') && lex_is(lex, '}')) {
        (void)axis_body(lex, out);
        return diag_follow_up(lex->ctx, lex_here(lex), "%s", row.failed);
    }
    *lex = before;
    lex->text->at = at;
    TSR_TRY(list_body(lex, out, &row));
    TSR_TRY(lex_expect(lex, ':'));
    TSR_TRY(lex_integer(lex, &source));
    TSR_TRY(lex_expect_arrow(lex));
    TSR_TRY(lex_integer(lex, &target));
    buffer_format(out, ": %lld->%lld", (long long)source, (long long)target);
    return TSR_OK;
}

static tsr_status all_to_alls_body(lexer *lex, buffer *out)
{
    static const list_row row = {'[', ']', all_to_all_body,
                                 "failed to parse Sdy_AllToAllParamList parameter 'value' which is "
                                 "to be a `::llvm::ArrayRef<AllToAllParamAttr>`"};
    return list_body(lex, out, &row);
}

static tsr_status dimension_body(lexer *lex, buffer *out)
{
    dim_text dim;
    TSR_TRY(dim_text_read(lex, TSR_READ_PROGRAM, &dim));
    dim_text_print(out, &dim);
    return TSR_OK;
}

/* One row for each attribute: its mnemonic and how its body is read into canonical text. */
static const struct {
    const char *name;
    body_reader body;
} rows[SDY_ATTR_COUNT] = {
    [SDY_MESH] = {"mesh", mesh_body},
    [SDY_SHARDING] = {"sharding", sharding_body},
    [SDY_SHARDING_PER_VALUE] = {"sharding_per_value", NULL},
    [SDY_RULE] = {"op_sharding_rule", rule_body},
    [SDY_EDGES] = {"propagation_edges", edges_body},
    [SDY_AXIS_REF] = {"axis_ref", axis_body},
    [SDY_MESH_AXIS] = {"mesh_axis", mesh_axis_body},
    [SDY_SUB_AXIS_INFO] = {"sub_axis_info", sub_axis_body},
    [SDY_DIMENSION_SHARDING] = {"dimension_sharding", dimension_body},
    [SDY_MANUAL_AXES] = {"manual_axes", manual_axes_body},
    [SDY_AXIS_REF_LIST] = {"axis_ref_list", axis_list_body},
    [SDY_AXIS_REF_LISTS] = {"list_of_axis_ref_lists", axis_lists_body},
    [SDY_ALL_TO_ALL_PARAM] = {"all_to_all_param", all_to_all_body},
    [SDY_ALL_TO_ALL_PARAMS] = {"all_to_all_param_list", all_to_alls_body},
};

const char *sdy_attr_name(sdy_attr kind)
{
    return rows[kind].name;
}

/* ---- reading ---- */

/* The end of `<..>` at the current token; 0 when it has aliases, or no end on its line. */
static size_t angles_end(const parser *ps)
{
    const char *data = ps->text.data;
    int depth = 0;
    for (size_t at = ps->lex.current.at; at < ps->text.size; at++) {
        switch (data[at]) {
        case '<':
            depth++;
            break;
        case '>':
            if (data[at - 1] != '-' && --depth == 0) {
                return at + 1;
            }
            break;
        case '#':
        case '\\':
        case '\n':
            return 0;
        default:
            break;
        }
    }
    return 0;
}

static tsr_status read_text(parser *ps, sdy_attr kind, uint32_t *out)
{
    buffer text = buffer_new(ps->scratch);
    const char *body = NULL;
    TSR_TRY(rows[kind].body(&ps->lex, &text));
    TSR_TRY(buffer_finish(ps->ctx, &text, &body));
    return attr_of_text(ps->program, ATTR_SDY, (int)kind, 0, body, text.size, out);
}

/*
 * The same shardings and rules come again and again. One that is written as it prints is found by
 * its text, and needs no reading.
 */
static tsr_status read_body(parser *ps, sdy_attr kind, uint32_t *out)
{
    const size_t end = at_kind(ps, '<') ? angles_end(ps) : 0;
    if (end != 0) {
        const size_t start = ps->lex.current.at;
        const uint32_t known =
            attr_find_text(ps->program, ATTR_SDY, (int)kind, ps->text.data + start, end - start);
        if (known != 0) {
            lex_move(&ps->lex, end);
            *out = known;
            return TSR_OK;
        }
    }
    return read_text(ps, kind, out);
}

static tsr_status read_sharding_item(parser *ps, int row, uint32_t *out)
{
    return read_stripped_sdy(ps, (sdy_attr)row, out);
}

tsr_status read_sharding_list(parser *ps, uint32_t *out)
{
    uint32_t *items = NULL;
    size_t count = 0;
    TSR_TRY(read_bracketed(ps, read_sharding_item, SDY_SHARDING, &items, &count));
    return attr_sharding_list(ps->program, items, count, out);
}

static tsr_status read_per_value(parser *ps, uint32_t *out)
{
    TSR_TRY(expect(ps, '<', "expected '<'"));
    if (read_sharding_list(ps, out) < 0) {
        return diag_follow_up(ps->ctx, lex_here(&ps->lex),
                              "failed to parse Sdy_TensorShardingPerValue parameter 'shardings' "
                              "which is to be a `::llvm::ArrayRef<TensorShardingAttr>`");
    }
    return expect(ps, '>', "expected '>'");
}

tsr_status read_sdy_body(parser *ps, sdy_attr kind, uint32_t *out)
{
    return kind == SDY_SHARDING_PER_VALUE ? read_per_value(ps, out) : read_body(ps, kind, out);
}

tsr_status read_stripped_sdy(parser *ps, sdy_attr kind, uint32_t *out)
{
    if (!at_kind(ps, TOKEN_HASH)) {
        return kind == SDY_SHARDING_PER_VALUE ? read_sharding_list(ps, out)
                                              : read_sdy_body(ps, kind, out);
    }
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_attr(ps, out));
    if (!attr_is(ps->program, *out, ATTR_SDY) || program_attr(ps->program, *out)->row != kind) {
        return error_at(ps, at, "invalid kind of attribute specified");
    }
    return TSR_OK;
}

/* ---- printing ---- */

static void print_shardings(printer *pr, const attr_head *attr)
{
    put_char(pr, '[');
    for (uint32_t i = 0; i < attr->count; i++) {
        put(pr, i > 0 ? ", " : "");
        print_sdy_body(pr, program_attr(pr->program, attr_list(attr)[i]));
    }
    put_char(pr, ']');
}

void print_sdy_body(printer *pr, const attr_head *attr)
{
    if (attr->row == SDY_SHARDING_PER_VALUE) {
        print_shardings(pr, attr);
    } else {
        put_bytes(pr, attr_text(attr), attr->count);
    }
}

void print_sdy_attr(printer *pr, const attr_head *attr)
{
    const bool is_list = attr->row == SDY_SHARDING_PER_VALUE;
    const bool is_wrapped = is_list || attr_text(attr)[0] == '<';
    put(pr, is_wrapped ? "#sdy." : "#sdy<");
    put(pr, rows[attr->row].name);
    put(pr, is_list ? "<" : "");
    print_sdy_body(pr, attr);
    put(pr, is_list || !is_wrapped ? ">" : "");
}
