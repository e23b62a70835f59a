/*
 * What must hold of an op of stablehlo or chlo, beside counts and kinds of properties: types that
 * operands and results may have, traits, and the op's own rules. Messages are those of the
 * reference.
 */
#ifndef VERIFY_CHECK_H
#define VERIFY_CHECK_H

#include "ir/program.h"
#include "ir/row.h"
#include "ops/op.h"
#include "verify/verify.h"

typedef struct check_row check_row;

/* One op under check. */
typedef struct ir_check {
    tsr_context *ctx;
    tsr_program *p;
    uint32_t op;
    const check_row *row;
    struct type_checker *checker;
    bool inferring; /* types of results, after the regions: a refusal has a second message */
} ir_check;

/* Types that an op infers for its results. */
typedef struct inferred_types {
    uint32_t *types;
    size_t count;
} inferred_types;

/* What holds of the types of all operands and results together. Checked in the order of the bits.
 */
typedef enum check_traits {
    CHECK_PAIRS = 1,             /* as many operands as results, of one type at each index */
    CHECK_PAIRED_ELEMENTS = 2,   /* the same for element types */
    CHECK_ELEMENTWISE_FIRST = 4, /* CHECK_ELEMENTWISE, before the others */
    CHECK_COMPATIBLE = 8,        /* compatible types */
    CHECK_SHAPE = 16,            /* compatible shapes */
    CHECK_ELEMENT = 32,          /* one element type */
    CHECK_OPERAND_ELEMENT = 64,  /* one element type of all operands */
    CHECK_COMPATIBLE_ELEMENT = 128,
    CHECK_ELEMENTWISE = 256,
    CHECK_OPERAND_COMPATIBLE_ELEMENT = 512,
    /* How the constraints of a row are spread over operands: the last is that of the last operand;
     * the middle one that of the middle operand. */
    CHECK_TAIL = 1024,
    CHECK_MIDDLE = 2048,
    CHECK_EXACTLY = 4096,  /* inferred types must be equal, not just compatible */
    CHECK_BY_SHAPE = 8192, /* of inferred types the shapes are compared */
} check_traits;

enum { MAX_CONSTRAINTS = 5 };

struct check_row {
    bool is_known;
    uint8_t operands[MAX_CONSTRAINTS]; /* constraints by number; the last stands for the rest */
    uint8_t results[3];
    int traits;
    /* Further invariants, before the traits; the op's own check; what it infers. */
    tsr_status (*invariants)(const ir_check *k);
    tsr_status (*verify)(const ir_check *k);
    tsr_status (*infer)(const ir_check *k, inferred_types *out);
};

const check_row *check_row_of(op_kind kind);

/* Constraints of types: by number, whether a type satisfies one, and its text. */
enum { MAX_TEXT_OF_CONSTRAINT = 1024 };
bool constraint_fits(const tsr_program *p, int constraint, uint32_t type);
void constraint_text(int constraint, char *text, size_t size);

/* Traits of a row. */
tsr_status check_row_traits(const ir_check *k);

/* Asks the hook `types` of `ops`: as a check, as one that compares shapes, as what is inferred. */
tsr_status check_by_hook(const ir_check *k);
tsr_status check_shape_by_hook(const ir_check *k);
tsr_status infer_by_hook(const ir_check *k, inferred_types *out);

/* Asks the hook of another row, with parameters that are read from the op as by that row. */
tsr_status ask_row(const ir_check *k, const op_row *row, const void *params, size_t num_operands,
                   const op_type *operands, op_type *results);

/* ---- for checks ---- */

/* A message without the name of the op; of an op that infers, a second one follows. */
tsr_status refuse(const ir_check *k, const char *format, ...) TSR_PRINTF(2, 3);
/* The second message alone. */
tsr_status refuse_inference(const ir_check *k);

static inline uint32_t operand_type(const ir_check *k, size_t i)
{
    return value_type(k->p, op_operand(k->p, k->op, i));
}
static inline uint32_t result_type(const ir_check *k, size_t i)
{
    return value_type(k->p, program_op(k->p, k->op)->results + (uint32_t)i);
}
static inline size_t num_operands(const ir_check *k)
{
    return program_op(k->p, k->op)->num_operands;
}
static inline size_t num_results(const ir_check *k)
{
    return program_op(k->p, k->op)->num_results;
}
static inline const type_head *operand(const ir_check *k, size_t i)
{
    return program_type(k->p, operand_type(k, i));
}
static inline const type_head *result(const ir_check *k, size_t i)
{
    return program_type(k->p, result_type(k, i));
}
/* The text of a type in a message, without quotes. */
static inline const char *type_words(const ir_check *k, uint32_t type)
{
    return type_string(k->ctx, k->p, type);
}

