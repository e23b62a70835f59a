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
    for (size_t i = 0; i < x->step->dst->rank; i++) {
        const plan_rows *rows = &x->step->dims[i].rows[move->overlaps[i]->first + box->choice[i]];
        box->shape[i] = rows->size;
        box->src[i] = rows->src;
        box->dst[i] = rows->dst;
    }
}

void transfer_first(const transfer *x, const plan_move *move, transfer_box *box)
{
    memset(box->choice, 0, x->step->dst->rank * sizeof *box->choice);
    take_rows(x, move, box);
}

bool transfer_next(const transfer *x, const plan_move *move, transfer_box *box)
{
    size_t i = x->step->dst->rank;
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
    const size_t rank = x->step->dst->rank;
    const int64_t src_offset = transfer_offset(box->src, sides->src.strides, rank);
    char *dst = sides->dst.data + transfer_offset(box->dst, sides->dst.strides, rank);
    if (x->step->sources_each == 1) {
        kernel_copy(dst, sides->dst.strides, sides->src.data + src_offset, sides->src.strides,
                    box->shape, rank, x->item, x->stream);
        return;
    }
    const void *sources[COMM_MAX_RANKS];
    for (size_t q = 0; q < x->step->sources_each; q++) {
        sources[q] = (const char *)sides->sources[q] + src_offset;
    }
    kernel_fold(dst, sides->dst.strides, sources, x->step->sources_each, sides->src.strides,
                box->shape, rank, x->src->dtype, x->op, x->stream);
}

