/*
 * The algorithms of the collectives: the table, the cost of each, and the choice.
 *
 * A call uses the cheapest algorithm for its size, the size of the group and the kind of link
 * between the ranks, by the formula of each. A world can be set to use another one, or to other
 * costs of its links. All ranks must use the same settings; otherwise calls for which their choices
 * differ fail on all of them. Sources of up to 64 bytes are part of the control records of the
 * rendezvous at the start of every call, whatever the algorithm, and are reduced in group order.
 *
 * Reductions keep the group order (collective.h) unless a world allows otherwise. Unordered mode
 * has faster algorithms; sums and products of floats then depend on the number of members and on
 * the size of the array, and f16 and bf16 are rounded after each step. The bits are still the same
 * on every member and in every run.
 *
 * The environment is read once for each world, when it is opened; an invalid value fails the
 * opening. TSR_ALGORITHMS="all-reduce=shares,broadcast=linear" has the effect of
 * tsr_comm_set_algorithm. TSR_UNORDERED=1 has the effect of tsr_comm_allow_unordered.
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

/* The costs of a link, in seconds. */
typedef struct tsr_link {
    double alpha; /* per message */
    double beta;  /* per byte that a member sends or receives */
    double gamma; /* per byte that it reduces */
    double delta; /* per byte that it copies in addition */
} tsr_link;

/*
 * A row of the table. Static. In the formula a, b, g and d are the fields of the link; n is the
 * number of bytes of the whole array (for all-to-all, of one member's array), p the number of
 * members, lg p the number of rounds of a doubling, s the number of bits set in the numbers below
 * p. Terms in brackets apply unless p is a power of two.
 */
typedef struct tsr_algorithm {
    const char *collective; /* "all-reduce"; with counts "all-gather-v" */
    const char *name;       /* "shares" */
    const char *formula;
    bool shared; /* available over shared memory */
    bool messages;
    bool reduces;
    bool ordered; /* it keeps the group order, or does not reduce */
} tsr_algorithm;

/*
 * tsr_algorithm_count returns the number of algorithms; tsr_algorithm_at returns one of them, in
 * the order of the collectives, or NULL if the index is out of range.
 */
TSR_API size_t tsr_algorithm_count(void) TSR_MT_SAFE;
TSR_API const tsr_algorithm *tsr_algorithm_at(size_t index) TSR_MT_SAFE;

/* Computes the seconds that a call takes by the formula of an algorithm. */
TSR_API double tsr_algorithm_cost(const tsr_algorithm *algorithm, const tsr_link *link,
                                  double bytes, int64_t ranks) TSR_MT_SAFE;

/*
 * Returns the default costs of a link. Shared memory: half a microsecond, 10 GB/s. Messages: 10
 * microseconds, 2 GB/s. Reductions and copies: 10 GB/s.
 */
TSR_API tsr_link tsr_link_default(tsr_medium medium) TSR_MT_SAFE;

/* The inputs of a choice. Zeros are the defaults. */
typedef struct tsr_algorithm_settings {
    tsr_medium medium;
    bool unordered;
    TSR_NULLABLE const tsr_link *link;   /* NULL: tsr_link_default */
    TSR_NULLABLE const char *algorithms; /* in the syntax of TSR_ALGORITHMS; NULL sets none */
} tsr_algorithm_settings;

/*
 * Finds the algorithm that a world with these settings uses for a collective, given by name, on an
 * array of this many bytes (n of the formulas). Fails if the settings name an unknown collective or
 * algorithm.
 */
TSR_API TSR_NODISCARD tsr_status tsr_algorithm_choose(tsr_context *ctx,
                                                      const tsr_algorithm_settings *settings,
                                                      const char *collective, double bytes,
                                                      int64_t ranks,
                                                      const tsr_algorithm **out) TSR_MT_CONTEXT;

/*
 * Makes all groups of the world use an algorithm for a collective from this call on; "auto"
 * restores the cheapest. Collective over the world: the call fails on every rank if arguments
 * differ. Rejects an unknown collective or algorithm, an algorithm that the medium does not have,
 * an algorithm that does not keep the group order unless the world allows that, and any change
 * while a request is pending. Unordered algorithms cannot compute an average; an average ignores
 * the setting.
 */
TSR_API TSR_NODISCARD tsr_status
tsr_comm_set_algorithm(tsr_comm *world, TSR_COLLECTIVE const char *collective,
                       TSR_COLLECTIVE const char *name) TSR_MT_CONTEXT;

/*
 * Allows or forbids reductions that leave the group order. Collective, with the same argument on
 * every rank. Rejects a prohibition while an unordered algorithm is set.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_allow_unordered(tsr_comm *world,
                                                          bool allow) TSR_MT_CONTEXT;

/*
 * Sets the costs of the world's links, from which algorithms are chosen. Collective, with the same
 * argument on every rank; the costs must be finite and not negative.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_set_link(tsr_comm *world,
                                                   const tsr_link *link) TSR_MT_CONTEXT;

/* Finds the algorithm that this group uses for a collective on this many bytes. Not collective. */
TSR_API TSR_NODISCARD tsr_status tsr_comm_algorithm(const tsr_comm *comm, const char *collective,
                                                    double bytes,
                                                    const tsr_algorithm **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
