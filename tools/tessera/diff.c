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
    "shardings differ, with the annotations to which that is due."
    "\vThe versions have the same functions and ops, constraints aside. The exit code is 1 when "
    "shardings differ.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct diff_options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->num_files == 2) {
            argp_error(state, "two files only, got also: %s", argument);
        }
        options->files[options->num_files++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->num_files < 2) {
            argp_error(state, "which two files?");
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
    const tsr_status status =
        tsr_ir_tensor_sharding(e->session->ctx, e->program, tensor, &sharding);
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
static const char *causes_text(const struct explained *e, tsr_ir_tensor tensor, size_t dim)
{
    struct buffer text = {.session = e->session};
    uint32_t last = 0;
    for (uint32_t i = tsr_provenance_first(&e->why, tensor); i != 0; i = e->why.steps[i].next) {
        const tsr_axis_step *step = &e->why.steps[i];
        if (step->dim == dim && step->annotation != last) {
            const int64_t line = annotation_line(e, step->annotation);
            buffer_add(&text, "%s%s", last != 0 ? ", " : "", annotation_name(e, step->annotation));
            if (line > 0) {
                buffer_add(&text, " (line %" PRId64 ")", line);
            }
            last = step->annotation;
        }
    }
    for (uint32_t i = first_conflict(e, tensor); i != 0 && last == 0; i = next_conflict(e, i)) {
        const tsr_conflict *c = &e->why.conflicts[i - 1];
        if (c->dim == dim) {
            const uint32_t annotation =
                c->annotation != 0 ? c->annotation : e->why.steps[c->winner].annotation;
            last = annotation;
            buffer_add(&text, "kept out by %s", annotation_name(e, annotation));
        }
    }
    return text.data != NULL ? text.data : "";
}

static void print_text(const struct comparison *c, const tsr_ir_tensor tensors[2], size_t dim,
                       const char *const axes[2], bool is_first)
{
    if (is_first) {
        printf("%s (line %" PRId64 " | %" PRId64 ")\n", tensor_name(&c->sides[0], tensors[0]),
               tensor_line(&c->sides[0], tensors[0]), tensor_line(&c->sides[1], tensors[1]));
    }
    printf("  dim %zu: {%s} | {%s}\n", dim, axes[0], axes[1]);
    for (int i = 0; i < 2; i++) {
        const char *causes = causes_text(&c->sides[i], tensors[i], dim);
        if (causes[0] != '\0') {
            printf("      %s: %s\n", i == 0 ? "first" : "second", causes);
        }
    }
}

static void print_json(const struct comparison *c, const tsr_ir_tensor tensors[2], size_t dim,
                       const char *const axes[2])
{
    static const char *const sides[] = {"first", "second"};
    printf("%s\n  {\"value\": ", c->differing > 1 ? "," : "");
    write_json_string(stdout, tensor_name(&c->sides[0], tensors[0]));
    printf(", \"dim\": %zu", dim);
    for (int i = 0; i < 2; i++) {
        printf(", \"%s\": {\"line\": %" PRId64 ", \"axes\": ", sides[i],
               tensor_line(&c->sides[i], tensors[i]));
        write_json_string(stdout, axes[i]);
        fputs(", \"causes\": ", stdout);
        write_json_string(stdout, causes_text(&c->sides[i], tensors[i], dim));
        fputs("}", stdout);
    }
    fputs("}", stdout);
}

static int compare_tensors(struct comparison *c, tsr_ir_tensor a, tsr_ir_tensor b)
{
    const tsr_ir_tensor tensors[2] = {a, b};
    size_t rank = 0;
    const int64_t *shape = NULL;
    bool is_first = true;
    const tsr_program *p = c->sides[0].program;
    if (!tsr_ir_type_shape(p, tsr_ir_tensor_type(p, a), &rank, &shape)) {
        return EXIT_FINE;
    }
    for (size_t d = 0; d < rank; d++) {
        const char *axes[2];
        for (int i = 0; i < 2; i++) {
            const int code = axes_text(&c->sides[i], tensors[i], d, &axes[i]);
            if (code != EXIT_FINE) {
                return code;
            }
        }
        if (strcmp(axes[0], axes[1]) == 0) {
            continue;
        }
        c->differing++;
        if (c->json) {
            print_json(c, tensors, d, axes);
        } else {
            print_text(c, tensors, d, axes, is_first);
        }
        is_first = false;
    }
    return EXIT_FINE;
}

/* ---- the walk ---- */

static bool is_constraint(const tsr_program *p, tsr_ir_op op)
{
    return strcmp(tsr_ir_op_name(p, op), "sdy.sharding_constraint") == 0;
}

/* This op or the next one in its block that is no annotation; 0: none. */
static tsr_ir_op skip_annotations(const tsr_program *p, tsr_ir_op op)
{
    while (op != 0 && (is_constraint(p, op) || strcmp(tsr_ir_op_name(p, op), "sdy.mesh") == 0)) {
        op = tsr_ir_op_next(p, op);
    }
    return op;
}

static int differ_at(const struct comparison *c, tsr_ir_op a, tsr_ir_op b)
{
    const tsr_program *p = c->sides[0].original;
    const tsr_program *q = c->sides[1].original;
    return complain("the programs differ in more than annotations: line %" PRId64 " has %s, line "
                    "%" PRId64 " of the other has %s",
                    place_of_op(p, a).line, a != 0 ? tsr_ir_op_name(p, a) : "nothing more",
                    place_of_op(q, b).line, b != 0 ? tsr_ir_op_name(q, b) : "nothing more");
}

static int compare_blocks(struct comparison *c, tsr_ir_block a, tsr_ir_block b);

static int compare_ops(struct comparison *c, tsr_ir_op a, tsr_ir_op b)
{
    const tsr_program *p = c->sides[0].original;
    const tsr_program *q = c->sides[1].original;
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
    const tsr_program *p = c->sides[0].original;
    const tsr_program *q = c->sides[1].original;
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
    const tsr_ir_op mains[2] = {c->sides[0].main, c->sides[1].main};
    int code = EXIT_FINE;
    const size_t count = mains[0] != 0 ? num_results_of(c->sides[0].original, mains[0]) : 0;
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
        code = compare_ops(&c, tsr_program_module(c.sides[0].original),
                           tsr_program_module(c.sides[1].original));
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
