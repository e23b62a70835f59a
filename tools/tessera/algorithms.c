/* `tessera algorithms`: the algorithms of the collectives, their costs, and the choice. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

#include "arguments.h"
#include "buffer.h"
#include "command.h"
#include "session.h"
#include "utf8.h"

enum option_key {
    KEY_RANKS = 'n',
    KEY_BYTES = 'b',
    KEY_OVER = 'o',
    KEY_JSON = 'j',
    KEY_UNORDERED = 256,
    KEY_LINK,
    KEY_TOPOLOGY,
    KEY_LEVEL
};

static const struct argp_option option_rows[] = {
    {"ranks", KEY_RANKS, "N", 0, "size of the group (default: 8)", 1},
    {"bytes", KEY_BYTES, "N", 0,
     "bytes of the whole array, for all-to-all of one rank; K, M and G are powers of 1024 "
     "(default: 1M)",
     1},
    {"over", KEY_OVER, "MEDIUM", 0,
     "print only the algorithms for `shared' memory or for `messages'", 1},
    {"unordered", KEY_UNORDERED, 0, 0, "allow reductions that do not keep group order", 1},
    {"link", KEY_LINK, "A,B,G,D", 0,
     "link costs in seconds: per message, per byte sent, per byte reduced, per byte copied", 1},
    {"topology", KEY_TOPOLOGY, "NAME|FILE", 0, "take the link from a topology: " TOPOLOGY_HELP, 1},
    {"level", KEY_LEVEL, "NAME", 0, "level of the topology (default: the outermost)", 1},
    {"json", KEY_JSON, 0, 0, "print JSON", 2},
    {0}};

static const char doc[] =
    "Lists the algorithms of the collectives: where each is available, whether it reduces in group "
    "order, its cost formula and predicted time, and the default choice.\vIn the formulas n is "
    "--bytes, p is --ranks, a, b, g and d are the four of\n"
    "--link, lg p is rounded up to whole rounds. The environment\n"
    "changes the choice, as in a program:\n"
    "   TSR_ALGORITHMS=all-reduce=shares,broadcast=linear\n"
    "  TSR_UNORDERED=1\n"
    "\n"
    "Examples:\n"
    "  tessera algorithms --ranks 64 --bytes 4K\n"
    "  tessera algorithms --over messages --unordered --json\n"
    "  tessera algorithms --topology gpu-pod --level host\n"
    "\n"
    "Exit status: 0 fine, 2 bad usage or input.";

static const char *const media[] = {
    [TSR_MEDIUM_SHARED] = "shared", [TSR_MEDIUM_MESSAGES] = "messages"};

/* What to show. */
struct request {
    int64_t ranks;
    int64_t bytes;
    bool over[2]; /* by medium */
    bool json;
    bool unordered;
    const tsr_link *link; /* NULL: that of the medium */
    tsr_link given;
    const char *topology;
    const char *level;
};

/* Reads four numbers with commas between them. */
static bool read_link(const char *text, tsr_link *out)
{
    double values[4];
    for (size_t i = 0; i < 4; i++) {
        char *end = NULL;
        values[i] = strtod(text, &end);
        if (end == text || *end != (i < 3 ? ',' : '\0')) {
            return false;
        }
        text = end + 1;
    }
    *out = (tsr_link){values[0], values[1], values[2], values[3]};
    return true;
}

