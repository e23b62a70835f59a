/* `tessera rule`: the sharding rule of an op, and what propagates through it. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "layout_input.h"
#include "rule_op.h"
#include "utf8.h"

/* What the command line says. */
struct rule_options {
    const char *op;
    const char *mesh;
    const char *strategy;
    const char **in; /* one for each operand */
    size_t num_in;
    const char **out;
    size_t num_out;
    bool json;
};

/* What comes of it. */
struct rule_facts {
    const tsr_rule *rule;
    const char *text;
    bool elementwise;
    const tsr_mesh *mesh;
    tsr_strategy strategy;
    size_t num_operands;
    size_t num_results;
    const tsr_sharding **before; /* operands, then results; NULL for none */
    const tsr_sharding **after;
    const char *pending; /* the axes; NULL for none */
    tsr_propagation op;
    tsr_decisions decisions;
};

static const struct argp_option option_rows[] = {
    {"mesh", 'm', "MESH", 0, "mesh of the layouts: " MESH_HELP, 0},
    {"in", 'i', "LAYOUT", 0, "layout of the next operand; ? for none", 0},
    {"out", 'o', "LAYOUT", 0, "layout of the next result; ? for none", 0},
    {"strategy", 's', "NAME", 0, "basic, aggressive or most-parallel (default: basic)", 0},
    {"json", 'j', NULL, 0, "print JSON", 0},
    {0},
};

static const char doc[] =
    "Prints the sharding rule of an op. With --mesh and shardings, also prints the propagated "
    "shardings, pending sums and decisions.\vOP is a rule, ([i, k], [k, j])->([i, j]) {i=2, j=8, "
    "k=4} reduction={k}, or an op with the shapes of its operands:\n"
    "  matmul 2x4,4x8              einsum ij,jk->ik 2x4,4x8\n"
    "  add 4x8,8 (or any other elementwise op; shapes may broadcast)\n"
    "  reduce 4x8x2 dims=1         transpose 2x3x4 dims=2,0,1\n"
    "  broadcast 4 to 3x4          reshape 8 to 2x4\n"
    "  slice 8x4 to 3x4            pad 3x4 to 8x4\n"
    "  concatenate 2x3,5x3 dims=0  sort 3x4 dims=1\n"
    "  cumulative 3x4 dims=0       embedding 100x16,2x5\n"
    "  attention 8x5x16,8x7x16,8x7x4\n"
    "or a line of a program, which has every other op with its attributes:\n"
    "  %r = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>\n" LAYOUT_FORMS;

static error_t parse_option(int key, char *argument, struct argp_state *state) /* NOLINT */
{
    struct rule_options *options = state->input;
    switch (key) {
    case 'm':
        options->mesh = argument;
        return 0;
    case 'i':
        options->in[options->num_in++] = argument;
        return 0;
    case 'o':
        options->out[options->num_out++] = argument;
        return 0;
    case 's':
        options->strategy = argument;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->op != NULL) {
            argp_error(state, "more than one op given; quote it as one argument: 'matmul 2x4,4x8'");
        }
        options->op = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "an op or a rule is required");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int check_options(const struct rule_options *o, struct rule_facts *facts)
{
    if (o->strategy != NULL && (!tsr_strategy_find(o->strategy, &facts->strategy) ||
                                facts->strategy == TSR_STRATEGY_CHEAPEST)) {
        return complain("--strategy must be basic, aggressive or most-parallel, got: %s",
                        o->strategy);
    }
    if (o->num_in > facts->num_operands || o->num_out > facts->num_results) {
        return complain("the op has %zu operands and %zu results, got %zu --in and %zu --out",
                        facts->num_operands, facts->num_results, o->num_in, o->num_out);
    }
    return EXIT_FINE;
}

