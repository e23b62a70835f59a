#include "random_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 24, TEXT_ROOM = 1 << 15 };

typedef struct shape {
    size_t rank;
    int64_t extents[3];
} shape;

/* A program under way. */
typedef struct writer {
    random_program *p;
    rng r;
    char *text;
    size_t size;
    shape shapes[MAX_VALUES];
    int count; /* values %v0 .. */
} writer;

static void put(writer *w, const char *format, ...) TSR_PRINTF(2, 3);
static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(w->text + w->size, TEXT_ROOM - w->size, format, args);
    va_end(args);
    assert_true(size >= 0 && w->size + (size_t)size < TEXT_ROOM);
    w->size += (size_t)size;
}

static void put_type(writer *w, const shape *s)
{
    put(w, "tensor<");
    for (size_t d = 0; d < s->rank; d++) {
        put(w, "%lldx", (long long)s->extents[d]);
    }
    put(w, "f32>");
}

/* ---- shardings ---- */

/* The axes of the mesh <["a"=2, "b"=2, "c"=4]>, whole or in parts. */
static const char *const axes[] = {"\"a\"", "\"b\"", "\"c\"", "\"c\":(1)2", "\"c\":(2)2"};
static const unsigned clashes[] = {1, 2, 12, 4, 8};

static void put_dims(writer *w, const shape *s, bool is_open)
{
    unsigned used = 0;
    put(w, "[");
    for (size_t d = 0; d < s->rank; d++) {
        const bool opens = is_open || rng_chance(&w->r, 60);
        size_t num_axes = 0;
        put(w, "%s{", d > 0 ? ", " : "");
        while (!is_open && num_axes < 2 && rng_chance(&w->r, 35)) {
            const int64_t axis = rng_below(&w->r, 5);
            if ((used & clashes[axis]) != 0) {
                break;
            }
            used |= clashes[axis];
            put(w, "%s%s", num_axes++ > 0 ? ", " : "", axes[axis]);
            if (axis == 3) { /* a list must not go on with the other half */
                used |= 8;
            }
        }
        put(w, "%s}", opens ? (num_axes > 0 ? ", ?" : "?") : "");
        if (num_axes > 0 && rng_chance(&w->r, 20)) {
            put(w, "p%lld", (long long)rng_below(&w->r, 3));
        }
    }
    put(w, "]");
    if (!is_open && (used & 1) == 0 && rng_chance(&w->r, 15)) {
        put(w, ", replicated={\"a\"}");
    }
}

/* Whether the next sharding is there. */
static bool note(writer *w, bool is_constraint)
{
    const size_t number = w->p->num_notes;
    if (number == MAX_NOTES) {
        return false;
    }
    w->p->is_constraint[number] = is_constraint;
    w->p->num_notes++;
    return !w->p->left_out[number];
}

static void put_note(writer *w, const shape *s)
{
    rng mine = w->r; /* what is left out takes the same numbers */
    const size_t before = w->size;
    put(w, " {sdy.sharding = #sdy.sharding<@mesh, ");
    put_dims(w, s, false);
    put(w, ">}");
    (void)mine;
    if (!note(w, false)) {
        w->size = before;
        w->text[before] = '\0';
    }
}

static void put_constraint(writer *w, int operand)
{
    const size_t before = w->size;
    put_dims(w, &w->shapes[operand], false);
    const char *kept = strdup(w->text + before);
    assert_non_null(kept);
    w->size = before;
    put(w, "  %%v%d = sdy.sharding_constraint %%v%d <@mesh, ", w->count, operand);
    if (note(w, true)) {
        put(w, "%s", kept);
    } else {
        put_dims(w, &w->shapes[operand], true);
    }
    free((void *)(uintptr_t)kept);
    put(w, "> : ");
    put_type(w, &w->shapes[operand]);
    put(w, "\n");
    w->shapes[w->count++] = w->shapes[operand];
}

/* ---- ops ---- */

