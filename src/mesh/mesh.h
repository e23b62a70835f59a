/* What a mesh is inside. */
#ifndef MESH_MESH_H
#define MESH_MESH_H

#include <tessera/mesh.h>

#include "base/buffer.h"
#include "base/lex.h"

/* More than any list of pairs of size 2 or more that multiply to an int64. */
enum { MAX_DIGITS = 64 };

/*
 * One digit of a place in mixed radix: (place / place_stride) % size, worth id_stride in the
 * device's number.
 */
typedef struct digit {
    int64_t size;
    int64_t place_stride;
    int64_t id_stride;
} digit;

/*
 * Device ids are digits, major to minor and coalesced, or an arbitrary list with its inverse. The
 * lists are NULL in the first case; a mesh of one device has no digits.
 */
struct tsr_mesh {
    const char *name;
    size_t num_axes;
    const char *const *axis_names;
    const int64_t *sizes;
    const int64_t *strides; /* of places */
    int64_t num_devices;
    bool maximal;
    int64_t maximal_device;
    size_t num_digits;
    const digit *digits;
    const int64_t *ids;
    const int64_t *places;
    uint64_t ids_hash;
};

/* tsr_mesh_create with a location for its messages. */
tsr_status mesh_build(tsr_context *ctx, tsr_arena *arena, const tsr_mesh_spec *spec, location where,
                      const tsr_mesh **out);

/* Reads a mesh with a lexer that is at it. */
tsr_status mesh_read(lexer *lex, tsr_reading reading, const tsr_mesh **out);

/* A name as a string of its own; a zero byte within it is an error. */
tsr_status mesh_name_copy(lexer *lex, slice name, location where, const char **out);

/* Whether the lexer is at a mesh of a Python program, or at `x=2`. */
bool mesh_python_follows(const lexer *lex);
/*
 * Reads such a mesh. `knows_devices`: the text says which devices it has; JAX prints most meshes
 * without.
 */
tsr_status mesh_python_read(lexer *lex, const char *name, const tsr_mesh **out,
                            bool *knows_devices);
/* Skips an argument of a call: up to the comma or the bracket after it. */
tsr_status python_skip(lexer *lex);
/* The part of a dotted name after its last dot, and whether that part is this word. */
slice python_last_part(slice name);
bool python_name_is(slice name, const char *word);

void mesh_print(buffer *buf, const tsr_mesh *mesh);
void axis_print(buffer *buf, const tsr_mesh *mesh, tsr_axis_ref axis);
void axes_print(buffer *buf, const tsr_mesh *mesh, const tsr_axis_ref *axes, size_t count);

/* The place stride of an axis or sub-axis. */
int64_t mesh_place_stride(const tsr_mesh *mesh, tsr_axis_ref axis);

/* Whether place p has the same device in both meshes, for all p. The counts are equal. */
bool mesh_same_ids(const tsr_mesh *a, const tsr_mesh *b);

/* The number that digits give a place. */
static inline int64_t digits_number(const digit *digits, size_t count, int64_t place)
{
    int64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        number += place / digits[i].place_stride % digits[i].size * digits[i].id_stride;
    }
    return number;
}

#endif
