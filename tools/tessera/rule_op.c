#include "rule_op.h"

#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"

enum { MAX_TENSORS = 8, MAX_DIMS = 32 };

/* The parts of an op's text. */
struct op_parts {
    struct session *session;
    const char *name;
    const char *equation; /* of einsum */
    tsr_extents operands[MAX_TENSORS];
    size_t num_operands;
    bool has_result;
    tsr_extents result; /* after `to` */
    size_t dims[MAX_DIMS];
    size_t num_dims;
};

typedef tsr_status op_rule(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                           const tsr_rule **out);

static tsr_status of_matmul(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                            const tsr_rule **out)
{
    return tsr_rule_matmul(ctx, arena, p->operands[0], p->operands[1], out);
}

static tsr_status of_einsum(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                            const tsr_rule **out)
{
    return tsr_rule_einsum(ctx, arena, p->equation, p->operands, p->num_operands, out);
}

static tsr_status of_reduce(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                            const tsr_rule **out)
{
    return tsr_rule_reduce(ctx, arena, p->operands[0], p->dims, p->num_dims, out);
}

static tsr_status of_transpose(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                               const tsr_rule **out)
{
    return tsr_rule_transpose(ctx, arena, p->operands[0], p->dims, out);
}

static tsr_status of_broadcast(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                               const tsr_rule **out)
{
    return tsr_rule_broadcast(ctx, arena, p->operands[0], p->result,
                              p->num_dims > 0 ? p->dims : NULL, out);
}

static tsr_status of_reshape(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                             const tsr_rule **out)
{
    return tsr_rule_reshape(ctx, arena, p->operands[0], p->result, out);
}

static tsr_status of_slice(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                           const tsr_rule **out)
{
    return tsr_rule_slice(ctx, arena, p->operands[0], p->result, out);
}

static tsr_status of_pad(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                         const tsr_rule **out)
{
    return tsr_rule_pad(ctx, arena, p->operands[0], p->result, out);
}

static tsr_status of_concatenate(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                                 const tsr_rule **out)
{
    return tsr_rule_concatenate(ctx, arena, p->operands, p->num_operands, p->dims[0], out);
}

static tsr_status of_sort(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                          const tsr_rule **out)
{
    return tsr_rule_sort(ctx, arena, p->num_operands, p->operands[0], p->dims[0], out);
}

static tsr_status of_cumulative(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                                const tsr_rule **out)
{
    return tsr_rule_cumulative(ctx, arena, p->operands[0], p->dims[0], out);
}

static tsr_status of_embedding(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                               const tsr_rule **out)
{
    return tsr_rule_embedding(ctx, arena, p->operands[0], p->operands[1], out);
}

static tsr_status of_attention(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                               const tsr_rule **out)
{
    return tsr_rule_attention(ctx, arena, p->operands[0], p->operands[1], p->operands[2], out);
}

static tsr_status of_elementwise(const struct op_parts *p, tsr_context *ctx, tsr_arena *arena,
                                 const tsr_rule **out)
{
    tsr_extents result = {0};
    for (size_t i = 0; i < p->num_operands; i++) {
        result.rank = p->operands[i].rank > result.rank ? p->operands[i].rank : result.rank;
    }
    int64_t *sizes = session_alloc(p->session, result.rank, sizeof *sizes);
    bool *seen = session_alloc(p->session, result.rank, sizeof *seen);
    for (size_t i = 0; i < p->num_operands; i++) {
        const size_t offset = result.rank - p->operands[i].rank;
        for (size_t d = 0; d < p->operands[i].rank; d++) {
            const int64_t size = p->operands[i].sizes[d];
            int64_t *most = &sizes[offset + d];
            *most = seen[offset + d] && *most != 1 ? *most : size; /* a size of 1 repeats */
            seen[offset + d] = true;
        }
    }
    result.sizes = sizes;
    return tsr_rule_broadcasting(ctx, arena, p->operands, p->num_operands, result, out);
}

