/* Which function calls which. */
#include <string.h>

#include "base/arena.h"
#include "ir/message.h"
#include "ir/shardings.h"
#include "propagate/state.h"

static tsr_status add_call(propagation *s, uint32_t call)
{
    slice name;
    uint32_t func = 0;
    if (!attr_as_symbol(s->w.p, op_property(s->w.p, call, "callee"), &name)) {
        return TSR_OK;
    }
    TSR_TRY(program_symbol(s->w.ctx, s->w.p, call, name, &func));
    if (func == 0) {
        return TSR_OK;
    }
    call_links *links = &s->calls[func];
    s->calls[call].callee = func;
    if (links->last != 0) {
        s->calls[links->last].next = call;
    } else {
        links->first = call;
    }
    links->last = call;
    return TSR_OK;
}

tsr_status calls_load(propagation *s)
{
    tsr_program *p = s->w.p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (!op_is(p, op, OP_FUNC_CALL)) {
            continue;
        }
        if (s->calls == NULL) {
            s->calls = ARENA_ARRAY(s->w.arena, call_links, p->ops.count);
            if (s->calls == NULL) {
                return diag_nomem(s->w.ctx);
            }
            memset(s->calls, 0, p->ops.count * sizeof *s->calls);
        }
        TSR_TRY(add_call(s, op));
    }
    return TSR_OK;
}

uint32_t calls_callee(const propagation *s, uint32_t call)
{
    return s->calls != NULL ? s->calls[call].callee : 0;
}

uint32_t calls_first(const propagation *s, uint32_t func)
{
    return s->calls != NULL ? s->calls[func].first : 0;
}

uint32_t calls_next(const propagation *s, uint32_t call)
{
    return s->calls[call].next;
}
