/*
 * The algorithms of the collectives: which there are, what each costs, which one is taken.
 *
 * A call takes the cheapest algorithm for its size, the size of the group and the kind of link
 * between the ranks, by the formula of each. A world can be told to take another one, or how dear
 * its links are. All ranks must say the same; where they do not, the calls that would go different
 * ways fail on all of them. Sources of up to 64 bytes travel with the meeting in which every call
 * begins, whatever is chosen, in the order of the group.
 *
 * Reductions keep the order of the group (collective.h) unless a world allows otherwise. In
 * unordered mode there are faster ones; sums and products of floats then depend on the number of
 * members and on the size of the array, and f16 and bf16 are rounded after each step. The bits are
 * still the same on every member and run after run.
 *
 * The environment is read once for each world, when it is opened; what is wrong there fails that.
 *   TSR_ALGORITHMS="all-reduce=shares,broadcast=linear"   as tsr_comm_set_algorithm
 *   TSR_UNORDERED=1                                       as tsr_comm_allow_unordered
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
    TSR_MEDIUM_SHARED,  /* by memory that they share */
    TSR_MEDIUM_MESSAGES /* by messages, as between machines */
} tsr_medium;

/* What a link costs, in seconds. */
typedef struct tsr_link {
    double alpha; /* each message */
    double beta;  /* each byte that a member sends or gets */
    double gamma; /* each byte that it reduces */
    double delta; /* each byte that it copies besides */
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
    bool shared; /* where it is there */
    bool messages;
    bool reduces;
    bool ordered; /* it keeps the order of the group, or does not reduce */
} tsr_algorithm;

/* All algorithms, in the order of the collectives. */
TSR_API size_t tsr_algorithm_count(void) TSR_MT_SAFE;
TSR_API const tsr_algorithm *tsr_algorithm_at(size_t index) TSR_MT_SAFE;

/* The seconds that a call takes by the formula of an algorithm. */
TSR_API double tsr_algorithm_cost(const tsr_algorithm *algorithm, const tsr_link *link,
                                  double bytes, int64_t ranks) TSR_MT_SAFE;

/*
 * What a link costs if nobody says otherwise. Shared memory: half a microsecond, 10 GB/s. Messages:
 * 10 microseconds, 2 GB/s. To reduce and to copy: 10 GB/s.
 */
TSR_API tsr_link tsr_link_default(tsr_medium medium) TSR_MT_SAFE;

/* What a choice goes by. Zeros are the defaults. */
typedef struct tsr_algorithm_settings {
    tsr_medium medium;
    bool unordered;
    const tsr_link *link;   /* NULL: tsr_link_default */
    const char *algorithms; /* as TSR_ALGORITHMS; NULL: none is set */
} tsr_algorithm_settings;

/*
 * What a world with these settings takes for a collective, by name, on an array of so many bytes as
 * in the formulas. Fails when the settings name something that is not there.
 */
TSR_API TSR_NODISCARD tsr_status tsr_algorithm_choose(tsr_context *ctx,
                                                      const tsr_algorithm_settings *settings,
                                                      const char *collective, double bytes,
                                                      int64_t ranks,
                                                      const tsr_algorithm **out) TSR_MT_CONTEXT;

/*
 * From now on, takes this algorithm for a collective in all groups of the world; "auto" goes back
 * to the cheapest. Collective over the world, with the same arguments on every rank, else it fails
 * on all. Refused: a collective or an algorithm that is not there, one that the medium does not
 * have, one that does not keep the order unless that is allowed, any while a request has not been
 * waited for. An average, of which those that do not keep the order are not capable, takes what it
 * would otherwise.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_set_algorithm(tsr_comm *world, const char *collective,
                                                        const char *name) TSR_MT_CONTEXT;

/*
 * Whether reductions may leave the order of the group. Collective as above. Refused: to forbid it
 * while an algorithm is set that does so.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_allow_unordered(tsr_comm *world,
                                                          bool allow) TSR_MT_CONTEXT;

/* What the links of the world cost, for the choice. Collective as above; finite and not negative.
 */
TSR_API TSR_NODISCARD tsr_status tsr_comm_set_link(tsr_comm *world,
                                                   const tsr_link *link) TSR_MT_CONTEXT;

/* What this group takes for a collective on so many bytes. Not collective. */
TSR_API TSR_NODISCARD tsr_status tsr_comm_algorithm(const tsr_comm *comm, const char *collective,
                                                    double bytes,
                                                    const tsr_algorithm **out) TSR_MT_CONTEXT;

#ifdef __cplusplus
}
#endif

#endif
