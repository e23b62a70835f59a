/*
 * How ops are spelled: one row for each op of the dialects that are known.
 *
 * A row says which attributes are inherent, how the op's own syntax looks, and what holds of the
 * op as a piece of program. What it computes is in ops/op.h, found by the list ops.def.
 *
 * A form is the text after the op's name. Everything stands for itself but:
 *   $o       one operand                      $v       operands, comma separated, none included
 *   $W       the same, with an empty place after a single operand when printed
 *   $(name)  a property, by its kind          $?(..)   a part that is printed when its property is
 *   $D       the dictionary of what the form does not show, with a blank before it
 *   $A       the same after the keyword `attributes`
 *   $V(..)   a part that is printed when the op has operands
 *   $S       one type if operands and results have it, else a function type
 *   $F       the function type                $R       the type of the result
 *   $N       the types of the results
 *   $O       the types of the operands        $E       operands and results have this one type
 *   $P       types of operands -> type of result, no parentheses
 *   $T       the types of the operands, which are those of the results
 *   $C       the complex result if the operands are its parts, else a function type
 *   $L       the types of the first two operands if the rest fits them, else a function type
 *   $Q       nothing: the operands have the type of the property `value`
 *   $X       the type of the operand, `to`, the type of the result
 *   $K       the property `reduction_op`, left out when it is a sum
 *   $U       the type of the result, a tuple of the operands
 */
#ifndef IR_ROW_H
#define IR_ROW_H

#include "ir/program.h"

/* What a property is: how it stands in an op's own syntax, and what is legal. */
typedef enum prop_kind {
    PROP_ANY, /* an attribute as it is */
    PROP_INT,
    PROP_INT32,
    PROP_INTS, /* array<i64: ..>, in brackets */
    PROP_BOOL,
    PROP_BOOLS,
    PROP_UNIT,
    PROP_STRING,
    PROP_SYMBOL,
    PROP_ENUM,  /* `row`: of the enums */
    PROP_ENUMS, /* an array of them, in brackets without their kind */
    PROP_FLOAT,
    PROP_ELEMENTS, /* with its type */
    PROP_STRUCT,   /* `row`: of the structs, without its name */
    PROP_DICT,
    PROP_ARRAY,
    PROP_SDY,          /* `row`: of the sdy attributes, without its name */
    PROP_SYMBOL_NAME,  /* a string, written as a symbol */
    PROP_I64_ELEMENTS, /* dense<..> of i64 */
    PROP_GROUPS        /* the same, or axes of a mesh */
} prop_kind;

typedef enum prop_limit { ANY_VALUE, NON_NEGATIVE, POSITIVE } prop_limit;

typedef struct ir_prop {
    const char *name;
    prop_kind kind;
    int row;
    bool optional;
    prop_limit limit;
    bool empty_if_missing; /* an empty string when none is written */
    const char *unless;    /* the text of the default, left out of dictionaries; NULL: none */
} ir_prop;

typedef enum ir_traits {
    IR_TERMINATOR = 1,
    IR_ISOLATED = 2,           /* uses no values from outside */
    IR_SYMBOL = 4,             /* has sym_name */
    IR_COMMUTATIVE = 8,        /* a reduce may be written with it */
    IR_SAME_TYPE = 16,         /* all operands and results have one type */
    IR_NAMES_FUNC = 32,        /* ops of the dialect func lose their prefix inside */
    IR_FRESH_NAMES = 64,       /* what it uses of values without a definition is of its own */
    IR_NO_TERMINATOR = 128,    /* its blocks need no terminator */
    IR_GRAPH = 256,            /* definitions need not come before uses */
    IR_HAS_EDGES = 512,        /* its results are targets of data-flow edges */
    IR_CARRIES = 1024,         /* argument i of its regions belongs to the edge of result i */
    IR_HIDES_ARGUMENTS = 4096, /* its syntax does not show the arguments of its regions */
    IR_PAIRS_ARGUMENTS = 8192, /* its syntax shows the first argument of each half, and so on */
    IR_EFFECTS = 16384,        /* does more than give results: it stays although nothing uses it */
    IR_EFFECTS_INSIDE = 32768, /* does what the ops of its regions do */
    IR_SYMBOL_TABLE = 65536,   /* symbols inside are looked up in it */
    IR_SIGNATURE = 131072,     /* has function_type, arg_attrs and res_attrs */
    IR_NAMES_SYMBOLS = 524288, /* its checks look up functions by name */
    IR_EFFECTS_ASKED = 262144  /* whether it has effects is what has_side_effect says */
} ir_traits;

