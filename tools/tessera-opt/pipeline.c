#include "pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pipelines in pipelines deeper than this are a loop. */
enum { DEPTH_MAX = 32 };

/* What separates options, and may be around passes. */
#define BLANKS " \t\r\n"

/* A part of a text. */
typedef struct piece {
    const char *data;
    size_t size;
} piece;

static bool piece_is(piece text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

/* ---- names ---- */

/* The number of changed, missing and additional characters; names are short. */
static size_t distance_of(const char *a, const char *b)
{
    enum { MOST = 96 };
    size_t row[MOST + 1];
    const size_t columns = strlen(b);
    if (columns > MOST || strlen(a) > MOST) {
        return MOST;
    }
    for (size_t j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            const size_t changed = diagonal + (a[i] != b[j]);
            const size_t shorter = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = changed < shorter ? changed : shorter;
        }
    }
    return row[columns];
}

nearest_name nearest_start(const char *wanted)
{
    return (nearest_name){.wanted = wanted, .distance = strlen(wanted) / 2 + 1};
}

void nearest_try(nearest_name *nearest, const char *name)
{
    const size_t distance = distance_of(nearest->wanted, name);
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->name = name;
    }
}

void nearest_try_passes(nearest_name *nearest, const pass_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        nearest_try(nearest, table->rows[i].name);
    }
}

const tsr_pass *pass_find(const pass_table *table, const char *name, size_t size)
{
    for (size_t i = 0; i < table->count; i++) {
        if (piece_is((piece){name, size}, table->rows[i].name)) {
            return &table->rows[i];
        }
    }
    return NULL;
}

/* ---- values of options ---- */

