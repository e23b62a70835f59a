#include "op_operands.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "kernel/elementwise.h"
#include "slices.h"

static void put(tsr_dtype dtype, double value, void *element)
{
    if (dtype == TSR_C64) {
        const float parts[] = {(float)value, (float)-value};
        memcpy(element, parts, sizeof parts);
        return;
    }
    element_of_number(dtype, value, element);
}

/* One operand on one rank: what its elements are, and what this rank has of those pending. */
typedef struct filling {
    const case_operand *operand;
    uint64_t seed;
    int64_t member;
    int64_t members;
    tsr_reduction reduction;
} filling;

static rng at_index(const filling *how, const int64_t *index)
{
    uint64_t id = 0;
    for (size_t d = 0; d < how->operand->rank; d++) {
        id = id * 64 + (uint64_t)index[d];
    }
    const rng base = {how->seed};
    return rng_case(&base, id);
}

static double value_of(const case_operand *o, rng *r)
{
    const int64_t drawn = rng_below(r, 1 << 20);
    if (o->powers) {
        return drawn % 24 == 0 ? 2 : drawn % 2 == 0 ? 1 : -1;
    }
    return (double)(o->low + drawn % (o->high - o->low + 1));
}

/* What others than the one who has the value give to it, and what that one has to make up for. */
static double other_share(const filling *how, const rng *base, int64_t member)
{
    const bool low = is_low_type(how->operand->dtype);
    rng r = rng_case(base, 50 + (uint64_t)member);
    return low ? 0 : (double)(rng_below(&r, 7) - 3);
}

static double clamp(const case_operand *o, double value)
{
    const bool truth = o->dtype == TSR_I1;
    const bool positive = truth || (o->dtype >= TSR_U2 && o->dtype <= TSR_U64);
    value = positive && value < 0 ? 0 : value;
    return truth && value > 1 ? 1 : value;
}

/* This rank's part of a value, such that the reduction of all of them is the value. */
static double share_of(const filling *how, const rng *base, double value, int64_t owner)
{
    const bool sums = how->reduction == TSR_SUM || how->reduction == TSR_AVG;
    if (how->member != owner) {
        const double other = other_share(how, base, how->member);
        switch (how->reduction) {
        case TSR_MAX:
            return clamp(how->operand, value - fabs(other));
        case TSR_MIN:
            return clamp(how->operand, value + fabs(other));
        case TSR_PROD:
            return 1;
        default:
            return other;
        }
    }
    if (!sums) {
        return value;
    }
    value *= how->reduction == TSR_AVG ? (double)how->members : 1;
    for (int64_t m = 0; m < how->members; m++) {
        value -= m == owner ? 0 : other_share(how, base, m);
    }
    return value;
}

static void fill_element(const int64_t *index, void *element, void *state)
{
    const filling *how = state;
    rng r = at_index(how, index);
    const rng base = r;
    double value = value_of(how->operand, &r);
    if (how->members > 1) {
        value = share_of(how, &base, value, rng_below(&r, how->members));
    }
    if (how->operand->dtype >= TSR_U2 && how->operand->dtype <= TSR_U64 && value < 0) {
        /* Wraps around as sums do. */
        const int64_t bits = (int64_t)value;
        memcpy(element, &bits, (size_t)tsr_dtype_item_bytes(how->operand->dtype));
        return;
    }
    put(how->operand->dtype, value, element);
}

/* Memory of the caller's for a part: the first dimension innermost, and gaps everywhere. */
static tsr_status wrap_strided(tsr_comm *world, tsr_arena *arena, const tsr_tensor_spec *spec,
                               tsr_tensor **out)
{
    int64_t sizes[MAX_DIMS];
    int64_t strides[MAX_DIMS];
    int64_t bytes = 2 * tsr_dtype_item_bytes(spec->dtype);
    const tsr_geometry *g = NULL;
    TSR_TRY(tsr_geometry_create(tsr_comm_context(world), arena, spec->sharding, spec->rank,
                                spec->shape, &g));
    (void)tsr_geometry_stored_size(g, tsr_comm_rank(world), sizes);
    for (size_t d = 0; d < spec->rank; d++) {
        strides[d] = bytes;
        bytes *= sizes[d] + 1;
    }
    char *memory = tsr_arena_alloc(arena, (size_t)bytes);
    memset(memory, 0, (size_t)bytes);
    return tsr_tensor_wrap(world, spec, memory, strides, out);
}

uint64_t op_case_seed(const op_case *c, size_t operand)
{
    const rng base = {c->seed};
    return rng_case(&base, 900 + operand).state;
}

tsr_status op_case_tensor(tsr_comm *world, tsr_arena *arena, const case_operand *o, uint64_t seed,
                          bool plain, tsr_tensor **out)
{
    const tsr_tensor_spec spec = {plain ? o->plain : o->sharding, o->dtype, o->rank, o->shape};
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(spec.sharding, &count);
    filling how = {.operand = o,
                   .seed = seed,
                   .members = tsr_axes_size(axes, count),
                   .reduction = tsr_sharding_reduction(spec.sharding)};
    how.member = index_along(tsr_sharding_mesh(spec.sharding), axes, count, tsr_comm_rank(world));
    const bool strided = !plain && arena != NULL && seed % 8 == 0;
    TSR_TRY(strided ? wrap_strided(world, arena, &spec, out)
                    : tsr_tensor_create(world, &spec, out));
    tsr_tensor_fill(*out, fill_element, &how);
    return TSR_OK;
}

int64_t elements_of(const tsr_tensor *t)
{
    int64_t count = 1;
    for (size_t d = 0; d < tsr_tensor_rank(t); d++) {
        count *= tsr_tensor_shape(t)[d];
    }
    return count;
}

size_t op_maker_index(const op_maker *op)
{
    size_t i = 0;
    while (op_maker_at(i) != op) {
        i++;
    }
    return i;
}

tsr_status op_case_complain(tsr_comm *world, const op_case *c, const char *what)
{
    return diag_error(tsr_comm_context(world), TSR_ERR_INVALID, NO_LOCATION, "%s: %s", c->op->call,
                      what);
}

void note_failed(_Atomic int64_t *failed, size_t which)
{
    int64_t none = -1;
    (void)atomic_compare_exchange_strong(failed, &none, (int64_t)which);
}

void op_case_print(fixture *f, const op_case *c)
{
    const char *names = "abcd";
    printf("mesh: %s\nstrategy: %s\n", mesh_text(f, c->mesh), tsr_strategy_name(c->strategy));
    for (size_t i = 0; i < (c->op->creates ? 1 : c->num_operands); i++) {
        const case_operand *o = &c->operands[i];
        printf("%c = %s[", names[i], tsr_dtype_name(o->dtype));
        for (size_t d = 0; d < o->rank; d++) {
            printf("%s%lld", d > 0 ? "," : "", (long long)o->shape[d]);
        }
        printf("] as %s", sharding_bare(f, o->sharding));
        const tsr_mesh *mesh = tsr_sharding_mesh(o->sharding);
        printf(tsr_mesh_equal(mesh, c->mesh) ? "\n" : " of %s\n", mesh_text(f, mesh));
    }
    printf("%s(", c->op->call);
    for (size_t i = 0; i < c->num_operands; i++) {
        printf("%s%c", i > 0 ? ", " : "", names[i]);
    }
    printf("%s, &out) on %lld ranks\n", c->arguments, (long long)c->limits.ranks);
}