static int64_t random_extent(rng *r)
{
    static const int64_t extents[] = {4, 8, 8, 4, 2, 6};
    return extents[rng_below(r, 6)];
}

static void put_unary(writer *w, int operand)
{
    put(w, "  %%v%d = stablehlo.tanh %%v%d : ", w->count, operand);
    put_type(w, &w->shapes[operand]);
    put(w, "\n");
    w->shapes[w->count++] = w->shapes[operand];
}

/* A value of a shape, from a random one on; -1: none. */
static int find_shape(writer *w, const shape *s)
{
    const int from = (int)rng_below(&w->r, w->count);
    for (int i = 0; i < w->count; i++) {
        const shape *other = &w->shapes[(from + i) % w->count];
        if (other->rank == s->rank &&
            memcmp(other->extents, s->extents, s->rank * sizeof *s->extents) == 0) {
            return (from + i) % w->count;
        }
    }
    return -1;
}

static void put_binary(writer *w, int left)
{
    int right = find_shape(w, &w->shapes[left]);
    right = right == left ? find_shape(w, &w->shapes[left]) : right;
    put(w, "  %%v%d = stablehlo.add %%v%d, %%v%d : ", w->count, left, right);
    put_type(w, &w->shapes[left]);
    put(w, "\n");
    w->shapes[w->count++] = w->shapes[left];
}

static void put_signature(writer *w, int operand, const shape *result)
{
    put(w, " : (");
    put_type(w, &w->shapes[operand]);
    put(w, ") -> ");
    put_type(w, result);
    put(w, "\n");
    w->shapes[w->count++] = *result;
}

static void put_transpose(writer *w, int operand)
{
    const shape s = w->shapes[operand];
    shape result = {.rank = s.rank};
    put(w, "  %%v%d = stablehlo.transpose %%v%d, dims = [", w->count, operand);
    for (size_t d = 0; d < s.rank; d++) {
        const size_t from = s.rank - 1 - d;
        result.extents[d] = s.extents[from];
        put(w, "%s%zu", d > 0 ? ", " : "", from);
    }
    put(w, "]");
    put_signature(w, operand, &result);
}

/* Joins the first two dimensions, or splits the first. */
static void put_reshape(writer *w, int operand)
{
    const shape s = w->shapes[operand];
    shape result = {.rank = 2};
    if (s.rank == 3) {
        result.extents[0] = s.extents[0] * s.extents[1];
        result.extents[1] = s.extents[2];
    } else {
        result.rank = 3;
        result.extents[0] = 2;
        result.extents[1] = s.extents[0] / 2;
        result.extents[2] = s.rank == 2 ? s.extents[1] : 1;
    }
    put(w, "  %%v%d = stablehlo.reshape %%v%d", w->count, operand);
    put_signature(w, operand, &result);
}

static void put_product(writer *w, int left)
{
    const shape a = w->shapes[left];
    if (a.rank != 2) {
        put_unary(w, left);
        return;
    }
    const int from = (int)rng_below(&w->r, w->count);
    for (int i = 0; i < w->count; i++) {
        const int right = (from + i) % w->count;
        const shape b = w->shapes[right];
        if (b.rank == 2 && b.extents[0] == a.extents[1]) {
            const shape result = {.rank = 2, .extents = {a.extents[0], b.extents[1]}};
            put(w, "  %%v%d = stablehlo.dot_general %%v%d, %%v%d, contracting_dims = [1] x [0] : (",
                w->count, left, right);
            put_type(w, &a);
            put(w, ", ");
            put_type(w, &b);
            put(w, ") -> ");
            put_type(w, &result);
            put(w, "\n");
            w->shapes[w->count++] = result;
            return;
        }
    }
    put_transpose(w, left);
}

