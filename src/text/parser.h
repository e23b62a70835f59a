/*
 * Reading programs: the state that all readers share, and what they offer each other.
 *
 * Everything is read in one pass. Names of values are forgotten once read; what a reader allocates
 * while it reads one op is freed with that op.
 */
#ifndef TEXT_PARSER_H
#define TEXT_PARSER_H

#include "ir/program.h"
#include "ir/row.h"

/* What a name of a value stands for. */
typedef struct binding {
    uint32_t value; /* the first of the group; 0: not defined yet */
    uint32_t count;
    uint32_t at;      /* where it is defined */
    uint32_t forward; /* the last forward reference to it; 0: none */
} binding;

/* A use of a name before its definition. */
typedef struct forward_use {
    uint32_t name;
    uint32_t number; /* of the result */
    uint32_t value;  /* a placeholder */
    uint32_t real;   /* what it became; 0: not defined yet */
    uint32_t at;
    uint32_t next; /* the one before, of the same name */
} forward_use;

/* A use as it is read: its type is told later. */
typedef struct ssa_use {
    uint32_t name;
    uint32_t number;
    uint32_t at;
    uint32_t size;
} ssa_use;

/* An argument of a block as it is read. */
typedef struct ssa_argument {
    uint32_t name; /* 0: the syntax has none */
    uint32_t at;
    uint32_t type;
    uint32_t location;
} ssa_argument;

typedef struct parser {
    lexer lex;
    tsr_text text; /* what `lex` reads */
    tsr_context *ctx;
    tsr_program *program;
    tsr_arena *scratch;
    /* Names of values. Keys: twice the number of a name that is one, else an odd number. */
    intern_table names;
    ir_array bindings; /* of other names, by their number in `names` */
    ir_array numbered; /* of numbers, by themselves */
    ir_array defined;  /* names in the order of definition, for the ends of scopes */
    ir_array forwards;
    ir_array forward_operands; /* of the pool: which hold placeholders */
    /* Aliases by name, and types by their text. */
    intern_table alias_names;
    ir_array aliases;
    intern_table type_texts;
    ir_array type_ids;
    slice last_type; /* the text of the last type that ended in '>', and the type */
    uint32_t last_type_id;
    ir_array prefixes;      /* of messages about ops with a syntax of their own, by name */
    ir_array block_labels;  /* of the regions that are open */
    ir_array label_places;  /* by string: the place after the innermost label of that name, or 0 */
    uint32_t region_labels; /* where those of the innermost region start */
    const char *dialect;    /* whose ops need no prefix here */
    int depth;
    int deepest;             /* that was reached, with what is nested in aliases */
    ir_array fused_parts;    /* by location: the last fused one that has it as a part */
    uint32_t num_fused;      /* locations that were fused */
    ir_array resources;      /* entries of the program's metadata */
    bool has_late_locations; /* some are aliases that were not defined when they were read */
} parser;

enum { FEW = 4 };

/* An op while it is read. */
typedef struct op_reader {
    const ir_row *row;
    slice name;
    uint32_t name_id;
    size_t at;         /* its location */
    uint32_t location; /* as given; 0: `at` */
    uint32_t *operands;
    size_t num_operands;
    size_t operand_room;
    ssa_use *uses; /* of operands whose types come later */
    size_t num_uses;
    size_t use_room;
    uint32_t *results; /* types */
    size_t num_results;
    size_t result_room;
    uint32_t *regions;
    size_t num_regions;
    size_t region_room;
    uint32_t *successors; /* labels */
    size_t num_successors;
    size_t successor_room;
    attr_entry *properties;
    size_t num_properties;
    size_t property_room;
    attr_entry *attributes;
    size_t num_attributes;
    size_t attribute_room;
    /* Where the lists start, so that small ops need no memory. */
    uint32_t few_operands[FEW];
    uint32_t few_results[FEW];
    ssa_use few_uses[FEW];
} op_reader;

enum { PARSER_MAX_DEPTH = 512 };

/* One level deeper; an error beyond PARSER_MAX_DEPTH. The caller leaves what it entered. */
tsr_status parser_enter(parser *ps);
/* Reads what is nested so many levels deep elsewhere: the same error. */
tsr_status parser_reach(parser *ps, int levels);
static inline void parser_leave(parser *ps)
{
    ps->depth--;
}

/* Takes a mark if it is next. */
static inline bool accept(parser *ps, int kind)
{
    return lex_accept(&ps->lex, kind);
}

static inline bool at_kind(const parser *ps, int kind)
{
    return ps->lex.current.kind == kind;
}

static inline slice token_text(const parser *ps)
{
    return (slice){ps->text.data + ps->lex.current.at, ps->lex.current.size};
}

/* Errors: at the current token, and right after the last one. */
tsr_status error_here(parser *ps, const char *format, ...) TSR_PRINTF(2, 3);
tsr_status error_after(parser *ps, const char *format, ...) TSR_PRINTF(2, 3);
tsr_status error_at(parser *ps, size_t at, const char *format, ...) TSR_PRINTF(3, 4);
tsr_status expect(parser *ps, int mark, const char *message);
tsr_status expect_arrow(parser *ps, const char *message);

/* Growing lists of the scratch arena: PUSH(ps, array, count, room, item). */
#define PUSH(ps, array, count, room, item) LEX_PUSH(&(ps)->lex, array, count, room, item)

