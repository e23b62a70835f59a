/* Products, reductions, and what is made of them. */
#include <math.h>
#include <string.h>

#include "reference.h"
#include "support.h"

static int64_t wrapped_product(tsr_dtype dtype, int64_t x, int64_t y)
{
    return ref_wrap(dtype, (uint64_t)x * (uint64_t)y);
}

/* A sum of truth values is an OR. */
static int64_t wrapped_sum(tsr_dtype dtype, int64_t x, int64_t y)
{
    return dtype == TSR_I1 ? x | y : ref_wrap(dtype, (uint64_t)x + (uint64_t)y);
}

/* ---- products ---- */

/* The names of dimensions, each once, with their sizes and a value while one loops over all. */
typedef struct named {
    size_t count;
    char names[16];
    int64_t shape[16];
    int64_t index[16];
} named;

static size_t find_name(const named *n, char name)
{
    size_t i = 0;
    while (i < n->count && n->names[i] != name) {
        i++;
    }
    return i;
}

static void add_name(named *n, char name, int64_t size)
{
    const size_t i = find_name(n, name);
    assert_true(i < 16);
    n->names[i] = name;
    n->shape[i] = size;
    n->index[i] = 0;
    n->count += i == n->count;
}

static int64_t named_place(const named *n, const ref_array *x, const char *names)
{
    int64_t index[REF_DIMS];
    for (size_t d = 0; d < x->rank; d++) {
        index[d] = n->index[find_name(n, names[d])];
    }
    return ref_place(x, index);
}

/* The next of all combinations; false after the last. */
static bool next_named(named *n)
{
    for (size_t i = n->count; i > 0; i--) {
        if (++n->index[i - 1] < n->shape[i - 1]) {
            return true;
        }
        n->index[i - 1] = 0;
    }
    return false;
}

static bool has_nothing(const named *n)
{
    for (size_t i = 0; i < n->count; i++) {
        if (n->shape[i] == 0) {
            return true;
        }
    }
    return false;
}

ref_array ref_einsum(tsr_arena *arena, const char *const *names, const char *result,
                     const ref_array *operands, size_t num_operands)
{
    named n = {0};
    int64_t shape[REF_DIMS] = {0};
    const size_t rank = strlen(result);
    for (size_t i = 0; i < num_operands; i++) {
        for (size_t d = 0; d < operands[i].rank; d++) {
            add_name(&n, names[i][d], operands[i].shape[d]);
        }
    }
    for (size_t d = 0; d < rank; d++) {
        shape[d] = n.shape[find_name(&n, result[d])];
    }
    ref_array y = ref_new(arena, operands[0].dtype, rank, shape);
    for (bool more = !has_nothing(&n); more; more = next_named(&n)) {
        ref_number product = {.f = 1, .i = 1};
        for (size_t i = 0; i < num_operands; i++) {
            const ref_number x = operands[i].at[named_place(&n, &operands[i], names[i])];
            product.f *= x.f;
            product.i = wrapped_product(y.dtype, product.i, x.i);
        }
        ref_number *to = &y.at[named_place(&n, &y, result)];
        to->f += product.f;
        to->scale += fabs(product.f);
        to->i = wrapped_sum(y.dtype, to->i, product.i);
    }
    return y;
}

/* ---- reductions ---- */

static ref_number first_of(tsr_dtype dtype, ref_reduction reduction)
{
    switch (reduction) {
    case REF_MAX:
        return (ref_number){.f = -INFINITY, .i = ref_least(dtype)};
    case REF_MIN:
        return (ref_number){.f = INFINITY, .i = ref_greatest(dtype)};
    case REF_PROD:
        return (ref_number){.f = 1, .i = 1};
    case REF_ALL:
        return (ref_number){.i = ref_wrap(dtype, UINT64_MAX)};
    default:
        return (ref_number){0};
    }
}

static double fold_float(ref_reduction reduction, double x, double y)
{
    switch (reduction) {
    case REF_MAX:
        return isnan(x) || x > y ? x : y;
    case REF_MIN:
        return isnan(x) || x < y ? x : y;
    case REF_PROD:
        return x * y;
    default:
        return x + y;
    }
}

static int64_t fold_integer(tsr_dtype dtype, ref_reduction reduction, int64_t x, int64_t y)
{
    switch (reduction) {
    case REF_MAX:
        return x > y ? x : y;
    case REF_MIN:
        return x < y ? x : y;
    case REF_PROD:
        return wrapped_product(dtype, x, y);
    case REF_ALL:
        return x & y;
    case REF_ANY:
        return x | y;
    default:
        return wrapped_sum(dtype, x, y);
    }
}

