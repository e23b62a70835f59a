#include "ir/shardings.h"

#include <string.h>

#include "base/arena.h"
#include "base/guard.h"
#include "ir/changes.h"
#include "ir/edit.h"
#include "ir/function.h"
#include "ir/interned.h"
#include "ir/message.h"
#include "ir/op_facts.h"

/* What is known of a sharding attribute. */
typedef struct known_sharding {
    sharding_text *text;
    const tsr_mesh *mesh;
    const tsr_sharding *sharding;
    bool has_mesh; /* looked up */
    bool is_ragged;
    bool is_verified;       /* for some type, outside of manual computations */
    uint32_t verified_type; /* the last one; others are in the table */
} known_sharding;

struct ir_shardings {
    tsr_context *ctx;
    tsr_arena *arena;
    intern_table modules; /* ops whose symbols are known */
    intern_table names;   /* of symbols */
    intern_table symbols; /* pairs of a module and a name */
    ir_array definitions; /* by symbol */
    intern_table meshes;  /* pairs of a mesh attribute and a name */
    ir_array mesh_list;   /* const tsr_mesh *, by such pair */
    intern_table places;  /* pairs of a sharding attribute and a module */
    ir_array known;       /* by place */
    intern_table fits;    /* pairs of a place and a type for which it was verified */
    ir_array main_places; /* by attribute: its place in the program's module; 0: not asked for */
    bool has_modules;     /* inside the program's */
    intern_table erased;  /* pairs of a sharding attribute and a manual computation */
    ir_array erased_shardings;
    ir_array counts; /* of uses, by value; empty: not counted */
    ir_array users;
};

/* The op that defines a symbol; the mesh if it is one and was asked for. */
typedef struct definition {
    uint32_t op;
    uint32_t name;
    const tsr_mesh *mesh;
} definition;

enum { NUM_TABLES = 7 };

static void list_tables(ir_shardings *s, intern_table *tables[NUM_TABLES])
{
    intern_table *const all[NUM_TABLES] = {&s->modules, &s->names, &s->symbols, &s->meshes,
                                           &s->places,  &s->fits,  &s->erased};
    memcpy(tables, all, sizeof all);
}

void ir_shardings_destroy(ir_shardings *s)
{
    if (s == NULL) {
        return;
    }
    intern_table *tables[NUM_TABLES];
    list_tables(s, tables);
    for (size_t i = 0; i < NUM_TABLES; i++) {
        intern_table_free(tables[i]);
    }
    ir_array_free(s->ctx, &s->definitions, sizeof(definition));
    ir_array_free(s->ctx, &s->mesh_list, sizeof(const tsr_mesh *));
    ir_array_free(s->ctx, &s->known, sizeof(known_sharding));
    ir_array_free(s->ctx, &s->main_places, sizeof(uint32_t));
    ir_array_free(s->ctx, &s->erased_shardings, sizeof(const tsr_sharding *));
    ir_array_free(s->ctx, &s->counts, sizeof(uint32_t));
    ir_array_free(s->ctx, &s->users, sizeof(uint32_t));
    tsr_arena_destroy(s->arena);
    context_resize(s->ctx, s, sizeof *s, 0);
}

void ir_shardings_drop(tsr_program *p)
{
    /* Interned objects are made from resolved ones. */
    ir_interned_destroy(p->interned);
    ir_shardings_destroy(p->shardings);
    p->interned = NULL;
    p->shardings = NULL;
    p->changes.stale = 0;
}

void ir_shardings_refresh(tsr_program *p)
{
    const int stale = p->changes.stale;
    ir_shardings *s = p->shardings;
    p->changes.stale = 0;
    if ((stale & CHANGED_MESHES) != 0) {
        ir_shardings_drop(p);
        return;
    }
    if (s == NULL) {
        return;
    }
    if ((stale & CHANGED_SYMBOLS) != 0) {
        intern_table_clear(&s->modules);
        intern_table_clear(&s->symbols);
        s->definitions.count = 1;
    }
    if ((stale & CHANGED_COMPUTATIONS) != 0) {
        intern_table_clear(&s->erased);
        s->erased_shardings.count = 1;
    }
    if ((stale & CHANGED_PLACES) != 0) {
        s->counts.count = 0;
    }
}

