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
} move_note;

/* What it is, in the arena's words; the event says everything. */
tsr_status describe_move(eager *e, tsr_arena *arena, const move_note *move, tsr_trace_event *out);

/* In strict mode, an error that says what would move and how to ask for it, if a byte would. */
tsr_status refuse_move(eager *e, const move_note *move);

/* Notes an event whose texts live as long as the trace, while something is traced. */
tsr_status trace_add(eager *e, const tsr_trace_event *event);

/* Notes it, while moves are traced. */
tsr_status note_move(eager *e, const move_note *move);

#endif
