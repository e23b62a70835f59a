#include "fact_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"

/* ---- classes ---- */

static const char *const linear_names =
    " linear add sub subtract rsub neg negative positive clone copy sum mean cumsum cat concat "
    "concatenate stack vstack hstack dstack column_stack row_stack flatten ravel unflatten view_as "
    "reshape_as expand_as transpose t T mT adjoint permute movedim moveaxis swapaxes swapdims "
    "squeeze unsqueeze broadcast_to chunk unsafe_chunk unbind flip fliplr flipud rot90 reverse "
    "diagonal diag diag_embed diagflat trace tril triu tile contiguous detach unfold zeros_like "
    "empty_like real imag conj diff to type_as float double half bfloat16 cpu cuda alias "
    "atleast_1d atleast_2d atleast_3d hsplit vsplit dsplit tensor_split split_with_sizes "
    "as_strided "
    "block_diag repeat_interleave zero constant_pad_nd pad avg_pool1d avg_pool2d pixel_shuffle "
    "fft ifft rfft view_as_real view_as_complex sum_to_size cumulative_trapezoid trapezoid "
    "requires_grad nested_sum ";
static const char *const multilinear_names =
    " multilinear mul multiply matmul mm bmm mv dot vdot inner outer ger einsum tensordot kron "
    "nn.functional.linear multi_dot chain_matmul bilinear cross conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d ";

/* Ops whose arguments are of different classes. */
static const struct {
    const char *name;
    const char *classes; /* N, L or M for each argument; the last one goes on */
} mixed[] = {{"reshape", "LN"},      {"view", "LN"},         {"expand", "LN"},
             {"select", "LN"},       {"slice", "LN"},        {"split", "LN"},
             {"roll", "LN"},         {"repeat", "LN"},       {"div", "MN"},
             {"divide", "MN"},       {"true_divide", "MN"},  {"narrow", "LN"},
             {"narrow_copy", "LN"},  {"gather", "LN"},       {"where", "NL"},
             {"index_select", "LN"}, {"take", "LN"},         {"take_along_dim", "LN"},
             {"embedding", "NL"},    {"masked_fill", "LN"},  {"masked_select", "LN"},
             {"index_add", "LNNL"},  {"index_copy", "LNNL"}, {"scatter_add", "LNNL"},
             {"lerp", "LLN"},        {"getitem", "LN"},      {"unflatten", "LN"}};

bool is_listed(const char *names, const char *name)
{
    char word[64];
    (void)snprintf(word, sizeof word, " %s ", name);
    return strstr(names, word) != NULL;
}

/* Of a name, or of "breaks" for a call that its arguments make nonlinear. */
static tsr_op_class class_of(void *state, size_t operand, tsr_reduction pending)
{
    const char *name = state;
    (void)pending;
    for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++) {
        if (strcmp(mixed[i].name, name) == 0) {
            const size_t last = strlen(mixed[i].classes) - 1;
            const char letter = mixed[i].classes[operand < last ? operand : last];
            return letter == 'N' ? TSR_NONLINEAR : letter == 'L' ? TSR_LINEAR : TSR_MULTILINEAR;
        }
    }
    return is_listed(linear_names, name)        ? TSR_LINEAR
           : is_listed(multilinear_names, name) ? TSR_MULTILINEAR
                                                : TSR_NONLINEAR;
}

/*
 * What arguments make nonlinear: another element type that truncates, a division that rounds, a
 * fill other than 0.
 */