/* ---- symbols and meshes ---- */

/* Reads the canonical text of an attribute. */
static tsr_text text_of_attr(const attr_head *attr)
{
    return (tsr_text){.name = "<attribute>", .data = attr_text(attr), .size = attr->count};
}

/* The module whose symbols an op sees; of an op that is in none, the module of the program. */
static uint32_t nearest_module(const tsr_program *p, const ir_shardings *s, uint32_t op)
{
    if (!s->has_modules) {
        return p->module;
    }
    while (op != 0 && !op_has_trait(p, op, IR_SYMBOL_TABLE)) {
        op = op_parent(p, op);
    }
    return op != 0 ? op : p->module;
}

/* The first op of a name is the symbol. */
static tsr_status add_symbol(tsr_program *p, ir_shardings *s, uint32_t module, uint32_t op)
{
    slice name;
    uint32_t key[2] = {module};
    uint32_t id = 0;
    const uint32_t before = s->symbols.count;
    if (!attr_as_string(p, op_property(p, op, "sym_name"), &name)) {
        return TSR_OK;
    }
    TSR_TRY(ir_array_reserve(p->ctx, &s->definitions, sizeof(definition), 1));
    TSR_TRY(intern_bytes(&s->names, name.data, name.size, &key[1]));
    TSR_TRY(intern_bytes(&s->symbols, key, sizeof key, &id));
    if (s->symbols.count > before) {
        ((definition *)s->definitions.items)[s->definitions.count++] =
            (definition){.op = op, .name = key[1]};
    }
    return TSR_OK;
}

static tsr_status add_symbols(tsr_program *p, ir_shardings *s, uint32_t module)
{
    uint32_t id = 0;
    if (intern_find_bytes(&s->modules, &module, sizeof module) != 0) {
        return TSR_OK;
    }
    for (uint32_t op = program_block(p, op_entry_block(p, module, 0))->first_op; op != 0;
         op = program_op(p, op)->next) {
        TSR_TRY(add_symbol(p, s, module, op));
    }
    return intern_bytes(&s->modules, &module, sizeof module, &id);
}

static tsr_status make(tsr_program *p, ir_shardings *s)
{
    TSR_TRY(tsr_arena_create(p->ctx, &s->arena));
    intern_table *tables[NUM_TABLES];
    list_tables(s, tables);
    for (size_t i = 0; i < NUM_TABLES; i++) {
        TSR_TRY(intern_table_init(tables[i], p->ctx, s->arena));
    }
    TSR_TRY(ir_array_reserve(p->ctx, &s->definitions, sizeof(definition), 1));
    TSR_TRY(ir_array_reserve(p->ctx, &s->mesh_list, sizeof(const tsr_mesh *), 1));
    TSR_TRY(ir_array_reserve(p->ctx, &s->known, sizeof(known_sharding), 1));
    TSR_TRY(ir_array_reserve(p->ctx, &s->erased_shardings, sizeof(const tsr_sharding *), 1));
    /* Number 0 is none. */
    s->definitions.count = s->mesh_list.count = 1;
    s->known.count = s->erased_shardings.count = 1;
    return TSR_OK;
}

static bool has_modules(const tsr_program *p)
{
    for (uint32_t op = 1; op < p->ops.count; op++) {
        if (op != p->module && op_has_trait(p, op, IR_SYMBOL_TABLE)) {
            return true;
        }
    }
    return false;
}

