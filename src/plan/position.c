#include "plan/position.h"

#include <string.h>

#include "base/base.h"

/* Products at which something begins, ascending from 1; each divides the next once it is checked.
 */
typedef struct cuts {
    int64_t at[POSITION_MAX_CUTS];
    size_t count;
} cuts;

typedef struct refiner {
    const plan_space *space;
    const state_view *from;
    const state_view *to;
    uint32_t dims;
    cuts atoms[ATOMS_MAX]; /* inside each atom, from its major end */
    cuts rows[ATOMS_MAX_RANK];
    bool fits;
    bool changed;
} refiner;

static void add_cut(refiner *r, cuts *list, int64_t at)
{
    size_t i = 0;
    while (i < list->count && list->at[i] < at) {
        i++;
    }
    if (i < list->count && list->at[i] == at) {
        return;
    }
    if (list->count == POSITION_MAX_CUTS) {
        r->fits = false;
        return;
    }
    memmove(&list->at[i + 1], &list->at[i], (list->count - i) * sizeof *list->at);
    list->at[i] = at;
    list->count++;
    r->changed = true;
}

/* Carries the cuts of the atoms of a list to those of its dimension. */
static void carry_to_rows(refiner *r, size_t d, atom_list list)
{
    int64_t start = 1;
    for (size_t i = 0; i < list.count; i++) {
        const cuts *inside = &r->atoms[list.atoms[i]];
        for (size_t k = 0; k < inside->count; k++) {
            add_cut(r, &r->rows[d], start * inside->at[k]);
        }
        start *= r->space->atoms[list.atoms[i]].size;
    }
}

/* And the cuts of a dimension to the atoms of a list. */
static void carry_to_atoms(refiner *r, size_t d, atom_list list)
{
    int64_t start = 1;
    for (size_t i = 0; i < list.count && r->fits; i++) {
        const int64_t end = start * r->space->atoms[list.atoms[i]].size;
        for (size_t k = 0; k < r->rows[d].count; k++) {
            const int64_t at = r->rows[d].at[k];
            if (at >= start && at <= end) {
                r->fits = r->fits && at % start == 0 && end % at == 0;
                add_cut(r, &r->atoms[list.atoms[i]], at / start);
            }
        }
        start = end;
    }
}

static bool is_chain(const cuts *list)
{
    for (size_t i = 1; i < list->count; i++) {
        if (list->at[i] % list->at[i - 1] != 0) {
            return false;
        }
    }
    return true;
}

/* Refines until cuts of dimensions and of atoms agree. */
static bool refine(refiner *r)
{
    r->fits = true;
    for (size_t i = 0; i < r->space->num_atoms; i++) {
        r->atoms[i] = (cuts){.at = {1, r->space->atoms[i].size}, .count = 2};
    }
    for (size_t d = 0; d < ATOMS_MAX_RANK; d++) {
        r->rows[d].at[0] = 1;
        r->rows[d].count = 1;
    }
    do {
        r->changed = false;
        for (size_t d = 0; d < r->space->rank && r->fits; d++) {
            if ((r->dims >> d & 1) == 0) {
                continue;
            }
            carry_to_rows(r, d, r->from->dims[d].list);
            carry_to_rows(r, d, r->to->dims[d].list);
            r->fits = r->fits && is_chain(&r->rows[d]);
            carry_to_atoms(r, d, r->from->dims[d].list);
            carry_to_atoms(r, d, r->to->dims[d].list);
        }
    } while (r->changed && r->fits);
    return r->fits;
}

/* The digits of all atoms: the first of each atom, or false beyond the maximum. */
static bool number_digits(const refiner *r, position_set *out, int *first)
{
    out->num_digits = 0;
    for (size_t i = 0; i < r->space->num_atoms; i++) {
        const cuts *inside = &r->atoms[i];
        first[i] = (int)out->num_digits;
        for (size_t k = 0; k + 1 < inside->count; k++) {
            if (out->num_digits == POSITION_MAX_DIGITS) {
                return false;
            }
            out->digits[out->num_digits++] = (position_digit){
                .level = r->space->atoms[i].level, .size = inside->at[k + 1] / inside->at[k]};
        }
    }
    return true;
}