static bool arguments_break(const fact_call *call)
{
    static const char *const truncating[] = {"int", "long", "short", "bool", "uint8"};
    json_t *args = call->args;
    const char *text = strchr(call->text, '(');
    const char *dtype = json_string_value(json_object_get(args, "dtype"));
    json_t *fill = json_object_get(args, "value");
    const char *said = text != NULL ? strstr(text, "value=") : NULL;
    for (size_t i = 0; i < sizeof truncating / sizeof truncating[0]; i++) {
        if ((text != NULL && strstr(text, truncating[i]) != NULL) ||
            (dtype != NULL && strstr(dtype, truncating[i]) != NULL) ||
            strcmp(call->name, truncating[i]) == 0) {
            return true;
        }
    }
    if (strncmp(call->name, "div", 3) == 0) {
        return json_is_string(json_object_get(args, "rounding_mode")) ||
               strstr(call->text, "rounding") != NULL;
    }
    if (strcmp(call->name, "masked_fill") != 0) {
        return false;
    }
    fill = fill == NULL ? json_object_get(args, "fill") : fill;
    fill = fill == NULL ? call->number : fill;
    said = said != NULL ? said + 6 : text != NULL ? text + 1 : NULL;
    return fill != NULL ? json_number_value(fill) != 0 : said != NULL && strtod(said, NULL) != 0;
}

/* ---- names ---- */

void fact_call_name(fact_call *call, const char *text)
{
    static const char *const modules[] = {"torch.", "aten.",       "ops.", "Tensor.",
                                          "nn.",    "functional.", "F.",   "special."};
    const char *at = text;
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        at += strncmp(at, modules[i], strlen(modules[i])) == 0 ? strlen(modules[i]) : 0;
    }
    at += strncmp(at, "__", 2) == 0 ? 2 : 0;
    size_t size = strcspn(at, at > text ? "( ,." : "( ,");
    size = size < sizeof call->name ? size : sizeof call->name - 1;
    memcpy(call->name, at, size);
    while (size > 0 && at[size - 1] == '_') {
        size--;
    }
    call->name[size] = '\0';
    call->text = text;
    if (strcmp(call->name, "linear") == 0 && call->class == NULL) {
        (void)snprintf(call->name, sizeof call->name, "nn.functional.linear");
    }
}

/* ---- typing ---- */

static bool is(const fact_call *call, const char *name)
{
    return strcmp(call->name, name) == 0;
}

static tsr_status make_call(const fact *f, const fact_call *call, const tsr_rule *rule,
                            tsr_typed_call *out)
{
    char *name = tsr_arena_alloc(f->arena, sizeof call->name);
    if (name == NULL) {
        return diag_nomem(f->ctx);
    }
    (void)snprintf(name, sizeof call->name, "%s",
                   call->class != NULL     ? call->class
                   : arguments_break(call) ? "breaks"
                                           : call->name);
    *out = (tsr_typed_call){.name = name,
                            .mesh = f->mesh,
                            .num_operands = call->num_operands,
                            .operands = call->operands,
                            .class_of = call->unknown ? NULL : class_of,
                            .state = name,
                            .global = call->global,
                            .rule = rule,
                            .out_partial = call->out_partial,
                            .implicit_partial =
                                call->implicit_partial &&
                                !is_listed(" mean amax amin max min prod ", call->name),
                            .strict = call->strict,
                            .required = call->required};
    return TSR_OK;
}

static tsr_status infer_one(const fact *f, const fact_call *call, const tsr_type **out)
{
    const tsr_type *results[FACT_MOST];
    const tsr_rule *rule = NULL;
    tsr_typed_call typed;
    if (call->global.bits != 0) {
        TSR_TRY(fact_rule(f, call, &rule));
    }
    TSR_TRY(make_call(f, call, rule, &typed));
    TSR_TRY(tsr_type_infer(f->ctx, f->arena, &typed, results));
    *out = results[0];
    return TSR_OK;
}

