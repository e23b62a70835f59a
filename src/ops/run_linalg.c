#include "ops/run_linalg.h"

#include "kernel/bits.h"
#include "kernel/fft.h"
#include "kernel/linalg.h"
#include "ops/op_create.h"
#include "ops/op_linalg.h"

/* Whether the last two extents are equal. */
static bool is_square(const op_type *type)
{
    return type->rank >= 2 && type->shape[type->rank - 1] == type->shape[type->rank - 2];
}

/* ---- cholesky ---- */

bool cholesky_supports(const op_request *r, const op_type *results)
{
    const op_type *a = &r->operands[0];
    return linalg_supports(a->dtype) && is_square(a) && results[0].dtype == a->dtype &&
           op_shapes_agree(a, &results[0]);
}

size_t cholesky_scratch(const op_call *c)
{
    return kernel_cholesky_scratch(&c->operands[0].view);
}

void cholesky_run(const op_call *c, void *scratch)
{
    const cholesky_params *p = c->params;
    kernel_cholesky(&c->results[0].view, &c->operands[0].view, p->lower, scratch);
}

/* ---- triangular_solve ---- */

bool solve_supports(const op_request *r, const op_type *results)
{
    const triangular_solve_params *p = r->params;
    const op_type *a = &r->operands[0];
    const op_type *b = &r->operands[1];
    if (!linalg_supports(a->dtype) || !is_square(a) || b->dtype != a->dtype || b->rank != a->rank ||
        results[0].dtype != a->dtype || !op_shapes_agree(b, &results[0])) {
        return false;
    }
    for (size_t d = 0; d + 2 < a->rank; d++) {
        if (a->shape[d] != b->shape[d]) {
            return false;
        }
    }
    return b->shape[b->rank - (p->left_side ? 2 : 1)] == a->shape[a->rank - 1] &&
           p->transpose_a != SOLVE_TRANSPOSE_INVALID;
}

size_t solve_scratch(const op_call *c)
{
    return kernel_solve_scratch(&c->operands[0].view, &c->operands[1].view);
}

void solve_run(const op_call *c, void *scratch)
{
    const triangular_solve_params *p = c->params;
    const solve_job job = {.left_side = p->left_side,
                           .lower = p->lower,
                           .unit_diagonal = p->unit_diagonal,
                           .transposed = p->transpose_a != SOLVE_NO_TRANSPOSE,
                           .conjugated = p->transpose_a == SOLVE_ADJOINT};
    kernel_triangular_solve(&job, &c->results[0].view, &c->operands[0].view, &c->operands[1].view,
                            scratch);
}

/* ---- fft ---- */

/* The complex type of a float of 32 or 64 bits; the type itself for others. */
static tsr_dtype complex_of(tsr_dtype dtype)
{
    return dtype == TSR_F32 ? TSR_C64 : dtype == TSR_F64 ? TSR_C128 : dtype;
}

static bool fft_types_fit(fft_kind kind, tsr_dtype from, tsr_dtype to)
{
    switch (kind) {
    case FFT_REAL:
        return !dtype_is_complex(from) && dtype_is_complex(to) && complex_of(from) == to;
    case FFT_REAL_INVERSE:
        return dtype_is_complex(from) && !dtype_is_complex(to) && complex_of(to) == from;
    default:
        return dtype_is_complex(from) && from == to;
    }
}

bool fft_supports(const op_request *r, const op_type *results)
{
    const fft_params *p = r->params;
    const fft_kind kind = (fft_kind)p->fft_type;
    const op_type *from = &r->operands[0];
    const op_type *to = &results[0];
    const size_t count = p->fft_length.count;
    int64_t total = 1;
    if (count < 1 || count > from->rank || to->rank != from->rank ||
        !fft_types_fit(kind, from->dtype, to->dtype)) {
        return false;
    }
    for (size_t d = 0; d < from->rank; d++) {
        const bool inside = d + count >= from->rank;
        const bool last = d + 1 == from->rank;
        const int64_t length = inside ? p->fft_length.values[d + count - from->rank] : 0;
        const int64_t half = length / 2 + 1;
        if (inside && (length < 1 || !checked_mul(total, length, &total) || total > INT32_MAX)) {
            return false;
        }
        const int64_t in = last && kind == FFT_REAL_INVERSE ? half : length;
        const int64_t out = last && kind == FFT_REAL ? half : length;
        if (inside ? from->shape[d] != in || to->shape[d] != out : from->shape[d] != to->shape[d]) {
            return false;
        }
    }
    return true;
}

static fft_job fft_job_of(const op_call *c)
{
    const fft_params *p = c->params;
    return (fft_job){.kind = (fft_kind)p->fft_type,
                     .num_lengths = p->fft_length.count,
                     .lengths = p->fft_length.values,
                     .dst = &c->results[0].view,
                     .src = &c->operands[0].view};
}

size_t fft_scratch(const op_call *c)
{
    const fft_job job = fft_job_of(c);
    return kernel_fft_scratch(&job);
}

void fft_run(const op_call *c, void *scratch)
{
    const fft_job job = fft_job_of(c);
    kernel_fft(&job, scratch);
}

/* ---- rng_bit_generator ---- */

enum { ALGORITHM_THREE_FRY = 1 };

static bits_algorithm algorithm_of(const rng_bit_generator_params *p)
{
    return p->rng_algorithm == ALGORITHM_THREE_FRY ? BITS_THREE_FRY : BITS_PHILOX;
}

bool bits_supports(const op_request *r, const op_type *results)
{
    const rng_bit_generator_params *p = r->params;
    const op_type *state = &r->operands[0];
    const bool philox = algorithm_of(p) == BITS_PHILOX;
    return state->rank == 1 && state->dtype == TSR_U64 &&
           (state->shape[0] == 2 || (philox && state->shape[0] == 3)) &&
           results[0].dtype == TSR_U64 && op_shapes_agree(state, &results[0]) &&
           bits_types(results[1].dtype);
}

void bits_run(const op_call *c, void *scratch)
{
    (void)scratch;
    kernel_bits(algorithm_of(c->params), &c->results[1].view, &c->results[0].view,
                &c->operands[0].view);
}