static bool is_bool(const char *value)
{
    static const char *const words[] = {"true", "false", "1", "0"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(value, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_integer(const char *value)
{
    char *end = NULL;
    errno = 0;
    (void)strtoll(value, &end, 10);
    return errno == 0 && end != value && *end == '\0';
}

/* What a kind of option wants, or NULL when the value is such. */
static const char *wrong_kind(tsr_option_kind kind, const char *value)
{
    switch (kind) {
    case TSR_OPTION_BOOL:
        return is_bool(value) ? NULL : "true or false";
    case TSR_OPTION_INTEGER:
        return is_integer(value) ? NULL : "an integer";
    case TSR_OPTION_TEXT:
        return NULL;
    }
    return NULL;
}

/* The value of a text of the right kind, which keeps the text. */
static tsr_option_value value_of(tsr_option_kind kind, char *text)
{
    tsr_option_value value = {.is_given = true, .text = text};
    if (kind == TSR_OPTION_BOOL) {
        value.number = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    } else if (kind == TSR_OPTION_INTEGER) {
        value.number = strtoll(text, NULL, 10);
    }
    return value;
}

/* ---- reading options ---- */

static void use_free(pass_use *use)
{
    for (size_t i = 0; i < use->options.count; i++) {
        free((char *)(uintptr_t)use->values[i].text);
    }
    free(use->values);
}

static bool no_memory(pass_list *list)
{
    (void)snprintf(list->error, sizeof list->error, "out of memory");
    return false;
}

static bool unknown_option(pass_list *list, const tsr_pass *row, const char *name)
{
    nearest_name nearest = nearest_start(name);
    for (size_t i = 0; i < row->num_options; i++) {
        nearest_try(&nearest, row->options[i].name);
    }
    if (nearest.name != NULL) {
        (void)snprintf(list->error, sizeof list->error,
                       "pass '%s' has no option '%s'; did you mean '%s'?", row->name, name,
                       nearest.name);
    } else {
        (void)snprintf(list->error, sizeof list->error, "pass '%s' has no option '%s'", row->name,
                       name);
    }
    return false;
}

/* Sets an option; the use keeps the value, or it is freed. */
static bool set_option(pass_list *list, pass_use *use, const char *name, char *value)
{
    const tsr_pass *row = use->row;
    for (size_t i = 0; i < row->num_options; i++) {
        if (strcmp(row->options[i].name, name) != 0) {
            continue;
        }
        const char *wanted = wrong_kind(row->options[i].kind, value);
        if (wanted != NULL) {
            (void)snprintf(list->error, sizeof list->error,
                           "option '%s' of pass '%s' is %s, not '%s'", name, row->name, wanted,
                           value);
            free(value);
            return false;
        }
        free((char *)(uintptr_t)use->values[i].text);
        use->values[i] = value_of(row->options[i].kind, value);
        return true;
    }
    free(value);
    return unknown_option(list, row, name);
}

/* The end of what starts at a quote, or NULL when it is not closed. */
static const char *skip_quotes(const char *at)
{
    const char *end = strchr(at + 1, *at);
    return end != NULL ? end + 1 : NULL;
}

/* The end of what starts at a quote or brace, or NULL when it is not closed. */
static const char *skip_group(const char *at)
{
    size_t depth = 0;
    while (at != NULL && *at != '\0') {
        const bool quoted = *at == '"' || *at == '\'';
        depth += *at == '{';
        depth -= *at == '}';
        at = quoted ? skip_quotes(at) : at + 1;
        if (depth == 0) {
            return at;
        }
    }
    return NULL;
}

/* The end of a value: a blank outside of quotes and braces. NULL when one is not closed. */
static const char *skip_value(const char *at)
{
    while (at != NULL && *at != '\0' && strchr(BLANKS, *at) == NULL) {
        at = strchr("\"'{", *at) != NULL ? skip_group(at) : at + 1;
    }
    return at;
}

/* A value without the quotes or braces around all of it. */
static char *copy_value(const char *from, const char *end)
{
    const char closing = *from == '{' ? '}' : *from;
    const bool wrapped = end - from >= 2 && strchr("\"'{", *from) != NULL &&
                         skip_group(from) == end && end[-1] == closing;
    from += wrapped;
    end -= wrapped;
    return strndup(from, (size_t)(end - from));
}

/* `name=value` or `name`; moves past it. */
static bool read_option(pass_list *list, pass_use *use, const char **text)
{
    const char *at = *text;
    const size_t size = strcspn(at, "=" BLANKS);
    char name[128];
    (void)snprintf(name, sizeof name, "%.*s", (int)size, at);
    at += size;
    char *value = NULL;
    if (*at == '=') {
        const char *end = skip_value(at + 1);
        if (end == NULL) {
            (void)snprintf(list->error, sizeof list->error,
                           "a quote or brace is not closed in the options of pass '%s'",
                           use->row->name);
            return false;
        }
        value = copy_value(at + 1, end);
        at = end;
    } else {
        value = strdup("true");
    }
    *text = at;
    return value != NULL ? set_option(list, use, name, value) : no_memory(list);
}

static bool read_options(pass_list *list, pass_use *use, const char *text)
{
    while (*(text += strspn(text, BLANKS)) != '\0') {
        if (!read_option(list, use, &text)) {
            return false;
        }
    }
    return true;
}

/* ---- the list ---- */

void pass_list_clear(pass_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        use_free(&list->uses[i]);
    }
    free(list->uses);
    *list = (pass_list){.table = list->table};
}

static bool push(pass_list *list, pass_use use)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 8;
        pass_use *uses = realloc(list->uses, capacity * sizeof *uses);
        if (uses == NULL) {
            use_free(&use);
            return no_memory(list);
        }
        list->uses = uses;
        list->capacity = capacity;
    }
    list->uses[list->count++] = use;
    return true;
}

static bool unknown_pass(pass_list *list, const char *name)
{
    nearest_name nearest = nearest_start(name);
    nearest_try_passes(&nearest, list->table);
    if (nearest.name != NULL) {
        (void)snprintf(list->error, sizeof list->error, "unknown pass '%s'; did you mean '%s'?",
                       name, nearest.name);
    } else {
        (void)snprintf(list->error, sizeof list->error, "unknown pass '%s'; see --list-passes",
                       name);
    }
    return false;
}

/* A pass with its default options; false, reported, when there is none of that name. */
static bool start_use(pass_list *list, const char *name, pass_use *out)
{
    const tsr_pass *row = pass_find(list->table, name, strlen(name));
    if (row == NULL) {
        return unknown_pass(list, name);
    }
    tsr_option_value *values = calloc(row->num_options + 1, sizeof *values);
    if (values == NULL) {
        return no_memory(list);
    }
    *out = (pass_use){row, {row->options, row->num_options, values}, values};
    return true;
}

