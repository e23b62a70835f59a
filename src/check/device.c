/* The numbers of devices: they differ everywhere, their digits along some axes only. */
#include "check/check.h"
#include "ir/edit.h"
#include "ir/elements.h"
#include "ir/message.h"

tsr_status visit_unknown(checker *c, uint32_t op)
{
    const ir_op record = *program_op(c->p, op);
    for (uint32_t i = 0; i < record.num_results; i++) {
        cell *cells = cells_of(c, record.results + i);
        if (cells == NULL) {
            return diag_nomem(c->ctx);
        }
        for (size_t a = 0; a < c->s->count; a++) {
            cells[a] = cell_unknown(c, a, op);
        }
    }
    return TSR_OK;
}

/* With one replica its number is the same everywhere. */
tsr_status visit_device_id(checker *c, uint32_t op)
{
    int64_t replicas = 1;
    (void)attr_as_integer(c->p, op_attribute(c->p, c->p->module, "mhlo.num_replicas"), &replicas);
    const bool is_replica = op_is(c->p, op, OP_STABLEHLO_REPLICA_ID);
    return is_replica && replicas <= 1 ? infer_op(c, op) : visit_unknown(c, op);
}

/* A digit of a device's number: (number / div) % mod; mod 0 for all of the quotient. */
typedef struct device_digit {
    int64_t div;
    int64_t mod;
} device_digit;

enum { MAX_STEPS = 8 };

/* A quotient or remainder by a constant becomes part of a digit. */
static bool add_step(checker *c, uint32_t op, device_digit *part)
{
    double number = 0;
    if (!constant_number(c, op_operand(c->p, op, 1), &number) || number < 1 || number > 1e15) {
        return false;
    }
    const int64_t by = (int64_t)number;
    if (op_is(c->p, op, OP_STABLEHLO_REMAINDER)) {
        part->mod = by;
        return part->div == 1;
    }
    return checked_mul(part->div, by, &part->div);
}

/*
 * Finds the digit that a value is: back through conversions, one remainder after quotients, as JAX
 * writes axis_index.
 */
static bool find_digit(checker *c, uint32_t value, device_digit *out)
{
    device_digit part = {1, 0};
    for (int i = 0; i < MAX_STEPS; i++) {
        const uint32_t op = value_op(c->p, value);
        if (op == 0) {
            return false;
        }
        if (op_is(c->p, op, OP_STABLEHLO_PARTITION_ID) ||
            op_is(c->p, op, OP_STABLEHLO_REPLICA_ID)) {
            *out = part;
            return true;
        }
        const bool is_step =
            op_is(c->p, op, OP_STABLEHLO_DIVIDE) || op_is(c->p, op, OP_STABLEHLO_REMAINDER);
        if ((is_step && !add_step(c, op, &part)) ||
            (!is_step && !op_is(c->p, op, OP_STABLEHLO_CONVERT))) {
            return false;
        }
        value = op_operand(c->p, op, 0);
    }
    return false;
}

/* Whether a digit depends on a sub-axis of a mesh whose devices are in order. */
static bool depends_on(const sub_axis *axis, device_digit part)
{
    int64_t end = 0;
    const int64_t span = axis->place_stride * axis->ref.size;
    if (part.div % span == 0) {
        return false;
    }
    return part.mod == 0 || !checked_mul(part.div, part.mod, &end) || axis->place_stride % end != 0;
}

/* Larger meshes whose devices are in another order are not looked at one by one. */
enum { MAX_DEVICES = 1 << 16 };

static int64_t digit_at(const scope *s, device_digit part, int64_t place)
{
    const int64_t quotient = tsr_mesh_device_at(s->mesh, place) / part.div;
    return part.mod == 0 ? quotient : quotient % part.mod;
}

/* The place that differs from another along a sub-axis only, and comes first there. */
static int64_t first_along(const sub_axis *axis, int64_t place)
{
    const int64_t span = axis->place_stride * axis->ref.size;
    return place - place % span + place % axis->place_stride;
}

