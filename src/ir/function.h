/* Functions of the outermost module: found, their types, the attributes of arguments and results.
 */
#ifndef IR_FUNCTION_H
#define IR_FUNCTION_H

#include "ir/edit.h"

/* The first function, then the next; 0: no more. */
uint32_t function_first(const tsr_program *p);
uint32_t function_next(const tsr_program *p, uint32_t func);
/* The only function, or the one called main; 0: none is. */
uint32_t function_main(const tsr_program *p);

/* Its type: of its arguments, then of its results; NULL in a program that is not verified. */
const type_head *function_type(const tsr_program *p, uint32_t func);
size_t function_num_arguments(const tsr_program *p, uint32_t func);
size_t function_num_results(const tsr_program *p, uint32_t func);

/* The entry of its list of dictionaries, "arg_attrs" or "res_attrs"; 0: none. */
uint32_t function_dict(const tsr_program *p, uint32_t func, const char *list, size_t index);
/* Sets an entry of all dictionaries of such a list, each to its attribute, or removes it for 0. */
tsr_status function_set_dicts(tsr_context *ctx, tsr_program *p, uint32_t func, const char *list,
                              const char *name, const uint32_t *attrs, size_t count);

#endif
