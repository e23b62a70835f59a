/* tessera calibrate: what a measurement moves, counted rank by rank, and numbers fitted to times.
 */
#include <math.h>
#include <string.h>

#include "calibrate.h"
#include "random.h"

enum { MAX_LISTED = 64 };

static struct measurement counted(int kind, size_t level, int64_t bytes, size_t num_levels,
                                  const int64_t *sizes)
{
    struct measurement m = {
        .kind = (enum measured_kind)kind, .level = level, .bytes = bytes, .seconds = 1e-6};
    calibrate_count(&m, num_levels, sizes);
    return m;
}

/* The level at which two ranks differ first; the number of levels if they are equal. */
static size_t level_between(size_t num_levels, const int64_t *sizes, int64_t a, int64_t b)
{
    int64_t inner = 1;
    size_t found = num_levels;
    for (size_t l = num_levels; l-- > 0;) {
        found = a / inner % sizes[l] != b / inner % sizes[l] ? l : found;
        inner *= sizes[l];
    }
    return found;
}

/* Whether two ranks take part in one group of a measurement: they differ at no other level. */
static bool are_grouped(const struct measurement *m, size_t num_levels, const int64_t *sizes,
                        int64_t a, int64_t b)
{
    int64_t inner = 1;
    bool grouped = true;
    for (size_t l = num_levels; l-- > 0;) {
        const bool differ = a / inner % sizes[l] != b / inner % sizes[l];
        grouped = grouped && (!differ || m->level == num_levels || m->level == l);
        inner *= sizes[l];
    }
    return grouped;
}

/* What rank 0 gets of each peer, one peer at a time, against what is counted by levels. */
static void counts_are_those_of_peers(void **state)
{
    (void)state;
    static const struct {
        size_t num_levels;
        int64_t sizes[3];
    } machines[] = {{1, {5}}, {2, {2, 3}}, {2, {4, 2}}, {3, {2, 3, 2}}};
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        const size_t levels = machines[i].num_levels;
        const int64_t *sizes = machines[i].sizes;
        int64_t ranks = 1;
        for (size_t l = 0; l < levels; l++) {
            ranks *= sizes[l];
        }
        for (int kind = 0; kind < MEASURED_KINDS; kind++) {
            for (size_t level = 0; level <= levels; level++) {
                const struct measurement m =
                    counted(kind, level, ranks * ranks * 12, levels, sizes);
                int64_t rounds[TSR_MAX_LEVELS] = {0};
                int64_t group = 0;
                for (int64_t r = 0; r < ranks; r++) {
                    if (are_grouped(&m, levels, sizes, 0, r)) {
                        group++;
                        rounds[level_between(levels, sizes, 0, r)] += r > 0;
                    }
                }
                const int64_t part = m.bytes / group;
                assert_int_equal(m.copied, kind == MEASURED_SLICE ? part : 0);
                assert_int_equal(m.reduced,
                                 kind == MEASURED_REDUCE_SCATTER ? (group - 1) * part : 0);
                for (size_t l = 0; l < levels; l++) {
                    const int64_t from_each = kind == MEASURED_ALL_TO_ALL ? part / group : part;
                    assert_int_equal(m.rounds[l], kind == MEASURED_SLICE ? 0 : rounds[l]);
                    assert_int_equal(m.moved[l], m.rounds[l] * from_each);
                }
            }
        }
    }
}

/* Measurements over the levels of a machine, whose times are those of a topology. */
static size_t make_list(struct measurement *list, const tsr_topology_spec *t)
{
    int64_t sizes[TSR_MAX_LEVELS];
    size_t count = 0;
    for (size_t l = 0; l < t->num_levels; l++) {
        sizes[l] = t->levels[l].size;
    }
    for (int64_t bytes = 4096; bytes <= 4096 << 12; bytes *= 64) {
        for (size_t level = 0; level <= t->num_levels; level++) {
            for (int kind = 0; kind < MEASURED_KINDS; kind++) {
                if ((kind == MEASURED_SLICE) == (level == t->num_levels)) {
                    list[count] = counted(kind, level, bytes, t->num_levels, sizes);
                    list[count].seconds = calibrate_predict(t, &list[count], LEVELS_MAX);
                    count++;
                }
            }
        }
    }
    return count;
}

static void assert_near(int64_t got, int64_t wanted)
{
    if (fabs((double)got / (double)wanted - 1) > 0.02) {
        fail_msg("%lld instead of %lld", (long long)got, (long long)wanted);
    }
}

