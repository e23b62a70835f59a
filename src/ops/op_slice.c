#include "ops/op_slice.h"

#include <string.h>

#include "kernel/elementwise.h"
#include "ops/gradient.h"
#include "ops/rule_build.h"
#include "ops/run_slice.h"

#define PASS TSR_FACTOR_PASS_THROUGH

/* ---- the rule of slice and pad ---- */

/* Permuted where sizes differ. */
static tsr_status mismatch_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                const tsr_rule **out)
{
    return op_rule_mismatch(r, results, arena, TSR_FACTOR_PERMUTATION, op_is_conservative(r), out);
}

/* ---- slice ---- */

static const op_field slice_list[] = {OP_FIELD(slice_params, start_indices, INTS),
                                      OP_FIELD(slice_params, limit_indices, INTS),
                                      OP_FIELD(slice_params, strides, INTS)};
static const op_fields slice_fields = OP_FIELDS(slice_params, slice_list);

/* The extent of one dimension; unknown where the operand's is. */
static tsr_status slice_extent(const op_request *r, size_t d, int64_t *extent)
{
    const slice_params *p = r->params;
    const op_type *operand = &r->operands[0];
    const int64_t from = p->start_indices.values[d];
    const int64_t to = p->limit_indices.values[d];
    const int64_t stride = p->strides.values[d];
    const bool known = operand->shape[d] != TSR_UNKNOWN;
    if (from < 0) {
        return OP_ERROR(r, "negative start index %lld in dimension %zu", (long long)from, d);
    }
    if (known && to > operand->shape[d]) {
        return OP_ERROR(r, "limit index %lld is larger than dimension size %lld in dimension %zu",
                        (long long)to, (long long)operand->shape[d], d);
    }
    if (from > to) {
        return OP_ERROR(r, "start index %lld is larger than limit index %lld in dimension %zu",
                        (long long)from, (long long)to, d);
    }
    if (stride < 1) {
        return OP_ERROR(r, "stride must be positive but got %lld in dimension %zu",
                        (long long)stride, d);
    }
    *extent = known ? ceil_div(to - from, stride) : TSR_UNKNOWN;
    return TSR_OK;
}

static tsr_status slice_types(const op_request *r, op_type *results)
{
    const slice_params *p = r->params;
    const op_type *operand = &r->operands[0];
    const size_t rank = operand->rank;
    int64_t *shape = op_new_shape(r, rank);
    const size_t wrong = p->start_indices.count != rank   ? 0
                         : p->limit_indices.count != rank ? 1
                         : p->strides.count != rank       ? 2
                                                          : 3;
    if (wrong < 3) {
        static const char *const names[] = {"start_indices", "limit_indices", "strides"};
        const size_t counts[] = {p->start_indices.count, p->limit_indices.count, p->strides.count};
        return OP_ERROR(r,
                        "the number of elements in %s (%zu) does not match the rank of the operand "
                        "(%zu)",
                        names[wrong], counts[wrong], rank);
    }
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t d = 0; d < rank; d++) {
        TSR_TRY(slice_extent(r, d, &shape[d]));
    }
    results[0] = (op_type){.dtype = operand->dtype, .rank = rank, .shape = shape};
    return TSR_OK;
}

/* From one row to the next; a single row has none, and its step may be too large to multiply. */
static int64_t stride_of(int64_t stride, int64_t step, int64_t rows)
{
    return rows > 1 ? stride * step : stride;
}

/* Dimensions that change are whole on every rank; the others are taken as they are. */
static void slice_run(const op_call *c, void *scratch)
{
    const slice_params *p = c->params;
    const op_array *to = &c->results[0];
    tsr_view from = c->operands[0].view;
    int64_t strides[OP_MAX_RANK];
    (void)scratch;
    for (size_t d = 0; d < to->view.rank; d++) {
        const bool whole = to->full[d] == c->operands[0].full[d];
        strides[d] =
            stride_of(from.strides[d], whole ? 1 : p->strides.values[d], to->view.shape[d]);
        if (!whole && to->view.shape[d] > 0) {
            from.data = (char *)from.data + p->start_indices.values[d] * from.strides[d];
        }
    }
    op_copy_to(to, 0, to->view.strides, &from, strides, to->view.shape);
}

