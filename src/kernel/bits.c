#include "kernel/bits.h"

#include <string.h>

#include "base/base.h"
#include "kernel/copy.h"
#include "kernel/index.h"

bool bits_types(tsr_dtype dtype)
{
    return dtype != TSR_I1 && dtype != TSR_C64 && dtype != TSR_C128;
}

/* ---- elements in row-major order ---- */

static int64_t count_elements(const tsr_view *v)
{
    int64_t count = 1;
    for (size_t d = 0; d < v->rank; d++) {
        count *= v->shape[d];
    }
    return count;
}

/* An element of fewer bits than a byte is stored as a byte: extended by its sign, or by zeros. */
static uint64_t narrow(tsr_dtype dtype, uint64_t value)
{
    const int bits = tsr_dtype_bits(dtype);
    if (bits >= 8) {
        return value;
    }
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    const uint64_t low = value & (2 * sign - 1);
    return dtype == TSR_I2 || dtype == TSR_I4 ? (low ^ sign) - sign : low;
}

static void store(const tsr_view *v, int64_t element, uint64_t value)
{
    char *at = v->data;
    value = narrow(v->dtype, value);
    for (size_t d = v->rank; d-- > 0;) {
        at += element % v->shape[d] * v->strides[d];
        element /= v->shape[d];
    }
    memcpy(at, &value, (size_t)tsr_dtype_item_bytes(v->dtype));
}

static uint64_t load_word(const tsr_view *v, int64_t i)
{
    uint64_t word;
    memcpy(&word, (const char *)v->data + i * v->strides[0], sizeof word);
    return word;
}

static void store_word(const tsr_view *v, int64_t i, uint64_t word)
{
    memcpy((char *)v->data + i * v->strides[0], &word, sizeof word);
}

/* ---- Philox ---- */

static void fill_philox(const tsr_view *bits, const tsr_view *after, const tsr_view *state)
{
    const bool wide = tsr_dtype_item_bytes(bits->dtype) == 8;
    const int64_t count = count_elements(bits);
    const int64_t per_block = wide ? 2 : 4;
    const uint64_t key = load_word(state, 0);
    const uint64_t low = load_word(state, 1);
    const uint64_t high = state->shape[0] > 2 ? load_word(state, 2) : key;
    const uint64_t blocks = (uint64_t)ceil_div(count, per_block);
    for (int64_t i = 0; i < count; i++) {
        uint32_t words[4];
        const int64_t at = i % per_block;
        const uint64_t counter = low + (uint64_t)(i / per_block);
        if (at == 0) {
            philox_block(key, counter, high + (counter < low), words);
            for (int64_t k = 0; k < per_block && i + k < count; k++) {
                store(bits, i + k,
                      wide ? words[2 * k] | (uint64_t)words[2 * k + 1] << 32 : words[k]);
            }
        }
    }
    store_word(after, 0, key);
    store_word(after, 1, low + blocks);
    if (state->shape[0] > 2) {
        store_word(after, 2, high + (low + blocks < low));
    }
}

/* ---- Threefry ---- */

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static void threefry(uint64_t key, uint64_t counter, uint32_t *words)
{
    static const unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    uint32_t keys[3] = {(uint32_t)key, (uint32_t)(key >> 32), 0};
    keys[2] = keys[0] ^ keys[1] ^ 0x1BD11BDA;
    uint32_t x = (uint32_t)counter + keys[0];
    uint32_t y = (uint32_t)(counter >> 32) + keys[1];
    for (uint32_t round = 0; round < 5; round++) {
        for (size_t i = 0; i < 4; i++) {
            x += y;
            y = rotate(y, rotations[round % 2][i]) ^ x;
        }
        x += keys[(round + 1) % 3];
        y += keys[(round + 2) % 3] + round + 1;
    }
    words[0] = x;
    words[1] = y;
}

/* The first even dimension, else the longest. */
static size_t split_dim(const tsr_view *v)
{
    size_t longest = 0;
    for (size_t d = 0; d < v->rank; d++) {
        if (v->shape[d] % 2 == 0) {
            return d;
        }
        longest = v->shape[d] > v->shape[longest] ? d : longest;
    }
    return longest;
}

/* Words of 32 bits: the two of a block are neighbours along a dimension. */
static uint64_t fill_pairs(const tsr_view *bits, uint64_t key, uint64_t low)
{
    const size_t dim = bits->rank > 0 ? split_dim(bits) : 0;
    const int64_t rows = bits->rank > 0 ? bits->shape[dim] : 1;
    const int64_t half = ceil_div(rows, 2);
    int64_t inner = 1;
    for (size_t d = dim + 1; d < bits->rank; d++) {
        inner *= bits->shape[d];
    }
    const int64_t count = count_elements(bits);
    const int64_t blocks = rows > 0 ? count / rows * half : 0;
    for (int64_t b = 0; b < blocks; b++) {
        uint32_t words[2];
        const int64_t outer = b / (half * inner);
        const int64_t row = b / inner % half;
        threefry(key, low + (uint64_t)b, words);
        for (int64_t k = 0; k < 2 && 2 * row + k < rows; k++) {
            store(bits, (outer * rows + 2 * row + k) * inner + b % inner, words[k]);
        }
    }
    return (uint64_t)blocks;
}

static void fill_threefry(const tsr_view *bits, const tsr_view *after, const tsr_view *state)
{
    const uint64_t key = load_word(state, 0);
    const uint64_t low = load_word(state, 1);
    uint64_t blocks = 0;
    if (tsr_dtype_item_bytes(bits->dtype) == 8) {
        blocks = (uint64_t)count_elements(bits);
        for (uint64_t i = 0; i < blocks; i++) {
            uint32_t words[2];
            threefry(key, low + i, words);
            store(bits, (int64_t)i, words[0] | (uint64_t)words[1] << 32);
        }
    } else {
        blocks = fill_pairs(bits, key, low);
    }
    store_word(after, 0, key);
    store_word(after, 1, low + blocks);
}

void kernel_bits(bits_algorithm algorithm, const tsr_view *bits, const tsr_view *state_after,
                 const tsr_view *state)
{
    (algorithm == BITS_PHILOX ? fill_philox : fill_threefry)(bits, state_after, state);
}