static bool digit_varies(const scope *s, const sub_axis *axis, device_digit part)
{
    const int64_t count = tsr_mesh_num_devices(s->mesh);
    if (tsr_mesh_is_iota(s->mesh) || count > MAX_DEVICES) {
        return !tsr_mesh_is_iota(s->mesh) || depends_on(axis, part);
    }
    for (int64_t place = 0; place < count; place++) {
        if (digit_at(s, part, place) != digit_at(s, part, first_along(axis, place))) {
            return true;
        }
    }
    return false;
}

tsr_status visit_digit(checker *c, uint32_t op)
{
    device_digit part;
    const uint32_t result = program_op(c->p, op)->results;
    TSR_TRY(infer_op(c, op));
    if (!find_digit(c, result, &part)) {
        return TSR_OK;
    }
    cell *cells = cells_of(c, result);
    for (size_t a = 0; cells != NULL && a < c->s->count; a++) {
        if (!digit_varies(c->s, &c->s->axes[a], part)) {
            cells[a] = cell_same();
        }
    }
    return TSR_OK;
}

/* ---- tables by device ---- */

/* The numbers of a constant that has one for each device; NULL for other values. */
static tsr_status device_table(checker *c, uint32_t value, const int64_t **out)
{
    const uint32_t op = value_op(c->p, value);
    const uint32_t attr = op != 0 ? op_property(c->p, op, "value") : 0;
    int64_t count = 0;
    const void *bytes = NULL;
    size_t size = 0;
    bool is_splat = false;
    *out = NULL;
    if (!attr_is(c->p, attr, ATTR_ELEMENTS) ||
        !type_num_elements(c->p, program_attr(c->p, attr)->type, &count) ||
        count != tsr_mesh_num_devices(c->s->mesh)) {
        return TSR_OK;
    }
    TSR_TRY(elements_bytes(c->ctx, c->scratch, c->p, attr, &bytes, &size, &is_splat));
    const size_t width = is_splat ? 0 : size / (size_t)count;
    int64_t *numbers = ARENA_ARRAY(c->scratch, int64_t, (size_t)count + 1);
    if (numbers == NULL) {
        return diag_nomem(c->ctx);
    }
    memset(numbers, 0, (size_t)count * sizeof *numbers);
    for (int64_t i = 0; width <= sizeof *numbers && i < count; i++) {
        memcpy(&numbers[i], (const char *)bytes + (size_t)i * width, width);
    }
    *out = width <= sizeof *numbers ? numbers : NULL;
    return TSR_OK;
}

/* Whether a table differs between devices that differ along one sub-axis only. */
static bool table_varies(const scope *s, const int64_t *table, const sub_axis *axis)
{
    for (int64_t place = 0; place < tsr_mesh_num_devices(s->mesh); place++) {
        if (table[tsr_mesh_device_at(s->mesh, place)] !=
            table[tsr_mesh_device_at(s->mesh, first_along(axis, place))]) {
            return true;
        }
    }
    return false;
}

tsr_status visit_table(checker *c, uint32_t op)
{
    const uint32_t result = program_op(c->p, op)->results;
    const int64_t *table = NULL;
    device_digit part;
    TSR_TRY(infer_op(c, op));
    if (program_op(c->p, op)->num_operands != 2 || !find_digit(c, op_operand(c->p, op, 1), &part) ||
        part.div != 1 || part.mod != 0) {
        return TSR_OK;
    }
    TSR_TRY(device_table(c, op_operand(c->p, op, 0), &table));
    cell *cells = cells_of(c, result);
    for (size_t a = 0; table != NULL && cells != NULL && a < c->s->count; a++) {
        if (is_manual(c, a) && !table_varies(c->s, table, &c->s->axes[a])) {
            cells[a] = cell_same();
        }
    }
    return TSR_OK;
}
