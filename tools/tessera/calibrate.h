/*
 * `tessera calibrate`: what is measured, and the topology that fits it.
 *
 * A measurement is a redistribution over the ranks that differ at one level, or over all ranks. Its
 * time is modelled as a sum over levels of rounds x latency, and of bytes / bandwidth, plus reduced
 * bytes and copied bytes by the rates of a device. Measurements over one level are linear in these,
 * and are what the numbers are fitted to; those over all levels show whether the bytes of several
 * levels take their maximum, as plans assume, or their sum.
 */
#ifndef TOOL_CALIBRATE_H
#define TOOL_CALIBRATE_H

#include <tessera/tessera.h>

/* What a redistribution is; the layouts follow from it. */
enum measured_kind {
    MEASURED_SLICE,
    MEASURED_ALL_GATHER,
    MEASURED_ALL_TO_ALL,
    MEASURED_REDUCE_SCATTER,
    MEASURED_KINDS
};

struct measurement {
    enum measured_kind kind;
    size_t level;  /* the number of levels: over all of them */
    int64_t bytes; /* of the whole array */
    int64_t rounds[TSR_MAX_LEVELS];
    int64_t moved[TSR_MAX_LEVELS]; /* bytes that a rank receives */
    int64_t reduced;
    int64_t copied;
    double seconds; /* measured */
};

/* Sets rounds and bytes of a measurement over levels of these sizes. */
void calibrate_count(struct measurement *m, size_t num_levels, const int64_t *sizes);

/* How the bytes of several levels add up. */
enum level_rule { LEVELS_MAX, LEVELS_SUM };

/* The seconds of a measurement by a topology. */
double calibrate_predict(const tsr_topology_spec *t, const struct measurement *m,
                         enum level_rule rule);

/*
 * Sets the latencies and bandwidths of `levels` and the rates of a device so that the relative
 * errors of the measurements over one level are least, in three digits. The spec points to
 * `levels`.
 */
void calibrate_fit(const struct measurement *list, size_t count, tsr_topology_spec *t,
                   tsr_level *levels);

/* A whole number of at least 1, in three digits. */
int64_t calibrate_digits(double value);

/* How far predictions are off: factors of at least 1. */
struct residuals {
    double median;
    double worst;
};

/* Residuals over the measurements of at least `least` bytes; zeros if there are none. */
struct residuals calibrate_residuals(const tsr_topology_spec *t, const struct measurement *list,
                                     size_t count, int64_t least, enum level_rule rule);

#endif
