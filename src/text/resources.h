/* The blobs that `dense_resource` refers to: the section `{-# dialect_resources: {..} #-}`. */
#ifndef TEXT_RESOURCES_H
#define TEXT_RESOURCES_H

#include "text/parser.h"
#include "text/printer.h"

/* `{-# .. #-}` */
tsr_status read_metadata(parser *ps);
/* The blobs of all sections become the program's `metadata`, a dictionary by name. */
tsr_status finish_metadata(parser *ps);

/* Remembers that a `dense_resource` was printed. */
void note_resource(printer *pr, uint32_t attr);
/* The section, with the blobs that what was printed refers to; nothing if there are none. */
void print_resources(printer *pr);

#endif
