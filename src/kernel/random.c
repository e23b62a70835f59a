#include "kernel/copy.h"
#include "kernel/index.h"
#include "kernel/normal.h"
#include "number/half.h"

/* How many numbers are made at a time. */
enum { CHUNK = 256, MAX_ITEM = 8, WORDS = 4, PHILOX_ROUNDS = 10 };

void philox_block(uint64_t key, uint64_t low, uint64_t high, uint32_t *words)
{
    uint32_t x[WORDS] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
                         (uint32_t)(high >> 32)};
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        const uint64_t a = UINT64_C(0xd2511f53) * x[0];
        const uint64_t b = UINT64_C(0xcd9e8d57) * x[2];
        x[0] = (uint32_t)(b >> 32) ^ x[1] ^ k[0];
        x[1] = (uint32_t)b;
        x[2] = (uint32_t)(a >> 32) ^ x[3] ^ k[1];
        x[3] = (uint32_t)a;
        k[0] += 0x9e3779b9U;
        k[1] += 0xbb67ae85U;
    }
    memcpy(words, x, sizeof x);
}

/*
 * The numbers. Integers take the low bits of theirs, uniform floats the high ones. Normal ones take
 * the highest bit as the sign, so that both tails are as fine, and the others as the middle of an
 * interval of the lower half.
 */
static double uniform(uint64_t bits, int from, int kept)
{
    return (double)(bits >> (from - kept)) / (double)(UINT64_C(1) << kept);
}

static double normal(uint64_t bits, int from)
{
    const uint64_t sign = UINT64_C(1) << (from - 1);
    const double p = ((double)(bits & (sign - 1)) + 0.5) / ((double)sign * 2.0);
    const double x = normal_quantile(p);
    return (bits & sign) != 0 ? -x : x;
}

typedef void (*make_number)(uint64_t bits, char *item);

static void bits_8(uint64_t bits, char *item)
{
    memcpy(item, &bits, 1);
}

static void bits_16(uint64_t bits, char *item)
{
    memcpy(item, &bits, 2);
}

static void bits_32(uint64_t bits, char *item)
{
    memcpy(item, &bits, 4);
}

static void bits_64(uint64_t bits, char *item)
{
    memcpy(item, &bits, 8);
}

static void bits_1(uint64_t bits, char *item)
{
    *item = (char)(bits & 1);
}

static void store_f16(double x, char *item)
{
    const uint16_t half = f16_of_float((float)x);
    memcpy(item, &half, sizeof half);
}

static void store_bf16(double x, char *item)
{
    const uint16_t half = bf16_of_float((float)x);
    memcpy(item, &half, sizeof half);
}

static void store_f32(double x, char *item)
{
    const float single = (float)x;
    memcpy(item, &single, sizeof single);
}

static void store_f64(double x, char *item)
{
    memcpy(item, &x, sizeof x);
}

static void uniform_f16(uint64_t bits, char *item)
{
    store_f16(uniform(bits, 32, 11), item);
}

static void normal_f16(uint64_t bits, char *item)
{
    store_f16(normal(bits, 32), item);
}

static void uniform_bf16(uint64_t bits, char *item)
{
    store_bf16(uniform(bits, 32, 8), item);
}

static void normal_bf16(uint64_t bits, char *item)
{
    store_bf16(normal(bits, 32), item);
}

static void uniform_f32(uint64_t bits, char *item)
{
    store_f32(uniform(bits, 32, 24), item);
}

static void normal_f32(uint64_t bits, char *item)
{
    store_f32(normal(bits, 32), item);
}

static void uniform_f64(uint64_t bits, char *item)
{
    store_f64(uniform(bits, 64, 53), item);
}

static void normal_f64(uint64_t bits, char *item)
{
    store_f64(normal(bits, 64), item);
}

enum { NUM_KINDS = RANDOM_NORMAL + 1, NUM_TYPES = TSR_C128 + 1 };

static const make_number makers[NUM_KINDS][NUM_TYPES] = {
    [RANDOM_BITS] = {[TSR_I1] = bits_1,
                     [TSR_I8] = bits_8,
                     [TSR_I16] = bits_16,
                     [TSR_I32] = bits_32,
                     [TSR_I64] = bits_64,
                     [TSR_U8] = bits_8,
                     [TSR_U16] = bits_16,
                     [TSR_U32] = bits_32,
                     [TSR_U64] = bits_64},
    [RANDOM_UNIFORM] = {[TSR_F16] = uniform_f16,
                        [TSR_BF16] = uniform_bf16,
                        [TSR_F32] = uniform_f32,
                        [TSR_F64] = uniform_f64},
    [RANDOM_NORMAL] = {[TSR_F16] = normal_f16,
                       [TSR_BF16] = normal_bf16,
                       [TSR_F32] = normal_f32,
                       [TSR_F64] = normal_f64},
};

