#include "ir/interned.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "ir/message.h"
#include "ir/shardings.h"

struct ir_interned {
    tsr_context *ctx; /* of the program */
    tsr_arena *arena; /* of all but the shardings */
    engine *engine;
    ir_array shardings; /* const tsr_sharding *, by attribute; NULL: not asked for */
    map sharding_attrs;
    map rules;
    map rule_attrs;
    map rules_by_key;
    map manual_flags; /* by mesh and list of manual axes */
};

void ir_interned_destroy(ir_interned *in)
{
    if (in != NULL) {
        engine_destroy(in->engine);
        ir_array_free(in->ctx, &in->shardings, sizeof(const tsr_sharding *));
        tsr_arena_destroy(in->arena);
        context_resize(in->ctx, in, sizeof *in, 0);
    }
}

static tsr_status make(ir_interned *in)
{
    map *const tables[] = {&in->sharding_attrs, &in->rules, &in->rule_attrs, &in->rules_by_key,
                           &in->manual_flags};
    TSR_TRY(tsr_arena_create(in->ctx, &in->arena));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        *tables[i] = map_new(in->arena);
    }
    return engine_create(in->ctx, &in->engine);
}

static tsr_status get(tsr_context *ctx, tsr_program *p, ir_interned **out)
{
    if (p->interned == NULL) {
        ir_interned *in = context_resize(p->ctx, NULL, 0, sizeof *in);
        if (in == NULL) {
            return diag_nomem(ctx);
        }
        *in = (ir_interned){.ctx = p->ctx};
        const tsr_status status = make(in);
        if (status < 0) {
            ir_interned_destroy(in);
            return status;
        }
        p->interned = in;
    }
    *out = p->interned;
    return TSR_OK;
}

tsr_status interned_engine(tsr_context *ctx, tsr_program *p, engine **out)
{
    ir_interned *in = NULL;
    TSR_TRY(get(ctx, p, &in));
    engine_report_to(in->engine, ctx);
    *out = in->engine;
    return TSR_OK;
}

/* The entry of a key in a table, 0 when it is new; the key is copied. */
static tsr_status entry_of(tsr_context *ctx, const ir_interned *in, map *table, const void *key,
                           size_t size, uint64_t **out)
{
    *out = map_find(table, key, size);
    if (*out == NULL) {
        const char *kept = arena_copy(in->arena, key, 1, size);
        *out = kept != NULL ? map_insert(table, kept, size) : NULL;
    }
    return *out != NULL ? TSR_OK : diag_nomem(ctx);
}

/* ---- shardings ---- */

static tsr_status resolve(tsr_context *ctx, tsr_program *p, uint32_t attr, const tsr_sharding **out)
{
    const tsr_sharding *written = NULL;
    const tsr_mesh *mesh = NULL;
    engine *e = NULL;
    TSR_TRY(sharding_mesh(ctx, p, p->module, attr, &mesh));
    if (mesh == NULL) {
        return error_at_op(ctx, p, p->module,
                           "a sharding names a mesh that the outermost module does not define; "
                           "passes resolve meshes in that module only");
    }
    TSR_TRY(sharding_of_attr(ctx, p, p->module, attr, NO_LOCATION, "", NULL, &written));
    TSR_TRY(interned_engine(ctx, p, &e));
    return engine_intern(e, written, out);
}

tsr_status interned_sharding(tsr_context *ctx, tsr_program *p, uint32_t attr,
                             const tsr_sharding **out)
{
    ir_interned *in = NULL;
    *out = NULL;
    if (attr == 0) {
        return TSR_OK;
    }
    TSR_TRY(get(ctx, p, &in));
    ir_array *known = &in->shardings;
    if (attr >= known->count) {
        const uint32_t extra = p->attrs.count - known->count;
        TSR_TRY(ir_array_reserve(p->ctx, known, sizeof *out, extra));
        memset((const tsr_sharding **)known->items + known->count, 0, extra * sizeof *out);
        known->count = p->attrs.count;
    }
    const tsr_sharding **one = (const tsr_sharding **)known->items + attr;
    if (*one == NULL) {
        TSR_TRY(resolve(ctx, p, attr, one));
    }
    *out = *one;
    return TSR_OK;
}

