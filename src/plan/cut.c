#include "plan/cut.h"

#include <string.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/diag.h"

tsr_status move_list_create(const plan_maker *m, size_t rank, size_t room, move_list *out)
{
    *out = (move_list){.m = m, .rank = rank, .room = room};
    out->moves = ARENA_ARRAY(m->arena, plan_move, room);
    return out->moves != NULL ? TSR_OK : diag_nomem(m->ctx);
}

/* Adds a move with its own copy of the overlaps. */
static tsr_status add(move_list *list, const plan_move *how, const plan_overlap *const *overlaps,
                      int64_t elements)
{
    const plan_maker *m = list->m;
    if (list->count == list->room) {
        const size_t room = 2 * list->room + 4;
        plan_move *grown = ARENA_ARRAY(m->arena, plan_move, room);
        if (grown == NULL) {
            return diag_nomem(m->ctx);
        }
        memcpy(grown, list->moves, list->count * sizeof *grown);
        list->moves = grown;
        list->room = room;
    }
    plan_move *move = &list->moves[list->count];
    *move = *how;
    move->elements = elements;
    move->overlaps = arena_copy(m->arena, overlaps, list->rank, sizeof *overlaps);
    if (move->overlaps == NULL) {
        return diag_nomem(m->ctx);
    }
    list->count++;
    return TSR_OK;
}

/* Some of the rows of an overlap, by their number in it. */
static tsr_status trim(const plan_maker *m, const plan_overlap *whole, int64_t first, int64_t size,
                       const plan_overlap **out)
{
    plan_overlap *part = ARENA_NEW(m->arena, plan_overlap);
    plan_rows *rows = ARENA_ARRAY(m->arena, plan_rows, whole->count);
    if (part == NULL || rows == NULL) {
        return diag_nomem(m->ctx);
    }
    *part = (plan_overlap){.shard = whole->shard, .size = size, .rows = rows};
    int64_t at = 0;
    for (size_t i = 0; i < whole->count; i++) {
        const plan_rows *of = &whole->rows[i];
        const int64_t skipped = max_i64(0, first - at);
        const int64_t end = min_i64(of->size, first + size - at);
        if (end > skipped) {
            rows[part->count++] = (plan_rows){of->src + skipped, of->dst + skipped, end - skipped};
        }
        at += of->size;
    }
    *out = part;
    return TSR_OK;
}

/* A box that is being cut. */
typedef struct cutting {
    move_list *list;
    const plan_move *of;
    const plan_overlap **now; /* one for each dimension; decided before the one at hand */
} cutting;

/*
 * A piece of a box: rows first .. first+size-1 of a dimension, all rows of the dimensions after it.
 */
static tsr_status add_piece(const cutting *c, size_t dim, int64_t first, int64_t size)
{
    int64_t elements = 1;
    TSR_TRY(trim(c->list->m, c->of->overlaps[dim], first, size, &c->now[dim]));
    for (size_t i = dim + 1; i < c->list->rank; i++) {
        c->now[i] = c->of->overlaps[i];
    }
    for (size_t i = 0; i < c->list->rank; i++) {
        elements *= c->now[i]->size;
    }
    return add(c->list, c->of, c->now, elements);
}

/*
 * Elements first .. end-1 of what the dimensions from `dim` on span, row-major, as boxes: a row of
 * which only the end is wanted, whole rows, a row of which only the beginning is.
 */
static tsr_status cut_out(const cutting *c, size_t dim, int64_t first, int64_t end)
{
    int64_t inner = 1;
    for (size_t i = dim + 1; i < c->list->rank; i++) {
        inner *= c->of->overlaps[i]->size;
    }
    int64_t row = first / inner;
    if (first % inner != 0) {
        TSR_TRY(trim(c->list->m, c->of->overlaps[dim], row, 1, &c->now[dim]));
        TSR_TRY(cut_out(c, dim + 1, first % inner, min_i64(inner, end - row * inner)));
        row++;
    }
    if (end / inner > row) {
        TSR_TRY(add_piece(c, dim, row, end / inner - row));
        row = end / inner;
    }
    if (row * inner < end) {
        TSR_TRY(trim(c->list->m, c->of->overlaps[dim], row, 1, &c->now[dim]));
        TSR_TRY(cut_out(c, dim + 1, 0, end - row * inner));
    }
    return TSR_OK;
}

tsr_status move_list_add(move_list *list, const plan_move *how, int64_t first, int64_t size)
{
    if (size == how->elements) {
        return add(list, how, how->overlaps, size);
    }
    const plan_overlap **now = ARENA_ARRAY(list->m->scratch, const plan_overlap *, list->rank);
    if (now == NULL) {
        return diag_nomem(list->m->ctx);
    }
    const cutting c = {.list = list, .of = how, .now = now};
    return cut_out(&c, 0, first, first + size);
}
