#include "program_input.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "progress.h"

/* ---- reading ---- */

/* All of standard input, in the arena. */
static int read_standard_input(struct session *session, tsr_text *out)
{
    size_t size = 0;
    size_t room = 1 << 16;
    char *data = malloc(room);
    while (data != NULL) {
        const size_t got = fread(data + size, 1, room - size, stdin);
        size += got;
        if (got == 0) {
            break;
        }
        if (size == room) {
            room *= 2;
            char *grown = realloc(data, room);
            if (grown == NULL) {
                free(data);
            }
            data = grown;
        }
    }
    if (data == NULL || ferror(stdin)) {
        free(data);
        return complain("cannot read standard input");
    }
    char *copy = session_alloc(session, size + 1, 1);
    memcpy(copy, data, size);
    free(data);
    *out = (tsr_text){.name = "<stdin>", .data = copy, .size = size};
    return EXIT_FINE;
}

int program_read(struct session *session, const char *file, tsr_program **out)
{
    tsr_text text;
    tsr_status status = TSR_OK;
    progress_stage(session_format(session, "reading %s", file));
    if (strcmp(file, "-") != 0) {
        status = tsr_program_load(session->ctx, file, TSR_PROGRAM_ALLOW_UNREGISTERED, out);
        return status < 0 ? session_fail(session, status) : EXIT_FINE;
    }
    const int code = read_standard_input(session, &text);
    if (code != EXIT_FINE) {
        return code;
    }
    status = tsr_program_read(session->ctx, &text, TSR_PROGRAM_ALLOW_UNREGISTERED, out);
    return status < 0 ? session_fail(session, status) : EXIT_FINE;
}

void print_warnings(struct session *session)
{
    for (const tsr_diagnostic *d = tsr_context_diagnostics(session->ctx); d != NULL; d = d->next) {
        const char *text = NULL;
        if (d->severity == TSR_WARNING && tsr_diagnostic_format(session->ctx, session->arena, d,
                                                                session->colour, &text) == TSR_OK) {
            fputs(text, stderr);
        }
    }
}

/* ---- walking ---- */

