/*
 * Executing a plan on one host: every rank copies straight between its memory and its peers'.
 *
 * A rank pushes where the destinations can be reached: it reads its own part in order and writes
 * runs into every destination. It pulls where only the sources can be reached, and for folds, which
 * read several sources at once. Where neither can be reached, each rank first puts its part into
 * its segment.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "base/map.h"
#include "rt/transfer.h"

/* The words of a rank's record: where its part is before and after the step, and flags. */
enum { WORD_SRC, WORD_DST, WORD_FLAGS };
enum { SRC_IS_SHARED = 1, DST_IS_SHARED = 2 };

/* An array with strides that a move reads or writes. */
typedef struct side {
    char *data;
    int64_t strides[KERNEL_MAX_RANK];
} side;

/* The part of a rank, here or elsewhere, of one of the two tensors. */
static side side_of(const transfer *x, bool source, int64_t rank)
{
    side s;
    const tsr_tensor *mine = source ? x->src : x->dst;
    if (rank == x->world->rank) {
        s.data = mine->data;
        memcpy(s.strides, mine->strides, mine->geometry->rank * sizeof *s.strides);
        return s;
    }
    const call_record *record = comm_record(x->world, rank);
    s.data = comm_address(x->world, rank, record->words[source ? WORD_SRC : WORD_DST]);
    (void)stored_strides(mine->geometry, rank, mine->dtype, s.strides);
    return s;
}

/* The sides of a move: a destination and what is folded into it. */
typedef struct move_sides {
    side dst;
    side src; /* the strides of all sources, and the data of the first */
    const void *sources[COMM_MAX_RANKS];
} move_sides;

/* Takes the rows that the box's choice names. */
static void take_rows(const transfer *x, const plan_move *move, transfer_box *box)
{
    for (size_t i = 0; i < x->rank; i++) {
        const plan_rows *rows = &move->overlaps[i]->rows[box->choice[i]];
        box->shape[i] = rows->size;
        box->src[i] = rows->src;
        box->dst[i] = rows->dst;
    }
}

void transfer_first(const transfer *x, const plan_move *move, transfer_box *box)
{
    memset(box->choice, 0, x->rank * sizeof *box->choice);
    take_rows(x, move, box);
}

bool transfer_next(const transfer *x, const plan_move *move, transfer_box *box)
{
    size_t i = x->rank;
    while (i > 0 && ++box->choice[i - 1] == move->overlaps[i - 1]->count) {
        box->choice[--i] = 0;
    }
    if (i > 0) {
        take_rows(x, move, box);
    }
    return i > 0;
}

static void move_box(const transfer *x, const transfer_box *box, const move_sides *sides)
{
    const size_t rank = x->rank;
    const int64_t src_offset = transfer_offset(box->src, sides->src.strides, rank);
    char *dst = sides->dst.data + transfer_offset(box->dst, sides->dst.strides, rank);
    if (x->parts == 1) {
        kernel_copy(dst, sides->dst.strides, sides->src.data + src_offset, sides->src.strides,
                    box->shape, rank, x->item, x->stream);
        return;
    }
    const void *sources[COMM_MAX_RANKS];
    for (size_t q = 0; q < x->parts; q++) {
        sources[q] = (const char *)sides->sources[q] + src_offset;
    }
    kernel_fold(dst, sides->dst.strides, sources, x->parts, sides->src.strides, box->shape, rank,
                x->src->dtype, x->op, x->stream);
}

/* Reads what this rank receives by one move. */
static void pull(const transfer *x, const plan_move *move)
{
    const int64_t me = x->world->rank;
    const int64_t *sources = transfer_sources(move);
    move_sides sides = {.dst = side_of(x, false, me), .src = side_of(x, true, sources[0])};
    const int64_t bytes = move->elements * (int64_t)x->item;
    for (size_t q = 0; q < x->parts; q++) {
        sides.sources[q] = q == 0 ? sides.src.data : side_of(x, true, sources[q]).data;
        comm_count(x->world, sources[q], me, bytes);
    }
    transfer_box box;
    transfer_first(x, move, &box);
    do {
        move_box(x, &box, &sides);
    } while (transfer_next(x, move, &box));
}

