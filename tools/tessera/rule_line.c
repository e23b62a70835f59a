/*
 * The rule of an op as a line of a program writes it, with all its attributes and regions: the line
 * becomes a program of its own, whose arguments are the line's operands, and the pass that gives
 * every op its rule is run on that.
 */
#include <ctype.h>
#include <string.h>

#include <tessera/pass.h>
#include <tessera/program.h>

#include "buffer.h"
#include "command.h"
#include "rule_op.h"

enum { MAX_VALUES = 64 };

/* The parts of a line. */
struct op_line {
    struct session *session;
    const char *op; /* after `%r =` */
    const char *operands[MAX_VALUES];
    size_t num_operands;
    const char *types[MAX_VALUES]; /* of operands; fewer: the last one is of all that follow */
    size_t num_types;
    const char *results; /* the types, with commas */
};

bool rule_line_is(const char *text)
{
    const char *op = strchr(text, '=');
    const char *start = text[0] == '%' && op != NULL ? op + 1 : text;
    start += strspn(start, " \"");
    const size_t length =
        strspn(start, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
    return memchr(start, '.', length) != NULL && isalpha((unsigned char)start[0]);
}

/* How many bytes a value's name has, with its percent sign. */
static size_t name_length(const char *text)
{
    size_t length = 1;
    while (isalnum((unsigned char)text[length]) || text[length] == '_') {
        length++;
    }
    return length;
}

/* The depth of brackets after a character; the end of an arrow is none. */
static int64_t depth_after(int64_t depth, const char *at)
{
    const bool arrow = *at == '>' && (depth == 0 || at[-1] == '-');
    depth += strchr("([{<", *at) != NULL;
    return depth - (strchr(")]}>", *at) != NULL && !arrow);
}

/* The colon before the types: the last one outside of brackets. */
static const char *find_types(const char *text)
{
    const char *found = NULL;
    int64_t depth = 0;
    for (const char *at = text; *at != '\0'; at++) {
        found = *at == ':' && depth == 0 ? at : found;
        depth = depth_after(depth, at);
    }
    return found;
}

/* Notes the values of the line; those of its regions are not its operands. */
static int find_operands(struct op_line *line, const char *end)
{
    int64_t braces = 0;
    for (const char *at = line->op; at < end; at++) {
        braces += (*at == '{') - (*at == '}');
        if (*at == '%' && braces == 0) {
            if (line->num_operands == MAX_VALUES) {
                return complain("more than %d operands", MAX_VALUES);
            }
            const size_t length = name_length(at);
            line->operands[line->num_operands++] =
                session_format(line->session, "%.*s", (int)length, at);
            at += length - 1;
        }
    }
    return EXIT_FINE;
}

/* Splits types at the commas outside of brackets; parentheses around all of them are dropped. */
static void split_types(struct op_line *line, const char *from, const char *to)
{
    int64_t depth = 0;
    while (from < to && isspace((unsigned char)*from)) {
        from++;
    }
    while (to > from && isspace((unsigned char)to[-1])) {
        to--;
    }
    if (from < to && *from == '(' && to[-1] == ')') {
        from++;
        to--;
    }
    for (const char *at = from; at <= to && line->num_types < MAX_VALUES; at++) {
        if (at == to || (*at == ',' && depth == 0)) {
            if (at > from) {
                line->types[line->num_types++] =
                    session_format(line->session, "%.*s", (int)(at - from), from);
            }
            from = at + 1;
        } else {
            depth = depth_after(depth, at);
        }
    }
}

/* The arrow between the types of operands and of results, outside of brackets; NULL for none. */
static const char *find_arrow(const char *text)
{
    int64_t depth = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (depth == 0 && at[0] == '-' && at[1] == '>') {
            return at;
        }
        depth = depth_after(depth, at);
    }
    return NULL;
}

