#include "body.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const int axis_masks[2] = {3, 4};

static int64_t digit_of(const body *b, int64_t device, int digit)
{
    const int64_t strides[] = {b->sizes[1] * b->sizes[2], b->sizes[2], 1};
    return device / strides[digit] % b->sizes[digit];
}

int64_t device_like(const body *b, int64_t device, int mask, int64_t other)
{
    int64_t number = 0;
    for (int i = 0; i < NUM_DIGITS; i++) {
        const int64_t from = (mask >> i & 1) != 0 ? other : device;
        number = number * b->sizes[i] + digit_of(b, from, i);
    }
    return number;
}

static void put(body *b, const char *format, ...) TSR_PRINTF(2, 3);

static void put(body *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    b->size += vsnprintf(b->text + b->size, MAX_BYTES - (size_t)b->size, format, arguments);
    va_end(arguments);
    assert_true(b->size < MAX_BYTES);
}

/* ---- ops ---- */

/* An op under way: operands, the value that is made, and what distinguishes it. */
typedef struct step {
    body *b;
    const value *u;
    const value *v;
    const char *u_name;
    const char *v_name;
    value *out;
    const char *name; /* of what is made */
    int mask;         /* digits, not none */
    int64_t choice;
} step;

/* An element of what is made, on one device. */
typedef uint64_t (*element_of)(const step *s, int64_t d, int i);

static void make(const step *s, element_of element)
{
    for (int64_t d = 0; d < s->b->num_devices; d++) {
        for (int i = 0; i < ELEMENTS; i++) {
            s->out->at[d][i] = element(s, d, i);
        }
    }
}

static const char type[] = "tensor<2x2xi64>";

static uint64_t add_element(const step *s, int64_t d, int i)
{
    return s->u->at[d][i] + s->v->at[d][i];
}

static void add(const step *s)
{
    put(s->b, "%s = stablehlo.add %s, %s : %s\n", s->name, s->u_name, s->v_name, type);
    make(s, add_element);
}

static uint64_t multiply_element(const step *s, int64_t d, int i)
{
    return s->u->at[d][i] * s->v->at[d][i];
}

static void multiply(const step *s)
{
    put(s->b, "%s = stablehlo.multiply %s, %s : %s\n", s->name, s->u_name, s->v_name, type);
    make(s, multiply_element);
}

static uint64_t negate_element(const step *s, int64_t d, int i)
{
    return -s->u->at[d][i];
}

static void negate(const step *s)
{
    put(s->b, "%s = stablehlo.negate %s : %s\n", s->name, s->u_name, type);
    make(s, negate_element);
}

static uint64_t invert_element(const step *s, int64_t d, int i)
{
    return ~s->u->at[d][i];
}

static void invert(const step *s)
{
    put(s->b, "%s = stablehlo.not %s : %s\n", s->name, s->u_name, type);
    make(s, invert_element);
}

static uint64_t dot_element(const step *s, int64_t d, int i)
{
    return s->u->at[d][i / 2 * 2] * s->v->at[d][i % 2] +
           s->u->at[d][i / 2 * 2 + 1] * s->v->at[d][2 + i % 2];
}

static void dot(const step *s)
{
    put(s->b, "%s = stablehlo.dot_general %s, %s, contracting_dims = [1] x [0] : (%s, %s) -> %s\n",
        s->name, s->u_name, s->v_name, type, type, type);
    make(s, dot_element);
}

static uint64_t transpose_element(const step *s, int64_t d, int i)
{
    return s->u->at[d][i % 2 * 2 + i / 2];
}

static void transpose(const step *s)
{
    put(s->b, "%s = stablehlo.transpose %s, dims = [1, 0] : (%s) -> %s\n", s->name, s->u_name, type,
        type);
    make(s, transpose_element);
}

/* Sums over a dimension, and repeats that along it. */
static uint64_t reduce_element(const step *s, int64_t d, int i)
{
    const int dim = (int)(s->choice % 2);
    const int at = dim == 0 ? i % 2 : i / 2 * 2;
    return s->u->at[d][at] + s->u->at[d][at + (dim == 0 ? 2 : 1)];
}

