/* Tensors with plain numbers beside them. */
#include <math.h>

#include <tessera/ops.h>

#include "base/guard.h"
#include "eager/compose.h"

/* Whether an integer type has a number. */
static bool integers_have(tsr_dtype dtype, double number)
{
    const bool has_sign = dtype <= TSR_I64;
    const double end = ldexp(1, tsr_dtype_bits(dtype) - (has_sign ? 1 : 0));
    return number == trunc(number) && number < end && number >= (has_sign ? -end : 0);
}

/* Elements of the tensor's type that the number can be one of. */
static tsr_status check_number(const char *call, const tsr_tensor *x, double number)
{
    const op_type type = type_of_layout(x->layout);
    if (type.dtype == TSR_I1) {
        return diag_error(x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: %s has element type i1; convert it to numbers first", call,
                          op_type_text(&type).text);
    }
    if (dtype_is_integer(type.dtype) && !integers_have(type.dtype, number)) {
        return diag_error(x->world->ctx, TSR_ERR_INVALID, NO_LOCATION,
                          "%s: %.17g is not a value of %s; convert %s to floats first", call,
                          number, tsr_dtype_name(type.dtype), op_type_text(&type).text);
    }
    return TSR_OK;
}

static tsr_status apply_number(const char *call, binary_op op, tsr_tensor *x, double number,
                               tsr_tensor **out)
{
    eager_builder b;
    eager_begin(x->world);
    TSR_TRY(eager_tell(x->world, call, check_number(call, x, number)));
    TSR_TRY(compose_begin(call, x, &b));
    op_value *beside = build_number(&b.base, value_of(x), number);
    return compose_end(&b, build_binary(&b.base, op, value_of(x), beside), out);
}

tsr_status tsr_mul_number(tsr_tensor *x, double number, tsr_tensor **out)
{
    GUARD(tsr_mul_number);
    return apply_number("tsr_mul_number", BINARY_MULTIPLY, x, number, out);
}

tsr_status tsr_add_number(tsr_tensor *x, double number, tsr_tensor **out)
{
    GUARD(tsr_add_number);
    return apply_number("tsr_add_number", BINARY_ADD, x, number, out);
}
