/* Processes that run in parallel: started, numbered, fed, and sending to each other. */
#include <string.h>

#include "base/arena.h"
#include "interp/steps_collective.h"
#include "interp/world.h"
#include "ir/elements.h"
#include "number/element.h"

/* ---- run_parallel ---- */

typedef struct parallel_step {
    size_t replicas;
    size_t partitions;
    const code_function **programs;
    const code_function **infeed;
    size_t num_infeed;
} parallel_step;

/* Enters every program with its share of the operands. */
static tsr_status enter_all(interp_machine *m, const code_step *step, interp_world *world)
{
    const parallel_step *p = step->data;
    size_t operand = 0;
    for (size_t i = 0; i < world->count; i++) {
        const size_t count = p->programs[i]->body->num_arguments;
        interp_array **arguments = interp_scratch(&world->machines[i], count * sizeof *arguments);
        if (arguments == NULL) {
            return diag_nomem(m->ctx);
        }
        for (size_t k = 0; k < count; k++) {
            arguments[k] = interp_array_keep(interp_operand(m, step, operand++));
        }
        TSR_TRY(interp_enter_function(&world->machines[i], p->programs[i], arguments, NULL));
    }
    return TSR_OK;
}

static tsr_status run_parallel(interp_machine *m, const code_step *step)
{
    const parallel_step *p = step->data;
    interp_world world;
    size_t result = 0;
    TSR_TRY(interp_world_init(&world, m, p->replicas, p->partitions));
    world.infeed = p->infeed;
    world.num_infeed = p->num_infeed;
    tsr_status status = enter_all(m, step, &world);
    if (status == TSR_OK) {
        status = interp_world_run(&world, m);
    }
    for (size_t i = 0; i < world.count && status == TSR_OK; i++) {
        interp_machine *machine = &world.machines[i];
        for (size_t k = 0; k < machine->num_returned; k++) {
            interp_set_result(m, step, result++, machine->returned[k]);
        }
        machine->num_returned = 0;
    }
    interp_world_clear(&world, m);
    return status;
}

/* The functions that an array of symbols names. */
static tsr_status read_functions(code_decoder *d, const code_step *step, uint32_t attr,
                                 const code_function **out)
{
    const attr_head *list = program_attr(d->code->program, attr);
    for (uint32_t i = 0; i < list->count; i++) {
        TSR_TRY(code_find_function(d, step->op, attr_list(list)[i], &out[i]));
    }
    return TSR_OK;
}

static bool same_tensor(const code_type *a, const code_type *b)
{
    return a->kind == b->kind &&
           (a->kind != CODE_TENSOR ||
            (a->tensor.dtype == b->tensor.dtype && op_shapes_agree(&a->tensor, &b->tensor)));
}

/* Whether operands and results are those of all programs, one after the other. */
static bool programs_fit(const code_step *step, const parallel_step *p)
{
    size_t operand = 0;
    size_t result = 0;
    for (size_t i = 0; i < p->replicas * p->partitions; i++) {
        const code_block *body = p->programs[i]->body;
        for (size_t k = 0; k < body->num_arguments; k++, operand++) {
            if (operand >= step->num_operands ||
                !same_tensor(body->argument_types[k], step->types[operand])) {
                return false;
            }
        }
        for (size_t k = 0; k < body->end.num_operands; k++, result++) {
            if (result >= step->num_results ||
                !same_tensor(body->end.types[k], step->types[step->num_operands + result])) {
                return false;
            }
        }
    }
    return operand == step->num_operands && result == step->num_results;
}