/* ---- types, attributes, locations ---- */
tsr_status read_type(parser *ps, uint32_t *out);
/* `type` or `(types)`; appended to a list. */
tsr_status read_type_or_list(parser *ps, uint32_t **types, size_t *count, size_t *room);
/* Types separated by commas, one at least. */
tsr_status read_types(parser *ps, uint32_t **types, size_t *count, size_t *room);
/* `(types) -> types` */
tsr_status read_function_type(parser *ps, uint32_t *out);

tsr_status read_attr(parser *ps, uint32_t *out);
/* An attribute whose type is known: numbers may lack it. */
tsr_status read_attr_typed(parser *ps, uint32_t type, uint32_t *out);
/* `{a = 1, b}`, appended to a list. */
tsr_status read_dict_entries(parser *ps, attr_entry **entries, size_t *count, size_t *room);
tsr_status read_optional_dict(parser *ps, attr_entry **entries, size_t *count, size_t *room);
tsr_status read_elements(parser *ps, uint32_t type, uint32_t *out);
tsr_status read_string(parser *ps, slice *out);
/* Structs, enums and sdy attributes by their mnemonic: the body after it. */
tsr_status read_dialect_attr(parser *ps, uint32_t type, uint32_t *out);
/* `@name` as a symbol attribute. */
tsr_status read_symbol(parser *ps, uint32_t *out);
/* The same as a string attribute: the name of a symbol that is defined. */
tsr_status read_symbol_name(parser *ps, uint32_t *out);
/* The text from the current token to the end of balanced brackets. */
tsr_status skip_balanced(parser *ps, slice *out);

/* `loc(...)` if it is next; *out is a location, or unchanged. */
tsr_status read_optional_location(parser *ps, uint32_t *out);
/* The same as an attribute; the current token is `loc`. Its aliases are defined before. */
tsr_status read_location_attr(parser *ps, uint32_t *out);
/* Gives ops and values the locations whose aliases were defined after them. */
tsr_status settle_locations(parser *ps);
/* What `#name` or `!name` stands for, and how many levels are nested in it. */
typedef struct alias {
    uint32_t value; /* an attribute or a type */
    int depth;
} alias;

/* The alias of a name; NULL: not defined. */
const alias *find_alias(const parser *ps, slice name);
/* The attribute or type of the current token, or an error. */
tsr_status read_alias(parser *ps, uint32_t *out);

/* ---- values ---- */
tsr_status read_use(parser *ps, ssa_use *out);
bool next_is_use(const parser *ps);
/* Uses separated by commas, none included; appended to the list of the op. */
tsr_status read_uses(parser *ps, op_reader *op);
tsr_status resolve_use(parser *ps, const ssa_use *use, uint32_t type, uint32_t *out);
/* Resolves all uses of an op by types and makes them its operands. */
tsr_status resolve_uses(parser *ps, op_reader *op, const uint32_t *types, size_t count);
/* The same type for all. */
tsr_status resolve_uses_alike(parser *ps, op_reader *op, uint32_t type);
tsr_status name_key(parser *ps, slice name, uint32_t *out);
tsr_status define_value(parser *ps, uint32_t name, size_t at, uint32_t value, uint32_t count);
typedef uint32_t name_scope;
name_scope open_scope(const parser *ps);
void close_scope(parser *ps, name_scope scope);
/* The end of what an isolated op sees: forward references stay undefined. */
void close_isolated(parser *ps, uint32_t first_forward);
tsr_status finish_names(parser *ps);
tsr_status note_operands(parser *ps, uint32_t operands, size_t count);

/* ---- ops ---- */
tsr_status read_file(parser *ps);
/* `{` ops and blocks `}` with arguments that the op's own syntax gave; appended to the regions of
 * the op. */
tsr_status read_region(parser *ps, op_reader *op, const ssa_argument *arguments, size_t count);
tsr_status add_empty_region(parser *ps, op_reader *op);
/* An op inside a block. */
tsr_status read_op(parser *ps, uint32_t block);
/* `in_label`: of a block, not of an op's own syntax. */
tsr_status read_argument(parser *ps, bool in_label, ssa_argument *out);
/* `(%a: T, %b: T)` */
tsr_status read_arguments(parser *ps, bool in_label, ssa_argument **out, size_t *count,
                          size_t *room);
/* Makes a block with arguments at the end of a region. */
tsr_status new_region(parser *ps, uint32_t *out);
tsr_status new_block(parser *ps, uint32_t region, const ssa_argument *arguments, size_t count,
                     uint32_t *out);
/* Makes an op of what was read and puts it at the end of a block. */
tsr_status finish_op(parser *ps, op_reader *op, uint32_t block, uint32_t *out);

tsr_status set_property(parser *ps, op_reader *op, const char *name, uint32_t attr);
tsr_status add_type(parser *ps, op_reader *op, uint32_t type);
/* The trailing dictionary of a custom form: inherent names become properties. */
tsr_status read_dict(parser *ps, op_reader *op);
tsr_status read_dict_with_keyword(parser *ps, op_reader *op);
/* `(types) -> types`: resolves the uses, sets the results. */
tsr_status read_function_types(parser *ps, op_reader *op);

/* Reads an op by the form of its row. */
tsr_status form_read(parser *ps, op_reader *op, const char *form);

#endif
