/* Printing ops, blocks and regions. */
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/guard.h"
#include "ir/message.h"
#include "text/printer.h"
#include "text/resources.h"
#include "text/spelling.h"

void print_operands(printer *pr, uint32_t op, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        put(pr, i > from ? ", " : "");
        print_value(pr, op_operand(pr->program, op, i));
    }
}

void print_operand_types(printer *pr, uint32_t op)
{
    const size_t count = program_op(pr->program, op)->num_operands;
    for (size_t i = 0; i < count; i++) {
        put(pr, i > 0 ? ", " : "");
        print_type(pr, value_type(pr->program, op_operand(pr->program, op, i)));
    }
}

void print_result_types(printer *pr, uint32_t op)
{
    const ir_op *record = program_op(pr->program, op);
    for (uint32_t i = 0; i < record->num_results; i++) {
        put(pr, i > 0 ? ", " : "");
        print_type(pr, value_type(pr->program, record->results + i));
    }
}

void print_op_types(printer *pr, uint32_t op)
{
    const ir_op *record = program_op(pr->program, op);
    const bool is_one =
        record->num_results == 1 &&
        !type_is(pr->program, value_type(pr->program, record->results), TYPE_FUNCTION);
    put_char(pr, '(');
    print_operand_types(pr, op);
    put(pr, is_one ? ") -> " : ") -> (");
    print_result_types(pr, op);
    put(pr, is_one ? "" : ")");
}

/* ---- dictionaries ---- */

/* Whether a row's own syntax shows a property. */
static bool is_shown(const ir_row *row, const char *name)
{
    const size_t size = strlen(name);
    const char *at = row->form;
    while (at != NULL && (at = strstr(at, "$(")) != NULL) {
        at += 2;
        if (strncmp(at, name, size) == 0 && at[size] == ')') {
            return true;
        }
    }
    for (size_t i = 0; row->shown != NULL && row->shown[i] != NULL; i++) {
        if (strcmp(row->shown[i], name) == 0) {
            return true;
        }
    }
    return strcmp(name, "operandSegmentSizes") == 0;
}

/* A writer whose state is a text: what is written is taken off it; stops where it differs. */
static bool match_text(void *state, const char *bytes, size_t count)
{
    const char **text = state;
    if (strncmp(*text, bytes, count) != 0) {
        return false;
    }
    *text += count;
    return true;
}

bool is_default(printer *pr, const ir_prop *prop, uint32_t attr)
{
    const char *rest = prop->unless;
    if (rest == NULL) {
        return false;
    }
    if (pr->spare_chunk == NULL) {
        pr->spare_chunk = context_resize(pr->ctx, NULL, 0, CHUNK);
    }
    if (pr->spare_chunk == NULL) {
        pr->no_memory = true;
        return false;
    }
    printer other = {.ctx = pr->ctx,
                     .program = pr->program,
                     .scratch = pr->scratch,
                     .chunk = pr->spare_chunk,
                     .write = match_text,
                     .state = &rest};
    print_attr(&other, attr);
    put_flush(&other);
    printer_free_resources(&other);
    pr->no_memory = pr->no_memory || other.no_memory;
    return !other.stopped && *rest == '\0';
}

void print_dict(printer *pr, uint32_t op, const char *keyword)
{
    const tsr_program *p = pr->program;
    const ir_op *record = program_op(p, op);
    const ir_row *row = program_row(p, op);
    const size_t num_inherent = dict_size(p, record->properties);
    const size_t num_others = dict_size(p, record->attributes);
    if (num_inherent + num_others == 0) {
        return;
    }
    attr_entry *entries = ARENA_ARRAY(pr->scratch, attr_entry, num_inherent + num_others);
    size_t count = 0;
    if (entries == NULL) {
        pr->no_memory = true;
        return;
    }
    for (size_t i = 0; i < num_inherent; i++) {
        const attr_entry entry = attr_entries(program_attr(p, record->properties))[i];
        const slice name = string_at(p, entry.name);
        const ir_prop *prop = row_prop(row, name);
        if (!is_shown(row, name.data) && (prop == NULL || !is_default(pr, prop, entry.value))) {
            entries[count++] = entry;
        }
    }
    for (size_t i = 0; i < num_others; i++) {
        attr_entry entry = attr_entries(program_attr(p, record->attributes))[i];
        size_t at = count++;
        for (; at > 0 &&
               compare_names(string_at(p, entries[at - 1].name), string_at(p, entry.name)) > 0;
             at--) {
            entries[at] = entries[at - 1];
        }
        entries[at] = entry;
    }
    if (count > 0) {
        put_char(pr, ' ');
        put(pr, keyword != NULL ? keyword : "");
        print_entries(pr, entries, count);
    }
}

/* ---- blocks and regions ---- */

void print_argument(printer *pr, uint32_t value)
{
    print_value(pr, value);
    put(pr, ": ");
    print_type(pr, value_type(pr->program, value));
    if (pr->locations != NULL) {
        put(pr, " loc(");
        print_location(pr, program_value(pr->program, value)->location);
        put_char(pr, ')');
    }
}

