/* The names of meshes as programs write them: `@mesh`, `@"my mesh"`. */
#ifndef TOOL_MESH_NAME_H
#define TOOL_MESH_NAME_H

#include "session.h"

/* A name after its `@`: in quotes, with escapes, unless it is a bare id. */
const char *mesh_name_format(struct session *session, const char *name);

/*
 * Where the mesh starts in `@name = <...>`: the offset after the `=`. 0 for a text that does not
 * start with a name.
 */
size_t mesh_name_end(const char *text);

#endif
