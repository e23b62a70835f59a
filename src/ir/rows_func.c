/* How the ops of builtin and func are spelled. */
#include "ir/row.h"

static const ir_row builtin_rows[] = {
    [OP_BUILTIN_MODULE - OP_BEFORE_BUILTIN] =
        {.kind = OP_BUILTIN_MODULE,
         .props = PROPS({.name = "sym_name", .kind = PROP_STRING, .optional = true},
                        {.name = "sym_visibility", .kind = PROP_STRING, .optional = true}),
         .shown = SHOWN("sym_name", "sym_visibility"),
         .num_regions = 1,
         .traits = IR_ISOLATED | IR_SYMBOL | IR_SYMBOL_TABLE | IR_NO_TERMINATOR | IR_GRAPH},
    [OP_BUILTIN_UNREALIZED_CONVERSION_CAST -
        OP_BEFORE_BUILTIN] = {.kind = OP_BUILTIN_UNREALIZED_CONVERSION_CAST,
                              .form = "$V( $v : $O) to $N$D",
                              .num_operands = MANY,
                              .num_results = MANY},
};

static const ir_row func_rows[] = {
    [OP_FUNC_FUNC - OP_BEFORE_FUNC] =
        {.kind = OP_FUNC_FUNC,
         .props = PROPS({.name = "sym_name", .kind = PROP_STRING},
                        {.name = "function_type", .kind = PROP_ANY},
                        {.name = "sym_visibility", .kind = PROP_STRING, .optional = true},
                        {.name = "arg_attrs", .kind = PROP_ARRAY, .optional = true},
                        {.name = "res_attrs", .kind = PROP_ARRAY, .optional = true},
                        {.name = "no_inline", .kind = PROP_UNIT, .optional = true}),
         .shown = SHOWN("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"),
         .num_regions = 1,
         .traits = IR_ISOLATED | IR_SYMBOL | IR_SIGNATURE | IR_NAMES_FUNC | IR_FRESH_NAMES},
    [OP_FUNC_CALL -
        OP_BEFORE_FUNC] = {.kind = OP_FUNC_CALL,
                           .form = " $(callee)($v)$D : $F",
                           .props =
                               PROPS({.name = "callee", .kind = PROP_SYMBOL},
                                     {.name = "no_inline", .kind = PROP_UNIT, .optional = true},
                                     {.name = "arg_attrs", .kind = PROP_ARRAY, .optional = true},
                                     {.name = "res_attrs", .kind = PROP_ARRAY, .optional = true}),
                           .traits = IR_EFFECTS | IR_NAMES_SYMBOLS,
                           .num_operands = MANY,
                           .num_results = MANY},
    [OP_FUNC_RETURN - OP_BEFORE_FUNC] = {.kind = OP_FUNC_RETURN,
                                         .form = "$D$V( $v : $O)",
                                         .num_operands = MANY,
                                         .traits = IR_TERMINATOR},
};

const ir_dialect dialect_builtin = {"builtin", OP_BEFORE_BUILTIN, builtin_rows,
                                    sizeof builtin_rows / sizeof builtin_rows[0]};
const ir_dialect dialect_func = {"func", OP_BEFORE_FUNC, func_rows,
                                 sizeof func_rows / sizeof func_rows[0]};
