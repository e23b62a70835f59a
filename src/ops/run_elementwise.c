#include "ops/run_elementwise.h"

#include <math.h>

#include "kernel/elementwise.h"
#include "kernel/precision.h"
#include "ops/op_elementwise.h"

/* ---- parts of complex numbers ---- */

static tsr_dtype part_of(tsr_dtype dtype)
{
    return dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
}

bool complex_part_supports(const op_request *r, const op_type *results)
{
    const op_type *x = &r->operands[0];
    return (dtype_is_complex(x->dtype) || dtype_is_float(x->dtype)) &&
           results[0].dtype == part_of(x->dtype) && op_shapes_agree(x, &results[0]);
}

/* A part of each element: `offset` bytes into it. */
static void copy_part(const op_call *c, int64_t offset)
{
    const op_array *to = &c->results[0];
    tsr_view from = c->operands[0].view;
    from.data = (char *)from.data + offset;
    kernel_copy(to->view.data, to->view.strides, from.data, from.strides, from.shape, from.rank,
                (size_t)tsr_dtype_item_bytes(to->view.dtype), false);
}

void real_run(const op_call *c, void *scratch)
{
    (void)scratch;
    copy_part(c, 0);
}

void imag_run(const op_call *c, void *scratch)
{
    const char zero[16] = {0};
    (void)scratch;
    if (dtype_is_complex(c->operands[0].view.dtype)) {
        copy_part(c, tsr_dtype_item_bytes(c->results[0].view.dtype));
    } else {
        kernel_fill(&c->results[0].view, zero);
    }
}

bool complex_supports(const op_request *r, const op_type *results)
{
    return dtype_is_complex(results[0].dtype) &&
           r->operands[0].dtype == part_of(results[0].dtype) &&
           r->operands[1].dtype == r->operands[0].dtype &&
           op_shapes_agree(&r->operands[0], &results[0]) &&
           op_shapes_agree(&r->operands[1], &results[0]);
}

void complex_run(const op_call *c, void *scratch)
{
    const tsr_view *to = &c->results[0].view;
    const int64_t item = tsr_dtype_item_bytes(part_of(to->dtype));
    (void)scratch;
    for (size_t i = 0; i < 2; i++) {
        const tsr_view *from = &c->operands[i].view;
        kernel_copy((char *)to->data + (int64_t)i * item, to->strides, from->data, from->strides,
                    from->shape, from->rank, (size_t)item, false);
    }
}

/* ---- reduce_precision ---- */

bool reduce_precision_supports(const op_request *r, const op_type *results)
{
    const reduce_precision_params *p = r->params;
    return precision_supports(r->operands[0].dtype) && r->operands[0].dtype == results[0].dtype &&
           op_shapes_agree(&r->operands[0], &results[0]) && p->exponent_bits >= 1 &&
           p->mantissa_bits >= 0;
}

void reduce_precision_run(const op_call *c, void *scratch)
{
    const reduce_precision_params *p = c->params;
    (void)scratch;
    kernel_reduce_precision(&c->results[0].view, &c->operands[0].view, p->exponent_bits,
                            p->mantissa_bits);
}
