/* `tessera calibrate`: measures redistributions on ranks of this machine, and fits a topology. */
#include "calibrate.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arguments.h"
#include "buffer.h"
#include "command.h"
#include "output.h"
#include "progress.h"
#include "timing.h"
#include "utf8.h"

enum {
    DEFAULT_TIMES = 7,
    MAX_TIMES = 1000,
    DEFAULT_BYTES = 64 << 20,
    MAX_RANKS = 256,
    MIN_BYTES = 1 << 12,
    BYTES_STEP = 4,
    MAX_MEASUREMENTS = 512,
    PRODUCT_SIDE = 512,
    NUM_PRODUCTS = 2
};

enum { KEY_LEVELS = 256, KEY_BYTES, KEY_TIMES, KEY_TIMEOUT };

static const struct argp_option option_rows[] = {
    {"levels", KEY_LEVELS, "LEVELS", 0,
     "levels of the machine, outermost first, with their sizes, such as network=2,host=4 (default: "
     "one level with a rank per core, at least 2)",
     0},
    {"processes", 'P', NULL, 0, "use forked processes as ranks instead of threads", 0},
    {"bytes", KEY_BYTES, "N", 0,
     "bytes of the largest array; K, M and G are powers of 1024 (default: 64M)", 0},
    {"times", KEY_TIMES, "COUNT", 0, "number of runs; the median counts (default: 7)", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "seconds that a rank waits for the others (default: 60)",
     0},
    {"output", 'o', "FILE", 0, "write the topology to a file", 0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    {0},
};

static const char doc[] =
    "Measures this machine, and fits a topology to what it measures: latency and bandwidth of each "
    "level, and the rates at which a device copies, reduces and multiplies.\v"
    "Ranks redistribute arrays of 4 KiB and more at each level, all groups of a level at once, and "
    "over all levels together. The topology fits the measurements at single levels; the residuals "
    "say how far its predictions are off, where the bytes of several levels take their maximum, as "
    "plans assume, or their sum. Run it on an idle machine. TSR_TOPOLOGY=FILE makes plans use the "
    "file. Under mpirun give --levels.\n"
    "\n"
    "Examples:\n"
    "  tessera calibrate --levels threads=2 -o here.json\n"
    "  mpirun -n 8 tessera calibrate --levels network=2,host=4 -o cluster.json\n";

struct calibrate_options {
    const char *levels;
    const char *output;
    int64_t bytes;
    int64_t times;
    double timeout;
    bool processes;
    bool json;
};

/* One array before and after a redistribution that is measured. */
struct layouts {
    const tsr_sharding *from;
    const tsr_sharding *to;
    int64_t shape[2];
};

/* What ranks write; in memory that forked processes share. */
struct results {
    double seconds[MAX_MEASUREMENTS];
    double products[NUM_PRODUCTS];
};

static const tsr_dtype product_types[NUM_PRODUCTS] = {TSR_F32, TSR_F64};

struct calibration {
    const struct calibrate_options *options;
    const tsr_mesh *mesh; /* an axis for each level */
    size_t num_levels;
    int64_t sizes[TSR_MAX_LEVELS];
    int64_t ranks;
    struct measurement *list;
    struct layouts *layouts;
    size_t count;
    struct results *results;
    tsr_level levels[TSR_MAX_LEVELS];
    tsr_flop_rate rates[NUM_PRODUCTS];
    const tsr_topology *topology;
};

static const char *const kind_names[] = {"slice", "all-gather", "all-to-all", "reduce-scatter"};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct calibrate_options *options = state->input;
    char *end = NULL;
    switch (key) {
    case KEY_LEVELS:
        options->levels = argument;
        return 0;
    case 'P':
        options->processes = true;
        return 0;
    case KEY_BYTES:
        if (!bytes_parse(argument, &options->bytes) || options->bytes < MIN_BYTES) {
            argp_error(state,
                       "--bytes must be a number of bytes of at least %d, such as 16M, got: %s",
                       MIN_BYTES, argument);
        }
        return 0;
    case KEY_TIMES:
        if (!number_parse(argument, &options->times) || options->times < 1 ||
            options->times > MAX_TIMES) {
            argp_error(state, "--times must be 1 to %d, got: %s", MAX_TIMES, argument);
        }
        return 0;
    case KEY_TIMEOUT:
        options->timeout = strtod(argument, &end);
        if (!(options->timeout > 0) || !isfinite(options->timeout) || *end != '\0') {
            argp_error(state, "--timeout must be a number of seconds above 0, got: %s", argument);
        }
        return 0;
    case 'o':
        options->output = argument;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s': the command takes options only", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The levels as a mesh, whose ranks are their product. */
static int read_levels(struct session *session, struct calibration *c)
{
    const char *text = c->options->levels;
    if (text == NULL && tsr_launcher_rank() >= 0) {
        return complain("--levels is missing: under mpirun give the levels, such as "
                        "network=2,host=4");
    }
    if (text == NULL) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        text = session_format(session, "%s=%ld", c->options->processes ? "host" : "threads",
                              cores < 2           ? 2
                              : cores < MAX_RANKS ? cores
                                                  : MAX_RANKS);
    }
    const tsr_status status = tsr_mesh_parse(session->ctx, session->arena, text, &c->mesh);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    c->num_levels = tsr_mesh_num_axes(c->mesh);
    c->ranks = tsr_mesh_num_devices(c->mesh);
    if (c->num_levels < 1 || c->num_levels > TSR_MAX_LEVELS || !tsr_mesh_is_iota(c->mesh)) {
        return complain("--levels %s: give 1 to %d levels in the order of the ranks", text,
                        TSR_MAX_LEVELS);
    }
    for (size_t l = 0; l < c->num_levels; l++) {
        c->sizes[l] = tsr_mesh_axis_size(c->mesh, l);
        if (c->sizes[l] < 2) {
            return complain("--levels %s: level %s has size %lld; nothing moves along a level of "
                            "less than 2",
                            text, tsr_mesh_axis_name(c->mesh, l), (long long)c->sizes[l]);
        }
    }
    if (c->ranks > MAX_RANKS) {
        return complain("--levels %s: %lld ranks; the maximum is %d", text, (long long)c->ranks,
                        MAX_RANKS);
    }
    return EXIT_FINE;
}

/* Reads a layout whose `%s` is the axes of a measurement. */
static tsr_status read_layout(struct session *session, const struct calibration *c,
                              const struct measurement *m, const char *format,
                              const tsr_sharding **out)
{
    tsr_axis_ref axes[TSR_MAX_LEVELS];
    const bool all = m->level == c->num_levels;
    const size_t count = all ? c->num_levels : 1;
    const char *names = NULL;
    for (size_t i = 0; i < count; i++) {
        axes[i] = tsr_axis_full(c->mesh, all ? i : m->level);
    }
    const tsr_status status =
        tsr_axes_print(session->ctx, session->arena, c->mesh, axes, count, &names);
    if (status != TSR_OK) {
        return status;
    }
    struct buffer text = {.session = session};
    for (const char *at = format; *at != '\0'; at++) {
        if (*at == '%') {
            buffer_add(&text, "%s", names);
        } else {
            buffer_add(&text, "%c", *at);
        }
    }
    return tsr_sharding_parse(session->ctx, session->arena, c->mesh, text.data, out);
}

/* Adds a measurement of an array of about this many bytes; both extents divide by the ranks. */
static tsr_status add_measurement(struct session *session, struct calibration *c,
                                  enum measured_kind kind, size_t level, int64_t bytes)
{
    static const char *const layouts[MEASURED_KINDS][2] = {
        [MEASURED_SLICE] = {"[{}, {}]", "[{%}, {}]"},
        [MEASURED_ALL_GATHER] = {"[{%}, {}]", "[{}, {}]"},
        [MEASURED_ALL_TO_ALL] = {"[{%}, {}]", "[{}, {%}]"},
        [MEASURED_REDUCE_SCATTER] = {"[{}, {}], unreduced={%}", "[{%}, {}]"}};
    struct measurement *m = &c->list[c->count];
    struct layouts *l = &c->layouts[c->count];
    const double side = sqrt((double)bytes / (double)tsr_dtype_item_bytes(TSR_F32));
    const int64_t extent = c->ranks * (int64_t)fmax(1, round(side / (double)c->ranks));
    *m = (struct measurement){
        .kind = kind, .level = level, .bytes = extent * extent * tsr_dtype_item_bytes(TSR_F32)};
    *l = (struct layouts){.shape = {extent, extent}};
    calibrate_count(m, c->num_levels, c->sizes);
    tsr_status status = read_layout(session, c, m, layouts[kind][0], &l->from);
    if (status == TSR_OK) {
        status = read_layout(session, c, m, layouts[kind][1], &l->to);
    }
    c->count++;
    return status;
}

/* Every kind at each level, and over all of them where there are several; slices once. */
static tsr_status list_measurements(struct session *session, struct calibration *c)
{
    const size_t last = c->num_levels > 1 ? c->num_levels : c->num_levels - 1;
    tsr_status status = TSR_OK;
    c->list = session_alloc(session, MAX_MEASUREMENTS, sizeof *c->list);
    c->layouts = session_alloc(session, MAX_MEASUREMENTS, sizeof *c->layouts);
    for (int64_t bytes = MIN_BYTES; bytes <= c->options->bytes; bytes *= BYTES_STEP) {
        if (c->count + MEASURED_KINDS * (last + 1) > MAX_MEASUREMENTS) {
            break;
        }
        status = add_measurement(session, c, MEASURED_SLICE, c->num_levels, bytes);
        for (size_t level = 0; level <= last && status == TSR_OK; level++) {
            for (int kind = MEASURED_ALL_GATHER; kind < MEASURED_KINDS && status == TSR_OK;
                 kind++) {
                status = add_measurement(session, c, (enum measured_kind)kind, level, bytes);
            }
        }
        if (status != TSR_OK || bytes > INT64_MAX / BYTES_STEP) {
            break;
        }
    }
    return status;
}

/* The tensors of a run. */
struct moved {
    tsr_tensor *src;
    tsr_tensor *dst;
};

static tsr_status move(void *state)
{
    const struct moved *m = state;
    return tsr_redistribute_into(m->dst, m->src);
}

static tsr_status measure(tsr_comm *world, const struct calibration *c, size_t index)
{
    const struct layouts *l = &c->layouts[index];
    const tsr_tensor_spec before = {l->from, TSR_F32, 2, l->shape};
    const tsr_tensor_spec after = {l->to, TSR_F32, 2, l->shape};
    struct moved m = {0};
    double seconds = 0;
    tsr_status status = tsr_tensor_create(world, &before, &m.src);
    if (status == TSR_OK) {
        status = tsr_tensor_create(world, &after, &m.dst);
    }
    if (status == TSR_OK) {
        /* Memory that nothing has written is not read from memory. */
        memset(tsr_tensor_data(m.src), 0, timing_part_bytes(m.src));
        status = timing_median(world, c->options->times, move, &m, &seconds);
    }
    if (status == TSR_OK && tsr_comm_rank(world) == 0) {
        c->results->seconds[index] = fmax(seconds, 1e-9);
    }
    tsr_tensor_release(m.dst);
    tsr_tensor_release(m.src);
    return status;
}

static tsr_status multiply(void *state)
{
    tsr_tensor *product = NULL;
    const tsr_status status = tsr_matmul(state, state, &product);
    tsr_tensor_release(product);
    return status;
}

/* Operations a second in a product that every rank computes by itself. */
static tsr_status measure_product(tsr_comm *world, const struct calibration *c, size_t index)
{
    static const int64_t shape[2] = {PRODUCT_SIDE, PRODUCT_SIDE};
    const tsr_tensor_spec spec = {c->layouts[0].from, product_types[index], 2, shape};
    tsr_tensor *matrix = NULL;
    double seconds = 0;
    tsr_status status = tsr_ones(world, &spec, &matrix);
    if (status == TSR_OK) {
        status = timing_median(world, c->options->times, multiply, matrix, &seconds);
    }
    if (status == TSR_OK && tsr_comm_rank(world) == 0) {
        c->results->products[index] = 2 * pow(PRODUCT_SIDE, 3) / fmax(seconds, 1e-9);
    }
    tsr_tensor_release(matrix);
    return status;
}

static tsr_status run_rank(tsr_comm *world, void *state)
{
    const struct calibration *c = state;
    tsr_status status = TSR_OK;
    for (size_t i = 0; i < c->count && status == TSR_OK; i++) {
        status = measure(world, c, i);
    }
    for (size_t i = 0; i < NUM_PRODUCTS && status == TSR_OK; i++) {
        status = measure_product(world, c, i);
    }
    return status;
}

/* Runs all measurements and copies what the ranks wrote. */
static int run(struct session *session, struct calibration *c)
{
    const tsr_launch_spec spec = {.num_ranks = c->ranks,
                                  .ranks =
                                      c->options->processes ? TSR_RANKS_PROCESSES : TSR_RANKS_AUTO,
                                  .timeout = c->options->timeout};
    c->results =
        mmap(NULL, sizeof *c->results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->results == MAP_FAILED) {
        return complain("out of memory");
    }
    progress_stage("measuring");
    const tsr_status status = tsr_launch(session->ctx, &spec, run_rank, c);
    progress_stage(NULL);
    for (size_t i = 0; i < c->count; i++) {
        c->list[i].seconds = c->results->seconds[i];
    }
    for (size_t i = 0; i < NUM_PRODUCTS; i++) {
        c->rates[i] = (tsr_flop_rate){product_types[i], calibrate_digits(c->results->products[i])};
    }
    munmap(c->results, sizeof *c->results);
    if (status == TSR_OK) {
        return EXIT_FINE;
    }
    const int code = session_fail(session, status);
    return status == TSR_ERR_TIMEOUT || status == TSR_ERR_PEER ? EXIT_CHECK_FAILED : code;
}

static int fit(struct session *session, struct calibration *c)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    tsr_topology_spec spec = {.name = "calibrated",
                              .num_levels = c->num_levels,
                              .memory = pages > 0 && page > 0 ? pages * page / c->ranks : 0,
                              .num_rates = NUM_PRODUCTS,
                              .rates = c->rates};
    for (size_t l = 0; l < c->num_levels; l++) {
        c->levels[l].name = tsr_mesh_axis_name(c->mesh, l);
        c->levels[l].size = c->sizes[l];
    }
    calibrate_fit(c->list, c->count, &spec, c->levels);
    const tsr_status status =
        tsr_topology_create(session->ctx, session->arena, &spec, &c->topology);
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}

