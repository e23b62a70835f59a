/* Shardings that are built without verification, and interned ones. */
#include "base/arena.h"
#include "random.h"
#include "shard/intern.h"

static const sharding_limits everything = {.sub_axes = true, .lists = true, .ragged = true};

static const tsr_sharding *draw(fixture *f, rng *r, const tsr_mesh *mesh)
{
    int64_t shape[MAX_DIMS];
    const size_t rank = random_shape(r, shape);
    return random_sharding(f, r, mesh, rank, shape, everything);
}

/* Built from the same parts, a trusted sharding is the verified one, in memory of its own. */
static void trusted_equals_verified(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("trusted_equals_verified");
    for (int64_t n = 0; n < prop_cases(2000); n++) {
        rng r = rng_case(&base, (uint64_t)n);
        const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
        const tsr_mesh *mesh = random_mesh(f, &r, (mesh_limits){.most_devices = 64});
        const tsr_sharding *verified = draw(f, &r, mesh);
        const tsr_sharding *trusted = NULL;
        assert_int_equal(sharding_build_trusted(f->ctx, f->arena, verified, &trusted), TSR_OK);
        assert_ptr_not_equal(trusted, verified);
        assert_true(tsr_sharding_equal(trusted, verified));
        assert_string_equal(sharding_full(f, trusted), sharding_full(f, verified));
        tsr_arena_reset(f->arena, mark);
    }
}

static const tsr_sharding *interned(sharding_interner *in, const tsr_sharding *s)
{
    const tsr_sharding *kept = NULL;
    assert_int_equal(sharding_intern(in, s, &kept), TSR_OK);
    assert_true(tsr_sharding_equal(kept, s));
    return kept;
}

/* Two shardings have one pointer if they are equal and only then, whatever arena they came from. */
static void pointers_are_equal_as_shardings_are(void **state)
{
    enum { DRAWN = 400 };
    fixture *f = *state;
    const rng base = rng_start("pointers_are_equal_as_shardings_are");
    sharding_interner in = sharding_interner_new(f->ctx, f->arena);
    const tsr_sharding *kept[DRAWN];
    const tsr_mesh *meshes[] = {
        mesh_of(f, "@a = <[\"x\"=2, \"y\"=4]>"), mesh_of(f, "@b = <[\"x\"=2, \"y\"=4]>"),
        mesh_of(f, "@a = <[\"x\"=4, \"y\"=2]>"), mesh_of(f, "@a = <[\"x\"=2, \"y\"=4]>")};
    size_t pairs = 0;
    for (size_t n = 0; n < DRAWN; n++) {
        rng r = rng_case(&base, n);
        kept[n] = interned(&in, draw(f, &r, meshes[rng_below(&r, 4)]));
        for (size_t k = 0; k < n; k++) {
            const bool equal = tsr_sharding_equal(kept[n], kept[k]);
            assert_int_equal(kept[n] == kept[k], equal);
            pairs += equal ? 1 : 0;
        }
    }
    assert_true(pairs > 100);
}

/* Openness, priorities, lists, kinds, explicit sizes and names of meshes tell shardings apart. */
static void what_differs_has_two_pointers(void **state)
{
    static const char *const texts[] = {
        "[{\"x\"}, {}]",
        "[{\"x\", ?}, {}]",
        "[{\"x\"}, {?}]",
        "[{\"x\"}p0, {}]",
        "[{\"x\"}p1, {}]",
        "[{}, {\"x\"}]",
        "[{\"x\"}, {}], replicated={\"y\"}",
        "[{\"x\"}, {}], unreduced={\"y\"}",
        "[{\"x\"}, {}], unreduced=max{\"y\"}",
        "[{\"x\"}, {}], replicated={\"y\":(1)2}",
        "[{\"x\"}:dynamic[3, 5], {}]",
        "[{\"x\"}:dynamic[4, 4], {}]",
        "[{\"x\"}:dynamic[?], {}]",
        "[{\"y\":(1)2}, {}]",
        "[{\"y\":(2)2}, {}]",
        "[{\"y\"}, {}]",
    };
    enum { TEXTS = sizeof texts / sizeof texts[0] };
    fixture *f = *state;
    sharding_interner in = sharding_interner_new(f->ctx, f->arena);
    const tsr_sharding *kept[2 * TEXTS];
    for (size_t n = 0; n < 2 * TEXTS; n++) {
        const char *mesh = n < TEXTS ? "@a = <[\"x\"=2, \"y\"=4]>" : "@b = <[\"x\"=2, \"y\"=4]>";
        const char *text = texts[n % TEXTS];
        kept[n] = interned(&in, sharding_of(f, mesh_of(f, mesh), text));
        assert_ptr_equal(kept[n], interned(&in, sharding_of(f, mesh_of(f, mesh), text)));
        for (size_t k = 0; k < n; k++) {
            assert_ptr_not_equal(kept[n], kept[k]);
        }
    }
    assert_int_equal(in.count, 2 * TEXTS);
    assert_int_equal(in.num_meshes, 2);
}

/* The interner keeps nothing of what it was given. */
static void originals_may_go(void **state)
{
    fixture *f = *state;
    tsr_arena *other = NULL;
    assert_int_equal(tsr_arena_create(f->ctx, &other), TSR_OK);
    sharding_interner in = sharding_interner_new(f->ctx, f->arena);
    fixture away = {f->ctx, other};
    static const char text[] = "[{\"x\"}:dynamic[3, 5], {\"y\":(1)2}], unreduced={\"y\":(2)2}";
    const tsr_sharding *given =
        sharding_of(&away, mesh_of(&away, "@m = <[\"x\"=2, \"y\"=4]>"), text);
    const tsr_sharding *kept = interned(&in, given);
    tsr_arena_destroy(other);
    assert_string_equal(sharding_bare(f, kept), text);
    assert_string_equal(tsr_mesh_name(tsr_sharding_mesh(kept)), "m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(trusted_equals_verified),
        TEST(pointers_are_equal_as_shardings_are),
        TEST(what_differs_has_two_pointers),
        TEST(originals_may_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
