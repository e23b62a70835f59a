/*
 * How long propagation over whole programs takes: generated training steps of a transformer, of
 * 1,000 to 1,000,000 ops, with shardings on inputs and weights only. Files given as arguments are
 * measured too. Beside the reference on the same program where TSR_ORACLE is its path; its time is
 * that of its own report. TSR_BENCH_QUICK=1 leaves out 1,000,000 ops.
 */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <tessera/pass.h>

#include "bench.h"

typedef struct text {
    char *data;
    size_t size;
    size_t room;
    int64_t num_values;
    int64_t num_ops;
} text;

static void put(text *t, const char *format, ...) TSR_PRINTF(2, 3);

static void put(text *t, const char *format, ...)
{
    for (;;) {
        va_list arguments;
        va_start(arguments, format);
        const int size = vsnprintf(t->data + t->size, t->room - t->size, format, arguments);
        va_end(arguments);
        INSIST(size >= 0);
        if ((size_t)size < t->room - t->size) {
            t->size += (size_t)size;
            return;
        }
        t->room = 2 * t->room + (size_t)size;
        t->data = realloc(t->data, t->room);
        INSIST(t->data != NULL);
    }
}

/* ---- a training step ---- */

#define X "tensor<32x128x512xf32>"   /* activations */
#define H "tensor<32x128x2048xf32>"  /* inside the feed-forward part */
#define A "tensor<32x8x128x64xf32>"  /* one head of attention after the other */
#define S "tensor<32x8x128x128xf32>" /* scores */
#define R "tensor<32x128xf32>"

/* A new value: `%N = form`. */
static int64_t op(text *t, const char *form, ...) TSR_PRINTF(2, 3);

static int64_t op(text *t, const char *form, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, form);
    (void)vsnprintf(line, sizeof line, form, arguments);
    va_end(arguments);
    put(t, "    %%%lld = stablehlo.%s\n", (long long)t->num_values, line);
    t->num_ops++;
    return t->num_values++;
}

#define V(value) (long long)(value)

static int64_t dot(text *t, int64_t x, const char *weight, int64_t layer, const char *from,
                   const char *shape, const char *to)
{
    return op(t, "dot_general %%%lld, %%%s%lld, contracting_dims = [2] x [0] : (%s, %s) -> %s",
              V(x), weight, V(layer), from, shape, to);
}

static int64_t normalize(text *t, int64_t x)
{
    const int64_t sum = op(t,
                           "reduce(%%%lld init: %%zero) applies stablehlo.add across dimensions = "
                           "[2] : (" X ", tensor<f32>) -> " R,
                           V(x));
    const int64_t mean = op(t, "broadcast_in_dim %%%lld, dims = [0, 1] : (" R ") -> " X, V(sum));
    const int64_t centred = op(t, "subtract %%%lld, %%%lld : " X, V(x), V(mean));
    const int64_t squared = op(t, "multiply %%%lld, %%%lld : " X, V(centred), V(centred));
    const int64_t variance = op(t,
                                "reduce(%%%lld init: %%zero) applies stablehlo.add across "
                                "dimensions = [2] : (" X ", tensor<f32>) -> " R,
                                V(squared));
    const int64_t scale = op(t, "rsqrt %%%lld : " R, V(variance));
    const int64_t spread =
        op(t, "broadcast_in_dim %%%lld, dims = [0, 1] : (" R ") -> " X, V(scale));
    return op(t, "multiply %%%lld, %%%lld : " X, V(centred), V(spread));
}

static int64_t heads(text *t, int64_t x, const char *weight, int64_t layer)
{
    const int64_t y = dot(t, x, weight, layer, X, "tensor<512x512xf32>", X);
    const int64_t split = op(t, "reshape %%%lld : (" X ") -> tensor<32x128x8x64xf32>", V(y));
    return op(t, "transpose %%%lld, dims = [0, 2, 1, 3] : (tensor<32x128x8x64xf32>) -> " A,
              V(split));
}

static int64_t attend(text *t, int64_t x, int64_t layer)
{
    const int64_t q = heads(t, x, "q", layer);
    const int64_t k = heads(t, x, "k", layer);
    const int64_t v = heads(t, x, "v", layer);
    const int64_t scores = op(t,
                              "dot_general %%%lld, %%%lld, batching_dims = [0, 1] x [0, 1], "
                              "contracting_dims = [3] x [3] : (" A ", " A ") -> " S,
                              V(q), V(k));
    const int64_t e = op(t, "exponential %%%lld : " S, V(scores));
    const int64_t sum = op(t,
                           "reduce(%%%lld init: %%zero) applies stablehlo.add across dimensions = "
                           "[3] : (" S ", tensor<f32>) -> tensor<32x8x128xf32>",
                           V(e));
    const int64_t wide =
        op(t, "broadcast_in_dim %%%lld, dims = [0, 1, 2] : (tensor<32x8x128xf32>) -> " S, V(sum));
    const int64_t soft = op(t, "divide %%%lld, %%%lld : " S, V(e), V(wide));
    const int64_t mixed = op(t,
                             "dot_general %%%lld, %%%lld, batching_dims = [0, 1] x [0, 1], "
                             "contracting_dims = [3] x [2] : (" S ", " A ") -> " A,
                             V(soft), V(v));
    const int64_t back = op(
        t, "transpose %%%lld, dims = [0, 2, 1, 3] : (" A ") -> tensor<32x128x8x64xf32>", V(mixed));
    const int64_t joined = op(t, "reshape %%%lld : (tensor<32x128x8x64xf32>) -> " X, V(back));
    return dot(t, joined, "o", layer, X, "tensor<512x512xf32>", X);
}

