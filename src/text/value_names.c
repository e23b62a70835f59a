/* Names of values, as MLIR gives them: numbered before anything is printed. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "text/printer.h"
#include "text/spelling.h"

enum { NAME_NONE, NAME_NUMBER, NAME_ARGUMENT, NAME_TEXT, NAME_BITS = 2 };

/* The counters and the names of a region. */
typedef struct name_state {
    uint32_t next_value;
    uint32_t next_argument;
    uint32_t next_conflict;
    uint64_t used;                 /* bit i: suggestion i */
    const struct named_region *in; /* the innermost that uses suggestions without a bit */
    bool is_own;                   /* it is this region, none around it */
} name_state;

/* A region that uses suggestions without a bit, and the next such one around it. */
typedef struct named_region {
    uint32_t number;
    const struct named_region *around;
} named_region;

typedef struct pending_region {
    uint32_t region;
    uint32_t index; /* among those of its op */
    name_state state;
} pending_region;

typedef struct namer {
    printer *pr;
    name_state state;
    ir_array stack;
    intern_table suggestions;
    intern_table used; /* pairs of a named region and a suggestion without a bit */
    uint32_t num_named;
    bool is_generic;
} namer;

void free_names(printer *pr)
{
    ir_array_free(pr->ctx, &pr->type_texts, sizeof(slice));
    if (pr->names != NULL) {
        context_resize(pr->ctx, pr->names, pr->num_names * sizeof *pr->names, 0);
        pr->names = NULL;
    }
    intern_table_free(&pr->texts);
}

static void set_name(namer *n, uint32_t value, uint32_t kind, uint32_t number)
{
    n->pr->names[value] = number << NAME_BITS | kind;
}

/* The region whose values are named, as one that uses suggestions without a bit. */
static tsr_status own_region(namer *n)
{
    if (n->state.is_own) {
        return TSR_OK;
    }
    named_region *own = ARENA_NEW(n->pr->scratch, named_region);
    if (own == NULL) {
        return diag_nomem(n->pr->ctx);
    }
    *own = (named_region){n->num_named++, n->state.in};
    n->state.in = own;
    n->state.is_own = true;
    return TSR_OK;
}

/* Marks a suggestion as used; *was says whether it was already, here or in a region around. */
static tsr_status use_suggestion(namer *n, uint32_t id, bool *was)
{
    enum { NUM_BITS = 64 };
    if (id < NUM_BITS) {
        *was = (n->state.used >> id & 1) != 0;
        n->state.used |= UINT64_C(1) << id;
        return TSR_OK;
    }
    for (const named_region *in = n->state.in; in != NULL; in = in->around) {
        const uint32_t key[2] = {in->number, id};
        if (intern_find_bytes(&n->used, key, sizeof key) != 0) {
            *was = true;
            return TSR_OK;
        }
    }
    TSR_TRY(own_region(n));
    const uint32_t key[2] = {n->state.in->number, id};
    uint32_t pair = 0;
    *was = false;
    return intern_bytes(&n->used, key, sizeof key, &pair);
}

/* A name that an op suggests; taken ones get a number from the region's counter. */
static tsr_status suggest(namer *n, uint32_t value, const char *name)
{
    enum { MOST = 128 };
    char text[MOST];
    uint32_t id = 0;
    bool is_used = false;
    TSR_TRY(intern_bytes(&n->suggestions, name, strlen(name), &id));
    TSR_TRY(use_suggestion(n, id, &is_used));
    if (is_used) {
        snprintf(text, sizeof text, "%s_%u", name, n->state.next_conflict++);
        name = text;
    }
    TSR_TRY(intern_bytes(&n->pr->texts, name, strlen(name), &id));
    set_name(n, value, NAME_TEXT, id);
    return TSR_OK;
}

static tsr_status name_arguments(namer *n, uint32_t op, size_t region, uint32_t block,
                                 bool is_entry)
{
    const tsr_program *p = n->pr->program;
    const ir_block *b = program_block(p, block);
    const op_spelling *own = spelling_of(p, op);
    for (uint32_t i = 0; i < b->num_arguments; i++) {
        const uint32_t value = program_pool(p, b->arguments)[i];
        const char *name = is_entry && !n->is_generic && own->argument_name != NULL
                               ? own->argument_name(p, op, region, i)
                               : NULL;
        if (name != NULL) {
            TSR_TRY(suggest(n, value, name));
        } else if (is_entry) {
            set_name(n, value, NAME_ARGUMENT, n->state.next_argument++);
        } else {
            set_name(n, value, NAME_NUMBER, n->state.next_value++);
        }
    }
    return TSR_OK;
}

static tsr_status name_results(namer *n, uint32_t op)
{
    enum { MOST = 64 };
    char room[MOST];
    const tsr_program *p = n->pr->program;
    const ir_op *record = program_op(p, op);
    const ir_row *row = program_row(p, op);
    if (record->num_results == 0) {
        return TSR_OK;
    }
    if (!n->is_generic && row != NULL && op_spellings[row->kind].result_name != NULL) {
        const char *name = op_spellings[row->kind].result_name(p, op, room, sizeof room);
        if (name != NULL) {
            return suggest(n, record->results, name);
        }
    }
    if (!n->is_generic && row != NULL && row->result_names != NULL &&
        row->num_results == (int)record->num_results) {
        for (uint32_t i = 0; i < record->num_results; i++) {
            TSR_TRY(suggest(n, record->results + i, row->result_names[i]));
        }
        return TSR_OK;
    }
    const uint32_t number = n->state.next_value++;
    for (uint32_t i = 0; i < record->num_results; i++) {
        set_name(n, record->results + i, NAME_NUMBER, number);
    }
    return TSR_OK;
}

