/* Calls that contract or gather along a cut dimension and leave a partial result. */
#include <tessera/ops.h>

#include "base/arena.h"
#include "base/guard.h"
#include "eager/calls.h"
#include "eager/compose.h"
#include "eager/typed.h"
#include "spmd/view.h"

/* Sets the axes of out_partial for what is called until they are reset. */
static tsr_status begin_partial(tsr_comm *world, const char *call, const char *names, eager **out)
{
    axis_names axes;
    TSR_TRY(typed_scope(world, call, out));
    TSR_TRY(typed_whole_axes(*out, call, names, &axes));
    for (size_t i = 0; i < axes.count; i++) {
        (*out)->typing.out_partial.bits |= UINT64_C(1) << axes.axes[i];
    }
    (*out)->typing.call = call;
    return TSR_OK;
}

static tsr_status end_partial(eager *e, tsr_status status)
{
    e->typing.out_partial.bits = 0;
    e->typing.call = NULL;
    return status;
}

tsr_status tsr_matmul_partial(tsr_tensor *a, tsr_tensor *b, const char *axes, tsr_tensor **out)
{
    GUARD(tsr_matmul_partial);
    eager *e = NULL;
    TSR_TRY(begin_partial(a->world, "tsr_matmul_partial", axes, &e));
    return end_partial(e, tsr_matmul(a, b, out));
}

tsr_status tsr_einsum_partial(const char *equation, tsr_tensor *const *operands,
                              size_t num_operands, const char *axes, tsr_tensor **out)
{
    GUARD(tsr_einsum_partial);
    eager *e = NULL;
    if (num_operands == 0 || num_operands > 2) {
        return num_operands == 0
                   ? TSR_ERR_INVALID
                   : diag_error(
                         operands[0]->world->ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                         "tsr_einsum_partial: with more than 2 operands it is ambiguous which "
                         "product leaves the sum pending; multiply two operands at a time");
    }
    TSR_TRY(begin_partial(operands[0]->world, "tsr_einsum_partial", axes, &e));
    return end_partial(e, tsr_einsum(equation, operands, num_operands, out));
}

