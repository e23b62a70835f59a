#include "annotations.h"

#include "arguments.h"

#include <stdlib.h>
#include <string.h>

#include <tessera/explain.h>

#include "command.h"
#include "layout_input.h"

static error_t add_annotation(struct annotations *a, int key, char *argument,
                              struct argp_state *state)
{
    if (state->next >= state->argc) {
        argp_error(state, "--%s needs a %s and a sharding",
                   key == KEY_ARGUMENT ? "arg" : (key == KEY_RESULT ? "result" : "value"),
                   key == KEY_VALUE ? "name" : "number");
        return ARGP_ERR_UNKNOWN;
    }
    struct annotation *list = realloc(a->list, (a->count + 1) * sizeof *list);
    if (list == NULL) {
        argp_failure(state, EXIT_BAD_INPUT, 0, "out of memory");
        return ARGP_ERR_UNKNOWN;
    }
    a->list = list;
    a->list[a->count++] = (struct annotation){key, argument, state->argv[state->next++]};
    return 0;
}

error_t annotations_parse(struct annotations *a, int key, char *argument, struct argp_state *state)
{
    int64_t until = 0;
    switch (key) {
    case 'j':
        a->json = true;
        return 0;
    case KEY_UNTIL:
        if (!number_parse(argument, &until)) {
            argp_error(state, "--until-priority must be a number from 0 to 2^63-1, got: %s",
                       argument);
        }
        a->until = argument;
        return 0;
    case KEY_MESH:
        a->mesh = argument;
        return 0;
    case KEY_ARGUMENT:
    case KEY_RESULT:
    case KEY_VALUE:
        return add_annotation(a, key, argument, state);
    case ARGP_KEY_ARG:
        if (a->file != NULL) {
            argp_error(state, "more than one file given: %s", argument);
        }
        a->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (a->file == NULL) {
            argp_error(state, "a file is missing; - is standard input");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void annotations_free(struct annotations *a)
{
    free(a->list);
}

/* An argument or result of main by its number. */
static int find_numbered(const struct annotation *a, const tsr_program *p, tsr_ir_tensor *out)
{
    const tsr_ir_op main = tsr_program_main(p);
    char *end = NULL;
    const long long number = strtoll(a->which, &end, 10);
    const bool is_argument = a->key == KEY_ARGUMENT;
    const char *what = is_argument ? "arguments" : "results";
    if (main == 0) {
        return complain("the program has no main function to annotate");
    }
    const tsr_ir_block block = tsr_ir_region_first_block(p, tsr_ir_op_region(p, main, 0));
    const size_t count =
        is_argument ? tsr_ir_block_num_arguments(p, block) : tsr_ir_func_num_results(p, main);
    if (end == a->which || *end != '\0' || number < 0 || (size_t)number >= count) {
        return complain("main has %zu %s, numbered from 0; %s is out of range", count, what,
                        a->which);
    }
    *out = is_argument ? (tsr_ir_tensor){.value = tsr_ir_block_argument(p, block, (size_t)number)}
                       : (tsr_ir_tensor){.func = main, .index = (size_t)number};
    return EXIT_FINE;
}

/* The values of the program as it was read. */
struct named_values {
    const char *const *names;
    size_t count;
};

/* A value by its name; of equal names in several functions the first. */
static int find_named(const struct annotation *a, const struct named_values *named,
                      tsr_ir_tensor *out)
{
    for (tsr_ir_value v = 1; v <= named->count; v++) {
        if (named->names[v] != NULL && strcmp(named->names[v], a->which) == 0) {
            *out = (tsr_ir_tensor){.value = v};
            return EXIT_FINE;
        }
    }
    return complain("unknown value %s", a->which);
}

/* The shape of a tensor of the program; false when its type has none. */
static bool shape_of(const tsr_program *p, tsr_ir_tensor tensor, tsr_shape *out)
{
    *out = (tsr_shape){0};
    return tsr_ir_type_shape(p, tsr_ir_tensor_type(p, tensor), &out->rank, &out->extents);
}

static int apply_one(struct layout_input *input, const struct annotation *a,
                     const struct named_values *named, tsr_program *p)
{
    const char *option = a->key == KEY_ARGUMENT ? "--arg"
                         : a->key == KEY_RESULT ? "--result"
                                                : "--value";
    const tsr_sharding *sharding = NULL;
    tsr_ir_tensor tensor = {0};
    tsr_shape shape;
    int code = a->key == KEY_VALUE ? find_named(a, named, &tensor) : find_numbered(a, p, &tensor);
    if (code == EXIT_FINE) {
        const bool known = shape_of(p, tensor, &shape);
        code = layout_read(input, option, a->sharding, known ? &shape : NULL, &sharding);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    const tsr_status status = tsr_program_annotate(input->session->ctx, p, tensor, sharding);
    return status < 0 ? session_fail(input->session, status) : EXIT_FINE;
}

/* The mesh of layouts that have none: --mesh, or the only one of the program, if there is one. */
static int find_mesh(const struct annotations *a, tsr_program *p, struct layout_input *input)
{
    struct session *s = input->session;
    if (a->mesh != NULL) {
        return layout_mesh(input, a->mesh);
    }
    if (tsr_program_mesh(s->ctx, p, NULL, &input->mesh) < 0) {
        const tsr_diagnostic *why = tsr_context_diagnostics(s->ctx);
        input->no_mesh = session_format(s, "%s", why != NULL ? why->text : "no mesh is given");
        tsr_context_clear(s->ctx);
        input->mesh = NULL;
        return EXIT_FINE;
    }
    /* the program forgets its own when it changes */
    const tsr_status status =
        tsr_mesh_rename(s->ctx, s->arena, input->mesh, tsr_mesh_name(input->mesh), &input->mesh);
    return status < 0 ? session_fail(s, status) : EXIT_FINE;
}

int annotations_apply(struct session *s, const struct annotations *a, tsr_program *p)
{
    struct layout_input input = {.session = s};
    struct named_values named = {.count = tsr_program_num_values(p)};
    if (a->count == 0 && a->mesh == NULL) {
        return EXIT_FINE;
    }
    if (a->count == 0) {
        return complain("--mesh needs --arg, --result or --value");
    }
    tsr_status status = tsr_program_written_names(s->ctx, s->arena, p, &named.names);
    if (status < 0) {
        return session_fail(s, status);
    }
    int code = find_mesh(a, p, &input);
    for (size_t i = 0; i < a->count && code == EXIT_FINE; i++) {
        code = apply_one(&input, &a->list[i], &named, p);
    }
    status = code == EXIT_FINE ? tsr_program_verify(s->ctx, p) : TSR_OK;
    return status < 0 ? session_fail(s, status) : code;
}