/* The regions of an op are numbered later, from what their own region has at its end. */
static tsr_status push_regions(namer *n, uint32_t op)
{
    const tsr_program *p = n->pr->program;
    for (uint32_t i = 0; i < program_op(p, op)->num_regions; i++) {
        const pending_region next = {
            .region = op_region_at(p, op, i), .index = i, .state = n->state};
        TSR_TRY(ir_array_reserve(n->pr->ctx, &n->stack, sizeof next, 1));
        ((pending_region *)n->stack.items)[n->stack.count++] = next;
    }
    return TSR_OK;
}

static tsr_status name_region(namer *n, uint32_t region, size_t index)
{
    const tsr_program *p = n->pr->program;
    const ir_region *r = program_region(p, region);
    for (uint32_t b = r->first_block; b != 0; b = program_block(p, b)->next) {
        TSR_TRY(name_arguments(n, r->op, index, b, b == r->first_block));
        for (uint32_t op = program_block(p, b)->first_op; op != 0; op = program_op(p, op)->next) {
            TSR_TRY(name_results(n, op));
        }
    }
    for (uint32_t b = r->first_block; b != 0; b = program_block(p, b)->next) {
        for (uint32_t op = program_block(p, b)->first_op; op != 0; op = program_op(p, op)->next) {
            if (program_op(p, op)->num_regions > 0) {
                TSR_TRY(push_regions(n, op));
            }
        }
    }
    return TSR_OK;
}

static tsr_status name_all(namer *n)
{
    TSR_TRY(name_results(n, n->pr->program->module));
    TSR_TRY(push_regions(n, n->pr->program->module));
    while (n->stack.count > 0) {
        const pending_region next = ((pending_region *)n->stack.items)[--n->stack.count];
        if (!n->is_generic) {
            n->state = next.state;
            n->state.is_own = false;
        }
        TSR_TRY(name_region(n, next.region, next.index));
    }
    return TSR_OK;
}

tsr_status number_values(printer *pr)
{
    pr->num_names = pr->program->values.count;
    pr->names = context_resize(pr->ctx, NULL, 0, pr->num_names * sizeof *pr->names);
    if (pr->names == NULL) {
        return diag_nomem(pr->ctx);
    }
    memset(pr->names, 0, pr->num_names * sizeof *pr->names);
    const uint32_t num_types = pr->program->types.count;
    TSR_TRY(ir_array_reserve(pr->ctx, &pr->type_texts, sizeof(slice), num_types));
    memset(pr->type_texts.items, 0, num_types * sizeof(slice));
    pr->type_texts.count = num_types;
    TSR_TRY(intern_table_init(&pr->texts, pr->ctx, pr->scratch));
    namer n = {.pr = pr, .is_generic = (pr->flags & TSR_PROGRAM_GENERIC) != 0};
    tsr_status status = intern_table_init(&n.suggestions, pr->ctx, pr->scratch);
    if (status >= 0) {
        status = intern_table_init(&n.used, pr->ctx, pr->scratch);
    }
    if (status >= 0) {
        status = name_all(&n);
    }
    intern_table_free(&n.suggestions);
    intern_table_free(&n.used);
    ir_array_free(pr->ctx, &n.stack, sizeof(pending_region));
    return status;
}

bool value_is_named(const printer *pr, uint32_t value)
{
    return pr->names[value] != 0;
}

/* `%0`, `%0#1`, `%arg0`, `%cst_1` */
void print_value(printer *pr, uint32_t value)
{
    const ir_value *v = program_value(pr->program, value);
    const uint32_t name = pr->names[value];
    const uint32_t number = name >> NAME_BITS;
    put_char(pr, '%');
    switch (name & ((1U << NAME_BITS) - 1)) {
    case NAME_NONE:
    case NAME_NUMBER:
        put_uint(pr, number);
        if ((v->owner & IR_IS_ARGUMENT) == 0 && v->owner != 0 &&
            program_op(pr->program, v->owner)->num_results > 1) {
            put_char(pr, '#');
            put_uint(pr, v->index);
        }
        break;
    case NAME_ARGUMENT:
        put(pr, "arg");
        put_uint(pr, number);
        break;
    default:
        put_slice(pr, (slice){intern_get(&pr->texts, number), intern_size(&pr->texts, number)});
        break;
    }
}

/* What stands before `=`: a group, or the names that the op suggests. */
void print_result_names(printer *pr, uint32_t op)
{
    const ir_op *record = program_op(pr->program, op);
    if (record->num_results == 0) {
        return;
    }
    if ((pr->names[record->results] & ((1U << NAME_BITS) - 1)) == NAME_TEXT) {
        for (uint32_t i = 0; i < record->num_results; i++) {
            put(pr, i > 0 ? ", " : "");
            print_value(pr, record->results + i);
        }
    } else {
        put_char(pr, '%');
        put_uint(pr, pr->names[record->results] >> NAME_BITS);
        if (record->num_results > 1) {
            put_char(pr, ':');
            put_uint(pr, record->num_results);
        }
    }
    put(pr, " = ");
}
