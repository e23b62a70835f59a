/* Random bits as XLA's generators make them on CPU: of a key and a counter. */
#ifndef KERNEL_BITS_H
#define KERNEL_BITS_H

#include <tessera/view.h>

typedef enum bits_algorithm { BITS_PHILOX, BITS_THREE_FRY } bits_algorithm;

/* All types but i1 and complex ones, by their bits. */
bool bits_types(tsr_dtype dtype);

/*
 * Fills `bits` from a state of u64: a key, then the counter, and writes the state that follows.
 * Elements take 32-bit words, narrow ones the low bits of a word, those of 64 bits two words, the
 * low one first.
 *
 * Philox: the counter has two words of 64 bits, the low one first; where the state has one, the key
 * is the high one. Block i of four words is that of counter + i; elements take words in order.
 *
 * Threefry: block i has two words. An element of 64 bits takes a block. Other elements are paired
 * along the first even dimension, else the longest; pairs take blocks in row-major order.
 */
void kernel_bits(bits_algorithm algorithm, const tsr_view *bits, const tsr_view *state_after,
                 const tsr_view *state);

#endif