bool random_supports(random_kind kind, tsr_dtype dtype)
{
    return makers[kind][dtype] != NULL;
}

/* What is the same for all numbers of an array. */
typedef struct generator {
    make_number make;
    uint64_t key;
    uint64_t stream;
    int64_t item;
    uint64_t per_block; /* numbers of one block of words */
} generator;

/* The numbers of n places in a row. */
static void generate(const generator *g, uint64_t place, int64_t n, char *items)
{
    uint32_t words[WORDS];
    uint64_t made = 0;
    bool any = false;
    for (int64_t i = 0; i < n; i++, place++) {
        const uint64_t block = place / g->per_block;
        const uint64_t within = place % g->per_block;
        if (!any || block != made) {
            philox_block(g->key, block, g->stream, words);
            made = block;
            any = true;
        }
        const uint64_t bits = g->per_block == WORDS
                                  ? words[within]
                                  : words[2 * within] | (uint64_t)words[2 * within + 1] << 32;
        g->make(bits, items + i * g->item);
    }
}

/* A box whose dimensions are joined where the box has all of the inner one. */
typedef struct places {
    size_t rank;
    int64_t shape[KERNEL_MAX_RANK + 1];
    int64_t strides[KERNEL_MAX_RANK + 1];
    int64_t start[KERNEL_MAX_RANK + 1];
    int64_t full[KERNEL_MAX_RANK + 1];
} places;

/* Adds a dimension inside the others; false if it cannot be joined with the last of them. */
static bool try_join(places *p, int64_t shape, int64_t stride, int64_t full)
{
    const size_t last = p->rank - 1;
    if (shape != full || (p->shape[last] > 1 && p->strides[last] != stride * shape)) {
        return false;
    }
    p->shape[last] *= shape;
    p->start[last] *= full;
    p->full[last] *= full;
    p->strides[last] = stride;
    return true;
}

static places places_of(const tsr_view *dst, const int64_t *start, const int64_t *full)
{
    places p = {.rank = 1, .shape = {1}, .strides = {0}, .start = {0}, .full = {1}};
    for (size_t d = 0; d < dst->rank; d++) {
        if (full[d] == 1 || try_join(&p, dst->shape[d], dst->strides[d], full[d])) {
            continue;
        }
        p.shape[p.rank] = dst->shape[d];
        p.strides[p.rank] = dst->strides[d];
        p.start[p.rank] = start[d];
        p.full[p.rank++] = full[d];
    }
    return p;
}

/* The place of an index of the box in the whole array. */
static uint64_t place_of(const places *p, const int64_t *index)
{
    uint64_t place = 0;
    for (size_t d = 0; d < p->rank; d++) {
        place = place * (uint64_t)p->full[d] + (uint64_t)(p->start[d] + index[d]);
    }
    return place;
}

/* Moves an index to the next row of the innermost dimension, and `to` with it. */
static bool next_row(const places *p, int64_t *index, char **to)
{
    for (size_t d = p->rank - 1; d-- > 0;) {
        *to += p->strides[d];
        if (++index[d] < p->shape[d]) {
            return true;
        }
        *to -= p->shape[d] * p->strides[d];
        index[d] = 0;
    }
    return false;
}

static void generate_row(const generator *g, uint64_t place, int64_t n, char *to, int64_t stride)
{
    _Alignas(MAX_ITEM) char items[CHUNK * MAX_ITEM];
    for (int64_t from = 0; from < n; from += CHUNK) {
        const int64_t count = n - from < CHUNK ? n - from : CHUNK;
        generate(g, place + (uint64_t)from, count, items);
        kernel_copy(to + from * stride, &stride, items, &g->item, &count, 1, (size_t)g->item,
                    false);
    }
}

void kernel_random(random_kind kind, const tsr_view *dst, uint64_t key, uint64_t stream,
                   const int64_t *start, const int64_t *full)
{
    const int64_t item = tsr_dtype_item_bytes(dst->dtype);
    const generator g = {makers[kind][dst->dtype], key, stream, item, item == MAX_ITEM ? 2 : WORDS};
    int64_t index[KERNEL_MAX_RANK + 1] = {0};
    char *to = dst->data;
    for (size_t d = 0; d < dst->rank; d++) {
        if (dst->shape[d] == 0) {
            return;
        }
    }
    const places p = places_of(dst, start, full);
    const size_t last = p.rank - 1;
    do {
        generate_row(&g, place_of(&p, index), p.shape[last], to, p.strides[last]);
    } while (next_row(&p, index, &to));
}
