/* Topologies: built, fitted, found by name; every rule with its message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

static const tsr_level two_levels[] = {{"network", 2, 10000000, 1000000000},
                                       {"host", 8, 1500000, 10000000000}};
static const tsr_flop_rate rates[] = {{TSR_F32, 100}, {TSR_BF16, 200}};

static tsr_topology_spec spec_of(const tsr_level *levels, size_t count)
{
    return (tsr_topology_spec){.name = "t",
                               .num_levels = count,
                               .levels = levels,
                               .copy_bandwidth = 1000,
                               .reduce_bandwidth = 2000,
                               .memory = 4096,
                               .num_rates = 2,
                               .rates = rates};
}

static const tsr_topology *built(fixture *f, const tsr_topology_spec *spec)
{
    const tsr_topology *t = NULL;
    assert_int_equal(tsr_topology_create(f->ctx, f->arena, spec, &t), TSR_OK);
    return t;
}

static void keeps_what_it_is_given(void **state)
{
    fixture *f = *state;
    const tsr_topology_spec spec = spec_of(two_levels, 2);
    const tsr_topology *t = built(f, &spec);
    const tsr_topology_spec facts = tsr_topology_facts(t);
    assert_string_equal(facts.name, "t");
    assert_ptr_not_equal(facts.levels, two_levels);
    assert_string_equal(facts.levels[1].name, "host");
    assert_int_equal(facts.levels[1].latency, 1500000);
    assert_int_equal(facts.memory, 4096);
    assert_int_equal(tsr_topology_num_devices(t), 16);
    assert_int_equal(tsr_topology_flops(t, TSR_BF16), 200);
    assert_int_equal(tsr_topology_flops(t, TSR_F64), 0);
}

static void devices_talk_at_the_outermost_level_that_differs(void **state)
{
    fixture *f = *state;
    const tsr_topology_spec spec = spec_of(two_levels, 2);
    const tsr_topology *t = built(f, &spec);
    assert_int_equal(tsr_topology_level_between(t, 0, 7), 1);
    assert_int_equal(tsr_topology_level_between(t, 7, 8), 0);
    assert_int_equal(tsr_topology_level_between(t, 9, 9), 2);
    assert_int_equal(tsr_topology_level_between(t, 0, 16), -1);
    assert_int_equal(tsr_topology_level_between(t, -1, 0), -1);
}

/* Refused by tsr_topology_create with a message that contains `part`. */
static void refused(fixture *f, const tsr_topology_spec *spec, const char *part)
{
    const tsr_topology *t = NULL;
    assert_true(tsr_topology_create(f->ctx, f->arena, spec, &t) < 0);
    assert_null(t);
    expect_message(f, part);
}

static void refuses_levels(void **state)
{
    fixture *f = *state;
    const struct {
        tsr_level inner;
        const char *part;
    } rows[] = {
        {{"", 2, 1, 1}, "level 1 has an empty name"},
        {{"network", 2, 1, 1}, "levels 0 and 1 have the same name network"},
        {{"host", 0, 1, 1}, "level host has size 0"},
        {{"host", TSR_UNKNOWN, 1, 1}, "only that of the outermost level may be unknown"},
        {{"host", 2, -1, 1}, "a latency of -1 ps"},
        {{"host", 2, INT64_C(1000000000000001), 1}, "it must be 0 to 1000000000000000 ps"},
        {{"host", 2, 1, 0}, "a bandwidth of 0 bytes a second"},
        {{"host", INT64_C(1) << 62, 1, 1}, "more than 2^62 devices"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tsr_level levels[] = {two_levels[0], rows[i].inner};
        const tsr_topology_spec spec = spec_of(levels, 2);
        refused(f, &spec, rows[i].part);
    }
    tsr_topology_spec spec = spec_of(two_levels, 0);
    refused(f, &spec, "must have 1 to 16 levels, got: 0");
}

static void refuses_rates(void **state)
{
    fixture *f = *state;
    const tsr_flop_rate none[] = {{TSR_F32, 0}};
    const tsr_flop_rate twice[] = {{TSR_F32, 1}, {TSR_F32, 2}};
    tsr_topology_spec spec = spec_of(two_levels, 2);
    spec.copy_bandwidth = 0;
    refused(f, &spec, "copy 0, reduction 2000, memory 4096");
    spec = spec_of(two_levels, 2);
    spec.memory = -1;
    refused(f, &spec, "memory -1");
    spec = spec_of(two_levels, 2);
    spec.rates = none;
    spec.num_rates = 1;
    refused(f, &spec, "the rate of f32 is 0");
    spec.rates = twice;
    spec.num_rates = 2;
    refused(f, &spec, "element type f32 has two rates");
}

/* ---- fitting ---- */

/* The sizes after fitting, `2x8`; "" when it is refused. */
static const char *fitted_sizes(fixture *f, const char *preset, int64_t devices)
{
    static char text[64];
    const tsr_topology *t = NULL;
    const tsr_topology *fitted = NULL;
    text[0] = '\0';
    assert_int_equal(tsr_topology_find(f->ctx, f->arena, preset, &t), TSR_OK);
    if (tsr_topology_fit(f->ctx, f->arena, t, devices, &fitted) < 0) {
        return text;
    }
    assert_int_equal(tsr_topology_num_devices(fitted), devices);
    const tsr_topology_spec facts = tsr_topology_facts(fitted);
    for (size_t i = 0; i < facts.num_levels; i++) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s%lld", i > 0 ? "x" : "",
                       (long long)facts.levels[i].size);
    }
    return text;
}

