/* What users are told of a propagated program: a warning for each kind of op without a rule. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "propagate/state.h"

enum { MAX_LINES = 8 };

/* All ops of one name, or all custom calls of one target. */
typedef struct unknown_kind {
    uint32_t first; /* op */
    int64_t lines[MAX_LINES];
    size_t num_lines; /* of the text, each once; those after MAX_LINES are only counted */
    struct unknown_kind *next;
} unknown_kind;

typedef struct unknown_list {
    map by_name;
    map places; /* by name and place in the text: what has been counted */
    unknown_kind *first;
    unknown_kind **last;
} unknown_list;

static bool has_dims(const tsr_program *p, uint32_t value)
{
    const type_head *type = program_type(p, value_type(p, value));
    return type->kind == TYPE_TENSOR && type->count > 0;
}

/* Whether the op has a tensor that could be sharded. */
static bool can_shard(const tsr_program *p, uint32_t op)
{
    const ir_op *record = program_op(p, op);
    for (uint32_t i = 0; i < record->num_operands; i++) {
        if (has_dims(p, op_operand(p, op, i))) {
            return true;
        }
    }
    for (uint32_t i = 0; i < record->num_results; i++) {
        if (has_dims(p, record->results + i)) {
            return true;
        }
    }
    return false;
}

/* What tells kinds apart: the name, and of custom calls the target. */
typedef struct kind_key {
    uint32_t name;
    uint32_t target;
} kind_key;

static kind_key key_of(const tsr_program *p, uint32_t op)
{
    const bool is_call = op_is(p, op, OP_STABLEHLO_CUSTOM_CALL);
    return (kind_key){program_op(p, op)->name,
                      is_call ? op_property(p, op, "call_target_name") : 0};
}

static tsr_status kind_of(propagation *s, unknown_list *list, uint32_t op, unknown_kind **out)
{
    const kind_key key = key_of(s->w.p, op);
    uint64_t *known = workspace_entry(&s->w, &list->by_name, &key, sizeof key);
    if (known == NULL) {
        return diag_nomem(s->w.ctx);
    }
    if (*known == 0) {
        unknown_kind *kind = ARENA_ARRAY(s->w.arena, unknown_kind, 1);
        if (kind == NULL) {
            return diag_nomem(s->w.ctx);
        }
        *kind = (unknown_kind){.first = op};
        *list->last = kind;
        list->last = &kind->next;
        *known = (uint64_t)(uintptr_t)kind;
    }
    *out = (unknown_kind *)(uintptr_t)*known;
    return TSR_OK;
}

/* Copies of an op, as functions that are called several times have them, count once. */
static tsr_status add(propagation *s, unknown_list *list, uint32_t op)
{
    struct {
        kind_key kind;
        size_t at;
    } place = {key_of(s->w.p, op), op_location(s->w.p, op).at};
    unknown_kind *kind = NULL;
    int64_t line = 0;
    uint64_t *counted = workspace_entry(&s->w, &list->places, &place, sizeof place);
    if (counted == NULL) {
        return diag_nomem(s->w.ctx);
    }
    TSR_TRY(kind_of(s, list, op, &kind));
    if ((*counted)++ == 0) {
        (void)tsr_ir_op_position(s->w.p, op, &line, NULL);
        if (kind->num_lines < MAX_LINES) {
            kind->lines[kind->num_lines] = line;
        }
        kind->num_lines++;
    }
    return TSR_OK;
}

/* `, also in lines 4, 9 and 3 more`: where the kind is beside its first op. */
static void put_lines(buffer *buf, const unknown_kind *kind)
{
    const size_t shown = kind->num_lines < MAX_LINES ? kind->num_lines : MAX_LINES;
    for (size_t i = 1; i < shown; i++) {
        buffer_format(buf, "%s%" PRId64, i == 1 ? ", also in line " : ", ", kind->lines[i]);
    }
    if (kind->num_lines > shown) {
        buffer_format(buf, " and %zu more", kind->num_lines - shown);
    }
}

static tsr_status warn(propagation *s, const unknown_kind *kind)
{
    const tsr_program *p = s->w.p;
    slice target;
    const char *lines = NULL;
    buffer buf = buffer_new(s->w.scratch);
    put_lines(&buf, kind);
    TSR_TRY(buffer_finish(s->w.ctx, &buf, &lines));
    if (attr_as_string(p, key_of(p, kind->first).target, &target)) {
        return diag_warning(s->w.ctx, op_location(p, kind->first),
                            "custom call @%.*s has no sharding rule, so axes do not propagate "
                            "through it%s: annotate its results, or add an sdy.sharding_rule",
                            (int)target.size, target.data, lines);
    }
    return diag_warning(s->w.ctx, op_location(p, kind->first),
                        "op '%s' has no sharding rule, so axes do not propagate through it%s: "
                        "annotate its results, or add an sdy.sharding_rule",
                        op_name(p, kind->first), lines);
}

tsr_status report_unknown(propagation *s)
{
    const tsr_program *p = s->w.p;
    unknown_list list = {.by_name = map_new(s->w.arena), .places = map_new(s->w.arena)};
    list.last = &list.first;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (can_shard(p, op)) {
            bool lacks = false;
            TSR_TRY(rule_is_lacking(s, op, &lacks));
            if (lacks) {
                TSR_TRY(add(s, &list, op));
            }
        }
    }
    for (const unknown_kind *kind = list.first; kind != NULL; kind = kind->next) {
        TSR_TRY(warn(s, kind));
    }
    return TSR_OK;
}

/* ---- meshes ---- */

enum { MAX_MESHES = 16 };

/* The meshes of shardings, each once; those after MAX_MESHES are left out. */
static size_t list_meshes(const propagation *s, const tsr_mesh **out)
{
    size_t count = 0;
    for (uint32_t place = 1; place < s->num_places; place++) {
        const tsr_mesh *mesh = s->shardings[place] != NULL ? s->shardings[place]->mesh : NULL;
        size_t i = 0;
        while (i < count && out[i] != mesh) {
            i++;
        }
        if (mesh != NULL && tsr_mesh_num_axes(mesh) > 0 && i == count && count < MAX_MESHES) {
            out[count++] = mesh;
        }
    }
    return count;
}

/*
 * Axes of different meshes never meet in propagation. XLA makes meshes over the same devices one
 * before, and shardings then pass between them.
 */
tsr_status report_meshes(propagation *s)
{
    const tsr_mesh *meshes[MAX_MESHES];
    const size_t count = list_meshes(s, meshes);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (tsr_mesh_same_devices(meshes[k], meshes[i]) &&
                !tsr_mesh_equal(meshes[k], meshes[i])) {
                return diag_warning(s->w.ctx, NO_LOCATION,
                                    "meshes @%s and @%s have the same devices, but axes do not "
                                    "propagate between shardings over different meshes (XLA merges "
                                    "such meshes first): write all shardings over one mesh",
                                    tsr_mesh_name(meshes[k]), tsr_mesh_name(meshes[i]));
            }
        }
    }
    return TSR_OK;
}
