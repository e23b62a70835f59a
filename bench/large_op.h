/* A program of one large op, run beside a library that computes the same. */
#ifndef BENCH_LARGE_OP_H
#define BENCH_LARGE_OP_H

#include <tessera/interpret.h>

#include "bench.h"

/* A program that runs again and again on the same inputs. */
typedef struct running {
    tsr_context *ctx;
    tsr_program *program;
    tsr_interpreter *interpreter;
    tsr_view inputs[2];
    size_t num_inputs;
    void *peer; /* what the other contestant needs */
} running;

void open_program(running *r, const char *text);
void close_program(running *r);

/* A contestant: one run, whose answer is the number of ops. */
int64_t run_once(void *state);

/* As many floats from -1 to 1, the same on every call; the caller frees them. */
float *random_floats(size_t count);

void report(const char *name, const char *peer, const timing *ours, const timing *theirs);

/* The elements of the first result of a run, compared with those of a peer. */
void insist_equal(running *r, const float *wanted, size_t count, double tolerance);

#endif
