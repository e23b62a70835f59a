/* Worlds that stay open, and the ranks of one launch: threads, a process of mpirun, abstract. */
#ifndef RT_WORLD_H
#define RT_WORLD_H

#include "rt/comm.h"

/* Runs a function on a rank. One that leaves a request pending has failed. */
tsr_status rank_run(tsr_comm *world, tsr_rank_function function, void *state);

/* What tsr_launch does but for forked processes: opens a world, runs the function once, closes. */
tsr_status world_launch(tsr_context *ctx, const tsr_launch_spec *spec, tsr_rank_function function,
                        void *state);

#endif
