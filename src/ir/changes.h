/*
 * What changed in a program since it was verified: noted by the files that write records, read by
 * verification, which then checks only that, and by what is resolved once (shardings.h).
 *
 * Noting takes no memory: changes_reserve, which the calls that make ops and values call, has taken
 * it. Where it was not called, as before edit_begin, anything may have changed. What subjects are
 * stale is noted always: it takes no room.
 */
#ifndef IR_CHANGES_H
#define IR_CHANGES_H

#include "ir/program.h"

typedef enum change_kind {
    CHANGE_ATTRIBUTES = 1,
    CHANGE_OPERANDS = 2,
    CHANGE_PLACE = 4,   /* it was made, moved or taken away, or is another symbol */
    CHANGE_BODY = 8,    /* ops were put into its regions, or taken out of them */
    CHANGE_REGIONS = 16 /* its regions have other blocks, or it has another name */
} change_kind;

/* What of a program changed, beside ops and values. */
typedef enum change_subject {
    CHANGED_SYMBOLS = 1,      /* they were made, taken away, renamed or retyped */
    CHANGED_MESHES = 2,       /* or modules */
    CHANGED_COMPUTATIONS = 4, /* manual ones, which see shardings in their own way */
    CHANGED_PLACES = 8        /* ops were made, moved or given other operands */
} change_subject;

/* Starts noting: the program as it is now is verified. */
void changes_begin(tsr_program *p);
/* Stops noting: anything may have changed. */
void changes_forget(tsr_program *p);
void changes_free(tsr_program *p);

/* Makes room for changes of all ops and values. */
tsr_status changes_reserve(tsr_program *p);
void changes_note_op(tsr_program *p, uint32_t op, change_kind kind);
/* Before an op gets these properties. */
void changes_note_attributes(tsr_program *p, uint32_t op, uint32_t properties);
/* The uses of a value changed. */
void changes_note_value(tsr_program *p, uint32_t value);

/* How an op has changed, a sum of kinds; 0: it has not. */
static inline int changes_of_op(const tsr_program *p, uint32_t op)
{
    const ir_array *kinds = &p->changes.op_kinds;
    return op < kinds->capacity ? ((const uint8_t *)kinds->items)[op] : 0;
}

#endif
