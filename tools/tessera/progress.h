/*
 * Progress of long runs: on a terminal, what is under way and for how long, on one line of stderr
 * that goes away when the run ends. Nothing where stderr is not a terminal, or in the first second.
 */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

/* Starts a stage: `reading big.mlir`. The text must stay. NULL ends the last one and clears. */
void progress_stage(const char *what);

#endif