/* What the program knows of its shardings, made when it is asked for first. */
static tsr_status get(tsr_context *ctx, tsr_program *p, ir_shardings **out)
{
    if (p->shardings == NULL) {
        ir_shardings *s = context_resize(p->ctx, NULL, 0, sizeof *s);
        if (s == NULL) {
            return diag_nomem(ctx);
        }
        *s = (ir_shardings){.ctx = p->ctx, .has_modules = has_modules(p)};
        const tsr_status status = make(p, s);
        if (status < 0) {
            ir_shardings_destroy(s);
            return status;
        }
        p->shardings = s;
    }
    *out = p->shardings;
    return TSR_OK;
}

/* What a name stands for around an op; NULL: nothing. */
static tsr_status find_definition(tsr_context *ctx, tsr_program *p, uint32_t op, slice name,
                                  definition **out)
{
    ir_shardings *s = NULL;
    *out = NULL;
    TSR_TRY(get(ctx, p, &s));
    uint32_t key[2] = {nearest_module(p, s, op)};
    TSR_TRY(add_symbols(p, s, key[0]));
    key[1] = intern_find_bytes(&s->names, name.data, name.size);
    const uint32_t id = key[1] != 0 ? intern_find_bytes(&s->symbols, key, sizeof key) : 0;
    if (id != 0) {
        *out = (definition *)s->definitions.items + id;
    }
    return TSR_OK;
}

tsr_status program_symbol(tsr_context *ctx, tsr_program *p, uint32_t op, slice name, uint32_t *out)
{
    definition *found = NULL;
    TSR_TRY(find_definition(ctx, p, op, name, &found));
    *out = found != NULL ? found->op : 0;
    return TSR_OK;
}

static tsr_status read_mesh(tsr_context *ctx, const tsr_program *p, uint32_t attr, slice name,
                            const tsr_mesh **out)
{
    const tsr_mesh *mesh = NULL;
    tsr_text text = text_of_attr(program_attr(p, attr));
    TSR_TRY(tsr_mesh_read(ctx, p->shardings->arena, &text, TSR_READ_PROGRAM, &mesh));
    const char *copy = arena_string(p->shardings->arena, name.data, name.size);
    if (copy == NULL) {
        return diag_nomem(ctx);
    }
    return tsr_mesh_rename(ctx, p->shardings->arena, mesh, copy, out);
}

/* The mesh that an op defines; NULL when it defines none. One object for each attribute and name,
 * so that shardings that were resolved before other symbols changed stay those of their mesh. */
static tsr_status defined_mesh(tsr_context *ctx, tsr_program *p, slice name, definition *of)
{
    ir_shardings *s = p->shardings;
    const uint32_t attr = op_property(p, of->op, "mesh");
    const uint32_t key[2] = {attr, of->name};
    if (!op_is(p, of->op, OP_SDY_MESH) || !attr_is(p, attr, ATTR_SDY)) {
        return TSR_OK;
    }
    uint32_t id = intern_find_bytes(&s->meshes, key, sizeof key);
    if (id == 0) {
        const tsr_mesh *mesh = NULL;
        TSR_TRY(read_mesh(ctx, p, attr, name, &mesh));
        TSR_TRY(ir_array_reserve(p->ctx, &s->mesh_list, sizeof mesh, 1));
        TSR_TRY(intern_bytes(&s->meshes, key, sizeof key, &id));
        ((const tsr_mesh **)s->mesh_list.items)[s->mesh_list.count++] = mesh;
    }
    of->mesh = ((const tsr_mesh *const *)s->mesh_list.items)[id];
    return TSR_OK;
}

tsr_status program_mesh(tsr_context *ctx, tsr_program *p, uint32_t op, slice name,
                        const tsr_mesh **out)
{
    definition *found = NULL;
    TSR_TRY(find_definition(ctx, p, op, name, &found));
    if (found != NULL && found->mesh == NULL) {
        TSR_TRY(defined_mesh(ctx, p, name, found));
    }
    *out = found != NULL ? found->mesh : NULL;
    return TSR_OK;
}

/* ---- attributes ---- */