static tsr_status print_sharding(tsr_context *ctx, tsr_program *p, const tsr_sharding *sharding,
                                 uint32_t *out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    buffer text = buffer_new(p->scratch);
    const char *string = NULL;
    sharding_print(&text, sharding, TSR_PRINT_STRIPPED);
    TSR_TRY(buffer_finish(ctx, &text, &string));
    const tsr_status status = attr_of_text(p, ATTR_SDY, SDY_SHARDING, 0, string, text.size, out);
    tsr_arena_reset(p->scratch, mark);
    return status;
}

tsr_status interned_sharding_attr(tsr_context *ctx, tsr_program *p, const tsr_sharding *sharding,
                                  uint32_t *out)
{
    ir_interned *in = NULL;
    uint64_t *known = NULL;
    TSR_TRY(get(ctx, p, &in));
    TSR_TRY(entry_of(ctx, in, &in->sharding_attrs, &sharding, sizeof(void *), &known));
    if (*known == 0) {
        uint32_t attr = 0;
        TSR_TRY(print_sharding(ctx, p, sharding, &attr));
        *known = attr;
    }
    *out = (uint32_t)*known;
    return TSR_OK;
}

/* ---- rules ---- */

tsr_status interned_rule(tsr_context *ctx, tsr_program *p, uint32_t attr, const tsr_rule **out)
{
    ir_interned *in = NULL;
    uint64_t *known = NULL;
    TSR_TRY(get(ctx, p, &in));
    TSR_TRY(entry_of(ctx, in, &in->rules, &attr, sizeof attr, &known));
    if (*known == 0) {
        const attr_head *head = program_attr(p, attr);
        tsr_text text = {.name = "<attribute>", .data = attr_text(head), .size = head->count};
        const tsr_rule *rule = NULL;
        TSR_TRY(tsr_rule_read(ctx, in->arena, &text, &rule));
        *known = (uint64_t)(uintptr_t)rule;
    }
    *out = (const tsr_rule *)(uintptr_t)*known;
    return TSR_OK;
}

static tsr_status print_rule(tsr_context *ctx, tsr_program *p, const tsr_rule *rule, uint32_t *out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(p->scratch);
    const char *text = NULL;
    TSR_TRY(tsr_rule_print(ctx, p->scratch, rule, TSR_RULE_FULL, &text));
    const char *body = strchr(text, '<');
    const tsr_status status = attr_of_text(p, ATTR_SDY, SDY_RULE, 0, body, strlen(body), out);
    tsr_arena_reset(p->scratch, mark);
    return status;
}

tsr_status interned_rule_attr(tsr_context *ctx, tsr_program *p, const tsr_rule *rule, uint32_t *out)
{
    ir_interned *in = NULL;
    uint64_t *known = NULL;
    TSR_TRY(get(ctx, p, &in));
    TSR_TRY(entry_of(ctx, in, &in->rule_attrs, &rule, sizeof(void *), &known));
    if (*known == 0) {
        uint32_t attr = 0;
        uint64_t *back = NULL;
        TSR_TRY(print_rule(ctx, p, rule, &attr));
        TSR_TRY(entry_of(ctx, in, &in->rules, &attr, sizeof attr, &back));
        *back = *back != 0 ? *back : (uint64_t)(uintptr_t)rule;
        *known = attr;
    }
    *out = (uint32_t)*known;
    return TSR_OK;
}

tsr_status interned_rule_of_key(tsr_context *ctx, tsr_program *p, const uint32_t *key, size_t count,
                                interned_rule_entry *out)
{
    ir_interned *in = NULL;
    TSR_TRY(get(ctx, p, &in));
    out->arena = in->arena;
    return entry_of(ctx, in, &in->rules_by_key, key, count * sizeof *key, &out->rule);
}

/* ---- manual axes ---- */

tsr_status interned_manual_flags(tsr_context *ctx, tsr_program *p, uint32_t op,
                                 const tsr_mesh *mesh, const bool **out)
{
    const struct {
        const tsr_mesh *mesh;
        uint64_t axes;
    } key = {mesh, op_property(p, op, "manual_axes")};
    ir_interned *in = NULL;
    uint64_t *known = NULL;
    TSR_TRY(get(ctx, p, &in));
    TSR_TRY(entry_of(ctx, in, &in->manual_flags, &key, sizeof key, &known));
    if (*known == 0) {
        const bool *flags = NULL;
        TSR_TRY(manual_flags(ctx, p, in->arena, op, mesh, &flags));
        *known = (uint64_t)(uintptr_t)flags;
    }
    *out = (const bool *)(uintptr_t)*known;
    return TSR_OK;
}
