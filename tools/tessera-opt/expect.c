#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* A line of the input: its bytes without the line end, and its number from 1. */
typedef struct source_line {
    const char *data;
    size_t size;
    int64_t number;
} source_line;

/* ---- lines ---- */

/* The line that contains a byte, up to an end. */
static source_line line_at(const input *in, size_t at, size_t end, int64_t number)
{
    const char *data = in->data + at;
    const char *stop = memchr(data, '\n', end - at);
    return (source_line){data, stop != NULL ? (size_t)(stop - data) : end - at, number};
}

static const char *find(const source_line *line, const char *from, const char *word)
{
    const size_t left = (size_t)(line->data + line->size - from);
    return memmem(from, left, word, strlen(word));
}

/* A comment line with an expectation: @above and @below pass over these. */
static bool is_designator(const source_line *line)
{
    size_t blanks = 0;
    while (blanks < line->size && (line->data[blanks] == ' ' || line->data[blanks] == '\t')) {
        blanks++;
    }
    return line->size - blanks >= 2 && memcmp(line->data + blanks, "//", 2) == 0 &&
           find(line, line->data, "expected-") != NULL;
}

/* The next line in a direction that is not a designator; the input is one line longer at both ends.
 */
static int64_t line_beside(const input *in, const source_line *line, int step)
{
    const char *at = line->data;
    for (int64_t number = line->number;;) {
        number += step;
        if (step > 0) {
            const size_t left = in->size - (size_t)(at - in->data);
            const char *end = memchr(at, '\n', left);
            if (end == NULL) {
                return number;
            }
            at = end + 1;
        } else {
            if (at == in->data) {
                return number;
            }
            for (at--; at > in->data && at[-1] != '\n'; at--) {
            }
        }
        const source_line other = line_at(in, (size_t)(at - in->data), in->size, number);
        if (!is_designator(&other)) {
            return number;
        }
    }
}

/* ---- messages of this file ---- */

/* Starts an error at an expectation; the caller prints the text. */
static void start_error(expectations *all, const expectation *item)
{
    const char *at = all->in->data + item->at;
    const char *start = at;
    while (start > all->in->data && start[-1] != '\n') {
        start--;
    }
    all->failed = true;
    fflush(stdout);
    fprintf(stderr, "%s:%lld:%lld: error: ", all->in->name, (long long)item->own_line,
            (long long)(at - start) + 1);
}

/* ---- reading ---- */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    return at;
}

static bool accept(const char **at, const char *end, const char *word)
{
    const size_t size = strlen(word);
    if ((size_t)(end - *at) < size || memcmp(*at, word, size) != 0) {
        return false;
    }
    *at += size;
    return true;
}

static bool read_kind(const char **at, const char *end, expectation *out)
{
    static const struct {
        const char *name;
        tsr_severity severity;
        bool remark;
    } rows[] = {{"error", TSR_ERROR, false},
                {"warning", TSR_WARNING, false},
                {"note", TSR_NOTE, false},
                {"remark", TSR_NOTE, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (accept(at, end, rows[i].name)) {
            out->severity = rows[i].severity;
            out->remark = rows[i].remark;
            out->is_regex = accept(at, end, "-re");
            return true;
        }
    }
    return false;
}

/* A number after @: `+2`, `-1` relative to the line, or the line itself. */
static bool read_number(const char **at, const char *end, int64_t own, int64_t *line)
{
    const int sign = accept(at, end, "+") ? 1 : accept(at, end, "-") ? -1 : 0;
    const char *first = *at;
    int64_t value = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && value < INT32_MAX; ++*at) {
        value = 10 * value + (**at - '0');
    }
    *line = sign == 0 ? value : own + sign * value;
    return *at > first;
}

/* `@+1`, `@above`, `@below`, `@unknown`, or nothing: the line of the comment. */
static bool read_place(const input *in, const source_line *line, const char **at, int64_t *out)
{
    const char *end = line->data + line->size;
    *out = line->number;
    if (!accept(at, end, "@")) {
        return true;
    }
    *at = skip_blanks(*at, end);
    if (accept(at, end, "above")) {
        *out = line_beside(in, line, -1);
    } else if (accept(at, end, "below")) {
        *out = line_beside(in, line, 1);
    } else if (accept(at, end, "unknown")) {
        *out = 0;
    } else {
        return read_number(at, end, line->number, out);
    }
    return true;
}

/* Whether a text in braces ends here: only a comment or another expectation follows on the line. */
static bool ends_text(const char *at, const char *end)
{
    at = skip_blanks(at, end);
    return at == end || *at == '\r' || accept(&at, end, "//") || accept(&at, end, "expected-");
}

/* `{{text}}`; moves past it. NULL when there is none. */
static char *read_text(const source_line *line, const char **at)
{
    const char *end = line->data + line->size;
    *at = skip_blanks(*at, end);
    if (!accept(at, end, "{{")) {
        return NULL;
    }
    for (const char *stop = *at; (stop = find(line, stop, "}}")) != NULL; stop++) {
        if (ends_text(stop + 2, end)) {
            char *text = strndup(*at, (size_t)(stop - *at));
            *at = stop + 2;
            return text;
        }
    }
    return NULL;
}

/* Appends a literal text to a pattern, its special characters escaped. */
static void put_literal(FILE *out, const char *from, const char *end)
{
    for (; from < end; from++) {
        if (strchr("\\^$.[|()*+?{", *from) != NULL) {
            fputc('\\', out);
        }
        fputc(*from, out);
    }
}