/* The place of an attribute in the program's module, in the array by attribute. */
static tsr_status main_place(tsr_program *p, ir_shardings *s, uint32_t attr, uint32_t **out)
{
    ir_array *places = &s->main_places;
    if (attr >= places->count) {
        const uint32_t extra = p->attrs.count - places->count;
        TSR_TRY(ir_array_reserve(p->ctx, places, sizeof(uint32_t), extra));
        memset((uint32_t *)places->items + places->count, 0, extra * sizeof(uint32_t));
        places->count = p->attrs.count;
    }
    *out = (uint32_t *)places->items + attr;
    return TSR_OK;
}

static tsr_status new_known(tsr_program *p, ir_shardings *s, uint32_t attr, uint32_t module,
                            uint32_t *id)
{
    const uint32_t key[2] = {attr, module};
    TSR_TRY(ir_array_reserve(p->ctx, &s->known, sizeof(known_sharding), 1));
    TSR_TRY(intern_bytes(&s->places, key, sizeof key, id));
    ((known_sharding *)s->known.items)[s->known.count++] = (known_sharding){0};
    return TSR_OK;
}

static tsr_status find_known(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                             ir_shardings **all, known_sharding **out)
{
    ir_shardings *s = NULL;
    uint32_t found = 0;
    uint32_t *id = &found;
    TSR_TRY(get(ctx, p, &s));
    const uint32_t module = nearest_module(p, s, op);
    const uint32_t key[2] = {attr, module};
    if (module == p->module) {
        TSR_TRY(main_place(p, s, attr, &id));
    } else {
        found = intern_find_bytes(&s->places, key, sizeof key);
    }
    if (*id == 0) {
        TSR_TRY(new_known(p, s, attr, module, id));
    }
    *all = s;
    *out = (known_sharding *)s->known.items + *id;
    return TSR_OK;
}

tsr_status sharding_written(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                            const sharding_text **out)
{
    ir_shardings *s = NULL;
    known_sharding *known = NULL;
    TSR_TRY(find_known(ctx, p, op, attr, &s, &known));
    if (known->text == NULL) {
        sharding_text *text = ARENA_NEW(s->arena, sharding_text);
        if (text == NULL) {
            return diag_nomem(ctx);
        }
        tsr_text source = text_of_attr(program_attr(p, attr));
        lexer lex = lex_start_program(ctx, s->arena, &source);
        TSR_TRY(sharding_text_read(&lex, TSR_READ_PROGRAM, text));
        for (size_t i = 0; i < text->rank; i++) {
            known->is_ragged = known->is_ragged || text->dims[i].has_ragged;
        }
        known->text = text;
    }
    *out = known->text;
    return TSR_OK;
}

tsr_status sharding_mesh(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                         const tsr_mesh **out)
{
    ir_shardings *s = NULL;
    known_sharding *known = NULL;
    const sharding_text *text = NULL;
    TSR_TRY(sharding_written(ctx, p, op, attr, &text));
    TSR_TRY(find_known(ctx, p, op, attr, &s, &known));
    if (!known->has_mesh) {
        known->mesh = text->inline_mesh;
        if (text->inline_mesh == NULL) {
            TSR_TRY(program_mesh(ctx, p, op, text->mesh_name, &known->mesh));
        }
        known->has_mesh = true;
    }
    *out = known->mesh;
    return TSR_OK;
}

static void place_axes(named_axes list, location where)
{
    for (size_t i = 0; i < list.count; i++) {
        list.axes[i].where = where;
    }
}

/* Messages about a sharding point at the op that has it. */
static void place_text(sharding_text *text, location where)
{
    text->where = where;
    text->replicated_where = where;
    text->unreduced_where = where;
    place_axes(text->replicated, where);
    place_axes(text->unreduced, where);
    for (size_t i = 0; i < text->rank; i++) {
        text->dims[i].where = where;
        place_axes(text->dims[i].axes, where);
    }
}