/*
 * Writes what all ranks, this one included, receive from this rank into their parts: interleaved,
 * so that its own part is read once, in order.
 */
static void push_mine(const transfer *x)
{
    const size_t rank = x->rank;
    copy_batch b = copy_batch_new(rank, x->item, x->stream);
    for (size_t i = 0; i < x->sends.count; i++) {
        const plan_move *move = &x->sends.list[i];
        if (!transfer_wants(x, move->peer)) {
            continue;
        }
        const side dst = side_of(x, false, move->peer);
        transfer_box box;
        transfer_first(x, move, &box);
        do {
            const kernel_box copy = {dst.data + transfer_offset(box.dst, dst.strides, rank),
                                     x->src->data + transfer_offset(box.src, x->src->strides, rank),
                                     dst.strides, x->src->strides, box.shape};
            copy_batch_add(&b, &copy);
        } while (transfer_next(x, move, &box));
        comm_count(x->world, x->world->rank, move->peer, move->elements * (int64_t)x->item);
    }
    copy_batch_run(&b);
    kernel_copy_fence();
}

/* Reads what this rank receives from the others' parts, starting with a rank after it. */
static void pull_mine(const transfer *x)
{
    const size_t count = x->receives.count;
    size_t first = 0;
    while (first < count && x->receives.list[first].peer <= x->world->rank) {
        first++;
    }
    for (size_t i = 0; i < count && transfer_wants(x, x->world->rank); i++) {
        pull(x, &x->receives.list[(first + i) % count]);
    }
    kernel_copy_fence();
}

/* Whether all ranks have a flag in their records. */
static bool all_have(const tsr_comm *world, uint64_t flag)
{
    for (int64_t i = 0; i < world->size; i++) {
        if ((comm_record(world, i)->words[WORD_FLAGS] & flag) == 0) {
            return false;
        }
    }
    return true;
}

/* What this rank moves, from where to where, and in which call. */
static void describe_move(const void *of, char *text, size_t size)
{
    const transfer *x = of;
    const tsr_geometry *g = x->src->geometry;
    const tsr_tensor_spec spec = {g->sharding, x->src->dtype, g->rank, g->shape};
    tsr_context *ctx = x->world->ctx;
    tsr_arena *scratch = NULL;
    const char *to = "";
    char from[CALL_TEXT];
    describe_tensor(ctx, &spec, from, sizeof from);
    if (tsr_arena_create(ctx, &scratch) == TSR_OK) {
        (void)!tsr_sharding_print(ctx, scratch, x->dst->geometry->sharding, TSR_PRINT_BARE, &to);
    }
    (void)snprintf(text, size, "redistributes %s to %s in %s", from, to, x->call);
    tsr_arena_destroy(scratch);
}

/* Enters a step with both tensors, or with the reason why this rank cannot. */
static tsr_status enter(const transfer *x, tsr_status status)
{
    comm_call what = {
        .name = x->call, .hash = x->hash, .status = status, .describe = describe_move, .of = x};
    if (status == TSR_OK) {
        what.words[WORD_SRC] = comm_offset(x->world, x->src->data);
        what.words[WORD_DST] = comm_offset(x->world, x->dst->data);
        what.words[WORD_FLAGS] = (tensor_is_shared(x->src) ? SRC_IS_SHARED : 0U) |
                                 (tensor_is_shared(x->dst) ? DST_IS_SHARED : 0U);
    }
    return comm_enter(x->world, &what);
}

/* A copy of this rank's part in its segment, row-major. */
static tsr_status bounce(const tsr_tensor *t, tsr_tensor **out)
{
    const tsr_geometry *g = t->geometry;
    const tsr_tensor_spec spec = {g->sharding, t->dtype, g->rank, g->shape};
    TSR_TRY(tensor_make(t->world, &spec, NULL, NULL, out));
    kernel_copy((*out)->data, (*out)->strides, t->data, t->strides, t->local_shape, g->rank,
                (size_t)tsr_dtype_item_bytes(t->dtype), false);
    return TSR_OK;
}

