/*
 * Results of a program against those that JAX computed: compare_outputs META EXPECTED ACTUAL, where
 * META describes results of which both folders have .npy files. Floats are compared with the
 * largest element of their tensor, integers exactly. Where XLA's own run on several devices is as
 * far from one device, the result is noise, as gradients that are zero by the algebra; it is
 * counted. Prints what differs, and `fine`.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/npy.h>
#include <tessera/tessera.h>

static double get_f32(const char *at)
{
    float value = 0;
    memcpy(&value, at, sizeof value);
    return (double)value;
}

static double get_f64(const char *at)
{
    double value = 0;
    memcpy(&value, at, sizeof value);
    return value;
}

static double get_bf16(const char *at)
{
    uint16_t bits = 0;
    float value = 0;
    memcpy(&bits, at, sizeof bits);
    const uint32_t wide = (uint32_t)bits << 16;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static double get_f16(const char *at)
{
    uint16_t bits = 0;
    memcpy(&bits, at, sizeof bits);
    const int exponent = bits >> 10 & 0x1f;
    const double fraction = bits & 0x3ff;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 0x1f) {
        return fraction != 0 ? NAN : sign * INFINITY;
    }
    return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

/* How far an element may be off, as a part of the largest. Other types are exact. */
static const struct {
    const char *dtype;
    double tolerance;
    int parts; /* 2 of complex numbers */
    double (*get)(const char *at);
} kinds[] = {
    {"float32", 1e-5, 1, get_f32},   {"float64", 1e-12, 1, get_f64},
    {"bfloat16", 2e-2, 1, get_bf16}, {"float16", 2e-2, 1, get_f16},
    {"complex64", 1e-5, 2, get_f32}, {"complex128", 1e-12, 2, get_f64},
};

static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    (void)fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    if (data != NULL && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
    }
    (void)fclose(file);
    return data;
}

/* The bytes of a view's elements. */
static size_t bytes_of(const tsr_view *v)
{
    size_t bytes = (size_t)tsr_dtype_item_bytes(v->dtype);
    for (size_t d = 0; d < v->rank; d++) {
        bytes *= (size_t)v->shape[d];
    }
    return bytes;
}

/* How far two arrays are apart: 0 or infinite for what is exact. */
typedef struct gap {
    double off;
    double largest;
    double tolerance;
} gap;

static gap measure(const char *dtype, const tsr_view *want, const tsr_view *got)
{
    const size_t bytes = bytes_of(want);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (strcmp(kinds[k].dtype, dtype) != 0) {
            continue;
        }
        const size_t item = (size_t)tsr_dtype_item_bytes(want->dtype) / (size_t)kinds[k].parts;
        double largest = 0;
        double off = 0;
        for (size_t at = 0; at < bytes; at += item) {
            const double x = kinds[k].get((const char *)want->data + at);
            const double y = kinds[k].get((const char *)got->data + at);
            const bool same = x == y || (isnan(x) && isnan(y));
            largest = isfinite(x) ? fmax(largest, fabs(x)) : largest;
            off = same ? off : (isfinite(x) && isfinite(y) ? fmax(off, fabs(x - y)) : INFINITY);
        }
        return (gap){off, largest, kinds[k].tolerance};
    }
    return (gap){.off = memcmp(want->data, got->data, bytes) == 0 ? 0 : INFINITY};
}

/* An array of a folder. */
static bool load(tsr_context *ctx, tsr_arena *arena, const char *folder, const char *file,
                 tsr_view *out, char **data)
{
    char path[4096];
    size_t size = 0;
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    *data = read_file(path, &size);
    return *data != NULL && tsr_npy_view(ctx, arena, path, *data, size, out) == TSR_OK;
}

static bool compare(tsr_context *ctx, tsr_arena *arena, const json_t *result, char **folders,
                    size_t *noise)
{
    const char *file = json_string_value(json_object_get(result, "file"));
    const char *dtype = json_string_value(json_object_get(result, "dtype"));
    tsr_view want;
    tsr_view got;
    char *data[2] = {NULL, NULL};
    bool fine = false;
    if (!load(ctx, arena, folders[0], file, &want, &data[0]) ||
        !load(ctx, arena, folders[1], file, &got, &data[1])) {
        printf("%s cannot be read\n", file);
    } else if (want.rank != got.rank || want.dtype != got.dtype ||
               bytes_of(&want) != bytes_of(&got)) {
        printf("%s has another type\n", file);
    } else {
        const gap g = measure(dtype, &want, &got);
        const double theirs =
            json_number_value(json_object_get(result, "xla_sharded_max_abs_diff"));
        fine = g.off <= g.tolerance * g.largest;
        if (!fine && isfinite(g.off) && g.off <= 16 * theirs) {
            ++*noise;
            fine = true;
        }
        if (!fine) {
            printf("%s, %s, is off by %.3g, its largest element is %.3g\n", file, dtype, g.off,
                   g.largest);
        }
    }
    free(data[0]);
    free(data[1]);
    return fine;
}

int main(int argc, char **argv)
{
    tsr_context *ctx = NULL;
    tsr_arena *arena = NULL;
    json_t *meta = argc == 4 ? json_load_file(argv[1], 0, NULL) : NULL;
    if (meta == NULL || tsr_context_create(NULL, &ctx) != TSR_OK ||
        tsr_arena_create(ctx, &arena) != TSR_OK) {
        fputs("usage: compare_outputs META EXPECTED ACTUAL\n", stderr);
        return 2;
    }
    const json_t *results = json_object_get(meta, "outs");
    bool fine = json_array_size(results) > 0;
    size_t noise = 0;
    for (size_t i = 0; i < json_array_size(results); i++) {
        fine = compare(ctx, arena, json_array_get(results, i), argv + 2, &noise) && fine;
    }
    printf("%s, %zu of %zu are noise\n", fine ? "fine" : "differs", noise,
           json_array_size(results));
    json_decref(meta);
    tsr_arena_destroy(arena);
    tsr_context_destroy(ctx);
    return fine ? 0 : 1;
}
