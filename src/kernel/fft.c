#include "kernel/fft.h"

#include <math.h>

#include "base/base.h"
#include "kernel/copy.h"
#include "kernel/element_complex.h"

/* Factors up to this one are transformed by definition; what is left as a convolution. */
enum { MOST_RADIX = 13 };

/* ---- lines ---- */

/* A transform of lines of n numbers: its roots of unity, and room to work in. */
typedef struct line_plan {
    int64_t n;
    const number *roots; /* e^(-2 pi i k / n) */
    number *room;        /* of large factors: arrays of `padded` */
    int64_t padded;      /* a power of 2 */
    const number *padded_roots;
} line_plan;

static int64_t smallest_factor(int64_t n)
{
    if (n % 4 == 0) {
        return 4;
    }
    for (int64_t p = 2; p * p <= n; p++) {
        if (n % p == 0) {
            return p;
        }
    }
    return n;
}

/* What is left of a length without its small factors. */
static int64_t large_part(int64_t n)
{
    for (int64_t p = 2; p <= MOST_RADIX; p++) {
        while (n % p == 0) {
            n /= p;
        }
    }
    return n;
}

/* The length of the convolution that the large factors need; 0 where there are none. */
static int64_t padded_length(int64_t n)
{
    const int64_t large = large_part(n);
    int64_t length = 1;
    if (large == 1) {
        return 0;
    }
    while (length < 2 * large - 1) {
        length *= 2;
    }
    return length;
}

static void fill_roots(number *roots, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const double angle = -2 * M_PI * (double)k / (double)n;
        roots[k] = make_number(cos(angle), sin(angle));
    }
}

static inline number times(number a, number b)
{
    return make_number(creal(a) * creal(b) - cimag(a) * cimag(b),
                       creal(a) * cimag(b) + cimag(a) * creal(b));
}

static void transform(const line_plan *p, const number *roots, int64_t whole, const number *in,
                      int64_t stride, number *out, int64_t n);

/* Combines transforms of `radix` parts of m numbers each, side by side in `out`. */
static void combine(const number *roots, int64_t whole, number *out, int64_t radix, int64_t m)
{
    const int64_t step = whole / (radix * m);
    for (int64_t k = 0; k < m; k++) {
        number part[MOST_RADIX];
        for (int64_t q = 0; q < radix; q++) {
            part[q] = times(out[q * m + k], roots[q * k * step]);
        }
        for (int64_t r = 0; r < radix; r++) {
            number sum = part[0];
            for (int64_t q = 1; q < radix; q++) {
                sum += times(part[q], roots[q * r % radix * (whole / radix)]);
            }
            out[r * m + k] = sum;
        }
    }
}

/* The same of two parts. */
static void combine_two(const number *roots, int64_t whole, number *out, int64_t m)
{
    const int64_t step = whole / (2 * m);
    for (int64_t k = 0; k < m; k++) {
        const number odd = times(out[m + k], roots[k * step]);
        const number even = out[k];
        out[k] = even + odd;
        out[m + k] = even - odd;
    }
}

/* The same of four. */
static void combine_four(const number *roots, int64_t whole, number *out, int64_t m)
{
    const int64_t step = whole / (4 * m);
    for (int64_t k = 0; k < m; k++) {
        const number a = out[k];
        const number b = times(out[m + k], roots[k * step]);
        const number c = times(out[2 * m + k], roots[2 * k * step]);
        const number d = times(out[3 * m + k], roots[3 * k * step]);
        const number s = a + c;
        const number t = a - c;
        const number u = b + d;
        const number v = make_number(cimag(b) - cimag(d), creal(d) - creal(b));
        out[k] = s + u;
        out[m + k] = t + v;
        out[2 * m + k] = s - u;
        out[3 * m + k] = t - v;
    }
}

