/*
 * Where the parts of a JSON text are. Jansson gives values without their places; these functions
 * find the places in a text that Jansson has accepted, so they need not check it.
 */
#ifndef TOPOLOGY_JSON_PLACE_H
#define TOPOLOGY_JSON_PLACE_H

#include <stddef.h>

/* The offset of the first character of a value, from `at` on. */
size_t json_place_start(const char *text, size_t size, size_t at);

/* How many characters the value at an offset has. */
size_t json_place_width(const char *text, size_t size, size_t at);

/*
 * The offsets of a member of the object at `at`, by its number in the text: its key and its value.
 */
void json_place_member(const char *text, size_t size, size_t at, size_t index, size_t *key,
                       size_t *value);

/* The offset of an element of the array at `at`. */
size_t json_place_element(const char *text, size_t size, size_t at, size_t index);

#endif
