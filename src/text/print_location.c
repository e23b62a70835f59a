/* Locations, printed: those that occur several times by alias. */
#include <string.h>

#include "base/arena.h"
#include "ir/location.h"
#include "ir/row.h"
#include "text/parser.h"
#include "text/printer.h"
#include "text/spelling.h"

/* ---- names of locations for printing ---- */

/* What is known of a location that is printed. */
typedef struct location_name {
    uint32_t number; /* its alias; UINT32_MAX: not seen */
    uint16_t depth;  /* 0 without parts */
    bool before;     /* defined before the module */
} location_name;

struct location_names {
    ir_array names; /* location_name, by key: given ones, then those of the text */
    ir_array order; /* keys as visited */
    uint32_t num_given;
    intern_table implicit; /* offsets in the text: keys after the given ones */
    ir_array lines;        /* offsets of line starts */
};

enum { NOT_SEEN = UINT32_MAX };

static location_name *name_of(const printer *pr, uint32_t key)
{
    return (location_name *)pr->locations->names.items + key;
}

/* The key of the i-th location that was visited. */
static uint32_t visited(const printer *pr, uint32_t i)
{
    return ((const uint32_t *)pr->locations->order.items)[i];
}

void free_locations(printer *pr)
{
    struct location_names *all = pr->locations;
    if (all == NULL) {
        return;
    }
    ir_array_free(pr->ctx, &all->names, sizeof(location_name));
    ir_array_free(pr->ctx, &all->order, sizeof(uint32_t));
    ir_array_free(pr->ctx, &all->lines, sizeof(uint32_t));
    intern_table_free(&all->implicit);
    context_resize(pr->ctx, all, sizeof *all, 0);
    pr->locations = NULL;
}

/* The key of a location: given ones by number, offsets of the text after them. */
static bool key_of(printer *pr, uint32_t where, uint32_t *key)
{
    struct location_names *all = pr->locations;
    if ((where & IR_IS_GIVEN) != 0) {
        *key = where & ~IR_IS_GIVEN;
        return true;
    }
    uint32_t id = 0;
    if (intern_bytes(&all->implicit, &where, sizeof where, &id) < 0) {
        pr->no_memory = true;
        return false;
    }
    *key = all->num_given + id;
    return true;
}

/* Room for a key; new ones are not seen yet. */
static bool ensure_key(printer *pr, uint32_t key)
{
    ir_array *names = &pr->locations->names;
    ir_array *order = &pr->locations->order;
    const uint32_t extra = key < names->count ? 0 : key + 1 - names->count;
    if (ir_array_reserve(pr->ctx, names, sizeof(location_name), extra) < 0 ||
        ir_array_reserve(pr->ctx, order, sizeof(uint32_t), 1) < 0) {
        pr->no_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < extra; i++) {
        *name_of(pr, names->count++) = (location_name){.number = NOT_SEEN};
    }
    return true;
}

static unsigned visit(printer *pr, uint32_t where, bool before);

/* Visits the parts of a location; the depth of the deepest, and one more. */
static unsigned visit_parts(printer *pr, uint32_t given, bool before)
{
    location_kind kind;
    size_t count = 0;
    const uint32_t *numbers = given_location(pr->program, given, &kind, &count);
    unsigned depth = 0;
    if (kind == LOCATION_UNKNOWN || kind == LOCATION_FILE) {
        return 0;
    }
    for (size_t i = kind == LOCATION_CALLSITE ? 0 : 1; i < count; i++) {
        if (numbers[i] != 0) {
            const unsigned part = visit(pr, numbers[i] | IR_IS_GIVEN, before) + 1;
            depth = part > depth ? part : depth;
        }
    }
    return depth;
}

