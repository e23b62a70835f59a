#include "mesh/digits.h"

#include "base/base.h"

/* The number of multiples of n whose ids are the same multiples of s; at least 1. */
static int64_t run_length(int64_t n, int64_t place_stride, int64_t id_stride, numbering number,
                          const void *state)
{
    const int64_t most = n / place_stride;
    int64_t length = 1;
    while (length < most && number(state, length * place_stride) == length * id_stride) {
        length++;
    }
    return length;
}

static void reverse(digit *digits, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const digit kept = digits[i];
        digits[i] = digits[count - 1 - i];
        digits[count - 1 - i] = kept;
    }
}

bool digits_find(int64_t n, numbering number, const void *state, digit *digits, size_t *count)
{
    size_t found = 0;
    for (int64_t place_stride = 1; place_stride < n;) {
        const int64_t id_stride = number(state, place_stride);
        const int64_t size = run_length(n, place_stride, id_stride, number, state);
        if (id_stride < 0 || size < 2 || n / place_stride % size != 0) {
            return false;
        }
        digits[found++] = (digit){size, place_stride, id_stride};
        place_stride *= size;
    }
    reverse(digits, found);
    for (int64_t place = 0; place < n; place++) {
        if (digits_number(digits, found, place) != number(state, place)) {
            return false;
        }
    }
    *count = found;
    return true;
}

size_t digits_of_iota(const int64_t *dims, const int64_t *perm, size_t count, digit *digits)
{
    size_t found = 0;
    int64_t place_stride = 1;
    for (size_t i = count; i-- > 0;) {
        const size_t dim = perm != NULL ? (size_t)perm[i] : i;
        int64_t id_stride = 1;
        for (size_t j = dim + 1; j < count; j++) {
            id_stride *= dims[j];
        }
        digit *minor = found > 0 ? &digits[found - 1] : NULL;
        if (dims[dim] > 1) {
            if (minor != NULL && id_stride == minor->id_stride * minor->size) {
                minor->size *= dims[dim];
            } else {
                digits[found++] = (digit){dims[dim], place_stride, id_stride};
            }
        }
        place_stride *= dims[dim];
    }
    reverse(digits, found);
    return found;
}

bool digits_part(const digit *digits, size_t count, int64_t place_stride, int64_t size,
                 tsr_stride *out, size_t *out_count)
{
    const int64_t end = place_stride * size;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t first = digits[i].place_stride;
        const int64_t last = first * digits[i].size;
        const int64_t low = max_i64(first, place_stride);
        const int64_t high = min_i64(last, end);
        if (low >= high) {
            continue;
        }
        if (low % first != 0 || last % high != 0 || high % low != 0 || low % place_stride != 0 ||
            end % high != 0) {
            return false;
        }
        out[found++] = (tsr_stride){high / low, digits[i].id_stride * (low / first)};
    }
    *out_count = tsr_strides_coalesce(out, found);
    return true;
}
