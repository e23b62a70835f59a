/* `tessera propagate`: a program with a sharding for every tensor, as text or as a table. */
#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/pass.h>

#include "annotations.h"
#include "command.h"
#include "program_input.h"
#include "progress.h"
#include "session.h"
#include "tensor_bytes.h"
#include "utf8.h"

struct propagate_options {
    bool table;
    struct annotations annotations;
};

static const struct argp_option option_rows[] = {
    {"table", 't', NULL, 0, "print a table of values instead of the program", 0},
    {"until-priority", KEY_UNTIL, "N", 0, UNTIL_HELP, 0},
    {"json", 'j', NULL, 0, "print the table as JSON", 0},
    ANNOTATION_OPTIONS,
    {0},
};

static const char doc[] =
    "Propagates the shardings of a program, StableHLO with sdy as JAX prints it, to all its "
    "tensors, and prints the program. Axes propagate through chlo ops and composites as in JAX, "
    "where XLA rewrites these first; a warning lists each op without a sharding rule.\vFILE may be "
    "- for standard input. The table has a line for each value: its name in FILE, or the value it "
    "was made from (`reshard of %3`), the line of FILE, its type, its sharding, and its bytes on "
    "one device.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct propagate_options *options = state->input;
    if (key == 't') {
        options->table = true;
        return 0;
    }
    return annotations_parse(&options->annotations, key, argument, state);
}

/* ---- propagation ---- */

static tsr_status propagate(struct session *session, const struct propagate_options *o,
                            tsr_program *program)
{
    const tsr_pass *pass = tsr_pass_find("sdy-propagation-pipeline");
    tsr_option_value *values = session_alloc(session, pass->num_options, sizeof *values);
    for (size_t i = 0; i < pass->num_options; i++) {
        if (strcmp(pass->options[i].name, "until-priority") == 0 && o->annotations.until != NULL) {
            values[i] = (tsr_option_value){.is_given = true,
                                           .number = strtoll(o->annotations.until, NULL, 10)};
        } else if (strcmp(pass->options[i].name, "as-xla") == 0) {
            values[i] = (tsr_option_value){.is_given = true, .number = true};
        }
    }
    const tsr_pass_options options = {pass->options, pass->num_options, values};
    const tsr_status status = tsr_pass_run(session->ctx, program, pass, &options);
    return status < 0 ? status : tsr_program_verify(session->ctx, program);
}

/* ---- output ---- */

static bool write_bytes(void *state, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, state) == count;
}

/* One value as the table shows it. */
struct value_row {
    const char *name;
    int64_t line; /* 0: not from the text */
    const char *type;
    const char *sharding;
    int64_t bytes; /* on one device; -1: not known */
};

static int describe(struct session *session, tsr_program *p, tsr_ir_value value, const char *name,
                    struct value_row *out)
{
    const tsr_sharding *sharding = NULL;
    const tsr_ir_type type = tsr_ir_value_type(p, value);
    const tsr_ir_op op = tsr_ir_value_op(p, value);
    int64_t column = 0;
    *out = (struct value_row){.name = name};
    tsr_status status = tsr_ir_value_sharding(session->ctx, p, value, &sharding);
    if (status >= 0) {
        status = tsr_ir_type_to_text(session->ctx, session->arena, p, type, &out->type);
    }
    if (status >= 0 && sharding != NULL) {
        status = tsr_sharding_print(session->ctx, session->arena, sharding, TSR_PRINT_BARE,
                                    &out->sharding);
    }
    if (status < 0) {
        return session_fail(session, status);
    }
    if (op == 0 || !tsr_ir_op_position(p, op, &out->line, &column)) {
        out->line = 0;
    }
    out->bytes = tensor_bytes(session, p, type, sharding);
    return EXIT_FINE;
}

