/* `tessera plan`: the cheapest steps between two layouts on a topology. */
#include <argp.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "layout_input.h"
#include "plan_output.h"

enum option_key {
    KEY_MESH = 'm',
    KEY_SHAPE = 's',
    KEY_TOPOLOGY = 't',
    KEY_MEMORY = 'M',
    KEY_VOCABULARY = 'v',
    KEY_JSON = 'j',
    KEY_DONATE = 256,
    KEY_ANY_LAYOUT,
    KEY_LIST
};

/* What the command line says. */
struct plan_options {
    const char *mesh;
    const char *shape;
    const char *topology;
    const char *memory;
    const char *ends[2];
    size_t num_ends;
    tsr_route_options route;
    bool json;
    bool list;
};

static const struct argp_option option_rows[] = {
    {"mesh", KEY_MESH, "MESH", 0, "mesh of both layouts: " MESH_HELP, 1},
    {"shape", KEY_SHAPE, "SHAPE", 0, "shape and element type, 1024x1024xf32 or f32[1024,1024]", 1},
    {"topology", KEY_TOPOLOGY, "NAME|FILE", 0,
     "levels of the machine: " TOPOLOGY_HELP " (default: TSR_TOPOLOGY, or host)", 1},
    {"memory", KEY_MEMORY, "BYTES", 0,
     "maximum of live bytes on a device; K, M and G are powers of 1024", 2},
    {"donate", KEY_DONATE, NULL, 0, "free the memory of the source after the first step", 2},
    {"any-layout", KEY_ANY_LAYOUT, NULL, 0,
     "allow layouts between steps with larger parts than both ends", 2},
    {"vocabulary", KEY_VOCABULARY, "WORDS", 0,
     "runtime: all steps; program: collectives of programs (default: runtime)", 2},
    {"json", KEY_JSON, NULL, 0, "print JSON", 3},
    {"list-topologies", KEY_LIST, NULL, 0, "list the presets with the sources of their numbers", 3},
    {0},
};

static const char doc[] =
    "Finds the cheapest sequence of steps from one layout of a tensor to another, and prints bytes "
    "and rounds by level of the topology, time, live memory, the lower bound, and what a direct "
    "step, one collective and the greedy plan would have cost.\v" LAYOUT_FORMS "\n"
    "\n"
    "An axis in parentheses is gathered out of order; a later step restores the order. Times are "
    "those of the cost model, from the latencies and bandwidths of the topology.\n"
    "\n"
    "Examples:\n"
    "  tessera plan -m x=2,y=8 -s 4096x4096xf32 -t gpu-pod \"P(('x','y'))\" \"P()\"\n"
    "  tessera plan --list-topologies\n"
    "\n"
    "Exit status: 0 fine, 2 bad usage or input, 3 no sequence of steps obeys the limits.";

static error_t parse_vocabulary(const char *text, struct argp_state *state,
                                struct plan_options *options)
{
    if (strcmp(text, "runtime") == 0) {
        options->route.vocabulary = TSR_VOCABULARY_RUNTIME;
    } else if (strcmp(text, "program") == 0) {
        options->route.vocabulary = TSR_VOCABULARY_PROGRAM;
    } else {
        argp_error(state, "--vocabulary must be runtime or program, got: %s", text);
    }
    return 0;
}

