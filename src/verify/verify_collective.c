/* The checks of the collectives of sdy. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "verify/verify.h"

/* A collective under check. */
typedef struct collective {
    tsr_context *ctx;
    tsr_program *p;
    uint32_t op;
    const char *prefix;
    const tsr_mesh *mesh;     /* of the result */
    const tsr_sharding *from; /* of the operand; NULL: fully open */
    const tsr_sharding *to;
    axis_lists axes; /* as given */
} collective;

#define FAIL(c, ...) op_error((c)->ctx, (c)->p, (c)->op, __VA_ARGS__)

/* ---- lists of axes ---- */

static const char *axes_string(const collective *c, const tsr_axis_ref *axes, size_t count)
{
    const char *text = "?";
    return tsr_axes_print(c->ctx, c->p->scratch, c->mesh, axes, count, &text) < 0 ? "?" : text;
}

/* The axes of a dimension of the operand, with room for more. */
static tsr_status dim_axes(const collective *c, size_t dim, size_t more, tsr_axis_list *out)
{
    const size_t count = c->from != NULL ? c->from->dims[dim].num_axes : 0;
    const size_t room = count + more + 1;
    *out =
        (tsr_axis_list){.refs = ARENA_ARRAY(c->p->scratch, tsr_axis_ref, room), .capacity = room};
    if (out->refs == NULL) {
        return diag_nomem(c->ctx);
    }
    for (size_t i = 0; i < count; i++) {
        out->refs[out->count++] = c->from->dims[dim].axes[i];
    }
    return TSR_OK;
}

/* Removes given axes from the end of a dimension, the last one first. */
static tsr_status gather(const collective *c, tsr_axis_list *axes, named_axes given,
                         const char *word, size_t dim)
{
    for (size_t i = given.count; i-- > 0;) {
        const tsr_axis_ref axis = given.axes[i].ref;
        tsr_axis_ref *last = axes->count > 0 ? &axes->refs[axes->count - 1] : NULL;
        if (last == NULL || !tsr_axis_is_suffix(axis, *last)) {
            return FAIL(c, "can't apply %s axis %s to operand sharding on dimension %zu", word,
                        named_axis_text(c->p->scratch, &given.axes[i]), dim);
        }
        if (tsr_axis_equal(axis, *last) || !tsr_axis_prefix_without(*last, axis, last)) {
            axes->count--;
        }
    }
    return TSR_OK;
}

static tsr_status slice_axes(const collective *c, tsr_axis_list *axes, named_axes given)
{
    for (size_t i = 0; i < given.count; i++) {
        TSR_TRY(tsr_axes_add(c->mesh, axes, given.axes[i].ref));
    }
    return TSR_OK;
}

static tsr_status expect_axes(const collective *c, const tsr_axis_list *axes, size_t dim)
{
    const tsr_dim *result = &c->to->dims[dim];
    if (tsr_axes_equal(axes->refs, axes->count, result->axes, result->num_axes)) {
        return TSR_OK;
    }
    return FAIL(c, "result sharding doesn't match expected sharding [%s] on dimension %zu",
                axes_string(c, axes->refs, axes->count), dim);
}

/* The axis-list check over all lists, with one memory of what was seen. */
static tsr_status check_axes(const collective *c)
{
    axis_verifier verifier;
    size_t count = 0;
    for (size_t i = 0; i < c->axes.count; i++) {
        count += c->axes.lists[i].count;
    }
    TSR_TRY(axis_verifier_init(&verifier, c->ctx, c->p->scratch, c->mesh, c->prefix, count));
    for (size_t i = 0; i < c->axes.count; i++) {
        TSR_TRY(axis_verify_list(&verifier, c->axes.lists[i]));
    }
    return TSR_OK;
}

static tsr_status check_ordered(const collective *c, named_axes list, const char *word)
{
    if (!named_axes_ordered(list)) {
        return FAIL(c, "%s axes are not ordered w.r.t. mesh", word);
    }
    return check_axes(c);
}

/* ---- kinds ---- */

