/*
 * The algorithms of the collectives: the table, the cost of each, and the choice.
 *
 * A call uses the cheapest algorithm for its size, the size of the group and the kind of link
 * between the ranks, by the formula of each. A world can be set to use another one, or to other
 * costs of its links. All ranks must set the same; where they do not, calls for which their choices
 * differ fail on all of them. Sources of up to 64 bytes travel in the control records of the
 * rendezvous at the start of every call, whatever is chosen, and are reduced in group order.
 *
 * Reductions keep the group order (collective.h) unless a world allows otherwise. In unordered mode
 * there are faster ones; sums and products of floats then depend on the number of members and on
 * the size of the array, and f16 and bf16 are rounded after each step. The bits are still the same
 * on every member and run after run.
 *
 * The environment is read once for each world, when it is opened; a fault there fails the opening.
 * TSR_ALGORITHMS="all-reduce=shares,broadcast=linear" as tsr_comm_set_algorithm TSR_UNORDERED=1 as
 * tsr_comm_allow_unordered
 */
#ifndef TESSERA_ALGORITHM_H
#define TESSERA_ALGORITHM_H

#include <tessera/comm.h>
#include <tessera/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How ranks reach each other. */
typedef enum tsr_medium {
    TSR_MEDIUM_SHARED,  /* by shared memory */
    TSR_MEDIUM_MESSAGES /* by messages, as between machines */
} tsr_medium;

/* What a link costs, in seconds. */
typedef struct tsr_link {
    double alpha; /* each message */
    double beta;  /* each byte that a member sends or receives */
    double gamma; /* each byte that it reduces */
    double delta; /* each byte that it copies in addition */
} tsr_link;

/*
 * A row of the table. Static. In the formula a, b, g and d are those of the link, n the bytes of
 * the whole array (of all-to-all those of one member), p the members, lg p the rounds of a
 * doubling; s is how many bits are set in the numbers below p; what is in brackets holds unless p
 * is a power of two.
 */
typedef struct tsr_algorithm {
    const char *collective; /* "all-reduce"; with counts "all-gather-v" */
    const char *name;       /* "shares" */
    const char *formula;
    bool shared; /* where it is available */
    bool messages;
    bool reduces;
    bool ordered; /* it keeps the group order, or does not reduce */
} tsr_algorithm;

/* Returns all algorithms, in the order of the collectives. */
TSR_API size_t tsr_algorithm_count(void) TSR_MT_SAFE;
TSR_API const tsr_algorithm *tsr_algorithm_at(size_t index) TSR_MT_SAFE;

/* Returns the seconds that a call takes by the formula of an algorithm. */
TSR_API double tsr_algorithm_cost(const tsr_algorithm *algorithm, const tsr_link *link,
                                  double bytes, int64_t ranks) TSR_MT_SAFE;

/*
 * Returns the default costs of a link. Shared memory: half a microsecond, 10 GB/s. Messages: 10
 * microseconds, 2 GB/s. To reduce and to copy: 10 GB/s.
 */
TSR_API tsr_link tsr_link_default(tsr_medium medium) TSR_MT_SAFE;

/* The inputs of a choice. Zeros are the defaults. */
typedef struct tsr_algorithm_settings {
    tsr_medium medium;
    bool unordered;
    TSR_NULLABLE const tsr_link *link;   /* NULL: tsr_link_default */
    TSR_NULLABLE const char *algorithms; /* as TSR_ALGORITHMS; NULL: none is set */
} tsr_algorithm_settings;

/*
 * What a world with these settings uses for a collective, by name, on an array of so many bytes as
 * in the formulas. Fails when the settings name an unknown collective or algorithm.
 */
TSR_API TSR_NODISCARD tsr_status tsr_algorithm_choose(tsr_context *ctx,
                                                      const tsr_algorithm_settings *settings,
                                                      const char *collective, double bytes,
                                                      int64_t ranks,
                                                      const tsr_algorithm **out) TSR_MT_CONTEXT;

/*
 * From now on, uses this algorithm for a collective in all groups of the world; "auto" restores the
 * cheapest. Collective over the world, with the same arguments on every rank, else it fails on all.
 * Refused: an unknown collective or algorithm, one that the medium does not have, one that does not
 * keep the order unless that is allowed, any while a request has not been waited for. Unordered
 * algorithms cannot compute an average; an average ignores the setting then.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_comm_set_algorithm(tsr_comm *world, TSR_COLLECTIVE const char *collective,
                       TSR_COLLECTIVE const char *name) TSR_MT_CONTEXT;

/*
 * Returns whether reductions may leave the group order. Collective as above. Refused: to forbid it
 * while an unordered algorithm is set.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_allow_unordered(tsr_comm *world,
                                                          bool allow) TSR_MT_CONTEXT;

/*
 * Sets the costs of the world's links, for the choice. Collective as above; finite and not
 * negative.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_set_link(tsr_comm *world,
                                                   const tsr_link *link) TSR_MT_CONTEXT;

/* What this group uses for a collective on so many bytes. Not collective. */
TSR_API TSR_NODISCARD tsr_status tsr_comm_algorithm(const tsr_comm *comm, const char *collective,
                                                    double bytes,
                                                    const tsr_algorithm **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