static unsigned visit(printer *pr, uint32_t where, bool before)
{
    struct location_names *all = pr->locations;
    uint32_t key = 0;
    if (!key_of(pr, where, &key) || !ensure_key(pr, key)) {
        return 0;
    }
    location_name *name = name_of(pr, key);
    const bool is_given = (where & IR_IS_GIVEN) != 0;
    if (name->number != NOT_SEEN) {
        if (before && !name->before) {
            name->before = true;
            if (is_given) {
                visit_parts(pr, key, true);
            }
        }
        return name_of(pr, key)->depth;
    }
    ((uint32_t *)all->order.items)[all->order.count++] = key;
    *name = (location_name){.number = 0, .before = before};
    const unsigned depth = is_given ? visit_parts(pr, key, before) : 0;
    name_of(pr, key)->depth = (uint16_t)depth;
    return depth;
}

/* The argument that is printed at a place of a list. */
static uint32_t shown_argument(const ir_row *row, bool is_custom, uint32_t place, uint32_t count)
{
    const bool is_paired = is_custom && (row->traits & IR_PAIRS_ARGUMENTS) != 0 && count % 2 == 0;
    return is_paired ? place / 2 + place % 2 * (count / 2) : place;
}

/* Locations in the order of printing: an op's own first, then what is inside it. */
static void visit_ops(printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const ir_row *row = program_row(p, op);
    const bool is_custom = prints_custom(pr, op);
    const bool hides_arguments = is_custom && (row->traits & IR_HIDES_ARGUMENTS) != 0;
    visit(pr, program_op(p, op)->location, false);
    const op_spelling *own = spelling_of(p, op);
    if (is_custom && own->hides_regions != NULL && own->hides_regions(p, op)) {
        return;
    }
    for (uint32_t r = 0; r < program_op(p, op)->num_regions; r++) {
        for (uint32_t b = program_region(p, op_region_at(p, op, r))->first_block; b != 0;
             b = program_block(p, b)->next) {
            const ir_block *block = program_block(p, b);
            for (uint32_t i = 0; !hides_arguments && i < block->num_arguments; i++) {
                const uint32_t index = shown_argument(row, is_custom, i, block->num_arguments);
                visit(pr, program_value(p, program_pool(p, block->arguments)[index])->location,
                      true);
            }
            for (uint32_t inner = block->first_op; inner != 0; inner = program_op(p, inner)->next) {
                visit_ops(pr, inner);
            }
        }
    }
}

