/* The pipelines: which passes they stand for, as text. */
#include "pass/pipelines.h"

#include <stdarg.h>
#include <stdio.h>

/* A text that grows in a room of fixed size. */
typedef struct pipeline_text {
    char *text;
    size_t size;
    size_t used;
    bool fits;
} pipeline_text;

static void add(pipeline_text *t, const char *format, ...) TSR_PRINTF(2, 3);

static void add(pipeline_text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int added = vsnprintf(t->text + t->used, t->size - t->used, format, arguments);
    va_end(arguments);
    t->fits = t->fits && added >= 0 && (size_t)added < t->size - t->used;
    t->used += t->fits ? (size_t)added : 0;
}

static const char *word(bool value)
{
    return value ? "true" : "false";
}

/* Names in all options of a pipeline that stands for others. */
static bool dedups(const tsr_pass_options *options)
{
    return tsr_option_bool(options, "dedup-functions-fully");
}

static void add_import(pipeline_text *t, bool dedup)
{
    add(t, "symbol-dce,sdy-lift-inlined-meshes,sdy-remove-size-one-axes,"
           "sdy-propagate-sharding-from-func-to-call,sdy-constant-or-scalar-splitter,symbol-dce,"
           "sdy-manual-axes-cleanup,sdy-add-data-flow-edges");
    if (dedup) {
        add(t, ",sdy-apply-sharding-constraints,sdy-sharding-group-import");
    }
}

/* What an export keeps and leaves out. */
typedef struct export_choices {
    bool keep_rules;
    bool for_partitioning; /* groups, constraints and reshards are left as they are */
    bool non_divisible;
    bool inline_meshes;
    bool origins;
    bool steps;
} export_choices;

static void add_export(pipeline_text *t, const export_choices *c)
{
    add(t,
        "sdy-constant-or-scalar-merger,sdy-sink-data-flow-edges{sink-debug-sharding-origins=%s "
        "sink-debug-propagation-edge-sharding=%s}",
        word(c->origins), word(c->steps));
    if (!c->for_partitioning) {
        add(t, ",sdy-remove-sharding-groups,sdy-sharding-constraint-to-reshard");
    }
    if (c->non_divisible) {
        add(t, ",sdy-update-non-divisible-input-output-shardings,"
               "sdy-remove-sub-axes-in-input-output-shardings");
    }
    add(t, ",sdy-close-shardings");
    if (!c->for_partitioning) {
        add(t, ",sdy-verify-unreduced-axes,sdy-insert-explicit-reshards,"
               "canonicalize{enable-patterns=sdy-collective}");
    }
    if (c->origins || c->steps) {
        add(t, ",sdy-remove-propagation-debug-info");
    }
    if (!c->keep_rules) {
        add(t, ",sdy-drop-sharding-rules");
    }
    if (!c->for_partitioning && c->inline_meshes) {
        add(t, ",sdy-inline-meshes");
    }
}

bool expand_import(const tsr_pass_options *options, char *text, size_t size)
{
    pipeline_text t = {.text = text, .size = size, .fits = true};
    add(&t, "builtin.module(");
    add_import(&t, dedups(options));
    add(&t, ")");
    return t.fits;
}

bool expand_export(const tsr_pass_options *options, char *text, size_t size)
{
    pipeline_text t = {.text = text, .size = size, .fits = true};
    const export_choices choices = {
        .keep_rules = tsr_option_bool(options, "keep-sharding-rules"),
        .for_partitioning = tsr_option_bool(options, "avoid-export-for-partitioning"),
        .non_divisible = tsr_option_bool(options, "update-non-divisible-input-output-shardings"),
        .inline_meshes = tsr_option_bool(options, "inline-meshes"),
        .origins = tsr_option_bool(options, "dump-sharding-origins"),
        .steps = tsr_option_bool(options, "dump-propagation-edges")};
    add(&t, "builtin.module(");
    add_export(&t, &choices);
    add(&t, ")");
    return t.fits;
}

bool expand_propagation(const tsr_pass_options *options, char *text, size_t size)
{
    pipeline_text t = {.text = text, .size = size, .fits = true};
    const bool dedup = dedups(options);
    const export_choices choices = {
        .keep_rules = tsr_option_bool(options, "keep-sharding-rules"),
        .non_divisible = true,
        .origins = tsr_option_bool(options, "debug-sharding-origins"),
        .steps = tsr_option_bool(options, "debug-propagation-edge-sharding")};
    add(&t, "builtin.module(");
    add_import(&t, dedup);
    add(&t, dedup ? ",sdy-add-func-data-flow-edges"
                  : ",sdy-flatten-call-graph,symbol-dce,sdy-import-func-calls,symbol-dce,"
                    "sdy-apply-sharding-constraints,sdy-sharding-group-import");
    add(&t,
        ",sdy-pre-order-funcs,sdy-user-priority-propagate{keep-sharding-rules=true "
        "conservative-propagation=%s debug-sharding-origins=%s "
        "debug-propagation-edge-sharding=%s until-priority=%lld}",
        word(tsr_option_bool(options, "conservative-propagation")), word(choices.origins),
        word(choices.steps), (long long)tsr_option_integer(options, "until-priority"));
    add(&t, dedup ? ",sdy-propagate-to-func-results,sdy-sink-func-data-flow-edges"
                  : ",sdy-export-named-computations,sdy-propagate-to-func-results");
    add(&t, ",sdy-unflatten-call-graph,symbol-dce,sdy-insert-func-call-reshards,");
    add_export(&t, &choices);
    add(&t, ")");
    return t.fits;
}
