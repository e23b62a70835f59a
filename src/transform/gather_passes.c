/*
 * Gathers and scatters whose first index counts up the first dimension: that dimension becomes a
 * batching dimension, along which they can be sharded.
 */
#include <string.h>

#include "base/arena.h"
#include "transform/call_graph.h"
#include "transform/passes.h"

/* The fields of the dimension numbers, the same of gathers and of scatters. */
enum { COLLAPSED = 1, INPUT_BATCHING, INDICES_BATCHING, INDEX_MAP, VECTOR_DIM, NUM_FIELDS };

/* A gather or scatter that is looked at. */
typedef struct indexing {
    uint32_t op;
    bool is_scatter;
    const char *numbers; /* the property of its dimension numbers */
    uint32_t place;      /* of the operand that has the indices */
    uint32_t indices;
    size_t vector_dim;
    uint32_t fields[NUM_FIELDS];
    size_t component; /* of the index that counts */
} indexing;

static const type_head *shape_of(const tsr_program *p, uint32_t value)
{
    return program_type(p, value_type(p, value));
}

/* Where 0 is in a list; its size where it is not. */
static size_t find_zero(const attr_head *list)
{
    size_t i = 0;
    while (i < list->count && attr_numbers(list)[i] != 0) {
        i++;
    }
    return i;
}

/* ---- finding ---- */

static bool read_indexing(const tsr_program *p, uint32_t op, indexing *out)
{
    *out = (indexing){.op = op, .is_scatter = op_is(p, op, OP_STABLEHLO_SCATTER)};
    if (!out->is_scatter && !op_is(p, op, OP_STABLEHLO_GATHER)) {
        return false;
    }
    out->numbers = out->is_scatter ? "scatter_dimension_numbers" : "dimension_numbers";
    out->place = out->is_scatter ? program_op(p, op)->num_operands / 2 : 1;
    out->indices = op_operand(p, op, out->place);
    const uint32_t attr = op_property(p, op, out->numbers);
    if (!attr_is(p, attr, ATTR_STRUCT) || program_attr(p, attr)->count != NUM_FIELDS) {
        return false;
    }
    memcpy(out->fields, attr_list(program_attr(p, attr)), sizeof out->fields);
    int64_t dim = 0;
    if (!attr_as_integer(p, out->fields[VECTOR_DIM], &dim) || dim <= 0) {
        return false;
    }
    out->vector_dim = (size_t)dim;
    return true;
}

/* Whether the shapes and dimension numbers allow batching. */
static bool can_batch(const tsr_program *p, indexing *x)
{
    const type_head *input = shape_of(p, op_operand(p, x->op, 0));
    const type_head *indices = shape_of(p, x->indices);
    const attr_head *index_map = program_attr(p, x->fields[INDEX_MAP]);
    const attr_head *collapsed = program_attr(p, x->fields[COLLAPSED]);
    if (input->kind != TYPE_TENSOR || indices->kind != TYPE_TENSOR || input->count == 0 ||
        x->vector_dim >= indices->count || type_extents(indices)[x->vector_dim] <= 1 ||
        type_extents(input)[0] != type_extents(indices)[0] || type_extents(input)[0] < 0) {
        return false;
    }
    x->component = find_zero(index_map);
    return program_attr(p, x->fields[INPUT_BATCHING])->count == 0 &&
           program_attr(p, x->fields[INDICES_BATCHING])->count == 0 &&
           x->component < index_map->count && find_zero(collapsed) < collapsed->count;
}

static uint32_t definition(const tsr_program *p, uint32_t value, op_kind kind)
{
    const uint32_t op = value_op(p, value);
    return op != 0 && op_is(p, op, kind) ? op : 0;
}

/* The concatenation that gives the indices, component by component; 0: they are not one. */
static uint32_t concatenation(const tsr_program *p, const indexing *x)
{
    const uint32_t op = definition(p, x->indices, OP_STABLEHLO_CONCATENATE);
    int64_t dim = 0;
    return op != 0 && attr_as_integer(p, op_property(p, op, "dimension"), &dim) &&
                   (size_t)dim == x->vector_dim
               ? op
               : 0;
}

/* What an op passes on, for which operand; those that are not here pass on nothing. */
typedef struct passing_row {
    bool passes;
    uint32_t operand;
} passing_row;

static const passing_row passing[OP_KIND_COUNT] = {
    [OP_STABLEHLO_RESHAPE] = {true, 0},
    [OP_STABLEHLO_BROADCAST_IN_DIM] = {true, 0},
    [OP_STABLEHLO_CLAMP] = {true, 1},
    [OP_STABLEHLO_SELECT] = {true, 1},
};