static tsr_status read_programs(code_decoder *d, const code_step *step, parallel_step *p)
{
    const tsr_program *program = d->code->program;
    const uint32_t attr = op_property(program, step->op, "programs");
    if (!attr_is(program, attr, ATTR_ARRAY) || program_attr(program, attr)->count == 0) {
        return TSR_NOT_APPLICABLE;
    }
    const attr_head *rows = program_attr(program, attr);
    p->replicas = rows->count;
    for (uint32_t r = 0; r < rows->count; r++) {
        const uint32_t row = attr_list(rows)[r];
        if (!attr_is(program, row, ATTR_ARRAY) || program_attr(program, row)->count == 0 ||
            (r > 0 && program_attr(program, row)->count != p->partitions)) {
            return TSR_NOT_APPLICABLE;
        }
        p->partitions = program_attr(program, row)->count;
    }
    p->programs = ARENA_ARRAY(d->code->arena, const code_function *, p->replicas * p->partitions);
    if (p->programs == NULL) {
        return diag_nomem(d->code->ctx);
    }
    for (uint32_t r = 0; r < rows->count; r++) {
        TSR_TRY(read_functions(d, step, attr_list(rows)[r], p->programs + r * p->partitions));
    }
    return TSR_OK;
}

static tsr_status prepare_parallel(code_decoder *d, code_step *step)
{
    parallel_step *p = CODE_NEW(d, parallel_step);
    const uint32_t infeed = op_property(d->code->program, step->op, "infeed");
    if (p == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *p = (parallel_step){0};
    const tsr_status status = read_programs(d, step, p);
    if (status != TSR_OK) {
        return status;
    }
    if (attr_is(d->code->program, infeed, ATTR_ARRAY)) {
        p->num_infeed = program_attr(d->code->program, infeed)->count;
        p->infeed = ARENA_ARRAY(d->code->arena, const code_function *, p->num_infeed);
        if (p->infeed == NULL) {
            return diag_nomem(d->code->ctx);
        }
        TSR_TRY(read_functions(d, step, infeed, p->infeed));
    }
    step->action = run_parallel;
    step->devices = CODE_MAKES_DEVICES;
    step->data = p;
    return programs_fit(step, p) ? TSR_OK : TSR_NOT_APPLICABLE;
}

/* ---- numbers of processes ---- */

static tsr_status set_number(interp_machine *m, const code_step *step, size_t number)
{
    interp_array *result;
    const uint32_t value = (uint32_t)number;
    TSR_TRY(interp_array_new(m->pool, step->types[0], &result));
    memcpy(result->data, &value, sizeof value);
    interp_set_result(m, step, 0, result);
    return TSR_OK;
}

static tsr_status run_replica_id(interp_machine *m, const code_step *step)
{
    return set_number(m, step, m->process / m->world->partitions);
}

static tsr_status run_partition_id(interp_machine *m, const code_step *step)
{
    return set_number(m, step, m->process % m->world->partitions);
}

static tsr_status prepare_number(code_decoder *d, code_step *step)
{
    const bool replica = op_is(d->code->program, step->op, OP_STABLEHLO_REPLICA_ID);
    const op_type *type = &step->types[0]->tensor;
    step->action = replica ? run_replica_id : run_partition_id;
    step->devices = CODE_NEEDS_DEVICES;
    return type->rank == 0 && type->dtype == TSR_U32 ? TSR_OK : TSR_NOT_APPLICABLE;
}

/* ---- infeed and outfeed ---- */

static tsr_status run_infeed(interp_machine *m, const code_step *step)
{
    interp_world *world = m->world;
    if (world == NULL || world->next_infeed == world->num_infeed) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID, "%s", "the infeed has no more values");
    }
    const code_function *f = world->infeed[world->next_infeed++];
    if (f->body->num_arguments != 0) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID, "%s",
                                "the infeed function must not take arguments");
    }
    TSR_TRY(interp_enter_function(m, f, NULL, step));
    return (tsr_status)INTERP_ENTERED;
}

