/* What a redistribution is, in words, and noting it. */
#ifndef EAGER_TRACE_H
#define EAGER_TRACE_H

#include "eager/eager.h"

/* A move of one tensor of a call. */
typedef struct move_note {
    const char *call;
    int64_t operand; /* -1 for the result */
    const tensor_layout *from;
    const tensor_layout *to;
    bool implicit;
    bool fallback;
    bool only_moves;      /* of no interest where no byte moves */
    const int64_t *only;  /* the rank that alone gets the result; NULL: all do */
    const tsr_plan *plan; /* NULL: that of the two layouts */
} move_note;

/* What it is, in the arena's words; the event says everything. */
tsr_status describe_move(eager *e, tsr_arena *arena, const move_note *move, tsr_trace_event *out);

/* In strict mode, an error that says what would move and how to ask for it, if a byte would. */
tsr_status refuse_move(eager *e, const move_note *move);

/* Notes an event whose texts live as long as the trace, while something is traced. */
tsr_status trace_add(eager *e, const tsr_trace_event *event);

/* Notes it, while moves are traced. */
tsr_status note_move(eager *e, const move_note *move);

/*
 * The hook of the world (rt/comm.h): notes a redistribution that ran outside of what notes its own
 * moves, which is between trace_own_begin and trace_own_end.
 */
tsr_status trace_moved(tsr_comm *world, const char *call, const tensor_layout *from,
                       const tensor_layout *to, const tsr_plan *plan, int64_t only);

static inline void trace_own_begin(eager *e)
{
    e->trace.own++;
}

static inline void trace_own_end(eager *e)
{
    e->trace.own--;
}

#endif
