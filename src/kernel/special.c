/* Functions of floats that C's library lacks. */
#include <float.h>
#include <math.h>

#include "kernel/complex.h"

/* e^-|x| I1(x): the power series below 30, the asymptotic one above. */
double special_bessel_i1e(double x)
{
    const double a = fabs(x);
    double sum = 0;
    if (isnan(x)) {
        return x;
    }
    if (a <= 30) {
        double term = a / 2;
        const double square = a * a / 4;
        for (int k = 1; term > sum * (DBL_EPSILON / 8) && k < 500; k++) {
            sum += term;
            term *= square / ((double)k * (k + 1));
        }
        sum *= exp(-a);
    } else {
        double term = 1;
        for (int k = 1; k < 40 && fabs(term) > DBL_EPSILON / 8; k++) {
            sum += term;
            const double odd = 2.0 * k - 1;
            term *= -(4 - odd * odd) / (8.0 * k * a);
        }
        sum /= sqrt(2 * M_PI * a);
    }
    return x < 0 ? -sum : sum;
}

/* By recurrence to where the asymptotic series is exact, and by reflection below 0. */
double special_digamma(double x)
{
    static const double series[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                    1.0 / 132, -691.0 / 32760, 1.0 / 12};
    double below = 0;
    if (isnan(x) || x == -INFINITY) {
        return NAN;
    }
    if (x <= 0) {
        if (x == floor(x)) {
            return NAN;
        }
        return special_digamma(1 - x) - M_PI / tan(M_PI * (x - floor(x)));
    }
    while (x < 10) {
        below += 1 / x;
        x += 1;
    }
    const double inverse = 1 / (x * x);
    double sum = 0;
    for (int i = 6; i >= 0; i--) {
        sum = (sum + series[i]) * inverse;
    }
    return log(x) - 0.5 / x - sum - below;
}

/* A first guess by Giles's approximation, then steps of Halley's method. */
double special_erf_inv(double x)
{
    static const double small[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                   -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                   -0.00417768164,  0.246640727,    1.50140941};
    static const double large[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                   -0.00367342844,  0.00573950773,  -0.0076224613,
                                   0.00943887047,   1.00167406,     2.83297682};
    const double a = fabs(x);
    if (isnan(x) || a > 1) {
        return NAN;
    }
    if (a == 1) {
        return copysign(INFINITY, x);
    }
    double w = -log1p(-a * a);
    const double *c = w < 5 ? small : large;
    w = w < 5 ? w - 2.5 : sqrt(w) - 3;
    double y = c[0];
    for (int i = 1; i < 9; i++) {
        y = y * w + c[i];
    }
    y *= a;
    for (int i = 0; i < 3; i++) {
        const double error = a < 0.5 ? erf(y) - a : (1 - a) - erfc(y);
        const double slope = M_2_SQRTPI * exp(-y * y);
        const double step = slope > 0 ? error / slope : 0;
        y -= step / (1 + y * step);
    }
    return copysign(y, x);
}

/* The sum of (q + k)^-s, by Euler and Maclaurin. */
double special_zeta(double s, double q)
{
    static const double factors[] = {12.0,
                                     -720.0,
                                     30240.0,
                                     -1209600.0,
                                     47900160.0,
                                     -1.8924375803183791606e9,
                                     7.47242496e10,
                                     -2.950130727918164224e12,
                                     1.1646782814350067249e14,
                                     -4.5979787224074726105e15,
                                     1.8152105401943546773e17,
                                     -7.1661652561756670113e18};
    if (isnan(s) || isnan(q) || s < 1) {
        return NAN;
    }
    if (s == 1) {
        return INFINITY;
    }
    if (q <= 0) {
        if (q == floor(q)) {
            return INFINITY;
        }
        if (s != floor(s)) {
            return NAN;
        }
    }
    double sum = pow(q, -s);
    double a = q;
    double b = sum;
    for (int i = 0; i < 9 || a <= 9; i++) {
        a += 1;
        b = pow(a, -s);
        sum += b;
        if (fabs(b) < DBL_EPSILON / 4 * fabs(sum)) {
            return sum;
        }
    }
    sum += b * a / (s - 1) - 0.5 * b;
    double rising = 1;
    for (int k = 0; k < 12; k++) {
        rising *= s + 2 * k;
        b /= a;
        const double term = rising * b / factors[k];
        sum += term;
        if (fabs(term) < DBL_EPSILON / 4 * fabs(sum)) {
            break;
        }
        rising *= s + 2 * k + 1;
        b /= a;
    }
    return sum;
}

double special_polygamma(double n, double x)
{
    if (isnan(n) || isnan(x) || n < 0 || n != floor(n)) {
        return NAN;
    }
    if (n == 0) {
        return special_digamma(x);
    }
    const double sign = fmod(n, 2) == 0 ? -1 : 1;
    return sign * exp(lgamma(n + 1)) * special_zeta(n + 1, x);
}
