/*
 * How fast programs are read (with verification) and printed, and how much memory they take, on
 * generated texts of 1, 10 and 100 MB: plain ops in pretty and in generic form, and one constant of
 * hex digits. Beside mlir-opt 16 on the same generic text where it is installed; `scripts/deps
 * bench` installs it. Its times of reading and printing are those of its own report; `whole` is the
 * process from start to end, beside reading, printing and freeing here. TSR_BENCH_QUICK=1 leaves
 * out 100 MB.
 */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <tessera/program.h>

#include "bench.h"

enum { MB = 1000 * 1000, OPS_IN_FUNCTION = 1000 };

#define TENSOR "tensor<128x256xf32>"

/* ---- texts ---- */

typedef struct text {
    char *data;
    size_t size;
    size_t room;
    int64_t num_ops;
} text;

static text text_new(size_t wanted)
{
    const size_t room = wanted + wanted / 8 + MB;
    char *data = malloc(room);
    INSIST(data != NULL);
    return (text){.data = data, .room = room};
}

static void put(text *t, const char *format, ...) TSR_PRINTF(2, 3);

static void put(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(t->data + t->size, t->room - t->size, format, arguments);
    va_end(arguments);
    INSIST(size >= 0 && (size_t)size < t->room - t->size);
    t->size += (size_t)size;
}

static const char *const op_names[] = {"add", "multiply", "subtract", "maximum"};

/* The value that op `i` takes: arguments first, then results of earlier ops. */
static void put_operand(text *t, int64_t i)
{
    if (i < 0) {
        put(t, "%%arg%d", (int)(i + 2));
    } else {
        put(t, "%%%lld", (long long)i);
    }
}

static void put_pretty_op(text *t, int64_t i)
{
    put(t, "    %%%lld = stablehlo.%s ", (long long)i, op_names[i % 4]);
    put_operand(t, i - 1);
    put(t, ", ");
    put_operand(t, i / 2 - 2);
    put(t, " : " TENSOR "\n");
}

static void put_generic_op(text *t, int64_t i)
{
    put(t, "    %%%lld = \"stablehlo.%s\"(", (long long)i, op_names[i % 4]);
    put_operand(t, i - 1);
    put(t, ", ");
    put_operand(t, i / 2 - 2);
    put(t, ") {bench.tag = %lld : i64} : (" TENSOR ", " TENSOR ") -> " TENSOR "\n",
        (long long)(i % 100));
}

static void put_ops(text *t, void (*put_op)(text *t, int64_t i))
{
    for (int64_t i = 0; i < OPS_IN_FUNCTION; i++) {
        put_op(t, i);
    }
    t->num_ops += OPS_IN_FUNCTION + 2;
}

/* As it prints: reading and printing give the same bytes. */
static text make_pretty(size_t wanted)
{
    text t = text_new(wanted);
    put(&t, "module {\n");
    for (int f = 0; t.size < wanted; f++) {
        put(&t, "  func.func @f%d(%%arg0: " TENSOR ", %%arg1: " TENSOR ") -> " TENSOR " {\n", f);
        put_ops(&t, put_pretty_op);
        put(&t, "    return %%%d : " TENSOR "\n  }\n", OPS_IN_FUNCTION - 1);
    }
    put(&t, "}\n");
    t.num_ops++;
    return t;
}

/* Attributes in trailing dictionaries: mlir-opt 16 has no `<{..}>`. */
static text make_generic(size_t wanted)
{
    text t = text_new(wanted);
    put(&t, "\"builtin.module\"() ({\n");
    for (int f = 0; t.size < wanted; f++) {
        put(&t, "  \"func.func\"() ({\n  ^bb0(%%arg0: " TENSOR ", %%arg1: " TENSOR "):\n");
        put_ops(&t, put_generic_op);
        put(&t, "    \"func.return\"(%%%d) : (" TENSOR ") -> ()\n", OPS_IN_FUNCTION - 1);
        put(&t,
            "  }) {function_type = (" TENSOR ", " TENSOR ") -> " TENSOR
            ", sym_name = \"f%d\"} : () -> ()\n",
            f);
    }
    put(&t, "}) : () -> ()\n");
    t.num_ops++;
    return t;
}

/* Random digits of elements, eight for each. */
static void put_digits(text *t, size_t elements)
{
    uint64_t seed = 1;
    INSIST(8 * elements < t->room - t->size);
    for (size_t i = 0; i < 8 * elements; i++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        t->data[t->size++] = "0123456789ABCDEF"[seed >> 60];
    }
}

static text make_pretty_hex(size_t wanted)
{
    const size_t elements = wanted / 8;
    text t = text_new(wanted);
    put(&t, "module {\n  func.func @f() -> tensor<%zuxf32> {\n", elements);
    put(&t, "    %%cst = stablehlo.constant dense<\"0x");
    put_digits(&t, elements);
    put(&t, "\"> : tensor<%zuxf32>\n    return %%cst : tensor<%zuxf32>\n  }\n}\n", elements,
        elements);
    t.num_ops = 4;
    return t;
}