/* e^(-pi i k^2 / n), from the roots of twice the length. */
static number chirp(int64_t k, int64_t n)
{
    const int64_t turn =
        (int64_t)((unsigned __int128)k * (unsigned __int128)k % (unsigned __int128)(2 * n));
    const double angle = -M_PI * (double)turn / (double)n;
    return make_number(cos(angle), sin(angle));
}

/* A length without small factors as a convolution with a chirp (Bluestein). */
static void transform_large(const line_plan *p, const number *in, int64_t stride, number *out,
                            int64_t n)
{
    const int64_t m = p->padded;
    number *a = p->room;
    number *b = a + m;
    number *c = b + m;
    for (int64_t k = 0; k < m; k++) {
        a[k] = k < n ? times(in[k * stride], chirp(k, n)) : 0;
        b[k] = 0;
    }
    for (int64_t k = 0; k < n; k++) {
        b[k] = conj(chirp(k, n));
        b[k > 0 ? m - k : 0] = b[k];
    }
    transform(p, p->padded_roots, m, a, 1, c, m);
    transform(p, p->padded_roots, m, b, 1, a, m);
    for (int64_t k = 0; k < m; k++) {
        b[k] = conj(times(a[k], c[k]));
    }
    transform(p, p->padded_roots, m, b, 1, c, m);
    for (int64_t k = 0; k < n; k++) {
        const number convolved = make_number(creal(c[k]) / (double)m, -cimag(c[k]) / (double)m);
        out[k] = times(convolved, chirp(k, n));
    }
}

/* n numbers, `stride` apart, forward; `roots` are those of `whole`, a multiple of n. */
static void transform(const line_plan *p, const number *roots, int64_t whole, const number *in,
                      int64_t stride, number *out, int64_t n)
{
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    const int64_t radix = smallest_factor(n);
    if (radix > MOST_RADIX) {
        transform_large(p, in, stride, out, n);
        return;
    }
    const int64_t m = n / radix;
    for (int64_t q = 0; q < radix; q++) {
        transform(p, roots, whole, in + q * stride, stride * radix, out + q * m, m);
    }
    if (radix == 2) {
        combine_two(roots, whole, out, m);
    } else if (radix == 4) {
        combine_four(roots, whole, out, m);
    } else {
        combine(roots, whole, out, radix, m);
    }
}

/* ---- arrays ---- */

static int64_t total_of(const fft_job *job)
{
    int64_t total = 1;
    for (size_t i = 0; i < job->num_lengths; i++) {
        total *= job->lengths[i];
    }
    return total;
}

static int64_t longest(const fft_job *job)
{
    int64_t most = 1;
    for (size_t i = 0; i < job->num_lengths; i++) {
        most = max_i64(most, job->lengths[i]);
    }
    return most;
}

static int64_t most_padded(const fft_job *job)
{
    int64_t most = 0;
    for (size_t i = 0; i < job->num_lengths; i++) {
        most = max_i64(most, padded_length(job->lengths[i]));
    }
    return most;
}

/* The block, a line of it and its transform, roots; for large factors three arrays and roots. */
size_t kernel_fft_scratch(const fft_job *job)
{
    const int64_t numbers = total_of(job) + 3 * longest(job) + 4 * most_padded(job);
    return (size_t)numbers * sizeof(number);
}

/* What is the same for all blocks. */
typedef struct fft_work {
    const fft_job *job;
    number *block;
    number *line;
    number *result;
    number *roots;
    number *room;
} fft_work;

/* How far apart the numbers of a line along a dimension of the block are. */
static int64_t block_stride(const fft_job *job, size_t dim)
{
    int64_t stride = 1;
    for (size_t i = dim + 1; i < job->num_lengths; i++) {
        stride *= job->lengths[i];
    }
    return stride;
}

/* Transforms all lines of a dimension of the block. An inverse is the conjugate of the transform of
 * the conjugate. */
