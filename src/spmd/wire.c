/* The element types of a collective: what is sent, what is returned. */
#include <string.h>

#include "base/base.h"
#include "base/guard.h"
#include "spmd/type.h"

tsr_status tsr_wire_request_set(tsr_context *ctx, tsr_wire_request *request, const char *name,
                                tsr_dtype dtype)
{
    GUARD(tsr_wire_request_set);
    if (strcmp(name, "op_dtype") == 0) {
        request->has_wire = true;
        request->wire = dtype;
    } else if (strcmp(name, "out_dtype") == 0) {
        request->has_result = true;
        request->result = dtype;
    } else {
        return SPMD_ERROR(
            ctx, "unknown option %s of a collective: the options are op_dtype and out_dtype", name);
    }
    return TSR_OK;
}

static tsr_dtype smaller(tsr_dtype a, tsr_dtype b)
{
    return tsr_dtype_bits(b) < tsr_dtype_bits(a) ? b : a;
}

tsr_status tsr_wire_resolve(tsr_context *ctx, const tsr_wire_request *request, tsr_wire_dtypes *out)
{
    GUARD(tsr_wire_resolve);
    tsr_wire_dtypes types = {.wire = request->input};
    if (request->has_wire) {
        types.wire = request->wire;
    } else if (request->has_result && !request->reduces) {
        types.wire = smaller(request->input, request->result);
    }
    types.result = request->has_result ? request->result : types.wire;
    if (request->in_place && (types.wire != request->input || types.result != request->input)) {
        return SPMD_ERROR(ctx,
                          "an in-place collective has one element type: the buffer is %s, but %s "
                          "is requested on the wire and %s for the result",
                          tsr_dtype_name(request->input), tsr_dtype_name(types.wire),
                          tsr_dtype_name(types.result));
    }
    *out = types;
    return TSR_OK;
}

/* A float of less than 32 bits. */
static bool is_reduced(tsr_dtype dtype)
{
    return dtype >= TSR_F4E2M1FN && dtype <= TSR_BF16;
}

tsr_status tsr_wire_check_backward(tsr_context *ctx, const tsr_wire_request *forward,
                                   const tsr_wire_request *backward, bool backward_reduces)
{
    GUARD(tsr_wire_check_backward);
    tsr_wire_dtypes types = {0};
    TSR_TRY(tsr_wire_resolve(ctx, forward, &types));
    const bool reduced =
        is_reduced(forward->input) || is_reduced(types.wire) || is_reduced(types.result);
    if (!backward_reduces || backward != NULL || !reduced) {
        return TSR_OK;
    }
    return SPMD_ERROR(
        ctx,
        "the backward of this collective reduces, and the forward is not in full precision (%s, %s "
        "on the wire, result %s): give the element type in which gradients are summed",
        tsr_dtype_name(forward->input), tsr_dtype_name(types.wire), tsr_dtype_name(types.result));
}