/* One layer and, as its gradient, products of the same shapes the other way round. */
static int64_t layer_of(text *t, int64_t x, int64_t layer)
{
    const int64_t a = op(t, "add %%%lld, %%%lld : " X, V(x), V(attend(t, normalize(t, x), layer)));
    const int64_t n = normalize(t, a);
    const int64_t h = dot(t, n, "u", layer, X, "tensor<512x2048xf32>", H);
    const int64_t act = op(t, "tanh %%%lld : " H, V(h));
    const int64_t d = dot(t, act, "d", layer, H, "tensor<2048x512xf32>", X);
    const int64_t y = op(t, "add %%%lld, %%%lld : " X, V(a), V(d));
    const int64_t g = op(t,
                         "dot_general %%%lld, %%%lld, contracting_dims = [0, 1] x [0, 1] : (" X
                         ", " H ") -> tensor<512x2048xf32>",
                         V(n), V(act));
    const int64_t step = op(t, "multiply %%%lld, %%rate : tensor<512x2048xf32>", V(g));
    (void)op(t, "subtract %%u%lld, %%%lld : tensor<512x2048xf32>", V(layer), V(step));
    return y;
}

static text training_step(int64_t wanted)
{
    text body = {.data = malloc(1024), .room = 1024};
    text all = {.data = malloc(1024), .room = 1024};
    static const char *const names[] = {"q", "k", "v", "o", "u", "d"};
    static const char *const shapes[] = {"512x512", "512x512",  "512x512",
                                         "512x512", "512x2048", "2048x512"};
    static const char *const axes[] = {"{}, {\"model\"}", "{}, {\"model\"}", "{}, {\"model\"}",
                                       "{\"model\"}, {}", "{}, {\"model\"}", "{\"model\"}, {}"};
    int64_t layers = 0;
    INSIST(body.data != NULL && all.data != NULL);
    int64_t x = op(&body, "tanh %%x : " X);
    for (; body.num_ops < wanted; layers++) {
        x = layer_of(&body, x, layers);
        /* What the gradient changed is used: else it is erased. */
        (void)op(&body,
                 "custom_call @sdy_testonly(%%%lld) {has_side_effect = true} : "
                 "(tensor<512x2048xf32>) -> tensor<512x2048xf32>",
                 V(body.num_values - 1));
    }
    put(&all, "sdy.mesh @mesh = <[\"data\"=4, \"model\"=8]>\nfunc.func @main(%%x: " X
              " {sdy.sharding = #sdy.sharding<@mesh, [{\"data\"}, {}, {}]>}, %%rate: "
              "tensor<512x2048xf32>, %%zero: tensor<f32>");
    for (int64_t i = 0; i < layers; i++) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            put(&all, ", %%%s%lld: tensor<%sxf32> {sdy.sharding = #sdy.sharding<@mesh, [%s]>}",
                names[k], V(i), shapes[k], axes[k]);
        }
    }
    put(&all, ") -> " X " {\n%s    return %%%lld : " X "\n}\n", body.data, V(x));
    all.num_ops = body.num_ops;
    free(body.data);
    return all;
}

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
static double reference_seconds(const text *t)
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

static void measure(tsr_context *ctx, const char *name, const text *t)
{
    const tsr_pass *pass = find_pass("sdy-user-priority-propagate");
    const tsr_text source = {.name = name, .data = t->data, .size = t->size};
    const int rounds = t->size > 50 * 1000 * 1000 ? 3 : 5;
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
           name, num_ops, V(sharded), median, 1e6 * median / (double)num_ops, V(allocations));
    if (reference > 0) {
        printf(", \"reference_seconds\": %.4f, \"ratio\": %.1f", reference, reference / median);
    }
    printf("}\n");
    (void)fflush(stdout);
}

static text read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    INSIST(file != NULL && fseek(file, 0, SEEK_END) == 0);
    const long size = ftell(file);
    INSIST(size >= 0 && fseek(file, 0, SEEK_SET) == 0);
    text t = {.data = malloc((size_t)size + 1), .size = (size_t)size};
    INSIST(t.data != NULL && fread(t.data, 1, t.size, file) == t.size && fclose(file) == 0);
    return t;
}

int main(int argc, char **argv)
{
    const bool quick = getenv("TSR_BENCH_QUICK") != NULL;
    const tsr_allocator allocator = {.resize = count_and_resize};
    tsr_context *ctx = NULL;
    INSIST(tsr_context_create(&allocator, &ctx) == TSR_OK);
    for (int64_t wanted = 1000; wanted <= (quick ? 100000 : 1000000); wanted *= 10) {
        char name[64];
        text t = training_step(wanted);
        (void)snprintf(name, sizeof name, "transformer of %lld ops", V(wanted));
        measure(ctx, name, &t);
        free(t.data);
    }
    for (int i = 1; i < argc; i++) {
        text t = read_file(argv[i]);
        measure(ctx, argv[i], &t);
        free(t.data);
    }
    tsr_context_destroy(ctx);
    return 0;
}
