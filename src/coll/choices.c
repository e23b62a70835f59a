/* The choices of a world, set by calls or by a text; and the public functions of the table. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"
#include "coll/algorithm.h"

enum { LIST_TEXT = 200 };

/* A part of a text. */
typedef struct word {
    const char *text;
    size_t length;
} word;

static bool is_word(word w, const char *text)
{
    return strlen(text) == w.length && memcmp(w.text, text, w.length) == 0;
}

static word trim(const char *text, size_t length)
{
    while (length > 0 && isspace((unsigned char)*text)) {
        text++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    return (word){text, length};
}

tsr_link tsr_link_default(tsr_medium medium)
{
    GUARD(tsr_link_default);
    static const tsr_link links[] = {
        [TSR_MEDIUM_SHARED] = {.alpha = 0.5e-6, .beta = 0.1e-9, .gamma = 0.1e-9, .delta = 0.1e-9},
        [TSR_MEDIUM_MESSAGES] = {.alpha = 10e-6, .beta = 0.5e-9, .gamma = 0.1e-9, .delta = 0.1e-9},
    };
    return links[medium == TSR_MEDIUM_SHARED ? TSR_MEDIUM_SHARED : TSR_MEDIUM_MESSAGES];
}

coll_choices coll_choices_default(tsr_medium medium)
{
    return (coll_choices){.medium = medium, .link = tsr_link_default(medium)};
}

tsr_status coll_find(tsr_context *ctx, const char *name, size_t length, coll_kind *out)
{
    for (int kind = 0; kind < COLL_CALLS; kind++) {
        if (is_word((word){name, length}, coll_row_of((coll_kind)kind)->name)) {
            *out = (coll_kind)kind;
            return TSR_OK;
        }
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "unknown collective '%.*s'; write the name of a tsr_comm_ call with dashes, "
                      "such as all-reduce",
                      (int)length, name);
}

/* `shares, direct` of the algorithms of a collective that a medium has. */
static void list_names(coll_kind kind, tsr_medium medium, char *text, size_t size)
{
    size_t count;
    const coll_algorithm *all = coll_algorithms(&count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const bool here = medium == TSR_MEDIUM_SHARED ? all[i].shown.shared : all[i].shown.messages;
        if (all[i].kind == kind && here) {
            const size_t used = strlen(text);
            (void)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                           all[i].shown.name);
        }
    }
}

static const coll_algorithm *find_row(coll_kind kind, word name)
{
    size_t count;
    const coll_algorithm *all = coll_algorithms(&count);
    for (size_t i = 0; i < count; i++) {
        if (all[i].kind == kind && is_word(name, all[i].shown.name)) {
            return &all[i];
        }
    }
    return NULL;
}

/* Whether a world may choose an algorithm. */
static tsr_status check_row(tsr_context *ctx, const coll_choices *choices, coll_kind kind,
                            word name, const coll_algorithm *a)
{
    static const char *const media[] = {"in shared memory", "by messages"};
    const bool messages = choices->medium == TSR_MEDIUM_MESSAGES;
    char names[LIST_TEXT];
    if (a == NULL || !(messages ? a->shown.messages : a->shown.shared)) {
        list_names(kind, choices->medium, names, sizeof names);
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "unknown algorithm '%.*s' for %s %s; the algorithms are %s and auto",
                          (int)name.length, name.text, coll_row_of(kind)->name, media[messages],
                          names);
    }
    if (!a->shown.ordered && !choices->unordered) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s by %s does not reduce in group order; allow that first with "
                          "tsr_comm_allow_unordered or TSR_UNORDERED=1",
                          a->shown.collective, a->shown.name);
    }
    return TSR_OK;
}

static tsr_status set_word(tsr_context *ctx, coll_choices *choices, word collective, word name)
{
    coll_kind kind;
    TSR_TRY(coll_find(ctx, collective.text, collective.length, &kind));
    const coll_algorithm *a = NULL;
    if (!is_word(name, "auto")) {
        a = find_row(kind, name);
        TSR_TRY(check_row(ctx, choices, kind, name, a));
    }
    choices->set[kind] = a;
    return TSR_OK;
}