/* Numbers of a dense array or of dense elements of integers; of what is not there, none. */
typedef struct numbers {
    bool given;
    size_t count;
    const int64_t *values;
} numbers;
numbers op_numbers(const ir_check *k, const char *name);
numbers attr_as_numbers(const ir_check *k, uint32_t attr);
/* There was no memory for what a check needs: it fails at its end, whatever it finds. */
void check_lacks_memory(const ir_check *k);
/* A field of a struct that is a property. */
uint32_t op_field_attr(const ir_check *k, const char *property, const char *field);
/* An integer property or field; `otherwise` where it is not there. */
int64_t op_integer(const ir_check *k, const char *name, int64_t otherwise);
bool op_bool(const ir_check *k, const char *name);
/* The name that an enum property has, or "". */
const char *op_enum(const ir_check *k, const char *name);

/* "1, 2" in a room of its own; extents, unknown ones as "?"; those of a type as the reference's
 * lists have them, where an unknown one is a number. */
typedef struct list_words {
    char text[256];
} list_words;
list_words words_of(const int64_t *values, size_t count);
list_words words_of_extents(const int64_t *extents, size_t count);
list_words words_of_shape(const type_head *type);
/* "'tensor<f32>', 'tensor<i32>'", in the scratch of the program. */
const char *types_words(const ir_check *k, const uint32_t *types, size_t count);

/* Whether two types may be the same, with unknown extents, bounds and quantization. */
bool types_compatible(const tsr_program *p, uint32_t a, uint32_t b);
bool shapes_compatible(const tsr_program *p, uint32_t a, uint32_t b);
bool elements_compatible(const tsr_program *p, uint32_t a, uint32_t b);
bool is_scalar_i1(const tsr_program *p, uint32_t type);
/* The bounds of a type's unknown extents, or NULL. */
const int64_t *type_bounds(const tsr_program *p, const type_head *type);

/* Gives types to infer: like another, or a tensor. */
tsr_status infer_one(const ir_check *k, uint32_t type, inferred_types *out);
tsr_status infer_tensor(const ir_check *k, const int64_t *extents, size_t rank, uint32_t element,
                        inferred_types *out);
/* Compares what was inferred with the results. */
tsr_status compare_inferred(const ir_check *k, const inferred_types *inferred);
tsr_status refuse_types(const ir_check *k, const char *inferred);

/* `failed to verify that all of {<names>} have same <what>`. */
tsr_status refuse_sameness(const ir_check *k, const char *names, const char *what);

/* The entry block of a region, its arguments and what its last op returns. */
typedef struct region_parts {
    size_t num_arguments;
    uint32_t *arguments; /* types */
    size_t num_returned;
    uint32_t *returned;
} region_parts;
tsr_status region_parts_of(const ir_check *k, size_t region, region_parts *out);

/* Reducer bodies: section RB of the text. `inputs` may be none: then there are no shapes. */
typedef struct reducer {
    size_t region;
    size_t count;
    const uint32_t *inputs; /* element types that arguments are promoted from; types */
    const uint32_t *inits;  /* types of initial values */
    const int64_t *window;  /* the extents that arguments may have; NULL: any */
    size_t window_rank;
    bool has_window;
} reducer;
tsr_status check_reducer(const ir_check *k, const reducer *r);

/* Windows: section W. */
typedef struct window_dim {
    int64_t size, stride, low, high, base, dilation;
} window_dim;
typedef struct window_attrs {
    const int64_t *sizes;
    size_t rank;
    numbers strides, base, dilation, reversal;
    uint32_t padding;    /* an attribute */
    bool may_be_unknown; /* sizes are extents */
} window_attrs;
tsr_status read_window(const ir_check *k, const window_attrs *w, window_dim **out);
/* How many places a window has along an extent. */
int64_t window_places(int64_t extent, const window_dim *w);

#endif
