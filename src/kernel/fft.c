#include "kernel/fft.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "kernel/copy.h"
#include "kernel/element_complex.h"

/* Factors up to this one are transformed by definition; what is left as a convolution. */
enum { MAX_RADIX = 13 };

enum { MAX_STAGES = 64 };

/* ---- lines ---- */

/* Combines transforms of `radix` parts of m numbers each. */
typedef struct stage {
    int64_t radix;
    int64_t m;
    const number *twiddles; /* of each k below m, those of parts 1 to radix - 1 */
    const number *unit;     /* e^(-2 pi i k / radix) */
} stage;

/* A transform of lines: small factors in stages, then what is left as a convolution. */
typedef struct line_plan line_plan;
struct line_plan {
    stage stages[MAX_STAGES];
    size_t num_stages;
    int64_t large; /* 1: nothing is left */
    int64_t padded;
    const number *chirp;       /* e^(-pi i k^2 / large) */
    const number *chirp_other; /* the transform of its conjugate, padded, over `padded` */
    number *room;              /* two arrays of `padded` */
    const line_plan *inner;    /* of `padded` */
};

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
    for (int64_t p = 2; p <= MAX_RADIX; p++) {
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

static inline number times(number a, number b)
{
    return make_number(creal(a) * creal(b) - cimag(a) * cimag(b),
                       creal(a) * cimag(b) + cimag(a) * creal(b));
}

static void transform(const line_plan *p, size_t level, const number *in, int64_t stride,
                      number *out);

/* One number of each part, of an odd radix: those of q and radix - q have conjugate roots. */
static void combine_odd(const stage *s, number first, const number *sums, const number *differences,
                        number *out)
{
    const int64_t half = s->radix / 2;
    number whole = first;
    for (int64_t q = 0; q < half; q++) {
        whole += sums[q];
    }
    out[0] = whole;
    for (int64_t r = 1; r <= half; r++) {
        number even = first;
        number odd = 0;
        int64_t turn = 0;
        for (int64_t q = 0; q < half; q++) {
            turn += r;
            turn -= turn >= s->radix ? s->radix : 0;
            even += creal(s->unit[turn]) * sums[q];
            odd += cimag(s->unit[turn]) * differences[q];
        }
        const number turned = make_number(-cimag(odd), creal(odd));
        out[r * s->m] = even + turned;
        out[(s->radix - r) * s->m] = even - turned;
    }
}

/* Of any odd radix. */
static void combine(const stage *s, number *out)
{
    const int64_t radix = s->radix;
    const int64_t m = s->m;
    const number *w = s->twiddles;
    for (int64_t k = 0; k < m; k++, w += radix - 1) {
        number sums[MAX_RADIX / 2];
        number differences[MAX_RADIX / 2];
        for (int64_t q = 1; q <= radix / 2; q++) {
            const number one = times(out[q * m + k], w[q - 1]);
            const number other = times(out[(radix - q) * m + k], w[radix - q - 1]);
            sums[q - 1] = one + other;
            differences[q - 1] = one - other;
        }
        combine_odd(s, out[k], sums, differences, out + k);
    }
}

/* The same of two parts. */
static void combine_two(const stage *s, number *out)
{
    const int64_t m = s->m;
    for (int64_t k = 0; k < m; k++) {
        const number odd = times(out[m + k], s->twiddles[k]);
        const number even = out[k];
        out[k] = even + odd;
        out[m + k] = even - odd;
    }
}

/* The transform of four numbers, to places m apart. */
static inline void four(number a, number b, number c, number d, number *out, int64_t m)
{
    const number s = a + c;
    const number t = a - c;
    const number u = b + d;
    const number v = make_number(cimag(b) - cimag(d), creal(d) - creal(b));
    out[0] = s + u;
    out[m] = t + v;
    out[2 * m] = s - u;
    out[3 * m] = t - v;
}

/* The same of four parts. */
static void combine_four(const stage *s, number *out)
{
    const int64_t m = s->m;
    const number *w = s->twiddles;
    for (int64_t k = 0; k < m; k++, w += 3) {
        four(out[k], times(out[m + k], w[0]), times(out[2 * m + k], w[1]),
             times(out[3 * m + k], w[2]), out + k, m);
    }
}

/* What is left without small factors, as a convolution with a chirp (Bluestein). */
static void transform_large(const line_plan *p, const number *in, int64_t stride, number *out)
{
    const int64_t m = p->padded;
    number *a = p->room;
    number *b = a + m;
    for (int64_t k = 0; k < m; k++) {
        a[k] = k < p->large ? times(in[k * stride], p->chirp[k]) : 0;
    }
    transform(p->inner, 0, a, 1, b);
    for (int64_t k = 0; k < m; k++) {
        a[k] = conj(times(b[k], p->chirp_other[k]));
    }
    transform(p->inner, 0, a, 1, b);
    for (int64_t k = 0; k < p->large; k++) {
        out[k] = times(conj(b[k]), p->chirp[k]);
    }
}

/* Lengths 2, 4 and 8; false for others. */
static bool transform_short(const stage *s, const number *in, int64_t stride, number *out)
{
    if (s->m == 1 && s->radix == 2) {
        out[0] = in[0] + in[stride];
        out[1] = in[0] - in[stride];
        return true;
    }
    if (s->m == 1 && s->radix == 4) {
        four(in[0], in[stride], in[2 * stride], in[3 * stride], out, 1);
        return true;
    }
    if (s->m == 2 && s->radix == 4) {
        for (int64_t q = 0; q < 4; q++) {
            out[2 * q] = in[q * stride] + in[(q + 4) * stride];
            out[2 * q + 1] = in[q * stride] - in[(q + 4) * stride];
        }
        combine_four(s, out);
        return true;
    }
    return false;
}

/* The numbers that are left at a level, `stride` apart, forward. */
static void transform(const line_plan *p, size_t level, const number *in, int64_t stride,
                      number *out)
{
    if (level == p->num_stages) {
        if (p->large > 1) {
            transform_large(p, in, stride, out);
        } else {
            out[0] = in[0];
        }
        return;
    }
    const stage *s = &p->stages[level];
    if (transform_short(s, in, stride, out)) {
        return;
    }
    for (int64_t q = 0; q < s->radix; q++) {
        transform(p, level + 1, in + q * stride, stride * s->radix, out + q * s->m);
    }
    if (s->radix == 2) {
        combine_two(s, out);
    } else if (s->radix == 4) {
        combine_four(s, out);
    } else {
        combine(s, out);
    }
}

/* ---- plans ---- */

/* e^(-2 pi i k / n) */
static number root(int64_t k, int64_t n)
{
    const double angle = -2 * M_PI * (double)k / (double)n;
    return make_number(cos(angle), sin(angle));
}

/* The twiddles of a stage: every `STEP`-th by sine and cosine, those between as products with the
 * first ones. Returns what follows. */
static number *fill_twiddles(number *to, int64_t radix, int64_t m)
{
    enum { STEP = 64 };
    const int64_t each = radix - 1;
    for (int64_t k = 0; k < m; k++) {
        number *at = to + k * each;
        const int64_t from = k % STEP;
        for (int64_t q = 1; q < radix; q++) {
            at[q - 1] = k < STEP || from == 0
                            ? root(q * k, radix * m)
                            : times(at[q - 1 - from * each], to[from * each + q - 1]);
        }
    }
    return to + m * each;
}

/* Small factors in stages. Returns what follows. */
static number *plan_stages(line_plan *p, int64_t n, number *at)
{
    p->num_stages = 0;
    p->large = large_part(n);
    while (n > p->large) {
        stage *s = &p->stages[p->num_stages++];
        *s = (stage){.radix = smallest_factor(n), .unit = at};
        s->m = n / s->radix;
        for (int64_t k = 0; k < s->radix; k++) {
            *at++ = root(k, s->radix);
        }
        s->twiddles = at;
        at = fill_twiddles(at, s->radix, s->m);
        n = s->m;
    }
    return at;
}

/* e^(-pi i k^2 / n), from the roots of twice the length. */
static number chirp(int64_t k, int64_t n)
{
    const int64_t turn =
        (int64_t)((unsigned __int128)k * (unsigned __int128)k % (unsigned __int128)(2 * n));
    return root(turn, 2 * n);
}

/* The numbers that a plan takes, at most: twiddles of all stages are fewer than n. */
static int64_t plan_numbers(int64_t n)
{
    const int64_t padded = padded_length(n);
    const int64_t units = MAX_STAGES * 4 + 16 * MAX_RADIX;
    return n + units + (padded > 0 ? large_part(n) + 4 * padded + units : 0);
}

static void plan_init(line_plan *p, line_plan *inner, int64_t n, number *at)
{
    at = plan_stages(p, n, at);
    p->padded = padded_length(n);
    p->inner = inner;
    if (p->padded == 0) {
        return;
    }
    const int64_t m = p->padded;
    at = plan_stages(inner, m, at);
    number *one = at;
    number *other = one + p->large;
    p->chirp = one;
    p->chirp_other = other;
    p->room = other + m;
    for (int64_t k = 0; k < m; k++) {
        p->room[k] = 0;
    }
    for (int64_t k = 0; k < p->large; k++) {
        one[k] = chirp(k, p->large);
        p->room[k] = conj(one[k]);
        p->room[k > 0 ? m - k : 0] = p->room[k];
    }
    transform(inner, 0, p->room, 1, other);
    for (int64_t k = 0; k < m; k++) {
        other[k] = make_number(creal(other[k]) / (double)m, cimag(other[k]) / (double)m);
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

/* The block, a line, and of each dimension a plan with its numbers. */
size_t kernel_fft_scratch(const fft_job *job)
{
    int64_t numbers = total_of(job) + longest(job);
    for (size_t i = 0; i < job->num_lengths; i++) {
        numbers += plan_numbers(job->lengths[i]);
    }
    return (size_t)numbers * sizeof(number) + 2 * job->num_lengths * sizeof(line_plan);
}

/* What is the same for all blocks. */
typedef struct fft_work {
    const fft_job *job;
    number *block;
    number *line;
    line_plan *plans; /* two of each dimension: the second is the first one's inner one */
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

static void scale_conjugate(number *block, int64_t total, int64_t n)
{
    for (int64_t i = 0; i < total; i++) {
        block[i] = make_number(creal(block[i]) / (double)n, -cimag(block[i]) / (double)n);
    }
}

/* Transforms all lines of a dimension of the block. An inverse is the conjugate of the transform of
 * the conjugate. */
static void transform_dim(const fft_work *w, size_t dim, bool inverse)
{
    const int64_t n = w->job->lengths[dim];
    const int64_t total = total_of(w->job);
    const int64_t stride = block_stride(w->job, dim);
    if (inverse) {
        scale_conjugate(w->block, total, 1);
    }
    for (int64_t outer = 0; outer < total; outer += n * stride) {
        for (int64_t start = outer; start < outer + stride; start++) {
            transform(&w->plans[2 * dim], 0, w->block + start, stride, w->line);
            for (int64_t k = 0; k < n; k++) {
                w->block[start + k * stride] = w->line[k];
            }
        }
    }
    if (inverse) {
        scale_conjugate(w->block, total, n);
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

/* Copies a line from an array, or to it; c64, which is most common, without a call each. */
static void load_line(const tsr_view *v, const char *at, int64_t count, number *out)
{
    const int64_t stride = v->strides[v->rank - 1];
    for (int64_t k = 0; k < count; k++, at += stride) {
        float parts[2];
        if (v->dtype == TSR_C64) {
            memcpy(parts, at, sizeof parts);
            out[k] = make_number(parts[0], parts[1]);
        } else {
            out[k] = load_number(v->dtype, at);
        }
    }
}

static void store_line(const tsr_view *v, char *at, int64_t count, const number *in)
{
    const int64_t stride = v->strides[v->rank - 1];
    for (int64_t k = 0; k < count; k++, at += stride) {
        const float parts[2] = {(float)creal(in[k]), (float)cimag(in[k])};
        if (v->dtype == TSR_C64) {
            memcpy(at, parts, sizeof parts);
        } else {
            store_number(v->dtype, in[k], at);
        }
    }
}

/* Copies between the block and an array whose last dimension may be shorter. */
static void copy_block(const fft_work *w, const tsr_view *v, const int64_t *batch, bool to_block)
{
    const fft_job *job = w->job;
    const size_t first = v->rank - job->num_lengths;
    const int64_t n = job->lengths[job->num_lengths - 1];
    const int64_t count = n < v->shape[v->rank - 1] ? n : v->shape[v->rank - 1];
    int64_t index[KERNEL_MAX_RANK] = {0};
    for (int64_t i = 0; i < total_of(job); i += n) {
        char *at = v->data;
        for (size_t d = 0; d + 1 < v->rank; d++) {
            at += (d < first ? batch[d] : index[d - first]) * v->strides[d];
        }
        if (!to_block) {
            store_line(v, at, count, w->block + i);
        } else {
            load_line(v, at, count, w->block + i);
            for (int64_t k = count; k < n; k++) {
                w->block[i + k] = 0;
            }
        }
        for (size_t d = job->num_lengths - 1; d-- > 0;) {
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
    for (size_t d = 0; d < job->dst->rank; d++) {
        if (job->dst->shape[d] == 0) {
            return;
        }
    }
    w.line = w.block + total_of(job);
    number *at = w.line + longest(job);
    w.plans = (line_plan *)(void *)((char *)scratch + kernel_fft_scratch(job) -
                                    2 * job->num_lengths * sizeof(line_plan));
    for (size_t i = 0; i < job->num_lengths; i++) {
        plan_init(&w.plans[2 * i], &w.plans[2 * i + 1], job->lengths[i], at);
        at += plan_numbers(job->lengths[i]);
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