static void put_broadcast(writer *w, int operand)
{
    const shape s = w->shapes[operand];
    if (s.rank == 3) {
        put_reshape(w, operand);
        return;
    }
    shape result = {.rank = s.rank + 1, .extents = {4}};
    put(w, "  %%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [", w->count, operand);
    for (size_t d = 0; d < s.rank; d++) {
        result.extents[d + 1] = s.extents[d];
        put(w, "%s%zu", d > 0 ? ", " : "", d + 1);
    }
    put(w, "]");
    put_signature(w, operand, &result);
}

static void put_barrier(writer *w, int operand)
{
    put(w, "  %%v%d = stablehlo.optimization_barrier %%v%d : ", w->count, operand);
    put_type(w, &w->shapes[operand]);
    put(w, "\n");
    w->shapes[w->count++] = w->shapes[operand];
}

static void put_op(writer *w)
{
    static void (*const ops[])(writer *, int) = {
        put_unary,     put_binary,  put_binary,    put_binary,  put_product,   put_product,
        put_transpose, put_reshape, put_broadcast, put_barrier, put_constraint};
    ops[rng_below(&w->r, (int64_t)(sizeof ops / sizeof ops[0]))](
        w, (int)(w->count - 1 - rng_below(&w->r, w->count < 6 ? w->count : 6)));
}

/* ---- programs ---- */

/* The last values: their types, or their names and types. */
static void put_results(writer *w, int num_arguments, bool types_only)
{
    enum { MAX_RESULTS = 4 };
    int first = w->count - MAX_RESULTS;
    first = first < num_arguments ? num_arguments : first;
    put(w, types_only ? "(" : "");
    for (int i = first; !types_only && i < w->count; i++) {
        put(w, "%s%%v%d", i > first ? ", " : "", i);
    }
    put(w, types_only ? "" : " : ");
    for (int i = first; i < w->count; i++) {
        put(w, i > first ? ", " : "");
        put_type(w, &w->shapes[i]);
    }
    put(w, types_only ? ")" : "");
}

static void put_main(writer *w)
{
    const int num_arguments = 1 + (int)rng_below(&w->r, 4);
    const int num_ops = 2 + (int)rng_below(&w->r, 14);
    put(w, "func.func @main(");
    for (int i = 0; i < num_arguments; i++) {
        shape s = {.rank = 2 + (size_t)rng_chance(&w->r, 20)};
        for (size_t d = 0; d < s.rank; d++) {
            s.extents[d] = random_extent(&w->r);
        }
        w->shapes[w->count++] = s;
        put(w, "%s%%v%d: ", i > 0 ? ", " : "", i);
        put_type(w, &s);
        if (rng_chance(&w->r, 70)) {
            put_note(w, &s);
        }
    }
    const size_t result = w->size;
    for (int i = 0; i < num_ops && w->count < MAX_VALUES; i++) {
        put_op(w);
    }
    char *body = strdup(w->text + result);
    assert_non_null(body);
    w->size = result;
    put(w, ") -> ");
    put_results(w, num_arguments, true);
    put(w, " {\n%s  return ", body);
    put_results(w, num_arguments, false);
    put(w, "\n}\n");
    free(body);
}

static const char stranger[] =
    "func.func @stranger(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {?}]>})"
    " -> tensor<8x4xf32> {\n"
    "  %b = stablehlo.tanh %a : tensor<8x4xf32>\n"
    "  %c = stablehlo.add %b, %a : tensor<8x4xf32>\n"
    "  return %c : tensor<8x4xf32>\n"
    "}\n";

static const char *write_program(fixture *f, random_program *p, bool before, bool after)
{
    writer w = {.p = p, .r = {p->seed}, .text = tsr_arena_alloc(f->arena, TEXT_ROOM)};
    assert_non_null(w.text);
    p->num_notes = 0;
    put(&w, "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2, \"c\"=4]>\n%s", before ? stranger : "");
    put_main(&w);
    put(&w, "%s", after ? stranger : "");
    return w.text;
}

const char *random_program_text(fixture *f, random_program *p)
{
    return write_program(f, p, false, false);
}

const char *random_program_with_stranger(fixture *f, random_program *p, bool before)
{
    return write_program(f, p, before, !before);
}
