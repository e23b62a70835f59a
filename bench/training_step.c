#include "training_step.h"

#include <stdarg.h>
#include <string.h>

#include <tessera/base.h>

#include "bench.h"

static void put(program_text *t, const char *format, ...) TSR_PRINTF(2, 3);

static void put(program_text *t, const char *format, ...)
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
static int64_t op(program_text *t, const char *form, ...) TSR_PRINTF(2, 3);

static int64_t op(program_text *t, const char *form, ...)
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

static int64_t dot(program_text *t, int64_t x, const char *weight, int64_t layer, const char *from,
                   const char *shape, const char *to)
{
    return op(t, "dot_general %%%lld, %%%s%lld, contracting_dims = [2] x [0] : (%s, %s) -> %s",
              V(x), weight, V(layer), from, shape, to);
}

static int64_t normalize(program_text *t, int64_t x)
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

static int64_t heads(program_text *t, int64_t x, const char *weight, int64_t layer)
{
    const int64_t y = dot(t, x, weight, layer, X, "tensor<512x512xf32>", X);
    const int64_t split = op(t, "reshape %%%lld : (" X ") -> tensor<32x128x8x64xf32>", V(y));
    return op(t, "transpose %%%lld, dims = [0, 2, 1, 3] : (tensor<32x128x8x64xf32>) -> " A,
              V(split));
}

static int64_t attend(program_text *t, int64_t x, int64_t layer)
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
static int64_t layer_of(program_text *t, int64_t x, int64_t layer)
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

program_text training_step(int64_t wanted)
{
    program_text body = {.data = malloc(1024), .room = 1024};
    program_text all = {.data = malloc(1024), .room = 1024};
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

program_text read_program_text(const char *path)
{
    FILE *file = fopen(path, "r");
    INSIST(file != NULL && fseek(file, 0, SEEK_END) == 0);
    const long size = ftell(file);
    INSIST(size >= 0 && fseek(file, 0, SEEK_SET) == 0);
    program_text t = {.data = malloc((size_t)size + 1), .size = (size_t)size};
    INSIST(t.data != NULL && fread(t.data, 1, t.size, file) == t.size && fclose(file) == 0);
    return t;
}