static tsr_status check_gather_lists(const collective *c, const char *word)
{
    TSR_TRY(check_axes(c));
    if (c->axes.count != c->to->rank) {
        return FAIL(c, "result sharding has rank %zu but collective axes has rank %zu", c->to->rank,
                    c->axes.count);
    }
    for (size_t d = 0; d < c->to->rank; d++) {
        tsr_axis_list axes;
        TSR_TRY(dim_axes(c, d, 0, &axes));
        TSR_TRY(gather(c, &axes, c->axes.lists[d], word, d));
        TSR_TRY(expect_axes(c, &axes, d));
    }
    return TSR_OK;
}

static tsr_status check_all_gather(const collective *c)
{
    return check_gather_lists(c, "gathering");
}

static tsr_status check_all_slice(const collective *c)
{
    TSR_TRY(check_axes(c));
    if (c->axes.count != c->to->rank) {
        return FAIL(c, "result sharding has rank %zu but collective axes has rank %zu", c->to->rank,
                    c->axes.count);
    }
    for (size_t d = 0; d < c->to->rank; d++) {
        tsr_axis_list axes;
        TSR_TRY(dim_axes(c, d, c->axes.lists[d].count, &axes));
        TSR_TRY(slice_axes(c, &axes, c->axes.lists[d]));
        TSR_TRY(expect_axes(c, &axes, d));
    }
    return TSR_OK;
}

static tsr_reduction kind_of(const collective *c)
{
    int64_t kind = 0;
    (void)attr_as_integer(c->p, op_property(c->p, c->op, "reduction_op"), &kind);
    return (tsr_reduction)kind;
}

static tsr_status check_reduction(const collective *c)
{
    return verify_unreduced(c->ctx, c->p, c->op, c->from, c->to,
                            (unreduced_rule){.introduces = NO_KIND, .removes = (int)kind_of(c)});
}

static tsr_status check_reduce_scatter(const collective *c)
{
    TSR_TRY(check_reduction(c));
    return check_all_slice(c);
}

/* Whether the unreduced axes of the result are those of the operand and the given ones. */
static tsr_status adds_up(const collective *c, bool *out)
{
    const size_t before = c->from != NULL ? c->from->num_unreduced : 0;
    size_t room = before + 1;
    for (size_t i = 0; i < c->axes.count; i++) {
        room += c->axes.lists[i].count;
    }
    tsr_axis_list sum = {.refs = ARENA_ARRAY(c->p->scratch, tsr_axis_ref, room), .capacity = room};
    if (sum.refs == NULL) {
        return diag_nomem(c->ctx);
    }
    for (size_t i = 0; i < before; i++) {
        sum.refs[sum.count++] = c->from->unreduced[i];
    }
    for (size_t i = 0; i < c->axes.count; i++) {
        for (size_t k = 0; k < c->axes.lists[i].count; k++) {
            sum.refs[sum.count++] = c->axes.lists[i].axes[k].ref;
        }
    }
    tsr_axes_sort_and_merge(c->mesh, &sum);
    *out = tsr_axes_equal(sum.refs, sum.count, c->to->unreduced, c->to->num_unreduced);
    return TSR_OK;
}

static tsr_status check_sharded_to_unreduced(const collective *c)
{
    bool fine = false;
    if (c->to->reduction != TSR_SUM) {
        return FAIL(c, "out_sharding reduction_op must be SUM");
    }
    TSR_TRY(check_gather_lists(c, "shard-to-unreduce"));
    TSR_TRY(adds_up(c, &fine));
    return fine ? TSR_OK
                : FAIL(c, "out_unreduced_axes should be in_unreduced_axes + "
                          "sharded_to_unreduced_axes");
}

static bool same_dims(const tsr_sharding *a, const tsr_sharding *b)
{
    for (size_t d = 0; d < b->rank; d++) {
        const tsr_dim *x = &a->dims[d];
        const tsr_dim *y = &b->dims[d];
        if (x->open != y->open || x->priority != y->priority ||
            !tsr_axes_equal(x->axes, x->num_axes, y->axes, y->num_axes)) {
            return false;
        }
    }
    return true;
}

static bool overlaps_dims(const tsr_sharding *sharding, tsr_axis_ref axis)
{
    for (size_t d = 0; sharding != NULL && d < sharding->rank; d++) {
        if (tsr_axes_overlap(&axis, 1, sharding->dims[d].axes, sharding->dims[d].num_axes)) {
            return true;
        }
    }
    return false;
}