/* A block that branches to another. */
typedef struct predecessor {
    uint32_t number;
    struct predecessor *next;
} predecessor;

/* What is printed of a block of a region with several. */
typedef struct block_note {
    uint32_t number;
    uint32_t num_predecessors;
    predecessor *first; /* in order, each once */
    predecessor *last;
} block_note;

/* Of a region with one block nothing is noted: its number is 0. */
static block_note note_of(const printer *pr, uint32_t block)
{
    return pr->blocks != NULL ? pr->blocks[block] : (block_note){0};
}

static bool add_predecessor(printer *pr, uint32_t block, uint32_t number)
{
    block_note *note = &pr->blocks[block];
    if (note->last != NULL && note->last->number == number) {
        return true;
    }
    predecessor *last = ARENA_NEW(pr->scratch, predecessor);
    if (last == NULL) {
        return false;
    }
    *last = (predecessor){.number = number};
    *(note->last != NULL ? &note->last->next : &note->first) = last;
    note->last = last;
    note->num_predecessors++;
    return true;
}

/* Numbers the blocks of a region, and notes which branch to which. */
static bool note_blocks(printer *pr, uint32_t region)
{
    const tsr_program *p = pr->program;
    const uint32_t first = program_region(p, region)->first_block;
    const size_t bytes = p->blocks.count * sizeof *pr->blocks;
    uint32_t number = 0;
    if (pr->blocks == NULL) {
        pr->blocks = tsr_arena_alloc(pr->scratch, bytes);
        if (pr->blocks == NULL) {
            return false;
        }
        memset(pr->blocks, 0, bytes);
    }
    for (uint32_t b = first; b != 0; b = program_block(p, b)->next) {
        pr->blocks[b].number = number++;
        const uint32_t last = program_block(p, b)->last_op;
        for (uint32_t i = 0; last != 0 && i < program_op(p, last)->num_successors; i++) {
            const uint32_t to = program_pool(p, program_op(p, last)->successors)[i];
            if (!add_predecessor(pr, to, pr->blocks[b].number)) {
                return false;
            }
        }
    }
    return true;
}

/* The comment that names the blocks that branch to a block, in order. */
static void print_predecessors(printer *pr, uint32_t block)
{
    const block_note note = note_of(pr, block);
    if (note.num_predecessors == 0) {
        put(pr, "  // no predecessors");
        return;
    }
    put(pr, note.num_predecessors == 1 ? "  // pred: " : "  // ");
    if (note.num_predecessors > 1) {
        put_uint(pr, note.num_predecessors);
        put(pr, " preds: ");
    }
    for (const predecessor *from = note.first; from != NULL; from = from->next) {
        put(pr, from == note.first ? "^bb" : ", ^bb");
        put_uint(pr, from->number);
    }
}

static void print_label(printer *pr, uint32_t block)
{
    const ir_block *b = program_block(pr->program, block);
    put_line(pr);
    put(pr, "^bb");
    put_uint(pr, note_of(pr, block).number);
    if (b->num_arguments > 0) {
        put_char(pr, '(');
        for (uint32_t i = 0; i < b->num_arguments; i++) {
            put(pr, i > 0 ? ", " : "");
            print_argument(pr, program_pool(pr->program, b->arguments)[i]);
        }
        put_char(pr, ')');
    }
    put_char(pr, ':');
    if (b->prev != 0) {
        print_predecessors(pr, block);
    }
}

/* An entry block has a label if its arguments are not shown elsewhere, or if it has no ops. */
static bool has_label(const tsr_program *p, uint32_t block, bool entry)
{
    const ir_block *b = program_block(p, block);
    return b->prev != 0 || (entry && (b->num_arguments > 0 || b->first_op == 0));
}

void print_region(printer *pr, uint32_t region, bool entry)
{
    const tsr_program *p = pr->program;
    if (program_region(p, region)->first_block != program_region(p, region)->last_block &&
        !note_blocks(pr, region)) {
        pr->no_memory = true;
        return;
    }
    put_char(pr, '{');
    for (uint32_t b = program_region(p, region)->first_block; b != 0;
         b = program_block(p, b)->next) {
        if (has_label(p, b, entry)) {
            print_label(pr, b);
        }
        pr->indent++;
        for (uint32_t op = program_block(p, b)->first_op; op != 0; op = program_op(p, op)->next) {
            put_line(pr);
            print_op(pr, op);
        }
        pr->indent--;
    }
    put_line(pr);
    put_char(pr, '}');
}

/* ---- ops ---- */

static void print_successors(printer *pr, uint32_t op)
{
    const ir_op *record = program_op(pr->program, op);
    if (record->num_successors == 0) {
        return;
    }
    put_char(pr, '[');
    for (uint32_t i = 0; i < record->num_successors; i++) {
        put(pr, i > 0 ? ", ^bb" : "^bb");
        put_uint(pr, note_of(pr, program_pool(pr->program, record->successors)[i]).number);
    }
    put_char(pr, ']');
}

