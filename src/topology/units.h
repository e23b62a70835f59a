/* Quantities with units as texts: "1.5 us", "25 GB/s". Exact: no floating point. */
#ifndef TOPOLOGY_UNITS_H
#define TOPOLOGY_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum unit_kind { UNIT_LATENCY, UNIT_RATE, UNIT_MEMORY, UNIT_FLOPS } unit_kind;

/* What is wrong with a text. */
typedef enum unit_fault {
    UNIT_FINE,
    UNIT_NO_NUMBER, /* it does not start with a decimal number */
    UNIT_UNKNOWN,   /* the unit is missing, or measures another kind of quantity */
    UNIT_NOT_WHOLE, /* not a whole number of the smallest unit */
    UNIT_TOO_LARGE  /* above 2^63-1 of the smallest unit */
} unit_fault;

unit_fault unit_read(unit_kind kind, const char *text, int64_t *out);

/* Prints a quantity in the largest unit in which it is a whole number. */
void unit_print(unit_kind kind, int64_t value, char *out, size_t size);

/* The units of a kind as a list for messages, and the smallest one in words. */
const char *unit_names(unit_kind kind);
const char *unit_smallest(unit_kind kind);

#endif