/* Copies the source into the segment and enters again, when a rank's source cannot be reached. */
static tsr_status make_reachable(transfer *x, tsr_tensor **bounced)
{
    const tsr_status status = bounce(x->src, bounced);
    x->src = status == TSR_OK ? *bounced : x->src;
    x->hash++;
    return enter(x, status);
}

/* Runs one step, entered already: push or pull is chosen alike on every rank. */
static tsr_status run_step(transfer *x)
{
    if (x->world->team->message) {
        return transfer_by_messages(x);
    }
    tsr_tensor *bounced = NULL;
    const bool fold = x->parts > 1;
    const bool push = !fold && all_have(x->world, DST_IS_SHARED);
    tsr_status status = TSR_OK;
    if (!push && !all_have(x->world, SRC_IS_SHARED)) {
        status = make_reachable(x, &bounced);
    }
    if (status == TSR_OK) {
        (push ? push_mine : pull_mine)(x);
        status = comm_leave(x->world, x->call);
    }
    tsr_tensor_release(bounced);
    return status;
}

static fold_op fold_of(tsr_reduction reduction)
{
    static const fold_op ops[] = {[TSR_SUM] = FOLD_SUM,
                                  [TSR_MAX] = FOLD_MAX,
                                  [TSR_MIN] = FOLD_MIN,
                                  [TSR_AVG] = FOLD_AVG,
                                  [TSR_PROD] = FOLD_PROD};
    return ops[reduction];
}

static tsr_status check_fold(tsr_context *ctx, const tsr_plan *plan)
{
    for (size_t i = 0; i < plan->num_steps; i++) {
        const int64_t parts = exchange_parts(&plan->steps[i].exchange);
        if (parts > 1 && !fold_supports(plan->dtype, fold_of(plan->reduction))) {
            return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                              "%s is not defined for element type %s",
                              fold_name(fold_of(plan->reduction)), tsr_dtype_name(plan->dtype));
        }
    }
    return TSR_OK;
}

/* Whether the memory of this rank's parts overlaps, from the first to the last byte. */
static bool overlap(const tsr_tensor *a, const tsr_tensor *b)
{
    uintptr_t low[2];
    uintptr_t high[2];
    tensor_span(a, &low[0], &high[0]);
    tensor_span(b, &low[1], &high[1]);
    return low[0] < high[1] && low[1] < high[0] && low[0] < high[0] && low[1] < high[1];
}

static tsr_status check_pair(const char *call, const tsr_tensor *dst, const tsr_tensor *src,
                             int64_t only)
{
    tsr_context *ctx = src->world->ctx;
    TSR_TRY(tensor_check_whole(call, src));
    TSR_TRY(tensor_check_whole(call, dst));
    if (dst->dtype != src->dtype) {
        return diag_error(
            ctx, TSR_ERR_INVALID, NO_LOCATION,
            "a redistribution keeps the element type, but source and destination have %s and %s",
            tsr_dtype_name(src->dtype), tsr_dtype_name(dst->dtype));
    }
    const bool abstract = src->world->team->abstract;
    TSR_TRY(abstract ? TSR_OK : tensor_check_elements(dst));
    TSR_TRY(abstract ? TSR_OK : tensor_check_elements(src));
    if (dst->world != src->world) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a redistribution needs two tensors of one world");
    }
    if (!abstract && (only < 0 || only == src->world->rank) && overlap(dst, src)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the two tensors overlap in the memory of rank %lld",
                          (long long)src->world->rank);
    }
    return TSR_OK;
}

/* A redistribution on one rank: a plan, and what this rank does in it. */
typedef struct redistribution {
    const char *call;
    tsr_tensor *dst;
    tsr_tensor *src;
    int64_t only;
    const tsr_plan *plan;
    const plan_part *part;
    uint64_t hash;          /* of what must be the same on all ranks */
    tsr_tensor *between[2]; /* what a step reads and writes; NULL for the two ends */
} redistribution;

/* The sides that a rank needs of a fold: where memory is shared, it only receives. */
static part_lists sides_of_folds(const tsr_comm *world)
{
    return world->team->message ? PART_BOTH : PART_RECEIVES;
}