/* Whether the values inside an op are elements, not tensors of the program. */
static bool hides_elements(const tsr_program *p, tsr_ir_op op)
{
    static const char *const names[] = {"stablehlo.reduce",     "stablehlo.reduce_window",
                                        "stablehlo.scatter",    "stablehlo.sort",
                                        "stablehlo.map",        "stablehlo.select_and_scatter",
                                        "stablehlo.all_reduce", "stablehlo.reduce_scatter"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(tsr_ir_op_name(p, op), names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int walk_block(const tsr_program *p, tsr_ir_block block, value_visitor visitor, void *state);

/* The values of an op: its results, then what is inside it. */
static int walk_op(const tsr_program *p, tsr_ir_op op, value_visitor visitor, void *state)
{
    int code = EXIT_FINE;
    for (size_t i = 0; code == EXIT_FINE && i < tsr_ir_op_num_results(p, op); i++) {
        code = visitor(state, tsr_ir_op_result(p, op, i));
    }
    for (size_t r = 0; !hides_elements(p, op) && r < tsr_ir_op_num_regions(p, op); r++) {
        for (tsr_ir_block b = tsr_ir_region_first_block(p, tsr_ir_op_region(p, op, r));
             b != 0 && code == EXIT_FINE; b = tsr_ir_block_next(p, b)) {
            code = walk_block(p, b, visitor, state);
        }
    }
    return code;
}

static int walk_block(const tsr_program *p, tsr_ir_block block, value_visitor visitor, void *state)
{
    int code = EXIT_FINE;
    for (size_t i = 0; code == EXIT_FINE && i < tsr_ir_block_num_arguments(p, block); i++) {
        code = visitor(state, tsr_ir_block_argument(p, block, i));
    }
    for (tsr_ir_op op = tsr_ir_block_first_op(p, block); op != 0 && code == EXIT_FINE;
         op = tsr_ir_op_next(p, op)) {
        code = walk_op(p, op, visitor, state);
    }
    return code;
}

int for_all_values(const tsr_program *p, value_visitor visitor, void *state)
{
    return walk_op(p, tsr_program_module(p), visitor, state);
}

tsr_ir_op main_of(const tsr_program *p)
{
    const tsr_ir_op found = tsr_program_symbol(p, "main");
    if (found != 0) {
        return found;
    }
    tsr_ir_op only = 0;
    const tsr_ir_region region = tsr_ir_op_region(p, tsr_program_module(p), 0);
    for (tsr_ir_op op = tsr_ir_block_first_op(p, tsr_ir_region_first_block(p, region)); op != 0;
         op = tsr_ir_op_next(p, op)) {
        if (strcmp(tsr_ir_op_name(p, op), "func.func") == 0) {
            if (only != 0) {
                return 0;
            }
            only = op;
        }
    }
    return only;
}

size_t num_results_of(const tsr_program *p, tsr_ir_op func)
{
    size_t count = 0;
    while (tsr_ir_tensor_type(p, (tsr_ir_tensor){.func = func, .index = count}) != 0) {
        count++;
    }
    return count;
}

/* ---- values of the text ---- */

struct text_op {
    struct text_place place;
    tsr_ir_op op;
};

struct text_place place_of_op(const tsr_program *p, tsr_ir_op op)
{
    struct text_place place = {0};
    if (op == 0 || !tsr_ir_op_position(p, op, &place.line, &place.column)) {
        return (struct text_place){0};
    }
    return place;
}

static int compare_ops(const void *a, const void *b)
{
    const struct text_place *x = &((const struct text_op *)a)->place;
    const struct text_place *y = &((const struct text_op *)b)->place;
    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }
    return x->column < y->column ? -1 : x->column > y->column;
}

int text_values_collect(struct session *session, tsr_program *p, struct text_values *out)
{
    const size_t count = tsr_program_num_ops(p);
    *out = (struct text_values){.session = session, .num_names = tsr_program_num_values(p)};
    const tsr_status status =
        tsr_program_written_names(session->ctx, session->arena, p, &out->names);
    if (status < 0) {
        return session_fail(session, status);
    }
    out->ops = session_alloc(session, count + 1, sizeof *out->ops);
    for (tsr_ir_op op = 1; op <= count; op++) {
        const struct text_place place = place_of_op(p, op);
        if (place.line > 0) {
            out->ops[out->num_ops++] = (struct text_op){place, op};
        }
    }
    qsort(out->ops, out->num_ops, sizeof *out->ops, compare_ops);
    return EXIT_FINE;
}

tsr_ir_op text_op_of(const struct text_values *v, const tsr_program *p, tsr_ir_op op)
{
    const struct text_op key = {.place = place_of_op(p, op)};
    const struct text_op *found = bsearch(&key, v->ops, v->num_ops, sizeof key, compare_ops);
    return key.place.line > 0 && found != NULL ? found->op : 0;
}

tsr_ir_value text_value_of(const struct text_values *v, const tsr_program *p, tsr_ir_value value)
{
    if (value <= v->num_names && v->names[value] != NULL) {
        return value;
    }
    const size_t index = tsr_ir_value_index(p, value);
    const tsr_ir_op op = tsr_ir_value_op(p, value);
    if (op != 0) {
        const tsr_ir_op original = text_op_of(v, p, op);
        return original != 0 && index < tsr_ir_op_num_results(p, original)
                   ? tsr_ir_op_result(p, original, index)
                   : 0;
    }
    const tsr_ir_region region = tsr_ir_block_parent(p, tsr_ir_value_block(p, value));
    const tsr_ir_op parent = tsr_ir_region_parent(p, region);
    const tsr_ir_op original = text_op_of(v, p, parent);
    for (size_t r = 0; original != 0 && r < tsr_ir_op_num_regions(p, original); r++) {
        const tsr_ir_block block = tsr_ir_region_first_block(p, tsr_ir_op_region(p, original, r));
        if (tsr_ir_op_region(p, parent, r) == region && block != 0 &&
            index < tsr_ir_block_num_arguments(p, block)) {
            return tsr_ir_block_argument(p, block, index);
        }
    }
    return 0;
}

const char *text_name_of(const struct text_values *v, const tsr_program *p, tsr_ir_value value)
{
    const tsr_ir_value original = text_value_of(v, p, value);
    if (original != 0 && original <= v->num_names && v->names[original] != NULL) {
        return v->names[original];
    }
    return "a new value";
}
