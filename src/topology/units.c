#include "topology/units.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define K INT64_C(1000)
#define KI INT64_C(1024)

typedef struct unit {
    const char *name;
    int64_t size; /* of the smallest unit */
} unit;

/* Ascending; a value is printed in the last one that divides it. */
static const unit latencies[] = {
    {"ps", 1}, {"ns", K}, {"us", K *K}, {"ms", K *K *K}, {"s", K *K *K *K}};
static const unit rates[] = {{"B/s", 1},
                             {"kbit/s", K / 8},
                             {"kB/s", K},
                             {"KiB/s", KI},
                             {"Mbit/s", K *K / 8},
                             {"MB/s", K *K},
                             {"MiB/s", KI *KI},
                             {"Gbit/s", K *K *K / 8},
                             {"GB/s", K *K *K},
                             {"GiB/s", KI *KI *KI},
                             {"Tbit/s", K *K *K *K / 8},
                             {"TB/s", K *K *K *K},
                             {"TiB/s", KI *KI *KI *KI}};
static const unit sizes[] = {{"B", 1},
                             {"kB", K},
                             {"KiB", KI},
                             {"MB", K *K},
                             {"MiB", KI *KI},
                             {"GB", K *K *K},
                             {"GiB", KI *KI *KI},
                             {"TB", K *K *K *K},
                             {"TiB", KI *KI *KI *KI}};
static const unit flops[] = {{"flop/s", 1},           {"kflop/s", K},
                             {"Mflop/s", K *K},       {"Gflop/s", K *K *K},
                             {"Tflop/s", K *K *K *K}, {"Pflop/s", K *K *K *K *K}};

static const struct {
    const unit *units;
    size_t count;
    const char *names;
    const char *smallest;
} kinds[] = {
    [UNIT_LATENCY] = {latencies, sizeof latencies / sizeof *latencies, "ps, ns, us, ms, s",
                      "picoseconds"},
    [UNIT_RATE] = {rates, sizeof rates / sizeof *rates,
                   "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s, kbit/s, Mbit/s, "
                   "Gbit/s, Tbit/s",
                   "bytes a second"},
    [UNIT_MEMORY] = {sizes, sizeof sizes / sizeof *sizes, "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB",
                     "bytes"},
    [UNIT_FLOPS] = {flops, sizeof flops / sizeof *flops,
                    "flop/s, kflop/s, Mflop/s, Gflop/s, Tflop/s, Pflop/s", "operations a second"},
};

const char *unit_names(unit_kind kind)
{
    return kinds[kind].names;
}

const char *unit_smallest(unit_kind kind)
{
    return kinds[kind].smallest;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/*
 * Reads digits with at most one point among them: the number is *digits / *divisor. Zeros at the
 * end of the fraction change nothing, so they are skipped.
 */
static unit_fault read_decimal(const char **text, int64_t *digits, int64_t *divisor)
{
    const char *at = *text;
    const char *end = at;
    *digits = 0;
    *divisor = 1;
    while (is_digit(*end)) {
        end++;
    }
    const char *point = *end == '.' ? end : NULL;
    for (end = point != NULL ? end + 1 : end; point != NULL && is_digit(*end);) {
        end++;
    }
    if (!is_digit(*at) || (point != NULL && end == point + 1)) {
        return UNIT_NO_NUMBER;
    }
    *text = end;
    while (point != NULL && end[-1] == '0') {
        end--;
    }
    for (; at < end; at++) {
        const bool fraction = point != NULL && at > point;
        if (at == point) {
            continue;
        }
        if (!checked_mul(*digits, 10, digits) || !checked_add(*digits, *at - '0', digits) ||
            (fraction && !checked_mul(*divisor, 10, divisor))) {
            return fraction ? UNIT_NOT_WHOLE : UNIT_TOO_LARGE;
        }
    }
    return UNIT_FINE;
}

unit_fault unit_read(unit_kind kind, const char *text, int64_t *out)
{
    int64_t digits = 0;
    int64_t divisor = 1;
    const unit_fault fault = read_decimal(&text, &digits, &divisor);
    if (fault != UNIT_FINE) {
        return fault;
    }
    while (*text == ' ') {
        text++;
    }
    for (size_t i = 0; i < kinds[kind].count; i++) {
        const unit *u = &kinds[kind].units[i];
        if (strcmp(u->name, text) != 0) {
            continue;
        }
        const __int128 value = (__int128)digits * u->size;
        if (value % divisor != 0) {
            return UNIT_NOT_WHOLE;
        }
        if (value / divisor > INT64_MAX) {
            return UNIT_TOO_LARGE;
        }
        *out = (int64_t)(value / divisor);
        return UNIT_FINE;
    }
    return UNIT_UNKNOWN;
}

void unit_print(unit_kind kind, int64_t value, char *out, size_t size)
{
    const unit *best = kinds[kind].units;
    for (size_t i = 0; i < kinds[kind].count; i++) {
        if (value > 0 && value % kinds[kind].units[i].size == 0) {
            best = &kinds[kind].units[i];
        }
    }
    (void)snprintf(out, size, "%lld %s", (long long)(value / best->size), best->name);
}