/* Makes the tensor that a step fills, unless that is the last one. */
static tsr_status make_between(redistribution *r, size_t step)
{
    r->between[1] = NULL;
    if (step + 1 == r->plan->num_steps) {
        return TSR_OK;
    }
    const tsr_geometry *g = r->plan->steps[step].exchange.dst.of;
    const tsr_tensor_spec spec = {g->sharding, r->src->dtype, g->rank, g->shape};
    return tensor_make(r->src->world, &spec, NULL, NULL, &r->between[1]);
}

/* The state of one step; `hash` is of the whole plan. */
static transfer transfer_of(const redistribution *r, size_t step)
{
    tsr_tensor *src = r->between[0] != NULL ? r->between[0] : r->src;
    tsr_tensor *dst = r->between[1] != NULL ? r->between[1] : r->dst;
    const size_t item = (size_t)tsr_dtype_item_bytes(src->dtype);
    size_t bytes = item;
    for (size_t i = 0; i < src->geometry->rank; i++) {
        bytes *= (size_t)src->local_shape[i];
    }
    transfer x = {.call = r->call,
                  .world = src->world,
                  .src = src,
                  .dst = dst,
                  .rank = src->geometry->rank,
                  .parts = 1,
                  .item = item,
                  .stream = bytes >= KERNEL_STREAM_BYTES,
                  .hash = r->hash + 2 * step,
                  .only = -1};
    if (r->part != NULL) {
        x.receives = r->part->receives[step];
        x.sends = r->part->sends[step];
        x.parts = (size_t)exchange_parts(&r->plan->steps[step].exchange);
        x.op = fold_of(r->plan->reduction);
        x.only = step + 1 == r->plan->num_steps ? r->only : -1;
    }
    return x;
}

/*
 * Runs the steps one after the other; `status` is whether this rank can take the first one. What a
 * step fills is made before the rendezvous of the step, so that every rank learns of a failure, and
 * what it reads is freed after it.
 */
static tsr_status run_steps(redistribution *r, tsr_status status)
{
    const size_t num_steps = r->plan != NULL ? r->plan->num_steps : 1;
    for (size_t i = 0; i < num_steps; i++) {
        status = status == TSR_OK ? make_between(r, i) : status;
        transfer x = transfer_of(r, i);
        status = enter(&x, status);
        status = status == TSR_OK ? run_step(&x) : status;
        tsr_tensor_release(r->between[0]);
        r->between[0] = r->between[1];
        if (status < 0) {
            break;
        }
    }
    tsr_tensor_release(r->between[0]);
    return status;
}

static tsr_status prepare(redistribution *r, const cached_plan **out)
{
    tsr_comm *world = r->src->world;
    plan_cache *plans = &world->state->plans;
    TSR_TRY(check_pair(r->call, r->dst, r->src, r->only));
    TSR_TRY(
        plan_cache_get(plans, world->ctx, r->src->geometry, r->dst->geometry, r->src->dtype, out));
    r->plan = (*out)->plan;
    TSR_TRY(check_fold(world->ctx, r->plan));
    TSR_TRY(plan_cache_get_part(plans, world->ctx, *out, world->rank, sides_of_folds(world)));
    r->part = (*out)->part;
    r->hash = (*out)->hash + (uint64_t)r->only;
    return TSR_OK;
}

tsr_status redistribution_ran(const char *call, const tsr_tensor *dst, const tsr_tensor *src,
                              const tsr_plan *plan, int64_t only)
{
    tsr_comm *world = dst->world;
    const tensor_layout *from = src != NULL ? src->layout : NULL;
    if (world->state->moved == NULL) {
        return TSR_OK;
    }
    return comm_tell(world, call, world->state->moved(world, call, from, dst->layout, plan, only));
}