static void carry_out(const transfer *x, const plan_move *move)
{
    const int64_t *sources = x->step->sources + move->first_source;
    move_sides sides = {.dst = side_of(x, false, move->dst), .src = side_of(x, true, sources[0])};
    const int64_t bytes = move->elements * (int64_t)x->item;
    for (size_t q = 0; q < x->step->sources_each; q++) {
        sides.sources[q] = q == 0 ? sides.src.data : side_of(x, true, sources[q]).data;
        comm_count(x->world, sources[q], move->dst, bytes);
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
    const int64_t me = x->world->rank;
    const size_t rank = x->step->dst->rank;
    copy_batch b = copy_batch_new(rank, x->item, x->stream);
    for (size_t i = 0; i < x->step->num_moves; i++) {
        const plan_move *move = &x->step->moves[i];
        if (x->step->sources[move->first_source] != me || !transfer_wants(x, move)) {
            continue;
        }
        const side dst = side_of(x, false, move->dst);
        transfer_box box;
        transfer_first(x, move, &box);
        do {
            const kernel_box copy = {dst.data + transfer_offset(box.dst, dst.strides, rank),
                                     x->src->data + transfer_offset(box.src, x->src->strides, rank),
                                     dst.strides, x->src->strides, box.shape};
            copy_batch_add(&b, &copy);
        } while (transfer_next(x, move, &box));
        comm_count(x->world, me, move->dst, move->elements * (int64_t)x->item);
    }
    copy_batch_run(&b);
    kernel_copy_fence();
}

/* Reads what this rank receives from the others' parts, starting with the rank after it. */
static void pull_mine(const transfer *x)
{
    const plan_step *step = x->step;
    const int64_t me = x->world->rank;
    const int64_t ranks = x->world->size;
    for (int64_t turn = 0; turn < ranks; turn++) {
        const int64_t other = (me + turn) % ranks;
        for (size_t i = 0; i < step->num_moves; i++) {
            const plan_move *move = &step->moves[i];
            if (move->dst == me && step->sources[move->first_source] == other &&
                transfer_wants(x, move)) {
                carry_out(x, move);
            }
        }
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

/* Enters a step with both tensors, or with the reason why this rank cannot. */
static tsr_status enter(const transfer *x, uint64_t hash, tsr_status status)
{
    comm_call what = {.name = "tsr_redistribute", .hash = hash, .status = status};
    char text[CALL_TEXT];
    if (status == TSR_OK) {
        what.words[WORD_SRC] = comm_offset(x->world, x->src->data);
        what.words[WORD_DST] = comm_offset(x->world, x->dst->data);
        what.words[WORD_FLAGS] = (tensor_is_shared(x->src) ? SRC_IS_SHARED : 0U) |
                                 (tensor_is_shared(x->dst) ? DST_IS_SHARED : 0U);
    }
    if (status == TSR_OK && x->world->team->checked) {
        const char *dtype = tsr_dtype_name(x->src->dtype);
        const tsr_geometry *g = x->src->geometry;
        size_t used = (size_t)snprintf(text, sizeof text, "redistributes %s[", dtype);
        for (size_t i = 0; i < g->rank && used < sizeof text; i++) {
            const int added = snprintf(text + used, sizeof text - used, "%s%lld", i > 0 ? "," : "",
                                       (long long)g->shape[i]);
            used += added > 0 ? (size_t)added : 0;
        }
        if (used < sizeof text) {
            (void)snprintf(text + used, sizeof text - used, "]");
        }
        what.text = text;
    }
    return comm_enter(x->world, &what);
}

/* A hash of two tensors' shape, type and layout: what ranks must agree on. */
static tsr_status hash_pair(tsr_comm *world, const tsr_tensor *src, const tsr_geometry *dst,
                            uint64_t *out)
{
    tsr_arena *scratch = NULL;
    const char *texts[2] = {NULL, NULL};
    if (!world->team->checked) {
        *out = 0;
        return TSR_OK;
    }
    TSR_TRY(tsr_arena_create(world->ctx, &scratch));
    tsr_status status =
        tsr_sharding_print(world->ctx, scratch, src->geometry->sharding, TSR_PRINT_BARE, &texts[0]);
    if (status == TSR_OK) {
        status = tsr_sharding_print(world->ctx, scratch, dst->sharding, TSR_PRINT_BARE, &texts[1]);
    }
    if (status == TSR_OK) {
        uint64_t hash = hash_bytes(&src->dtype, sizeof src->dtype, 3);
        hash = hash_bytes(dst->shape, dst->rank * sizeof *dst->shape, hash);
        hash = hash_bytes(texts[0], strlen(texts[0]), hash);
        *out = hash_bytes(texts[1], strlen(texts[1]), hash);
    }
    tsr_arena_destroy(scratch);
    return status;
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
    return enter(x, 4, status);
}

/* Runs one step, entered already: push or pull is chosen alike on every rank. */
static tsr_status run_step(transfer *x)
{
    if (x->world->team->message) {
        return transfer_by_messages(x);
    }
    tsr_tensor *bounced = NULL;
    const bool fold = x->step->sources_each > 1;
    const bool push = !fold && all_have(x->world, DST_IS_SHARED);
    tsr_status status = TSR_OK;
    if (!push && !all_have(x->world, SRC_IS_SHARED)) {
        status = make_reachable(x, &bounced);
    }
    if (status == TSR_OK) {
        (push ? push_mine : pull_mine)(x);
        status = comm_leave(x->world, "tsr_redistribute");
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
        const size_t each = plan->steps[i].sources_each;
        if (each > 1 && !fold_supports(plan->dtype, fold_of(plan->reduction))) {
            return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION, "there is no %s of %s",
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

static tsr_status check_pair(const tsr_tensor *dst, const tsr_tensor *src, int64_t only)
{
    tsr_context *ctx = src->world->ctx;
    if (dst->dtype != src->dtype) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a redistribution keeps the element type: %s into %s",
                          tsr_dtype_name(src->dtype), tsr_dtype_name(dst->dtype));
    }
    if (dst->data == NULL || src->data == NULL) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a tensor without elements cannot be moved: it was made by tsr_abstract, "
                          "or from one that was");
    }
    if (dst->world != src->world) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "a redistribution is between tensors of one world");
    }
    if ((only < 0 || only == src->world->rank) && overlap(dst, src)) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the two tensors overlap in the memory of rank %lld",
                          (long long)src->world->rank);
    }
    return TSR_OK;
}

/* The state of a redistribution on one rank. */
typedef struct prepared {
    const tsr_plan *plan;
    tsr_tensor *middle; /* between two steps */
} prepared;