tsr_status coll_choices_set(tsr_context *ctx, coll_choices *choices, const char *collective,
                            const char *name)
{
    const bool complete = collective != NULL && name != NULL;
    if (!complete) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION, "the name of the %s is missing (NULL)",
                          collective == NULL ? "collective" : "algorithm");
    }
    return set_word(ctx, choices, (word){collective, strlen(collective)},
                    (word){name, strlen(name)});
}

tsr_status coll_choices_read(tsr_context *ctx, coll_choices *choices, const char *text)
{
    coll_choices all = *choices;
    while (*text != '\0') {
        const size_t length = strcspn(text, ",");
        const word entry = trim(text, length);
        const char *equals = entry.length > 0 ? memchr(entry.text, '=', entry.length) : NULL;
        text += text[length] == ',' ? length + 1 : length;
        if (entry.length == 0) {
            continue;
        }
        if (equals == NULL) {
            return diag_error(ctx, TSR_ERR_SYNTAX, NO_LOCATION,
                              "'%.*s' is not a choice; write one as in all-reduce=shares",
                              (int)entry.length, entry.text);
        }
        const size_t before = (size_t)(equals - entry.text);
        TSR_TRY(set_word(ctx, &all, trim(entry.text, before),
                         trim(equals + 1, entry.length - before - 1)));
    }
    *choices = all;
    return TSR_OK;
}

tsr_status coll_choices_allow(tsr_context *ctx, coll_choices *choices, bool unordered)
{
    for (int kind = 0; !unordered && kind < COLL_CALLS; kind++) {
        const coll_algorithm *a = choices->set[kind];
        if (a != NULL && !a->shown.ordered) {
            return diag_error(
                ctx, TSR_ERR_INVALID, NO_LOCATION,
                "%s is set to %s, which does not reduce in group order; set it to auto first",
                a->shown.collective, a->shown.name);
        }
    }
    choices->unordered = unordered;
    return TSR_OK;
}

tsr_status coll_choices_set_link(tsr_context *ctx, coll_choices *choices, const tsr_link *link)
{
    static const char *const names[] = {"alpha", "beta", "gamma", "delta"};
    const double values[] = {link->alpha, link->beta, link->gamma, link->delta};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (!isfinite(values[i]) || values[i] < 0) {
            return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                              "%s of a link must be finite and not negative, got: %g", names[i],
                              values[i]);
        }
    }
    choices->link = *link;
    return TSR_OK;
}

size_t tsr_algorithm_count(void)
{
    GUARD(tsr_algorithm_count);
    size_t count;
    (void)coll_algorithms(&count);
    return count;
}

const tsr_algorithm *tsr_algorithm_at(size_t index)
{
    GUARD(tsr_algorithm_at);
    size_t count;
    const coll_algorithm *all = coll_algorithms(&count);
    return index < count ? &all[index].shown : NULL;
}

double tsr_algorithm_cost(const tsr_algorithm *algorithm, const tsr_link *link, double bytes,
                          int64_t ranks)
{
    GUARD(tsr_algorithm_cost);
    const coll_algorithm *a = (const coll_algorithm *)(const void *)algorithm;
    return coll_price(a, link, bytes, ranks);
}

tsr_status tsr_algorithm_choose(tsr_context *ctx, const tsr_algorithm_settings *settings,
                                const char *collective, double bytes, int64_t ranks,
                                const tsr_algorithm **out)
{
    GUARD(tsr_algorithm_choose);
    coll_choices choices = coll_choices_default(settings->medium);
    coll_kind kind;
    choices.unordered = settings->unordered;
    if (!(bytes >= 0) || ranks < 1) {
        return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "the number of ranks must be at least 1 and the number of bytes at least "
                          "0, got: %lld ranks, %g bytes",
                          (long long)ranks, bytes);
    }
    if (settings->link != NULL) {
        TSR_TRY(coll_choices_set_link(ctx, &choices, settings->link));
    }
    if (settings->algorithms != NULL) {
        TSR_TRY(coll_choices_read(ctx, &choices, settings->algorithms));
    }
    TSR_TRY(coll_find(ctx, collective, strlen(collective), &kind));
    *out = &coll_choose(&choices, kind, false, bytes, ranks)->shown;
    return TSR_OK;
}
