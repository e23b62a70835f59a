/*
 * Locations that a text gives: interned lists of numbers, the kind first. An op without one is
 * where it stands in the text.
 */
#ifndef IR_LOCATION_H
#define IR_LOCATION_H

#include "ir/program.h"

typedef enum location_kind {
    LOCATION_UNKNOWN,
    LOCATION_FILE,     /* string, line, column, end line, end column, how much of the end is given;
                          0 for what is not there */
    LOCATION_NAME,     /* string, location or 0 */
    LOCATION_CALLSITE, /* callee, caller */
    LOCATION_FUSED,    /* attribute or 0, then locations */
    LOCATION_ALIAS     /* string: until the end of the text */
} location_kind;

/* How much of the end of a range is given. */
enum { NO_END, END_COLUMN, END_LINE };

/* The numbers of a given location, after the kind, and how many. */
const uint32_t *given_location(const tsr_program *p, uint32_t given, location_kind *kind,
                               size_t *count);

/* The offsets at which the lines of a text start, and where an offset is, from 1. */
typedef struct text_position {
    uint32_t line;
    uint32_t column;
} text_position;
tsr_status find_lines(tsr_context *ctx, const tsr_text *text, ir_array *lines);
text_position position_of(const ir_array *lines, uint32_t offset);

/* Where an op comes from, as tsr_ir_op_source says; the program owns the name of the file. */
bool op_source(const tsr_program *p, uint32_t op, slice *file, int64_t *line, int64_t *column);

#endif
