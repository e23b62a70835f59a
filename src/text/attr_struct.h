/* Structs of attributes whose text is not a list of `name = value`. */
#ifndef TEXT_ATTR_STRUCT_H
#define TEXT_ATTR_STRUCT_H

#include "text/parser.h"
#include "text/printer.h"

/* Checks of the fields; `at` is where they start. */
tsr_status replica_mesh_axes_check(parser *ps, size_t at, const uint32_t *fields);
tsr_status accuracy_check(parser *ps, size_t at, const uint32_t *fields);

/* Readers fill the fields; `<` is taken, `>` is not. Printers print what is between. */
tsr_status conv_read(parser *ps, uint32_t *fields);
void conv_print(printer *pr, const attr_head *attr);
/* `[b, 0, f]x[0, i, o]->[b, 0, f]`, as the op's own syntax has it. */
tsr_status conv_dims_read(parser *ps, uint32_t *fields);
tsr_status sub_axis_read(parser *ps, uint32_t *fields);
void sub_axis_print(printer *pr, const attr_head *attr);
tsr_status mesh_struct_read(parser *ps, uint32_t *fields);
void mesh_struct_print(printer *pr, const attr_head *attr);
tsr_status bounds_read(parser *ps, uint32_t *fields);
void bounds_print(printer *pr, const attr_head *attr);

/* `<..>` of a struct by its row, and the attribute. */
tsr_status read_struct(parser *ps, int row, uint32_t *out);
/* A value of an enum. */
tsr_status read_enum_value(parser *ps, int row, uint32_t *out);
/* `[item, item]` by the reader of an item, which gets the row of a table. */
typedef tsr_status (*item_reader)(parser *ps, int row, uint32_t *out);
tsr_status read_bracketed(parser *ps, item_reader read, int row, uint32_t **items, size_t *count);
/* `true` or `false`, else an error with that message. */
tsr_status read_bool_word(parser *ps, const char *message, uint32_t *out);
/* `[1, 2]` as a dense array of i64. */
tsr_status read_ints(parser *ps, uint32_t *out);
/* The body of an sdy attribute, after its mnemonic. */
tsr_status read_sdy_body(parser *ps, sdy_attr kind, uint32_t *out);
const char *sdy_attr_name(sdy_attr kind);
/* An attribute of a kind without its name, in full, or by an alias. */
tsr_status read_stripped_struct(parser *ps, int row, uint32_t *out);
tsr_status read_stripped_sdy(parser *ps, sdy_attr kind, uint32_t *out);
/* `[<..>, <..>]`: shardings per value. */
tsr_status read_sharding_list(parser *ps, uint32_t *out);

#endif