static tsr_status prepare(const tsr_tensor *dst, const tsr_tensor *src, int64_t only, prepared *out)
{
    tsr_context *ctx = src->world->ctx;
    TSR_TRY(check_pair(dst, src, only));
    TSR_TRY(plan_cache_get(&src->world->state->plans, ctx, src->geometry, dst->geometry, src->dtype,
                           &out->plan));
    TSR_TRY(check_fold(ctx, out->plan));
    if (out->plan->num_steps == 2) {
        const tsr_geometry *g = out->plan->steps[0].dst;
        const tsr_tensor_spec spec = {g->sharding, src->dtype, g->rank, g->shape};
        TSR_TRY(tensor_make(src->world, &spec, NULL, NULL, &out->middle));
    }
    return TSR_OK;
}

static void unprepare(tsr_comm *world, prepared *p)
{
    tsr_tensor_release(p->middle);
    plan_cache_put(&world->state->plans, p->plan);
}

static transfer transfer_of(tsr_tensor *dst, tsr_tensor *src)
{
    const size_t item = (size_t)tsr_dtype_item_bytes(src->dtype);
    size_t bytes = item;
    for (size_t i = 0; i < src->geometry->rank; i++) {
        bytes *= (size_t)src->local_shape[i];
    }
    return (transfer){.world = src->world,
                      .src = src,
                      .dst = dst,
                      .item = item,
                      .stream = bytes >= KERNEL_STREAM_BYTES,
                      .only = -1};
}

/* Runs the steps of a plan; the first one is entered already. */
static tsr_status run_plan(const prepared *p, tsr_tensor *dst, tsr_tensor *src, int64_t only)
{
    for (size_t i = 0; i < p->plan->num_steps; i++) {
        const bool last = i + 1 == p->plan->num_steps;
        transfer x = transfer_of(last ? dst : p->middle, i == 0 ? src : p->middle);
        x.step = &p->plan->steps[i];
        x.op = fold_of(p->plan->reduction);
        x.only = last ? only : -1;
        if (i > 0) {
            TSR_TRY(enter(&x, 5, TSR_OK));
        }
        TSR_TRY(run_step(&x));
    }
    return TSR_OK;
}

tsr_status redistribute_to(tsr_tensor *dst, tsr_tensor *src, int64_t only)
{
    prepared p = {0};
    uint64_t hash = 0;
    tsr_status status = prepare(dst, src, only, &p);
    if (status == TSR_OK) {
        status = hash_pair(src->world, src, dst->geometry, &hash);
    }
    const transfer first = transfer_of(p.middle != NULL ? p.middle : dst, src);
    status = enter(&first, hash, status);
    if (status == TSR_OK && p.plan != NULL) {
        status = run_plan(&p, dst, src, only);
    }
    unprepare(src->world, &p);
    return status;
}

tsr_status tsr_redistribute_into(tsr_tensor *dst, tsr_tensor *src)
{
    return redistribute_to(dst, src, -1);
}

/* Tells the others that this rank could not make the destination. */
static tsr_status refuse(tsr_comm *world, tsr_status made)
{
    const comm_call what = {.name = "tsr_redistribute", .status = made};
    return comm_enter(world, &what);
}

/* Fills a fresh destination, or frees it on failure. */
static tsr_status fill_fresh(tsr_tensor *fresh, tsr_tensor *tensor, tsr_tensor **out)
{
    const tsr_status status = tsr_redistribute_into(fresh, tensor);
    if (status < 0) {
        tsr_tensor_release(fresh);
        return status;
    }
    *out = fresh;
    return TSR_OK;
}

tsr_status redistribute_to_layout(tsr_tensor *tensor, tensor_layout *layout, tsr_tensor **out)
{
    tsr_tensor *fresh = NULL;
    const tsr_status made = tensor_of_layout(tensor->world, layout, NULL, &fresh);
    return made < 0 ? refuse(tensor->world, made) : fill_fresh(fresh, tensor, out);
}

tsr_status tsr_redistribute(tsr_tensor *tensor, const tsr_sharding *sharding, tsr_tensor **out)
{
    const tsr_geometry *g = tensor->geometry;
    const tsr_tensor_spec spec = {sharding, tensor->dtype, g->rank, g->shape};
    tsr_tensor *fresh = NULL;
    const tsr_status made = tensor_make(tensor->world, &spec, NULL, NULL, &fresh);
    return made < 0 ? refuse(tensor->world, made) : fill_fresh(fresh, tensor, out);
}
