/* Facts about types: their notation in JSON, read into types and compared with them. */
#ifndef FACTS_H
#define FACTS_H

#include <jansson.h>

#include <tessera/tessera.h>

enum { FACT_MOST = 16 };

/* A fact under way. */
typedef struct fact {
    tsr_context *ctx;
    tsr_arena *arena;
    json_t *json;
    const tsr_mesh *mesh;
    bool fill; /* axes that an operand does not mention are R there */
} fact;

const char *fact_text(const fact *f, const char *key);
json_t *fact_input(const fact *f, size_t index);
size_t fact_num_inputs(const fact *f);

/* A mesh with the axes that facts speak of, all of one size. */
tsr_status fact_make_mesh(fact *f, int64_t size);

/* The axes of a name: `tp`, or `dp_cp` for two; 0 when it is none. */
size_t fact_axes(const fact *f, const char *name, size_t *out);
tsr_axis_set fact_axis_set(const fact *f, json_t *names);
tsr_axis_set fact_all_axes(const fact *f);

/* The numbers of a list; how many. */
size_t fact_numbers(json_t *list, int64_t *out);

/* The type that an object says, `{tp: R}`, `{types, spec}` or with a spec beside the types. */
tsr_status fact_type(const fact *f, json_t *json, size_t rank, const tsr_type **out);

/* An operand with its shapes; room for them is in the arena. A number has no type. */
tsr_status fact_operand(const fact *f, json_t *json, tsr_typed_shape *out);

/* Whether a type is what is expected; axes that are not mentioned are untyped if `all`. */
bool fact_is_type(const fact *f, const tsr_type *type, json_t *expect, bool all);
/* Whether the places of a type are those of a spec; null is one without places. */
bool fact_is_spec(const fact *f, const tsr_type *type, json_t *spec);

/* The outcome against `expect`: "error", or "ok" for a success. */
bool fact_wants_error(const fact *f);

/* The call of a fact; dimensions are in `args`. */
tsr_status fact_transition(const fact *f, json_t *args, size_t rank, tsr_transition *out);

/* Whether the call may be given the lists of sizes that are in its arguments. */
tsr_status fact_check_counts(const fact *f, const tsr_transition *t);

/* Facts with an aspect: what calls do to values, on threads. */
bool fact_check_values(const fact *f);

/* Facts about axes as (size, stride) pairs, and about places in specs. */
bool fact_check_mesh_axis(const fact *f);

/* Facts about the element types of collectives, and of their backwards. */
bool fact_check_wire(const fact *f);
bool fact_check_backward_wire(const fact *f);

#endif
