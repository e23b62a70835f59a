/* The syntaxes that no form describes: a reader and a printer each. */
#ifndef TEXT_SPELL_H
#define TEXT_SPELL_H

#include "ir/row.h"
#include "text/attr_struct.h"
#include "text/parser.h"
#include "text/printer.h"
#include "text/spelling.h"

/* Whether an op has the shape that its own syntax needs. */
bool convolution_fits(const printer *pr, uint32_t op);
bool slice_fits(const printer *pr, uint32_t op);
bool while_fits(const printer *pr, uint32_t op);
bool reduce_fits(const printer *pr, uint32_t op);
bool scan_fits(const printer *pr, uint32_t op);
bool func_fits(const printer *pr, uint32_t op);

#define SPELLING(name)                                                                             \
    tsr_status name##_read(parser *ps, op_reader *op);                                             \
    void name##_print(printer *pr, uint32_t op)

SPELLING(constant);
SPELLING(composite);
SPELLING(convolution);
SPELLING(dot_general);
SPELLING(barrier);
SPELLING(reduce_precision);
SPELLING(slice);
SPELLING(reduce);
SPELLING(while);
SPELLING(scan);
SPELLING(module);
SPELLING(func);
SPELLING(manual_computation);
SPELLING(named_computation);
SPELLING(arith_constant);

const char *constant_name(const tsr_program *p, uint32_t op, char *room, size_t size);
const char *arith_constant_name(const tsr_program *p, uint32_t op, char *room, size_t size);
/* Whether a reduce is written without its region. */
bool reduce_is_compact(const tsr_program *p, uint32_t op);
const char *while_argument_name(const tsr_program *p, uint32_t op, size_t region, size_t index);
const char *scan_argument_name(const tsr_program *p, uint32_t op, size_t region, size_t index);

#endif