/* The pattern of a text in which {{...}} are expressions; the caller frees it. */
static char *pattern_of(const char *text)
{
    char *pattern = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&pattern, &size);
    if (out == NULL) {
        return NULL;
    }
    for (const char *open; (open = strstr(text, "{{")) != NULL && strstr(open, "}}") != NULL;) {
        const char *close = strstr(open, "}}");
        put_literal(out, text, open);
        fprintf(out, "(%.*s)", (int)(close - open) - 2, open + 2);
        text = close + 2;
    }
    put_literal(out, text, text + strlen(text));
    return fclose(out) == 0 ? pattern : NULL;
}

static bool compile(expectations *all, expectation *item)
{
    char *pattern = pattern_of(item->text);
    const bool compiled =
        pattern != NULL && regcomp(&item->regex, pattern, REG_EXTENDED | REG_NOSUB) == 0;
    free(pattern);
    if (!compiled) {
        start_error(all, item);
        fprintf(stderr, "not a regular expression: \"%s\"\n", item->text);
    }
    return compiled;
}

/* Room for another one at the end; NULL, reported, without memory. */
static expectation *next_item(expectations *all)
{
    if (all->count == all->capacity) {
        const size_t capacity = all->capacity > 0 ? 2 * all->capacity : 16;
        expectation *items = realloc(all->items, capacity * sizeof *items);
        if (items == NULL) {
            (void)complain("out of memory");
            return NULL;
        }
        all->items = items;
        all->capacity = capacity;
    }
    expectation *item = &all->items[all->count];
    *item = (expectation){0};
    return item;
}

/* What follows `expected-`; other words than the kinds are not an expectation. */
static bool read_one(expectations *all, const source_line *line, const char **at)
{
    const char *end = line->data + line->size;
    expectation *item = next_item(all);
    if (item == NULL) {
        return false;
    }
    item->at = (size_t)(*at - all->in->data);
    item->own_line = line->number;
    if (!read_kind(at, end, item)) {
        return true;
    }
    *at = skip_blanks(*at, end);
    if (!read_place(all->in, line, at, &item->line)) {
        return true;
    }
    item->text = read_text(line, at);
    if (item->text == NULL) {
        return true;
    }
    if (item->is_regex && !compile(all, item)) {
        free(item->text);
        return false;
    }
    all->count++;
    return true;
}

static bool read_line(expectations *all, const source_line *line)
{
    const char *at = line->data;
    while ((at = find(line, at, "expected-")) != NULL) {
        at += strlen("expected-");
        if (!read_one(all, line, &at)) {
            return false;
        }
    }
    return true;
}

bool expectations_read(const input *in, size_t from, size_t to, int64_t first_line,
                       expectations *out)
{
    *out = (expectations){.in = in};
    int64_t number = first_line;
    for (size_t at = from; at < to; number++) {
        const source_line line = line_at(in, at, to, number);
        if (!read_line(out, &line)) {
            expectations_clear(out);
            return false;
        }
        at += line.size + 1;
    }
    return true;
}

void expectations_clear(expectations *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].is_regex) {
            regfree(&all->items[i].regex);
        }
        free(all->items[i].text);
    }
    free(all->items);
    *all = (expectations){0};
}

/* ---- comparing ---- */

static bool matches(const expectation *item, const tsr_diagnostic *d)
{
    if (item->remark || item->severity != d->severity || item->line != d->line) {
        return false;
    }
    return item->is_regex ? regexec(&item->regex, d->text, 0, NULL, 0) == 0
                          : strstr(d->text, item->text) != NULL;
}

/* One expectation may match several messages. */
static bool find_match(expectations *all, const tsr_diagnostic *d)
{
    for (size_t i = 0; i < all->count; i++) {
        if (matches(&all->items[i], d)) {
            all->items[i].matched = true;
            return true;
        }
    }
    return false;
}

static void report_unexpected(expectations *all, tsr_context *ctx, const tsr_diagnostic *d)
{
    tsr_diagnostic changed = *d;
    char *text = NULL;
    if (asprintf(&text, "unexpected %s: %s", severity_name(d->severity), d->text) >= 0) {
        changed.text = text;
    }
    changed.severity = TSR_ERROR;
    changed.notes = NULL;
    all->failed = true;
    report_print(ctx, &changed);
    free(text);
}

/* Advice, and the op that an error is about, are not compared. */
static bool is_compared(const tsr_diagnostic *d)
{
    static const char op_note[] = "see current operation";
    return d->severity != TSR_NOTE ||
           (d->line > 0 && strncmp(d->text, op_note, sizeof op_note - 1) != 0);
}

static void check_one(expectations *all, tsr_context *ctx, const tsr_diagnostic *d,
                      bool only_expected)
{
    if (is_compared(d) && !find_match(all, d) && !only_expected) {
        report_unexpected(all, ctx, d);
    }
}

bool expectations_check(expectations *all, tsr_context *ctx, bool only_expected)
{
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        check_one(all, ctx, d, only_expected);
        for (const tsr_diagnostic *note = d->notes; note != NULL; note = note->next) {
            check_one(all, ctx, note, only_expected);
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        const expectation *item = &all->items[i];
        if (!item->matched) {
            start_error(all, item);
            fprintf(stderr, "expected %s \"%s\" was not produced\n",
                    item->remark ? "remark" : severity_name(item->severity), item->text);
        }
    }
    return !all->failed;
}