static void transform_dim(const fft_work *w, size_t dim, bool inverse)
{
    const int64_t n = w->job->lengths[dim];
    const int64_t total = total_of(w->job);
    const int64_t stride = block_stride(w->job, dim);
    line_plan plan = {.n = n, .roots = w->roots, .padded = padded_length(n), .room = w->room};
    fill_roots(w->roots, n);
    if (plan.padded > 0) {
        number *roots = w->room + 3 * plan.padded;
        fill_roots(roots, plan.padded);
        plan.padded_roots = roots;
    }
    for (int64_t start = 0; start < total; start++) {
        if (start / stride % n != 0) {
            continue;
        }
        for (int64_t k = 0; k < n; k++) {
            const number x = w->block[start + k * stride];
            w->line[k] = inverse ? conj(x) : x;
        }
        transform(&plan, plan.roots, n, w->line, 1, w->result, n);
        for (int64_t k = 0; k < n; k++) {
            const number y = w->result[k];
            w->block[start + k * stride] =
                inverse ? make_number(creal(y) / (double)n, -cimag(y) / (double)n) : y;
        }
    }
}

/* Fills the second half of the last dimension: the conjugates of the first, backwards. */
static void complete_lines(const fft_work *w)
{
    const int64_t n = w->job->lengths[w->job->num_lengths - 1];
    for (int64_t start = 0; start < total_of(w->job); start += n) {
        for (int64_t k = n / 2 + 1; k < n; k++) {
            w->block[start + k] = conj(w->block[start + n - k]);
        }
        w->block[start] = make_number(creal(w->block[start]), 0);
    }
}

/* Copies between the block and an array whose last dimension may be shorter. */
static void copy_block(const fft_work *w, const tsr_view *v, const int64_t *batch, bool to_block)
{
    const fft_job *job = w->job;
    const size_t first = v->rank - job->num_lengths;
    int64_t index[KERNEL_MAX_RANK] = {0};
    char *base = v->data;
    for (size_t d = 0; d < first; d++) {
        base += batch[d] * v->strides[d];
    }
    for (int64_t i = 0; i < total_of(job); i++) {
        int64_t offset = 0;
        for (size_t d = 0; d < job->num_lengths; d++) {
            offset += index[d] * v->strides[first + d];
        }
        if (index[job->num_lengths - 1] < v->shape[v->rank - 1]) {
            if (to_block) {
                w->block[i] = load_number(v->dtype, base + offset);
            } else {
                store_number(v->dtype, w->block[i], base + offset);
            }
        } else if (to_block) {
            w->block[i] = 0;
        }
        for (size_t d = job->num_lengths; d-- > 0;) {
            if (++index[d] < job->lengths[d]) {
                break;
            }
            index[d] = 0;
        }
    }
}

static void transform_block(const fft_work *w)
{
    const fft_job *job = w->job;
    const bool inverse = job->kind == FFT_INVERSE || job->kind == FFT_REAL_INVERSE;
    for (size_t i = 0; i + 1 < job->num_lengths; i++) {
        transform_dim(w, i, inverse);
    }
    if (job->kind == FFT_REAL_INVERSE) {
        complete_lines(w);
    }
    transform_dim(w, job->num_lengths - 1, inverse);
}

void kernel_fft(const fft_job *job, void *scratch)
{
    fft_work w = {.job = job, .block = scratch};
    const size_t first = job->dst->rank - job->num_lengths;
    int64_t batch[KERNEL_MAX_RANK] = {0};
    w.line = w.block + total_of(job);
    w.result = w.line + longest(job);
    w.roots = w.result + longest(job);
    w.room = w.roots + longest(job);
    for (size_t d = 0; d < job->dst->rank; d++) {
        if (job->dst->shape[d] == 0) {
            return;
        }
    }
    for (;;) {
        size_t d = first;
        copy_block(&w, job->src, batch, true);
        transform_block(&w);
        copy_block(&w, job->dst, batch, false);
        for (; d > 0; d--) {
            if (++batch[d - 1] < job->dst->shape[d - 1]) {
                break;
            }
            batch[d - 1] = 0;
        }
        if (d == 0) {
            return;
        }
    }
}
