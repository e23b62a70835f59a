/*
 * Composites as calls of their decompositions, which propagation goes through, and back. What else
 * a composite says stays on the call, as an attribute.
 */
#include "transform/call_graph.h"
#include "transform/passes.h"

#define KEPT "tessera.composite"

static tsr_status list_ops(workspace *w, op_kind kind, op_list *out)
{
    const tsr_program *p = w->p;
    *out = (op_list){0};
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        if (op_is(p, op, kind)) {
            TSR_TRY(op_list_add(w, out, op));
        }
    }
    return TSR_OK;
}

static tsr_status import_one(workspace *w, uint32_t op)
{
    tsr_program *p = w->p;
    const uint32_t callee = op_property(p, op, "decomposition");
    uint32_t kept = 0;
    uint32_t properties = 0;
    uint32_t attributes = 0;
    uint32_t call = 0;
    if (program_op(p, op)->num_regions > 0 || callee == 0) {
        return TSR_OK;
    }
    TSR_TRY(dict_set(p, program_op(p, op)->properties, "decomposition", 0, &kept));
    TSR_TRY(dict_value(p, kept, &kept));
    TSR_TRY(dict_set(p, program_op(p, op)->attributes, KEPT, kept, &attributes));
    TSR_TRY(dict_set(p, 0, "callee", callee, &properties));
    const op_substitute now = {OP_FUNC_CALL, 0, properties, attributes};
    TSR_TRY(op_create_before(w->p, op, &now, &call));
    op_replace(p, op, call);
    return TSR_OK;
}

static tsr_status import_all(workspace *w)
{
    op_list list;
    TSR_TRY(list_ops(w, OP_STABLEHLO_COMPOSITE, &list));
    for (size_t i = 0; i < list.count; i++) {
        TSR_TRY(import_one(w, list.ops[i]));
    }
    return list.count > 0 ? call_graph_verify(w->ctx, w->p) : TSR_OK;
}

static tsr_status export_one(workspace *w, uint32_t call)
{
    tsr_program *p = w->p;
    const uint32_t kept = op_attribute(p, call, KEPT);
    uint32_t properties = 0;
    uint32_t attributes = 0;
    uint32_t op = 0;
    if (!attr_is(p, kept, ATTR_DICT)) {
        return TSR_OK;
    }
    TSR_TRY(dict_set(p, kept, "decomposition", op_property(p, call, "callee"), &properties));
    TSR_TRY(dict_set(p, program_op(p, call)->attributes, KEPT, 0, &attributes));
    const op_substitute now = {OP_STABLEHLO_COMPOSITE, 0, properties, attributes};
    TSR_TRY(op_create_before(w->p, call, &now, &op));
    op_replace(p, call, op);
    return TSR_OK;
}

static tsr_status export_all(workspace *w)
{
    op_list list;
    TSR_TRY(list_ops(w, OP_FUNC_CALL, &list));
    for (size_t i = 0; i < list.count; i++) {
        TSR_TRY(export_one(w, list.ops[i]));
    }
    return TSR_OK;
}

WORKSPACE_PASS(pass_import_composites, import_all)
WORKSPACE_PASS(pass_export_composites, export_all)
