/* `tessera redistribute`: what moves between two layouts of a tensor, and how fast. */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "layout_input.h"
#include "timing.h"
#include "utf8.h"

enum { DEFAULT_TIMES = 5, MAX_TIMES = 1000 };

/* What the command line says. */
struct redistribute_options {
    const char *mesh;
    const char *shape;
    const char *from;
    const char *to;
    const char *times;
    bool plan_only;
    bool processes;
    bool json;
    double timeout;
};

/* One step of the plan, to be shown. */
struct step_line {
    tsr_step step;
    const char *axes; /* "" when nothing changes, or the meshes differ */
};

/* The two layouts, and what is known before anything moves. */
struct redistribution {
    const struct redistribute_options *options;
    tsr_shape shape;
    int64_t times;
    const tsr_sharding *from;
    const tsr_sharding *to;
    const char *from_text;
    const char *to_text;
    const tsr_plan *plan;
    struct step_line *steps;
    int64_t ranks;
    tsr_plan_totals bytes;
};

static const struct argp_option option_rows[] = {
    {"mesh", 'm', "MESH", 0, "mesh of both layouts: " MESH_HELP, 0},
    {"shape", 's', "SHAPE", 0, "shape and element type, 1024x1024xf32 or f32[1024,1024]", 0},
    {"from", 'f', "LAYOUT", 0, "source layout", 0},
    {"to", 't', "LAYOUT", 0, "destination layout", 0},
    {"plan", 'p', NULL, 0, "print the plan without executing it", 0},
    {"processes", 'P', NULL, 0, "use forked processes as ranks instead of threads", 0},
    {"times", 'n', "COUNT", 0, "number of runs; the median is printed (default: 5)", 0},
    {"timeout", 'w', "SECONDS", 0, "seconds that a rank waits for the others (default: 60)", 0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    {0},
};

static const char doc[] =
    "Redistributes a tensor from one layout to another, with one rank for each device of the mesh, "
    "checks every element, and prints the bytes moved and the time relative to a plain copy of "
    "each rank's part. Ranks are threads; under mpirun they are its processes.\v" LAYOUT_FORMS;

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct redistribute_options *options = state->input;
    char *end = NULL;
    switch (key) {
    case 'm':
        options->mesh = argument;
        return 0;
    case 's':
        options->shape = argument;
        return 0;
    case 'f':
        options->from = argument;
        return 0;
    case 't':
        options->to = argument;
        return 0;
    case 'p':
        options->plan_only = true;
        return 0;
    case 'P':
        options->processes = true;
        return 0;
    case 'n':
        options->times = argument;
        return 0;
    case 'w':
        options->timeout = strtod(argument, &end);
        if (!(options->timeout > 0) || !isfinite(options->timeout) || *end != '\0') {
            argp_error(state, "--timeout must be a number of seconds above 0, got: %s", argument);
        }
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_END:
        if (options->shape == NULL || options->from == NULL || options->to == NULL) {
            argp_error(state, "--shape, --from and --to are required");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int read_numbers(struct session *session, struct redistribution *r)
{
    const char *wrong = shape_parse(session, r->options->shape, &r->shape);
    if (wrong != NULL) {
        return complain("--shape %s: %s", r->options->shape, wrong);
    }
    for (size_t i = 0; i < r->shape.rank; i++) {
        if (r->shape.extents[i] == TSR_UNKNOWN) {
            return complain("--shape %s: unknown extents are not supported", r->options->shape);
        }
    }
    if (!r->shape.has_dtype) {
        return complain("--shape %s: give an element type, as in 4x8xf32", r->options->shape);
    }
    const char *times = r->options->times;
    r->times = DEFAULT_TIMES;
    if ((times != NULL && !number_parse(times, &r->times)) || r->times < 1 ||
        r->times > MAX_TIMES) {
        return complain("--times must be 1 to %d, got: %s", MAX_TIMES, r->options->times);
    }
    return EXIT_FINE;
}

static int read_layouts(struct session *session, struct redistribution *r)
{
    struct layout_input input = {.session = session};
    int code = layout_mesh(&input, r->options->mesh);
    if (code == EXIT_FINE) {
        code = layout_read(&input, "--from", r->options->from, &r->shape, &r->from);
    }
    if (code == EXIT_FINE) {
        code = layout_read(&input, "--to", r->options->to, &r->shape, &r->to);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    r->ranks = tsr_mesh_num_devices(tsr_sharding_mesh(r->from));
    tsr_status status =
        tsr_sharding_print(session->ctx, session->arena, r->from, TSR_PRINT_BARE, &r->from_text);
    if (status == TSR_OK) {
        status =
            tsr_sharding_print(session->ctx, session->arena, r->to, TSR_PRINT_BARE, &r->to_text);
    }
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}

static tsr_status describe_steps(struct session *session, struct redistribution *r)
{
    const size_t count = tsr_plan_num_steps(r->plan);
    r->steps = tsr_arena_alloc(session->arena, count * sizeof *r->steps);
    tsr_status status = r->steps != NULL ? TSR_OK : TSR_ERR_NOMEM;
    for (size_t i = 0; status == TSR_OK && i < count; i++) {
        tsr_step *step = &r->steps[i].step;
        status = tsr_plan_step(session->ctx, r->plan, i, NULL, step);
        if (status == TSR_OK) {
            status = tsr_axes_print(session->ctx, session->arena, tsr_sharding_mesh(r->from),
                                    step->axes, step->num_axes, &r->steps[i].axes);
        }
    }
    return status;
}

static tsr_status make_plan(struct session *session, struct redistribution *r)
{
    const tsr_geometry *before = NULL;
    const tsr_geometry *after = NULL;
    tsr_status status = tsr_geometry_create(session->ctx, session->arena, r->from, r->shape.rank,
                                            r->shape.extents, &before);
    if (status == TSR_OK) {
        status = tsr_geometry_create(session->ctx, session->arena, r->to, r->shape.rank,
                                     r->shape.extents, &after);
    }
    if (status == TSR_OK) {
        status =
            tsr_plan_create(session->ctx, session->arena, before, after, r->shape.dtype, &r->plan);
    }
    if (status == TSR_OK) {
        status = tsr_plan_total(session->ctx, r->plan, &r->bytes);
    }
    return status == TSR_OK ? describe_steps(session, r) : status;
}

/* What an element is, by its index: any bits, of as many bytes as it has. */
struct bits_of {
    const tsr_shape *shape;
    size_t bytes;
    int64_t wrong;
};

static uint64_t bits_at(const int64_t *index, const struct bits_of *b)
{
    uint64_t at = 0;
    for (size_t i = 0; i < b->shape->rank; i++) {
        at = at * (uint64_t)b->shape->extents[i] + (uint64_t)index[i];
    }
    at = (at + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return at ^ at >> 29;
}

static void set_bits(const int64_t *index, void *element, void *state)
{
    const struct bits_of *b = state;
    const uint64_t bits = bits_at(index, b);
    for (size_t i = 0; i < b->bytes; i++) {
        ((unsigned char *)element)[i] = (unsigned char)(bits >> 8 * (i % 8));
    }
}

static void compare_bits(const int64_t *index, void *element, void *state)
{
    struct bits_of *b = state;
    const uint64_t bits = bits_at(index, b);
    for (size_t i = 0; i < b->bytes; i++) {
        if (((unsigned char *)element)[i] != (unsigned char)(bits >> 8 * (i % 8))) {
            b->wrong++;
            return;
        }
    }
}

/* The result over all ranks. */
struct outcome {
    int64_t wrong; /* elements; -1 when they were not compared */
    double move;   /* seconds, the median of the slowest rank's */
    double copy;   /* of as many bytes as each rank holds before */
};

/* The state of one rank. */
struct rank_work {
    tsr_comm *world;
    const struct redistribution *r;
    tsr_tensor *src;
    tsr_tensor *dst;
    char *memory; /* room for a copy of the rank's part */
    size_t bytes;
};

static tsr_status move_once(void *state)
{
    const struct rank_work *w = state;
    return tsr_redistribute_into(w->dst, w->src);
}

static tsr_status copy_once(void *state)
{
    const struct rank_work *w = state;
    memcpy(w->memory, tsr_tensor_data(w->src), w->bytes);
    return TSR_OK;
}

static tsr_status compare(struct rank_work *w, bool pending, int64_t *wrong)
{
    struct bits_of bits = {&w->r->shape, (size_t)tsr_dtype_item_bytes(w->r->shape.dtype), 0};
    int64_t all = 0;
    if (pending) {
        *wrong = -1;
        return TSR_OK;
    }
    tsr_tensor_visit(w->dst, compare_bits, &bits);
    const tsr_view src = {&bits.wrong, TSR_I64, 0, NULL, NULL};
    const tsr_view dst = {&all, TSR_I64, 0, NULL, NULL};
    const tsr_status status = tsr_comm_all_reduce(w->world, TSR_REDUCE_SUM, &src, &dst);
    *wrong = all;
    return status;
}

static tsr_status work(struct rank_work *w, struct outcome *out)
{
    const struct redistribution *r = w->r;
    size_t pending = 0;
    (void)tsr_sharding_unreduced(r->from, &pending);
    struct bits_of bits = {&r->shape, (size_t)tsr_dtype_item_bytes(r->shape.dtype), 0};
    const tsr_tensor_spec before = {r->from, r->shape.dtype, r->shape.rank, r->shape.extents};
    const tsr_tensor_spec after = {r->to, r->shape.dtype, r->shape.rank, r->shape.extents};
    tsr_status status = tsr_tensor_create(w->world, &before, &w->src);
    if (status == TSR_OK) {
        status = tsr_tensor_create(w->world, &after, &w->dst);
    }
    if (status == TSR_OK && pending == 0) {
        tsr_tensor_fill(w->src, set_bits, &bits);
    }
    if (status == TSR_OK) {
        status = timing_median(w->world, r->times, move_once, w, &out->move);
    }
    if (status == TSR_OK) {
        status = compare(w, pending > 0, &out->wrong);
    }
    w->bytes = status == TSR_OK ? timing_part_bytes(w->src) : 0;
    w->memory = malloc(w->bytes > 0 ? w->bytes : 1);
    if (status == TSR_OK) {
        status = w->memory != NULL ? timing_median(w->world, r->times, copy_once, w, &out->copy)
                                   : TSR_ERR_NOMEM;
    }
    free(w->memory);
    return status;
}

static void print_steps(const struct redistribution *r)
{
    for (size_t i = 0; i < tsr_plan_num_steps(r->plan); i++) {
        const struct step_line *line = &r->steps[i];
        const bool along = line->axes[0] != '\0';
        printf("step %-8zu %s%s%s: %lld bytes, %.3g ms by the shared-memory model\n", i + 1,
               tsr_step_kind_name(line->step.kind), along ? " along " : "", line->axes,
               (long long)line->step.bytes.moved, 1e3 * line->step.seconds);
    }
}

static void print_json_steps(const struct redistribution *r)
{
    fputs(", \"plan\": [", stdout);
    for (size_t i = 0; i < tsr_plan_num_steps(r->plan); i++) {
        const struct step_line *line = &r->steps[i];
        printf("%s{\"kind\": \"%s\", \"axes\": ", i > 0 ? ", " : "",
               tsr_step_kind_name(line->step.kind));
        write_json_string(stdout, line->axes);
        printf(", \"bytes_moved\": %lld, \"most_received\": %lld, \"most_sent\": %lld, "
               "\"seconds\": %.9g}",
               (long long)line->step.bytes.moved, (long long)line->step.bytes.most_received,
               (long long)line->step.bytes.most_sent, line->step.seconds);
    }
    fputs("]", stdout);
}

static void print_table(const struct redistribution *r, const char *ranks, bool shared,
                        const struct outcome *o)
{
    printf("from          %s\n", r->from_text);
    printf("to            %s\n", r->to_text);
    printf("tensor        %s\n", r->options->shape);
    printf("moves         %lld bytes in %zu step%s\n", (long long)r->bytes.moved,
           tsr_plan_num_steps(r->plan), tsr_plan_num_steps(r->plan) == 1 ? "" : "s");
    print_steps(r);
    printf("busiest rank  receives %lld bytes, sends %lld\n", (long long)r->bytes.most_received,
           (long long)r->bytes.most_sent);
    if (o == NULL) {
        return;
    }
    printf("ranks         %lld, %s%s\n", (long long)r->ranks, ranks, shared ? "" : ", by messages");
    if (o->wrong < 0) {
        puts("elements      not compared: a reduction is pending");
    } else {
        printf("elements      %s\n", o->wrong == 0 ? "all correct" : "WRONG");
    }
    printf("time          %.3g ms, %.2f times a copy of each rank's part\n", 1e3 * o->move,
           o->copy > 0 ? o->move / o->copy : 0);
}

static void print_json(const struct redistribution *r, const char *ranks, bool shared,
                       const struct outcome *o)
{
    fputs("{\"from\": ", stdout);
    write_json_string(stdout, r->from_text);
    fputs(", \"to\": ", stdout);
    write_json_string(stdout, r->to_text);
    printf(", \"steps\": %zu, \"bytes_moved\": %lld, \"most_received\": %lld, \"most_sent\": %lld",
           tsr_plan_num_steps(r->plan), (long long)r->bytes.moved,
           (long long)r->bytes.most_received, (long long)r->bytes.most_sent);
    print_json_steps(r);
    if (o != NULL) {
        printf(", \"ranks\": %lld, \"kind\": \"%s\", \"shared_memory\": %s", (long long)r->ranks,
               ranks, shared ? "true" : "false");
        if (o->wrong >= 0) {
            printf(", \"wrong_elements\": %lld", (long long)o->wrong);
        }
        printf(", \"seconds\": %.9g, \"copy_seconds\": %.9g", o->move, o->copy);
    }
    puts("}");
}

static void print(const struct redistribution *r, const char *ranks, bool shared,
                  const struct outcome *o)
{
    (r->options->json ? print_json : print_table)(r, ranks, shared, o);
    fflush(stdout);
}

/* What each rank runs. The first one prints; wrong elements fail all of them. */
static tsr_status run_rank(tsr_comm *world, void *state)
{
    const struct redistribution *r = state;
    struct outcome outcome = {0};
    struct rank_work w = {.world = world, .r = r};
    bool shared = false;
    const char *ranks = tsr_comm_transport(world, &shared);
    tsr_status status = work(&w, &outcome);
    tsr_tensor_release(w.dst);
    tsr_tensor_release(w.src);
    if (status == TSR_OK && tsr_comm_rank(world) == 0) {
        print(r, ranks, shared, &outcome);
    }
    if (status == TSR_ERR_TIMEOUT) {
        const tsr_diagnostic *d = tsr_context_diagnostics(tsr_comm_context(world));
        complain("%s", d != NULL ? d->text : "a rank did not arrive in time");
        tsr_comm_abort(world, EXIT_CHECK_FAILED);
    }
    return status == TSR_OK && outcome.wrong > 0 ? TSR_ERR_INVALID : status;
}

static int redistribute(struct session *session, struct redistribution *r)
{
    int code = read_numbers(session, r);
    if (code == EXIT_FINE) {
        code = read_layouts(session, r);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    tsr_status status = make_plan(session, r);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    if (r->options->plan_only) {
        print(r, NULL, true, NULL);
        return EXIT_FINE;
    }
    const tsr_launch_spec spec = {.num_ranks = r->ranks,
                                  .ranks =
                                      r->options->processes ? TSR_RANKS_PROCESSES : TSR_RANKS_AUTO,
                                  .timeout = r->options->timeout};
    status = tsr_launch(session->ctx, &spec, run_rank, r);
    if (status == TSR_OK) {
        return EXIT_FINE;
    }
    code = session_fail(session, status);
    return status == TSR_ERR_TIMEOUT || status == TSR_ERR_PEER ? EXIT_CHECK_FAILED : code;
}

const struct argp redistribute_argp = {.options = option_rows, .parser = parse_option, .doc = doc};

int redistribute_run(int argc, char **argv)
{
    struct redistribute_options options = {0};
    struct redistribution r = {.options = &options};
    struct session session;
    int code = argp_parse(&redistribute_argp, argc, argv, 0, NULL, &options) == 0 ? EXIT_FINE
                                                                                  : EXIT_BAD_INPUT;
    if (code == EXIT_FINE) {
        code = session_open(&session, COLOUR_AUTO);
    }
    if (code == EXIT_FINE) {
        code = redistribute(&session, &r);
        session_close(&session);
    }
    return code;
}