static void fits_from_the_innermost_level(void **state)
{
    fixture *f = *state;
    assert_string_equal(fitted_sizes(f, "gpu-pod", 64), "8x8");
    assert_string_equal(fitted_sizes(f, "gpu-pod", 8), "1x8");
    assert_string_equal(fitted_sizes(f, "gpu-pod", 3), "1x3");
    assert_string_equal(fitted_sizes(f, "ethernet", 5), "5");
    assert_string_equal(fitted_sizes(f, "gpu-pod", 12), "");
    expect_message(f, "12 devices do not fill level host of topology gpu-pod");
    assert_string_equal(fitted_sizes(f, "host", 0), "");
    expect_message(f, "at least 1 device, got: 0");
}

static void sizes_that_are_known_must_match(void **state)
{
    fixture *f = *state;
    const tsr_topology_spec spec = spec_of(two_levels, 2);
    const tsr_topology *t = built(f, &spec);
    const tsr_topology *fitted = NULL;
    assert_int_equal(tsr_topology_fit(f->ctx, f->arena, t, 16, &fitted), TSR_OK);
    assert_ptr_equal(fitted, t);
    assert_int_equal(tsr_topology_fit(f->ctx, f->arena, t, 8, &fitted), TSR_ERR_INVALID);
    expect_message(f, "topology t has 16 devices, but the mesh has 8");
}

/* ---- by name ---- */

static void presets_have_sources(void **state)
{
    fixture *f = *state;
    assert_int_equal(tsr_topology_preset_count(), 4);
    for (size_t i = 0; i < tsr_topology_preset_count(); i++) {
        const tsr_topology_preset *p = tsr_topology_preset_at(i);
        const tsr_topology *t = NULL;
        assert_int_equal(tsr_topology_find(f->ctx, f->arena, p->name, &t), TSR_OK);
        assert_string_equal(tsr_topology_facts(t).name, p->name);
        assert_int_equal(tsr_topology_num_devices(t), TSR_UNKNOWN);
        assert_true(strlen(p->source) > 20);
    }
    assert_null(tsr_topology_preset_at(4));
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void names_files_and_the_environment(void **state)
{
    fixture *f = *state;
    char path[64];
    const tsr_topology *t = NULL;
    (void)snprintf(path, sizeof path, "test_topology.%ld.json", (long)getpid());
    put_file(path, "{\"levels\": [{\"name\": \"l\", \"size\": 3, \"latency\": \"1 ns\", "
                   "\"bandwidth\": \"1 B/s\"}],\n \"device\": {\"copy\": \"1 B/s\", "
                   "\"reduction\": \"1 B/s\"}}");
    assert_int_equal(tsr_topology_find(f->ctx, f->arena, path, &t), TSR_OK);
    assert_int_equal(tsr_topology_num_devices(t), 3);
    assert_int_equal(unsetenv("TSR_TOPOLOGY"), 0);
    assert_int_equal(tsr_topology_find(f->ctx, f->arena, NULL, &t), TSR_OK);
    assert_string_equal(tsr_topology_facts(t).name, "host");
    assert_int_equal(setenv("TSR_TOPOLOGY", "ethernet", 1), 0);
    assert_int_equal(tsr_topology_find(f->ctx, f->arena, NULL, &t), TSR_OK);
    assert_string_equal(tsr_topology_facts(t).name, "ethernet");
    assert_int_equal(unsetenv("TSR_TOPOLOGY"), 0);
    put_file(path, "{\n  \"level\": []}");
    assert_int_equal(tsr_topology_find(f->ctx, f->arena, path, &t), TSR_ERR_SYNTAX);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_string_equal(d->file, path);
    assert_int_equal(d->line, 2);
    assert_int_equal(d->column, 3);
    expect_message(f, "unknown key \"level\"");
    assert_int_equal(unlink(path), 0);
}

static void refuses_what_is_not_a_file(void **state)
{
    fixture *f = *state;
    char path[64];
    const tsr_topology *t = NULL;
    assert_int_equal(tsr_topology_find(f->ctx, f->arena, "gpupod", &t), TSR_ERR_INVALID);
    expect_message(f, "unknown topology gpupod: not one of threads, host, gpu-pod, ethernet, and "
                      "the file cannot be opened");
    assert_int_equal(tsr_topology_find(f->ctx, f->arena, ".", &t), TSR_ERR_INVALID);
    expect_message(f, "is not a regular file");
    (void)snprintf(path, sizeof path, "test_topology.%ld.large", (long)getpid());
    put_file(path, "");
    assert_int_equal(truncate(path, (1 << 20) + 1), 0);
    assert_int_equal(tsr_topology_find(f->ctx, f->arena, path, &t), TSR_ERR_LIMIT);
    expect_message(f, "has 1048577 bytes; the maximum is 1048576");
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keeps_what_it_is_given),
        TEST(devices_talk_at_the_outermost_level_that_differs),
        TEST(refuses_levels),
        TEST(refuses_rates),
        TEST(fits_from_the_innermost_level),
        TEST(sizes_that_are_known_must_match),
        TEST(presets_have_sources),
        TEST(names_files_and_the_environment),
        TEST(refuses_what_is_not_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