static void reduce(const step *s)
{
    const int dim = (int)(s->choice % 2);
    put(s->b,
        "%s_r = stablehlo.reduce(%s init: %%zero) applies stablehlo.add across dimensions = "
        "[%d] : (%s, tensor<i64>) -> tensor<2xi64>\n",
        s->name, s->u_name, dim, type);
    put(s->b, "%s = stablehlo.broadcast_in_dim %s_r, dims = [%d] : (tensor<2xi64>) -> %s\n",
        s->name, s->name, 1 - dim, type);
    make(s, reduce_element);
}

/* ---- collectives ---- */

/* Writes the groups of devices that differ in a mask; each in the order of their numbers. */
static void put_groups(const step *s)
{
    int64_t size = 0;
    int64_t count = 0;
    for (int64_t d = 0; d < s->b->num_devices; d++) {
        size += device_like(s->b, 0, s->mask, d) == d;
    }
    put(s->b, "replica_groups = dense<[");
    for (int64_t d = 0; d < s->b->num_devices; d++) {
        if (device_like(s->b, d, s->mask, 0) != d) {
            continue;
        }
        put(s->b, count++ > 0 ? ", [%" PRId64 : "[%" PRId64, d);
        for (int64_t k = d + 1; k < s->b->num_devices; k++) {
            if (device_like(s->b, d, s->mask, k) == k) {
                put(s->b, ", %" PRId64, k);
            }
        }
        put(s->b, "]");
    }
    put(s->b, "]> : tensor<%" PRId64 "x%" PRId64 "xi64>, use_global_device_ids", count, size);
}

static const char channel[] = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, ";

static uint64_t all_reduce_element(const step *s, int64_t d, int i)
{
    uint64_t sum = 0;
    for (int64_t k = 0; k < s->b->num_devices; k++) {
        sum += device_like(s->b, d, s->mask, k) == k ? s->u->at[k][i] : 0;
    }
    return sum;
}

static void all_reduce(const step *s)
{
    put(s->b, "%s = \"stablehlo.all_reduce\"(%s) <{%s", s->name, s->u_name, channel);
    put_groups(s);
    put(s->b,
        "}> ({\n^bb0(%%p: tensor<i64>, %%q: tensor<i64>):\n%%s = stablehlo.add %%p, %%q : "
        "tensor<i64>\nstablehlo.return %%s : tensor<i64>\n}) : (%s) -> %s\n",
        type, type);
    make(s, all_reduce_element);
}

/* The member of a group that is at a place among those of a device. */
static int64_t member(const step *s, int64_t device, int64_t place)
{
    for (int64_t k = 0; k < s->b->num_devices; k++) {
        if (device_like(s->b, device, s->mask, k) == k && place-- == 0) {
            return k;
        }
    }
    return -1;
}

static int64_t group_size(const step *s)
{
    int64_t size = 1;
    for (int i = 0; i < NUM_DIGITS; i++) {
        size *= (s->mask >> i & 1) != 0 ? s->b->sizes[i] : 1;
    }
    return size;
}

/* Gathers rows, and takes those of one member. */
static uint64_t all_gather_element(const step *s, int64_t d, int i)
{
    return s->u->at[member(s, d, s->choice % group_size(s))][i];
}

static void all_gather(const step *s)
{
    const int64_t size = group_size(s);
    const int64_t from = s->choice % size;
    put(s->b, "%s_g = \"stablehlo.all_gather\"(%s) <{all_gather_dim = 0 : i64, %s", s->name,
        s->u_name, channel);
    put_groups(s);
    put(s->b, "}> : (%s) -> tensor<%" PRId64 "x2xi64>\n", type, (2 * size));
    put(s->b,
        "%s = stablehlo.slice %s_g [%" PRId64 ":%" PRId64 ", 0:2] : (tensor<%" PRId64
        "x2xi64>) -> %s\n",
        s->name, s->name, (2 * from), (2 * from + 2), (2 * size), type);
    make(s, all_gather_element);
}

