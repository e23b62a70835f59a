/*
 * Normal numbers by the inverse of their distribution function: Wichura's algorithm AS 241
 * (PPND16), good to about 1e-16. Only +, -, *, / and sqrt, which have the same result everywhere.
 */
#ifndef KERNEL_NORMAL_H
#define KERNEL_NORMAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { NORMAL_TERMS = 8 };

/* A quotient of two polynomials; the highest power first. */
typedef struct normal_quotient {
    double above[NORMAL_TERMS];
    double below[NORMAL_TERMS];
} normal_quotient;

static inline double normal_quotient_at(const normal_quotient *q, double x)
{
    double above = q->above[0];
    double below = q->below[0];
    for (int i = 1; i < NORMAL_TERMS; i++) {
        above = above * x + q->above[i];
        below = below * x + q->below[i];
    }
    return above / below;
}

/* -ln(p) for a normal number p in (0, 1): 2 atanh((f-1) / (f+1)), f in [sqrt(1/2), sqrt(2)). */
static inline double normal_minus_log(double p)
{
    uint64_t bits;
    memcpy(&bits, &p, sizeof bits);
    int64_t exponent = (int64_t)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    double f;
    memcpy(&f, &bits, sizeof f);
    if (f > 1.4142135623730951) {
        f *= 0.5;
        exponent++;
    }
    const double s = (f - 1.0) / (f + 1.0);
    const double z = s * s;
    double sum = 0.0;
    for (int term = 23; term >= 3; term -= 2) {
        sum = (sum + 1.0 / term) * z;
    }
    return -((double)exponent * 0.6931471805599453 + 2.0 * (s + s * sum));
}

/* The x <= 0 such that a share p of normal numbers is below it; p in (0, 1/2]. */
static inline double normal_quantile(double p)
{
    static const normal_quotient middle = {
        {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
         13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
        {5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
         5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0}};
    static const normal_quotient near = {
        {7.7454501427834140764e-4, .0227238449892691845833, .24178072517745061177,
         1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
         4.6303378461565452959, 1.42343711074968357734},
        {1.05075007164441684324e-9, 5.475938084995344946e-4, .0151986665636164571966,
         .14810397642748007459, .68976733498510000455, 1.6763848301838038494,
         2.05319162663775882187, 1.0}};
    static const normal_quotient far = {
        {2.01033439929228813265e-7, 2.71155556874348757815e-5, .0012426609473880784386,
         .026532189526576123093, .29656057182850489123, 1.7848265399172913358,
         5.4637849111641143699, 6.6579046435011037772},
        {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
         7.868691311456132591e-4, .0148753612908506148525, .13692988092273580531,
         .59983220655588793769, 1.0}};
    const double q = 0.5 - p;
    if (q <= 0.425) {
        return -q * normal_quotient_at(&middle, 0.180625 - q * q);
    }
    const double r = sqrt(normal_minus_log(p));
    return r <= 5.0 ? -normal_quotient_at(&near, r - 1.6) : -normal_quotient_at(&far, r - 5.0);
}

#endif
