/* The pipelines: which passes they stand for. */
#include "pass/pipelines.h"

#include <stdio.h>

/* Who takes the passes, as long as it wants more. */
typedef struct receiver {
    tsr_pipeline_add add;
    void *state;
    bool fine;
} receiver;

static void add(receiver *r, const char *name, const char *options)
{
    r->fine = r->fine && r->add(r->state, name, options);
}

/* Passes without options, ended by NULL. */
static void add_all(receiver *r, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        add(r, names[i], NULL);
    }
}

#define ADD(receiver, ...) add_all((receiver), (const char *const[]){__VA_ARGS__, NULL})

static const char *word(bool value)
{
    return value ? "true" : "false";
}

static bool dedups(const tsr_pass_options *options)
{
    return tsr_option_bool(options, "dedup-functions-fully");
}

static void add_import(receiver *r, bool dedup)
{
    ADD(r, "symbol-dce", "sdy-lift-inlined-meshes", "sdy-remove-size-one-axes",
        "sdy-propagate-sharding-from-func-to-call", "sdy-constant-or-scalar-splitter", "symbol-dce",
        "sdy-manual-axes-cleanup", "sdy-add-data-flow-edges");
    if (dedup) {
        ADD(r, "sdy-apply-sharding-constraints", "sdy-sharding-group-import");
    }
}

/* What an export keeps and leaves out. */
typedef struct export_choices {
    bool keep_rules;
    bool as_xla;
    bool for_partitioning; /* groups, constraints and reshards are left as they are */
    bool non_divisible;
    bool inline_meshes;
    bool origins;
    bool steps;
} export_choices;

static void add_export(receiver *r, const export_choices *c)
{
    char sink[128];
    (void)snprintf(sink, sizeof sink,
                   "sink-debug-sharding-origins=%s sink-debug-propagation-edge-sharding=%s",
                   word(c->origins), word(c->steps));
    add(r, "sdy-constant-or-scalar-merger", NULL);
    add(r, "sdy-sink-data-flow-edges", sink);
    if (!c->for_partitioning) {
        ADD(r, "sdy-remove-sharding-groups", "sdy-sharding-constraint-to-reshard");
    }
    if (c->non_divisible) {
        ADD(r, "sdy-update-non-divisible-input-output-shardings",
            "sdy-remove-sub-axes-in-input-output-shardings");
    }
    add(r, "sdy-close-shardings", NULL);
    if (!c->for_partitioning) {
        add(r, "sdy-verify-unreduced-axes", NULL);
        add(r, "sdy-insert-explicit-reshards", c->as_xla ? "as-xla=true" : NULL);
        add(r, "canonicalize", "enable-patterns=sdy-collective");
    }
    if (c->origins || c->steps) {
        add(r, "sdy-remove-propagation-debug-info", NULL);
    }
    if (!c->keep_rules) {
        add(r, "sdy-drop-sharding-rules", NULL);
    }
    if (!c->for_partitioning && c->inline_meshes) {
        add(r, "sdy-inline-meshes", NULL);
    }
}

bool expand_import(const tsr_pass_options *options, tsr_pipeline_add add_to, void *state)
{
    receiver r = {.add = add_to, .state = state, .fine = true};
    add_import(&r, dedups(options));
    return r.fine;
}

bool expand_export(const tsr_pass_options *options, tsr_pipeline_add add_to, void *state)
{
    receiver r = {.add = add_to, .state = state, .fine = true};
    const export_choices choices = {
        .keep_rules = tsr_option_bool(options, "keep-sharding-rules"),
        .for_partitioning = tsr_option_bool(options, "avoid-export-for-partitioning"),
        .non_divisible = tsr_option_bool(options, "update-non-divisible-input-output-shardings"),
        .inline_meshes = tsr_option_bool(options, "inline-meshes"),
        .origins = tsr_option_bool(options, "dump-sharding-origins"),
        .steps = tsr_option_bool(options, "dump-propagation-edges")};
    add_export(&r, &choices);
    return r.fine;
}

bool expand_propagation(const tsr_pass_options *options, tsr_pipeline_add add_to, void *state)
{
    receiver r = {.add = add_to, .state = state, .fine = true};
    const bool dedup = dedups(options);
    const export_choices choices = {
        .keep_rules = tsr_option_bool(options, "keep-sharding-rules"),
        .as_xla = tsr_option_bool(options, "as-xla"),
        .non_divisible = true,
        .origins = tsr_option_bool(options, "debug-sharding-origins"),
        .steps = tsr_option_bool(options, "debug-propagation-edge-sharding")};
    char propagation[256];
    (void)snprintf(propagation, sizeof propagation,
                   "keep-sharding-rules=true conservative-propagation=%s "
                   "debug-sharding-origins=%s debug-propagation-edge-sharding=%s "
                   "until-priority=%lld as-xla=%s",
                   word(tsr_option_bool(options, "conservative-propagation")),
                   word(choices.origins), word(choices.steps),
                   (long long)tsr_option_integer(options, "until-priority"), word(choices.as_xla));
    if (choices.as_xla) {
        add(&r, "tessera-import-composites", NULL);
    }
    add_import(&r, dedup);
    if (dedup) {
        add(&r, "sdy-add-func-data-flow-edges", NULL);
    } else {
        ADD(&r, "sdy-flatten-call-graph", "symbol-dce", "sdy-import-func-calls", "symbol-dce",
            "sdy-apply-sharding-constraints", "sdy-sharding-group-import");
    }
    add(&r, "sdy-pre-order-funcs", NULL);
    add(&r, "sdy-user-priority-propagate", propagation);
    if (dedup) {
        ADD(&r, "sdy-propagate-to-func-results", "sdy-sink-func-data-flow-edges");
    } else {
        ADD(&r, "sdy-export-named-computations", "sdy-propagate-to-func-results");
    }
    ADD(&r, "sdy-unflatten-call-graph", "symbol-dce", "sdy-insert-func-call-reshards");
    add_export(&r, &choices);
    if (choices.as_xla) {
        add(&r, "tessera-export-composites", NULL);
    }
    return r.fine;
}
