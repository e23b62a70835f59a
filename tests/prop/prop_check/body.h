/*
 * Random bodies of manual computations: as text, and as what each device of a small mesh computes.
 */
#ifndef BODY_H
#define BODY_H

#include "random.h"

enum {
    NUM_DIGITS = 3,
    MAX_DEVICES = 8,
    ELEMENTS = 4,
    MAX_VALUES = 24,
    NUM_ARGUMENTS = 4,
    MAX_BYTES = 1 << 17
};

/* Devices are numbered by digits: the two parts of "x", then "y". The digits of each axis: */
extern const int axis_masks[2];

typedef struct value {
    uint64_t at[MAX_DEVICES][ELEMENTS];
} value;

typedef struct body {
    rng *r;
    int64_t sizes[NUM_DIGITS];
    int64_t num_devices;
    size_t num_values;
    value values[MAX_VALUES];
    char names[MAX_VALUES][16];
    char *text;
    int size;
} body;

/* The device that is like `device`, with digits of a mask like those of another. */
int64_t device_like(const body *b, int64_t device, int mask, int64_t other);

/* Makes a body that returns all its values, declared replicated. */
void make_body(body *b);

#endif