/* What an op takes: so many operands (0: one or more), a shape after `to`, dimensions. */
struct op_row {
    const char *name;
    op_rule *rule;
    size_t operands;
    bool to;
    bool dims;
    bool elementwise;
};

/* Ops whose arguments are more than shapes; elementwise ones come from the library. */
static const struct op_row rows[] = {
    {"matmul", of_matmul, 2, false, false, false},
    {"einsum", of_einsum, 0, false, false, false},
    {"reduce", of_reduce, 1, false, true, false},
    {"sum", of_reduce, 1, false, true, false},
    {"transpose", of_transpose, 1, false, true, false},
    {"broadcast", of_broadcast, 1, true, false, false},
    {"reshape", of_reshape, 1, true, false, false},
    {"slice", of_slice, 1, true, false, false},
    {"pad", of_pad, 1, true, false, false},
    {"concatenate", of_concatenate, 0, false, true, false},
    {"sort", of_sort, 0, false, true, false},
    {"cumulative", of_cumulative, 1, false, true, false},
    {"embedding", of_embedding, 2, false, false, false},
    {"attention", of_attention, 3, false, false, false},
    {"elementwise", of_elementwise, 0, false, false, true},
};

/* An elementwise op of the library's table, by its name or by that of its call. */
static bool find_elementwise(const char *name, struct op_row *out)
{
    for (size_t i = 0; i < tsr_op_count(); i++) {
        const tsr_op_info op = tsr_op_at(i);
        const bool found = strcmp(op.name, name) == 0 ||
                           (op.call != NULL && strcmp(op.call + strlen("tsr_"), name) == 0);
        if (op.is_elementwise && found) {
            *out = (struct op_row){op.name, of_elementwise, op.num_operands, false, false, true};
            return true;
        }
    }
    return false;
}

static bool find_row(const char *name, struct op_row *out)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            *out = rows[i];
            return true;
        }
    }
    return find_elementwise(name, out);
}

static int read_shape(struct op_parts *p, const char *text, tsr_extents *out)
{
    tsr_shape shape;
    const char *wrong = shape_parse(p->session, text, &shape);
    if (wrong != NULL) {
        return complain("%s: the shape '%s': %s", p->name, text, wrong);
    }
    for (size_t i = 0; i < shape.rank; i++) {
        if (shape.extents[i] == TSR_UNKNOWN) {
            return complain("%s: the shape '%s' has an unknown extent", p->name, text);
        }
    }
    *out = (tsr_extents){shape.rank, shape.extents};
    return EXIT_FINE;
}

