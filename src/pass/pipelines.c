/* The pipelines: which passes they stand for. */
#include "pass/pipelines.h"

#include <assert.h>
#include <string.h>

/* Who takes the passes, as long as it wants more. */
typedef struct receiver {
    tsr_pipeline_add add;
    void *state;
    bool fine;
} receiver;

static void add(receiver *r, const char *name)
{
    r->fine = r->fine && r->add(r->state, name, NULL);
}

/* A pass with the options that a pipeline sets. */
enum { MAX_OPTIONS = 16 };
typedef struct pass_setting {
    const tsr_pass *pass;
    tsr_option_value values[MAX_OPTIONS];
} pass_setting;

static pass_setting setting_of(const char *name)
{
    const pass_setting setting = {.pass = tsr_pass_find(name)};
    assert(setting.pass != NULL && setting.pass->num_options <= MAX_OPTIONS);
    return setting;
}

static void set(pass_setting *setting, const char *option, tsr_option_value value)
{
    for (size_t i = 0; i < setting->pass->num_options; i++) {
        if (strcmp(setting->pass->options[i].name, option) == 0) {
            setting->values[i] = value;
        }
    }
}

static void set_number(pass_setting *setting, const char *option, int64_t number)
{
    set(setting, option, (tsr_option_value){.is_given = true, .number = number});
}

static void set_text(pass_setting *setting, const char *option, const char *text)
{
    set(setting, option, (tsr_option_value){.is_given = true, .text = text});
}

static void add_setting(receiver *r, const pass_setting *setting)
{
    const tsr_pass *pass = setting->pass;
    const tsr_pass_options options = {pass->options, pass->num_options, setting->values};
    r->fine = r->fine && r->add(r->state, pass->name, &options);
}

/* Passes without options, ended by NULL. */
static void add_all(receiver *r, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        add(r, names[i]);
    }
}

#define ADD(receiver, ...) add_all((receiver), (const char *const[]){__VA_ARGS__, NULL})

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

static void add_sink(receiver *r, const export_choices *c)
{
    pass_setting sink = setting_of("sdy-sink-data-flow-edges");
    set_number(&sink, "sink-debug-sharding-origins", c->origins);
    set_number(&sink, "sink-debug-propagation-edge-sharding", c->steps);
    add_setting(r, &sink);
}

/* Checks where unreduced axes begin and end, and makes reshards explicit. */
static void add_reshards(receiver *r, const export_choices *c)
{
    pass_setting reshards = setting_of("sdy-insert-explicit-reshards");
    pass_setting tidy = setting_of("canonicalize");
    set_number(&reshards, "as-xla", c->as_xla);
    set_text(&tidy, "enable-patterns", "sdy-collective");
    add(r, "sdy-verify-unreduced-axes");
    add_setting(r, &reshards);
    add_setting(r, &tidy);
}

static void add_export(receiver *r, const export_choices *c)
{
    add(r, "sdy-constant-or-scalar-merger");
    add_sink(r, c);
    if (!c->for_partitioning) {
        ADD(r, "sdy-remove-sharding-groups", "sdy-sharding-constraint-to-reshard");
    }
    if (c->non_divisible) {
        ADD(r, "sdy-update-non-divisible-input-output-shardings",
            "sdy-remove-sub-axes-in-input-output-shardings");
    }
    add(r, "sdy-close-shardings");
    if (!c->for_partitioning) {
        add_reshards(r, c);
    }
    if (c->origins || c->steps) {
        add(r, "sdy-remove-propagation-debug-info");
    }
    if (!c->keep_rules) {
        add(r, "sdy-drop-sharding-rules");
    }
    if (!c->for_partitioning && c->inline_meshes) {
        add(r, "sdy-inline-meshes");
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

static void add_propagation(receiver *r, const tsr_pass_options *options)
{
    static const char *const same[] = {"conservative-propagation", "debug-sharding-origins",
                                       "debug-propagation-edge-sharding", "as-xla"};
    pass_setting propagation = setting_of("sdy-user-priority-propagate");
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        set_number(&propagation, same[i], tsr_option_bool(options, same[i]));
    }
    set_number(&propagation, "keep-sharding-rules", true);
    set_number(&propagation, "until-priority", tsr_option_integer(options, "until-priority"));
    add_setting(r, &propagation);
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
    if (choices.as_xla) {
        add(&r, "tessera-import-composites");
    }
    add_import(&r, dedup);
    if (dedup) {
        add(&r, "sdy-add-func-data-flow-edges");
    } else {
        ADD(&r, "sdy-flatten-call-graph", "symbol-dce", "sdy-import-func-calls", "symbol-dce",
            "sdy-apply-sharding-constraints", "sdy-sharding-group-import");
    }
    add(&r, "sdy-pre-order-funcs");
    add_propagation(&r, options);
    if (dedup) {
        ADD(&r, "sdy-propagate-to-func-results", "sdy-sink-func-data-flow-edges");
    } else {
        ADD(&r, "sdy-export-named-computations", "sdy-propagate-to-func-results");
    }
    ADD(&r, "sdy-unflatten-call-graph", "symbol-dce", "sdy-insert-func-call-reshards");
    add_export(&r, &choices);
    if (choices.as_xla) {
        add(&r, "tessera-export-composites");
    }
    return r.fine;
}