/* What the function returned, and a token. */
static tsr_status resume_infeed(interp_machine *m, const code_step *step, size_t which)
{
    interp_array *made = NULL;
    (void)which;
    if (m->num_returned + 1 != step->num_results) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID, "%zu values given, %u expected",
                                m->num_returned, step->num_results - 1);
    }
    for (size_t i = 0; i < m->num_returned; i++) {
        const op_type type = interp_array_type(m->returned[i]);
        const op_type *wanted = &step->types[step->num_operands + i]->tensor;
        if (type.dtype != wanted->dtype || !op_shapes_agree(&type, wanted)) {
            return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID, "the infeed has %s, expected %s",
                                    op_type_text(&type).text, op_type_text(wanted).text);
        }
    }
    TSR_TRY(interp_array_token(m->pool, &made));
    for (size_t i = 0; i < m->num_returned; i++) {
        interp_set_result(m, step, i, m->returned[i]);
    }
    interp_set_result(m, step, m->num_returned, made);
    m->num_returned = 0;
    return TSR_OK;
}

static tsr_status prepare_infeed(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_infeed;
    step->resume = resume_infeed;
    const code_type *last =
        step->num_results > 0 ? step->types[step->num_operands + step->num_results - 1] : NULL;
    return last != NULL && last->kind == CODE_TOKEN ? TSR_OK : TSR_NOT_APPLICABLE;
}

static tsr_status run_outfeed(interp_machine *m, const code_step *step)
{
    interp_array *made = NULL;
    TSR_TRY(interp_array_token(m->pool, &made));
    interp_set_result(m, step, 0, made);
    return TSR_OK;
}

static tsr_status prepare_outfeed(code_decoder *d, code_step *step)
{
    (void)d;
    step->action = run_outfeed;
    return step->num_results == 1 && step->types[step->num_operands]->kind == CODE_TOKEN
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

/* ---- send and recv ---- */

typedef struct channel_step {
    int64_t channel;
    const int64_t *pairs; /* from, to; none: to any process */
    size_t num_pairs;
} channel_step;

static tsr_status append_message(interp_machine *m, int64_t channel, size_t target,
                                 const code_step *step)
{
    const size_t count = step->num_operands - 1;
    interp_array **members = interp_scratch(m, count * sizeof *members);
    interp_message *message = context_resize(m->ctx, NULL, 0, sizeof *message);
    interp_array *values = NULL;
    tsr_status status = members == NULL || message == NULL ? diag_nomem(m->ctx) : TSR_OK;
    for (size_t i = 0; status == TSR_OK && i < count; i++) {
        members[i] = interp_operand(m, step, i);
    }
    if (status == TSR_OK) {
        status = interp_array_tuple(m->pool, members, count, &values);
    }
    if (status != TSR_OK) {
        (void)context_resize(m->ctx, message, sizeof *message, 0);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        (void)interp_array_keep(members[i]);
    }
    *message = (interp_message){.channel = channel, .target = target, .values = values};
    interp_message **last = &m->world->messages;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = message;
    return TSR_OK;
}

static tsr_status run_send(interp_machine *m, const code_step *step)
{
    const channel_step *c = step->data;
    interp_array *made = NULL;
    for (size_t i = 0; i < c->num_pairs; i++) {
        if ((size_t)c->pairs[2 * i] == m->process) {
            TSR_TRY(append_message(m, c->channel, (size_t)c->pairs[2 * i + 1], step));
        }
    }
    if (c->num_pairs == 0) {
        TSR_TRY(append_message(m, c->channel, SIZE_MAX, step));
    }
    TSR_TRY(interp_array_token(m->pool, &made));
    interp_set_result(m, step, 0, made);
    return TSR_OK;
}

/* Whether values are of the types of the results but the last, a token. */
static bool message_fits(const code_step *step, const interp_array *values)
{
    if (values->rank + 1 != step->num_results) {
        return false;
    }
    for (size_t i = 0; i < values->rank; i++) {
        const op_type type = interp_array_type(interp_tuple_members(values)[i]);
        const op_type *wanted = &step->types[step->num_operands + i]->tensor;
        if (type.dtype != wanted->dtype || !op_shapes_agree(&type, wanted)) {
            return false;
        }
    }
    return true;
}

/* Whether a process gets nothing by the pairs: it receives zeros. */
static bool receives(const channel_step *c, size_t process)
{
    for (size_t i = 0; i < c->num_pairs; i++) {
        if ((size_t)c->pairs[2 * i + 1] == process) {
            return true;
        }
    }
    return c->num_pairs == 0;
}

static tsr_status receive_zeros(interp_machine *m, const code_step *step)
{
    for (size_t i = 0; i + 1 < step->num_results; i++) {
        interp_array *zeros;
        TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands + i], &zeros));
        memset(zeros->data, 0, (size_t)zeros->bytes);
        interp_set_result(m, step, i, zeros);
    }
    return TSR_OK;
}