static bool add_use(pass_list *list, pass_use *use);

/* Takes over the options that a pipeline gives a pass, with copies of their texts. */
static bool add_to_list(void *state, const char *name, const tsr_pass_options *options)
{
    pass_list *list = state;
    pass_use use = {0};
    if (!start_use(list, name, &use)) {
        return false;
    }
    for (size_t i = 0; options != NULL && options->values != NULL && i < use.options.count; i++) {
        const char *text = options->values[i].text;
        use.values[i] = options->values[i];
        use.values[i].text = text != NULL ? strdup(text) : NULL;
        if (text != NULL && use.values[i].text == NULL) {
            use_free(&use);
            return no_memory(list);
        }
    }
    return add_use(list, &use);
}

/* Adds the passes of a pipeline; its own options are not needed afterwards. */
static bool expand(pass_list *list, pass_use *use)
{
    if (list->depth == DEPTH_MAX) {
        (void)snprintf(list->error, sizeof list->error, "pipeline '%s' contains itself",
                       use->row->name);
        use_free(use);
        return false;
    }
    list->depth++;
    const bool added = use->row->expand(&use->options, add_to_list, list);
    list->depth--;
    use_free(use);
    return added;
}

static bool add_use(pass_list *list, pass_use *use)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a use that was read has a row */
    return use->row->expand != NULL ? expand(list, use) : push(list, *use);
}

bool pass_list_add(pass_list *list, const char *name, const char *text)
{
    pass_use use = {0};
    if (!start_use(list, name, &use)) {
        return false;
    }
    if (!read_options(list, &use, text != NULL ? text : "")) {
        use_free(&use);
        return false;
    }
    return add_use(list, &use);
}

/* ---- the text of pipelines ---- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, BLANKS);
}

static bool is_anchor(piece name)
{
    return piece_is(name, "builtin.module") || piece_is(name, "func.func") || piece_is(name, "any");
}

static bool bad_text(pass_list *list, const char *wanted, const char *at)
{
    (void)snprintf(list->error, sizeof list->error, "expected %s in the pipeline at '%.40s'",
                   wanted, at);
    return false;
}

/* A pass and, in braces, its options; moves past them. */
static bool read_pass(pass_list *list, piece name, const char **text)
{
    char *options = NULL;
    if (**text == '{') {
        const char *end = skip_group(*text);
        if (end == NULL) {
            return bad_text(list, "'}' after the options", *text);
        }
        options = strndup(*text + 1, (size_t)(end - *text) - 2);
        if (options == NULL) {
            return no_memory(list);
        }
        *text = end;
    }
    char *copy = strndup(name.data, name.size);
    const bool added = copy != NULL ? pass_list_add(list, copy, options) : no_memory(list);
    free(options);
    free(copy);
    return added;
}

/* One anchor with all that is in it. */
static bool read_elements(pass_list *list, const char **text)
{
    int depth = 0;
    for (;;) {
        const char *at = skip_blanks(*text);
        const piece name = {at, strcspn(at, BLANKS "(){},")};
        *text = skip_blanks(at + name.size);
        if (**text == '(' && is_anchor(name)) {
            depth++;
            *text = skip_blanks(*text + 1);
            if (**text != ')') {
                continue;
            }
        } else if (name.size == 0 || **text == '(' || depth == 0) {
            return bad_text(list, depth == 0 ? "builtin.module(...)" : "the name of a pass", at);
        } else if (!read_pass(list, name, text)) {
            return false;
        }
        for (*text = skip_blanks(*text); depth > 0 && **text == ')';) {
            depth--;
            *text = skip_blanks(*text + 1);
        }
        if (depth == 0) {
            return true;
        }
        if (**text != ',') {
            return bad_text(list, "',' or ')'", *text);
        }
        ++*text;
    }
}

bool pass_list_add_text(pass_list *list, const char *text)
{
    if (!read_elements(list, &text)) {
        return false;
    }
    return *text == '\0' || bad_text(list, "the end", text);
}
