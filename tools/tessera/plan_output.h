/* What `tessera plan` prints. */
#ifndef TOOL_PLAN_OUTPUT_H
#define TOOL_PLAN_OUTPUT_H

#include "session.h"

/* A route, and the texts that it was found for. */
struct plan_view {
    const tsr_route *route;
    const tsr_mesh *mesh; /* of the source */
    const char *from;
    const char *to;
    const char *shape;
    int64_t memory; /* the limit; 0: none */
};

tsr_status plan_print_table(struct session *session, const struct plan_view *view);
tsr_status plan_print_json(struct session *session, const struct plan_view *view);

/* A name, and a text beside it in lines that fit the terminal. */
void plan_print_wrapped(const char *name, const char *text);

#endif