static tsr_status run_recv(interp_machine *m, const code_step *step)
{
    const channel_step *c = step->data;
    interp_array *made = NULL;
    if (!receives(c, m->process)) {
        TSR_TRY(receive_zeros(m, step));
        TSR_TRY(interp_array_token(m->pool, &made));
        interp_set_result(m, step, step->num_results - 1, made);
        return TSR_OK;
    }
    interp_message **at = &m->world->messages;
    while (*at != NULL && ((*at)->channel != c->channel ||
                           ((*at)->target != SIZE_MAX && (*at)->target != m->process))) {
        at = &(*at)->next;
    }
    interp_message *message = *at;
    if (message == NULL) {
        return (tsr_status)INTERP_WAITING;
    }
    if (!message_fits(step, message->values)) {
        return INTERP_RUN_ERROR(m, step, TSR_ERR_INVALID, "%s",
                                "the types of the sent and the received values differ");
    }
    TSR_TRY(interp_array_token(m->pool, &made));
    interp_set_result(m, step, step->num_results - 1, made);
    for (size_t i = 0; i + 1 < step->num_results; i++) {
        interp_set_result(m, step, i, interp_array_keep(interp_tuple_members(message->values)[i]));
    }
    *at = message->next;
    interp_array_drop(m->pool, message->values);
    (void)context_resize(m->ctx, message, sizeof *message, 0);
    return TSR_OK;
}

static tsr_status prepare_channel(code_decoder *d, code_step *step)
{
    const tsr_program *p = d->code->program;
    const bool sends = op_is(p, step->op, OP_STABLEHLO_SEND);
    const code_type *last =
        step->num_results > 0 ? step->types[step->num_operands + step->num_results - 1] : NULL;
    channel_step *c = CODE_NEW(d, channel_step);
    if (c == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *c = (channel_step){.channel = interp_channel_of(p, step->op)};
    TSR_TRY(interp_read_pairs(d, step->op, "source_target_pairs", &c->pairs, &c->num_pairs));
    step->action = sends ? run_send : run_recv;
    step->devices = CODE_NEEDS_DEVICES;
    step->data = c;
    return last != NULL && last->kind == CODE_TOKEN && step->num_operands > 0 &&
                   (sends ? step->num_results == 1 : step->num_operands == 1)
               ? TSR_OK
               : TSR_NOT_APPLICABLE;
}

const code_op interp_ops_parallel[OP_KIND_COUNT] = {
    [OP_INTERPRETER_RUN_PARALLEL] = {.prepare = prepare_parallel},
    [OP_STABLEHLO_REPLICA_ID] = {.prepare = prepare_number},
    [OP_STABLEHLO_PARTITION_ID] = {.prepare = prepare_number},
    [OP_STABLEHLO_INFEED] = {.prepare = prepare_infeed},
    [OP_STABLEHLO_OUTFEED] = {.prepare = prepare_outfeed},
    [OP_STABLEHLO_SEND] = {.prepare = prepare_channel},
    [OP_STABLEHLO_RECV] = {.prepare = prepare_channel},
};