/* Times that a topology predicts give that topology back, whatever its numbers are. */
static void fits_give_the_topology_back(void **state)
{
    (void)state;
    rng r = rng_start("fits_give_the_topology_back");
    for (int i = 0; i < 200; i++) {
        tsr_level levels[3];
        tsr_level fitted[3];
        tsr_topology_spec t = {.num_levels = (size_t)(1 + rng_below(&r, 3)),
                               .levels = levels,
                               .copy_bandwidth = 1000000000 + rng_below(&r, 100000000000),
                               .reduce_bandwidth = 1000000000 + rng_below(&r, 10000000000)};
        for (size_t l = 0; l < t.num_levels; l++) {
            levels[l] = (tsr_level){"l", 2 + rng_below(&r, 4), 1000 + rng_below(&r, 10000000),
                                    100000000 + rng_below(&r, 10000000000)};
        }
        struct measurement list[MAX_LISTED];
        const size_t count = make_list(list, &t);
        tsr_topology_spec got = {.num_levels = t.num_levels};
        memcpy(fitted, levels, sizeof levels);
        calibrate_fit(list, count, &got, fitted);
        for (size_t l = 0; l < t.num_levels; l++) {
            assert_near(fitted[l].bandwidth, levels[l].bandwidth);
            assert_near(fitted[l].latency, levels[l].latency);
        }
        assert_near(got.copy_bandwidth, t.copy_bandwidth);
        assert_near(got.reduce_bandwidth, t.reduce_bandwidth);
        const struct residuals all = calibrate_residuals(&got, list, count, 0, LEVELS_MAX);
        assert_true(all.median < 1.02 && all.worst < 1.05);
    }
}

/* The sum of squares of relative errors of what moves along the only level. */
static double error_of(const tsr_topology_spec *t, const struct measurement *list, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].copied == 0 && list[i].reduced == 0) {
            sum += pow(calibrate_predict(t, &list[i], LEVELS_MAX) / list[i].seconds - 1, 2);
        }
    }
    return sum;
}

/* Of times that no topology has, no numbers near the fitted ones fit better. */
static void fits_are_least(void **state)
{
    (void)state;
    rng r = rng_start("fits_are_least");
    for (int i = 0; i < 500; i++) {
        tsr_level level = {"l", 2 + rng_below(&r, 6), rng_below(&r, 2) * 1000000, 1000000000};
        tsr_topology_spec t = {.num_levels = 1,
                               .levels = &level,
                               .copy_bandwidth = 1000000000,
                               .reduce_bandwidth = 1000000000};
        struct measurement list[MAX_LISTED];
        const size_t count = make_list(list, &t);
        for (size_t k = 0; k < count; k++) {
            list[k].seconds *= 0.3 + (double)rng_below(&r, 1000) / 300;
        }
        calibrate_fit(list, count, &t, &level);
        const double least = error_of(&t, list, count);
        for (int step = 0; step < 4; step++) {
            tsr_level other = level;
            const int64_t by = step % 2 == 0 ? 30 : -30;
            if (step < 2) {
                other.latency += other.latency / by;
            } else {
                other.bandwidth += other.bandwidth / by;
            }
            t.levels = &other;
            if (error_of(&t, list, count) < 0.999 * least) {
                fail_msg("case %d: %g, but %g for step %d", i, least, error_of(&t, list, count),
                         step);
            }
        }
    }
}

/* What cannot be told from infinite, and times that are all alike. */
static void fits_at_the_border(void **state)
{
    (void)state;
    tsr_level level = {"l", 2, 5, 5};
    tsr_topology_spec t = {.num_levels = 1};
    calibrate_fit(NULL, 0, &t, &level);
    assert_int_equal(level.latency, 0);
    assert_int_equal(level.bandwidth, INT64_C(1000000000000000));
    assert_int_equal(t.copy_bandwidth, INT64_C(1000000000000000));
    const struct residuals none = calibrate_residuals(&t, NULL, 0, 0, LEVELS_SUM);
    assert_true(none.median == 0 && none.worst == 0);

    static const int64_t two[] = {2};
    const struct measurement list[2] = {counted(MEASURED_ALL_GATHER, 0, 4096, 1, two),
                                        counted(MEASURED_ALL_GATHER, 0, 65536, 1, two)};
    calibrate_fit(list, 2, &t, &level);
    assert_int_equal(level.latency, 1000000);
    assert_int_equal(level.bandwidth, INT64_C(1000000000000000));

    assert_int_equal(calibrate_digits(0), 1);
    assert_int_equal(calibrate_digits(999.4), 999);
    assert_int_equal(calibrate_digits(123456789), 123000000);
    assert_int_equal(calibrate_digits(1e300), INT64_C(1000000000000000));
}

/* Over levels that work at the same time a prediction takes the slower one, or both. */
static void levels_take_their_maximum_or_their_sum(void **state)
{
    (void)state;
    static const tsr_level levels[] = {{"outer", 2, 1000000, 1000000}, {"inner", 2, 0, 2000000}};
    const tsr_topology_spec t = {
        .num_levels = 2, .levels = levels, .copy_bandwidth = 1000000, .reduce_bandwidth = 1000000};
    static const int64_t sizes[] = {2, 2};
    const struct measurement m = counted(MEASURED_ALL_GATHER, 2, 4000000, 2, sizes);
    /* 2 rounds of 1 us; 2 parts of 1 MB by the outer level, 1 by the inner one. */
    assert_true(fabs(calibrate_predict(&t, &m, LEVELS_MAX) - 2.000002) < 1e-9);
    assert_true(fabs(calibrate_predict(&t, &m, LEVELS_SUM) - 2.500002) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_peers),
        cmocka_unit_test(fits_give_the_topology_back),
        cmocka_unit_test(fits_are_least),
        cmocka_unit_test(fits_at_the_border),
        cmocka_unit_test(levels_take_their_maximum_or_their_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
