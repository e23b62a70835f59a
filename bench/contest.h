/*
 * A contest: several ways to do one work, checked to do the same, then timed in turns, beside
 * memcpy by the same ranks of as many bytes as each rank's larger shard holds.
 */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "works.h"

enum { MAX_CONTESTANTS = 12, MAX_ROUNDS = 32 };

/* The state of one rank for the works of one size. */
typedef struct contest {
    tsr_comm *world;
    tsr_comm *messages; /* over the same ranks, without shared memory; or NULL */
    int64_t ranks;
    const char *kind;
    void (*barrier)(struct contest *c); /* all ranks */
    work_case *work;
    tsr_tensor *owned[2]; /* in segments */
    tsr_tensor *user[2];  /* over `memory` */
    tsr_tensor *by_messages[2];
    char *memory[2]; /* the user's: room for the larger part, each */
    size_t room;
    void *peers; /* what contestants of a program keep for themselves */
} contest;

typedef enum contest_memory { IN_SEGMENTS, IN_USER_MEMORY } contest_memory;

/* A way to do a work. */
typedef struct contestant {
    const char *name;
    contest_memory memory;
    bool ours; /* what is wanted of the library is wanted of it */
    bool (*applies)(const contest *c);
    void (*run)(contest *c);
} contestant;

/* Those that need nothing but the library. */
extern const contestant library_contestants[];
extern const size_t num_library_contestants;

typedef struct contest_size {
    int64_t mebibytes;
    int rounds;
} contest_size;

/*
 * The sizes to measure, ended by one of 0. TSR_BENCH_QUICK=1 makes them fewer, TSR_BENCH_MIB is the
 * only one; TSR_BENCH_WORK, a part of its name, the only work.
 */
const contest_size *contest_sizes(void);

/* Every work of a size on the ranks of a world, with the library's contestants and some more. */
typedef struct contest_hooks {
    const contestant *peers;
    size_t num_peers;
    void (*open)(contest *c);
    void (*close)(contest *c);
} contest_hooks;
void contest_run(contest *c, const contest_size *size, const contest_hooks *hooks);

/*
 * The first use of fresh memory, which the system has to find: one work in a new world, beside
 * memcpy into memory just as fresh. At one size, the works of which something is wanted.
 */
enum { COLD_MIB = 64, COLD_ROUNDS = 3 };
typedef struct contest_cold {
    double ours;
    double limit;
} contest_cold;
bool contest_has_cold(const work_row *row);
contest_cold contest_cold_once(contest *c, const work_row *row);
void contest_report_cold(const contest *c, const work_row *row, const contest_cold *samples);

/* The library's barrier. */
void contest_barrier(contest *c);

#endif
