#include "rt/box_walk.h"

/* Sets the box of a dimension to its run, or to the first row of it. */
static void set_box(box_walk *w, size_t dim)
{
    const box_walk_dim *d = &w->dims[dim];
    w->start[dim] = d->run.start;
    w->size[dim] = w->by_element ? 1 : d->run.size;
    w->offset[dim] = d->offset;
}

static bool next_run(box_walk *w, size_t dim)
{
    box_walk_dim *d = &w->dims[dim];
    if (!dim_next_stored(&w->geometry->dims[dim], d->shard, &d->at, &d->local, &d->run,
                         &d->offset)) {
        return false;
    }
    set_box(w, dim);
    return true;
}

static bool first_run(box_walk *w, size_t dim)
{
    w->dims[dim].at = 0;
    w->dims[dim].local = 0;
    return next_run(w, dim);
}

/* The next row of a run, by element; else the next run. */
static bool advance(box_walk *w, size_t dim)
{
    const box_walk_dim *d = &w->dims[dim];
    if (w->by_element && w->start[dim] + 1 < d->run.start + d->run.size) {
        w->start[dim]++;
        w->offset[dim]++;
        return true;
    }
    return next_run(w, dim);
}

bool box_walk_first(box_walk *w, const tsr_geometry *geometry, int64_t device, bool by_element)
{
    const int64_t place = tsr_mesh_place_of(geometry->sharding->mesh, device);
    w->geometry = geometry;
    w->by_element = by_element;
    for (size_t i = 0; i < geometry->rank; i++) {
        w->dims[i].shard = places_index(&geometry->dims[i].along, place);
        if (!first_run(w, i)) {
            return false;
        }
    }
    return true;
}

bool box_walk_next(box_walk *w)
{
    size_t dim = w->geometry->rank;
    while (dim > 0 && !advance(w, dim - 1)) {
        dim--;
    }
    if (dim == 0) {
        return false;
    }
    for (; dim < w->geometry->rank; dim++) {
        (void)first_run(w, dim);
    }
    return true;
}

int64_t box_walk_offset(const box_walk *w, const int64_t *strides)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < w->geometry->rank; i++) {
        bytes += w->offset[i] * strides[i];
    }
    return bytes;
}