tsr_status sharding_of_attr(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                            location where, const char *prefix, const int64_t *shape,
                            const tsr_sharding **out)
{
    ir_shardings *s = NULL;
    known_sharding *known = NULL;
    const tsr_mesh *mesh = NULL;
    TSR_TRY(sharding_mesh(ctx, p, op, attr, &mesh));
    TSR_TRY(find_known(ctx, p, op, attr, &s, &known));
    if (known->sharding == NULL || (known->is_ragged && shape != NULL)) {
        const resolve_options options = {.rank = -1, .shape = shape, .prefix = prefix};
        place_text(known->text, where);
        TSR_TRY(sharding_resolve(ctx, s->arena, known->text, mesh, &options, &known->sharding));
    }
    *out = known->sharding;
    return TSR_OK;
}

static uint32_t place_of(const ir_shardings *s, const known_sharding *known)
{
    return (uint32_t)(known - (const known_sharding *)s->known.items);
}

tsr_status sharding_is_verified(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                                uint32_t type, bool *out)
{
    ir_shardings *s = NULL;
    known_sharding *known = NULL;
    *out = false;
    if (!attr_is(p, attr, ATTR_SDY)) {
        return TSR_OK;
    }
    TSR_TRY(find_known(ctx, p, op, attr, &s, &known));
    if (!known->is_verified || enclosing(p, op, OP_SDY_MANUAL_COMPUTATION) != 0) {
        return TSR_OK;
    }
    const uint32_t key[2] = {place_of(s, known), type};
    *out = known->verified_type == type || intern_find_bytes(&s->fits, key, sizeof key) != 0;
    return TSR_OK;
}

tsr_status sharding_set_verified(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t attr,
                                 uint32_t type)
{
    ir_shardings *s = NULL;
    known_sharding *known = NULL;
    TSR_TRY(find_known(ctx, p, op, attr, &s, &known));
    if (!known->is_ragged && enclosing(p, op, OP_SDY_MANUAL_COMPUTATION) == 0) {
        const uint32_t key[2] = {place_of(s, known), type};
        uint32_t id = 0;
        known->is_verified = true;
        known->verified_type = type;
        TSR_TRY(intern_bytes(&s->fits, key, sizeof key, &id));
    }
    return TSR_OK;
}

tsr_status read_attr_text(tsr_context *ctx, tsr_program *p, uint32_t attr, attr_reader read,
                          void *out)
{
    tsr_text source = text_of_attr(program_attr(p, attr));
    lexer lex = lex_start_program(ctx, p->scratch, &source);
    return read(&lex, out);
}

/* ---- lists of axes ---- */

static tsr_status push_axis(lexer *lex, named_axes *list, size_t *room, const named_axis *axis)
{
    return LEX_PUSH(lex, list->axes, list->count, *room, *axis);
}

static tsr_status read_axes(lexer *lex, const tsr_mesh *mesh, location where, named_axes *out)
{
    size_t room = 0;
    *out = (named_axes){0};
    TSR_TRY(lex_expect(lex, '{'));
    while (!lex_is(lex, '}')) {
        named_axis axis;
        TSR_TRY(axis_text_read(lex, &axis));
        named_axis_resolve(&axis, mesh);
        axis.where = where;
        TSR_TRY(push_axis(lex, out, &room, &axis));
        (void)lex_accept(lex, ',');
    }
    return lex_expect(lex, '}');
}

tsr_status attr_axis_lists(tsr_context *ctx, tsr_program *p, uint32_t attr, const tsr_mesh *mesh,
                           location where, axis_lists *out)
{
    size_t room = 0;
    tsr_text source = text_of_attr(program_attr(p, attr));
    lexer lex = lex_start_program(ctx, p->scratch, &source);
    *out = (axis_lists){0};
    const bool is_list = lex_accept(&lex, '[');
    while (lex_is(&lex, '{')) {
        named_axes list;
        TSR_TRY(read_axes(&lex, mesh, where, &list));
        TSR_TRY(LEX_PUSH(&lex, out->lists, out->count, room, list));
        if (!is_list) {
            break;
        }
        (void)lex_accept(&lex, ',');
    }
    return TSR_OK;
}

