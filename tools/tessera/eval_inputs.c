/* Arrays of files as inputs: which argument of which device gets which, checked, then loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "eval.h"

/* ---- which array goes where ---- */

/* The number at the end of a name, and how long what stands before it is; -1: there is none. */
static int64_t number_of(const char *name, size_t *prefix)
{
    size_t start = strlen(name);
    while (start > 0 && strchr("0123456789", name[start - 1]) != NULL) {
        start--;
    }
    *prefix = start;
    return name[start] != '\0' ? strtoll(name + start, NULL, 10) : -1;
}

static size_t place_of(const size_t *numbers, size_t count, int64_t number)
{
    size_t i = 0;
    while (i < count && (int64_t)numbers[i] != number) {
        i++;
    }
    return i;
}

/* Gives arrays out by the numbers at the end of names that are otherwise equal. */
static bool assign_by_number(struct named_array *arrays, size_t count, const size_t *numbers,
                             struct named_array **out)
{
    size_t first = 0;
    memset(out, 0, count * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        size_t prefix = 0;
        const int64_t number = number_of(arrays[i].name, &prefix);
        const size_t place = place_of(numbers, count, number);
        first = i == 0 ? prefix : first;
        if (number < 0 || place == count || out[place] != NULL || prefix != first ||
            strncmp(arrays[i].name, arrays[0].name, prefix) != 0) {
            return false;
        }
        out[place] = &arrays[i];
    }
    return true;
}

static bool assign_by_name(struct named_array *arrays, size_t count, const char *const *names,
                           struct named_array **out)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < count && (names[i] == NULL || strcmp(arrays[k].name, names[i]) != 0)) {
            k++;
        }
        if (k == count) {
            return false;
        }
        out[i] = &arrays[k];
    }
    return true;
}

void assign_arrays(struct named_array *arrays, size_t count, const size_t *numbers,
                   const char *const *names, struct named_array **out)
{
    if (assign_by_name(arrays, count, names, out) ||
        assign_by_number(arrays, count, numbers, out)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = &arrays[i];
    }
}

/* ---- what the command line says ---- */

/* `ARGUMENT@DEVICE=FILE`, `ARGUMENT=FILE` or `FILE`. */
struct input_text {
    const char *path;
    size_t argument; /* SIZE_MAX: it does not say */
    size_t device;   /* SIZE_MAX: all */
};