/* The product within an op that adds to one, by its name. */
static const char *product_name(const fact_call *call)
{
    static const struct {
        const char *name;
        const char *product;
    } rows[] = {{"addmm", "mm"},   {"addmv", "mv"},    {"baddbmm", "bmm"},
                {"addr", "outer"}, {"addcdiv", "div"}, {"nn.functional.linear", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (is(call, rows[i].name)) {
            return rows[i].product != NULL ? rows[i].product : call->name;
        }
    }
    return "mul";
}

/* The shape of a product: the dimensions of the first but the last, and the free one of the other.
 */
static size_t product_shape(const fact_call *product, bool local, int64_t *out)
{
    const tsr_typed_shape *a = &product->operands[0];
    const tsr_typed_shape *b = &product->operands[1];
    const int64_t *of_a = local ? a->local : a->shape;
    const int64_t *of_b = local ? b->local : b->shape;
    const bool outer = is(product, "outer");
    const bool whole = is(product, "mul") || is(product, "div");
    size_t rank = 0;
    for (size_t d = 0; d + (outer || whole ? 0 : 1) < a->rank; d++) {
        out[rank++] = of_a[d];
    }
    if (!whole && !is(product, "mv") && b->rank > 0) {
        const bool turned = is(product, "nn.functional.linear");
        out[rank++] = of_b[turned ? 0 : b->rank - 1];
    }
    return rank;
}

/* One that adds its operand `bias` to the product of the two others. */
static tsr_status infer_added(const fact *f, const fact_call *call, size_t bias,
                              const tsr_type **out)
{
    fact_call product = *call;
    fact_call sum = *call;
    int64_t shapes[2][FACT_MOST];
    (void)snprintf(product.name, sizeof product.name, "%s", product_name(call));
    (void)snprintf(sum.name, sizeof sum.name, "add");
    product.num_operands = sum.num_operands = 2;
    product.operands[0] = call->operands[bias == 0 ? 1 : 0];
    product.operands[1] = call->operands[bias == 2 ? 1 : 2];
    sum.operands[0] = call->operands[bias];
    sum.operands[1] = call->operands[bias];
    sum.operands[1].rank = product_shape(&product, false, shapes[0]);
    (void)product_shape(&product, true, shapes[1]);
    sum.operands[1].shape = shapes[0];
    sum.operands[1].local = shapes[1];
    TSR_TRY(infer_one(f, &product, &sum.operands[1].type));
    return infer_one(f, &sum, out);
}

/* A new dimension in each operand, then a concatenation. */
static tsr_status infer_stack(const fact *f, const fact_call *call, const tsr_type **out)
{
    fact_call cat = *call;
    int64_t shapes[FACT_MOST][2][FACT_MOST];
    const size_t rank = call->operands[0].rank;
    const int64_t said = fact_argument(call, "dim", 0, 0);
    const size_t dim = (size_t)(said < 0 ? said + (int64_t)rank + 1 : said);
    (void)snprintf(cat.name, sizeof cat.name, "cat");
    for (size_t i = 0; i < call->num_operands; i++) {
        fact_call one = *call;
        json_t *to = json_array();
        const tsr_typed_shape *o = &call->operands[i];
        for (size_t d = 0; d <= rank; d++) {
            const size_t from = d > dim ? d - 1 : d;
            shapes[i][0][d] = d == dim ? 1 : o->shape[from];
            shapes[i][1][d] = d == dim ? 1 : o->local[from];
            (void)json_array_append_new(to, json_integer(shapes[i][1][d]));
        }
        (void)snprintf(one.name, sizeof one.name, "reshape");
        one.num_operands = 1;
        one.operands[0] = *o;
        one.reshape = to;
        const tsr_status status = infer_one(f, &one, &cat.operands[i].type);
        json_decref(to);
        TSR_TRY(status);
        cat.operands[i].rank = rank + 1;
        cat.operands[i].shape = shapes[i][0];
        cat.operands[i].local = shapes[i][1];
    }
    return infer_one(f, &cat, out);
}

tsr_status fact_infer(const fact *f, const fact_call *call, const tsr_type **out)
{
    if (is_listed(" addmm addmv baddbmm addbmm addr addcmul addcdiv ", call->name)) {
        return infer_added(f, call, 0, out);
    }
    if (is(call, "nn.functional.linear") && call->num_operands == 3) {
        return infer_added(f, call, 2, out);
    }
    if (is(call, "stack") && call->global.bits != 0) {
        return infer_stack(f, call, out);
    }
    return infer_one(f, call, out);
}

tsr_status fact_fixes(const fact *f, const fact_call *call, const tsr_fix **fixes, size_t *count)
{
    tsr_typed_call typed;
    TSR_TRY(make_call(f, call, NULL, &typed));
    return tsr_type_fixes(f->ctx, f->arena, &typed, fixes, count);
}