tsr_status manual_axes(tsr_context *ctx, tsr_program *p, uint32_t op, name_list *out)
{
    size_t room = 0;
    *out = (name_list){0};
    tsr_text source = text_of_attr(program_attr(p, op_property(p, op, "manual_axes")));
    lexer lex = lex_start_program(ctx, p->scratch, &source);
    (void)lex_accept(&lex, '{');
    while (lex_is(&lex, TOKEN_STRING)) {
        slice name;
        TSR_TRY(lex_string(&lex, &name));
        TSR_TRY(LEX_PUSH(&lex, out->names, out->count, room, name));
        (void)lex_accept(&lex, ',');
    }
    return TSR_OK;
}

bool name_list_has(const name_list *list, slice name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (slice_equal(list->names[i], name)) {
            return true;
        }
    }
    return false;
}

/* ---- uses ---- */

static tsr_status count_uses(const tsr_program *p, ir_shardings *s)
{
    const uint32_t count = p->values.count;
    TSR_TRY(ir_array_reserve(p->ctx, &s->counts, sizeof(uint32_t), count));
    TSR_TRY(ir_array_reserve(p->ctx, &s->users, sizeof(uint32_t), count));
    uint32_t *counts = s->counts.items;
    uint32_t *users = s->users.items;
    memset(counts, 0, count * sizeof *counts);
    for (uint32_t op = 1; op < p->ops.count; op++) {
        for (uint32_t i = 0; i < program_op(p, op)->num_operands; i++) {
            counts[op_operand(p, op, i)]++;
            users[op_operand(p, op, i)] = op;
        }
    }
    s->counts.count = count;
    return TSR_OK;
}

tsr_status value_uses(tsr_context *ctx, tsr_program *p, uint32_t value, uint32_t *count,
                      uint32_t *user)
{
    ir_shardings *s = NULL;
    if (p->uses != NULL) {
        *count = 0;
        for (uint32_t use = value_first_use(p, value); use != 0; use = use_next(p, use)) {
            *user = use_op(p, use);
            *count += 1;
        }
        return TSR_OK;
    }
    TSR_TRY(get(ctx, p, &s));
    if (s->counts.count == 0) {
        TSR_TRY(count_uses(p, s));
    }
    *count = ((const uint32_t *)s->counts.items)[value];
    *user = ((const uint32_t *)s->users.items)[value];
    return TSR_OK;
}

/* ---- where shardings are kept ---- */

/* The sharding of value `index` in an attribute: of a list, or the only one. */
static uint32_t sharding_entry(const tsr_program *p, uint32_t attr, size_t index)
{
    if (!attr_is(p, attr, ATTR_SDY)) {
        return 0;
    }
    const attr_head *head = program_attr(p, attr);
    if (head->row == SDY_SHARDING_PER_VALUE) {
        return index < head->count ? attr_list(head)[index] : 0;
    }
    return head->row == SDY_SHARDING ? attr : 0;
}

/* The sharding in the dictionary of a function's argument. */
static uint32_t argument_attr(const tsr_program *p, uint32_t func, size_t index)
{
    return dict_get(p, function_dict(p, func, "arg_attrs", index), "sdy.sharding");
}

static uint32_t result_attr(const tsr_program *p, uint32_t op, size_t index)
{
    const ir_row *row = program_row(p, op);
    const uint32_t attr = row != NULL && row->result_sharding != NULL
                              ? op_property(p, op, row->result_sharding)
                              : op_attribute(p, op, "sdy.sharding");
    return sharding_entry(p, attr, index);
}