static void slice_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const slice_params *p = v->params;
    const op_type type = build_type(b, v->operands[0]);
    const op_type part = build_type(b, v->cotangents[0]);
    int64_t high[OP_MAX_RANK];
    int64_t interior[OP_MAX_RANK];
    for (size_t d = 0; d < type.rank; d++) {
        const int64_t rows = part.shape[d];
        const int64_t reach = rows > 0 ? (rows - 1) * p->strides.values[d] + 1 : 0;
        high[d] = type.shape[d] - p->start_indices.values[d] - reach;
        interior[d] = p->strides.values[d] - 1;
    }
    grads[0] = build_pad(b, v->cotangents[0], p->start_indices.values, high, interior);
}

const op_row op_slice = {.name = "slice",
                         .traits = OP_GRADIENT_BY_TYPE,
                         .num_operands = 1,
                         .num_results = 1,
                         .fields = &slice_fields,
                         .types = slice_types,
                         .rule = mismatch_rule,
                         .class_of = class_moves,
                         .run = slice_run,
                         .gradient = slice_gradient};

/* ---- concatenate ---- */

static const op_field concatenate_list[] = {OP_FIELD(concatenate_params, dimension, INT)};
static const op_fields concatenate_fields = OP_FIELDS(concatenate_params, concatenate_list);

/* Takes one more operand into the shape of the result; false when it does not fit. */
static size_t join_shape(int64_t *shape, size_t dim, const op_type *operand)
{
    for (size_t d = 0; d < operand->rank; d++) {
        if (d != dim) {
            if (!extents_agree(shape[d], operand->shape[d])) {
                return d;
            }
            shape[d] = known_extent(shape[d], operand->shape[d]);
        } else if (shape[d] == TSR_UNKNOWN || operand->shape[d] == TSR_UNKNOWN) {
            shape[d] = TSR_UNKNOWN;
        } else if (!checked_add(shape[d], operand->shape[d], &shape[d])) {
            return d;
        }
    }
    return operand->rank;
}

static tsr_status concatenate_types(const op_request *r, op_type *results)
{
    const concatenate_params *p = r->params;
    const op_type *first = &r->operands[0];
    int64_t *shape = op_new_shape(r, first->rank);
    if (first->rank == 0) {
        return OP_ERROR(r, "%s", "rank-0 values cannot be concatenated");
    }
    if (p->dimension < 0 || (uint64_t)p->dimension >= first->rank) {
        return OP_ERROR(r, "dimension %lld is out-of-bounds for input rank %zu",
                        (long long)p->dimension, first->rank);
    }
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    memcpy(shape, first->shape, first->rank * sizeof *shape);
    for (size_t i = 1; i < r->num_operands; i++) {
        const op_type *other = &r->operands[i];
        TSR_TRY(op_same_dtype(r, 0, i));
        if (other->rank != first->rank) {
            return OP_ERROR(r, "operands (0) and (%zu) do not match rank", i);
        }
        const size_t wrong = join_shape(shape, (size_t)p->dimension, other);
        if (wrong < first->rank) {
            return OP_ERROR(
                r,
                "shapes of operand (0) and (%zu) are not compatible at non-concat index "
                "%zu: (%s) != (%s)",
                i, wrong, op_ints_text(first->shape, first->rank).text,
                op_ints_text(other->shape, other->rank).text);
        }
    }
    results[0] = (op_type){.dtype = first->dtype, .rank = first->rank, .shape = shape};
    return TSR_OK;
}

/*
 * Whether parts of one value are put side by side again: every operand is a slice, or they are all
 * slices of one value or that value itself, with at least one slice.
 */
static bool joins_slices(const op_request *r)
{
    bool all = true;
    bool any = false;
    bool same = true;
    if (r->facts == NULL || r->facts->operands == NULL) {
        return false;
    }
    for (size_t i = 0; i < r->num_operands; i++) {
        const op_operand_fact *fact = &r->facts->operands[i];
        all = all && fact->is_slice;
        any = any || fact->is_slice;
        same = same && fact->source == r->facts->operands[0].source;
    }
    return all || (any && same);
}

static tsr_status concatenate_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                   const tsr_rule **out)
{
    const concatenate_params *p = r->params;
    const tsr_extents *operands = op_operand_extents(r, arena);
    const tsr_extents result = op_extents(&results[0]);
    const tsr_factor_kind kind =
        joins_slices(r) ? TSR_FACTOR_PERMUTATION : TSR_FACTOR_NEED_REPLICATION;
    if (operands == NULL) {
        return diag_nomem(r->ctx);
    }
    rule_builder b = rule_start(r->ctx, arena, operands, r->num_operands, &result, 1);
    for (size_t d = 0; d < result.rank; d++) {
        const bool joined = (int64_t)d == p->dimension;
        if (!joined || !op_is_conservative(r)) {
            rule_put_each(&b, d, rule_factor(&b, result.sizes[d], joined ? kind : PASS, false));
        }
    }
    return rule_finish(&b, out);
}

