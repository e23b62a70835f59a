/* Arena, map, interned strings, arithmetic, element types, version. */
#include <stdio.h>
#include <string.h>

#include "support.h"

#include "base/arena.h"
#include "base/base.h"
#include "base/buffer.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/utf8.h"

static void arena_marks_and_resets(void **state)
{
    fixture *f = *state;
    const tsr_arena_mark start = tsr_arena_get_mark(f->arena);
    assert_int_equal(tsr_arena_used(f->arena), 0);
    for (int round = 0; round < 3; round++) {
        const size_t reserved = tsr_arena_reserved(f->arena);
        for (size_t size = 0; size < 5000; size += 7) {
            unsigned char *memory = tsr_arena_alloc(f->arena, size);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % sizeof(max_align_t) % 16, 0);
            memset(memory, 0xa5, size);
        }
        assert_true(tsr_arena_used(f->arena) > 0);
        if (round > 0) {
            assert_int_equal(tsr_arena_reserved(f->arena), reserved);
        }
        tsr_arena_reset(f->arena, start);
        assert_int_equal(tsr_arena_used(f->arena), 0);
    }
}

static void arena_reset_keeps_what_came_before(void **state)
{
    fixture *f = *state;
    char *kept = arena_string(f->arena, "kept", 4);
    const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
    for (int i = 0; i < 100; i++) {
        memset(tsr_arena_alloc(f->arena, 1000), 0, 1000);
    }
    tsr_arena_reset(f->arena, mark);
    memset(tsr_arena_alloc(f->arena, 100), 0, 100);
    assert_string_equal(kept, "kept");
}

static void arena_refuses_the_impossible(void **state)
{
    fixture *f = *state;
    assert_null(tsr_arena_alloc(f->arena, SIZE_MAX));
    assert_null(tsr_arena_alloc(f->arena, SIZE_MAX - 100));
    assert_null(arena_array(f->arena, SIZE_MAX / 2, 4));
    assert_non_null(tsr_arena_alloc(f->arena, 8));
}

static void map_finds_what_was_inserted(void **state)
{
    fixture *f = *state;
    enum { COUNT = 5000 };
    map m = map_new(f->arena);
    assert_null(map_find(&m, "x", 1));
    for (int i = 0; i < COUNT; i++) {
        char key[16];
        const size_t size = (size_t)snprintf(key, sizeof key, "key%d", i);
        uint64_t *value = map_insert(&m, arena_string(f->arena, key, size), size);
        assert_non_null(value);
        assert_int_equal(*value, 0);
        *value = (uint64_t)i + 1;
    }
    assert_int_equal(m.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        char key[16];
        const size_t size = (size_t)snprintf(key, sizeof key, "key%d", i);
        assert_int_equal(*map_find(&m, key, size), i + 1);
        assert_int_equal(*map_insert(&m, key, size), i + 1);
    }
    assert_null(map_find(&m, "key", 3));
    assert_int_equal(m.count, COUNT);
}

static void hash_depends_on_every_byte(void **state)
{
    (void)state;
    unsigned char bytes[40] = {0};
    for (size_t size = 1; size <= sizeof bytes; size++) {
        const uint64_t zero = hash_bytes(bytes, size, 0);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = 1;
            assert_true(hash_bytes(bytes, size, 0) != zero);
            bytes[i] = 0;
        }
        assert_true(hash_bytes(bytes, size, 1) != zero);
        assert_true(hash_bytes(bytes, size - 1, 0) != zero);
    }
}

static void strings_are_interned_once(void **state)
{
    fixture *f = *state;
    interner strings = interner_new(f->arena);
    size_t first;
    size_t again;
    size_t other;
    assert_true(intern(&strings, "mesh", 4, &first));
    assert_true(intern(&strings, "mesh_b", 6, &other));
    assert_true(intern(&strings, "mesh_b", 4, &again));
    assert_int_equal(first, 0);
    assert_int_equal(other, 1);
    assert_int_equal(again, first);
    assert_string_equal(strings.strings[other], "mesh_b");
    assert_false(intern_find(&strings, "none", 4, &again));
    for (size_t i = 2; i < 200; i++) {
        char name[16];
        size_t id;
        const size_t size = (size_t)snprintf(name, sizeof name, "s%zu", i);
        assert_true(intern(&strings, name, size, &id));
        assert_int_equal(id, i);
    }
    assert_true(intern_find(&strings, "mesh", 4, &again));
    assert_int_equal(again, first);
}

static void arithmetic_is_checked(void **state)
{
    (void)state;
    int64_t out = 7;
    assert_true(checked_mul(INT64_C(1) << 31, INT64_C(1) << 31, &out));
    assert_int_equal(out, INT64_C(1) << 62);
    assert_false(checked_mul(INT64_C(1) << 32, INT64_C(1) << 31, &out));
    assert_false(checked_add(INT64_MAX, 1, &out));
    assert_int_equal(out, INT64_C(1) << 62);
    assert_int_equal(ceil_div(0, 4), 0);
    assert_int_equal(ceil_div(5, 4), 2);
    assert_int_equal(ceil_div(INT64_MAX, 2), (INT64_MAX >> 1) + 1);
}