/* Each device sends to the next one along a digit; the last to the first, or to none. */
static void permute(const step *s)
{
    const int digit = (int)(s->choice % NUM_DIGITS);
    const bool is_ring = s->choice / NUM_DIGITS % 2 == 0;
    int64_t count = 0;
    memset(s->out, 0, sizeof *s->out);
    put(s->b, "%s = \"stablehlo.collective_permute\"(%s) <{%ssource_target_pairs = dense<[",
        s->name, s->u_name, channel);
    for (int64_t d = 0; d < s->b->num_devices; d++) {
        const int64_t stride = digit == 2   ? 1
                               : digit == 1 ? s->b->sizes[2]
                                            : s->b->sizes[1] * s->b->sizes[2];
        const bool is_last = digit_of(s->b, d, digit) == s->b->sizes[digit] - 1;
        const int64_t to = is_last ? d - stride * (s->b->sizes[digit] - 1) : d + stride;
        if (is_last && !is_ring && s->b->sizes[digit] > 1) {
            continue;
        }
        put(s->b, count++ > 0 ? ", [%" PRId64 ", %" PRId64 "]" : "[%" PRId64 ", %" PRId64 "]", d,
            to);
        memcpy(s->out->at[to], s->u->at[d], sizeof s->out->at[to]);
    }
    put(s->b, "]> : tensor<%" PRId64 "x2xi64>}> : (%s) -> %s\n", count, type, type);
}

/* ---- devices and control flow ---- */

/* A digit of the device's number, or all of it: (number / div) % mod. */
static int64_t div_of(const step *s)
{
    return s->choice % 2 == 0 ? 1 : s->b->sizes[2];
}

static int64_t mod_of(const step *s)
{
    return s->choice / 2 % 2 == 0 ? s->b->num_devices + 1 : s->b->sizes[2];
}

static void put_digit(const step *s)
{
    put(s->b, "%s_d = stablehlo.constant dense<%" PRId64 "> : tensor<ui32>\n", s->name, div_of(s));
    put(s->b, "%s_m = stablehlo.constant dense<%" PRId64 "> : tensor<ui32>\n", s->name, mod_of(s));
    put(s->b, "%s_q = stablehlo.divide %%id, %s_d : tensor<ui32>\n", s->name, s->name);
    put(s->b, "%s_e = stablehlo.remainder %s_q, %s_m : tensor<ui32>\n", s->name, s->name, s->name);
    put(s->b, "%s_i = stablehlo.convert %s_e : (tensor<ui32>) -> tensor<i64>\n", s->name, s->name);
}

static uint64_t digit_element(const step *s, int64_t d, int i)
{
    (void)i;
    return (uint64_t)(d / div_of(s) % mod_of(s));
}

static void device_digit(const step *s)
{
    put_digit(s);
    put(s->b, "%s = stablehlo.broadcast_in_dim %s_i, dims = [] : (tensor<i64>) -> %s\n", s->name,
        s->name, type);
    make(s, digit_element);
}

/* One of two values, by whether an element of the first is positive. */
static uint64_t branch_element(const step *s, int64_t d, int i)
{
    return (int64_t)s->u->at[d][0] > 0 ? s->v->at[d][i] : -s->v->at[d][i];
}

static void branch(const step *s)
{
    put(s->b, "%s_c = stablehlo.slice %s [0:1, 0:1] : (%s) -> tensor<1x1xi64>\n", s->name,
        s->u_name, type);
    put(s->b, "%s_k = stablehlo.reshape %s_c : (tensor<1x1xi64>) -> tensor<i64>\n", s->name,
        s->name);
    put(s->b,
        "%s_p = stablehlo.compare GT, %s_k, %%zero : (tensor<i64>, tensor<i64>) -> "
        "tensor<i1>\n",
        s->name, s->name);
    put(s->b,
        "%s = \"stablehlo.if\"(%s_p) ({\nstablehlo.return %s : %s\n}, {\n%%n = "
        "stablehlo.negate %s : %s\nstablehlo.return %%n : %s\n}) : (tensor<i1>) -> %s\n",
        s->name, s->name, s->v_name, type, s->v_name, type, type, type);
    make(s, branch_element);
}