/* The smallest arrays that residuals are also given for: those that plans are mostly about. */
enum { LARGE = 1 << 20 };

static const char *level_name(const struct calibration *c, size_t level)
{
    return level < c->num_levels ? tsr_mesh_axis_name(c->mesh, level) : "all";
}

static void print_table(const struct calibration *c)
{
    static const char *const rules[] = {"the maximum", "the sum"};
    const tsr_topology_spec spec = tsr_topology_facts(c->topology);
    printf("%-14s %-10s %12s %12s %12s %7s\n", "what", "level", "bytes", "measured us",
           "predicted us", "ratio");
    for (size_t i = 0; i < c->count; i++) {
        const struct measurement *m = &c->list[i];
        const double predicted = calibrate_predict(&spec, m, LEVELS_MAX);
        printf("%-14s %-10.10s %12lld %12.2f %12.2f %7.2f\n", kind_names[m->kind],
               level_name(c, m->level), (long long)m->bytes, 1e6 * m->seconds, 1e6 * predicted,
               predicted / m->seconds);
    }
    puts("\nFactors between predicted and measured times, where the bytes of levels take");
    for (int rule = LEVELS_MAX; rule <= LEVELS_SUM; rule++) {
        const struct residuals all =
            calibrate_residuals(&spec, c->list, c->count, 0, (enum level_rule)rule);
        const struct residuals large =
            calibrate_residuals(&spec, c->list, c->count, LARGE, (enum level_rule)rule);
        printf("  %-12s median %.2f, worst %.2f; of 1 MiB and more %.2f, %.2f\n", rules[rule],
               all.median, all.worst, large.median, large.worst);
    }
}