static void integers_print_to_the_last(void **state)
{
    fixture *f = *state;
    const int64_t values[] = {0, -1, 10, INT64_MAX, INT64_MIN};
    buffer buf = buffer_new(f->arena);
    const char *text;
    buffer_ints(&buf, values, 5);
    assert_int_equal(buffer_finish(f->ctx, &buf, &text), TSR_OK);
    assert_string_equal(text, "0, -1, 10, 9223372036854775807, -9223372036854775808");
}

static void dtypes_have_names_and_sizes(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < tsr_dtype_count(); i++) {
        tsr_dtype dtype;
        assert_int_equal(tsr_dtype_parse(f->ctx, tsr_dtype_name((tsr_dtype)i), &dtype), TSR_OK);
        assert_int_equal(dtype, i);
        assert_true(tsr_dtype_bits((tsr_dtype)i) >= 1);
    }
    tsr_dtype dtype;
    assert_int_equal(tsr_dtype_parse(f->ctx, "bfloat16", &dtype), TSR_OK);
    assert_int_equal(dtype, TSR_BF16);
    assert_int_equal(tsr_dtype_bytes(TSR_F32, 3), 12);
    assert_int_equal(tsr_dtype_bytes(TSR_I1, 3), 3);
    assert_int_equal(tsr_dtype_bytes(TSR_I4, 3), 2);
    assert_int_equal(tsr_dtype_bytes(TSR_F6E2M3FN, 4), 3);
    assert_int_equal(tsr_dtype_bytes(TSR_C128, 2), 32);
    assert_int_equal(tsr_dtype_bytes(TSR_F64, INT64_MAX / 4), -1);
    assert_int_equal(tsr_dtype_parse(f->ctx, "f33", &dtype), TSR_ERR_INVALID);
    expect_error(f, "unknown element type 'f33'");
}

static void characters_of_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        uint32_t character;
    } cases[] = {{"a", 1, 'a'},
                 {"\xC3\xA9z", 2, 0xE9},
                 {"\xE2\x80\xA6", 3, 0x2026},
                 {"\xF0\x9F\x98\x80", 4, 0x1F600},
                 {"\x80", 1, 0xFFFD}, /* starts no character */
                 {"\xC3", 1, 0xFFFD}, /* ends within one */
                 {"\xC3z", 1, 0xFFFD},
                 {"\xC0\x80", 1, 0xFFFD},         /* longer than needed */
                 {"\xED\xA0\x80", 1, 0xFFFD},     /* a surrogate */
                 {"\xF4\x90\x80\x80", 1, 0xFFFD}, /* after the last */
                 {"\xFF", 1, 0xFFFD}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t character = 0;
        const char *text = cases[i].text;
        assert_int_equal(tsr_utf8_next(text, strlen(text), &character), cases[i].length);
        assert_int_equal(character, cases[i].character);
    }
    uint32_t untouched = 5;
    assert_int_equal(tsr_utf8_next("", 0, &untouched), 0);
    assert_int_equal(untouched, 5);
    assert_int_equal(utf8_length("a\xC3\xA9\xFFz"), 4);
    assert_int_equal(utf8_prefix("a\xC3\xA9z", 2), 3);
    assert_int_equal(utf8_prefix("a\xC3\xA9z", 9), 4);
}

static void version_and_status_speak(void **state)
{
    (void)state;
    char wanted[32];
    (void)snprintf(wanted, sizeof wanted, "%d.%d.%d", TSR_VERSION_MAJOR, TSR_VERSION_MINOR,
                   TSR_VERSION_PATCH);
    assert_string_equal(tsr_version(), wanted);
    assert_int_equal(tsr_abi_check(TSR_ABI_VERSION), TSR_OK);
    assert_int_equal(tsr_abi_check(TSR_ABI_VERSION + 1), TSR_ERR_UNSUPPORTED);
    assert_string_equal(tsr_status_name(TSR_ERR_NOMEM), "TSR_ERR_NOMEM");
    assert_string_equal(tsr_status_name((tsr_status)-99), "TSR_?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(arena_marks_and_resets),       TEST(arena_reset_keeps_what_came_before),
        TEST(arena_refuses_the_impossible), TEST(map_finds_what_was_inserted),
        TEST(hash_depends_on_every_byte),   TEST(strings_are_interned_once),
        TEST(arithmetic_is_checked),        TEST(integers_print_to_the_last),
        TEST(dtypes_have_names_and_sizes),  TEST(version_and_status_speak),
        TEST(characters_of_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
