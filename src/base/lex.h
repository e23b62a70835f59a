/*
 * The tokens of programs and of the notations near them, one token ahead.
 *
 * Errors are reported where the reference reports them: a missing mark right after the last token
 * read, everything else at the token it is about. A token that is itself wrong is reported in place
 * of what was expected there.
 */
#ifndef BASE_LEX_H
#define BASE_LEX_H

#include "base/diag.h"

/* Marks are their character: '<', ',' and so on. */
typedef enum token_kind {
    TOKEN_END = 256,
    TOKEN_BAD,     /* lexer.problem says why */
    TOKEN_WORD,    /* bare id */
    TOKEN_INTEGER, /* digits or 0x and hex digits, no sign */
    TOKEN_FLOAT,   /* digits, a dot, perhaps digits and an exponent; no sign */
    TOKEN_STRING,
    TOKEN_AT,      /* @name or @"name" */
    TOKEN_HASH,    /* #name or #0 */
    TOKEN_PERCENT, /* %name or %0 */
    TOKEN_CARET,   /* ^name */
    TOKEN_BANG,    /* !name */
    TOKEN_ARROW,
    TOKEN_ELLIPSIS,
    TOKEN_METADATA_BEGIN, /* {-# */
    TOKEN_METADATA_END    /* #-} */
} token_kind;

typedef struct token {
    int kind;
    size_t at;
    size_t size;
} token;

typedef struct lexer {
    tsr_context *ctx;
    tsr_arena *arena;
    tsr_text *text;
    bool single_quotes; /* '...' is a string, as in Python */
    bool bool_integers; /* true and false are the integers -1 and 0, as in programs */
    token current;
    const char *problem; /* with a bad token */
    size_t last_end;
} lexer;

/* A slice of bytes. */
typedef struct slice {
    const char *data;
    size_t size;
} slice;

/* Whether a text is a bare id: a name that needs no quotes. */
bool is_bare_id(slice text);

static inline bool slice_equal(slice a, slice b)
{
    return a.size == b.size && (a.size == 0 || __builtin_memcmp(a.data, b.data, a.size) == 0);
}

/* Whether a slice is a zero-terminated string. */
static inline bool slice_is(slice text, const char *string)
{
    return slice_equal(text, (slice){string, __builtin_strlen(string)});
}

/* Reads from `text->at`, which stays right after the last token taken. */
lexer lex_start(tsr_context *ctx, tsr_arena *arena, tsr_text *text);
/* The same for the text of a program, in which the reference takes true and false for integers. */
lexer lex_start_program(tsr_context *ctx, tsr_arena *arena, tsr_text *text);

/* Takes the current token. */
void lex_next(lexer *lex);

/* Past the blanks and comments from an offset; the character there, 0 at the end of the text. */
size_t lex_skip_space(const lexer *lex, size_t from);
char lex_char_after(const lexer *lex, size_t offset);
/* Continues at an offset: what was ahead is scanned again. */
void lex_move(lexer *lex, size_t offset);

/* The bytes of the current token. */
slice lex_slice(const lexer *lex);

/* The location of the current token, and the location where a missing mark is reported. */
location lex_here(const lexer *lex);
location lex_after(const lexer *lex);
/* From a byte to the last token taken. */
location lex_span(const lexer *lex, size_t from);

bool lex_is(const lexer *lex, int kind);
bool lex_is_word(const lexer *lex, const char *word);

/* Takes the current token if it is of that kind. */
bool lex_accept(lexer *lex, int kind);
bool lex_accept_word(lexer *lex, const char *word);
bool lex_accept_hash(lexer *lex, const char *name);

/* The value of an integer token, decimal or hex; false when it exceeds uint64. */
bool lex_digits(slice digits, uint64_t *out);

/* Takes a mark, or fails with `expected '<'`. */
tsr_status lex_expect(lexer *lex, int mark);
/* Takes an arrow, or fails with `expected '->'`. */
tsr_status lex_expect_arrow(lexer *lex);
/* Takes a word, or fails with `expected 'word'`. */
tsr_status lex_expect_word(lexer *lex, const char *word);
/* Takes a string without its quotes, escapes resolved; or fails with `expected string`. */
tsr_status lex_string(lexer *lex, slice *out);
/*
 * Takes an integer with an optional sign, in a program also true (-1) or false (0); or fails with
 * `expected integer value`.
 */
tsr_status lex_integer(lexer *lex, int64_t *out);
/* The value of a string token given with its quotes. */
tsr_status lex_unquote(lexer *lex, slice raw, slice *out);
/* Takes @name; the caller has checked the kind. */
tsr_status lex_at_name(lexer *lex, slice *out);
/* `[` integers `]`, the array in the arena; an empty list is an error unless allowed. */
tsr_status lex_integers(lexer *lex, bool allow_empty, int64_t **out, size_t *count);

/* An array that grows in the lexer's arena. */
#define LEX_PUSH(lex, array, count, capacity, item)                                                \
    (((count) < (capacity) ||                                                                      \
      ((array) = lex_grow((lex), (array), sizeof *(array), (count), &(capacity))) != NULL)         \
         ? ((array)[(count)++] = (item), TSR_OK)                                                   \
         : diag_nomem((lex)->ctx))
/* A larger copy of an array; NULL without memory, when nothing more is to be read. */
void *lex_grow(lexer *lex, const void *array, size_t item_size, size_t count, size_t *capacity);

/*
 * Fails with TSR_ERR_SYNTAX at a location; if the current token is malformed, reports that instead.
 */
tsr_status lex_error(lexer *lex, location where, const char *message);

/*
 * Adds an error, at the current token, that says what the last one led to, and returns that one's
 * status. After a malformed token nothing is added.
 */
tsr_status lex_follow_up(lexer *lex, const char *message);

#endif