static void print_json(const struct calibration *c, const char *topology)
{
    const tsr_topology_spec spec = tsr_topology_facts(c->topology);
    printf("{\"topology\": %s, \"measurements\": [", topology);
    for (size_t i = 0; i < c->count; i++) {
        const struct measurement *m = &c->list[i];
        printf("%s\n  {\"kind\": \"%s\", \"level\": ", i > 0 ? "," : "", kind_names[m->kind]);
        write_json_string(stdout, level_name(c, m->level));
        printf(", \"bytes\": %lld, \"seconds\": %.9g, \"max\": %.9g, \"sum\": %.9g}",
               (long long)m->bytes, m->seconds, calibrate_predict(&spec, m, LEVELS_MAX),
               calibrate_predict(&spec, m, LEVELS_SUM));
    }
    fputs("], \"residuals\": {", stdout);
    for (int rule = LEVELS_MAX; rule <= LEVELS_SUM; rule++) {
        const struct residuals all =
            calibrate_residuals(&spec, c->list, c->count, 0, (enum level_rule)rule);
        const struct residuals large =
            calibrate_residuals(&spec, c->list, c->count, LARGE, (enum level_rule)rule);
        printf("%s\"%s\": {\"median\": %.4g, \"worst\": %.4g, \"large_median\": %.4g, "
               "\"large_worst\": %.4g}",
               rule > 0 ? ", " : "", rule == LEVELS_MAX ? "max" : "sum", all.median, all.worst,
               large.median, large.worst);
    }
    puts("}}");
}

