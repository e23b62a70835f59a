/*
 * Whether a pending sum is the gradient of an argument. The gradient of a product is a product of
 * the other factor: a sum that no product rule explains is an ordinary one.
 */
#include "check/check.h"
#include "ir/edit.h"
#include "ir/message.h"

enum { MAX_STEPS = 32, MAX_FACTORS = 4 };

/* What a value is made of, through ops of one operand. */
static uint32_t source_value(const tsr_program *p, uint32_t value)
{
    for (int i = 0; i < MAX_STEPS; i++) {
        const uint32_t op = value_op(p, value);
        if (op == 0 || program_op(p, op)->num_operands != 1 ||
            program_op(p, op)->num_regions != 0) {
            return value;
        }
        value = op_operand(p, op, 0);
    }
    return value;
}

static bool multiplies(const tsr_program *p, uint32_t op)
{
    return program_op(p, op)->num_operands == 2 &&
           (op_is(p, op, OP_STABLEHLO_MULTIPLY) || op_is(p, op, OP_STABLEHLO_DOT_GENERAL) ||
            op_is(p, op, OP_STABLEHLO_CONVOLUTION));
}

/* The factors of the products that an op sums, without constants. */
static size_t list_factors(checker *c, uint32_t sum, uint32_t factors[MAX_FACTORS])
{
    const tsr_program *p = c->p;
    uint32_t product = sum;
    size_t count = 0;
    if (!multiplies(p, sum) && program_op(p, sum)->num_operands > 0) {
        product = value_op(p, source_value(p, op_operand(p, sum, 0)));
    }
    for (size_t i = 0; product != 0 && multiplies(p, product) && i < 2; i++) {
        const uint32_t value = source_value(p, op_operand(p, product, i));
        if (!is_constant_value(c, value)) {
            factors[count++] = value;
        }
    }
    return count;
}

static bool has(const uint32_t *values, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i] == value) {
            return true;
        }
    }
    return false;
}

bool is_gradient_of(checker *c, uint32_t sum, uint32_t argument, uint32_t block)
{
    const tsr_program *p = c->p;
    const uint32_t root = block_parent(p, block);
    uint32_t factors[MAX_FACTORS];
    const size_t count = sum != 0 ? list_factors(c, sum, factors) : 0;
    for (uint32_t op = count > 0 ? root : 0; op != 0; op = op_walk_next(p, root, op)) {
        for (size_t i = 0; op != sum && multiplies(p, op) && i < 2; i++) {
            if (source_value(p, op_operand(p, op, i)) == argument &&
                has(factors, count, source_value(p, op_operand(p, op, 1 - i)))) {
                return true;
            }
        }
    }
    return false;
}
