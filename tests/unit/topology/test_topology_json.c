/* Topologies as JSON: quantities with units, every error with its place, printed and read back. */
#include <string.h>

#include "support.h"

#define DEVICE "\"device\": {\"copy\": \"1 GB/s\", \"reduction\": \"2 GB/s\"}"
#define LEVEL "{\"name\": \"l\", \"size\": 4, \"latency\": \"1 us\", \"bandwidth\": \"1 GB/s\"}"

static tsr_status read_text(fixture *f, const char *string, const tsr_topology **out)
{
    const tsr_text text = tsr_text_of("t.json", string);
    return tsr_topology_read(f->ctx, f->arena, &text, out);
}

static const tsr_topology *topology_of(fixture *f, const char *string)
{
    const tsr_topology *t = NULL;
    assert_int_equal(read_text(f, string, &t), TSR_OK);
    return t;
}

static const char whole[] =
    "{\"name\": \"two\", \"devices\": 8, \"levels\": [\n"
    "  {\"name\": \"net\", \"size\": \"any\", \"latency\": \"10us\", \"bandwidth\": \"12.50 "
    "GB/s\"},\n"
    "  {\"size\": 4, \"name\": \"\\u0068ost\", \"bandwidth\": \"100 Gbit/s\", \"latency\": \"0.5 "
    "ns\"}],\n"
    "\"device\": {\"copy\": \"1 KiB/s\", \"reduction\": \"3 B/s\", \"memory\": \"80 GiB\",\n"
    "  \"flops\": {\"f32\": \"1.5 Tflop/s\"}}}";

static void reads_all_keys(void **state)
{
    fixture *f = *state;
    const tsr_topology *t = topology_of(f, whole);
    const tsr_topology_spec facts = tsr_topology_facts(t);
    assert_string_equal(facts.name, "two");
    assert_int_equal(facts.num_levels, 2);
    assert_string_equal(facts.levels[1].name, "host");
    assert_int_equal(facts.levels[0].size, 2);
    assert_int_equal(facts.levels[0].latency, 10000000);
    assert_int_equal(facts.levels[0].bandwidth, INT64_C(12500000000));
    assert_int_equal(facts.levels[1].latency, 500);
    assert_int_equal(facts.levels[1].bandwidth, INT64_C(12500000000));
    assert_int_equal(facts.copy_bandwidth, 1024);
    assert_int_equal(facts.reduce_bandwidth, 3);
    assert_int_equal(facts.memory, INT64_C(80) << 30);
    assert_int_equal(tsr_topology_flops(t, TSR_F32), INT64_C(1500000000000));
}

static void prints_what_it_reads(void **state)
{
    fixture *f = *state;
    const char *text = NULL;
    const char *again = NULL;
    const tsr_topology *t = topology_of(f, whole);
    assert_int_equal(tsr_topology_print(f->ctx, f->arena, t, &text), TSR_OK);
    assert_non_null(strstr(text, "\"latency\": \"500 ps\""));
    assert_non_null(strstr(text, "\"memory\": \"80 GiB\""));
    assert_int_equal(tsr_topology_print(f->ctx, f->arena, topology_of(f, text), &again), TSR_OK);
    assert_string_equal(text, again);
    for (size_t i = 0; i < tsr_topology_preset_count(); i++) {
        const tsr_topology *preset = NULL;
        assert_int_equal(
            tsr_topology_find(f->ctx, f->arena, tsr_topology_preset_at(i)->name, &preset), TSR_OK);
        assert_int_equal(tsr_topology_print(f->ctx, f->arena, preset, &text), TSR_OK);
        assert_int_equal(tsr_topology_print(f->ctx, f->arena, topology_of(f, text), &again),
                         TSR_OK);
        assert_string_equal(text, again);
    }
}

static void refuses_to_print_other_bytes(void **state)
{
    fixture *f = *state;
    const tsr_level level = {"\xff", 2, 1, 1};
    const tsr_topology_spec spec = {
        .num_levels = 1, .levels = &level, .copy_bandwidth = 1, .reduce_bandwidth = 1};
    const tsr_topology *t = NULL;
    const char *text = NULL;
    assert_int_equal(tsr_topology_create(f->ctx, f->arena, &spec, &t), TSR_OK);
    assert_int_equal(tsr_topology_print(f->ctx, f->arena, t, &text), TSR_ERR_INVALID);
    assert_null(text);
    expect_message(f, "is not UTF-8");
}

/* A text that is refused, the place of the error, and a part of the message. */
typedef struct fault {
    const char *text;
    int64_t line;
    int64_t column;
    const char *part;
} fault;

static void expect_fault(fixture *f, const fault *row)
{
    const tsr_topology *t = NULL;
    assert_int_equal(read_text(f, row->text, &t), TSR_ERR_SYNTAX);
    assert_null(t);
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    assert_non_null(d);
    if (strstr(d->text, row->part) == NULL || d->line != row->line || d->column != row->column) {
        fail_msg("%s\ngot %lld:%lld %s\nwanted %lld:%lld %s", row->text, (long long)d->line,
                 (long long)d->column, d->text, (long long)row->line, (long long)row->column,
                 row->part);
    }
    assert_string_equal(d->file, "t.json");
    tsr_context_clear(f->ctx);
}

