#include "transform/op_list.h"

#include "base/arena.h"

tsr_status op_list_add(workspace *w, op_list *list, uint32_t op)
{
    if (list->count == list->room) {
        const size_t room = list->room > 0 ? 2 * list->room : 16;
        uint32_t *ops = ARENA_ARRAY(w->arena, uint32_t, room);
        if (ops == NULL) {
            return diag_nomem(w->ctx);
        }
        for (size_t i = 0; i < list->count; i++) {
            ops[i] = list->ops[i];
        }
        list->ops = ops;
        list->room = room;
    }
    list->ops[list->count++] = op;
    return TSR_OK;
}
