/* The elements of dense constants: bytes, little-endian, at least one for each part. */
#ifndef IR_ELEMENTS_H
#define IR_ELEMENTS_H

#include "ir/program.h"

/* Bytes of one element in memory; 0 for a type that constants do not have here. */
size_t element_bytes(const tsr_program *p, uint32_t element);

/*
 * The bits of an integer of a type, sign-extended unless the type is unsigned, and of a float given
 * as a hex integer; false when they do not fit.
 */
bool integer_bits(const type_head *type, slice digits, bool negative, uint64_t *out);
bool float_bits_of_hex(const type_head *type, slice digits, uint64_t *out);

/* The bytes of an ATTR_ELEMENTS, or of an ATTR_HEX decoded into the arena; is_splat: one element.
 */
tsr_status elements_bytes(tsr_context *ctx, tsr_arena *arena, const tsr_program *p, uint32_t attr,
                          const void **bytes, size_t *size, bool *is_splat);

/* Constants of more elements than this print as hex digits. */
enum { MAX_LISTED = 100 };

/* The digits of `0x..`, an even number; *canonical: all as they print. False for other texts. */
bool hex_digits(slice text, slice *digits, bool *canonical);

#endif
