/*
 * `-verify-diagnostics`: comments in the input that say which messages must appear.
 *
 *   // expected-error@+1 {{text}}      on the line after this one, a message with that text
 *   // expected-note-re@below {{a {{[0-9]+}} b}}   {{...}} inside is a regular expression
 */
#ifndef OPT_EXPECT_H
#define OPT_EXPECT_H

#include <regex.h>

#include <tessera/context.h>

#include "input.h"

typedef struct expectation {
    tsr_severity severity;
    bool remark; /* which no message here is */
    size_t at;   /* of the comment in the input, */
    int64_t own_line;
    int64_t line; /* of the message; 0: a message without a place */
    char *text;
    bool is_regex;
    regex_t regex;
    bool matched;
} expectation;

typedef struct expectations {
    const input *in;
    expectation *items;
    size_t count;
    size_t capacity;
    bool failed; /* something was reported */
} expectations;

/*
 * Collects those of a piece of the input, from `from`, which is on line `first_line`, to `to`.
 * False, reported, if one is wrong.
 */
bool expectations_read(const input *in, size_t from, size_t to, int64_t first_line,
                       expectations *out);
void expectations_clear(expectations *all);

/*
 * Compares with the messages of a context and reports the differences: what was not expected,
 * unless `only_expected`, and what did not appear. Whether there were none.
 */
bool expectations_check(expectations *all, tsr_context *ctx, bool only_expected);

#endif