static error_t parse_end(struct argp_state *state, struct plan_options *options)
{
    const bool complete = options->shape != NULL && options->num_ends == 2;
    if (!complete && !options->list) {
        argp_error(state, "--shape and two layouts, FROM and TO, are required");
    }
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct plan_options *options = state->input;
    switch (key) {
    case KEY_MESH:
        options->mesh = argument;
        return 0;
    case KEY_SHAPE:
        options->shape = argument;
        return 0;
    case KEY_TOPOLOGY:
        options->topology = argument;
        return 0;
    case KEY_MEMORY:
        options->memory = argument;
        return 0;
    case KEY_VOCABULARY:
        return parse_vocabulary(argument, state, options);
    case KEY_DONATE:
        options->route.donated = true;
        return 0;
    case KEY_ANY_LAYOUT:
        options->route.any_layout = true;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_LIST:
        options->list = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->num_ends == 2) {
            argp_error(state, "two layouts are planned, got a third: %s", argument);
        }
        options->ends[options->num_ends++] = argument;
        return 0;
    case ARGP_KEY_END:
        return parse_end(state, options);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int read_shape(struct session *session, struct plan_options *options, tsr_shape *shape)
{
    const char *wrong = shape_parse(session, options->shape, shape);
    if (wrong != NULL) {
        return complain("--shape %s: %s", options->shape, wrong);
    }
    for (size_t i = 0; i < shape->rank; i++) {
        if (shape->extents[i] == TSR_UNKNOWN) {
            return complain("--shape %s: unknown extents are not supported", options->shape);
        }
    }
    if (!shape->has_dtype) {
        return complain("--shape %s: give an element type, as in 4x8xf32", options->shape);
    }
    if (options->memory != NULL &&
        (!bytes_parse(options->memory, &options->route.memory) || options->route.memory < 1)) {
        return complain("--memory must be a number of bytes above 0, such as 16M, got: %s",
                        options->memory);
    }
    return EXIT_FINE;
}

static int read_layouts(struct session *session, const struct plan_options *options,
                        const tsr_shape *shape, const tsr_sharding **ends)
{
    struct layout_input input = {.session = session};
    int code = layout_mesh(&input, options->mesh);
    if (code == EXIT_FINE) {
        code = layout_read(&input, "FROM", options->ends[0], shape, &ends[0]);
    }
    if (code == EXIT_FINE) {
        code = layout_read(&input, "TO", options->ends[1], shape, &ends[1]);
    }
    return code;
}

static tsr_status find_route(struct session *session, const struct plan_options *options,
                             const tsr_shape *shape, const tsr_sharding *const *ends,
                             const tsr_route **out)
{
    const tsr_geometry *geometries[2] = {NULL, NULL};
    tsr_route_options route = options->route;
    tsr_status status =
        tsr_topology_find(session->ctx, session->arena, options->topology, &route.topology);
    for (size_t i = 0; i < 2 && status == TSR_OK; i++) {
        status = tsr_geometry_create(session->ctx, session->arena, ends[i], shape->rank,
                                     shape->extents, &geometries[i]);
    }
    return status == TSR_OK ? tsr_route_find(session->ctx, session->arena, geometries[0],
                                             geometries[1], shape->dtype, &route, out)
                            : status;
}

static int plan(struct session *session, struct plan_options *options)
{
    tsr_shape shape;
    const tsr_sharding *ends[2] = {NULL, NULL};
    struct plan_view view = {.shape = options->shape};
    int code = read_shape(session, options, &shape);
    if (code == EXIT_FINE) {
        code = read_layouts(session, options, &shape, ends);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    tsr_status status = find_route(session, options, &shape, ends, &view.route);
    if (status == TSR_OK) {
        status =
            tsr_sharding_print(session->ctx, session->arena, ends[0], TSR_PRINT_BARE, &view.from);
    }
    if (status == TSR_OK) {
        status =
            tsr_sharding_print(session->ctx, session->arena, ends[1], TSR_PRINT_BARE, &view.to);
    }
    if (status == TSR_OK) {
        view.mesh = tsr_sharding_mesh(ends[0]);
        view.memory = options->route.memory;
        status = (options->json ? plan_print_json : plan_print_table)(session, &view);
    }
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}

static int list_topologies(void)
{
    for (size_t i = 0; i < tsr_topology_preset_count(); i++) {
        const tsr_topology_preset *preset = tsr_topology_preset_at(i);
        plan_print_wrapped(preset->name, preset->source);
    }
    return EXIT_FINE;
}

const struct argp plan_argp = {
    .options = option_rows, .parser = parse_option, .args_doc = "FROM TO", .doc = doc};

int plan_run(int argc, char **argv)
{
    struct plan_options options = {0};
    struct session session;
    if (argp_parse(&plan_argp, argc, argv, 0, NULL, &options) != 0) {
        return EXIT_BAD_INPUT;
    }
    if (options.list) {
        return list_topologies();
    }
    int code = session_open(&session, COLOUR_AUTO);
    if (code == EXIT_FINE) {
        code = plan(&session, &options);
        session_close(&session);
    }
    return code;
}