static void refuses_shapes_of_json(void **state)
{
    fixture *f = *state;
    static const fault rows[] = {
        {"", 1, 1, "must be JSON"},
        {"{\n \"levels\": [,]}", 2, 13, "must be JSON"},
        {"{\"name\": \"a\", \"name\": \"b\"}", 1, 20, "duplicate object key"},
        {" []", 1, 2, "a topology must be an object"},
        {"{\n" DEVICE "}", 1, 1, "a topology must have the key \"levels\""},
        {"{\"levels\": [" LEVEL "]}", 1, 1, "a topology must have the key \"device\""},
        {"{\"levels\": [" LEVEL "],\n  \"speed\": 3}", 2, 3,
         "unknown key \"speed\"; the keys here are name, devices, levels, device"},
        {"{\"levels\": {}}", 1, 12, "\"levels\" must be a list of 1 to 16 levels"},
        {"{\"levels\": [7]}", 1, 13, "a level must be an object"},
        {"{\"levels\": [" LEVEL ",\n {\"name\": \"m\"}]}", 2, 2,
         "a level must have the key \"size\""},
        {"{\"levels\": [" LEVEL "], \"device\":\n[]}", 2, 1, "\"device\" must be an object"},
        {"{\"levels\": [" LEVEL "],\n\"device\": {\"copy\": \"1 B/s\"}}", 2, 11,
         "\"device\" must have the key \"reduction\""},
        {"{\"levels\": [" LEVEL "],\n\"device\": {\"flops\": 1}}", 2, 21,
         "\"flops\" must be an object"},
        {"{\"levels\": [" LEVEL "],\n\"device\": {\"flops\": {\"f33\": \"1 flop/s\"}}}", 2, 22,
         "unknown element type \"f33\""},
        {"{\"levels\": [" LEVEL ",\n" LEVEL "]}", 2, 1, "two levels have the \"name\" l"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_fault(f, &rows[i]);
    }
}

#define LEVEL_OF(size, latency, bandwidth)                                                         \
    "{\"levels\": [{\"name\": \"l\",\n\"size\": " size ",\n\"latency\": " latency                  \
    ",\n\"bandwidth\": " bandwidth "}], " DEVICE "}"

static void refuses_values(void **state)
{
    fixture *f = *state;
    static const fault rows[] = {
        {LEVEL_OF("0", "\"1 us\"", "\"1 B/s\""), 2, 9, "\"size\" must be a whole number above 0"},
        {LEVEL_OF("2.5", "\"1 us\"", "\"1 B/s\""), 2, 9, "\"size\" must be a whole number above 0"},
        {LEVEL_OF("\"all\"", "\"1 us\"", "\"1 B/s\""), 2, 9, "or \"any\" for the outermost"},
        {LEVEL_OF("2", "1", "\"1 B/s\""), 3, 12,
         "\"latency\" must be a string of a decimal number and a unit, one of ps, ns, us, ms, s"},
        {LEVEL_OF("2", "\"1\"", "\"1 B/s\""), 3, 12, "\"latency\" must be a string"},
        {LEVEL_OF("2", "\"1 GB/s\"", "\"1 B/s\""), 3, 12, "\"latency\" must be a string"},
        {LEVEL_OF("2", "\"-1 us\"", "\"1 B/s\""), 3, 12, "\"latency\" must be a string"},
        {LEVEL_OF("2", "\"1. us\"", "\"1 B/s\""), 3, 12, "\"latency\" must be a string"},
        {LEVEL_OF("2", "\"1.5 ps\"", "\"1 B/s\""), 3, 12,
         "\"latency\" must be a whole number of picoseconds"},
        {LEVEL_OF("2", "\"1001 s\"", "\"1 B/s\""), 3, 12, "it must be 0 to 1000000000000000"},
        {LEVEL_OF("2", "\"1 us\"", "\"0 GB/s\""), 4, 14, "\"bandwidth\" is 0 bytes a second"},
        {LEVEL_OF("2", "\"1 us\"", "\"1 GB\""), 4, 14, "\"bandwidth\" must be a string"},
        {LEVEL_OF("2", "\"1 us\"", "\"1 bit/s\""), 4, 14, "\"bandwidth\" must be a string"},
        {LEVEL_OF("2", "\"1 us\"", "\"99999999999999999999 B/s\""), 4, 14, "more than 2^63-1"},
        {LEVEL_OF("2", "\"1 us\"", "\"9999999999 TB/s\""), 4, 14, "more than 2^63-1"},
        {"{\"name\": \"\", \"levels\": [" LEVEL "], " DEVICE "}", 1, 10,
         "\"name\" must be a string that is not empty"},
        {"{\"devices\": \"4\", \"levels\": [" LEVEL "], " DEVICE "}", 1, 13,
         "\"devices\" must be a whole number above 0"},
        {"{\"devices\": 5, \"levels\": [" LEVEL "], " DEVICE "}", 1, 13,
         "\"devices\" is 5, but the sizes of the levels multiply to 4"},
        {"{\"levels\": [" LEVEL ",\n{\"name\": \"m\", \"size\": \"any\", \"latency\": \"1 us\", "
         "\"bandwidth\": \"1 B/s\"}], " DEVICE "}",
         2, 1, "level m has size \"any\", which only the outermost level may have"},
        {"{\"levels\": [" LEVEL ",\n{\"name\": \"m\", \"size\": 4611686018427387904, \"latency\": "
         "\"1 us\", \"bandwidth\": \"1 B/s\"}], " DEVICE "}",
         1, 12, "multiply to more than 2^62 devices"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_fault(f, &rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_all_keys),
        TEST(prints_what_it_reads),
        TEST(refuses_to_print_other_bytes),
        TEST(refuses_shapes_of_json),
        TEST(refuses_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