enum { MANY = -1 };

/* Lists in rows. */
#define PROPS(...) ((const ir_prop[]){__VA_ARGS__, {.name = NULL}})
#define SHOWN(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NAMES(...) ((const char *const[]){__VA_ARGS__})

typedef struct ir_row ir_row;
struct ir_row {
    op_kind kind;
    const char *form; /* NULL: text/spelling.c has its syntax, or it has none but the generic one */
    const char *const *shown; /* properties that its own syntax shows, ended by NULL */
    const ir_prop *props;     /* ended by a NULL name; NULL for none */
    int traits;
    int num_operands; /* MANY: any number */
    int num_results;
    int num_regions;
    int min_operands; /* of MANY */
    /* Names that the op suggests for its results. */
    const char *const *result_names;
    /* The properties that hold the shardings of its results, and of the arguments of its regions;
     * NULL: the attribute sdy.sharding, and no place. */
    const char *result_sharding;
    const char *argument_shardings;
    op_kind terminator;          /* of its regions, which are one block each; OP_UNKNOWN: any */
    const char *region_names[2]; /* in messages: of the first, of others; NULL: "body", the first */
};

/* A dialect: its rows, by kind. */
typedef struct ir_dialect {
    const char *name;
    op_kind before; /* its first kind: the place of a row is the difference */
    const ir_row *rows;
    size_t count;
} ir_dialect;

/* The row of a kind; NULL for OP_UNKNOWN. */
const ir_row *ir_row_of(op_kind kind);
/* Whether a dialect of that name is known. */
bool ir_dialect_known(const char *name, size_t size);
/* The same, or one whose types and attributes are only kept. */
bool ir_dialect_has_attributes(const char *name, size_t size);

const ir_prop *row_prop(const ir_row *row, slice name);
/* What the kind of a property asks of an attribute, in words; NULL: it is fine. */
const char *property_problem(const tsr_program *p, const ir_prop *prop, uint32_t attr);
/* Whether an op of a known row has the properties it needs, each of its kind. */
bool properties_fit(const tsr_program *p, uint32_t op);

extern const ir_dialect dialect_builtin;
extern const ir_dialect dialect_func;
extern const ir_dialect dialect_stablehlo;
extern const ir_dialect dialect_chlo;
extern const ir_dialect dialect_sdy;
extern const ir_dialect dialect_check;
extern const ir_dialect dialect_interpreter;
extern const ir_dialect dialect_arith;
extern const ir_dialect dialect_tensor;

/* ---- enums and structs of attributes ---- */

typedef struct enum_row {
    const char *dialect; /* NULL: in programs the value is an integer of 32 bits */
    const char *mnemonic;
    const char *type_name;     /* in messages */
    const char *const *values; /* ended by NULL */
    bool wrapped;              /* #dialect.mnemonic<VALUE>, else #dialect<mnemonic VALUE> */
} enum_row;

typedef enum field_kind {
    FIELD_INT,       /* left out when 0 */
    FIELD_INT_SHOWN, /* always there */
    FIELD_INTS,      /* left out when empty */
    FIELD_INTS_SHOWN,
    FIELD_BOOL_SHOWN,
    FIELD_FLOAT, /* f64, left out when 0 */
    FIELD_TYPE,
    FIELD_STRING,
    FIELD_ATTR,
    FIELD_OPTIONAL_ATTR,
    FIELD_SUB_AXIS /* (1)2, left out when unset */
} field_kind;

typedef struct field_row {
    const char *name;
    field_kind kind;
} field_row;

enum { MAX_FIELDS = 10 };

