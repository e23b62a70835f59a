/* The topology that fits measurements: least squares of relative errors, in closed form. */
#include "calibrate.h"

#include <math.h>
#include <stdlib.h>

/* Rates that measurements cannot tell from infinite. */
static const double MAX_RATE = 1e15;
static const double PICOSECONDS = 1e12;

void calibrate_count(struct measurement *m, size_t num_levels, const int64_t *sizes)
{
    int64_t ranks = 1;
    for (size_t l = 0; l < num_levels; l++) {
        ranks *= m->level == num_levels || m->level == l ? sizes[l] : 1;
    }
    const int64_t share = m->bytes / ranks;
    if (m->kind == MEASURED_SLICE) {
        m->copied = share;
        return;
    }
    int64_t inner = 1;
    for (size_t l = num_levels; l-- > 0;) {
        const int64_t size = m->level == num_levels || m->level == l ? sizes[l] : 1;
        m->rounds[l] = (size - 1) * inner;
        /* Of an all-to-all a rank has one share before, and sends a part of it to each. */
        m->moved[l] = m->rounds[l] * (m->kind == MEASURED_ALL_TO_ALL ? share / ranks : share);
        inner *= size;
    }
    m->reduced = m->kind == MEASURED_REDUCE_SCATTER ? (ranks - 1) * share : 0;
}

double calibrate_predict(const tsr_topology_spec *t, const struct measurement *m,
                         enum level_rule rule)
{
    double seconds = 0;
    double moving = 0;
    for (size_t l = 0; l < t->num_levels; l++) {
        const double level = (double)m->moved[l] / (double)t->levels[l].bandwidth;
        seconds += (double)m->rounds[l] * (double)t->levels[l].latency / PICOSECONDS;
        moving = rule == LEVELS_MAX ? fmax(moving, level) : moving + level;
    }
    return seconds + moving + (double)m->reduced / (double)t->reduce_bandwidth +
           (double)m->copied / (double)t->copy_bandwidth;
}

/*
 * A fit of at most two numbers x and y that are not negative: sums of products over rows (a, b, 1)
 * of a x + b y = 1, which are measurements divided by their times.
 */
struct sums {
    double aa;
    double ab;
    double bb;
    double a;
    double b;
};

static void add_row(struct sums *s, double a, double b)
{
    s->aa += a * a;
    s->ab += a * b;
    s->bb += b * b;
    s->a += a;
    s->b += b;
}

static void solve(const struct sums *s, double *x, double *y)
{
    const double determinant = s->aa * s->bb - s->ab * s->ab;
    *x = determinant > 0 ? (s->bb * s->a - s->ab * s->b) / determinant : 0;
    *y = determinant > 0 ? (s->aa * s->b - s->ab * s->a) / determinant : -1;
    if (*x <= 0 || *y <= 0) {
        /* One of them is 0: the one without which the error is smaller is left. */
        const bool second = s->bb > 0 && (s->aa <= 0 || s->b * s->b / s->bb > s->a * s->a / s->aa);
        *x = !second && s->aa > 0 ? s->a / s->aa : 0;
        *y = second ? s->b / s->bb : 0;
    }
}

int64_t calibrate_digits(double value)
{
    const double bounded = fmin(fmax(value, 1), MAX_RATE);
    const double unit = pow(10, fmax(floor(log10(bounded)) - 2, 0));
    return (int64_t)(round(bounded / unit) * unit);
}

static int64_t rate(double seconds_per_byte)
{
    const double exact = seconds_per_byte > 0 ? 1 / seconds_per_byte : MAX_RATE;
    return (int64_t)fmin(fmax(exact, 1), MAX_RATE);
}

/* The latency and bandwidth of a level, from what only moves along it. */
static void fit_level(const struct measurement *list, size_t count, size_t level, tsr_level *out)
{
    struct sums sums = {0};
    double latency = 0;
    double per_byte = 0;
    for (size_t i = 0; i < count; i++) {
        const struct measurement *m = &list[i];
        if (m->level == level && m->reduced == 0 && m->copied == 0 && m->seconds > 0) {
            add_row(&sums, (double)m->rounds[level] / m->seconds,
                    (double)m->moved[level] / m->seconds);
        }
    }
    solve(&sums, &latency, &per_byte);
    out->latency = latency > 0 ? (int64_t)fmin(latency * PICOSECONDS, MAX_RATE) : 0;
    out->bandwidth = rate(per_byte);
}

/* The rates of a device, from what is left of the times when the levels are known. */
static void fit_device(const struct measurement *list, size_t count, tsr_topology_spec *t)
{
    double reduced[2] = {0};
    double copied[2] = {0};
    const int64_t copy = t->copy_bandwidth;
    const int64_t reduce = t->reduce_bandwidth;
    for (size_t i = 0; i < count; i++) {
        const struct measurement *m = &list[i];
        struct measurement moves = *m;
        moves.reduced = 0;
        moves.copied = 0;
        const double rest = 1 - calibrate_predict(t, &moves, LEVELS_MAX) / m->seconds;
        if (m->copied > 0) {
            const double row = (double)m->copied / m->seconds;
            copied[0] += row;
            copied[1] += row * row;
        } else if (m->reduced > 0 && m->level < t->num_levels) {
            const double row = (double)m->reduced / m->seconds;
            reduced[0] += row * rest;
            reduced[1] += row * row;
        }
    }
    t->copy_bandwidth = copied[1] > 0 ? rate(copied[0] / copied[1]) : copy;
    t->reduce_bandwidth = reduced[1] > 0 ? rate(reduced[0] / reduced[1]) : reduce;
}

void calibrate_fit(const struct measurement *list, size_t count, tsr_topology_spec *t,
                   tsr_level *levels)
{
    for (size_t l = 0; l < t->num_levels; l++) {
        fit_level(list, count, l, &levels[l]);
    }
    t->levels = levels;
    t->copy_bandwidth = (int64_t)MAX_RATE;
    t->reduce_bandwidth = (int64_t)MAX_RATE;
    fit_device(list, count, t);
    for (size_t l = 0; l < t->num_levels; l++) {
        levels[l].latency = levels[l].latency > 0 ? calibrate_digits((double)levels[l].latency) : 0;
        levels[l].bandwidth = calibrate_digits((double)levels[l].bandwidth);
    }
    t->copy_bandwidth = calibrate_digits((double)t->copy_bandwidth);
    t->reduce_bandwidth = calibrate_digits((double)t->reduce_bandwidth);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

struct residuals calibrate_residuals(const tsr_topology_spec *t, const struct measurement *list,
                                     size_t count, int64_t least, enum level_rule rule)
{
    struct residuals found = {0};
    double *factors = malloc((count > 0 ? count : 1) * sizeof *factors);
    size_t used = 0;
    for (size_t i = 0; i < count && factors != NULL; i++) {
        const double ratio = calibrate_predict(t, &list[i], rule) / list[i].seconds;
        if (list[i].bytes >= least) {
            factors[used++] = fmax(ratio, 1 / ratio);
        }
    }
    if (used > 0) {
        qsort(factors, used, sizeof *factors, by_value);
        found = (struct residuals){factors[used / 2], factors[used - 1]};
    }
    free(factors);
    return found;
}