static void parse_over(struct request *request, const char *argument, struct argp_state *state)
{
    bool known = false;
    for (size_t i = 0; i < 2; i++) {
        request->over[i] = strcmp(argument, media[i]) == 0;
        known = known || request->over[i];
    }
    if (!known) {
        argp_error(state, "--over '%s': write shared or messages", argument);
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case KEY_RANKS:
        if (!number_parse(argument, &request->ranks) || request->ranks < 1) {
            argp_error(state, "--ranks must be a number of at least 1, got: '%s'", argument);
        }
        return 0;
    case KEY_BYTES:
        if (!bytes_parse(argument, &request->bytes)) {
            argp_error(state, "--bytes must be a number of bytes such as 4096, 4K or 1M, got: '%s'",
                       argument);
        }
        return 0;
    case KEY_OVER:
        parse_over(request, argument, state);
        return 0;
    case KEY_UNORDERED:
        request->unordered = true;
        return 0;
    case KEY_LINK:
        if (!read_link(argument, &request->given)) {
            argp_error(state, "--link '%s': write four numbers, 1e-5,5e-10,1e-10,1e-10", argument);
        }
        request->link = &request->given;
        return 0;
    case KEY_TOPOLOGY:
        request->topology = argument;
        return 0;
    case KEY_LEVEL:
        request->level = argument;
        return 0;
    case KEY_JSON:
        request->json = true;
        return 0;
    case ARGP_KEY_END:
        if (request->topology != NULL && request->link != NULL) {
            argp_error(state, "--link and --topology exclude each other");
        }
        if (request->level != NULL && request->topology == NULL) {
            argp_error(state, "--level %s needs --topology", request->level);
        }
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s': the command takes options only", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* `12.3 us`, three digits and a unit. */
static const char *format_time(struct session *session, double seconds)
{
    static const struct {
        double least;
        double unit;
        const char *name;
    } units[] = {{1, 1, "s"}, {1e-3, 1e-3, "ms"}, {1e-6, 1e-6, "us"}, {0, 1e-9, "ns"}};
    size_t i = 0;
    while (seconds < units[i].least) {
        i++;
    }
    return session_format(session, "%.3g %s", seconds / units[i].unit, units[i].name);
}

/* A medium with its link, and the algorithms chosen there. */
struct view {
    const struct request *request;
    tsr_medium medium;
    tsr_link link;
    const tsr_algorithm **taken; /* one for each row: of its collective */
    size_t count;
};

static bool is_there(const struct view *view, const tsr_algorithm *a)
{
    return view->medium == TSR_MEDIUM_SHARED ? a->shared : a->messages;
}

static int find_view(struct session *session, const struct request *request, tsr_medium medium,
                     struct view *view)
{
    const char *unordered = getenv("TSR_UNORDERED");
    if (unordered != NULL && unordered[0] != '\0' && strcmp(unordered, "0") != 0 &&
        strcmp(unordered, "1") != 0) {
        return complain("the variable TSR_UNORDERED must be 0 or 1, got: %s", unordered);
    }
    *view = (struct view){.request = request,
                          .medium = medium,
                          .link = request->link != NULL ? *request->link : tsr_link_default(medium),
                          .count = tsr_algorithm_count()};
    const tsr_algorithm_settings settings = {
        .medium = medium,
        .unordered = request->unordered || (unordered != NULL && strcmp(unordered, "1") == 0),
        .link = &view->link,
        .algorithms = getenv("TSR_ALGORITHMS")};
    view->taken = session_alloc(session, view->count, sizeof(*view->taken));
    for (size_t i = 0; i < view->count; i++) {
        tsr_status status =
            tsr_algorithm_choose(session->ctx, &settings, tsr_algorithm_at(i)->collective,
                                 (double)request->bytes, request->ranks, &view->taken[i]);
        if (status != TSR_OK) {
            return session_fail(session, status);
        }
    }
    return EXIT_FINE;
}

static double time_of(const struct view *view, const tsr_algorithm *a)
{
    return tsr_algorithm_cost(a, &view->link, (double)view->request->bytes, view->request->ranks);
}

static void print_view(struct session *session, const struct view *view)
{
    const struct request *r = view->request;
    const char *medium = view->medium == TSR_MEDIUM_SHARED ? "shared memory" : "messages";
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): only views that were found */
    printf("%s, %" PRId64 " ranks, %" PRId64 " bytes\n", medium, r->ranks, r->bytes);
    printf("a %g, b %g, g %g, d %g seconds\n\n", view->link.alpha, view->link.beta,
           view->link.gamma, view->link.delta);
    for (size_t i = 0; i < view->count; i++) {
        const tsr_algorithm *a = tsr_algorithm_at(i);
        const bool first =
            i == 0 || strcmp(tsr_algorithm_at(i - 1)->collective, a->collective) != 0;
        if (first) {
            puts(a->collective);
        }
        if (is_there(view, a)) {
            printf("%c %-12s  %-8s  %-8s  %s\n", view->taken[i] == a ? '*' : ' ', a->name,
                   !a->reduces  ? "-"
                   : a->ordered ? "kept"
                                : "not kept",
                   format_time(session, time_of(view, a)), a->formula);
        }
    }
}

static void write_text(const char *key, const char *text)
{
    printf("\"%s\": ", key);
    write_json_string(stdout, text);
}

static void write_row(const struct view *view, size_t i)
{
    const tsr_algorithm *a = tsr_algorithm_at(i);
    fputs("{", stdout);
    write_text("collective", a->collective);
    fputs(", ", stdout);
    write_text("algorithm", a->name);
    printf(", \"ordered\": %s, \"seconds\": %.17g, \"chosen\": %s, ", a->ordered ? "true" : "false",
           time_of(view, a), view->taken[i] == a ? "true" : "false");
    write_text("formula", a->formula);
    fputs("}", stdout);
}

static void write_view(const struct view *view)
{
    const char *before = "\n     ";
    printf("\n    {\"medium\": \"%s\",\n     \"link\": {\"alpha\": %.17g, \"beta\": %.17g, "
           "\"gamma\": %.17g, \"delta\": %.17g},\n     \"algorithms\": [",
           media[view->medium], view->link.alpha, view->link.beta, view->link.gamma,
           view->link.delta);
    for (size_t i = 0; i < view->count; i++) {
        if (is_there(view, tsr_algorithm_at(i))) {
            fputs(before, stdout);
            write_row(view, i);
            before = ",\n     ";
        }
    }
    fputs("]}", stdout);
}

static void write_json(const struct request *request, const struct view *views, size_t count)
{
    printf("{\n  \"ranks\": %" PRId64 ",\n  \"bytes\": %" PRId64 ",\n  \"media\": [",
           request->ranks, request->bytes);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", stdout);
        write_view(&views[i]);
    }
    puts("\n  ]\n}");
}

