/* Fourier transforms beside FFTW. What both compute is compared first. */
#include <complex.h>
#include <string.h>

#include <fftw3.h>

#include "large_op.h"

static int64_t transform_fftw(void *state)
{
    fftwf_execute(((running *)state)->peer);
    return 0;
}

static void bench_transform(int batch, int length)
{
    const int64_t shape[] = {batch, length};
    const size_t count = (size_t)batch * (size_t)length;
    float *in = random_floats(2 * count);
    float *kept = random_floats(2 * count);
    float *wanted = random_floats(2 * count);
    char text[512];
    (void)snprintf(text, sizeof text,
                   "func.func @main(%%x: tensor<%dx%dxcomplex<f32>>) -> "
                   "tensor<%dx%dxcomplex<f32>> {\n"
                   "  %%y = stablehlo.fft %%x, type = FFT, length = [%d] : "
                   "(tensor<%dx%dxcomplex<f32>>) -> tensor<%dx%dxcomplex<f32>>\n"
                   "  return %%y : tensor<%dx%dxcomplex<f32>>\n}\n",
                   batch, length, batch, length, length, batch, length, batch, length, batch,
                   length);
    running r = {.num_inputs = 1, .inputs = {{kept, TSR_C64, 2, shape, NULL}}};
    open_program(&r, text);
    fftwf_plan plan = fftwf_plan_many_dft(1, &length, batch, (fftwf_complex *)(void *)in, NULL, 1,
                                          length, (fftwf_complex *)(void *)wanted, NULL, 1, length,
                                          FFTW_FORWARD, FFTW_MEASURE);
    INSIST(plan != NULL);
    memcpy(in, kept, 2 * count * sizeof *in); /* planning writes over it */
    r.peer = plan;
    (void)transform_fftw(&r);
    insist_equal(&r, wanted, 2 * count, 1e-5);
    timing ours = {0};
    timing theirs = {0};
    race(run_once, transform_fftw, &r, 1, &ours, &theirs);
    (void)snprintf(text, sizeof text, "fft %dx%d", batch, length);
    report(text, "FFTW", &ours, &theirs);
    fftwf_destroy_plan(plan);
    close_program(&r);
    free(in);
    free(kept);
    free(wanted);
}

int main(void)
{
    bench_transform(64, 4096);
    bench_transform(64, 5040);
    bench_transform(64, 4099);
    bench_transform(1, 1 << 20);
    return 0;
}
