/* Dividing a tensor by a number: the backward of an average. */
#include "number/half.h"
#include "rt/placement.h"

typedef void (*divide_function)(void *element, double by);

static void divide_f16(void *element, double by)
{
    uint16_t *half = element;
    *half = f16_of_float(float_of_f16(*half) / (float)by);
}

static void divide_bf16(void *element, double by)
{
    uint16_t *half = element;
    *half = bf16_of_float(float_of_bf16(*half) / (float)by);
}

static void divide_f32(void *element, double by)
{
    *(float *)element /= (float)by;
}

static void divide_f64(void *element, double by)
{
    *(double *)element /= by;
}

static void divide_c64(void *element, double by)
{
    float *parts = element;
    parts[0] /= (float)by;
    parts[1] /= (float)by;
}

static void divide_c128(void *element, double by)
{
    double *parts = element;
    parts[0] /= by;
    parts[1] /= by;
}

static divide_function divide_of(tsr_dtype dtype)
{
    static const struct {
        tsr_dtype dtype;
        divide_function divide;
    } rows[] = {{TSR_F16, divide_f16}, {TSR_BF16, divide_bf16}, {TSR_F32, divide_f32},
                {TSR_F64, divide_f64}, {TSR_C64, divide_c64},   {TSR_C128, divide_c128}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].dtype == dtype) {
            return rows[i].divide;
        }
    }
    return NULL;
}

bool tensor_divides(tsr_dtype dtype)
{
    return divide_of(dtype) != NULL;
}

/* What is done to each element. */
typedef struct division {
    divide_function divide;
    double by;
} division;

static void divide_element(const int64_t *index, void *element, void *state)
{
    const division *d = state;
    (void)index;
    d->divide(element, d->by);
}

void tensor_divide(tsr_tensor *tensor, int64_t by)
{
    division d = {divide_of(tensor->dtype), (double)by};
    tsr_tensor_visit(tensor, divide_element, &d);
}
