/*
 * Variables of the environment: what they may say, and an error that names the variable, the value
 * and the choice where they say something else. One that is unset or empty says nothing.
 */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <tessera/context.h>

/* 0 or 1; false when the variable says nothing. */
tsr_status environment_flag(tsr_context *ctx, const char *name, bool *out);

/* A number above 0; 0 when the variable says nothing. */
tsr_status environment_count(tsr_context *ctx, const char *name, int64_t *out);

/* One of several words, the number of it; -1 when the variable says nothing. The list ends with
 * NULL. */
tsr_status environment_word(tsr_context *ctx, const char *name, const char *const *words, int *out);

#endif
