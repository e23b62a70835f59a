#include "interp/machine.h"

#include <string.h>

#include "base/arena.h"

/* Calls and regions inside of each other. */
enum { MAX_ACTIVATIONS = 10000 };

void interp_machine_init(interp_machine *m, tsr_context *ctx, const program_code *code,
                         interp_pool *pool, interp_host *host)
{
    *m = (interp_machine){.ctx = ctx, .code = code, .pool = pool, .host = host};
}

void interp_release(interp_machine *m, const uint32_t *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        interp_array_drop(m->pool, m->slots[slots[i]]);
        m->slots[slots[i]] = NULL;
    }
}

static void drop_returned(interp_machine *m)
{
    for (size_t i = 0; i < m->num_returned; i++) {
        interp_array_drop(m->pool, m->returned[i]);
    }
    m->num_returned = 0;
}

/* Drops what is in slots from `first` on. */
static void drop_frames(interp_machine *m, size_t first)
{
    for (size_t i = first; i < m->num_frames; i++) {
        interp_array_drop(m->pool, m->frames[i]);
        m->frames[i] = NULL;
    }
    m->num_frames = first;
}

void interp_machine_clear(interp_machine *m)
{
    drop_returned(m);
    drop_frames(m, 0);
    (void)context_resize(m->ctx, m->stack, m->capacity * sizeof *m->stack, 0);
    (void)context_resize(m->ctx, m->frames, m->room * sizeof *m->frames, 0);
    (void)context_resize(m->ctx, m->returned, m->returned_room * sizeof *m->returned, 0);
    if (m->scratch != NULL) {
        tsr_arena_destroy(m->scratch);
    }
    interp_machine_init(m, m->ctx, m->code, m->pool, m->host);
}

tsr_status interp_run_unsupported(interp_machine *m, const code_step *step, const char *why)
{
    tsr_arena *arena = NULL;
    TSR_TRY(tsr_arena_create(m->ctx, &arena));
    const tsr_status status = code_refuse_types(m->ctx, arena, m->code->program, step->op, why);
    tsr_arena_destroy(arena);
    return status;
}

/* Room for `count` items of a list. */
static bool reserve(tsr_context *ctx, void **items, size_t *room, size_t count, size_t size)
{
    if (count <= *room) {
        return true;
    }
    const size_t larger = 2 * count;
    void *moved = context_resize(ctx, *items, *room * size, larger * size);
    if (moved == NULL) {
        return false;
    }
    memset((char *)moved + *room * size, 0, (larger - *room) * size);
    *items = moved;
    *room = larger;
    return true;
}

void *interp_scratch(interp_machine *m, size_t bytes)
{
    if (m->scratch == NULL && tsr_arena_create(m->ctx, &m->scratch) < 0) {
        return NULL;
    }
    m->has_scratch = true;
    return tsr_arena_alloc(m->scratch, bytes);
}

static void free_scratch(interp_machine *m)
{
    if (m->has_scratch) {
        tsr_arena_reset(m->scratch, m->scratch_mark);
        m->has_scratch = false;
    }
}

/* A new activation with slots from `frame` on. */
static tsr_status push(interp_machine *m, const code_block *block, const code_step *owner,
                       size_t which, size_t frame, size_t frame_end)
{
    void *stack = m->stack;
    if (m->depth >= MAX_ACTIVATIONS) {
        return diag_error(m->ctx, TSR_ERR_LIMIT, NO_LOCATION,
                          "more than %d nested calls and regions", MAX_ACTIVATIONS);
    }
    if (!reserve(m->ctx, &stack, &m->capacity, m->depth + 1, sizeof *m->stack)) {
        return diag_nomem(m->ctx);
    }
    m->stack = stack;
    m->stack[m->depth++] = (interp_activation){.block = block,
                                               .next = block->steps,
                                               .end = block->steps + block->num_steps,
                                               .owner = owner,
                                               .which = which,
                                               .frame = frame,
                                               .frame_end = frame_end};
    return TSR_OK;
}

static void drop_all(interp_machine *m, interp_array **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        interp_array_drop(m->pool, arrays[i]);
    }
}

static void set_arguments(interp_machine *m, const code_block *block, interp_array **arguments)
{
    for (size_t i = 0; i < block->num_arguments; i++) {
        m->slots[block->arguments[i]] = arguments[i];
    }
    interp_release(m, block->unused, block->num_unused);
}

tsr_status interp_enter_function(interp_machine *m, const code_function *f,
                                 interp_array **arguments, const code_step *owner)
{
    void *frames = m->frames;
    const size_t frame = m->num_frames;
    tsr_status status = TSR_OK;
    if (!reserve(m->ctx, &frames, &m->room, frame + f->num_slots + 1, sizeof *m->frames)) {
        status = diag_nomem(m->ctx);
    } else {
        m->frames = frames;
        status = push(m, f->body, owner, 0, frame, frame + f->num_slots);
    }
    if (status != TSR_OK) {
        drop_all(m, arguments, f->body->num_arguments);
        return status;
    }
    m->num_frames = frame + f->num_slots;
    m->slots = m->frames + frame;
    set_arguments(m, f->body, arguments);
    return TSR_OK;
}

