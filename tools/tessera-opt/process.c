#include "process.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "interpret.h"
#include "report.h"
#include "timing.h"

/* A run over the input. */
typedef struct run {
    const settings *s;
    const input *in;
    output *out;
    tsr_context *ctx;
    timing times;
    int64_t line;       /* of the input, on which the current piece starts */
    size_t num_printed; /* programs in the output */
} run;

static bool write_bytes(void *file, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, file) == count;
}

static int printing_of(const settings *s)
{
    return (s->generic ? TSR_PROGRAM_GENERIC : 0) | (s->locations ? TSR_PROGRAM_LOCATIONS : 0);
}

/* ---- passes ---- */

/* Whether a list of names separated by commas has one. */
static bool is_listed(const char *list, const char *name)
{
    const size_t size = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (length == size && memcmp(at, name, size) == 0) {
            return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

/* Prints the program around a pass to stderr. */
static tsr_status dump(run *r, const tsr_program *program, const char *when, const tsr_pass *row)
{
    fflush(r->out->file);
    fprintf(stderr, "// -----// IR Dump %s %s (%s) //----- //\n", when,
            row->title != NULL ? row->title : row->name, row->name);
    const tsr_status status =
        tsr_program_print(r->ctx, program, printing_of(r->s), write_bytes, stderr);
    fputc('\n', stderr);
    return status;
}

static tsr_status dump_before(run *r, const tsr_program *program, const tsr_pass *row)
{
    const bool wanted = r->s->dump_before_all || is_listed(r->s->dump_before, row->name);
    return wanted ? dump(r, program, "Before", row) : TSR_OK;
}

static tsr_status dump_after(run *r, const tsr_program *program, const tsr_pass *row)
{
    const bool wanted = r->s->dump_after_all || is_listed(r->s->dump_after, row->name);
    return wanted ? dump(r, program, "After", row) : TSR_OK;
}

static tsr_status run_pass(run *r, tsr_program *program, const pass_use *use)
{
    tsr_status status = dump_before(r, program, use->row);
    if (status >= 0) {
        timing_start(&r->times);
        status = tsr_pass_run(r->ctx, program, use->row, &use->options);
        timing_end(&r->times, use->row->name);
    }
    if (status >= 0 && r->s->verify_each) {
        status = tsr_program_verify(r->ctx, program);
        timing_end(&r->times, "Verifier");
    }
    return status >= 0 ? dump_after(r, program, use->row) : status;
}

static tsr_status run_passes(run *r, tsr_program *program)
{
    tsr_status status = TSR_OK;
    for (size_t i = 0; i < r->s->passes.count && status >= 0; i++) {
        status = run_pass(r, program, &r->s->passes.uses[i]);
    }
    return status;
}

/* ---- pieces ---- */

/* Prints a program after a marker line, unless it is the first. */
static tsr_status print(run *r, const tsr_program *program)
{
    if (r->num_printed++ > 0) {
        fprintf(r->out->file, "\n%s\n", r->s->output_marker);
    }
    timing_start(&r->times);
    const tsr_status status =
        tsr_program_print(r->ctx, program, printing_of(r->s), write_bytes, r->out->file);
    timing_end(&r->times, "Output");
    return status;
}

/* Reads a piece, runs passes, and prints or runs it; the messages stay in the context. */
static tsr_status process_program(run *r, size_t from, size_t to)
{
    const int flags = (r->s->allow_unregistered ? TSR_PROGRAM_ALLOW_UNREGISTERED : 0) |
                      (r->s->unverified_input ? TSR_PROGRAM_UNVERIFIED : 0);
    const tsr_text text = {.name = r->in->name, .data = r->in->data, .size = to, .at = from};
    tsr_program *program = NULL;
    timing_start(&r->times);
    tsr_status status = tsr_program_read(r->ctx, &text, flags, &program);
    timing_end(&r->times, "Parser");
    if (status < 0) {
        return status;
    }
    status = run_passes(r, program);
    if (status >= 0) {
        status = r->s->interpret ? interpret_program(r->ctx, program) : print(r, program);
    }
    tsr_program_destroy(program);
    return status;
}

/* A piece whose messages must be those that its comments expect. */
static bool process_expecting(run *r, size_t from, size_t to)
{
    expectations expected;
    if (!expectations_read(r->in, from, to, r->line, &expected)) {
        return false;
    }
    (void)process_program(r, from, to);
    const bool fine = expectations_check(&expected, r->ctx, r->s->only_expected);
    expectations_clear(&expected);
    return fine;
}

/* The exit status of a piece. */
static int process_piece(run *r, size_t from, size_t to)
{
    int result = EXIT_SUCCESS;
    if (r->s->verify_diagnostics) {
        result = process_expecting(r, from, to) ? EXIT_SUCCESS : EXIT_FAILURE;
    } else {
        const tsr_status status = process_program(r, from, to);
        result = r->s->interpret ? interpret_exit_status(status)
                 : status >= 0   ? EXIT_SUCCESS
                                 : EXIT_FAILURE;
        report_print_all(r->ctx);
    }
    tsr_context_clear(r->ctx);
    return result;
}

static int64_t count_lines(const input *in, size_t from, size_t to)
{
    int64_t count = 0;
    for (size_t i = from; i < to; i++) {
        count += in->data[i] == '\n';
    }
    return count;
}

/* That of the first piece that did not go well. */
static int process_pieces(run *r)
{
    int result = EXIT_SUCCESS;
    size_t from = 0;
    do {
        size_t next = 0;
        const size_t to = input_piece(r->in, r->s->split_marker, from, &next);
        const int piece = process_piece(r, from, to);
        result = result == EXIT_SUCCESS ? piece : result;
        r->line += count_lines(r->in, from, next);
        from = next;
    } while (from < r->in->size);
    return result;
}

int process_input(const settings *s, const input *in, output *out)
{
    run r = {.s = s, .in = in, .out = out, .line = 1};
    if (tsr_context_create(NULL, &r.ctx) != TSR_OK) {
        (void)complain("out of memory");
        return EXIT_FAILURE;
    }
    const int result = s->split ? process_pieces(&r) : process_piece(&r, 0, in->size);
    if (s->timing) {
        timing_print(&r.times);
    }
    timing_clear(&r.times);
    tsr_context_destroy(r.ctx);
    return result;
}