/* Prints what was measured; writes the topology to its file, or prints it too. */
static int report(struct session *session, const struct calibration *c)
{
    const char *topology = NULL;
    const tsr_status status =
        tsr_topology_print(session->ctx, session->arena, c->topology, &topology);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    if (c->options->json) {
        print_json(c, topology);
    } else {
        print_table(c);
    }
    if (c->options->output != NULL) {
        return tsr_launcher_rank() > 0
                   ? EXIT_FINE
                   : output_write(c->options->output, topology, strlen(topology));
    }
    if (!c->options->json) {
        printf("\n%s", topology);
    }
    return EXIT_FINE;
}

static int calibrate(struct session *session, struct calibration *c)
{
    int code = read_levels(session, c);
    if (code == EXIT_FINE) {
        const tsr_status status = list_measurements(session, c);
        code = status == TSR_OK ? EXIT_FINE : session_fail(session, status);
    }
    if (code == EXIT_FINE) {
        code = run(session, c);
    }
    if (code == EXIT_FINE) {
        code = fit(session, c);
    }
    return code == EXIT_FINE ? report(session, c) : code;
}

const struct argp calibrate_argp = {.options = option_rows, .parser = parse_option, .doc = doc};

int calibrate_run(int argc, char **argv)
{
    struct calibrate_options options = {.bytes = DEFAULT_BYTES, .times = DEFAULT_TIMES};
    struct calibration c = {.options = &options};
    struct session session;
    int code = argp_parse(&calibrate_argp, argc, argv, 0, NULL, &options) == 0 ? EXIT_FINE
                                                                               : EXIT_BAD_INPUT;
    if (code == EXIT_FINE) {
        code = session_open(&session, COLOUR_AUTO);
    }
    if (code == EXIT_FINE) {
        code = calibrate(&session, &c);
        session_close(&session);
    }
    return code;
}