/* Reads the layouts of operands or of results, with the shapes that the rule gives these. */
static int read_layouts(struct layout_input *input, const char *option, const char *const *texts,
                        size_t count, const struct rule_facts *facts, const tsr_sharding **out)
{
    struct session *session = input->session;
    const bool operands = strcmp(option, "--in") == 0;
    for (size_t i = 0; i < count; i++) {
        const tsr_rule_tensor *tensor =
            operands ? tsr_rule_operand(facts->rule, i) : tsr_rule_result(facts->rule, i);
        int64_t *extents = session_alloc(session, tensor->rank, sizeof *extents);
        const tsr_shape shape = {.rank = tensor->rank, .extents = extents};
        if (strcmp(texts[i], "?") == 0) {
            continue;
        }
        const tsr_status status = tsr_rule_shape(session->ctx, facts->rule, tensor, extents);
        const int code = status == TSR_OK ? layout_read(input, option, texts[i], &shape, &out[i])
                                          : session_fail(session, status);
        if (code != EXIT_FINE) {
            return code;
        }
    }
    return EXIT_FINE;
}

static tsr_status find_pending(struct session *session, struct rule_facts *facts)
{
    const tsr_axis_ref *axes = NULL;
    size_t count = 0;
    const tsr_status status = tsr_propagate_pending(session->ctx, session->arena, facts->rule,
                                                    facts->mesh, facts->after, &axes, &count);
    if (status != TSR_OK || count == 0) {
        return status;
    }
    return tsr_axes_print(session->ctx, session->arena, facts->mesh, axes, count, &facts->pending);
}

static int propagate(struct session *session, const struct rule_options *o,
                     struct rule_facts *facts)
{
    const size_t n = facts->num_operands;
    struct layout_input input = {.session = session};
    int code = layout_mesh(&input, o->mesh);
    if (code == EXIT_FINE) {
        code = read_layouts(&input, "--in", o->in, o->num_in, facts, facts->before);
    }
    if (code == EXIT_FINE) {
        code = read_layouts(&input, "--out", o->out, o->num_out, facts, facts->before + n);
    }
    if (code != EXIT_FINE || input.mesh == NULL) {
        return code != EXIT_FINE ? code : complain("--in and --out without a layout need a --mesh");
    }
    facts->mesh = input.mesh;
    facts->op = (tsr_propagation){.rule = facts->rule,
                                  .mesh = facts->mesh,
                                  .strategy = facts->strategy,
                                  .elementwise = facts->elementwise,
                                  .operands = facts->before,
                                  .results = facts->before + n,
                                  .decisions = &facts->decisions};
    tsr_status status =
        tsr_propagate(session->ctx, session->arena, &facts->op, facts->after, facts->after + n);
    if (status == TSR_OK) {
        status = find_pending(session, facts);
    }
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}

static const char *kind_name(tsr_factor_kind kind)
{
    static const char *const names[] = {
        [TSR_FACTOR_PASS_THROUGH] = "pass-through",
        [TSR_FACTOR_REDUCTION] = "reduction",
        [TSR_FACTOR_NEED_REPLICATION] = "needs replication",
        [TSR_FACTOR_PERMUTATION] = "permutation",
    };
    return names[kind];
}

/* The text of a sharding; "none" when there is no such. */
static const char *text_of(struct session *session, const tsr_sharding *sharding)
{
    const char *text = "none";
    if (sharding != NULL && tsr_sharding_print(session->ctx, session->arena, sharding,
                                               TSR_PRINT_BARE, &text) != TSR_OK) {
        text = "?";
    }
    return text;
}

static const char *decision_text(struct session *session, const struct rule_facts *facts, size_t i)
{
    const char *text = "?";
    (void)!tsr_decision_print(session->ctx, session->arena, &facts->op, &facts->decisions.list[i],
                              &text);
    return text;
}

static void print_table(struct session *session, const struct rule_facts *facts)
{
    printf("rule       %s\n", facts->text);
    for (size_t i = 0; facts->mesh != NULL && i < facts->num_operands + facts->num_results; i++) {
        const bool operand = i < facts->num_operands;
        const char *before = text_of(session, facts->before[i]);
        const char *after = text_of(session, facts->after[i]);
        char name[32];
        snprintf(name, sizeof name, "%s %zu", operand ? "operand" : "result",
                 operand ? i : i - facts->num_operands);
        if (strcmp(before, after) == 0) {
            printf("%-10s %s\n", name, before);
        } else {
            printf("%-10s %s  was %s\n", name, after, before);
        }
    }
    if (facts->mesh != NULL) {
        printf("pending    %s\n", facts->pending != NULL ? facts->pending : "nothing");
    }
    for (size_t i = 0; i < facts->decisions.count; i++) {
        printf("%s %s\n", i == 0 ? "decided   " : "          ", decision_text(session, facts, i));
    }
}

