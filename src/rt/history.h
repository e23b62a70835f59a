/*
 * The calls on tensors that a rank has made, as a hash: all ranks make the same calls, so they have
 * the same hash at every rendezvous of the world. A call that moves nothing is compared with the
 * next one that does.
 */
#ifndef RT_HISTORY_H
#define RT_HISTORY_H

#include <stdint.h>

enum { HISTORY_CALLS = 15 }; /* and a count: the words of a record */

typedef struct history_call {
    const char *name; /* a literal */
    uint64_t hash;
} history_call;

/* The calls since the world opened, or since its last failure, which all ranks know of. */
typedef struct call_history {
    uint64_t hash;
    uint64_t count;
    history_call last[HISTORY_CALLS]; /* call n, from 1 on, at n % HISTORY_CALLS */
} call_history;

static inline uint64_t history_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Adds a call; returns its number. */
static inline uint64_t history_add(call_history *h, const char *name, uint64_t call)
{
    const uint64_t number = ++h->count;
    h->hash = history_mix(h->hash, call);
    h->last[number % HISTORY_CALLS] = (history_call){name, call};
    return number;
}

#endif