/* Numbers by depth, then by the order of visits. */
static void assign_numbers(printer *pr)
{
    uint32_t next[PARSER_MAX_DEPTH + 2] = {0}; /* of each depth */
    const uint32_t count = pr->locations->order.count;
    for (uint32_t i = 0; i < count; i++) {
        next[name_of(pr, visited(pr, i))->depth + 1]++;
    }
    for (size_t depth = 1; depth < sizeof next / sizeof next[0]; depth++) {
        next[depth] += next[depth - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        location_name *name = name_of(pr, visited(pr, i));
        name->number = next[name->depth]++;
    }
}

tsr_status number_locations(printer *pr)
{
    struct location_names *all = context_resize(pr->ctx, NULL, 0, sizeof *all);
    if (all == NULL) {
        return diag_nomem(pr->ctx);
    }
    *all = (struct location_names){.num_given = pr->program->locations.count};
    pr->locations = all;
    TSR_TRY(intern_table_init(&all->implicit, pr->ctx, pr->scratch));
    TSR_TRY(find_lines(pr->ctx, &pr->program->text, &all->lines));
    visit_ops(pr, pr->program->module);
    if (pr->no_memory) {
        return diag_nomem(pr->ctx);
    }
    assign_numbers(pr);
    return TSR_OK;
}

/* ---- printing ---- */

static void print_alias(printer *pr, uint32_t number)
{
    put(pr, "#loc");
    if (number > 0) {
        put_uint(pr, number);
    }
}

/* `"file":1:2` of an offset; the module that the text does not show is at 0:0. */
static void print_offset(printer *pr, uint32_t offset)
{
    const char *name = pr->program->text.name != NULL ? pr->program->text.name : "-";
    put_quoted(pr, (slice){name, strlen(name)});
    if (offset == IR_NOWHERE) {
        put(pr, ":0:0");
        return;
    }
    const text_position position = position_of(&pr->locations->lines, offset);
    put_char(pr, ':');
    put_uint(pr, position.line);
    put_char(pr, ':');
    put_uint(pr, position.column);
}

/* A part: by its alias where there are aliases. */
static void print_part(printer *pr, uint32_t given)
{
    if (pr->locations != NULL && given < pr->locations->names.count &&
        name_of(pr, given)->number != NOT_SEEN) {
        print_alias(pr, name_of(pr, given)->number);
    } else {
        print_given_location(pr, given);
    }
}

static void print_file(printer *pr, const uint32_t *numbers)
{
    put_quoted(pr, string_at(pr->program, numbers[0]));
    put_char(pr, ':');
    put_uint(pr, numbers[1]);
    put_char(pr, ':');
    put_uint(pr, numbers[2]);
    if (numbers[5] != NO_END) {
        put(pr, " to ");
        if (numbers[5] == END_LINE) {
            put_uint(pr, numbers[3]);
        }
        put_char(pr, ':');
        put_uint(pr, numbers[4]);
    }
}

void print_given_location(printer *pr, uint32_t given)
{
    location_kind kind;
    size_t count = 0;
    const uint32_t *numbers = given_location(pr->program, given, &kind, &count);
    switch (kind) {
    case LOCATION_UNKNOWN:
        put(pr, "unknown");
        break;
    case LOCATION_FILE:
        print_file(pr, numbers);
        break;
    case LOCATION_NAME:
        put_quoted(pr, string_at(pr->program, numbers[0]));
        if (numbers[1] != 0) {
            put_char(pr, '(');
            print_part(pr, numbers[1]);
            put_char(pr, ')');
        }
        break;
    case LOCATION_CALLSITE:
        put(pr, "callsite(");
        print_part(pr, numbers[0]);
        put(pr, " at ");
        print_part(pr, numbers[1]);
        put_char(pr, ')');
        break;
    case LOCATION_FUSED:
        put(pr, "fused");
        if (numbers[0] != 0) {
            put_char(pr, '<');
            print_attr(pr, numbers[0]);
            put_char(pr, '>');
        }
        put_char(pr, '[');
        for (size_t i = 1; i < count; i++) {
            put(pr, i > 1 ? ", " : "");
            print_part(pr, numbers[i]);
        }
        put_char(pr, ']');
        break;
    case LOCATION_ALIAS:
        put_slice(pr, string_at(pr->program, numbers[0]));
        break;
    }
}

void print_location(printer *pr, uint32_t where)
{
    if ((where & IR_IS_GIVEN) != 0) {
        print_given_location(pr, where & ~IR_IS_GIVEN);
    } else {
        print_offset(pr, where);
    }
}

void print_location_suffix(printer *pr, uint32_t where)
{
    uint32_t key = 0;
    if (pr->locations == NULL || !key_of(pr, where, &key)) {
        return;
    }
    put(pr, " loc(");
    print_alias(pr, name_of(pr, key)->number);
    put_char(pr, ')');
}

void print_location_aliases(printer *pr, bool before)
{
    struct location_names *all = pr->locations;
    if (all == NULL) {
        return;
    }
    uint32_t *by_number = tsr_arena_alloc(pr->scratch, (all->order.count + 1) * sizeof *by_number);
    if (by_number == NULL) {
        pr->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < all->order.count; i++) {
        by_number[name_of(pr, visited(pr, i))->number] = visited(pr, i);
    }
    for (uint32_t i = 0; i < all->order.count; i++) {
        const uint32_t key = by_number[i];
        if (name_of(pr, key)->before != before) {
            continue;
        }
        print_alias(pr, i);
        put(pr, " = loc(");
        if (key < all->num_given) {
            print_given_location(pr, key);
        } else {
            const uint32_t *offset = intern_get(&all->implicit, key - all->num_given);
            print_offset(pr, *offset);
        }
        put(pr, ")\n");
    }
}