/* The owner of the edge that a value is a target of; 0 when it is of none. */
static uint32_t edge_owner(const tsr_program *p, uint32_t value)
{
    const ir_value *v = program_value(p, value);
    if ((v->owner & IR_IS_ARGUMENT) == 0) {
        return op_has_trait(p, v->owner, IR_HAS_EDGES) ? value : 0;
    }
    const uint32_t op = block_parent(p, v->owner & ~IR_IS_ARGUMENT);
    const ir_row *row = program_row(p, op);
    if (op_has_trait(p, op, IR_CARRIES) && v->index < program_op(p, op)->num_results) {
        return program_op(p, op)->results + v->index;
    }
    return row != NULL && row->argument_shardings != NULL ? value : 0;
}

/* Of a block argument; *source: the operand whose sharding it has instead, or 0. */
static uint32_t block_argument_attr(const tsr_program *p, uint32_t op, size_t index,
                                    uint32_t *source)
{
    const ir_row *row = program_row(p, op);
    *source = 0;
    if (op_has_trait(p, op, IR_SIGNATURE)) {
        return argument_attr(p, op, index);
    }
    if (op_has_trait(p, op, IR_CARRIES)) {
        return result_attr(p, op, index);
    }
    if (row != NULL && row->argument_shardings != NULL) {
        return sharding_entry(p, op_property(p, op, row->argument_shardings), index);
    }
    if (op_is(p, op, OP_STABLEHLO_ASYNC_START) && index < program_op(p, op)->num_operands) {
        *source = op_operand(p, op, index);
    }
    return 0;
}

/* The sharding attribute of a value, or the value that has it instead. */
static tsr_status own_sharding_attr(tsr_context *ctx, tsr_program *p, uint32_t value, uint32_t *out,
                                    uint32_t *source)
{
    const uint32_t owner = edge_owner(p, value);
    const ir_value *v = program_value(p, value);
    *source = 0;
    if (owner != 0 && (p->uses == NULL || value_has_one_use(p, owner))) {
        uint32_t count = 0;
        uint32_t user = 0;
        TSR_TRY(value_uses(ctx, p, owner, &count, &user));
        if (count == 1 && op_is(p, user, OP_SDY_DATA_FLOW_EDGE)) {
            *out = op_property(p, user, "sharding");
            return TSR_OK;
        }
    }
    *out =
        (v->owner & IR_IS_ARGUMENT) == 0
            ? result_attr(p, v->owner, v->index)
            : block_argument_attr(p, block_parent(p, v->owner & ~IR_IS_ARGUMENT), v->index, source);
    return TSR_OK;
}

tsr_status value_sharding_attr(tsr_context *ctx, tsr_program *p, uint32_t value, uint32_t *out)
{
    while (value != 0) {
        TSR_TRY(own_sharding_attr(ctx, p, value, out, &value));
    }
    return TSR_OK;
}

