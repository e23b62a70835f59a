/*
 * How long propagation over whole programs takes: generated training steps of a transformer, of
 * 1,000 to 1,000,000 ops, with shardings on inputs and weights only. Files given as arguments are
 * measured too. Beside the reference on the same program where TSR_ORACLE is its path; its time is
 * that of its own report. TSR_BENCH_QUICK=1 leaves out 1,000,000 ops.
 */
#include <string.h>
#include <unistd.h>

#include <tessera/pass.h>

#include "bench.h"
#include "training_step.h"

/* ---- measuring ---- */

/* Memory that is counted. */
static int64_t num_allocations;

static void *count_and_resize(void *state, void *old, size_t old_size, size_t new_size)
{
    (void)state;
    (void)old_size;
    num_allocations += new_size > 0;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

static const tsr_pass *find_pass(const char *name)
{
    size_t count = 0;
    const tsr_pass *passes = tsr_passes(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(passes[i].name, name) == 0) {
            return &passes[i];
        }
    }
    return NULL;
}

/* How many values of the program have a sharding, so that the work is known to be done. */
static int64_t count_sharded(tsr_context *ctx, tsr_program *p)
{
    int64_t count = 0;
    for (uint32_t v = 1; v <= tsr_program_num_values(p); v++) {
        const tsr_sharding *sharding = NULL;
        INSIST(tsr_ir_value_sharding(ctx, p, v, &sharding) == TSR_OK);
        count += sharding != NULL;
    }
    return count;
}

/* Seconds that the reference reports for the pass; 0 when it is not there. */
static double reference_seconds(const program_text *t)
{
    const char *oracle = getenv("TSR_ORACLE");
    char path[] = "/tmp/bench_propagation.XXXXXX";
    char command[1024];
    char line[256];
    double run = 0;
    if (oracle == NULL) {
        return 0;
    }
    const int file = mkstemp(path);
    INSIST(file >= 0 && write(file, t->data, t->size) == (ssize_t)t->size && close(file) == 0);
    (void)snprintf(command, sizeof command, "'%s' '%s' -sdy-user-priority-propagate -time=1 2>&1",
                   oracle, path);
    FILE *report = popen(command, "r");
    INSIST(report != NULL);
    while (fgets(line, sizeof line, report) != NULL) {
        (void)sscanf(line, "parse %*f s passes %lf", &run);
    }
    (void)pclose(report);
    (void)unlink(path);
    return run;
}

static void measure(tsr_context *ctx, const char *name, const program_text *t)
{
    const tsr_pass *pass = find_pass("sdy-user-priority-propagate");
    const tsr_text source = {.name = name, .data = t->data, .size = t->size};
    const int rounds = t->size > MANY_BYTES ? 3 : 5;
    double samples[5];
    int64_t sharded = 0;
    int64_t allocations = 0;
    size_t num_ops = 0;
    INSIST(pass != NULL);
    for (int i = 0; i < rounds; i++) {
        tsr_program *p = NULL;
        INSIST(tsr_program_read(ctx, &source, TSR_PROGRAM_UNVERIFIED, &p) == TSR_OK);
        num_ops = tsr_program_num_ops(p);
        num_allocations = 0;
        const double start = seconds();
        INSIST(tsr_pass_run(ctx, p, pass, NULL) == TSR_OK);
        samples[i] = seconds() - start;
        allocations = num_allocations;
        sharded = i == 0 ? count_sharded(ctx, p) : sharded;
        tsr_program_destroy(p);
        tsr_context_clear(ctx);
    }
    qsort(samples, (size_t)rounds, sizeof samples[0], by_value);
    const double median = samples[rounds / 2];
    const double reference = reference_seconds(t);
    printf("{\"bench\": \"propagation\", \"program\": \"%s\", \"ops\": %zu, \"sharded\": %lld, "
           "\"seconds\": %.6f, \"us_per_op\": %.3f, \"allocations\": %lld",
           name, num_ops, (long long)sharded, median, 1e6 * median / (double)num_ops,
           (long long)allocations);
    if (reference > 0) {
        printf(", \"reference_seconds\": %.4f, \"ratio\": %.1f", reference, reference / median);
    }
    printf("}\n");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    const bool quick = getenv("TSR_BENCH_QUICK") != NULL;
    const tsr_allocator allocator = {.resize = count_and_resize};
    tsr_context *ctx = NULL;
    INSIST(tsr_context_create(&allocator, &ctx) == TSR_OK);
    for (int64_t wanted = 1000; wanted <= (quick ? 100000 : 1000000); wanted *= 10) {
        char name[64];
        program_text t = training_step(wanted);
        (void)snprintf(name, sizeof name, "transformer of %lld ops", (long long)wanted);
        measure(ctx, name, &t);
        free(t.data);
    }
    for (int i = 1; i < argc; i++) {
        program_text t = read_program_text(argv[i]);
        measure(ctx, argv[i], &t);
        free(t.data);
    }
    tsr_context_destroy(ctx);
    return 0;
}
