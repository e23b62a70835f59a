/* Random bits as XLA's generators make them on CPU: of a key and a counter. */
#ifndef KERNEL_BITS_H
#define KERNEL_BITS_H

#include <tessera/view.h>

typedef enum bits_algorithm { BITS_PHILOX, BITS_THREE_FRY } bits_algorithm;

/* Integers of 8 to 64 bits, f32 and f64, by their bytes. */
bool bits_types(tsr_dtype dtype);

/*
 * Fills `bits` from a state of u64: a key, then the counter, and writes the state that follows.
 * The counter of Philox has two words, the low one first; where the state has one, it is both.
 * Philox: block i of four 32-bit words is that of counter + i; elements take words in order, the
 * narrow ones the low bits of a word, those of 64 bits two, the low one first. Threefry: of 32-bit
 * elements, a half along the first even (else the longest) dimension takes the first words, the
 * other half the second ones of the same blocks.
 */
void kernel_bits(bits_algorithm algorithm, const tsr_view *bits, const tsr_view *state_after,
                 const tsr_view *state);

#endif
