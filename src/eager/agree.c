#include "eager/agree.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "shard/sharding.h"

/* A text of limited size. */
typedef struct line {
    char *text;
    size_t size;
    size_t used;
} line;

__attribute__((format(printf, 2, 3))) static void append(line *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int added =
        l->used < l->size ? vsnprintf(l->text + l->used, l->size - l->used, format, arguments) : 0;
    va_end(arguments);
    l->used += added > 0 ? (size_t)added : 0;
}

static void append_ints(line *l, const op_ints *list)
{
    append(l, "[");
    for (size_t i = 0; i < list->count; i++) {
        append(l, "%s%" PRId64, i > 0 ? ", " : "", list->values[i]);
    }
    append(l, "]");
}

static void append_field(line *l, const op_field *field, const char *at)
{
    int64_t integer = 0;
    int32_t choice = 0;
    append(l, "%s = ", field->name);
    switch (field->kind) {
    case OP_FIELD_INT:
        memcpy(&integer, at, sizeof integer);
        append(l, "%" PRId64, integer);
        break;
    case OP_FIELD_INTS:
        append_ints(l, (const op_ints *)(const void *)at);
        break;
    case OP_FIELD_BOOL:
        append(l, "%s", *(const bool *)at ? "true" : "false");
        break;
    case OP_FIELD_ENUM:
        memcpy(&choice, at, sizeof choice);
        append(l, "%s", field->names[choice]);
        break;
    case OP_FIELD_REGION:
        append(l, "region %d", (int)((const op_region *)(const void *)at)->body);
        break;
    case OP_FIELD_DTYPE:
        append(l, "%s", tsr_dtype_name(*(const tsr_dtype *)(const void *)at));
        break;
    case OP_FIELD_RESULT:
        append(l, "%s", op_type_text((const op_type *)(const void *)at).text);
        break;
    }
    append(l, ", ");
}

static void append_number(line *l, const op_number *number)
{
    if (number->kind == OP_NUMBER_INTEGER) {
        append(l, "%" PRId64 ", ", number->integer);
    } else if (number->kind == OP_NUMBER_FLOAT) {
        append(l, "%.17g, ", number->real);
    } else {
        append(l, "%.17g + %.17gi, ", number->real, number->imaginary);
    }
}

/* A call and who describes it. */
typedef struct described {
    tsr_context *ctx;
    const local_call *call;
} described;

/* Parameters are first: what follows may be cut off. */
static void describe(const void *of, char *text, size_t size) /* NOLINT */
{
    const described *d = of;
    const local_call *what = d->call;
    line l = {text, size, 0};
    append(&l, "calls %s(", what->call);
    for (size_t i = 0; what->fields != NULL && i < what->fields->count; i++) {
        const op_field *field = &what->fields->fields[i];
        append_field(&l, field, (const char *)what->params + field->offset);
    }
    if (what->number != NULL) {
        append_number(&l, what->number);
    }
    for (size_t i = 0; i < what->num_tensors; i++) {
        char tensor[CALL_TEXT];
        describe_tensor(d->ctx, &what->tensors[i], tensor, sizeof tensor);
        append(&l, "%s%s", i > 0 ? ", " : "", tensor);
        if (what->operands != NULL && what->operands[i]->made_by > 0) {
            append(&l, " of call %llu",
                   (unsigned long long)(what->operands[i]->made_by / MADE_BY_RESULTS));
        }
    }
    append(&l, ")");
}

static uint64_t hash_number(const op_number *number, uint64_t seed)
{
    uint64_t hash = hash_bytes(&number->kind, sizeof number->kind, seed);
    hash = hash_bytes(&number->integer, sizeof number->integer, hash);
    hash = hash_bytes(&number->real, sizeof number->real, hash);
    return hash_bytes(&number->imaginary, sizeof number->imaginary, hash);
}

uint64_t hash_call(const local_call *what)
{
    uint64_t hash = op_params_hash(what->fields, what->params, 11);
    hash = what->op != NULL ? hash_bytes(what->op, strlen(what->op), hash) : hash;
    hash = what->number != NULL ? hash_number(what->number, hash) : hash;
    for (size_t i = 0; i < what->num_tensors; i++) {
        const tsr_tensor_spec *t = &what->tensors[i];
        hash = sharding_hash(t->sharding, hash + (uint64_t)t->dtype);
        hash = hash_bytes(t->shape, t->rank * sizeof *t->shape, hash);
    }
    return hash | 1;
}

static tsr_status compare_calls(const eager *e, const local_call *what, uint64_t hash)
{
    const described of = {e->world->ctx, what};
    const comm_call call = {.name = what->call, .hash = hash, .describe = describe, .of = &of};
    return comm_enter(e->world, &call);
}

tsr_status eager_agree(eager *e, const local_call *what, uint64_t *made_by)
{
    uint64_t hash = what->hash;
    *made_by = 0;
    if (e->world->size == 1 || e->typing.scope != NULL) {
        return TSR_OK;
    }
    if (hash == 0) {
        hash = hash_call(what);
    }
    for (size_t i = 0; what->operands != NULL && i < what->num_tensors; i++) {
        hash = history_mix(hash, what->operands[i]->made_by);
    }
    if (e->world->team->checked) {
        TSR_TRY(compare_calls(e, what, hash));
    }
    *made_by = made_by_call(history_add(&e->world->state->history, what->call, hash), 0);
    return TSR_OK;
}