static bool has_varying_count(const step *s)
{
    return s->choice / 4 % 2 == 0;
}

static uint64_t loop_element(const step *s, int64_t d, int i)
{
    uint64_t sum = s->u->at[d][i];
    for (uint64_t n = has_varying_count(s) ? digit_element(s, d, i) : 0; n < 2; n++) {
        sum += s->v->at[d][i];
    }
    return sum;
}

/* Adds a value several times: twice, or as often as a digit of the device says. */
static void loop(const step *s)
{
    const bool is_varying = has_varying_count(s);
    put_digit(s);
    make(s, loop_element);
    put(s->b, "%s_l:2 = stablehlo.while(%%i = %s%s, %%w = %s) : tensor<i64>, %s cond {\n", s->name,
        is_varying ? s->name : "%zero", is_varying ? "_i" : "", s->u_name, type);
    put(s->b, "%%two = stablehlo.constant dense<2> : tensor<i64>\n%%t = stablehlo.compare LT, "
              "%%i, %%two : (tensor<i64>, tensor<i64>) -> tensor<i1>\nstablehlo.return %%t : "
              "tensor<i1>\n} do {\n");
    put(s->b,
        "%%one = stablehlo.constant dense<1> : tensor<i64>\n%%j = stablehlo.add %%i, %%one : "
        "tensor<i64>\n%%z = stablehlo.add %%w, %s : %s\nstablehlo.return %%j, %%z : "
        "tensor<i64>, %s\n}\n",
        s->v_name, type, type);
    put(s->b, "%s = stablehlo.optimization_barrier %s_l#1 : %s\n", s->name, s->name, type);
}

static void (*const ops[])(const step *s) = {
    add,        multiply,   negate,     invert,  dot,          transpose, reduce,
    all_reduce, all_reduce, all_gather, permute, device_digit, branch,    loop};

/* ---- bodies ---- */

/* The axes that cut each dimension of an argument: 0 none, 1 "x", 2 "y". */
typedef struct argument {
    int axes[2];
} argument;

static argument random_argument(rng *r)
{
    argument a = {{(int)rng_below(r, 3), (int)rng_below(r, 3)}};
    if (a.axes[0] == a.axes[1]) {
        a.axes[1] = 0;
    }
    return a;
}

static const char *dim_text(int axis)
{
    static const char *const texts[] = {"{}", "{\"x\"}", "{\"y\"}"};
    return texts[axis];
}

static int64_t axis_size(const body *b, int axis)
{
    return axis == 0 ? 1 : axis == 1 ? b->sizes[0] * b->sizes[1] : b->sizes[2];
}

/* Elements that depend on the digits along which the argument is cut, and on nothing else. */
static void fill(body *b, size_t index, argument a)
{
    int mask = 0;
    for (int d = 0; d < 2; d++) {
        mask |= a.axes[d] > 0 ? axis_masks[a.axes[d] - 1] : 0;
    }
    for (int64_t d = 0; d < b->num_devices; d++) {
        for (int i = 0; i < ELEMENTS; i++) {
            const int64_t seen = device_like(b, 0, mask, d);
            b->values[index].at[d][i] =
                (uint64_t)(1 + index * 97 + (uint64_t)seen * 31) * (uint64_t)(2 * i + 3);
        }
    }
}

