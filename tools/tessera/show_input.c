/*
 * What `tessera show` reads: the meshes, the shardings, and the shape, from --shape or from a type.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "layout_input.h"
#include "show.h"

/* Adds an element type to a shape that may have one; `first` and `second` name their sources. */
static int add_dtype(tsr_shape *shape, const char *first, tsr_dtype dtype, const char *second)
{
    if (shape->has_dtype && shape->dtype != dtype) {
        return complain("%s says %s, but %s says %s: remove one", first,
                        tsr_dtype_name(shape->dtype), second, tsr_dtype_name(dtype));
    }
    shape->dtype = dtype;
    shape->has_dtype = true;
    return EXIT_FINE;
}

/* Adds what the type after the sharding says to what --shape says. */
static int add_type(struct session *session, const tsr_shape *type, tsr_shape *shape)
{
    if (type->rank != shape->rank ||
        (type->rank > 0 &&
         memcmp(type->extents, shape->extents, type->rank * sizeof *type->extents) != 0)) {
        return complain("--shape says %s, but the type after the sharding says %s: remove one",
                        facts_format_shape(session, shape->rank, shape->extents),
                        facts_format_shape(session, type->rank, type->extents));
    }
    return type->has_dtype ? add_dtype(shape, "--shape", type->dtype, "the type after the sharding")
                           : EXIT_FINE;
}

/* The shape from --shape and --dtype, and from the type after the sharding, which must agree. */
static int find_shape(struct session *session, const struct options *options,
                      const tsr_layout *layout, struct facts *facts)
{
    const char *source = options->shape != NULL ? "--shape" : "the type after the sharding";
    int code = EXIT_FINE;
    facts->sharding = layout->sharding;
    if (options->shape == NULL) {
        facts->has_shape = layout->has_shape;
        facts->shape = layout->shape;
    } else if (layout->has_shape) {
        code = add_type(session, &layout->shape, &facts->shape);
    }
    if (code != EXIT_FINE || options->dtype == NULL || !facts->has_shape) {
        return code;
    }
    tsr_dtype dtype;
    const tsr_status status = tsr_dtype_parse(session->ctx, options->dtype, &dtype);
    return status == TSR_OK ? add_dtype(&facts->shape, source, dtype, "--dtype")
                            : session_fail(session, status);
}

/* The layouts that --value chooses, or all. */
static int choose(const char *value, const tsr_layout **list, size_t *count)
{
    char *end = NULL;
    if (value == NULL) {
        return EXIT_FINE;
    }
    const long long number = strtoll(value, &end, 10);
    const bool is_number = end != value && *end == '\0';
    for (size_t i = 0; i < *count; i++) {
        const char *name = (*list)[i].name;
        const bool named = name != NULL && (strcmp(name, value) == 0 ||
                                            (name[0] == '%' && strcmp(name + 1, value) == 0));
        if (named || (is_number && number == (long long)i)) {
            *list += i;
            *count = 1;
            return EXIT_FINE;
        }
    }
    return complain("--value '%s': the text has %zu shardings, numbered from 0%s", value, *count,
                    (*list)[0].name != NULL ? ", or by the names of their values" : "");
}

int show_input(struct session *session, const struct options *options, struct facts **out,
               size_t *count)
{
    struct layout_input input = {.session = session,
                                 .dialect = options->from,
                                 .strict = options->strict,
                                 .no_sub_axes = options->no_sub_axes,
                                 .has_shape_option = true};
    tsr_shape shape = {0};
    const tsr_layout *list = NULL;
    const char *problem =
        options->shape != NULL ? shape_parse(session, options->shape, &shape) : NULL;
    if (problem != NULL) {
        return complain("--shape '%s': %s", options->shape, problem);
    }
    int code = layout_meshes(&input, options->meshes, options->num_meshes);
    if (code == EXIT_FINE) {
        code = layouts_read(&input, options->sharding, options->shape != NULL ? &shape : NULL,
                            &list, count);
    }
    if (code == EXIT_FINE) {
        code = choose(options->value, &list, count);
    }
    *out = session_alloc(session, *count, sizeof **out);
    for (size_t i = 0; i < *count && code == EXIT_FINE; i++) {
        struct facts *facts = &(*out)[i];
        *facts = (struct facts){.has_shape = options->shape != NULL, .shape = shape};
        facts->label = *count == 1            ? NULL
                       : list[i].name != NULL ? list[i].name
                                              : session_format(session, "%zu", i);
        code = find_shape(session, options, &list[i], facts);
    }
    return code;
}

int show_fail(struct session *session, const struct facts *facts, tsr_status status)
{
    const struct layout_input input = {
        .session = session, .has_shape_option = true, .mesh = facts->mesh};
    return layout_fail(&input, facts->has_shape, status);
}