/* What an abstract world checks of a redistribution; unbound sizes have no plan. */
static tsr_status check_abstract(const char *call, const tsr_tensor *dst, const tsr_tensor *src,
                                 int64_t only)
{
    tsr_comm *world = src->world;
    TSR_TRY(check_pair(call, dst, src, only));
    if (geometry_is_bound(src->geometry) && geometry_is_bound(dst->geometry)) {
        const cached_plan *plan = NULL;
        TSR_TRY(plan_cache_get(&world->state->plans, world->ctx, src->geometry, dst->geometry,
                               src->dtype, &plan));
        const tsr_status status = check_fold(world->ctx, plan->plan);
        plan_cache_put(&world->state->plans, plan);
        return status;
    }
    plan_sketch sketch;
    tsr_arena *scratch = NULL;
    TSR_TRY(tsr_arena_create(world->ctx, &scratch));
    const tsr_status status =
        plan_sketch_create(world->ctx, scratch, src->geometry, dst->geometry, &sketch);
    tsr_arena_destroy(scratch);
    return status;
}

static tsr_status redistribute_elements(const char *call, tsr_tensor *dst, tsr_tensor *src,
                                        int64_t only)
{
    if (src->world->team->abstract) {
        return check_abstract(call, dst, src, only);
    }
    redistribution r = {.call = call, .dst = dst, .src = src, .only = only};
    const cached_plan *plan = NULL;
    const tsr_status status = run_steps(&r, prepare(&r, &plan));
    plan_cache_put(&src->world->state->plans, plan);
    return status;
}

/* Room for the sums in the layout of a destination; none where nothing is written. */
static tsr_status make_sums(const tsr_tensor *dst, tsr_dtype dtype, bool written, tsr_tensor **out)
{
    static char nothing[1];
    const tsr_geometry *g = dst->geometry;
    const tsr_tensor_spec spec = {g->sharding, dtype, g->rank, g->shape};
    return tensor_make(dst->world, &spec, written ? NULL : nothing, NULL, out);
}

/* The sums of a destination, and the layout that it has with them. */
static tsr_status prepare_sums(const tsr_tensor *dst, tsr_dtype dtype, bool written,
                               tsr_tensor **wide, tensor_layout **pending)
{
    TSR_TRY(make_sums(dst, dtype, written, wide));
    const tsr_status status =
        layout_get_pending(dst->world, layout_plain(dst->layout), dtype, pending);
    if (status < 0) {
        tsr_tensor_release(*wide);
    }
    return status;
}

/* Folds sums in f32 and converts what comes out; what stays pending is kept in f32. */
static tsr_status redistribute_sums(const char *call, tsr_tensor *dst, tsr_tensor *sums,
                                    int64_t only)
{
    tsr_comm *world = dst->world;
    const bool written = only < 0 || only == world->rank;
    tsr_tensor *wide = NULL;
    tensor_layout *pending = NULL;
    const tsr_status made = prepare_sums(dst, sums->dtype, written, &wide, &pending);
    const comm_call refusal = {.name = call, .status = made};
    if (made < 0) {
        return comm_enter(world, &refusal);
    }
    const tsr_status status = redistribute_elements(call, wide, sums, only);
    if (status == TSR_OK && written) {
        tensor_round(dst, wide);
    }
    if (status == TSR_OK && only < 0 && dst->geometry->sharding->num_unreduced > 0) {
        tensor_keep_sums(dst, wide, pending);
    } else {
        tsr_tensor_release(wide);
        layout_release(&world->state->layouts, pending);
    }
    return status;
}

static bool same_extents(const tsr_geometry *a, const tsr_geometry *b)
{
    return a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

tsr_status redistribute_to(const char *call, tsr_tensor *dst, tsr_tensor *src, int64_t only)
{
    const bool fits = dst != src && dst->world == src->world && dst->dtype == src->dtype &&
                      same_extents(dst->geometry, src->geometry);
    tsr_status status;
    if (src->sums != NULL && fits) {
        status = redistribute_sums(call, dst, src->sums, only);
    } else {
        if (dst != src) {
            tensor_drop_sums(dst);
        }
        status = redistribute_elements(call, dst, src, only);
    }
    return status < 0 ? status : redistribution_ran(call, dst, src, NULL, only);
}

/* Refuses a plan between other layouts than those of the two tensors. */
static tsr_status check_plan(const redistribution *r)
{
    const tsr_plan *plan = r->plan;
    tsr_context *ctx = r->src->world->ctx;
    if (plan->dtype != r->src->dtype) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the plan is for element type %s, but the tensor has %s",
                          tsr_dtype_name(plan->dtype), tsr_dtype_name(r->src->dtype));
    }
    if (!geometry_equal(plan->steps[0].exchange.src.of, r->src->geometry)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the first layout of the plan is not the layout of the source");
    }
    if (!geometry_equal(plan->steps[plan->num_steps - 1].exchange.dst.of, r->dst->geometry)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the last layout of the plan is not the layout of the destination");
    }
    return TSR_OK;
}

