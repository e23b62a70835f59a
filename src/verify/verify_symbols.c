/* The checks that need the symbols of a module. */
#include "base/arena.h"
#include "verify/verify_parts.h"

static tsr_status verify_names(tsr_context *ctx, tsr_program *p, uint32_t module)
{
    intern_table names;
    uint32_t *first = NULL;
    uint32_t count = 0;
    tsr_status status = intern_table_init(&names, ctx, p->scratch);
    for (uint32_t op = program_block(p, op_entry_block(p, module, 0))->first_op; op != 0;
         op = program_op(p, op)->next) {
        count++;
    }
    first = tsr_arena_alloc(p->scratch, (count + 2) * sizeof *first);
    if (first == NULL) {
        status = diag_nomem(ctx);
    }
    for (uint32_t op = program_block(p, op_entry_block(p, module, 0))->first_op;
         op != 0 && status >= 0; op = program_op(p, op)->next) {
        const ir_row *row = program_row(p, op);
        slice name;
        uint32_t id = 0;
        if (row == NULL || (row->traits & IR_SYMBOL) == 0 ||
            !attr_as_string(p, op_property(p, op, "sym_name"), &name)) {
            continue;
        }
        const uint32_t before = names.count;
        status = intern_bytes(&names, name.data, name.size, &id);
        if (status >= 0 && names.count == before) {
            (void)error_at_op(ctx, p, op, "redefinition of symbol named '%.*s'", (int)name.size,
                              name.data);
            status = note_at_op(ctx, p, first[id], "see existing symbol definition here");
        } else if (status >= 0) {
            first[id] = op;
        }
    }
    intern_table_free(&names);
    return status;
}

/* Replica groups along axes of a mesh: the mesh that they name exists. */
static tsr_status verify_group_meshes(tsr_context *ctx, tsr_program *p, uint32_t op, uint32_t dict)
{
    for (size_t i = 0; i < dict_size(p, dict); i++) {
        const uint32_t attr = attr_entries(program_attr(p, dict))[i].value;
        const tsr_mesh *mesh = NULL;
        if (!attr_is(p, attr, ATTR_STRUCT) ||
            program_attr(p, attr)->row != STRUCT_REPLICA_MESH_AXES ||
            !attr_is(p, attr_list(program_attr(p, attr))[0], ATTR_SYMBOL)) {
            continue;
        }
        const attr_head *symbol = program_attr(p, attr_list(program_attr(p, attr))[0]);
        const slice name = string_at(p, attr_list(symbol)[0]);
        TSR_TRY(program_mesh(ctx, p, op, name, &mesh));
        if (mesh == NULL) {
            return op_error(ctx, p, op, "replica_groups: mesh symbol '%.*s' not found",
                            (int)name.size, name.data);
        }
    }
    return TSR_OK;
}

tsr_status verify_op_symbols(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    const ir_row *row = program_row(p, op);
    if (row != NULL && (row->traits & IR_SYMBOL_TABLE) != 0 && op_entry_block(p, op, 0) != 0) {
        TSR_TRY(verify_names(ctx, p, op));
    }
    TSR_TRY(verify_group_meshes(ctx, p, op, program_op(p, op)->properties));
    TSR_TRY(verify_group_meshes(ctx, p, op, program_op(p, op)->attributes));
    const verify_hooks *hooks = &verify_hooks_of[op_kind_of(p, op)];
    return hooks->symbols != NULL ? hooks->symbols(ctx, p, op) : TSR_OK;
}