static bool is_listed(const size_t *dims, size_t num_dims, size_t dim)
{
    for (size_t i = 0; i < num_dims; i++) {
        if (dims[i] == dim) {
            return true;
        }
    }
    return false;
}

/* The index without some dimensions; returns how many are left. */
static size_t without(const int64_t *from, size_t rank, const size_t *dims, size_t num_dims,
                      int64_t *to)
{
    size_t left = 0;
    for (size_t d = 0; d < rank; d++) {
        if (!is_listed(dims, num_dims, d)) {
            to[left++] = from[d];
        }
    }
    return left;
}

ref_array ref_reduce(tsr_arena *arena, const ref_array *x, const size_t *dims, size_t num_dims,
                     ref_reduction reduction)
{
    int64_t index[REF_DIMS];
    int64_t left[REF_DIMS];
    const size_t rank = without(x->shape, x->rank, dims, num_dims, left);
    ref_array y = ref_new(arena, x->dtype, rank, left);
    for (int64_t k = 0; k < y.count; k++) {
        y.at[k] = first_of(x->dtype, reduction);
    }
    for (int64_t k = 0; k < x->count; k++) {
        ref_index(x, k, index);
        (void)without(index, x->rank, dims, num_dims, left);
        ref_number *to = &y.at[ref_place(&y, left)];
        to->f = fold_float(reduction, to->f, x->at[k].f);
        to->i = fold_integer(x->dtype, reduction, to->i, x->at[k].i);
        to->scale += reduction == REF_SUM || reduction == REF_MEAN ? fabs(x->at[k].f) : 0;
    }
    const int64_t terms = y.count > 0 ? x->count / y.count : 0;
    for (int64_t k = 0; reduction == REF_MEAN && k < y.count; k++) {
        y.at[k].f /= (double)terms;
        y.at[k].scale /= (double)terms;
    }
    return y;
}

/* ---- along a dimension ---- */

/* The elements along a dimension through the one at a place, whose own position is returned. */
static int64_t line_of(const ref_array *x, size_t dim, int64_t place, ref_number *line)
{
    int64_t index[REF_DIMS];
    ref_index(x, place, index);
    const int64_t position = index[dim];
    for (int64_t k = 0; k < x->shape[dim]; k++) {
        index[dim] = k;
        line[k] = x->at[ref_place(x, index)];
    }
    return position;
}

enum { LONGEST = 64 };

/* A result without the dimension, and the elements that one of its places is made of. */
static ref_array new_without(tsr_arena *arena, tsr_dtype dtype, const ref_array *x, size_t dim)
{
    int64_t left[REF_DIMS];
    return ref_new(arena, dtype, without(x->shape, x->rank, &dim, 1, left), left);
}

static void line_at(const ref_array *x, size_t dim, const ref_array *y, int64_t place,
                    ref_number *line)
{
    int64_t left[REF_DIMS];
    int64_t index[REF_DIMS];
    ref_index(y, place, left);
    for (size_t d = 0; d < x->rank; d++) {
        index[d] = d == dim ? 0 : left[d - (d > dim)];
    }
    if (x->shape[dim] > 0) {
        (void)line_of(x, dim, ref_place(x, index), line);
    }
}

static bool is_greater(tsr_dtype dtype, ref_number x, ref_number y)
{
    if (!ref_is_float(dtype)) {
        return x.i > y.i;
    }
    return isnan(x.f) ? !isnan(y.f) : x.f > y.f;
}

ref_array ref_argmax(tsr_arena *arena, const ref_array *x, size_t dim)
{
    ref_number line[LONGEST] = {0};
    ref_array y = new_without(arena, TSR_I64, x, dim);
    for (int64_t k = 0; k < y.count; k++) {
        line_at(x, dim, &y, k, line);
        for (int64_t i = 1; i < x->shape[dim]; i++) {
            y.at[k].i = is_greater(x->dtype, line[i], line[y.at[k].i]) ? i : y.at[k].i;
        }
    }
    return y;
}

ref_array ref_cumsum(tsr_arena *arena, const ref_array *x, size_t dim)
{
    ref_number line[LONGEST] = {0};
    ref_array y = ref_new(arena, x->dtype, x->rank, x->shape);
    for (int64_t k = 0; k < y.count; k++) {
        const int64_t position = line_of(x, dim, k, line);
        for (int64_t i = 0; i <= position; i++) {
            y.at[k].f += line[i].f;
            y.at[k].scale += fabs(line[i].f);
            y.at[k].i = wrapped_sum(x->dtype, y.at[k].i, line[i].i);
        }
    }
    return y;
}

/* ---- of several ops ---- */

static double most_of(const ref_number *line, int64_t size)
{
    double most = -INFINITY;
    for (int64_t i = 0; i < size; i++) {
        most = line[i].f > most ? line[i].f : most;
    }
    return isinf(most) ? 0 : most;
}

