/* tessera-opt: which passes run, from names, options and the text of pipelines. */
#include <stdio.h>
#include <string.h>

#include "pipeline.h"
#include "support.h"

static tsr_status run_nothing(tsr_context *ctx, tsr_program *program,
                              const tsr_pass_options *options)
{
    (void)ctx;
    (void)program;
    (void)options;
    return TSR_OK;
}

static bool expand_itself(const tsr_pass_options *options, tsr_pipeline_add add, void *state)
{
    (void)options;
    return add(state, "endless", NULL);
}

static const tsr_pass_option wide_options[] = {
    {"enabled", TSR_OPTION_BOOL, "false", "whether"},
    {"limit", TSR_OPTION_INTEGER, "7", "how many"},
    {"filter", TSR_OPTION_TEXT, "", "which"},
};

/* `small`, and `wide` with what `fast` says and a text longer than any buffer. */
static char long_text[2048];
static bool expand_both(const tsr_pass_options *options, tsr_pipeline_add add, void *state)
{
    const tsr_option_value values[] = {
        {.is_given = true, .number = tsr_option_bool(options, "fast")},
        {.is_given = false},
        {.is_given = long_text[0] != '\0', .text = long_text},
    };
    const tsr_pass_options wide = {wide_options, 3, values};
    return add(state, "small", NULL) && add(state, "wide", &wide);
}

static const tsr_pass_option both_options[] = {{"fast", TSR_OPTION_BOOL, "false", "whether"}};
static const tsr_pass rows[] = {
    {"small", NULL, "a pass", NULL, 0, run_nothing, NULL},
    {"wide", NULL, "a pass with options", wide_options, 3, run_nothing, NULL},
    {"both", NULL, "a pipeline", both_options, 1, NULL, expand_both},
    {"endless", NULL, "a pipeline of itself", NULL, 0, NULL, expand_itself},
};
static const pass_table table = {rows, sizeof rows / sizeof rows[0]};

/* `wide(enabled,limit,filter)` for each pass that runs. */
static const char *described(const pass_list *list)
{
    static char text[512];
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        const pass_use *use = &list->uses[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? " " : "",
                                 use->row->name);
        if (use->options.count > 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "(%d,%lld,%s)",
                                     tsr_option_bool(&use->options, "enabled"),
                                     (long long)tsr_option_integer(&use->options, "limit"),
                                     tsr_option_text(&use->options, "filter"));
        }
    }
    return text;
}

static void names_take_options(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *options;
        const char *wanted;
    } cases[] = {
        {"small", NULL, "small"},
        {"small", "", "small"},
        {"wide", NULL, "wide(0,7,)"},
        {"wide", "enabled", "wide(1,7,)"},
        {"wide", "enabled=true limit=-3", "wide(1,-3,)"},
        {"wide", " limit=3  filter=a,b,c ", "wide(0,3,a,b,c)"},
        {"wide", "filter='low=0, high=0' limit=1", "wide(0,1,low=0, high=0)"},
        {"wide", "filter={a {b c}} enabled=1", "wide(1,7,a {b c})"},
        {"wide", "filter=\"x y\" filter=z", "wide(0,7,z)"},
        {"both", NULL, "small wide(0,7,)"},
        {"both", "fast=true", "small wide(1,7,)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pass_list list = {.table = &table};
        assert_true(pass_list_add(&list, cases[i].name, cases[i].options));
        assert_string_equal(described(&list), cases[i].wanted);
        pass_list_clear(&list);
    }
}

/* Options of passes within pipelines are handed on whole, and belong to the list. */
static void long_options_are_kept(void **state)
{
    (void)state;
    pass_list list = {.table = &table};
    memset(long_text, 'x', sizeof long_text - 1);
    assert_true(pass_list_add(&list, "both", NULL));
    memset(long_text, 0, sizeof long_text);
    assert_int_equal(strlen(tsr_option_text(&list.uses[1].options, "filter")),
                     sizeof long_text - 1);
    pass_list_clear(&list);
}

static void texts_nest(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        {"builtin.module()", ""},
        {"builtin.module(small)", "small"},
        {"builtin.module(small,func.func(wide{limit=2 enabled}),small)", "small wide(1,2,) small"},
        {" builtin.module ( func.func( small , small ), any(wide) ) ", "small small wide(0,7,)"},
        {"builtin.module(func.func(),both{fast=1})", "small wide(1,7,)"},
        {"builtin.module(wide{filter={a,b(} limit=1})", "wide(0,1,a,b()"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pass_list list = {.table = &table};
        if (!pass_list_add_text(&list, cases[i].text)) {
            fail_msg("%s: %s", cases[i].text, list.error);
        }
        assert_string_equal(described(&list), cases[i].wanted);
        pass_list_clear(&list);
    }
}

static void faults_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"", "expected builtin.module(...)"},
        {"small", "expected builtin.module(...) in the pipeline at 'small'"},
        {"builtin.module(smal)", "unknown pass 'smal'; did you mean 'small'?"},
        {"builtin.module(something-else)", "unknown pass 'something-else'; see --list-passes"},
        {"builtin.module(wide{limits=1})", "pass 'wide' has no option 'limits'; did you mean"},
        {"builtin.module(small{a=1})", "pass 'small' has no option 'a'"},
        {"builtin.module(wide{limit=x})", "option 'limit' of pass 'wide' is an integer, not 'x'"},
        {"builtin.module(wide{enabled=yes})", "is true or false, not 'yes'"},
        {"builtin.module(wide{filter='a})", "expected '}' after the options"},
        {"builtin.module(small", "expected ',' or ')'"},
        {"builtin.module(small small)", "expected ',' or ')'"},
        {"builtin.module(small,)", "expected the name of a pass"},
        {"builtin.module(scf.for(small))", "expected the name of a pass"},
        {"builtin.module(small))", "expected the end"},
        {"builtin.module(endless)", "pipeline 'endless' contains itself"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pass_list list = {.table = &table};
        assert_false(pass_list_add_text(&list, cases[i].text));
        if (strstr(list.error, cases[i].part) == NULL) {
            fail_msg("%s: %s", cases[i].text, list.error);
        }
        pass_list_clear(&list);
    }
    pass_list list = {.table = &table};
    assert_false(pass_list_add(&list, "wide", "filter='a"));
    assert_non_null(strstr(list.error, "not closed"));
    pass_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_take_options),
        cmocka_unit_test(long_options_are_kept),
        cmocka_unit_test(texts_nest),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