static void print_json_list(struct session *session, const char *name,
                            const tsr_sharding *const *list, size_t count)
{
    printf(", \"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        if (list[i] == NULL) {
            fputs("null", stdout);
        } else {
            write_json_string(stdout, text_of(session, list[i]));
        }
    }
    putchar(']');
}

static void print_json(struct session *session, const struct rule_facts *facts)
{
    fputs("{\"rule\": ", stdout);
    write_json_string(stdout, facts->text);
    fputs(", \"factors\": [", stdout);
    for (size_t i = 0; i < tsr_rule_num_factors(facts->rule); i++) {
        const tsr_factor *f = tsr_rule_factor(facts->rule, i);
        printf("%s{\"size\": ", i > 0 ? ", " : "");
        if (f->size == TSR_UNKNOWN) {
            fputs("null", stdout);
        } else {
            printf("%lld", (long long)f->size);
        }
        printf(", \"kind\": \"%s\", \"blocked\": %s}", kind_name(f->kind),
               f->blocked ? "true" : "false");
    }
    putchar(']');
    if (facts->mesh != NULL) {
        print_json_list(session, "operands", facts->after, facts->num_operands);
        print_json_list(session, "results", facts->after + facts->num_operands, facts->num_results);
        fputs(", \"pending\": ", stdout);
        write_json_string(stdout, facts->pending != NULL ? facts->pending : "");
        fputs(", \"decisions\": [", stdout);
        for (size_t i = 0; i < facts->decisions.count; i++) {
            fputs(i > 0 ? ", " : "", stdout);
            write_json_string(stdout, decision_text(session, facts, i));
        }
        putchar(']');
    }
    puts("}");
}

static int rule(struct session *session, const struct rule_options *o)
{
    struct rule_facts facts = {0};
    int code = rule_op_read(session, o->op, &facts.rule, &facts.elementwise);
    if (code != EXIT_FINE) {
        return code;
    }
    facts.num_operands = tsr_rule_num_operands(facts.rule);
    facts.num_results = tsr_rule_num_results(facts.rule);
    const size_t count = facts.num_operands + facts.num_results;
    facts.before = session_alloc(session, count, sizeof(const tsr_sharding *));
    facts.after = session_alloc(session, count, sizeof(const tsr_sharding *));
    code = check_options(o, &facts);
    if (code != EXIT_FINE) {
        return code;
    }
    const tsr_status status =
        tsr_rule_print(session->ctx, session->arena, facts.rule, TSR_RULE_BARE, &facts.text);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    if (o->mesh != NULL || o->num_in + o->num_out > 0) {
        code = propagate(session, o, &facts);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    (o->json ? print_json : print_table)(session, &facts);
    return EXIT_FINE;
}

const struct argp rule_argp = {
    .options = option_rows, .parser = parse_option, .args_doc = "OP", .doc = doc};

int rule_run(int argc, char **argv)
{
    struct rule_options options = {0};
    struct session session;
    options.in = calloc((size_t)argc + 1, sizeof *options.in);
    options.out = calloc((size_t)argc + 1, sizeof *options.out);
    int code = EXIT_FINE;
    if (options.in == NULL || options.out == NULL) {
        code = complain("out of memory");
    }
    if (code == EXIT_FINE && argp_parse(&rule_argp, argc, argv, 0, NULL, &options) != 0) {
        code = EXIT_BAD_INPUT;
    }
    if (code == EXIT_FINE) {
        code = session_open(&session, COLOUR_AUTO);
    }
    if (code == EXIT_FINE) {
        code = rule(&session, &options);
        session_close(&session);
    }
    free(options.in);
    free(options.out);
    return code;
}
