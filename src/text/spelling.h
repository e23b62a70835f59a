/* The syntaxes that no form describes, and names that ops suggest: functions by kind. */
#ifndef TEXT_SPELLING_H
#define TEXT_SPELLING_H

#include "ir/row.h"

struct parser;
struct op_reader;
struct printer;

/* NULL: the form of the row, or the default. */
typedef struct op_spelling {
    tsr_status (*read)(struct parser *ps, struct op_reader *op);
    void (*print)(struct printer *pr, uint32_t op);
    bool (*can_print)(const struct printer *pr, uint32_t op); /* else in generic form */
    /* Names that the op suggests for its results, and for arguments of its regions. */
    const char *(*result_name)(const tsr_program *p, uint32_t op, char *room, size_t size);
    const char *(*argument_name)(const tsr_program *p, uint32_t op, size_t region, size_t index);
    bool (*hides_regions)(const tsr_program *p, uint32_t op); /* from its syntax; NULL: never */
} op_spelling;

extern const op_spelling op_spellings[OP_KIND_COUNT];

static inline const op_spelling *spelling_of(const tsr_program *p, uint32_t op)
{
    return &op_spellings[op_kind_of(p, op)];
}

#endif