static void put_arguments(body *b, const argument *arguments)
{
    put(b, "sdy.mesh @m = <[\"x\"=%" PRId64 ", \"y\"=%" PRId64 "]>\nfunc.func public @main(",
        axis_size(b, 1), axis_size(b, 2));
    for (int k = 0; k < NUM_ARGUMENTS; k++) {
        put(b, "%s%%g%d: tensor<%" PRId64 "x%" PRId64 "xi64>", k > 0 ? ", " : "", k,
            (2 * axis_size(b, arguments[k].axes[0])), (2 * axis_size(b, arguments[k].axes[1])));
    }
    put(b, ") {\n%%r:%d = sdy.manual_computation(%%g0, %%g1, %%g2, %%g3) in_shardings=[",
        MAX_VALUES);
    for (int k = 0; k < NUM_ARGUMENTS; k++) {
        put(b, "%s<@m, [%s, %s]>", k > 0 ? ", " : "", dim_text(arguments[k].axes[0]),
            dim_text(arguments[k].axes[1]));
    }
    put(b, "] out_shardings=[");
    for (int i = 0; i < MAX_VALUES; i++) {
        put(b, "%s<@m, [{}, {}]>", i > 0 ? ", " : "");
    }
    put(b, "] manual_axes={\"x\", \"y\"} (");
    for (int k = 0; k < NUM_ARGUMENTS; k++) {
        put(b, "%s%%v%d: %s", k > 0 ? ", " : "", k, type);
    }
    put(b, ") {\n%%zero = stablehlo.constant dense<0> : tensor<i64>\n"
           "%%id = stablehlo.partition_id : tensor<ui32>\n");
}

static void put_results(body *b, const argument *arguments)
{
    put(b, "sdy.return ");
    for (int i = 0; i < MAX_VALUES; i++) {
        put(b, "%s%%v%d", i > 0 ? ", " : "", i);
    }
    for (int i = 0; i < MAX_VALUES; i++) {
        put(b, "%s%s", i > 0 ? ", " : " : ", type);
    }
    put(b, "\n} : (");
    for (int k = 0; k < NUM_ARGUMENTS; k++) {
        put(b, "%stensor<%" PRId64 "x%" PRId64 "xi64>", k > 0 ? ", " : "",
            (2 * axis_size(b, arguments[k].axes[0])), (2 * axis_size(b, arguments[k].axes[1])));
    }
    put(b, ") -> (");
    for (int i = 0; i < MAX_VALUES; i++) {
        put(b, "%s%s", i > 0 ? ", " : "", type);
    }
    put(b, ")\nreturn\n}\n");
}

static void add_step(body *b)
{
    const size_t n = b->num_values++;
    const size_t u = (size_t)rng_below(b->r, (int64_t)n);
    const size_t v = (size_t)rng_below(b->r, (int64_t)n);
    (void)sprintf(b->names[n], "%%v%zu", n);
    const step s = {.b = b,
                    .u = &b->values[u],
                    .v = &b->values[v],
                    .u_name = b->names[u],
                    .v_name = b->names[v],
                    .out = &b->values[n],
                    .name = b->names[n],
                    .mask = (int)(1 + rng_below(b->r, 7)),
                    .choice = rng_below(b->r, 1 << 20)};
    ops[rng_below(b->r, (int64_t)(sizeof ops / sizeof ops[0]))](&s);
}

void make_body(body *b)
{
    static const int64_t shapes[][NUM_DIGITS] = {{2, 1, 2}, {3, 1, 2}, {2, 2, 2},
                                                 {4, 1, 1}, {1, 1, 3}, {2, 2, 1}};
    argument arguments[NUM_ARGUMENTS];
    memcpy(b->sizes, shapes[rng_below(b->r, 6)], sizeof b->sizes);
    b->num_devices = b->sizes[0] * b->sizes[1] * b->sizes[2];
    for (size_t k = 0; k < NUM_ARGUMENTS; k++) {
        arguments[k] = random_argument(b->r);
        (void)sprintf(b->names[k], "%%v%zu", k);
        fill(b, k, arguments[k]);
    }
    b->num_values = NUM_ARGUMENTS;
    put_arguments(b, arguments);
    while (b->num_values < MAX_VALUES) {
        add_step(b);
    }
    put_results(b, arguments);
}