/* A reduction that leaves its own kind pending: an average, a greatest, a least. */
#define REDUCE_PARTIAL(name)                                                                       \
    tsr_status name##_partial(tsr_tensor *x, const size_t *dims, size_t num_dims,                  \
                              const char *axes, tsr_tensor **out)                                  \
    {                                                                                              \
        GUARD(name##_partial);                                                                     \
        eager *e = NULL;                                                                           \
        TSR_TRY(begin_partial(x->world, #name "_partial", axes, &e));                              \
        return end_partial(e, name(x, dims, num_dims, out));                                       \
    }
REDUCE_PARTIAL(tsr_sum)
REDUCE_PARTIAL(tsr_mean)
REDUCE_PARTIAL(tsr_max)
REDUCE_PARTIAL(tsr_min)

tsr_status tsr_linear_partial(tsr_tensor *x, tsr_tensor *weight, tsr_tensor *bias, const char *axes,
                              tsr_tensor **out)
{
    GUARD(tsr_linear_partial);
    eager *e = NULL;
    tsr_tensor *product = NULL;
    TSR_TRY(begin_partial(x->world, "tsr_linear_partial", axes, &e));
    TSR_TRY(end_partial(e, tsr_linear(x, weight, NULL, &product)));
    if (bias == NULL) {
        *out = product;
        return TSR_OK;
    }
    static const char *const names[] = {"the product", "bias"};
    e->typing.call = "tsr_linear_partial";
    e->typing.operand_names = names;
    const tsr_status status = tsr_add(product, bias, out);
    e->typing.call = NULL;
    e->typing.operand_names = NULL;
    if (e->scope == NULL) {
        tsr_tensor_release(product);
    }
    return status;
}

/* ---- rows of a table whose rows are cut ---- */

/*
 * The type that a row's result has, without running the row: what it is called with decides, as for
 * any call. NULL while nothing is typed.
 */
static tsr_status infer_as(eager *e, const char *call, const op_row *row, const void *params,
                           tsr_tensor *const *operands, size_t count, const typed_record **out)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const typed_record *records[3];
    op_type types[3];
    op_type result;
    const tsr_rule *rule = NULL;
    *out = NULL;
    if (!is_typing(e)) {
        return TSR_OK;
    }
    typed_begin(e, operands, count);
    for (size_t i = 0; i < count; i++) {
        types[i] = type_of_layout(operands[i]->layout);
        records[i] = record_of(operands[i]);
    }
    const op_request r = {.ctx = e->world->ctx,
                          .arena = e->arena,
                          .call = call,
                          .row = row,
                          .params = params,
                          .num_operands = count,
                          .operands = types,
                          .own_values = true};
    tsr_status status = row->types(&r, &result);
    if (status == TSR_OK) {
        status = op_find_rule(&r, &result, e->arena, &rule);
    }
    if (status == TSR_OK || status == TSR_NOT_APPLICABLE) {
        status = typed_infer(e, &r, records, rule, &result, out);
    }
    tsr_arena_reset(e->arena, mark);
    return status;
}

/* Refuses a start that is not where this rank's rows begin, as far as the type says. */
static tsr_status check_start(eager *e, const char *call, const tsr_tensor *x, size_t dim,
                              int64_t start)
{
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    const typed_record *record = record_of(x);
    int64_t starts[OP_MAX_RANK];
    int64_t part[OP_MAX_RANK];
    if (record == NULL || !tsr_type_has_spec(record->of.type) ||
        tsr_type_dim(record->of.type, dim)->num_axes == 0) {
        return TSR_OK;
    }
    tsr_status status = typed_part(e, &record->of, starts, part);
    if (status == TSR_OK && starts[dim] != start) {
        status = diag_error(e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                            "%s: the rows of dimension %zu on rank %lld start at %lld by the type, "
                            "but at %lld by the argument",
                            call, dim, (long long)e->world->rank, (long long)starts[dim],
                            (long long)start);
    }
    tsr_arena_reset(e->arena, mark);
    return status;
}

/* Truth values for each index, of a shape that broadcasts with the rows that are taken. */
static op_value *is_inside(op_builder *b, op_value *index, int64_t rows, size_t after)
{
    const op_type type = build_type(b, index);
    int64_t shape[OP_MAX_RANK];
    for (size_t d = 0; d < type.rank + after; d++) {
        shape[d] = d < type.rank ? type.shape[d] : 1;
    }
    op_value *least = build_number_of(b, index, TSR_I64, number_integer(0));
    op_value *beyond = build_number_of(b, index, TSR_I64, number_integer(rows));
    op_value *inside = build_binary(b, BINARY_AND, build_compare(b, COMPARE_GE, index, least),
                                    build_compare(b, COMPARE_LT, index, beyond));
    return build_reshape(b, inside, shape, type.rank + after);
}

/* The rows that this rank has, and zeros for those of others. */
static tsr_status take_own_rows(const char *call, tsr_tensor *x, tsr_tensor *indices, size_t dim,
                                int64_t start, tsr_tensor **out)
{
    const size_t rank = x->geometry->rank;
    eager_builder b;
    tsr_tensor *own = NULL;
    tsr_tensor *rows = NULL;
    TSR_TRY(compose_begin(call, x, &b));
    op_value *index = build_convert(&b.base, value_of(indices), TSR_I64);
    index = build_binary(&b.base, BINARY_SUBTRACT, index,
                         build_number_of(&b.base, index, TSR_I64, number_integer(start)));
    own = tensor_of(index);
    op_value *taken = NULL;
    if (b.base.status == TSR_OK) {
        b.base.status = tsr_take(x, own, dim, &rows);
        taken = value_of(rows);
    }
    op_value *inside = is_inside(&b.base, index, x->geometry->shape[dim], rank - 1 - dim);
    op_value *result = build_select(&b.base, inside, taken,
                                    build_number_of(&b.base, taken, x->dtype, number_integer(0)));
    return compose_end(&b, result, out);
}

static tsr_status take_partial(const char *call, tsr_tensor *x, tsr_tensor *indices, size_t dim,
                               int64_t start, const char *axes, tsr_tensor **out)
{
    tsr_tensor *const operands[] = {x, indices};
    const typed_record *record = NULL;
    take_dims dims;
    eager *e = NULL;
    TSR_TRY(eager_check_take(call, x, indices, dim));
    eager_take_dims(x, indices, dim, &dims);
    TSR_TRY(begin_partial(x->world, call, axes, &e));
    tsr_status status = check_start(e, call, x, dim, start);
    if (status == TSR_OK) {
        status = infer_as(e, call, &op_gather, &dims.params, operands, 2, &record);
    }
    (void)end_partial(e, TSR_OK);
    if (status < 0) {
        return status;
    }
    e->typing.off++;
    status = take_own_rows(call, x, indices, dim, start, out);
    e->typing.off--;
    if (status == TSR_OK) {
        typed_set(e, *out, record);
    }
    return status;
}

tsr_status tsr_take_partial(tsr_tensor *x, tsr_tensor *indices, size_t dim, int64_t start,
                            const char *axes, tsr_tensor **out)
{
    GUARD(tsr_take_partial);
    return take_partial("tsr_take_partial", x, indices, dim, start, axes, out);
}

tsr_status tsr_embedding_partial(tsr_tensor *table, tsr_tensor *indices, int64_t start,
                                 const char *axes, tsr_tensor **out)
{
    GUARD(tsr_embedding_partial);
    if (table->geometry->rank != 2) {
        const op_type type = type_of_layout(table->layout);
        return diag_error(table->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "tsr_embedding_partial: the table must have rank 2, got: %s",
                          op_type_text(&type).text);
    }
    return take_partial("tsr_embedding_partial", table, indices, 0, start, axes, out);
}

/* ---- updates that are cut ---- */

/* Whether this rank is the first of those along some axes. */
static tsr_status is_first(const eager *e, const axis_names *axes, bool *out)
{
    const tsr_mesh *mesh = e->typing.scope->settings.mesh;
    const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
    int64_t *coordinates = ARENA_ARRAY(e->arena, int64_t, tsr_mesh_num_axes(mesh));
    if (coordinates == NULL) {
        return diag_nomem(e->world->ctx);
    }
    *out = tsr_mesh_coordinates(mesh, e->world->rank, coordinates);
    for (size_t i = 0; i < axes->count; i++) {
        *out = *out && coordinates[axes->axes[i]] == 0;
    }
    tsr_arena_reset(e->arena, mark);
    return TSR_OK;
}

/* What is scattered into must be the same on all ranks along the axes, so that it counts once. */
static tsr_status check_input(const eager *e, const char *call, const tsr_tensor *x,
                              const axis_names *axes)
{
    const typed_record *record = record_of(x);
    const tsr_mesh *base = e->typing.scope->settings.mesh;
    const tsr_mesh *mesh = NULL;
    tsr_axis_set named = {0};
    if (!is_typing(e) || record == NULL) {
        return TSR_OK;
    }
    const tsr_type *is = record->of.type;
    TSR_TRY(typed_meet(e, &is, 1, NULL, &mesh));
    for (size_t i = 0; i < axes->count; i++) {
        named.bits |= UINT64_C(1) << axes->axes[i];
    }
    named = spmd_map_axes(base, named, mesh);
    for (size_t a = 0; a < tsr_mesh_num_axes(mesh); a++) {
        const tsr_axis_type type = tsr_type_axis(is, a);
        if (axis_in_set(named, a) && type.kind != TSR_R && type.kind != TSR_I) {
            return diag_error(
                e->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                "%s: along axis %s the input is %s; it must be R or I, so that it is counted once",
                call, tsr_mesh_axis_name(mesh, a), tsr_axis_type_name(type));
        }
    }
    return TSR_OK;
}

/* Scatters into the input on the first rank, on others into what changes nothing. */
static tsr_status scatter_own_updates(const char *call, tsr_tensor *const *operands, size_t dim,
                                      tsr_scatter_op op, bool first, tsr_tensor **out)
{
    const bool counts_once = op == TSR_SCATTER_ADD || op == TSR_SCATTER_MUL;
    eager_builder b;
    tsr_tensor *into = operands[0];
    tsr_tensor *result = NULL;
    TSR_TRY(compose_begin(call, operands[0], &b));
    if (!first && counts_once) {
        op_value *neutral = build_zeros(&b.base, value_of(operands[0]));
        if (op == TSR_SCATTER_MUL) {
            op_value *one = build_number_of(&b.base, neutral, into->dtype, number_integer(1));
            neutral = build_binary(&b.base, BINARY_ADD, neutral, one);
        }
        into = tensor_of(neutral);
    }
    if (b.base.status == TSR_OK) {
        b.base.status = tsr_scatter(into, operands[1], operands[2], dim, op, &result);
    }
    return compose_end(&b, value_of(result), out);
}

tsr_status tsr_scatter_partial(tsr_tensor *x, tsr_tensor *indices, tsr_tensor *updates, size_t dim,
                               tsr_scatter_op op, const char *axes, tsr_tensor **out)
{
    GUARD(tsr_scatter_partial);
    static const op_body bodies[] = {[TSR_SCATTER_ADD] = OP_BODY_SUM,
                                     [TSR_SCATTER_MUL] = OP_BODY_PROD,
                                     [TSR_SCATTER_MAX] = OP_BODY_MAX,
                                     [TSR_SCATTER_MIN] = OP_BODY_MIN};
    static const char call[] = "tsr_scatter_partial";
    tsr_tensor *const operands[] = {x, indices, updates};
    const typed_record *record = NULL;
    axis_names names;
    take_dims dims;
    eager *e = NULL;
    bool first = true;
    if (op == TSR_SCATTER_SET || (size_t)op >= sizeof bodies / sizeof bodies[0]) {
        return diag_error(
            x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
            "%s: updates that %s cannot be pending; use add, multiply, maximum or minimum", call,
            op == TSR_SCATTER_SET ? "replace elements" : "use an unknown reduction");
    }
    TSR_TRY(eager_check_take(call, x, indices, dim));
    eager_take_dims(x, indices, dim, &dims);
    const window_dims windows = gather_window_dims(&dims.params);
    const scatter_params params = scatter_of_windows(&windows, bodies[op]);
    TSR_TRY(begin_partial(x->world, call, axes, &e));
    tsr_status status = typed_axes(e, call, axes, &names);
    if (status == TSR_OK) {
        const tsr_arena_mark mark = tsr_arena_get_mark(e->arena);
        status = check_input(e, call, x, &names);
        tsr_arena_reset(e->arena, mark);
    }
    if (status == TSR_OK) {
        status = infer_as(e, call, &op_scatter, &params, operands, 3, &record);
    }
    if (status == TSR_OK) {
        status = is_first(e, &names, &first);
    }
    (void)end_partial(e, TSR_OK);
    if (status < 0) {
        return status;
    }
    e->typing.off++;
    status = scatter_own_updates(call, operands, dim, op, first, out);
    e->typing.off--;
    if (status == TSR_OK) {
        typed_set(e, *out, record);
    }
    return status;
}
