#include "use.h"

static const tsr_mesh *draw_mesh(fixture *f, rng *r)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const int64_t sizes[] = {2, 2, 3, 4, 4, 6, 8, 16};
    const size_t count = 1 + (size_t)rng_below(r, 4);
    int64_t drawn[4];
    const tsr_mesh *mesh = NULL;
    for (size_t k = 0; k < count; k++) {
        drawn[k] = sizes[rng_below(r, 8)];
    }
    const tsr_mesh_spec spec = {
        .name = "mesh", .num_axes = count, .axis_names = names, .axis_sizes = drawn};
    assert_int_equal(tsr_mesh_create(f->ctx, f->arena, &spec, &mesh), TSR_OK);
    return mesh;
}

/* Axes and sub-axes of a mesh, in any order: each axis whole, or cut in two or three. */
static size_t draw_pieces(rng *r, const tsr_mesh *mesh, tsr_axis_ref *pieces)
{
    size_t count = 0;
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh); a++) {
        const int64_t size = tsr_mesh_axis_size(mesh, a);
        const bool cut = rng_chance(r, 35);
        int64_t pre = 1;
        while (pre < size) {
            int64_t part = size / pre;
            for (int64_t divisor = 2; cut && divisor < part; divisor++) {
                if (part % divisor == 0 && rng_chance(r, 60)) {
                    part = divisor;
                }
            }
            pieces[count] = tsr_axis_full(mesh, a);
            if (part != size) {
                pieces[count] = (tsr_axis_ref){(int32_t)a, 1, pre, part};
            }
            count++;
            pre *= part;
        }
    }
    for (size_t k = count; k > 1; k--) {
        const size_t other = (size_t)rng_below(r, (int64_t)k);
        const tsr_axis_ref kept = pieces[k - 1];
        pieces[k - 1] = pieces[other];
        pieces[other] = kept;
    }
    return count;
}

/* Pieces go to dimensions, to the replicated or the pending axes, or nowhere. */
static const tsr_sharding *draw_sharding(fixture *f, rng *r, const tsr_mesh *mesh, size_t rank,
                                         bool priorities)
{
    enum { MAX_DIMS_HERE = 32, MAX_PIECES = 24 };
    tsr_axis_ref pieces[MAX_PIECES];
    tsr_axis_ref lists[MAX_DIMS_HERE + 2][MAX_PIECES];
    size_t counts[MAX_DIMS_HERE + 2] = {0};
    tsr_dim dims[MAX_DIMS_HERE];
    const tsr_sharding *out = NULL;
    const size_t count = draw_pieces(r, mesh, pieces);
    const bool explicit_lists = rng_chance(r, 30);
    const int open = 25 * (int)rng_below(r, 5);
    assert_true(rank <= MAX_DIMS_HERE && count <= MAX_PIECES);
    for (size_t k = 0; k < count; k++) {
        size_t to = rank + 2; /* nowhere */
        if (rank > 0 && rng_chance(r, 60)) {
            to = (size_t)rng_below(r, (int64_t)rank);
        } else if (explicit_lists) {
            to = rank + (size_t)rng_below(r, 3);
        }
        if (to < rank + 2) {
            lists[to][counts[to]++] = pieces[k];
        }
    }
    for (size_t d = 0; d < rank; d++) {
        dims[d] = tsr_dim_closed(lists[d], counts[d]);
        dims[d].open = rng_chance(r, open);
        if (priorities && (dims[d].open || counts[d] > 0) && rng_chance(r, 60)) {
            dims[d].priority = rng_below(r, 4);
        }
    }
    const tsr_sharding_spec spec = {.mesh = mesh,
                                    .rank = rank,
                                    .dims = dims,
                                    .num_replicated = counts[rank],
                                    .replicated = lists[rank],
                                    .num_unreduced = counts[rank + 1],
                                    .unreduced = lists[rank + 1]};
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, TSR_SHARDING_CANONICALIZE, &out),
                     TSR_OK);
    return out;
}

static const op_type *tensor_at(const sharded_use *u, size_t t)
{
    return t < u->num_operands ? &u->i.operands[t] : &u->i.results[t - u->num_operands];
}

/* Shardings for some tensors; if one result has one, all have, as a list of them must. */
static void draw_shardings(fixture *f, rng *r, bool priorities, sharded_use *u)
{
    const int percent = 30 + 20 * (int)rng_below(r, 4);
    bool results = false;
    for (size_t t = 0; t < u->num_tensors; t++) {
        const op_type *type = tensor_at(u, t);
        const bool given = rng_chance(r, percent);
        u->before[t] = given ? draw_sharding(f, r, u->mesh, type->rank, priorities) : NULL;
        results = results || (given && t >= u->num_operands);
    }
    for (size_t t = u->num_operands; results && t < u->num_tensors; t++) {
        if (u->before[t] == NULL) {
            assert_int_equal(tsr_sharding_replicated_over(f->ctx, f->arena, u->mesh,
                                                          tensor_at(u, t)->rank, true,
                                                          &u->before[t]),
                             TSR_OK);
        }
    }
}

bool use_draw(fixture *f, const op_row *row, use_limits limits, rng *r, sharded_use *u)
{
    u->rule = NULL;
    if (!instance_draw(f, row, r, &u->i)) {
        return false;
    }
    instance_forget_facts(&u->i);
    u->i.facts.conservative = limits.conservative;
    const op_request request = instance_request(f, &u->i);
    if (op_find_rule(&request, u->i.results, f->arena, &u->rule) != TSR_OK) {
        return false;
    }
    u->num_operands = u->i.num_operands;
    u->num_tensors = u->num_operands + op_num_results(row, u->num_operands);
    u->mesh = draw_mesh(f, r);
    draw_shardings(f, r, limits.priorities, u);
    return true;
}

tsr_propagation use_propagation(const sharded_use *u, tsr_strategy strategy)
{
    return (tsr_propagation){.rule = u->rule,
                             .mesh = u->mesh,
                             .strategy = strategy,
                             .conservative = u->i.facts.conservative,
                             .elementwise = (u->i.row->traits & OP_ELEMENTWISE) != 0,
                             .operands = u->before,
                             .results = u->before + u->num_operands};
}
