#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tests_are_sampled(void)
{
    const char *instrumented = getenv("TSR_INSTRUMENTED");
    return instrumented != NULL && strcmp(instrumented, "ON") == 0 &&
           getenv("TSR_PROP_SCALE") == NULL;
}

int fixture_setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(tsr_context_create(NULL, &f->ctx), TSR_OK);
    assert_int_equal(tsr_arena_create(f->ctx, &f->arena), TSR_OK);
    *state = f;
    return 0;
}

int fixture_teardown(void **state)
{
    fixture *f = *state;
    tsr_arena_destroy(f->arena);
    tsr_context_destroy(f->ctx);
    free(f);
    return 0;
}

/* Fails the test with the context's messages when a call did not work. */
static void insist(fixture *f, tsr_status status, const char *text)
{
    if (status == TSR_OK) {
        return;
    }
    for (const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx); d != NULL; d = d->next) {
        print_error("%s: %s\n", text, d->text);
    }
    fail_msg("%s: %s", text, tsr_status_name(status));
}

const tsr_mesh *mesh_of(fixture *f, const char *text)
{
    const tsr_mesh *mesh = NULL;
    insist(f, tsr_mesh_parse(f->ctx, f->arena, text, &mesh), text);
    return mesh;
}

const tsr_sharding *sharding_of(fixture *f, const tsr_mesh *mesh, const char *text)
{
    const tsr_sharding *sharding = NULL;
    insist(f, tsr_sharding_parse(f->ctx, f->arena, mesh, text, &sharding), text);
    return sharding;
}

const tsr_geometry *geometry_of(fixture *f, const tsr_sharding *sharding, size_t rank,
                                const int64_t *shape)
{
    const tsr_geometry *geometry = NULL;
    insist(f, tsr_geometry_create(f->ctx, f->arena, sharding, rank, shape, &geometry), "geometry");
    return geometry;
}

const char *mesh_text(fixture *f, const tsr_mesh *mesh)
{
    const char *text = NULL;
    insist(f, tsr_mesh_print(f->ctx, f->arena, mesh, &text), "print mesh");
    return text;
}

const char *sharding_bare(fixture *f, const tsr_sharding *sharding)
{
    const char *text = NULL;
    insist(f, tsr_sharding_print(f->ctx, f->arena, sharding, TSR_PRINT_BARE, &text), "print");
    return text;
}

const char *sharding_full(fixture *f, const tsr_sharding *sharding)
{
    const char *text = NULL;
    insist(f, tsr_sharding_print(f->ctx, f->arena, sharding, TSR_PRINT_FULL, &text), "print");
    return text;
}

tsr_axis_ref axis_of(const tsr_mesh *mesh, const char *text)
{
    const char *colon = strchr(text, ':');
    const size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    const int32_t axis = tsr_mesh_find_axis(mesh, text, length);
    assert_true(axis >= 0);
    if (colon == NULL) {
        return tsr_axis_full(mesh, (size_t)axis);
    }
    long long pre;
    long long size;
    assert_int_equal(sscanf(colon, ":(%lld)%lld", &pre, &size), 2);
    return tsr_axis_sub((size_t)axis, pre, size);
}

void expect_error(fixture *f, const char *text)
{
    const tsr_diagnostic *first = tsr_context_diagnostics(f->ctx);
    assert_non_null(first);
    assert_int_equal(first->severity, TSR_ERROR);
    assert_string_equal(first->text, text);
    tsr_context_clear(f->ctx);
}

void expect_message(fixture *f, const char *part)
{
    bool found = false;
    for (const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx); d != NULL; d = d->next) {
        found = found || strstr(d->text, part) != NULL;
        for (const tsr_diagnostic *n = d->notes; n != NULL; n = n->next) {
            found = found || strstr(n->text, part) != NULL;
        }
    }
    if (!found) {
        const tsr_diagnostic *first = tsr_context_diagnostics(f->ctx);
        fail_msg("no message with \"%s\"; the first is \"%s\"", part,
                 first != NULL ? first->text : "none");
    }
    tsr_context_clear(f->ctx);
}
