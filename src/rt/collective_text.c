/* Collectives as text, for messages. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rt/collective.h"

void describe_type(tsr_dtype dtype, const int64_t *shape, size_t rank, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s[", tsr_dtype_name(dtype));
    for (size_t i = 0; i < rank && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i > 0 ? "," : "",
                                 (long long)shape[i]);
    }
    if (used < size) {
        (void)snprintf(text + used, size - used, "]");
    }
}

/* Appends to a text, truncated to its room. */
static void append(char *text, size_t size, const char *format, ...) TSR_PRINTF(3, 4);
static void append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strnlen(text, size - 1);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void append_counts(char *text, size_t size, const char *name, const int64_t *values,
                          int64_t count)
{
    append(text, size, ", %s", name);
    for (int64_t i = 0; i < count; i++) {
        append(text, size, "%s%lld", i > 0 ? "," : " ", (long long)values[i]);
    }
}

void coll_task_describe(const void *task, char *text, size_t size)
{
    const coll_task *x = task;
    const coll_row *row = x->row;
    const coll_arguments *args = &x->args;
    char type[CALL_TEXT];
    const array *each = coll_has(row, COLL_ROOT_SENDS) ? &x->dst : &x->src;
    describe_type(x->dtype, each->shape, x->rank, type, sizeof type);
    (void)snprintf(text, size, "calls %s(", row->call);
    if (coll_has(row, COLL_HAS_OP)) {
        append(text, size, "%s, ", tsr_reduce_op_name(args->op));
    }
    append(text, size, "%s", type);
    if (coll_has(row, COLL_CUTS_SRC | COLL_CUTS_DST)) {
        const bool by_src = coll_has(row, COLL_CUTS_SRC);
        append(text, size, ", dim %zu", by_src ? args->src_dim : args->dst_dim);
    }
    if (coll_has(row, COLL_CUTS_SRC) && coll_has(row, COLL_CUTS_DST) &&
        !coll_has(row, COLL_HAS_COUNTS)) {
        append(text, size, " to %zu", args->dst_dim);
    }
    if (coll_has(row, COLL_ROOT_SENDS | COLL_ROOT_RECEIVES)) {
        append(text, size, ", root %lld", (long long)args->root);
    }
    if (coll_has(row, COLL_HAS_COUNTS)) {
        append_counts(text, size, "counts",
                      args->src_counts != NULL ? args->src_counts : args->dst_counts,
                      x->comm->size);
    }
    if (coll_has(row, COLL_HAS_DESTINATIONS)) {
        append_counts(text, size, "destinations", args->destinations, x->comm->size);
    }
    append(text, size, ")");
    if (!x->inlined && x->comm->state->choices.set[args->kind] != NULL) {
        append(text, size, " by %s", x->algorithm->shown.name);
    }
}
