/* The pipelines, for the table of passes. */
#ifndef PASS_PIPELINES_H
#define PASS_PIPELINES_H

#include <tessera/pass.h>

bool expand_import(const tsr_pass_options *options, tsr_pipeline_add add, void *state);
bool expand_export(const tsr_pass_options *options, tsr_pipeline_add add, void *state);
bool expand_propagation(const tsr_pass_options *options, tsr_pipeline_add add, void *state);

#endif
