#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/elementwise.h"

bool type_of_text(const char *text, tsr_dtype *dtype, size_t *rank, int64_t *shape)
{
    const char *at = strchr(text, '[');
    *rank = 0;
    if (at == NULL) {
        return false;
    }
    for (int i = 0; i < tsr_dtype_count(); i++) {
        const char *name = tsr_dtype_name((tsr_dtype)i);
        if (strlen(name) == (size_t)(at - text) && strncmp(name, text, strlen(name)) == 0) {
            *dtype = (tsr_dtype)i;
        }
    }
    for (at++; *at != ']'; at += *at == ',') {
        char *end;
        shape[(*rank)++] = strtoll(at, &end, 10);
        if (end == at) {
            return false;
        }
        at = end;
    }
    return true;
}

static void put_one(const int64_t *index, void *element, void *state)
{
    const tsr_tensor *t = state;
    (void)index;
    element_of_number(tsr_tensor_dtype(t), 1, element);
}

tsr_status tensor_of_text(tsr_comm *world, tsr_arena *arena, const tsr_mesh *mesh, const char *type,
                          const char *layout, tsr_tensor **out)
{
    int64_t shape[MAX_DIMS];
    tsr_tensor_spec spec = {.shape = shape};
    tsr_context *ctx = tsr_comm_context(world);
    if (!type_of_text(type, &spec.dtype, &spec.rank, shape)) {
        return TSR_ERR_SYNTAX;
    }
    tsr_status status = tsr_sharding_parse(ctx, arena, mesh, layout, &spec.sharding);
    if (status == TSR_OK) {
        status = tsr_tensor_create(world, &spec, out);
    }
    if (status == TSR_OK) {
        tsr_tensor_fill(*out, put_one, *out);
    }
    return status;
}

bool messages_have(tsr_comm *world, const char *part)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(tsr_comm_context(world));
    for (; d != NULL; d = d->next) {
        if (strstr(d->text, part) != NULL) {
            return true;
        }
        for (const tsr_diagnostic *n = d->notes; n != NULL; n = n->next) {
            if (strstr(n->text, part) != NULL) {
                return true;
            }
        }
    }
    return false;
}