static text make_generic_hex(size_t wanted)
{
    const size_t elements = wanted / 8;
    text t = text_new(wanted);
    put(&t, "\"builtin.module\"() ({\n  \"func.func\"() ({\n");
    put(&t, "    %%0 = \"stablehlo.constant\"() {value = dense<\"0x");
    put_digits(&t, elements);
    put(&t, "\"> : tensor<%zuxf32>} : () -> tensor<%zuxf32>\n", elements, elements);
    put(&t, "    \"func.return\"(%%0) : (tensor<%zuxf32>) -> ()\n", elements);
    put(&t,
        "  }) {function_type = () -> tensor<%zuxf32>, sym_name = \"f\"} : () -> ()\n"
        "}) : () -> ()\n",
        elements);
    t.num_ops = 4;
    return t;
}

/* ---- this library ---- */

/* Memory of a context, counted. */
typedef struct counted {
    size_t now;
    size_t peak;
} counted;

static void *resize_counted(void *state, void *old, size_t old_size, size_t new_size)
{
    counted *c = state;
    void *memory = NULL;
    if (new_size == 0) {
        free(old);
    } else {
        memory = realloc(old, new_size);
        INSIST(memory != NULL);
    }
    c->now += new_size - old_size;
    c->peak = c->now > c->peak ? c->now : c->peak;
    return memory;
}

/* Takes what is printed: the bytes are copied, as writing to a file does. */
typedef struct sink {
    char *data;
    size_t size;
    size_t room;
} sink;

static bool take_bytes(void *state, const char *bytes, size_t count)
{
    sink *s = state;
    if (count > s->room - s->size) {
        return false;
    }
    memcpy(s->data + s->size, bytes, count);
    s->size += count;
    return true;
}

/* Room for a text of the same size and a little more, touched. */
static sink sink_new(const text *t)
{
    const size_t room = t->size + t->size / 4 + MB;
    sink s = {.data = malloc(room), .room = room};
    INSIST(s.data != NULL);
    memset(s.data, 0, room);
    return s;
}

/* Seconds and bytes of one text. */
typedef struct figures {
    double read;
    double print;
    double whole; /* read, print and free; of the peer, the whole process */
    double read_spread;
    double print_spread;
    double whole_spread;
    double peak; /* while reading, and what is held then, beside the text */
    double held;
} figures;

static tsr_program *read_text(tsr_context *ctx, const text *t)
{
    const tsr_text source = {.name = "bench", .data = t->data, .size = t->size};
    tsr_program *program = NULL;
    const tsr_status status =
        tsr_program_read(ctx, &source, TSR_PROGRAM_ALLOW_UNREGISTERED, &program);
    if (status < 0) {
        (void)fprintf(stderr, "%s\n", tsr_context_diagnostics(ctx)->text);
    }
    INSIST(status == TSR_OK && tsr_program_num_ops(program) == (size_t)t->num_ops);
    return program;
}

static void print_text(tsr_context *ctx, const tsr_program *program, bool pretty, sink *s)
{
    s->size = 0;
    INSIST(tsr_program_print(ctx, program, pretty ? TSR_PROGRAM_PRETTY : TSR_PROGRAM_GENERIC,
                             take_bytes, s) == TSR_OK);
}

/* Reads and prints once; a pretty text must come out as it went in. */
static void check(tsr_context *ctx, const text *t, bool pretty, sink *s)
{
    tsr_program *program = read_text(ctx, t);
    print_text(ctx, program, pretty, s);
    INSIST(!pretty || (s->size == t->size && memcmp(s->data, t->data, t->size) == 0));
    tsr_program_destroy(program);
}

static void summarize(double *samples, int rounds, double *median, double *spread)
{
    qsort(samples, (size_t)rounds, sizeof samples[0], by_value);
    *median = samples[rounds / 2];
    *spread = (samples[rounds - 1] - samples[0]) / *median;
}

/* The seconds of one round. */
typedef struct round_times {
    double read;
    double print;
    double whole;
} round_times;

static round_times run_round(tsr_context *ctx, const text *t, bool pretty, sink *s,
                             const counted *memory, figures *f)
{
    const double start = seconds();
    tsr_program *program = read_text(ctx, t);
    const double after_read = seconds();
    f->peak = (double)memory->peak;
    f->held = (double)tsr_program_memory(program);
    print_text(ctx, program, pretty, s);
    const double after_print = seconds();
    tsr_program_destroy(program);
    return (round_times){after_read - start, after_print - after_read, seconds() - start};
}

