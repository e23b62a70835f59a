/* `tessera diff`: which shardings differ between two annotated versions of a program, and why. */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "command.h"
#include "explain.h"
#include "utf8.h"

struct diff_options {
    const char *files[2];
    size_t num_files;
    bool json;
};

static const struct argp_option option_rows[] = {
    {"json", 'j', NULL, 0, "print JSON", 0},
    {0},
};

static const char doc[] =
    "Propagates two versions of a program that differ in annotations, and prints the tensors whose "
    "shardings differ, with the annotations that cause it.\vBoth versions must have the same "
    "functions and ops; constraints may differ. Exit code: 0 if all shardings are equal, 1 if some "
    "differ.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct diff_options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->num_files == 2) {
            argp_error(state, "more than two files given: %s", argument);
        }
        options->files[options->num_files++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->num_files < 2) {
            argp_error(state, "two files are missing");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Both versions, side by side. */
struct comparison {
    struct explained sides[2];
    bool json;
    size_t differing;
};

/* ---- shardings ---- */

/* The axes of a dimension: `"x", "y":(1)2`; empty without any. */
static int axes_text(const struct explained *e, tsr_ir_tensor tensor, size_t dim, const char **out)
{
    const tsr_sharding *sharding = NULL;
    struct buffer text = {.session = e->session};
    const tsr_status status = tsr_ir_tensor_sharding(
        e->session->ctx, tsr_explanation_program(e->explanation), tensor, &sharding);
    if (status < 0) {
        return session_fail(e->session, status);
    }
    const size_t count = sharding != NULL ? tsr_sharding_dim(sharding, dim)->num_axes : 0;
    for (size_t i = 0; i < count; i++) {
        const tsr_axis_ref axis = tsr_sharding_dim(sharding, dim)->axes[i];
        buffer_add(&text, "%s\"%s\"", i > 0 ? ", " : "",
                   tsr_mesh_axis_name(tsr_sharding_mesh(sharding), (size_t)axis.axis));
        if (axis.is_sub) {
            buffer_add(&text, ":(%" PRId64 ")%" PRId64, axis.pre, axis.size);
        }
    }
    *out = text.data != NULL ? text.data : "";
    return EXIT_FINE;
}

/* The annotations that the axes of a dimension are due to, each once. */
static const char *causes_text(struct session *session, const tsr_tensor_reasons *reasons,
                               size_t dim)
{
    struct buffer text = {.session = session};
    uint32_t last = 0;
    for (size_t i = 0; i < reasons->num_axes; i++) {
        const tsr_annotation_words *a = &reasons->axes[i].annotation;
        if (reasons->axes[i].dim == dim && a->number != last) {
            buffer_add(&text, "%s%s", last != 0 ? ", " : "", a->name);
            if (a->line > 0) {
                buffer_add(&text, " (line %" PRId64 ")", a->line);
            }
            last = a->number;
        }
    }
    for (size_t i = 0; i < reasons->num_conflicts && last == 0; i++) {
        const tsr_conflict_reason *c = &reasons->conflicts[i];
        if (c->dim == dim) {
            const tsr_annotation_words *a =
                c->annotation.number != 0 ? &c->annotation : &c->winner.annotation;
            last = a->number;
            buffer_add(&text, "kept out by %s", a->number != 0 ? a->name : "?");
        }
    }
    return text.data != NULL ? text.data : "";
}

/* A dimension of a tensor whose axes differ. */
struct difference {
    size_t dim;
    const char *axes[2];
    tsr_tensor_reasons reasons[2];
};

static void print_text(const struct comparison *c, const struct difference *d, bool is_first)
{
    if (is_first) {
        printf("%s (line %" PRId64 " | %" PRId64 ")\n", d->reasons[0].tensor, d->reasons[0].line,
               d->reasons[1].line);
    }
    printf("  dim %zu: {%s} | {%s}\n", d->dim, d->axes[0], d->axes[1]);
    for (int i = 0; i < 2; i++) {
        const char *causes = causes_text(c->sides[i].session, &d->reasons[i], d->dim);
        if (causes[0] != '\0') {
            printf("      %s: %s\n", i == 0 ? "first" : "second", causes);
        }
    }
}

static void print_json(const struct comparison *c, const struct difference *d)
{
    static const char *const sides[] = {"first", "second"};
    printf("%s\n  {\"value\": ", c->differing > 1 ? "," : "");
    write_json_string(stdout, d->reasons[0].tensor);
    printf(", \"dim\": %zu", d->dim);
    for (int i = 0; i < 2; i++) {
        printf(", \"%s\": {\"line\": %" PRId64 ", \"axes\": ", sides[i], d->reasons[i].line);
        write_json_string(stdout, d->axes[i]);
        fputs(", \"causes\": ", stdout);
        write_json_string(stdout, causes_text(c->sides[i].session, &d->reasons[i], d->dim));
        fputs("}", stdout);
    }
    fputs("}", stdout);
}

static int find_reasons(const struct explained *e, tsr_ir_tensor tensor, tsr_tensor_reasons *out)
{
    struct session *s = e->session;
    const tsr_explain_style style = {.skip_suggestions = true};
    const tsr_status status =
        tsr_explanation_reasons(s->ctx, s->arena, e->explanation, tensor, &style, out);
    return status < 0 ? session_fail(s, status) : EXIT_FINE;
}

/* Prints the dimensions of a tensor whose axes differ. */
static int compare_dims(struct comparison *c, const tsr_ir_tensor tensors[2], size_t rank)
{
    bool is_first = true;
    for (size_t dim = 0; dim < rank; dim++) {
        struct difference d = {.dim = dim};
        int code = EXIT_FINE;
        for (int i = 0; i < 2 && code == EXIT_FINE; i++) {
            code = axes_text(&c->sides[i], tensors[i], dim, &d.axes[i]);
        }
        if (code == EXIT_FINE && strcmp(d.axes[0], d.axes[1]) == 0) {
            continue;
        }
        for (int i = 0; i < 2 && code == EXIT_FINE; i++) {
            code = find_reasons(&c->sides[i], tensors[i], &d.reasons[i]);
        }
        if (code != EXIT_FINE) {
            return code;
        }
        c->differing++;
        if (c->json) {
            print_json(c, &d);
        } else {
            print_text(c, &d, is_first);
        }
        is_first = false;
    }
    return EXIT_FINE;
}

/* What it takes is given back: many tensors may differ. */
static int compare_tensors(struct comparison *c, tsr_ir_tensor a, tsr_ir_tensor b)
{
    size_t rank = 0;
    const int64_t *shape = NULL;
    const tsr_program *p = tsr_explanation_program(c->sides[0].explanation);
    tsr_arena *arena = c->sides[0].session->arena;
    const tsr_arena_mark mark = tsr_arena_get_mark(arena);
    if (!tsr_ir_type_shape(p, tsr_ir_tensor_type(p, a), &rank, &shape)) {
        return EXIT_FINE;
    }
    const int code = compare_dims(c, (const tsr_ir_tensor[]){a, b}, rank);
    tsr_arena_reset(arena, mark);
    return code;
}

/* ---- the walk ---- */

static bool is_constraint(const tsr_program *p, tsr_ir_op op)
{
    return strcmp(tsr_ir_op_name(p, op), "sdy.sharding_constraint") == 0;
}

/* This op or the next one in its block that is not an annotation; 0: none. */
static tsr_ir_op skip_annotations(const tsr_program *p, tsr_ir_op op)
{
    while (op != 0 && (is_constraint(p, op) || strcmp(tsr_ir_op_name(p, op), "sdy.mesh") == 0)) {
        op = tsr_ir_op_next(p, op);
    }
    return op;
}

static int64_t line_of(const tsr_program *p, tsr_ir_op op)
{
    int64_t line = 0;
    return op != 0 && tsr_ir_op_position(p, op, &line, NULL) ? line : 0;
}

static int differ_at(const struct comparison *c, tsr_ir_op a, tsr_ir_op b)
{
    const tsr_program *p = c->sides[0].program;
    const tsr_program *q = c->sides[1].program;
    return complain("the programs differ in more than annotations: line %" PRId64 " has %s, line "
                    "%" PRId64 " of the other has %s",
                    line_of(p, a), a != 0 ? tsr_ir_op_name(p, a) : "nothing more", line_of(q, b),
                    b != 0 ? tsr_ir_op_name(q, b) : "nothing more");
}

static int compare_blocks(struct comparison *c, tsr_ir_block a, tsr_ir_block b);

static int compare_ops(struct comparison *c, tsr_ir_op a, tsr_ir_op b)
{
    const tsr_program *p = c->sides[0].program;
    const tsr_program *q = c->sides[1].program;
    int code = EXIT_FINE;
    if (strcmp(tsr_ir_op_name(p, a), tsr_ir_op_name(q, b)) != 0 ||
        tsr_ir_op_num_results(p, a) != tsr_ir_op_num_results(q, b) ||
        tsr_ir_op_num_regions(p, a) != tsr_ir_op_num_regions(q, b)) {
        return differ_at(c, a, b);
    }
    for (size_t i = 0; i < tsr_ir_op_num_results(p, a) && code == EXIT_FINE; i++) {
        code = compare_tensors(c, (tsr_ir_tensor){.value = tsr_ir_op_result(p, a, i)},
                               (tsr_ir_tensor){.value = tsr_ir_op_result(q, b, i)});
    }
    for (size_t r = 0; r < tsr_ir_op_num_regions(p, a) && code == EXIT_FINE; r++) {
        const tsr_ir_block x = tsr_ir_region_first_block(p, tsr_ir_op_region(p, a, r));
        const tsr_ir_block y = tsr_ir_region_first_block(q, tsr_ir_op_region(q, b, r));
        if ((x == 0) != (y == 0)) {
            return differ_at(c, a, b);
        }
        code = x != 0 ? compare_blocks(c, x, y) : EXIT_FINE;
    }
    return code;
}

static int compare_blocks(struct comparison *c, tsr_ir_block a, tsr_ir_block b)
{
    const tsr_program *p = c->sides[0].program;
    const tsr_program *q = c->sides[1].program;
    const size_t num_arguments = tsr_ir_block_num_arguments(p, a);
    int code = EXIT_FINE;
    if (num_arguments != tsr_ir_block_num_arguments(q, b)) {
        return differ_at(c, tsr_ir_region_parent(p, tsr_ir_block_parent(p, a)),
                         tsr_ir_region_parent(q, tsr_ir_block_parent(q, b)));
    }
    for (size_t i = 0; i < num_arguments && code == EXIT_FINE; i++) {
        code = compare_tensors(c, (tsr_ir_tensor){.value = tsr_ir_block_argument(p, a, i)},
                               (tsr_ir_tensor){.value = tsr_ir_block_argument(q, b, i)});
    }
    tsr_ir_op x = skip_annotations(p, tsr_ir_block_first_op(p, a));
    tsr_ir_op y = skip_annotations(q, tsr_ir_block_first_op(q, b));
    while (code == EXIT_FINE && x != 0 && y != 0) {
        code = compare_ops(c, x, y);
        x = skip_annotations(p, tsr_ir_op_next(p, x));
        y = skip_annotations(q, tsr_ir_op_next(q, y));
    }
    return code == EXIT_FINE && (x != 0 || y != 0) ? differ_at(c, x, y) : code;
}

static int compare_results(struct comparison *c)
{
    const tsr_ir_op mains[2] = {tsr_program_main(c->sides[0].program),
                                tsr_program_main(c->sides[1].program)};
    int code = EXIT_FINE;
    const size_t count = mains[0] != 0 ? tsr_ir_func_num_results(c->sides[0].program, mains[0]) : 0;
    for (size_t i = 0; i < count && code == EXIT_FINE && mains[1] != 0; i++) {
        code = compare_tensors(c, (tsr_ir_tensor){.func = mains[0], .index = i},
                               (tsr_ir_tensor){.func = mains[1], .index = i});
    }
    return code;
}

static int run(struct session *session, const struct diff_options *o)
{
    static const struct annotations none = {0};
    struct comparison c = {.json = o->json};
    int code = EXIT_FINE;
    for (int i = 0; i < 2 && code == EXIT_FINE; i++) {
        code = explained_open(session, o->files[i], &none, -1, &c.sides[i]);
    }
    if (code == EXIT_FINE) {
        fputs(o->json ? "[" : "", stdout);
        code = compare_ops(&c, tsr_program_module(c.sides[0].program),
                           tsr_program_module(c.sides[1].program));
    }
    if (code == EXIT_FINE) {
        code = compare_results(&c);
        fputs(o->json ? "\n]\n" : "", stdout);
    }
    explained_close(&c.sides[0]);
    explained_close(&c.sides[1]);
    return code == EXIT_FINE && c.differing > 0 ? EXIT_CHECK_FAILED : code;
}

const struct argp diff_argp = {
    .options = option_rows, .parser = parse_option, .args_doc = "A B", .doc = doc};

int diff_run(int argc, char **argv)
{
    struct diff_options options = {0};
    struct session session;
    if (argp_parse(&diff_argp, argc, argv, 0, NULL, &options) != 0) {
        return EXIT_BAD_INPUT;
    }
    int code = session_open(&session, COLOUR_AUTO);
    if (code == EXIT_FINE) {
        code = run(&session, &options);
        session_close(&session);
    }
    return code;
}