static const char legend[] =
    "* marks the choice; then the order of reductions, the time and the formula: n\n"
    "bytes, p ranks, lg p rounds, s bits set in the numbers below p; [] unless p is a\n"
    "power of two. Sources of up to 64 bytes travel in the records at the start of\n"
    "every call with any algorithm. Algorithms out of group order need --unordered.";

/* Everything is known before anything is printed. */
/* Takes the link from a level of the topology, if one is given. */
static int find_link(struct session *session, struct request *request)
{
    const tsr_topology *topology = NULL;
    if (request->topology == NULL) {
        return EXIT_FINE;
    }
    const tsr_status status =
        tsr_topology_find(session->ctx, session->arena, request->topology, &topology);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    const tsr_topology_spec spec = tsr_topology_facts(topology);
    size_t l = 0;
    struct buffer names = {.session = session};
    while (l < spec.num_levels && request->level != NULL &&
           strcmp(spec.levels[l].name, request->level) != 0) {
        buffer_add(&names, "%s%s", l > 0 ? ", " : "", spec.levels[l].name);
        l++;
    }
    if (l == spec.num_levels) {
        return complain("--level %s: the topology %s has the levels %s", request->level,
                        request->topology, names.data);
    }
    const double picosecond = 1e-12;
    request->given = (tsr_link){.alpha = (double)spec.levels[l].latency * picosecond,
                                .beta = 1 / (double)spec.levels[l].bandwidth,
                                .gamma = 1 / (double)spec.reduce_bandwidth,
                                .delta = 1 / (double)spec.copy_bandwidth};
    request->link = &request->given;
    return EXIT_FINE;
}

static int show_algorithms(struct session *session, struct request *request)
{
    struct view views[2] = {0};
    size_t count = 0;
    int code = find_link(session, request);
    if (code != EXIT_FINE) {
        return code;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!request->over[i]) {
            continue;
        }
        code = find_view(session, request, (tsr_medium)i, &views[count++]);
        if (code != EXIT_FINE) {
            return code;
        }
    }
    if (request->json) {
        write_json(request, views, count);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < count; i++) {
        print_view(session, &views[i]);
        putchar('\n');
    }
    puts(legend);
    return EXIT_FINE;
}

const struct argp algorithms_argp = {.options = option_rows, .parser = parse_option, .doc = doc};

int algorithms_run(int argc, char **argv)
{
    struct request request = {.ranks = 8, .bytes = 1 << 20, .over = {true, true}};
    struct session session;
    int code = argp_parse(&algorithms_argp, argc, argv, 0, NULL, &request) == 0 ? EXIT_FINE
                                                                                : EXIT_BAD_INPUT;
    if (code == EXIT_FINE) {
        code = session_open(&session, COLOUR_AUTO);
    }
    if (code == EXIT_FINE) {
        code = show_algorithms(&session, &request);
        session_close(&session);
    }
    return code;
}
