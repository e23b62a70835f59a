/*
 * The tape: calls in their order, with what their backward needs.
 *
 * A tensor that depends on a watched one carries the number of its value on the tape
 * (tsr_tensor.note, with the tape's own number above it). The tape holds references to what it
 * saved, never the other way round.
 */
#ifndef EAGER_TAPE_H
#define EAGER_TAPE_H

#include <tessera/gradient.h>

#include "eager/eager.h"
#include "ops/gradient.h"

typedef struct tape tape;
typedef struct tape_node tape_node;

/*
 * How a node that is not an op goes back: from the cotangents of its results, NULL where nothing
 * came, to those of its operands, one reference each, NULL for nothing. `destroy` gives its state
 * up.
 */
typedef struct tape_way {
    tsr_status (*backward)(eager *e, const tape_node *node, tsr_tensor *const *cotangents,
                           tsr_tensor **grads);
    void (*destroy)(eager *e, void *state);
} tape_way;

struct tape_node {
    const char *call;
    const op_row *row; /* NULL for a way of its own */
    const void *params;
    const tape_way *way; /* NULL for an op */
    void *state;
    size_t num_operands;
    size_t num_results;
    tsr_tensor **operands; /* one reference each */
    tsr_tensor **results;
    size_t *inputs; /* numbers of values, 0 for none */
    size_t *outputs;
    bool done;
};

/* Whether the innermost tape notes, and one of the tensors is on it. */
bool tape_wants(const eager *e, tsr_tensor *const *tensors, size_t count);

/* Notes a call of an op, or of something else. Results get their numbers. */
tsr_status tape_note_op(eager *e, const char *call, const op_row *row, const void *params,
                        tsr_tensor *const *operands, size_t count, tsr_tensor *const *results);
tsr_status tape_note_way(eager *e, const char *call, const tape_way *way, void *state,
                         tsr_tensor *const *operands, size_t count, tsr_tensor *const *results,
                         size_t num_results);

/* Passes cotangents through: for calls that keep the value. */
extern const tape_way tape_identity;

/*
 * Walks the innermost tape back from several values at once; NULL for no cotangent. Values that
 * depend on nothing watched are passed over.
 */
tsr_status tape_backward(eager *e, tsr_tensor *const *values, tsr_tensor *const *cotangents,
                         size_t count);

/*
 * Code of the program's own that runs while the innermost tape is in use: a backward of its own, a
 * region. Until tape_leave, that tape is not ended. Leaving gives an error when the tapes are not
 * as before, and puts them right.
 */
typedef struct tape_guest {
    tape *own; /* NULL when there is none */
    int64_t paused;
} tape_guest;
tape_guest tape_enter(const eager *e);
tsr_status tape_leave(eager *e, tape_guest guest, const char *who, tsr_status status);

/*
 * The calls that a region makes, as one number: regions that are run again must make the same.
 * Collecting begins with the first, is added to by each call, and ends with the last, which gives
 * the number; they nest.
 */
uint64_t digest_begin(eager *e);
void digest_add(eager *e, const char *what, tsr_tensor *const *operands, size_t count);
uint64_t digest_end(eager *e, uint64_t outer);

/* Ends all tapes of a world. */
void tapes_clear(eager *e);

#endif