size_t find_argument(const struct input_request *r, const char *text, size_t size)
{
    char *end = NULL;
    const unsigned long long number = strtoull(text, &end, 10);
    if (size > 0 && text[0] >= '0' && text[0] <= '9' && end == text + size) {
        return number < r->num_arguments ? (size_t)number : SIZE_MAX;
    }
    for (size_t i = 0; i < r->num_arguments; i++) {
        if (r->names[i] != NULL && strlen(r->names[i]) == size &&
            memcmp(r->names[i], text, size) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool is_number(const char *text, size_t size)
{
    return size > 0 && strspn(text, "0123456789") >= size;
}

/* Splits a text at its first `=` where what stands before it names an argument. */
static int read_text(const struct input_request *r, const char *text, struct input_text *out)
{
    const char *equals = strchr(text, '=');
    *out = (struct input_text){text, SIZE_MAX, SIZE_MAX};
    if (equals == NULL) {
        return EXIT_FINE;
    }
    const char *at = equals;
    while (at > text && *at != '@') {
        at--;
    }
    const bool has_device = *at == '@' && is_number(at + 1, (size_t)(equals - at - 1));
    const char *end = has_device ? at : equals;
    out->argument = find_argument(r, text, (size_t)(end - text));
    if (out->argument == SIZE_MAX) {
        return has_device || is_number(text, (size_t)(end - text))
                   ? complain("--input %s: unknown argument %.*s; the function has %zu arguments",
                              text, (int)(end - text), text, r->num_arguments)
                   : EXIT_FINE;
    }
    out->path = equals + 1;
    if (has_device) {
        const unsigned long long device = strtoull(at + 1, NULL, 10);
        if (device >= r->devices) {
            return complain(
                "--input %s: device %.*s is out of range; the program runs on %zu devices", text,
                (int)(equals - at - 1), at + 1, r->devices);
        }
        out->device = (size_t)device;
    }
    return EXIT_FINE;
}

/* ---- inputs ---- */

/* What is known while texts are read. */
struct input_table {
    struct named_array **given; /* argument by argument of device by device; NULL: none yet */
    struct named_array *plain;  /* of files that do not say where they go */
    size_t num_plain;
};

static int take_array(const struct input_request *r, const struct input_text *text,
                      struct input_table *table)
{
    struct named_array *arrays = NULL;
    size_t count = 0;
    const int code = arrays_open(r->session, text->path, &arrays, &count);
    if (code != EXIT_FINE) {
        return code;
    }
    if (text->argument == SIZE_MAX) {
        struct named_array *joined =
            session_alloc(r->session, table->num_plain + count + 1, sizeof *joined);
        memcpy(joined, table->plain != NULL ? table->plain : joined,
               table->num_plain * sizeof *joined);
        memcpy(joined + table->num_plain, arrays, count * sizeof *joined);
        table->plain = joined;
        table->num_plain += count;
        return EXIT_FINE;
    }
    if (count != 1) {
        return complain("%s has %zu arrays, but argument %zu takes 1", text->path, count,
                        text->argument);
    }
    for (size_t k = 0; k < r->devices; k++) {
        struct named_array **given = &table->given[k * r->num_arguments + text->argument];
        const bool is_for = text->device == SIZE_MAX || text->device == k;
        if (is_for && *given != NULL && text->device != SIZE_MAX) {
            return complain("argument %zu of device %zu is given twice: %s and %s", text->argument,
                            k, (*given)->path, text->path);
        }
        *given = is_for && *given == NULL ? arrays : *given;
    }
    return EXIT_FINE;
}

/* Whether a device has no array for an argument yet; which is the first such. */
static bool is_open(const struct input_request *r, const struct input_table *table, size_t argument,
                    size_t *device)
{
    for (*device = 0; *device < r->devices; ++*device) {
        if (table->given[*device * r->num_arguments + argument] == NULL) {
            return true;
        }
    }
    return false;
}

/* Gives the arrays of files that do not say where they go to the arguments that are left. */
static int fill_open(const struct input_request *r, struct input_table *table)
{
    size_t *numbers = session_alloc(r->session, r->num_arguments + 1, sizeof *numbers);
    const char **names = session_alloc(r->session, r->num_arguments + 1, sizeof *names);
    struct named_array **found =
        session_alloc(r->session, r->num_arguments + 1, sizeof(struct named_array *));
    size_t count = 0;
    size_t device = 0;
    for (size_t i = 0; i < r->num_arguments; i++) {
        if (is_open(r, table, i, &device)) {
            names[count] = r->names[i];
            numbers[count++] = i;
        }
    }
    if (count != table->num_plain && count < r->num_arguments && table->num_plain == 0) {
        (void)is_open(r, table, numbers[0], &device);
        return complain("argument %zu has no input for device %zu; give --input %zu@%zu=FILE, or "
                        "--input %zu=FILE for all devices",
                        numbers[0], device, numbers[0], device, numbers[0]);
    }
    if (count != table->num_plain) {
        return complain("%s takes %zu inputs, got %zu%s", r->program, count, table->num_plain,
                        table->num_plain == 0 ? "; give --input, or --random SEED" : "");
    }
    assign_arrays(table->plain, count, numbers, names, found);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < r->devices; k++) {
            struct named_array **given = &table->given[k * r->num_arguments + numbers[i]];
            *given = *given == NULL ? found[i] : *given;
        }
    }
    return EXIT_FINE;
}

static bool type_fits(const tsr_view *view, const tsr_view *type)
{
    if (view->dtype != type->dtype || view->rank != type->rank) {
        return false;
    }
    for (size_t d = 0; d < type->rank; d++) {
        if (type->shape[d] >= 0 && type->shape[d] != view->shape[d]) {
            return false;
        }
    }
    return true;
}

/* Compares an array with what its argument takes before its elements are read. */
static int check_input(const struct input_request *r, size_t argument, struct named_array *array)
{
    const tsr_view *type = &r->types[argument];
    read_as(&array->view, type->dtype);
    if (!type_fits(&array->view, type)) {
        return complain("input %zu is %s, but the function takes %s: %s in %s", argument,
                        view_type_text(r->session, &array->view), view_type_text(r->session, type),
                        array->name, array->path);
    }
    return EXIT_FINE;
}

int inputs_read(const struct input_request *r, const char *const *texts, size_t num_texts,
                tsr_view *out)
{
    struct input_table table = {.given =
                                    session_alloc(r->session, r->num_arguments * r->devices + 1,
                                                  sizeof(struct named_array *))};
    for (int with_device = 1; with_device >= 0; with_device--) {
        for (size_t i = 0; i < num_texts; i++) {
            struct input_text text;
            int code = read_text(r, texts[i], &text);
            if (code == EXIT_FINE && (text.device != SIZE_MAX) == (with_device != 0)) {
                code = take_array(r, &text, &table);
            }
            if (code != EXIT_FINE) {
                return code;
            }
        }
    }
    int code = fill_open(r, &table);
    const size_t count = r->num_arguments * r->devices;
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        code = check_input(r, i % r->num_arguments, table.given[i]);
    }
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        code = array_load(r->session, table.given[i]);
        out[i] = table.given[i]->view;
    }
    return code;
}
