/* All rows: found by kind. */
#include <string.h>

#include "ir/row.h"

static const ir_dialect *const dialects[] = {
    &dialect_builtin, &dialect_func,        &dialect_stablehlo, &dialect_chlo,   &dialect_sdy,
    &dialect_check,   &dialect_interpreter, &dialect_arith,     &dialect_tensor,
};

enum { NUM_DIALECTS = sizeof dialects / sizeof dialects[0] };

static const ir_dialect *find_dialect(const char *name, size_t size)
{
    for (size_t i = 0; i < NUM_DIALECTS; i++) {
        if (slice_is((slice){name, size}, dialects[i]->name)) {
            return dialects[i];
        }
    }
    return NULL;
}

/* Dialects whose attributes occur in programs, though none of their ops is known. */
static bool is_attribute_dialect(const char *name, size_t size)
{
    static const char *const names[] = {"mhlo", "quant", "tf", "jax", "shape", "vhlo"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (slice_is((slice){name, size}, names[i])) {
            return true;
        }
    }
    return false;
}

bool ir_dialect_known(const char *name, size_t size)
{
    return find_dialect(name, size) != NULL;
}

bool ir_dialect_has_attributes(const char *name, size_t size)
{
    return ir_dialect_known(name, size) || is_attribute_dialect(name, size);
}

const ir_row *ir_row_of(op_kind kind)
{
    for (size_t i = 0; i < NUM_DIALECTS; i++) {
        const ir_dialect *d = dialects[i];
        if (kind > d->before && kind < d->before + d->count) {
            return &d->rows[kind - d->before];
        }
    }
    return NULL;
}

const ir_prop *row_prop(const ir_row *row, slice name)
{
    for (const ir_prop *prop = row->props; prop != NULL && prop->name != NULL; prop++) {
        if (slice_is(name, prop->name)) {
            return prop;
        }
    }
    return NULL;
}
