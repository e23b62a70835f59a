/* Status codes, the version, and the words that mark every prototype. */
#ifndef TESSERA_BASE_H
#define TESSERA_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TSR_VERSION_MAJOR 0
#define TSR_VERSION_MINOR 1
#define TSR_VERSION_PATCH 0

/* Raised whenever a program compiled against older headers could misbehave with this library. */
#define TSR_ABI_VERSION 6

#if defined(__GNUC__) || defined(__clang__)
#define TSR_API __attribute__((__visibility__("default")))
#define TSR_NODISCARD __attribute__((__warn_unused_result__))
#define TSR_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))
#else
#define TSR_API
#define TSR_NODISCARD
#define TSR_PRINTF(at, first)
#endif

/*
 * Thread-safety words. Every prototype ends in one of them.
 *
 * TSR_MT_SAFE: may be called from any thread at any time; const arguments may be shared.
 * TSR_MT_CONTEXT: uses the context (or the arena or table made from one) that it is given; one
 * thread at a time for each of those. Const arguments may still be shared.
 */
#define TSR_MT_SAFE
#define TSR_MT_CONTEXT

/*
 * Words that state what a pointer may be. A pointer with neither word must not be NULL.
 *
 * TSR_NULLABLE: may be NULL; the comment states the meaning of NULL.
 * TSR_ARRAY(n): the first of n elements; may be NULL if n is 0. Elements that are pointers must not
 * be NULL, unless TSR_NULLABLE precedes TSR_ARRAY.
 */
#define TSR_NULLABLE
#define TSR_ARRAY(n)

/*
 * TSR_COLLECTIVE: an invalid value on one rank is reported on every rank. Other invalid arguments
 * are reported only on the rank that passed them; the other ranks then fail with TSR_ERR_PEER or a
 * time-out.
 */
#define TSR_COLLECTIVE

#ifdef __cplusplus
extern "C" {
#endif

/* An unknown extent (`?` in a shape). */
#define TSR_UNKNOWN INT64_C(-1)

/*
 * The result of a call. Zero is success, positive values are not errors, negative values are
 * failures. A failure leaves at least one diagnostic in the context (if the call takes one) and
 * does not change the outputs, except lists that the caller provides.
 */
typedef enum tsr_status {
    TSR_OK = 0,
    TSR_IN_PROGRESS = 1,      /* not complete yet; call again */
    TSR_NOT_APPLICABLE = 2,   /* the question has no answer for these arguments */
    TSR_ERR_NOMEM = -1,       /* the allocator returned NULL */
    TSR_ERR_INVALID = -2,     /* an argument breaks a rule; the diagnostic says which */
    TSR_ERR_SYNTAX = -3,      /* text that does not parse */
    TSR_ERR_OVERFLOW = -4,    /* a product or sum of extents exceeds 2^63-1 */
    TSR_ERR_LIMIT = -5,       /* larger than a limit of this function */
    TSR_ERR_UNSUPPORTED = -6, /* well formed, but cannot be expressed or executed here */
    TSR_ERR_TIMEOUT = -7,     /* a rank did not arrive in time; the communicator is broken */
    TSR_ERR_PEER = -8,        /* another rank failed, ended or made a different call */
    TSR_ERR_CHECK = -9        /* a check in a program does not hold */
} tsr_status;

/* Returns the name of a status, such as "TSR_ERR_NOMEM"; "TSR_?" for an unknown value. Static. */
TSR_API const char *tsr_status_name(tsr_status status) TSR_MT_SAFE;

/* Returns the version of the library that is loaded, as "major.minor.patch". Static. */
TSR_API const char *tsr_version(void) TSR_MT_SAFE;

/*
 * Checks that the loaded library serves programs compiled with these headers: pass TSR_ABI_VERSION.
 * Returns TSR_OK, or TSR_ERR_UNSUPPORTED if the library has another ABI.
 */
TSR_API tsr_status tsr_abi_check(int abi_version) TSR_MT_SAFE;

#ifdef __cplusplus
}
#endif

#endif