static figures measure(const text *t, bool pretty)
{
    counted memory = {0};
    const tsr_allocator allocator = {resize_counted, &memory};
    tsr_context *ctx = NULL;
    figures f = {0};
    double samples[3][ROUNDS];
    const int rounds = t->size > (size_t)20 * MB ? 3 : ROUNDS;
    sink s = sink_new(t);
    INSIST(tsr_context_create(&allocator, &ctx) == TSR_OK);
    check(ctx, t, pretty, &s);
    for (int i = 0; i < rounds; i++) {
        memory.peak = memory.now;
        const round_times times = run_round(ctx, t, pretty, &s, &memory, &f);
        samples[0][i] = times.read;
        samples[1][i] = times.print;
        samples[2][i] = times.whole;
    }
    tsr_context_destroy(ctx);
    free(s.data);
    summarize(samples[0], rounds, &f.read, &f.read_spread);
    summarize(samples[1], rounds, &f.print, &f.print_spread);
    summarize(samples[2], rounds, &f.whole, &f.whole_spread);
    return f;
}

/* ---- mlir-opt ---- */

static bool has_peer(void)
{
    static int known = -1;
    if (known < 0) {
        known = system("command -v mlir-opt-16 >/dev/null 2>&1") == 0;
        if (known == 0) {
            (void)fprintf(stderr, "bench_program: no mlir-opt-16, its figures are missing; "
                                  "`scripts/deps bench' installs it\n");
        }
    }
    return known == 1;
}

/* The seconds of a stage in a line of the report, `0.0004 ( 77.4%)  Parser`. */
static void read_stage(const char *line, const char *stage, double *out)
{
    if (strstr(line, stage) != NULL) {
        *out = strtod(line, NULL);
    }
}

static void run_peer(const char *path, figures *f)
{
    char command[512];
    char line[512];
    (void)snprintf(command, sizeof command,
                   "mlir-opt-16 --allow-unregistered-dialect --mlir-print-op-generic -mlir-timing "
                   "-mlir-timing-display=list -o /dev/null %s 2>&1",
                   path);
    const double start = seconds();
    FILE *report = popen(command, "r");
    INSIST(report != NULL);
    while (fgets(line, sizeof line, report) != NULL) {
        read_stage(line, "  Parser", &f->read);
        read_stage(line, "  Output", &f->print);
    }
    INSIST(pclose(report) == 0 && f->read > 0);
    f->whole = seconds() - start;
}

/* One run of the peer on a generic text. */
static figures measure_peer(const text *t)
{
    char path[] = "/tmp/bench_program.XXXXXX";
    figures f = {0};
    const int file = mkstemp(path);
    INSIST(file >= 0);
    FILE *out = fdopen(file, "w");
    INSIST(out != NULL && fwrite(t->data, 1, t->size, out) == t->size && fclose(out) == 0);
    run_peer(path, &f);
    INSIST(unlink(path) == 0);
    return f;
}

/* ---- the table ---- */

typedef struct bench_case {
    const char *name;
    text (*make)(size_t wanted);
    bool pretty;
    bool has_peer;
} bench_case;

static const bench_case cases[] = {
    {"ops pretty", make_pretty, true, false},
    {"ops generic", make_generic, false, true},
    {"hex pretty", make_pretty_hex, true, false},
    {"hex generic", make_generic_hex, false, true},
};

static double rate(const text *t, double time)
{
    return (double)t->size / 1e6 / time;
}

/* The start of a line; `peer` is 0 when there is none. */
static void show(const char *what, const char *name, const text *t, double time, double spread,
                 double peer)
{
    printf("{\"bench\": \"program %s, %s\", \"mb\": %.1f, \"mb_per_second\": %.1f, "
           "\"spread\": %.2f",
           what, name, (double)t->size / 1e6, rate(t, time), spread);
    if (peer > 0) {
        printf(", \"peer\": \"mlir-opt-16\", \"peer_mb_per_second\": %.1f, \"times_faster\": %.2f",
               rate(t, peer), peer / time);
    }
}

static void run_case(const bench_case *c, size_t wanted)
{
    text t = c->make(wanted);
    const figures ours = measure(&t, c->pretty);
    const figures peer = c->has_peer && has_peer() ? measure_peer(&t) : (figures){0};
    show("read", c->name, &t, ours.read, ours.read_spread, peer.read);
    printf(", \"ops\": %lld, \"peak_by_text\": %.3f, \"held_by_text\": %.3f}\n",
           (long long)t.num_ops, ours.peak / (double)t.size, ours.held / (double)t.size);
    show("print", c->name, &t, ours.print, ours.print_spread, peer.print);
    printf("}\n");
    show("whole", c->name, &t, ours.whole, ours.whole_spread, peer.whole);
    printf("}\n");
    (void)fflush(stdout);
    free(t.data);
}

int main(void)
{
    const size_t sizes[] = {1, 10, 100};
    const size_t num_sizes = getenv("TSR_BENCH_QUICK") != NULL ? 2 : 3;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t k = 0; k < num_sizes; k++) {
            run_case(&cases[i], sizes[k] * MB);
        }
    }
    return 0;
}