tsr_status manual_flags(tsr_context *ctx, tsr_program *p, tsr_arena *arena, uint32_t op,
                        const tsr_mesh *mesh, const bool **out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    const size_t count = tsr_mesh_num_axes(mesh);
    bool *flags = ARENA_ARRAY(arena, bool, count + 1);
    name_list names;
    if (flags == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(manual_axes(ctx, p, op, &names));
    for (size_t i = 0; i < count; i++) {
        const char *name = tsr_mesh_axis_name(mesh, i);
        flags[i] = name_list_has(&names, (slice){name, strlen(name)});
    }
    tsr_arena_reset(p->scratch, mark);
    *out = flags;
    return TSR_OK;
}

size_t manual_prefix(const tsr_dim *dim, const bool *manual)
{
    size_t count = 0;
    while (count < dim->num_axes && manual[dim->axes[count].axis]) {
        count++;
    }
    return count;
}

static tsr_status without_manual(tsr_context *ctx, tsr_arena *arena, const bool *manual,
                                 const tsr_axis_ref **axes, size_t *count)
{
    tsr_axis_ref *kept = ARENA_ARRAY(arena, tsr_axis_ref, *count + 1);
    size_t used = 0;
    if (kept == NULL) {
        return diag_nomem(ctx);
    }
    for (size_t i = 0; i < *count; i++) {
        if (!manual[(*axes)[i].axis]) {
            kept[used++] = (*axes)[i];
        }
    }
    *axes = kept;
    *count = used;
    return TSR_OK;
}

tsr_status sharding_inside(tsr_context *ctx, tsr_arena *arena, const bool *manual,
                           const tsr_sharding *sharding, tsr_sharding *out)
{
    tsr_dim *dims = arena_copy(arena, sharding->dims, sharding->rank, sizeof *dims);
    if (dims == NULL) {
        return diag_nomem(ctx);
    }
    *out = *sharding;
    for (size_t i = 0; i < sharding->rank; i++) {
        const size_t prefix = manual_prefix(&dims[i], manual);
        dims[i].axes += prefix;
        dims[i].num_axes -= prefix;
    }
    out->dims = dims;
    TSR_TRY(without_manual(ctx, arena, manual, &out->replicated, &out->num_replicated));
    return without_manual(ctx, arena, manual, &out->unreduced, &out->num_unreduced);
}

static tsr_status erase_manual(tsr_context *ctx, tsr_program *p, uint32_t op,
                               const tsr_sharding *sharding, const tsr_sharding **out)
{
    tsr_arena *arena = p->shardings->arena;
    tsr_sharding *copy = ARENA_NEW(arena, tsr_sharding);
    const bool *manual = NULL;
    if (copy == NULL) {
        return diag_nomem(ctx);
    }
    TSR_TRY(manual_flags(ctx, p, arena, op, sharding->mesh, &manual));
    TSR_TRY(sharding_inside(ctx, arena, manual, sharding, copy));
    *out = copy;
    return TSR_OK;
}

/* The same, made once for each attribute and computation. */
static tsr_status erased_once(tsr_context *ctx, tsr_program *p, uint32_t attr, uint32_t op,
                              const tsr_sharding *sharding, const tsr_sharding **out)
{
    ir_shardings *s = p->shardings;
    const uint32_t key[2] = {attr, op};
    uint32_t id = intern_find_bytes(&s->erased, key, sizeof key);
    if (id == 0) {
        const tsr_sharding *erased = NULL;
        TSR_TRY(erase_manual(ctx, p, op, sharding, &erased));
        TSR_TRY(ir_array_reserve(p->ctx, &s->erased_shardings, sizeof erased, 1));
        TSR_TRY(intern_bytes(&s->erased, key, sizeof key, &id));
        ((const tsr_sharding **)s->erased_shardings.items)[s->erased_shardings.count++] = erased;
    }
    *out = ((const tsr_sharding *const *)s->erased_shardings.items)[id];
    return TSR_OK;
}

tsr_status value_sharding(tsr_context *ctx, tsr_program *p, uint32_t value,
                          const tsr_sharding **out)
{
    uint32_t attr = 0;
    *out = NULL;
    TSR_TRY(value_sharding_attr(ctx, p, value, &attr));
    if (attr == 0) {
        return TSR_OK;
    }
    const ir_value *v = program_value(p, value);
    const bool is_argument = (v->owner & IR_IS_ARGUMENT) != 0;
    const uint32_t op = is_argument ? block_parent(p, v->owner & ~IR_IS_ARGUMENT) : v->owner;
    const tsr_mesh *mesh = NULL;
    TSR_TRY(sharding_mesh(ctx, p, op, attr, &mesh));
    if (mesh == NULL) {
        return TSR_OK;
    }
    TSR_TRY(sharding_of_attr(ctx, p, op, attr, NO_LOCATION, "", NULL, out));
    return is_argument && op_is(p, op, OP_SDY_MANUAL_COMPUTATION)
               ? erased_once(ctx, p, attr, op, *out, out)
               : TSR_OK;
}

tsr_status tsr_ir_value_sharding(tsr_context *ctx, tsr_program *program, tsr_ir_value value,
                                 const tsr_sharding **out)
{
    GUARD(tsr_ir_value_sharding);
    return value_sharding(ctx, program, value, out);
}