tsr_status interp_enter_block(interp_machine *m, const code_block *block, interp_array **arguments,
                              const code_step *owner, size_t which)
{
    const interp_activation *now = &m->stack[m->depth - 1];
    const tsr_status status = push(m, block, owner, which, now->frame, now->frame_end);
    if (status != TSR_OK) {
        drop_all(m, arguments, block->num_arguments);
        return status;
    }
    set_arguments(m, block, arguments);
    return TSR_OK;
}

/* Keeps what a block returns, drops the rest of it, and goes back to what entered it. */
static tsr_status leave(interp_machine *m)
{
    const interp_activation a = m->stack[m->depth - 1];
    const code_step *end = &a.block->end;
    void *returned = m->returned;
    drop_returned(m);
    if (!reserve(m->ctx, &returned, &m->returned_room, end->num_operands, sizeof *m->returned)) {
        return diag_nomem(m->ctx);
    }
    m->returned = returned;
    for (size_t i = 0; i < end->num_operands; i++) {
        m->returned[i] = interp_array_keep(m->slots[end->operands[i]]);
    }
    m->num_returned = end->num_operands;
    interp_release(m, end->released, end->num_released);
    m->depth--;
    if (m->depth == 0 || m->stack[m->depth - 1].frame != a.frame) {
        drop_frames(m, a.frame);
    }
    m->slots = m->depth > 0 ? m->frames + m->stack[m->depth - 1].frame : NULL;
    if (a.owner == NULL) {
        return TSR_OK;
    }
    const tsr_status status = a.owner->resume(m, a.owner, a.which);
    if (status == TSR_OK) {
        interp_release(m, a.owner->released, a.owner->num_released);
    }
    return status;
}

tsr_status interp_take_returned(interp_machine *m, const code_step *step)
{
    for (size_t i = 0; i < step->num_results; i++) {
        interp_set_result(m, step, i, m->returned[i]);
    }
    m->num_returned = 0;
    return TSR_OK;
}

static tsr_status out_of_steps(const interp_machine *m, const code_step *step)
{
    return INTERP_RUN_ERROR(m, step, TSR_ERR_LIMIT,
                            "the program reached the limit of %lld ops; raise the limit",
                            (long long)m->host->steps);
}

tsr_status interp_machine_run(interp_machine *m, size_t until)
{
    while (m->depth > until) {
        interp_activation *a = &m->stack[m->depth - 1];
        tsr_status status;
        if (a->next == a->end) {
            status = leave(m);
        } else {
            const code_step *step = a->next++;
            if (m->host->steps++ >= m->host->steps_left) {
                return out_of_steps(m, step);
            }
            status = step->action(m, step);
            free_scratch(m);
            if (status == TSR_OK) {
                interp_release(m, step->released, step->num_released);
            } else if ((int)status == INTERP_WAITING) {
                m->stack[m->depth - 1].next--;
                return TSR_IN_PROGRESS;
            }
        }
        if (status < 0) {
            return status;
        }
    }
    return TSR_OK;
}

/* ---- regions that kernels call ---- */

enum { MAX_REGION_ARGUMENTS = 64 };

/* Runs steps inside of a step in progress, whose scratch memory stays. */
static tsr_status run_nested(interp_machine *m, size_t until)
{
    const tsr_arena_mark mark = m->scratch_mark;
    const bool has_scratch = m->has_scratch;
    if (has_scratch) {
        m->scratch_mark = tsr_arena_get_mark(m->scratch);
        m->has_scratch = false;
    }
    const tsr_status status = interp_machine_run(m, until);
    m->scratch_mark = mark;
    m->has_scratch = has_scratch;
    return status;
}

static tsr_status call_region(interp_machine *m, const code_block *block,
                              const void *const *arguments, void *const *results)
{
    interp_array *arrays[MAX_REGION_ARGUMENTS];
    const size_t until = m->depth;
    for (size_t i = 0; i < block->num_arguments; i++) {
        const tsr_status status = interp_array_new(m->pool, block->argument_types[i], &arrays[i]);
        if (status != TSR_OK) {
            drop_all(m, arrays, i);
            return status;
        }
        memcpy(arrays[i]->data, arguments[i], (size_t)arrays[i]->bytes);
    }
    TSR_TRY(interp_enter_block(m, block, arrays, NULL, 0));
    const tsr_status status = run_nested(m, until);
    if (status == TSR_IN_PROGRESS) {
        return diag_error(m->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "a collective in a region that is applied to single elements");
    }
    TSR_TRY(status);
    for (size_t i = 0; i < m->num_returned; i++) {
        memcpy(results[i], m->returned[i]->data, (size_t)m->returned[i]->bytes);
    }
    drop_returned(m);
    return TSR_OK;
}

void interp_region_call(void *state, const void *const *arguments, void *const *results)
{
    const interp_region *region = state;
    interp_machine *m = region->machine;
    if (m->failed == TSR_OK) {
        m->failed = call_region(m, region->block, arguments, results);
    }
}

/* ---- the ops ---- */

static const code_op *const lists[] = {
    interp_ops_basic, interp_ops_control,  interp_ops_check,      interp_ops_dynamic,
    interp_ops_chlo,  interp_ops_parallel, interp_ops_collective, interp_ops_custom,
    interp_ops_other, interp_ops_ragged,   interp_ops_quantized,  interp_ops_legacy,
};

const code_table interp_table = {lists, sizeof lists / sizeof lists[0], interp_prepare_kernel,
                                 interp_region_call};