typedef struct struct_row {
    const char *dialect;
    const char *mnemonic;
    const char *what; /* in messages: "gather dimension numbers"; fields may end in a comma */
    field_row fields[MAX_FIELDS];
    bool ordered;   /* fields are read in this order only */
    bool unwrapped; /* #dialect<mnemonic ..>, else #dialect.mnemonic<..> */
} struct_row;

typedef enum ir_enum {
    ENUM_PRECISION,
    ENUM_COMPARISON_DIRECTION,
    ENUM_COMPARISON_TYPE,
    ENUM_FFT_TYPE,
    ENUM_TRANSPOSE,
    ENUM_RNG_DISTRIBUTION,
    ENUM_RNG_ALGORITHM,
    ENUM_RESULT_ACCURACY_MODE,
    ENUM_CUSTOM_CALL_SCHEDULE,
    ENUM_CHLO_PRECISION,
    ENUM_CHLO_COMPARISON_DIRECTION,
    ENUM_CHLO_COMPARISON_TYPE,
    ENUM_DIRECTION, /* of a propagation barrier: an integer in the program */
    ENUM_REDUCTION, /* of a collective of sdy, likewise */
    ENUM_COUNT
} ir_enum;

typedef enum ir_struct {
    STRUCT_GATHER,
    STRUCT_SCATTER,
    STRUCT_DOT,
    STRUCT_CONV,
    STRUCT_CHANNEL_HANDLE,
    STRUCT_ALIAS,
    STRUCT_ACCURACY,
    STRUCT_DOT_ALGORITHM,
    STRUCT_REPLICA_MESH_AXES,
    STRUCT_AXIS_REF,
    STRUCT_SUB_AXIS,
    STRUCT_MESH_AXIS,
    STRUCT_MESH,
    STRUCT_BOUNDS,
    STRUCT_RAGGED_DOT,
    STRUCT_CHLO_ACCURACY,
    STRUCT_COUNT
} ir_struct;

/* The fields of a convolution's dimensions. */
enum {
    CONV_INPUT_BATCH,
    CONV_INPUT_FEATURE,
    CONV_INPUT_SPATIAL,
    CONV_KERNEL_INPUT,
    CONV_KERNEL_OUTPUT,
    CONV_KERNEL_SPATIAL,
    CONV_OUTPUT_BATCH,
    CONV_OUTPUT_FEATURE,
    CONV_OUTPUT_SPATIAL
};

#define CONV_FIELDS                                                                                \
    {                                                                                              \
        {"input_batch_dimension", FIELD_INT_SHOWN}, {"input_feature_dimension", FIELD_INT_SHOWN},  \
            {"input_spatial_dimensions", FIELD_INTS_SHOWN},                                        \
            {"kernel_input_feature_dimension", FIELD_INT_SHOWN},                                   \
            {"kernel_output_feature_dimension", FIELD_INT_SHOWN},                                  \
            {"kernel_spatial_dimensions", FIELD_INTS_SHOWN},                                       \
            {"output_batch_dimension", FIELD_INT_SHOWN},                                           \
            {"output_feature_dimension", FIELD_INT_SHOWN},                                         \
        {                                                                                          \
            "output_spatial_dimensions", FIELD_INTS_SHOWN                                          \
        }                                                                                          \
    }

extern const enum_row ir_enums[ENUM_COUNT];
extern const struct_row ir_structs[STRUCT_COUNT];

/* ---- sdy attributes ---- */

typedef enum sdy_attr {
    SDY_MESH,
    SDY_SHARDING,
    SDY_SHARDING_PER_VALUE,
    SDY_RULE,
    SDY_EDGES,
    SDY_AXIS_REF,
    SDY_MESH_AXIS,
    SDY_SUB_AXIS_INFO,
    SDY_DIMENSION_SHARDING,
    SDY_MANUAL_AXES,
    SDY_AXIS_REF_LIST,
    SDY_AXIS_REF_LISTS,
    SDY_ALL_TO_ALL_PARAM,
    SDY_ALL_TO_ALL_PARAMS,
    SDY_ATTR_COUNT
} sdy_attr;

#endif
