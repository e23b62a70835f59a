/*
 * Propagation edges: which values of an op an axis went from and to, in which step of propagation.
 * A debug attribute, `#sdy.propagation_edges<[...]>`, kept in the order it is written.
 */
#ifndef IR_EDGES_H
#define IR_EDGES_H

#include "base/buffer.h"
#include "shard/sharding.h"

/* An operand or result by number. */
typedef struct edge_value {
    bool is_result;
    int64_t index;
} edge_value;

/* An axis and where it went: `{"x" = operand-1 -> [operand-0, result-0]}`. */
typedef struct edge_entry {
    named_axis axis;
    edge_value source;
    edge_value *targets;
    size_t num_targets;
} edge_entry;

/* `{step-2 = [...]}` */
typedef struct edge_step {
    int64_t index;
    edge_entry *entries;
    size_t num_entries;
} edge_step;

typedef struct edges_text {
    edge_step *steps;
    size_t num_steps;
} edges_text;

/*
 * Reads `<[{step-2 = [...]}, ...]>`, also with `#sdy.propagation_edges` before it, with the
 * reference's errors: those of the grammar, then negative or repeated steps, and targets that are
 * repeated or the source.
 */
tsr_status edges_text_read(lexer *lex, edges_text *out);

/* Prints it in canonical form, from `<` to `>`. */
void edges_text_print(buffer *buf, const edges_text *edges);

#endif
