/* All rows, from the lists of the families. */
#include <string.h>

#include "base/guard.h"
#include "ops/op.h"

#define OP_FAMILY(name) extern const op_family family_##name;
#include "ops/families.def"
#undef OP_FAMILY

static const op_family *const families[] = {
#define OP_FAMILY(name) &family_##name,
#include "ops/families.def"
#undef OP_FAMILY
};
enum { NUM_FAMILIES = sizeof families / sizeof families[0] };

size_t op_count(void)
{
    size_t count = 0;
    for (size_t i = 0; i < NUM_FAMILIES; i++) {
        count += families[i]->count;
    }
    return count;
}

const op_row *op_at(size_t i)
{
    size_t family = 0;
    while (family < NUM_FAMILIES && i >= families[family]->count) {
        i -= families[family++]->count;
    }
    return family < NUM_FAMILIES ? families[family]->rows[i] : NULL;
}

const op_row *op_find(const char *name)
{
    for (size_t family = 0; family < NUM_FAMILIES; family++) {
        for (size_t i = 0; i < families[family]->count; i++) {
            if (strcmp(families[family]->rows[i]->name, name) == 0) {
                return families[family]->rows[i];
            }
        }
    }
    return NULL;
}

size_t tsr_op_count(void)
{
    GUARD(tsr_op_count);
    return op_count();
}

tsr_op_info tsr_op_at(size_t i)
{
    GUARD(tsr_op_at);
    const op_row *row = op_at(i);
    if (row == NULL) {
        return (tsr_op_info){0};
    }
    return (tsr_op_info){.name = row->name,
                         .call = row->call,
                         .num_operands = row->num_operands,
                         .is_variadic = (row->traits & OP_VARIADIC) != 0,
                         .is_elementwise = (row->traits & OP_ELEMENTWISE) != 0};
}
