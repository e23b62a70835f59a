/* Convolutions beside oneDNN. What both compute is compared first. */
#include <oneapi/dnnl/dnnl.h>

#include "large_op.h"

/* oneDNN's primitive of one convolution. */
typedef struct dnnl_peer {
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_exec_arg_t args[3];
} dnnl_peer;

static int64_t convolve_dnnl(void *state)
{
    const dnnl_peer *p = ((running *)state)->peer;
    INSIST(dnnl_primitive_execute(p->primitive, p->stream, 3, p->args) == dnnl_success);
    INSIST(dnnl_stream_wait(p->stream) == dnnl_success);
    return 0;
}

/* A convolution: batch, extent of both spatial dimensions, channels, kernel. */
typedef struct conv_size {
    int64_t n, hw, in, out, k;
} conv_size;

static dnnl_memory_t dnnl_array(dnnl_engine_t engine, const dnnl_dims_t dims, dnnl_format_tag_t tag,
                                void *data, dnnl_memory_desc_t *desc)
{
    dnnl_memory_t memory = NULL;
    INSIST(dnnl_memory_desc_init_by_tag(desc, 4, dims, dnnl_f32, tag) == dnnl_success);
    INSIST(dnnl_memory_create(&memory, desc, engine, data) == dnnl_success);
    return memory;
}

static void bench_convolution(const conv_size *c)
{
    const int64_t in_shape[] = {c->n, c->hw, c->hw, c->in};
    const int64_t kernel_shape[] = {c->k, c->k, c->in, c->out};
    const size_t outputs = (size_t)(c->n * c->hw * c->hw * c->out);
    float *in = random_floats((size_t)(c->n * c->hw * c->hw * c->in));
    float *kernel = random_floats((size_t)(c->k * c->k * c->in * c->out));
    float *wanted = random_floats(outputs);
    char text[1024];
    const long long pad = (long long)(c->k / 2);
    (void)snprintf(
        text, sizeof text,
        "func.func @main(%%x: tensor<%lldx%lldx%lldx%lldxf32>, %%k: "
        "tensor<%lldx%lldx%lldx%lldxf32>) "
        "-> tensor<%lldx%lldx%lldx%lldxf32> {\n"
        "  %%y = stablehlo.convolution(%%x, %%k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, "
        "1, "
        "f], window = {pad = [[%lld, %lld], [%lld, %lld]]} {batch_group_count = 1 : i64, "
        "feature_group_count = 1 : i64} : (tensor<%lldx%lldx%lldx%lldxf32>, "
        "tensor<%lldx%lldx%lldx%lldxf32>) -> tensor<%lldx%lldx%lldx%lldxf32>\n"
        "  return %%y : tensor<%lldx%lldx%lldx%lldxf32>\n}\n",
        (long long)c->n, (long long)c->hw, (long long)c->hw, (long long)c->in, (long long)c->k,
        (long long)c->k, (long long)c->in, (long long)c->out, (long long)c->n, (long long)c->hw,
        (long long)c->hw, (long long)c->out, pad, pad, pad, pad, (long long)c->n, (long long)c->hw,
        (long long)c->hw, (long long)c->in, (long long)c->k, (long long)c->k, (long long)c->in,
        (long long)c->out, (long long)c->n, (long long)c->hw, (long long)c->hw, (long long)c->out,
        (long long)c->n, (long long)c->hw, (long long)c->hw, (long long)c->out);
    running r = {
        .num_inputs = 2,
        .inputs = {{in, TSR_F32, 4, in_shape, NULL}, {kernel, TSR_F32, 4, kernel_shape, NULL}}};
    open_program(&r, text);

    dnnl_engine_t engine = NULL;
    dnnl_peer peer = {0};
    dnnl_memory_desc_t src;
    dnnl_memory_desc_t weights;
    dnnl_memory_desc_t dst;
    INSIST(dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success);
    INSIST(dnnl_stream_create(&peer.stream, engine, dnnl_stream_default_flags) == dnnl_success);
    const dnnl_dims_t in_dims = {c->n, c->in, c->hw, c->hw};
    const dnnl_dims_t kernel_dims = {c->out, c->in, c->k, c->k};
    const dnnl_dims_t out_dims = {c->n, c->out, c->hw, c->hw};
    peer.args[0] =
        (dnnl_exec_arg_t){DNNL_ARG_SRC, dnnl_array(engine, in_dims, dnnl_nhwc, in, &src)};
    peer.args[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS,
                                     dnnl_array(engine, kernel_dims, dnnl_hwio, kernel, &weights)};
    peer.args[2] =
        (dnnl_exec_arg_t){DNNL_ARG_DST, dnnl_array(engine, out_dims, dnnl_nhwc, wanted, &dst)};
    const dnnl_dims_t strides = {1, 1};
    const dnnl_dims_t padding = {c->k / 2, c->k / 2};
    dnnl_convolution_desc_t desc;
    dnnl_primitive_desc_t described = NULL;
    INSIST(dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_auto,
                                              &src, &weights, NULL, &dst, strides, padding,
                                              padding) == dnnl_success);
    INSIST(dnnl_primitive_desc_create(&described, &desc, NULL, engine, NULL) == dnnl_success);
    INSIST(dnnl_primitive_create(&peer.primitive, described) == dnnl_success);
    r.peer = &peer;
    (void)convolve_dnnl(&r);
    insist_equal(&r, wanted, outputs, 1e-4);
    timing ours = {0};
    timing theirs = {0};
    race(run_once, convolve_dnnl, &r, 1, &ours, &theirs);
    (void)snprintf(text, sizeof text, "convolution %lldx%lldx%lld->%lld k%lld", (long long)c->n,
                   (long long)c->hw, (long long)c->in, (long long)c->out, (long long)c->k);
    report(text, "oneDNN", &ours, &theirs);
    for (int i = 0; i < 3; i++) {
        (void)dnnl_memory_destroy(peer.args[i].memory);
    }
    (void)dnnl_primitive_destroy(peer.primitive);
    (void)dnnl_primitive_desc_destroy(described);
    (void)dnnl_stream_destroy(peer.stream);
    (void)dnnl_engine_destroy(engine);
    close_program(&r);
    free(in);
    free(kernel);
    free(wanted);
}

int main(void)
{
    static const conv_size sizes[] = {
        {8, 32, 64, 64, 3}, {8, 14, 256, 256, 3}, {4, 56, 64, 256, 1}, {2, 64, 3, 64, 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bench_convolution(&sizes[i]);
    }
    return 0;
}