/* A hash of all layouts of a plan. */
static uint64_t hash_plan(const tsr_plan *plan)
{
    uint64_t hash = plan->num_steps;
    for (size_t i = 0; i < plan->num_steps; i++) {
        const plan_exchange *x = &plan->steps[i].exchange;
        hash = plan_hash(x->src.of, x->dst.of, plan->dtype) + 31 * hash;
    }
    return hash;
}

static tsr_status prepare_given(redistribution *r, tsr_arena **arena, plan_part *part)
{
    tsr_comm *world = r->src->world;
    TSR_TRY(check_pair(r->call, r->dst, r->src, r->only));
    TSR_TRY(check_plan(r));
    TSR_TRY(check_fold(world->ctx, r->plan));
    TSR_TRY(tsr_arena_create(world->ctx, arena));
    TSR_TRY(
        plan_part_create(world->ctx, *arena, r->plan, world->rank, sides_of_folds(world), part));
    r->part = part;
    r->hash = hash_plan(r->plan);
    return TSR_OK;
}

tsr_status tsr_redistribute_by(tsr_tensor *dst, tsr_tensor *src, const tsr_plan *plan)
{
    GUARD(tsr_redistribute_by);
    redistribution r = {
        .call = "tsr_redistribute_by", .dst = dst, .src = src, .only = -1, .plan = plan};
    tsr_arena *arena = NULL;
    plan_part part = {0};
    const tsr_status status = run_steps(&r, prepare_given(&r, &arena, &part));
    tsr_arena_destroy(arena);
    return status < 0 ? status : redistribution_ran(r.call, dst, src, plan, -1);
}

tsr_status tsr_redistribute_into(tsr_tensor *dst, tsr_tensor *src)
{
    GUARD(tsr_redistribute_into);
    return redistribute_to("tsr_redistribute_into", dst, src, -1);
}

/* Fills a fresh destination, or frees it on failure; `made` is whether this rank has one. */
static tsr_status fill_fresh(const char *call, tsr_status made, tsr_tensor *fresh,
                             tsr_tensor *tensor, tsr_tensor **out)
{
    const comm_call refusal = {.name = call, .status = made};
    if (made < 0) {
        return comm_enter(tensor->world, &refusal);
    }
    const tsr_status status = redistribute_to(call, fresh, tensor, -1);
    if (status < 0) {
        tsr_tensor_release(fresh);
        return status;
    }
    fresh->made_by = tensor->made_by; /* the same elements */
    *out = fresh;
    return TSR_OK;
}

tsr_status redistribute_to_layout(const char *call, tsr_tensor *tensor, tensor_layout *layout,
                                  tsr_tensor **out)
{
    tsr_tensor *fresh = NULL;
    const tsr_status made = tensor_of_layout(tensor->world, layout, NULL, &fresh);
    return fill_fresh(call, made, fresh, tensor, out);
}

tsr_status tsr_redistribute(tsr_tensor *tensor, const tsr_sharding *sharding, tsr_tensor **out)
{
    GUARD(tsr_redistribute);
    const tsr_geometry *g = tensor->geometry;
    const tsr_tensor_spec spec = {sharding, tensor->dtype, g->rank, g->shape};
    tsr_tensor *fresh = NULL;
    const tsr_status made = tensor_make(tensor->world, &spec, NULL, NULL, &fresh);
    return fill_fresh("tsr_redistribute", made, fresh, tensor, out);
}
