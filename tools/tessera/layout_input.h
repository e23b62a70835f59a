/* Layouts from the command line: what every sub-command that takes one reads. */
#ifndef TOOL_LAYOUT_INPUT_H
#define TOOL_LAYOUT_INPUT_H

#include "arguments.h"

/* The help of --mesh and of options that take a layout, the same for all. */
#define MESH_HELP                                                                                  \
    "x=2,y=4, <[\"x\"=2, \"y\"=4]>, or as JAX and torch print meshes; not needed if the text "     \
    "has it"
#define LAYOUT_FORMS                                                                               \
    "A layout is written in sdy, JAX, DTensor or HLO notation, or pasted with the text around "    \
    "it: %arg0: tensor<..> {sdy.sharding = ..}, NamedSharding(..), DTensor(..), sharding={..}."

/* How layouts are read. */
struct layout_input {
    struct session *session;
    const char *dialect; /* NULL: seen from the text */
    bool strict;
    bool no_sub_axes;
    bool has_shape_option;  /* --shape, to be named where a shape lacks */
    const char *no_mesh;    /* what to say where a mesh lacks; NULL: to add --mesh */
    const tsr_mesh *mesh;   /* of layouts that name none; NULL for none */
    tsr_mesh_table *meshes; /* by name; NULL: every name is `mesh` */
};

/* Reads the texts of --mesh: the first is the default, all may be named. */
int layout_meshes(struct layout_input *input, const char *const *texts, size_t count);

/* Reads one mesh that goes by any name; NULL is not a mesh. */
int layout_mesh(struct layout_input *input, const char *text);

/* Reads all layouts of a text; `shape` is that of tensors without a type there, or NULL. */
int layouts_read(const struct layout_input *input, const char *text, const tsr_shape *shape,
                 const tsr_layout **out, size_t *count);

/*
 * Reads the one layout of the text of an option. Without a mesh so far, the layout's becomes that
 * of later ones.
 */
int layout_read(struct layout_input *input, const char *option, const char *text,
                const tsr_shape *shape, const tsr_sharding **out);

/* session_fail, with notes about --mesh and --shape where these lack. */
int layout_fail(const struct layout_input *input, bool has_shape, tsr_status status);

#endif
