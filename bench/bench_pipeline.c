/*
 * What `tessera-opt -sdy-propagation-pipeline` takes: a program read and verified, each pass run
 * and what it changed verified, the result printed. Training steps of 10,000 to 1,000,000 ops, and
 * files given as arguments; beside the reference doing the same where TSR_ORACLE is its path, whose
 * text must be equal. TSR_BENCH_QUICK=1 leaves out 1,000,000 ops.
 */
#include <string.h>
#include <unistd.h>

#include <tessera/pass.h>

#include "bench.h"
#include "training_step.h"

enum { MAX_ROUNDS = 7 };

/* Seconds of the parts of a run, and the text that it printed. */
typedef struct run {
    tsr_context *ctx;
    tsr_program *program;
    double read;
    double passes;
    double verify;
    double print;
    char *text;
    size_t size;
    size_t room;
    bool failed;
} run;

static bool run_and_verify(void *state, const char *name, const tsr_pass_options *options)
{
    run *r = state;
    const tsr_pass *pass = tsr_pass_find(name);
    const tsr_pass_options defaults = {pass->options, pass->num_options, NULL};
    if (pass->expand != NULL) {
        return pass->expand(options != NULL ? options : &defaults, run_and_verify, state);
    }
    const double start = seconds();
    r->failed = tsr_pass_run(r->ctx, r->program, pass, options) != TSR_OK;
    const double ran = seconds();
    r->failed = r->failed || tsr_program_verify(r->ctx, r->program) != TSR_OK;
    r->passes += ran - start;
    r->verify += seconds() - ran;
    return !r->failed;
}

static bool keep(void *state, const char *bytes, size_t size)
{
    run *r = state;
    if (r->size + size > r->room) {
        r->room = 2 * (r->size + size);
        r->text = realloc(r->text, r->room);
        INSIST(r->text != NULL);
    }
    memcpy(r->text + r->size, bytes, size);
    r->size += size;
    return true;
}

static void run_once(run *r, const char *name, const program_text *t)
{
    const tsr_text source = {.name = name, .data = t->data, .size = t->size};
    char *text = r->text;
    const size_t room = r->room;
    *r = (run){.ctx = r->ctx, .text = text, .room = room};
    double start = seconds();
    INSIST(tsr_program_read(r->ctx, &source, 0, &r->program) == TSR_OK);
    r->read = seconds() - start;
    INSIST(run_and_verify(r, "sdy-propagation-pipeline", NULL) && !r->failed);
    start = seconds();
    INSIST(tsr_program_print(r->ctx, r->program, 0, keep, r) == TSR_OK);
    r->print = seconds() - start;
    tsr_program_destroy(r->program);
    tsr_context_clear(r->ctx);
}

/* ---- the reference ---- */

/* Whether the reference prints the same text, and the seconds that it reports; 0 without it. */
static double reference_seconds(const program_text *t, const run *ours, bool *same)
{
    const char *oracle = getenv("TSR_ORACLE");
    char path[] = "/tmp/bench_pipeline.XXXXXX";
    char command[1024];
    char line[256];
    double parse = 0;
    double passes = 0;
    double print = 0;
    double least = 0;
    size_t at = 0;
    size_t size = 0;
    if (oracle == NULL) {
        return 0;
    }
    const int file = mkstemp(path);
    INSIST(file >= 0 && write(file, t->data, t->size) == (ssize_t)t->size && close(file) == 0);
    (void)snprintf(command, sizeof command, "'%s' '%s' -sdy-propagation-pipeline -time=3 2>&1",
                   oracle, path);
    FILE *report = popen(command, "r");
    INSIST(report != NULL);
    while (fgets(line, sizeof line, report) != NULL) {
        if (sscanf(line, "parse %lf s passes %lf s print %lf", &parse, &passes, &print) == 3) {
            const double all = parse + passes + print;
            least = least == 0 || all < least ? all : least;
        }
    }
    (void)pclose(report);
    (void)snprintf(command, sizeof command, "'%s' '%s' -sdy-propagation-pipeline 2>/dev/null",
                   oracle, path);
    report = popen(command, "r");
    INSIST(report != NULL);
    *same = true;
    while ((size = fread(line, 1, sizeof line, report)) > 0) {
        *same = *same && at + size <= ours->size && memcmp(ours->text + at, line, size) == 0;
        at += size;
    }
    *same = *same && at == ours->size;
    (void)pclose(report);
    (void)unlink(path);
    return least;
}

/* ---- measuring ---- */

static double total(const run *r)
{
    return r->read + r->passes + r->verify + r->print;
}

static int by_total(const void *a, const void *b)
{
    const double difference = total(a) - total(b);
    return (difference > 0) - (difference < 0);
}

static void measure(tsr_context *ctx, const char *name, const program_text *t, bool beside)
{
    const int rounds = t->size > MANY_BYTES ? 3 : MAX_ROUNDS;
    run samples[MAX_ROUNDS];
    run r = {.ctx = ctx};
    tsr_program *p = NULL;
    const tsr_text source = {.name = name, .data = t->data, .size = t->size};
    INSIST(tsr_program_read(ctx, &source, TSR_PROGRAM_UNVERIFIED, &p) == TSR_OK);
    const size_t num_ops = tsr_program_num_ops(p);
    tsr_program_destroy(p);
    for (int i = 0; i < rounds; i++) {
        run_once(&r, name, t);
        samples[i] = r;
    }
    qsort(samples, (size_t)rounds, sizeof samples[0], by_total);
    const run *m = &samples[rounds / 2];
    printf(
        "{\"bench\": \"pipeline\", \"program\": \"%s\", \"ops\": %zu, \"seconds\": %.6f, "
        "\"us_per_op\": %.3f, \"read\": %.6f, \"passes\": %.6f, \"verify\": %.6f, \"print\": %.6f, "
        "\"spread\": %.3f",
        name, num_ops, total(m), 1e6 * total(m) / (double)num_ops, m->read, m->passes, m->verify,
        m->print, (total(&samples[rounds - 1]) - total(&samples[0])) / total(m));
    bool same = false;
    const double reference = beside ? reference_seconds(t, &r, &same) : 0;
    if (reference > 0) {
        printf(", \"reference_seconds\": %.4f, \"ratio\": %.1f, \"same_text\": %s", reference,
               reference / total(m), same ? "true" : "false");
    }
    printf("}\n");
    (void)fflush(stdout);
    free(r.text);
}

int main(int argc, char **argv)
{
    const bool quick = getenv("TSR_BENCH_QUICK") != NULL;
    tsr_context *ctx = NULL;
    INSIST(tsr_context_create(NULL, &ctx) == TSR_OK);
    for (int64_t wanted = 10000; wanted <= (quick ? 100000 : 1000000); wanted *= 10) {
        char name[64];
        program_text t = training_step(wanted);
        (void)snprintf(name, sizeof name, "transformer of %lld ops", (long long)wanted);
        measure(ctx, name, &t, false);
        free(t.data);
    }
    for (int i = 1; i < argc; i++) {
        program_text t = read_program_text(argv[i]);
        const char *slash = strrchr(argv[i], '/');
        measure(ctx, slash != NULL ? slash + 1 : argv[i], &t, true);
        free(t.data);
    }
    tsr_context_destroy(ctx);
    return 0;
}
