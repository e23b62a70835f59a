/*
 * Printing programs: the state that all printers share. What is printed goes through a chunk of
 * memory to the caller's function; nothing fails visibly before printer_finish.
 */
#ifndef TEXT_PRINTER_H
#define TEXT_PRINTER_H

#include "ir/program.h"
#include "ir/row.h"

enum { CHUNK = 1 << 16 };

typedef struct printer {
    tsr_context *ctx;
    const tsr_program *program;
    tsr_program_writer write;
    void *state;
    char *chunk;
    char *spare_chunk; /* for texts that are compared only; NULL before the first */
    size_t used;
    bool stopped; /* by the caller's function */
    bool no_memory;
    int flags;
    size_t indent;
    uint32_t *names; /* of values: name_kind in the low bits; NULL: types and attributes only */
    size_t num_names;
    intern_table texts;  /* names that ops suggest */
    ir_array type_texts; /* slice, by type: programs repeat few types; empty without names */
    struct location_names *locations; /* NULL: not printed */
    ir_array resources;               /* each `dense_resource` that was printed, once a name */
    intern_table resource_names;      /* of those; empty before the first */
    struct block_note *blocks;        /* by block; NULL: no region with several was printed */
    tsr_arena *scratch;
} printer;

tsr_status printer_init(printer *pr, tsr_context *ctx, const tsr_program *p, int flags,
                        tsr_program_writer write, void *state);
/* Writes what is left and frees; the status of all. */
tsr_status printer_finish(printer *pr);

void printer_free_resources(printer *pr);

/* A writer that appends to the buffer that its state is. */
bool write_to_buffer(void *state, const char *bytes, size_t count);

void put_flush(printer *pr);
void put_long(printer *pr, const char *bytes, size_t count);

static inline void put_bytes(printer *pr, const char *bytes, size_t count)
{
    if (count > CHUNK - pr->used) {
        put_long(pr, bytes, count);
        return;
    }
    __builtin_memcpy(pr->chunk + pr->used, bytes, count);
    pr->used += count;
}

static inline void put_char(printer *pr, char c)
{
    if (pr->used == CHUNK) {
        put_flush(pr);
    }
    pr->chunk[pr->used++] = c;
}

static inline void put(printer *pr, const char *string)
{
    put_bytes(pr, string, __builtin_strlen(string));
}

static inline void put_slice(printer *pr, slice text)
{
    put_bytes(pr, text.data, text.size);
}

void put_int(printer *pr, int64_t value);
void put_uint(printer *pr, uint64_t value);
/* In quotes, escaped as programs are. */
void put_quoted(printer *pr, slice text);
/* A name: bare if it can be, else in quotes. */
void put_name(printer *pr, slice name);
/* `@name` */
void put_symbol(printer *pr, slice name);
/* A newline and the indentation of the level. */
void put_line(printer *pr);

void print_type(printer *pr, uint32_t type);
void print_type_list(printer *pr, const uint32_t *types, size_t count);
/* One type bare, else a list in parentheses. */
void print_results(printer *pr, const uint32_t *types, size_t count);
void print_attr(printer *pr, uint32_t attr);
/* Without the type of numbers, as in lists and in forms. */
void print_attr_bare(printer *pr, uint32_t attr);
void print_elements(printer *pr, const attr_head *attr, uint32_t id);
/* `[1, 2]` of a dense array. */
void print_ints(printer *pr, const attr_head *attr);
/* `{a = 1 : i64, b}` */
void print_entries(printer *pr, const attr_entry *entries, size_t count);
/* A struct with its name; `<..>` of it; the whole of an sdy attribute; its text in an op's own
 * syntax. */
void print_struct(printer *pr, const attr_head *attr);
void print_struct_body(printer *pr, const attr_head *attr);
void print_sdy_attr(printer *pr, const attr_head *attr);
void print_sdy_body(printer *pr, const attr_head *attr);

/* ---- ops ---- */
void print_value(printer *pr, uint32_t value);
void print_result_names(printer *pr, uint32_t op);
/* Whether a property has the value that dictionaries leave out. */
bool is_default(printer *pr, const ir_prop *prop, uint32_t attr);
void print_operands(printer *pr, uint32_t op, size_t from, size_t to);
/* Whether an op is printed in its own syntax: it has one that can show all it has. */
bool prints_custom(const printer *pr, uint32_t op);
void print_op(printer *pr, uint32_t op);
void print_op_generic(printer *pr, uint32_t op);
/* `{`, blocks, `}`; `entry`: with the label of the first block; its arguments are shown there. */
void print_region(printer *pr, uint32_t region, bool entry);
void print_operand_types(printer *pr, uint32_t op);
void print_result_types(printer *pr, uint32_t op);
/* `(types) -> types` */
void print_op_types(printer *pr, uint32_t op);
/* ` {..}` of a custom form: what the row does not show and is not a default. */
void print_dict(printer *pr, uint32_t op, const char *keyword);
/* `%arg0: T` with the location if wanted. */
void print_argument(printer *pr, uint32_t value);
void print_location_suffix(printer *pr, uint32_t where);
void form_print(printer *pr, uint32_t op, const char *form);

/* Names of values: numbered before anything is printed. */
tsr_status number_values(printer *pr);
void free_names(printer *pr);
/* Whether a value is in the program: it has a name then. */
bool value_is_named(const printer *pr, uint32_t value);

/* Aliases of locations: found before anything is printed. */
tsr_status number_locations(printer *pr);
void print_location(printer *pr, uint32_t where);
void print_location_aliases(printer *pr, bool before);
void print_given_location(printer *pr, uint32_t given);
void free_locations(printer *pr);

#endif