/* `2x4,4x8`, in place. */
static int read_operands(struct op_parts *p, char *text)
{
    char *rest = NULL;
    for (char *one = strtok_r(text, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
        if (p->num_operands == MAX_TENSORS) {
            return complain("%s: more than %d operands", p->name, MAX_TENSORS);
        }
        int code = read_shape(p, one, &p->operands[p->num_operands++]);
        if (code != EXIT_FINE) {
            return code;
        }
    }
    return EXIT_FINE;
}

/* `dims=2,0,1`, in place. */
static int read_dims(struct op_parts *p, char *text)
{
    char *rest = NULL;
    for (char *one = strtok_r(text, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
        char *end = NULL;
        const long long value = strtoll(one, &end, 10);
        if (*end != '\0' || value < 0 || p->num_dims == MAX_DIMS) {
            return complain("%s: dims= takes numbers from 0, up to %d of them, got: %s", p->name,
                            MAX_DIMS, one);
        }
        p->dims[p->num_dims++] = (size_t)value;
    }
    return EXIT_FINE;
}

static int read_word(struct op_parts *p, char *word, bool *to)
{
    if (strcmp(word, "to") == 0) {
        *to = true;
        return EXIT_FINE;
    }
    if (strncmp(word, "dims=", 5) == 0) {
        return read_dims(p, word + 5);
    }
    if (*to) {
        p->has_result = true;
        *to = false;
        return read_shape(p, word, &p->result);
    }
    if (strcmp(p->name, "einsum") == 0 && p->equation == NULL) {
        p->equation = word;
        return EXIT_FINE;
    }
    return read_operands(p, word);
}

/* How many dims= there may be. */
static int check_dims(const struct op_parts *p, const struct op_row *row)
{
    const bool one =
        row->rule == of_sort || row->rule == of_cumulative || row->rule == of_concatenate;
    if (row->dims && p->num_dims == 0) {
        return complain("%s needs dims=", p->name);
    }
    if (one && p->num_dims != 1) {
        return complain("%s takes one dimension in dims=, got %zu", p->name, p->num_dims);
    }
    if (!row->dims && row->rule != of_broadcast && p->num_dims > 0) {
        return complain("%s takes no dims=", p->name);
    }
    return EXIT_FINE;
}

static int check_parts(const struct op_parts *p, const struct op_row *row)
{
    if (row->operands > 0 ? p->num_operands != row->operands : p->num_operands == 0) {
        return complain("%s takes %zu shape%s, got %zu", p->name,
                        row->operands > 0 ? row->operands : 1,
                        row->operands == 0   ? " or more"
                        : row->operands == 1 ? ""
                                             : "s",
                        p->num_operands);
    }
    if (row->to != p->has_result) {
        return complain(row->to ? "%s needs the result's shape: 'to 2x4'"
                                : "%s takes no shape after 'to'",
                        p->name);
    }
    const int code = check_dims(p, row);
    if (code != EXIT_FINE) {
        return code;
    }
    if (strcmp(p->name, "transpose") == 0 && p->num_dims != p->operands[0].rank) {
        return complain("transpose needs as many dims= as the operand has: %zu",
                        p->operands[0].rank);
    }
    if (strcmp(p->name, "broadcast") == 0 && p->num_dims > 0 &&
        p->num_dims != p->operands[0].rank) {
        return complain("broadcast needs as many dims= as the operand has: %zu",
                        p->operands[0].rank);
    }
    const bool alike = row->rule == of_sort;
    for (size_t i = 1; alike && i < p->num_operands; i++) {
        const tsr_extents *a = &p->operands[0];
        const tsr_extents *b = &p->operands[i];
        if (a->rank != b->rank || memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) != 0) {
            return complain("%s: the operands have different shapes", p->name);
        }
    }
    return EXIT_FINE;
}

int rule_op_read(struct session *session, const char *op, const tsr_rule **out, bool *elementwise)
{
    const char *start = op + strspn(op, " ");
    *elementwise = false;
    if (*start == '(' || *start == '<' || *start == '#') {
        const tsr_status status = tsr_rule_parse(session->ctx, session->arena, op, out);
        return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
    }
    if (rule_line_is(start)) {
        struct op_row named;
        const char *dot = strchr(start, '.');
        const size_t length = strspn(dot + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
        *elementwise =
            find_elementwise(session_format(session, "%.*s", (int)length, dot + 1), &named);
        return rule_line_read(session, start, out);
    }
    char *text = session_alloc(session, strlen(op) + 1, 1);
    char *rest = NULL;
    memcpy(text, op, strlen(op) + 1);
    struct op_parts p = {.session = session, .name = strtok_r(text, " ", &rest)};
    struct op_row row;
    if (p.name == NULL || !find_row(p.name, &row)) {
        return complain("unknown op '%s'; see --help for the list", p.name != NULL ? p.name : "");
    }
    bool to = false;
    for (char *word = strtok_r(NULL, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        int code = read_word(&p, word, &to);
        if (code != EXIT_FINE) {
            return code;
        }
    }
    int code = check_parts(&p, &row);
    if (code != EXIT_FINE) {
        return code;
    }
    *elementwise = row.elementwise;
    const tsr_status status = row.rule(&p, session->ctx, session->arena, out);
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}