/*
 * The numbers are small enough for e^x as it stands. An error of x - max, which is relative to
 * that, is a relative error of its power: so the scale has the distances from the greatest.
 */
ref_array ref_softmax(tsr_arena *arena, const ref_array *x, size_t dim)
{
    ref_number line[LONGEST] = {0};
    ref_array y = ref_new(arena, x->dtype, x->rank, x->shape);
    for (int64_t k = 0; k < y.count; k++) {
        const int64_t position = line_of(x, dim, k, line);
        const double most = most_of(line, x->shape[dim]);
        double sum = 0;
        double apart = 0;
        for (int64_t i = 0; i < x->shape[dim]; i++) {
            const double e = exp(line[i].f);
            sum += e;
            apart += e > 0 ? e * (most - line[i].f) : 0;
        }
        const double e = exp(line[position].f);
        y.at[k].f = e / sum;
        y.at[k].scale = e > 0 ? e / sum * (1 + apart / sum + most - line[position].f) : 0;
    }
    return y;
}

static double log_of_sum(const ref_number *line, int64_t size)
{
    double sum = 0;
    for (int64_t i = 0; i < size; i++) {
        sum += exp(line[i].f);
    }
    return log(sum);
}

static double largest_of(const ref_number *line, int64_t size)
{
    double largest = 0;
    for (int64_t i = 0; i < size; i++) {
        largest = fabs(line[i].f) > largest && !isinf(line[i].f) ? fabs(line[i].f) : largest;
    }
    return largest;
}

ref_array ref_logsumexp(tsr_arena *arena, const ref_array *x, size_t dim)
{
    ref_number line[LONGEST] = {0};
    ref_array y = new_without(arena, x->dtype, x, dim);
    for (int64_t k = 0; k < y.count; k++) {
        line_at(x, dim, &y, k, line);
        y.at[k].f = log_of_sum(line, x->shape[dim]);
        y.at[k].scale = 1 + 2 * largest_of(line, x->shape[dim]);
    }
    return y;
}

ref_array ref_layer_norm(tsr_arena *arena, const ref_array *x, const ref_array *scale,
                         const ref_array *bias, double epsilon)
{
    ref_number line[LONGEST] = {0};
    ref_array y = ref_new(arena, x->dtype, x->rank, x->shape);
    const int64_t size = x->shape[x->rank - 1];
    for (int64_t k = 0; k < y.count; k++) {
        const int64_t at = line_of(x, x->rank - 1, k, line);
        double mean = 0;
        double variance = 0;
        for (int64_t i = 0; i < size; i++) {
            mean += line[i].f / (double)size;
        }
        for (int64_t i = 0; i < size; i++) {
            variance += (line[i].f - mean) * (line[i].f - mean) / (double)size;
        }
        const double root = sqrt(variance + epsilon);
        const double times = scale != NULL ? scale->at[at].f : 1;
        const double plus = bias != NULL ? bias->at[at].f : 0;
        const double norm = (line[at].f - mean) / root;
        y.at[k].f = norm * times + plus;
        y.at[k].scale = largest_of(line, size) / root * (1 + fabs(norm)) * fabs(times) + fabs(plus);
    }
    return y;
}

ref_array ref_rms_norm(tsr_arena *arena, const ref_array *x, const ref_array *scale, double epsilon)
{
    ref_number line[LONGEST] = {0};
    ref_array y = ref_new(arena, x->dtype, x->rank, x->shape);
    const int64_t size = x->shape[x->rank - 1];
    for (int64_t k = 0; k < y.count; k++) {
        const int64_t at = line_of(x, x->rank - 1, k, line);
        double square = 0;
        for (int64_t i = 0; i < size; i++) {
            square += line[i].f * line[i].f / (double)size;
        }
        y.at[k].f = line[at].f / sqrt(square + epsilon) * (scale != NULL ? scale->at[at].f : 1);
    }
    return y;
}

ref_array ref_cross_entropy(tsr_arena *arena, const ref_array *logits, const ref_array *labels,
                            int64_t ignored)
{
    ref_number line[LONGEST] = {0};
    const size_t dim = logits->rank - 1;
    ref_array y = new_without(arena, logits->dtype, logits, dim);
    for (int64_t k = 0; k < y.count; k++) {
        const int64_t label = labels->at[k].i;
        if (label == ignored) {
            continue;
        }
        if (label < 0 || label >= logits->shape[dim]) {
            y.at[k].f = NAN;
            continue;
        }
        line_at(logits, dim, &y, k, line);
        y.at[k].f = log_of_sum(line, logits->shape[dim]) - line[label].f;
        y.at[k].scale = 1 + 3 * largest_of(line, logits->shape[dim]);
    }
    return y;
}