static void print_row(const struct value_row *row, bool json, bool first)
{
    if (!json) {
        char line[24] = "";
        char bytes[24] = "";
        if (row->line > 0) {
            (void)snprintf(line, sizeof line, "%" PRId64, row->line);
        }
        if (row->bytes >= 0) {
            (void)snprintf(bytes, sizeof bytes, "%" PRId64, row->bytes);
        }
        printf("%-10s %6s %12s  %-28s %s\n", row->name, line, bytes, row->type,
               row->sharding != NULL ? row->sharding : "none");
        return;
    }
    printf("%s\n  {\"value\": ", first ? "" : ",");
    write_json_string(stdout, row->name);
    printf(", \"line\": %" PRId64 ", \"type\": ", row->line);
    write_json_string(stdout, row->type);
    fputs(", \"sharding\": ", stdout);
    if (row->sharding != NULL) {
        write_json_string(stdout, row->sharding);
    } else {
        fputs("null", stdout);
    }
    if (row->bytes >= 0) {
        printf(", \"bytes_per_device\": %" PRId64 "}", row->bytes);
    } else {
        fputs(", \"bytes_per_device\": null}", stdout);
    }
}

/* The table under way. */
struct table {
    struct session *session;
    tsr_program *program;
    const char *const *names;
    bool json;
    bool started;
};

static int add_value(struct table *t, tsr_ir_value value)
{
    struct value_row row;
    const int code = describe(t->session, t->program, value, t->names[value], &row);
    if (code == EXIT_FINE) {
        print_row(&row, t->json, !t->started);
        t->started = true;
    }
    return code;
}

static int print_table(struct session *session, tsr_program *p, bool json)
{
    struct table t = {.session = session, .program = p, .json = json};
    const tsr_ir_value *values = NULL;
    size_t count = 0;
    tsr_status status = tsr_program_written_names(session->ctx, session->arena, p, &t.names);
    if (status >= 0) {
        status = tsr_program_values(session->ctx, session->arena, p, &count, &values);
    }
    if (status < 0) {
        return session_fail(session, status);
    }
    if (json) {
        fputs("[", stdout);
    } else {
        printf("%-10s %6s %12s  %-28s %s\n", "value", "line", "bytes/device", "type", "sharding");
    }
    int code = EXIT_FINE;
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        code = add_value(&t, values[i]);
    }
    fputs(json ? "\n]\n" : "", stdout);
    return code;
}

static int run(struct session *session, const struct propagate_options *o)
{
    tsr_program *program = NULL;
    int code = program_read(session, o->annotations.file, &program);
    if (code != EXIT_FINE) {
        return code;
    }
    code = annotations_apply(session, &o->annotations, program);
    if (code != EXIT_FINE) {
        tsr_program_destroy(program);
        return code;
    }
    progress_stage("propagating");
    tsr_status status = propagate(session, o, program);
    progress_stage(NULL);
    if (status >= 0 && (o->table || o->annotations.json)) {
        code = print_table(session, program, o->annotations.json);
    } else if (status >= 0) {
        status = tsr_program_print(session->ctx, program, 0, write_bytes, stdout);
    }
    if (status < 0 && ferror(stdout)) {
        code = EXIT_FINE; /* reported at exit, unless the reader has seen enough */
    } else if (status < 0) {
        code = session_fail(session, status);
    } else {
        print_warnings(session);
    }
    tsr_program_destroy(program);
    return code;
}

const struct argp propagate_argp = {
    .options = option_rows, .parser = parse_option, .args_doc = "FILE", .doc = doc};

int propagate_run(int argc, char **argv)
{
    struct propagate_options options = {0};
    struct session session;
    if (argp_parse(&propagate_argp, argc, argv, 0, NULL, &options) != 0) {
        return EXIT_BAD_INPUT;
    }
    int code = session_open(&session, COLOUR_AUTO);
    if (code == EXIT_FINE) {
        code = run(&session, &options);
        session_close(&session);
    }
    annotations_free(&options.annotations);
    return code;
}