static void concatenate_run(const op_call *c, void *scratch)
{
    const concatenate_params *p = c->params;
    const op_array *to = &c->results[0];
    size_t offset = 0;
    (void)scratch;
    for (size_t i = 0; i < c->num_operands; i++) {
        const tsr_view *from = &c->operands[i].view;
        op_copy_to(to, offset, to->view.strides, from, from->strides, from->shape);
        offset += (size_t)(from->shape[p->dimension] * to->view.strides[p->dimension]);
    }
}

static void concatenate_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const concatenate_params *p = v->params;
    int64_t start[OP_MAX_RANK] = {0};
    int64_t limit[OP_MAX_RANK];
    int64_t ones[OP_MAX_RANK];
    int64_t at = 0;
    for (size_t i = 0; i < v->num_operands; i++) {
        const op_type type = build_type(b, v->operands[i]);
        for (size_t d = 0; d < type.rank; d++) {
            limit[d] = type.shape[d];
            ones[d] = 1;
        }
        start[p->dimension] = at;
        at += type.shape[p->dimension];
        limit[p->dimension] = at;
        if (v->wanted[i]) {
            grads[i] = build_slice(b, v->cotangents[0], start, limit, ones);
        }
    }
}

const op_row op_concatenate = {.name = "concatenate",
                               .traits = OP_VARIADIC | OP_GRADIENT_BY_TYPE | OP_RULE_BY_OPERANDS,
                               .num_operands = 1,
                               .num_results = 1,
                               .fields = &concatenate_fields,
                               .types = concatenate_types,
                               .rule = concatenate_rule,
                               .class_of = class_moves,
                               .run = concatenate_run,
                               .gradient = concatenate_gradient};

/* ---- pad ---- */

static const op_field pad_list[] = {OP_FIELD(pad_params, edge_padding_low, INTS),
                                    OP_FIELD(pad_params, edge_padding_high, INTS),
                                    OP_FIELD(pad_params, interior_padding, INTS)};
static const op_fields pad_fields = OP_FIELDS(pad_params, pad_list);

/* The extent of one dimension; unknown where the operand's is. */
static tsr_status pad_extent(const op_request *r, size_t d, int64_t *extent)
{
    const pad_params *p = r->params;
    const op_type *operand = &r->operands[0];
    const int64_t low = p->edge_padding_low.values[d];
    const int64_t high = p->edge_padding_high.values[d];
    const int64_t interior = p->interior_padding.values[d];
    const int64_t rows = operand->shape[d];
    int64_t size = 0;
    int64_t edges = 0;
    if (interior < 0) {
        return OP_ERROR(r, "Interior padding cannot be negative: %lld", (long long)interior);
    }
    const bool fits =
        interior < INT64_MAX && low > INT64_MIN && high > INT64_MIN &&
        (rows == TSR_UNKNOWN ||
         (checked_mul(max_i64(rows - 1, 0), interior, &size) && checked_add(size, rows, &size) &&
          checked_add(low, high, &edges) && checked_add(size, edges, &size) && size >= 0));
    if (!fits) {
        return OP_ERROR(r, "Padding result in negative size for dimension %zu", d);
    }
    *extent = rows == TSR_UNKNOWN ? TSR_UNKNOWN : size;
    return TSR_OK;
}

static tsr_status pad_types(const op_request *r, op_type *results)
{
    const pad_params *p = r->params;
    const op_type *operand = &r->operands[0];
    const size_t rank = operand->rank;
    int64_t *shape = op_new_shape(r, rank);
    TSR_TRY(op_same_dtype(r, 0, 1));
    if (r->operands[1].rank != 0) {
        return OP_ERROR(r, "the value to pad with must be a scalar, not %s",
                        op_type_text(&r->operands[1]).text);
    }
    if (p->edge_padding_low.count != rank || p->edge_padding_high.count != rank ||
        p->interior_padding.count != rank) {
        return OP_ERROR(r, "edge_padding_low length (%zu) must match operand rank (%zu)",
                        p->edge_padding_low.count, rank);
    }
    if (shape == NULL) {
        return diag_nomem(r->ctx);
    }
    for (size_t d = 0; d < rank; d++) {
        TSR_TRY(pad_extent(r, d, &shape[d]));
    }
    results[0] = (op_type){.dtype = operand->dtype, .rank = rank, .shape = shape};
    return TSR_OK;
}

