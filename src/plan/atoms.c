#include "plan/atoms.h"

#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "shard/geometry.h"

enum { MAX_CUTS = 256, MAX_PAIRS = 64 };

/* Ids at which some digit begins or ends: ascending, each once. */
typedef struct cut_list {
    int64_t at[MAX_CUTS];
    size_t count;
    bool fits; /* all axes are digits of the ids, and there was room */
} cut_list;

static void add_cut(cut_list *cuts, int64_t at)
{
    size_t i = 0;
    while (i < cuts->count && cuts->at[i] < at) {
        i++;
    }
    if (i < cuts->count && cuts->at[i] == at) {
        return;
    }
    if (cuts->count == MAX_CUTS) {
        cuts->fits = false;
        return;
    }
    memmove(&cuts->at[i + 1], &cuts->at[i], (cuts->count - i) * sizeof *cuts->at);
    cuts->at[i] = at;
    cuts->count++;
}

static void add_axes(cut_list *cuts, const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tsr_stride pairs[MAX_PAIRS];
        size_t num_pairs = 0;
        if (tsr_mesh_axis_strides(mesh, axes[i], MAX_PAIRS, pairs, &num_pairs) != TSR_OK) {
            cuts->fits = false;
            return;
        }
        for (size_t k = 0; k < num_pairs; k++) {
            add_cut(cuts, pairs[k].stride);
            add_cut(cuts, pairs[k].stride * pairs[k].size);
        }
    }
}

/* The cuts of a mesh, and of the parts of axes that a sharding names. */
static void add_sharding(cut_list *cuts, const tsr_sharding *s)
{
    const tsr_mesh *mesh = s->mesh;
    for (size_t i = 0; i < tsr_mesh_num_axes(mesh); i++) {
        const tsr_axis_ref axis = tsr_axis_full(mesh, i);
        add_axes(cuts, mesh, &axis, 1);
    }
    for (size_t d = 0; d < s->rank; d++) {
        add_axes(cuts, mesh, s->dims[d].axes, s->dims[d].num_axes);
    }
    add_axes(cuts, mesh, s->unreduced, s->num_unreduced);
}

/* The part of an axis of the source mesh that is this digit; false if no axis has it. */
static bool find_ref(const tsr_mesh *mesh, int64_t size, int64_t stride, tsr_axis_ref *out)
{
    for (size_t i = 0; i < tsr_mesh_num_axes(mesh); i++) {
        const tsr_axis_ref axis = tsr_axis_full(mesh, i);
        tsr_stride pairs[MAX_PAIRS];
        size_t count = 0;
        int64_t before = 1;
        if (tsr_mesh_axis_strides(mesh, axis, MAX_PAIRS, pairs, &count) != TSR_OK) {
            return false;
        }
        for (size_t k = 0; k < count; k++) {
            const int64_t end = pairs[k].stride * pairs[k].size;
            if (pairs[k].stride <= stride && stride * size <= end) {
                const int64_t pre = before * (end / (stride * size));
                *out = size == axis.size ? axis : tsr_axis_sub(i, pre, size);
                return true;
            }
            before *= pairs[k].size;
        }
    }
    return false;
}

static size_t level_of(const plan_space *space, int64_t stride)
{
    int64_t inner = 1;
    size_t level = space->topology.num_levels;
    while (level-- > 0) {
        inner *= space->topology.levels[level].size;
        if (stride < inner) {
            return level;
        }
    }
    return 0;
}

/* Between each cut and the next an atom, outermost first. */
static bool make_atoms(plan_space *space, const cut_list *cuts)
{
    space->num_atoms = 0;
    for (size_t i = cuts->count; i-- > 1;) {
        const int64_t stride = cuts->at[i - 1];
        const int64_t size = cuts->at[i] / stride;
        plan_atom *atom = &space->atoms[space->num_atoms++];
        *atom = (plan_atom){.size = size, .stride = stride, .level = level_of(space, stride)};
        if (cuts->at[i] % stride != 0 ||
            !find_ref(space->src->sharding->mesh, size, stride, &atom->ref)) {
            return false;
        }
    }
    return true;
}

static tsr_status check_limits(tsr_context *ctx, const plan_space *space, const cut_list *cuts)
{
    if (space->rank > ATOMS_MAX_RANK) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "a tensor of rank %zu cannot be planned by levels; the maximum is %d",
                          space->rank, ATOMS_MAX_RANK);
    }
    if (cuts->count > ATOMS_MAX + 1) {
        return diag_error(ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "the axes and levels of a plan have %zu parts in common; the maximum "
                          "is %d: use a mesh with fewer parts of axes",
                          cuts->count - 1, ATOMS_MAX);
    }
    return TSR_OK;
}

tsr_status atoms_find(tsr_context *ctx, plan_space *space)
{
    cut_list cuts = {.fits = true};
    int64_t devices = 1;
    add_cut(&cuts, 1);
    for (size_t i = space->topology.num_levels; i-- > 0;) {
        devices *= space->topology.levels[i].size;
        add_cut(&cuts, devices);
    }
    add_sharding(&cuts, space->src->sharding);
    add_sharding(&cuts, space->dst->sharding);
    if (cuts.fits) {
        TSR_TRY(check_limits(ctx, space, &cuts));
    }
    if (!cuts.fits || !make_atoms(space, &cuts)) {
        return TSR_NOT_APPLICABLE;
    }
    return TSR_OK;
}

/* Adds the atoms of one part of an axis, major to minor; false if it cuts an atom. */
static bool add_digit(const plan_space *space, tsr_stride part, uint8_t *out, size_t *count)
{
    int64_t covered = 1;
    for (size_t i = 0; i < space->num_atoms; i++) {
        const plan_atom *atom = &space->atoms[i];
        if (atom->stride >= part.stride && atom->stride * atom->size <= part.stride * part.size) {
            out[(*count)++] = (uint8_t)i;
            covered *= atom->size;
        }
    }
    return covered == part.size;
}

bool atoms_of_axes(const plan_space *space, const tsr_mesh *mesh, const tsr_axis_ref *axes,
                   size_t num_axes, uint8_t *out, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < num_axes; i++) {
        tsr_stride pairs[MAX_PAIRS];
        size_t num_pairs = 0;
        if (tsr_mesh_axis_strides(mesh, axes[i], MAX_PAIRS, pairs, &num_pairs) != TSR_OK) {
            return false;
        }
        for (size_t k = 0; k < num_pairs; k++) {
            if (!add_digit(space, pairs[k], out, count)) {
                return false;
            }
        }
    }
    return true;
}

int64_t atoms_product(const plan_space *space, uint32_t set)
{
    int64_t product = 1;
    for (size_t i = 0; i < space->num_atoms; i++) {
        product *= (set >> i & 1) != 0 ? space->atoms[i].size : 1;
    }
    return product;
}