static int read_line(struct op_line *line, const char *text)
{
    const char *equals = strchr(text, '=');
    line->op = text[0] == '%' && equals != NULL ? equals + 1 : text;
    const char *types = find_types(line->op);
    if (types == NULL) {
        return complain(
            "the line of an op must end in its types: stablehlo.abs %%a : tensor<4xf32>");
    }
    const char *arrow = find_arrow(types + 1);
    split_types(line, types + 1, arrow != NULL ? arrow : types + strlen(types));
    line->results = arrow != NULL         ? arrow + 2
                    : line->num_types > 0 ? line->types[line->num_types - 1]
                                          : "";
    if (line->num_types == 0 && line->num_operands > 0) {
        return complain("the types of the operands are missing after the colon");
    }
    return find_operands(line, types);
}

/* Whether an operand is the first of its name: it is an argument once. */
static bool is_first(const struct op_line *line, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (strcmp(line->operands[i], line->operands[index]) == 0) {
            return false;
        }
    }
    return true;
}

/* The line in a function of its own; its result is not returned, so that there may be several. */
static const char *make_program(const struct op_line *line)
{
    struct buffer text = {.session = line->session};
    bool any = false;
    buffer_add(&text, "func.func @main(");
    for (size_t i = 0; i < line->num_operands; i++) {
        const size_t type = i < line->num_types ? i : line->num_types - 1;
        if (is_first(line, i)) {
            buffer_add(&text, "%s%s: %s", any ? ", " : "", line->operands[i], line->types[type]);
            any = true;
        }
    }
    size_t results = 1;
    int64_t depth = 0;
    for (const char *at = line->results; *at != '\0'; at++) {
        const int64_t inside = line->results[strspn(line->results, " ")] == '(' ? 1 : 0;
        results += *at == ',' && depth == inside;
        depth = depth_after(depth, at);
    }
    buffer_add(&text, ") {\n  %%rule_result");
    if (results > 1) {
        buffer_add(&text, ":%zu", results);
    }
    buffer_add(&text, " = %s\n  return\n}\n", line->op);
    return text.data;
}

/* The text of the first rule in a program. */
static const char *find_rule(struct session *session, const char *program)
{
    static const char head[] = "#sdy.op_sharding_rule<";
    const char *start = strstr(program, head);
    int64_t depth = 0;
    for (const char *at = start; at != NULL && *at != '\0'; at++) {
        const bool arrow = *at == '>' && at[-1] == '-';
        depth += (*at == '<') - (*at == '>' && !arrow);
        if (*at == '>' && !arrow && depth == 0) {
            return session_format(session, "%.*s", (int)(at + 1 - start), start);
        }
    }
    return NULL;
}

int rule_line_read(struct session *session, const char *text, const tsr_rule **out)
{
    struct op_line line = {.session = session, .results = ""};
    const char *printed = NULL;
    tsr_program *program = NULL;
    const int code = read_line(&line, text);
    if (code != EXIT_FINE) {
        return code;
    }
    const tsr_text source = tsr_text_of("<op>", make_program(&line));
    const tsr_pass *pass = tsr_pass_find("sdy-populate-op-sharding-rules");
    tsr_option_value *values = session_alloc(session, pass->num_options, sizeof *values);
    for (size_t i = 0; i < pass->num_options; i++) {
        values[i].is_given = strcmp(pass->options[i].name, "as-xla") == 0;
        values[i].number = 1;
    }
    const tsr_pass_options options = {pass->options, pass->num_options, values};
    tsr_status status = tsr_program_read(session->ctx, &source, 0, &program);
    if (status >= 0) {
        status = tsr_pass_run(session->ctx, program, pass, &options);
    }
    if (status >= 0) {
        status = tsr_program_to_text(session->ctx, session->arena, program, 0, &printed);
    }
    const char *rule = status >= 0 ? find_rule(session, printed) : NULL;
    if (program != NULL) {
        tsr_program_destroy(program);
    }
    if (status < 0) {
        return session_fail(session, status);
    }
    if (rule == NULL) {
        return complain("this op has no sharding rule: axes do not propagate through it");
    }
    status = tsr_rule_parse(session->ctx, session->arena, rule, out);
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
}