/* Whether a dimension is as it was. */
static bool is_kept(const pad_params *p, size_t d)
{
    return p->edge_padding_low.values[d] == 0 && p->edge_padding_high.values[d] == 0 &&
           p->interior_padding.values[d] == 0;
}

/* Padding before and after may cancel out: rows move although the rule sees equal sizes. */
static void pad_local(const op_request *r, const op_type *results, const tsr_rule *rule,
                      bool *whole)
{
    (void)results;
    for (size_t d = 0; d < r->operands[0].rank; d++) {
        if (!is_kept(r->params, d)) {
            whole[tsr_rule_operand(rule, 0)->dims[d].factors[0]] = true;
        }
    }
}

/* The rows of a dimension that land in the result: the first, how many, and where. */
static void landing(const op_call *c, size_t d, int64_t *first, int64_t *count, int64_t *where)
{
    const pad_params *p = c->params;
    const int64_t rows = c->operands[0].view.shape[d];
    const int64_t step = p->interior_padding.values[d] + 1;
    const int64_t low = p->edge_padding_low.values[d];
    *first = low < 0 ? ceil_div(-low, step) : 0;
    *count = 0;
    if (*first >= rows) { /* all of them are taken away, however far that goes */
        return;
    }
    *where = low + *first * step;
    const int64_t room = c->results[0].view.shape[d] - *where;
    *count = room > 0 ? min_i64(rows - *first, ceil_div(room, step)) : 0;
}

static void pad_run(const op_call *c, void *scratch)
{
    const pad_params *p = c->params;
    const op_array *to = &c->results[0];
    tsr_view from = c->operands[0].view;
    int64_t strides[OP_MAX_RANK];
    int64_t shape[OP_MAX_RANK];
    int64_t offset = 0;
    (void)scratch;
    kernel_fill(&to->view, c->operands[1].view.data);
    for (size_t d = 0; d < to->view.rank; d++) {
        int64_t first = 0;
        int64_t where = 0;
        if (is_kept(p, d)) {
            strides[d] = to->view.strides[d];
            shape[d] = from.shape[d];
            continue;
        }
        landing(c, d, &first, &shape[d], &where);
        if (shape[d] == 0) {
            return;
        }
        strides[d] = stride_of(to->view.strides[d], p->interior_padding.values[d] + 1, shape[d]);
        offset += where * to->view.strides[d];
        from.data = (char *)from.data + first * from.strides[d];
    }
    op_copy_to(to, (size_t)offset, strides, &from, from.strides, shape);
}

static op_value *sum_of_all(op_builder *b, op_value *x)
{
    int64_t all[OP_MAX_RANK];
    const size_t rank = build_type(b, x).rank;
    for (size_t d = 0; d < rank; d++) {
        all[d] = (int64_t)d;
    }
    return build_fold(b, OP_BODY_SUM, x, (op_ints){rank, all});
}

/* Without the border, which negative padding takes away; then every so many elements. */
static void pad_gradient(op_builder *b, const op_vjp *v, op_value **grads)
{
    const pad_params *p = v->params;
    const op_type type = build_type(b, v->operands[0]);
    int64_t low[OP_MAX_RANK];
    int64_t high[OP_MAX_RANK];
    int64_t steps[OP_MAX_RANK];
    int64_t limit[OP_MAX_RANK];
    const int64_t zeros[OP_MAX_RANK] = {0};
    for (size_t d = 0; d < type.rank; d++) {
        const int64_t rows = type.shape[d];
        low[d] = -p->edge_padding_low.values[d];
        high[d] = -p->edge_padding_high.values[d];
        steps[d] = p->interior_padding.values[d] + 1;
        limit[d] = rows + max_i64(rows - 1, 0) * p->interior_padding.values[d];
    }
    op_value *inner = build_pad(b, v->cotangents[0], low, high, zeros);
    op_value *own = build_slice(b, inner, zeros, limit, steps);
    if (v->wanted[0]) {
        grads[0] = own;
    }
    if (v->wanted[1]) {
        grads[1] =
            build_binary(b, BINARY_SUBTRACT, sum_of_all(b, v->cotangents[0]), sum_of_all(b, own));
    }
}