/* Whether a value counts up dimension 0. */
static bool counts_up(const tsr_program *p, uint32_t value)
{
    for (;;) {
        const uint32_t iota = definition(p, value, OP_STABLEHLO_IOTA);
        const uint32_t select = definition(p, value, OP_STABLEHLO_SELECT);
        int64_t dim = 0;
        if (iota != 0) {
            return attr_as_integer(p, op_property(p, iota, "iota_dimension"), &dim) && dim == 0;
        }
        if (select != 0 && definition(p, op_operand(p, select, 2), OP_STABLEHLO_IOTA) != 0) {
            value = op_operand(p, select, 2);
            continue;
        }
        const uint32_t op = value_op(p, value);
        if (!passing[op_kind_of(p, op)].passes) {
            return false;
        }
        value = op_operand(p, op, passing[op_kind_of(p, op)].operand);
    }
}

static bool index_counts_up(const tsr_program *p, const indexing *x)
{
    const uint32_t parts = concatenation(p, x);
    if (parts == 0) {
        return counts_up(p, x->indices);
    }
    return x->component < program_op(p, parts)->num_operands &&
           counts_up(p, op_operand(p, parts, x->component));
}

/* ---- indices without a component ---- */

/* The type of indices of so many components. */
static tsr_status type_of_parts(workspace *w, const indexing *x, int64_t count, uint32_t *out)
{
    const type_head *type = shape_of(w->p, x->indices);
    int64_t *extents = arena_copy(w->scratch, type_extents(type), type->count, sizeof *extents);
    if (extents == NULL) {
        return diag_nomem(w->ctx);
    }
    extents[x->vector_dim] = count;
    return type_tensor(w->p, extents, type->count, type->element, type->encoding, out);
}

static tsr_status make_slice(workspace *w, const indexing *x, int64_t start, int64_t limit,
                             uint32_t *out)
{
    tsr_program *p = w->p;
    const type_head *type = shape_of(p, x->indices);
    const size_t rank = type->count;
    int64_t *numbers = ARENA_ARRAY(w->scratch, int64_t, 3 * rank);
    uint32_t attr = 0;
    uint32_t dict = 0;
    uint32_t result = 0;
    uint32_t op = 0;
    if (numbers == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t d = 0; d < rank; d++) {
        numbers[d] = d == x->vector_dim ? start : 0;
        numbers[rank + d] = d == x->vector_dim ? limit : type_extents(type)[d];
        numbers[2 * rank + d] = 1;
    }
    TSR_TRY(attr_ints(p, numbers, rank, &attr));
    TSR_TRY(dict_set(p, 0, "start_indices", attr, &dict));
    TSR_TRY(attr_ints(p, numbers + rank, rank, &attr));
    TSR_TRY(dict_set(p, dict, "limit_indices", attr, &dict));
    TSR_TRY(attr_ints(p, numbers + 2 * rank, rank, &attr));
    TSR_TRY(dict_set(p, dict, "strides", attr, &dict));
    TSR_TRY(type_of_parts(w, x, limit - start, &result));
    const op_spec spec = {.kind = OP_STABLEHLO_SLICE,
                          .operands = &x->indices,
                          .num_operands = 1,
                          .types = &result,
                          .num_results = 1,
                          .properties = dict,
                          .like = x->op};
    TSR_TRY(op_create(p, &spec, &op));
    op_insert_before(p, op, x->op);
    *out = op_result(p, op, 0);
    return TSR_OK;
}

/* One value is itself. */
static tsr_status concatenate(workspace *w, const indexing *x, const uint32_t *parts, size_t count,
                              uint32_t *out)
{
    tsr_program *p = w->p;
    uint32_t attr = 0;
    uint32_t dict = 0;
    uint32_t type = 0;
    uint32_t op = 0;
    if (count == 1) {
        *out = parts[0];
        return TSR_OK;
    }
    TSR_TRY(attr_i64(p, (int64_t)x->vector_dim, &attr));
    TSR_TRY(dict_set(p, 0, "dimension", attr, &dict));
    TSR_TRY(type_of_parts(w, x, type_extents(shape_of(p, x->indices))[x->vector_dim] - 1, &type));
    const op_spec spec = {.kind = OP_STABLEHLO_CONCATENATE,
                          .operands = parts,
                          .num_operands = count,
                          .types = &type,
                          .num_results = 1,
                          .properties = dict,
                          .like = x->op};
    TSR_TRY(op_create(p, &spec, &op));
    op_insert_before(p, op, x->op);
    *out = op_result(p, op, 0);
    return TSR_OK;
}

/* Whether each operand of a concatenation is one component. */
static bool are_single(const tsr_program *p, const indexing *x, uint32_t parts)
{
    for (uint32_t i = 0; i < program_op(p, parts)->num_operands; i++) {
        if (type_extents(shape_of(p, op_operand(p, parts, i)))[x->vector_dim] != 1) {
            return false;
        }
    }
    return true;
}

