/* What the C tests share: a fixture, short ways to parse, expectations on messages. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tessera/tessera.h>

/*
 * Whether sanitizers make the tests several times slower and TSR_PROP_SCALE asks for no number of
 * cases: what takes long then runs a sample of what the release build runs.
 */
bool tests_are_sampled(void);

/* A context and an arena, made anew for each test. */
typedef struct fixture {
    tsr_context *ctx;
    tsr_arena *arena;
} fixture;

int fixture_setup(void **state);
int fixture_teardown(void **state);

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

/* Parse and insist that it works. */
const tsr_mesh *mesh_of(fixture *f, const char *text);
const tsr_sharding *sharding_of(fixture *f, const tsr_mesh *mesh, const char *text);
const tsr_geometry *geometry_of(fixture *f, const tsr_sharding *sharding, size_t rank,
                                const int64_t *shape);

/* The printed forms. */
const char *mesh_text(fixture *f, const tsr_mesh *mesh);
const char *sharding_bare(fixture *f, const tsr_sharding *sharding);
const char *sharding_full(fixture *f, const tsr_sharding *sharding);

/* An axis or sub-axis of a mesh by its text, `x` or `x:(1)2` without quotes. */
tsr_axis_ref axis_of(const tsr_mesh *mesh, const char *text);

/* Insists that the first error is exactly `text`, then clears. */
void expect_error(fixture *f, const char *text);
/* Insists that some error or note contains `part`, then clears. */
void expect_message(fixture *f, const char *part);

#endif