static tsr_status check_replicated_to_unreduced(const collective *c)
{
    const named_axes list = c->axes.lists[0];
    bool fine = false;
    if (c->to->reduction != TSR_SUM) {
        return FAIL(c, "out_sharding reduction_op must be SUM");
    }
    if (c->from != NULL && !same_dims(c->from, c->to)) {
        return FAIL(c, "input and output must share the same dimension shardings");
    }
    if (list.count == 0) {
        return FAIL(c, "r2u axes must not be empty");
    }
    TSR_TRY(check_ordered(c, list, "r2u"));
    for (size_t i = 0; i < list.count; i++) {
        const char *text = named_axis_text(c->p->scratch, &list.axes[i]);
        if (overlaps_dims(c->from, list.axes[i].ref)) {
            return FAIL(c, "r2u axis %s overlaps with operand dimension sharding", text);
        }
        if (c->from != NULL &&
            tsr_axes_overlap(&list.axes[i].ref, 1, c->from->unreduced, c->from->num_unreduced)) {
            return FAIL(c, "r2u axis %s overlaps with operand unreduced axes", text);
        }
    }
    TSR_TRY(adds_up(c, &fine));
    return fine ? TSR_OK : FAIL(c, "out_unreduced_axes should be in_unreduced_axes + r2u_axes");
}

static tsr_status check_all_reduce(const collective *c)
{
    const named_axes list = c->axes.lists[0];
    if (!tsr_sharding_equivalent(c->to, c->from, true)) {
        return FAIL(c, "operand and result shardings are not equivalent");
    }
    TSR_TRY(check_ordered(c, list, "reduction"));
    for (size_t i = 0; i < list.count; i++) {
        const char *text = named_axis_text(c->p->scratch, &list.axes[i]);
        const tsr_axis_ref axis = list.axes[i].ref;
        if (overlaps_dims(c->from, axis) ||
            (c->from != NULL &&
             tsr_axes_overlap(&axis, 1, c->from->replicated, c->from->num_replicated))) {
            return FAIL(c,
                        "reduction axis %s overlaps with operand dimension sharding or "
                        "replicated axes",
                        text);
        }
        if (tsr_axes_overlap(&axis, 1, c->to->unreduced, c->to->num_unreduced)) {
            return FAIL(c, "reduction axis %s overlaps with result unreduced axes", text);
        }
    }
    return check_reduction(c);
}

/* ---- all_to_all ---- */

typedef struct move_text {
    named_axes axes;
    int64_t source;
    int64_t target;
} move_text;

typedef struct move_list {
    const collective *c;
    move_text *moves;
    size_t count;
    size_t room;
} move_list;

static tsr_status read_moves(lexer *lex, void *out)
{
    move_list *list = out;
    const location where = op_location(list->c->p, list->c->op);
    TSR_TRY(lex_expect(lex, '['));
    while (lex_accept(lex, '{')) {
        move_text move = {0};
        size_t room = 0;
        while (!lex_is(lex, '}')) {
            named_axis axis;
            TSR_TRY(axis_text_read(lex, &axis));
            named_axis_resolve(&axis, list->c->mesh);
            axis.where = where;
            TSR_TRY(LEX_PUSH(lex, move.axes.axes, move.axes.count, room, axis));
            (void)lex_accept(lex, ',');
        }
        TSR_TRY(lex_expect(lex, '}'));
        TSR_TRY(lex_expect(lex, ':'));
        TSR_TRY(lex_integer(lex, &move.source));
        (void)lex_accept(lex, TOKEN_ARROW);
        TSR_TRY(lex_integer(lex, &move.target));
        TSR_TRY(LEX_PUSH(lex, list->moves, list->count, list->room, move));
        (void)lex_accept(lex, ',');
    }
    return TSR_OK;
}

/* A dimension in range, and not one that another parameter has. */
static tsr_status check_move_dim(const collective *c, const char *word, int64_t dim)
{
    return dim >= 0 && dim < (int64_t)c->to->rank
               ? TSR_OK
               : FAIL(c, "%s dimension %lld is out of range [0, %zu)", word, (long long)dim,
                      c->to->rank);
}