static tsr_status without_component(workspace *w, const indexing *x, uint32_t *out)
{
    const tsr_program *p = w->p;
    const uint32_t parts = concatenation(p, x);
    const size_t room = parts != 0 ? program_op(p, parts)->num_operands : 2;
    uint32_t *kept = ARENA_ARRAY(w->scratch, uint32_t, room);
    size_t count = 0;
    if (kept == NULL) {
        return diag_nomem(w->ctx);
    }
    if (parts != 0 && are_single(p, x, parts)) {
        for (uint32_t i = 0; i < program_op(p, parts)->num_operands; i++) {
            if (i != x->component) {
                kept[count++] = op_operand(p, parts, i);
            }
        }
        return concatenate(w, x, kept, count, out);
    }
    const int64_t size = type_extents(shape_of(p, x->indices))[x->vector_dim];
    const int64_t at = (int64_t)x->component;
    if (at > 0) {
        TSR_TRY(make_slice(w, x, 0, at, &kept[count++]));
    }
    if (at + 1 < size) {
        TSR_TRY(make_slice(w, x, at + 1, size, &kept[count++]));
    }
    return concatenate(w, x, kept, count, out);
}

/* ---- rewriting ---- */

/* A list without its first 0. */
static tsr_status without_zero(workspace *w, uint32_t attr, uint32_t *out)
{
    const attr_head *list = program_attr(w->p, attr);
    const size_t zero = find_zero(list);
    int64_t *kept = ARENA_ARRAY(w->scratch, int64_t, list->count + 1);
    size_t count = 0;
    if (kept == NULL) {
        return diag_nomem(w->ctx);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (i != zero) {
            kept[count++] = attr_numbers(list)[i];
        }
    }
    return attr_ints(w->p, kept, count, out);
}

/* Flags that were left out are written. */
static tsr_status write_flag(tsr_program *p, uint32_t op, const char *name)
{
    uint32_t attr = 0;
    if (op_property(p, op, name) != 0) {
        return TSR_OK;
    }
    TSR_TRY(attr_bool(p, false, &attr));
    return op_set_property(p, op, name, attr);
}

static tsr_status write_numbers(workspace *w, indexing *x)
{
    static const int64_t zero = 0;
    tsr_program *p = w->p;
    const int row = x->is_scatter ? STRUCT_SCATTER : STRUCT_GATHER;
    uint32_t attr = 0;
    TSR_TRY(without_zero(w, x->fields[COLLAPSED], &x->fields[COLLAPSED]));
    TSR_TRY(without_zero(w, x->fields[INDEX_MAP], &x->fields[INDEX_MAP]));
    TSR_TRY(attr_ints(p, &zero, 1, &x->fields[INPUT_BATCHING]));
    x->fields[INDICES_BATCHING] = x->fields[INPUT_BATCHING];
    TSR_TRY(attr_struct(p, row, x->fields, NUM_FIELDS, &attr));
    TSR_TRY(op_set_property(p, x->op, x->numbers, attr));
    TSR_TRY(write_flag(p, x->op, "indices_are_sorted"));
    return x->is_scatter ? write_flag(p, x->op, "unique_indices") : TSR_OK;
}

/* The op stays, but its uses and those of its results count as made anew. */
static tsr_status batch(workspace *w, indexing *x)
{
    tsr_program *p = w->p;
    uint32_t indices = 0;
    TSR_TRY(without_component(w, x, &indices));
    TSR_TRY(write_numbers(w, x));
    for (uint32_t i = 0; i < program_op(p, x->op)->num_operands; i++) {
        op_set_operand(p, x->op, i, i == x->place ? indices : op_operand(p, x->op, i));
    }
    for (uint32_t i = 0; i < program_op(p, x->op)->num_results; i++) {
        value_replace_uses(p, op_result(p, x->op, i), op_result(p, x->op, i), 0);
    }
    return TSR_OK;
}

/* Erases what nothing uses, the last first, so that what only it used goes as well. */
static tsr_status erase_unused(workspace *w)
{
    tsr_program *p = w->p;
    op_list ops = {0};
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        TSR_TRY(op_list_add(w, &ops, op));
    }
    for (size_t i = ops.count; i > 1; i--) {
        if (op_is_unused(p, ops.ops[i - 1])) {
            op_erase(p, ops.ops[i - 1]);
        }
    }
    return TSR_OK;
}

static tsr_status batch_all(workspace *w)
{
    const tsr_program *p = w->p;
    for (uint32_t op = p->module; op != 0; op = op_walk_next(p, p->module, op)) {
        const tsr_arena_mark mark = tsr_arena_get_mark(w->scratch);
        indexing x;
        if (read_indexing(p, op, &x) && can_batch(p, &x) && index_counts_up(p, &x)) {
            TSR_TRY(batch(w, &x));
        }
        tsr_arena_reset(w->scratch, mark);
    }
    return erase_unused(w);
}

WORKSPACE_PASS(pass_batch_gathers, batch_all)