/* The digit of a list that begins at a product of rows, or -1. *covered: a list has the position.
 */
static int digit_at(const refiner *r, const int *first, atom_list list, uint32_t held, int64_t at,
                    bool *covered)
{
    int64_t start = 1;
    *covered = false;
    for (size_t i = 0; i < list.count; i++) {
        const size_t atom = list.atoms[i];
        const cuts *inside = &r->atoms[atom];
        for (size_t k = 0; k + 1 < inside->count; k++) {
            if (start * inside->at[k] == at) {
                *covered = true;
                return (held >> atom & 1) != 0 ? -1 : first[atom] + (int)k;
            }
        }
        start *= r->space->atoms[atom].size;
    }
    return -1;
}

static bool make_positions(const refiner *r, const int *first, position_set *out)
{
    out->num_positions = 0;
    out->rest = 1;
    for (size_t d = 0; d < r->space->rank; d++) {
        const cuts *rows = &r->rows[d];
        if ((r->dims >> d & 1) == 0) {
            continue;
        }
        for (size_t k = 0; k + 1 < rows->count; k++) {
            bool ignored = false;
            if (out->num_positions == POSITION_MAX) {
                return false;
            }
            position *p = &out->positions[out->num_positions++];
            p->size = rows->at[k + 1] / rows->at[k];
            p->before = digit_at(r, first, r->from->dims[d].list, r->from->state->held, rows->at[k],
                                 &p->shards);
            p->after =
                digit_at(r, first, r->to->dims[d].list, r->to->state->held, rows->at[k], &ignored);
        }
        out->rest *= r->space->shape[d] / rows->at[rows->count - 1];
    }
    return true;
}

bool positions_make(const plan_space *space, const state_view *from, const state_view *to,
                    uint32_t dims, position_set *out)
{
    int first[ATOMS_MAX];
    refiner r;
    r.space = space;
    r.from = from;
    r.to = to;
    r.dims = dims;
    return refine(&r) && number_digits(&r, out, first) && make_positions(&r, first, out);
}

/* Whether a digit is fixed for devices that agree on so many levels. */
static bool is_fixed(const position_set *set, int digit, size_t levels)
{
    return digit >= 0 && set->digits[digit].level < levels;
}

void positions_count(const position_set *set, size_t wanting, size_t holding, int64_t *elements,
                     int64_t *shards)
{
    int64_t all = set->rest;
    int64_t parts = 1;
    for (size_t k = 0; k < set->num_positions; k++) {
        const position *p = &set->positions[k];
        const bool fixed = is_fixed(set, p->before, holding) || is_fixed(set, p->after, wanting);
        all *= fixed ? 1 : p->size;
        parts *= fixed || !p->shards ? 1 : p->size;
    }
    *elements = all;
    *shards = parts;
}

/* Joins the groups of two digits that are equal; false if they were equal already. */
static bool join(size_t *group, size_t count, int a, int b)
{
    const size_t old = group[a];
    if (old == group[b]) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        group[i] = group[i] == old ? group[b] : group[i];
    }
    return true;
}

bool positions_may_differ(const position_set *set, size_t wanting, size_t first, size_t holding)
{
    size_t group[POSITION_MAX_DIGITS];
    bool differ = false;
    for (size_t i = 0; i < set->num_digits; i++) {
        group[i] = i;
    }
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < set->num_positions; k++) {
            const position *p = &set->positions[k];
            const bool before = is_fixed(set, p->before, first);
            if (is_fixed(set, p->before, holding) && is_fixed(set, p->after, wanting) &&
                before == (pass == 0)) {
                const bool joined = join(group, set->num_digits, p->before, p->after);
                differ = differ || (joined && pass == 1);
            }
        }
    }
    return differ;
}