static tsr_status check_moves(const collective *c, const move_list *list)
{
    axis_verifier verifier;
    size_t count = 0;
    bool *seen = ARENA_ARRAY(c->p->scratch, bool, c->to->rank + 1);
    for (size_t i = 0; i < list->count; i++) {
        count += list->moves[i].axes.count;
    }
    if (seen == NULL) {
        return diag_nomem(c->ctx);
    }
    memset(seen, 0, c->to->rank + 1);
    TSR_TRY(axis_verifier_init(&verifier, c->ctx, c->p->scratch, c->mesh, c->prefix, count));
    for (size_t i = 0; i < list->count; i++) {
        const move_text *move = &list->moves[i];
        TSR_TRY(axis_verify_list(&verifier, move->axes));
        TSR_TRY(check_move_dim(c, "source", move->source));
        TSR_TRY(check_move_dim(c, "target", move->target));
        const int64_t dims[2] = {move->source, move->target};
        for (size_t k = 0; k < 2; k++) {
            if (seen[dims[k]]) {
                return FAIL(c, "overlapping source/target dimensions in all-to-all params: %lld",
                            (long long)dims[k]);
            }
            seen[dims[k]] = true;
        }
        if (i > 0 && move->source < list->moves[i - 1].source) {
            return FAIL(c,
                        "source dimensions are not sorted in ascending order: %lld appears "
                        "after %lld",
                        (long long)move->source, (long long)list->moves[i - 1].source);
        }
    }
    return TSR_OK;
}

static tsr_status check_all_to_all(const collective *c)
{
    move_list list = {.c = c};
    TSR_TRY(read_attr_text(c->ctx, c->p, op_property(c->p, c->op, "params"), read_moves, &list));
    if (list.count == 0) {
        return FAIL(c, "parameter list is empty");
    }
    TSR_TRY(check_moves(c, &list));
    bool *touched = ARENA_ARRAY(c->p->scratch, bool, c->to->rank + 1);
    if (touched == NULL) {
        return diag_nomem(c->ctx);
    }
    memset(touched, 0, c->to->rank + 1);
    for (size_t i = 0; i < list.count; i++) {
        const move_text *move = &list.moves[i];
        tsr_axis_list axes;
        TSR_TRY(dim_axes(c, (size_t)move->source, 0, &axes));
        TSR_TRY(gather(c, &axes, move->axes, "all-to-all", (size_t)move->source));
        TSR_TRY(expect_axes(c, &axes, (size_t)move->source));
        TSR_TRY(dim_axes(c, (size_t)move->target, move->axes.count, &axes));
        TSR_TRY(slice_axes(c, &axes, move->axes));
        TSR_TRY(expect_axes(c, &axes, (size_t)move->target));
        touched[move->source] = true;
        touched[move->target] = true;
    }
    for (size_t d = 0; d < c->to->rank; d++) {
        tsr_axis_list axes;
        if (!touched[d]) {
            TSR_TRY(dim_axes(c, d, 0, &axes));
            TSR_TRY(expect_axes(c, &axes, d));
        }
    }
    return TSR_OK;
}

/* ---- collective_permute ---- */

/* Where the operand is defined: an op, or an argument. */
static location operand_location(const collective *c)
{
    const ir_value *v = program_value(c->p, op_operand(c->p, c->op, 0));
    return (v->owner & IR_IS_ARGUMENT) != 0 ? program_location(c->p, v->location)
                                            : op_location(c->p, v->owner);
}

static tsr_status note_operand_mesh(const collective *c)
{
    const char *text = "?";
    TSR_TRY(tsr_mesh_print(c->ctx, c->p->scratch, c->from->mesh, &text));
    return diag_note(c->ctx, operand_location(c), "operand mesh: #sdy.mesh%s", text);
}

static tsr_status check_permute(const collective *c)
{
    if (!tsr_mesh_equal_axes(c->from->mesh, c->mesh)) {
        (void)FAIL(c, "result mesh has different axes than operand mesh");
        return note_operand_mesh(c);
    }
    const char *from_name = tsr_mesh_name(c->from->mesh);
    const char *to_name = tsr_mesh_name(c->mesh);
    const bool same_name = from_name == NULL || to_name == NULL ? from_name == to_name
                                                                : strcmp(from_name, to_name) == 0;
    if (!same_name && tsr_mesh_equal(c->from->mesh, c->mesh)) {
        (void)FAIL(c, "result mesh name is different but same device ids as operand");
        return note_operand_mesh(c);
    }
    for (size_t d = 0; d < c->to->rank; d++) {
        const int64_t in = tsr_axes_size(c->from->dims[d].axes, c->from->dims[d].num_axes);
        const int64_t out = tsr_axes_size(c->to->dims[d].axes, c->to->dims[d].num_axes);
        if (in != out) {
            return FAIL(c,
                        "sharded size of result doesn't match operand on dimension %zu: %lld != "
                        "%lld",
                        d, (long long)out, (long long)in);
        }
    }
    return TSR_OK;
}