const op_row op_pad = {.name = "pad",
                       .traits = OP_GRADIENT_BY_TYPE,
                       .num_operands = 2,
                       .num_results = 1,
                       .fields = &pad_fields,
                       .types = pad_types,
                       .rule = mismatch_rule,
                       .local = pad_local,
                       .class_of = class_moves,
                       .run = pad_run,
                       .gradient = pad_gradient};

/* ---- dynamic_slice, dynamic_update_slice ---- */

static const op_field dynamic_slice_list[] = {OP_FIELD(dynamic_slice_params, slice_sizes, INTS)};
static const op_fields dynamic_slice_fields = OP_FIELDS(dynamic_slice_params, dynamic_slice_list);

static tsr_status dynamic_slice_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                                     const tsr_rule **out)
{
    return op_rule_mismatch(r, results, arena, TSR_FACTOR_NEED_REPLICATION, true, out);
}

const op_row op_dynamic_slice = {.name = "dynamic_slice",
                                 .traits = OP_VARIADIC | OP_PASSES_FORWARD,
                                 .num_operands = 1,
                                 .num_results = 1,
                                 .fields = &dynamic_slice_fields,
                                 .rule = dynamic_slice_rule,
                                 .supports = dynamic_slice_supports,
                                 .run = dynamic_slice_run};

/* Whether all indices are known when a program is compiled. */
static bool has_constant_indices(const op_request *r)
{
    bool all = r->facts != NULL && r->facts->operands != NULL;
    for (size_t i = 2; all && i < r->num_operands; i++) {
        all = r->facts->operands[i].is_constant;
    }
    return all;
}

/* Where the update is smaller than the operand it is whole, unless it is known where it goes. */
static tsr_status dynamic_update_slice_rule(const op_request *r, const op_type *results,
                                            tsr_arena *arena, const tsr_rule **out)
{
    const op_type *operand = &r->operands[0];
    const op_type *update = &r->operands[1];
    const tsr_factor_kind kind = has_constant_indices(r) ? PASS : TSR_FACTOR_NEED_REPLICATION;
    if (update->rank != operand->rank || results[0].rank != operand->rank ||
        !op_each_has_rank(r, results, operand->rank)) {
        return TSR_NOT_APPLICABLE;
    }
    rule_builder b = op_rule_start(r, results, arena);
    for (size_t d = 0; d < operand->rank; d++) {
        const size_t factor = rule_factor(&b, operand->shape[d], PASS, false);
        if (operand->shape[d] == update->shape[d]) {
            rule_put_each(&b, d, factor);
            continue;
        }
        rule_map(&b, 0, d, factor);
        rule_map(&b, r->num_operands, d, factor);
        rule_map(&b, 1, d, rule_factor(&b, update->shape[d], kind, false));
    }
    return rule_finish(&b, out);
}

const op_row op_dynamic_update_slice = {.name = "dynamic_update_slice",
                                        .traits =
                                            OP_VARIADIC | OP_RULE_BY_OPERANDS | OP_PASSES_FORWARD,
                                        .num_operands = 2,
                                        .num_results = 1,
                                        .rule = dynamic_update_slice_rule,
                                        .supports = dynamic_update_slice_supports,
                                        .run = dynamic_update_slice_run};

/* ---- reverse ---- */

static const op_field reverse_list[] = {OP_FIELD(reverse_params, dimensions, INTS)};
static const op_fields reverse_fields = OP_FIELDS(reverse_params, reverse_list);

static tsr_status reverse_rule(const op_request *r, const op_type *results, tsr_arena *arena,
                               const tsr_rule **out)
{
    const reverse_params *p = r->params;
    tsr_factor factors[OP_MAX_RANK];
    for (size_t d = 0; d < results[0].rank; d++) {
        const bool reversed = op_ints_have(p->dimensions, d);
        factors[d] =
            (tsr_factor){results[0].shape[d], reversed ? TSR_FACTOR_PERMUTATION : PASS, false};
    }
    return op_rule_each(r, results, arena, factors, results[0].rank, out);
}

const op_row op_reverse = {.name = "reverse",
                           .num_operands = 1,
                           .num_results = 1,
                           .fields = &reverse_fields,
                           .rule = reverse_rule,
                           .supports = reverse_supports,
                           .run = reverse_run};

static const op_row *const rows[] = {&op_slice,         &op_concatenate,          &op_pad,
                                     &op_dynamic_slice, &op_dynamic_update_slice, &op_reverse};
const op_family family_slice = {rows, sizeof rows / sizeof rows[0]};