void print_op_generic(printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const ir_op *record = program_op(p, op);
    put_quoted(pr, (slice){op_name(p, op), strlen(op_name(p, op))});
    put_char(pr, '(');
    print_operands(pr, op, 0, record->num_operands);
    put_char(pr, ')');
    print_successors(pr, op);
    if (record->properties != 0) {
        const attr_head *dict = program_attr(p, record->properties);
        put(pr, " <");
        print_entries(pr, attr_entries(dict), dict->count);
        put_char(pr, '>');
    }
    for (uint32_t i = 0; i < record->num_regions; i++) {
        put(pr, i == 0 ? " (" : ", ");
        print_region(pr, op_region_at(p, op, i), true);
    }
    put(pr, record->num_regions > 0 ? ")" : "");
    if (record->attributes != 0) {
        const attr_head *dict = program_attr(p, record->attributes);
        put_char(pr, ' ');
        print_entries(pr, attr_entries(dict), dict->count);
    }
    put(pr, " : ");
    print_op_types(pr, op);
}

bool prints_custom(const printer *pr, uint32_t op)
{
    const ir_row *row = program_row(pr->program, op);
    const ir_op *record = program_op(pr->program, op);
    const op_spelling *own = spelling_of(pr->program, op);
    return row != NULL && (row->form != NULL || own->print != NULL) &&
           (pr->flags & TSR_PROGRAM_GENERIC) == 0 && record->num_successors == 0 &&
           (row->num_operands == MANY || row->num_operands == (int)record->num_operands) &&
           (row->num_results == MANY || row->num_results == (int)record->num_results) &&
           (row->num_regions == MANY || row->num_regions == (int)record->num_regions) &&
           properties_fit(pr->program, op) && (own->can_print == NULL || own->can_print(pr, op));
}

static void print_custom_name(printer *pr, const ir_row *row, uint32_t op)
{
    const uint32_t parent = op_parent(pr->program, op);
    const ir_row *around = parent != 0 ? program_row(pr->program, parent) : NULL;
    const char *name = op_kind_name(row->kind);
    if (strncmp(name, "func.", 5) == 0 && around != NULL && (around->traits & IR_NAMES_FUNC) != 0) {
        name += 5;
    } else if (row->kind == OP_BUILTIN_MODULE) {
        name += strlen("builtin.");
    }
    put(pr, name);
}

void print_op(printer *pr, uint32_t op)
{
    const ir_row *row = program_row(pr->program, op);
    print_result_names(pr, op);
    if (!prints_custom(pr, op)) {
        print_op_generic(pr, op);
    } else {
        print_custom_name(pr, row, op);
        if (op_spellings[row->kind].print != NULL) {
            op_spellings[row->kind].print(pr, op);
        } else {
            form_print(pr, op, row->form);
        }
    }
    print_location_suffix(pr, program_op(pr->program, op)->location);
}

/* ---- programs ---- */

static tsr_status print_program(printer *pr)
{
    TSR_TRY(number_values(pr));
    if ((pr->flags & TSR_PROGRAM_LOCATIONS) != 0) {
        TSR_TRY(number_locations(pr));
    }
    print_location_aliases(pr, true);
    print_op(pr, pr->program->module);
    put_char(pr, '\n');
    print_location_aliases(pr, false);
    print_resources(pr);
    return TSR_OK;
}

tsr_status tsr_program_print(tsr_context *ctx, const tsr_program *program, int printing,
                             tsr_program_writer write, void *state)
{
    GUARD(tsr_program_print);
    printer pr;
    TSR_TRY(printer_init(&pr, ctx, program, printing, write, state));
    const tsr_status status = print_program(&pr);
    const tsr_status end = printer_finish(&pr);
    return status < 0 ? status : end;
}

tsr_status tsr_program_to_text(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                               int printing, const char **out)
{
    GUARD(tsr_program_to_text);
    buffer text = buffer_new(arena);
    TSR_TRY(tsr_program_print(ctx, program, printing, write_to_buffer, &text));
    return buffer_finish(ctx, &text, out);
}

/* Prints the name of every value that has one, each with a zero byte after it. */
static tsr_status print_names(printer *pr)
{
    TSR_TRY(number_values(pr));
    for (uint32_t v = 1; v < pr->num_names; v++) {
        if (value_is_named(pr, v)) {
            print_value(pr, v);
        }
        put_bytes(pr, "", 1);
    }
    return TSR_OK;
}

tsr_status tsr_program_value_names(tsr_context *ctx, tsr_arena *arena, const tsr_program *program,
                                   const char *const **out)
{
    GUARD(tsr_program_value_names);
    buffer text = buffer_new(arena);
    printer pr;
    const char *at = NULL;
    const char **names = ARENA_ARRAY(arena, const char *, program->values.count);
    if (names == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(printer_init(&pr, ctx, program, TSR_PROGRAM_PRETTY, write_to_buffer, &text));
    const tsr_status status = print_names(&pr);
    const tsr_status end = printer_finish(&pr);
    TSR_TRY(status < 0 ? status : end);
    TSR_TRY(buffer_finish(ctx, &text, &at));
    names[0] = NULL;
    for (uint32_t v = 1; v < program->values.count; v++) {
        names[v] = at[0] != '\0' ? at : NULL;
        at += strlen(at) + 1;
    }
    *out = names;
    return TSR_OK;
}