/* ---- all ---- */

/* What the checks of a collective share, and its own. */
typedef struct collective_row {
    const char *axes; /* the property; NULL: none */
    bool may_lack_operand_sharding;
    bool may_change_mesh;
    tsr_status (*check)(const collective *c);
} collective_row;

static tsr_status check_operand(collective *c, const collective_row *row)
{
    if (c->from == NULL) {
        return row->may_lack_operand_sharding ? TSR_OK
                                              : FAIL(c, "collective on operand without sharding");
    }
    return TSR_OK;
}

static tsr_status check_meshes(const collective *c, const collective_row *row)
{
    if (c->from == NULL) {
        return TSR_OK;
    }
    if (!row->may_change_mesh && !tsr_mesh_equal(c->from->mesh, c->mesh)) {
        (void)FAIL(c, "result mesh does not match operand mesh");
        return note_operand_mesh(c);
    }
    if (c->from->rank != c->to->rank) {
        return FAIL(c, "result sharding has rank %zu but operand sharding has rank %zu",
                    c->to->rank, c->from->rank);
    }
    return TSR_OK;
}

static tsr_status verify(tsr_context *ctx, tsr_program *p, uint32_t op, const collective_row *row)
{
    enum { MAX_PREFIX = 128 };
    char prefix[MAX_PREFIX];
    const uint32_t out = op_property(p, op, "out_sharding");
    collective c = {.ctx = ctx, .p = p, .op = op, .prefix = prefix};
    snprintf(prefix, sizeof prefix, "'%s' op ", op_name(p, op));
    TSR_TRY(value_sharding(ctx, p, op_operand(p, op, 0), &c.from));
    TSR_TRY(check_operand(&c, row));
    TSR_TRY(verify_sharding(ctx, p, op, prefix, out, value_type(p, program_op(p, op)->results)));
    TSR_TRY(sharding_of_attr(ctx, p, op, out, op_location(p, op), prefix, NULL, &c.to));
    c.mesh = c.to->mesh;
    TSR_TRY(check_meshes(&c, row));
    if (row->axes != NULL) {
        TSR_TRY(attr_axis_lists(ctx, p, op_property(p, op, row->axes), c.mesh, op_location(p, op),
                                &c.axes));
    }
    return row->check(&c);
}

tsr_status verify_all_gather(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    static const collective_row row = {.axes = "gathering_axes", .check = check_all_gather};
    return verify(ctx, p, op, &row);
}

tsr_status verify_all_slice(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    static const collective_row row = {
        .axes = "slicing_axes", .may_lack_operand_sharding = true, .check = check_all_slice};
    return verify(ctx, p, op, &row);
}

tsr_status verify_all_reduce(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    static const collective_row row = {
        .axes = "reduction_axes", .may_lack_operand_sharding = true, .check = check_all_reduce};
    return verify(ctx, p, op, &row);
}

tsr_status verify_reduce_scatter(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    static const collective_row row = {.axes = "reduce_scatter_axes",
                                       .may_lack_operand_sharding = true,
                                       .check = check_reduce_scatter};
    return verify(ctx, p, op, &row);
}

tsr_status verify_sharded_to_unreduced(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    static const collective_row row = {.axes = "axes", .check = check_sharded_to_unreduced};
    return verify(ctx, p, op, &row);
}

tsr_status verify_replicated_to_unreduced(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    static const collective_row row = {.axes = "axes", .check = check_replicated_to_unreduced};
    return verify(ctx, p, op, &row);
}

tsr_status verify_all_to_all(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    static const collective_row row = {.check = check_all_to_all};
    return verify(ctx, p, op, &row);
}

tsr_status verify_collective_permute(tsr_context *ctx, tsr_program *p, uint32_t op)
{
    static const collective_row row = {.may_change_mesh = true, .check = check_permute};
    return verify(ctx, p, op, &row);
}
