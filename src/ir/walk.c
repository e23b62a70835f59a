/* Walks over what is inside an op: an op before what is in its regions, or after. */
#include "ir/edit.h"

/* The first op of the regions of an op, from a region on; 0 for none. */
static uint32_t first_inside(const tsr_program *p, uint32_t op, size_t region)
{
    for (; region < program_op(p, op)->num_regions; region++) {
        uint32_t block = program_region(p, op_region_at(p, op, region))->first_block;
        for (; block != 0; block = program_block(p, block)->next) {
            if (program_block(p, block)->first_op != 0) {
                return program_block(p, block)->first_op;
            }
        }
    }
    return 0;
}

/* The first op of the blocks and regions that follow the one of `op` in its parent. */
static uint32_t first_beyond(const tsr_program *p, uint32_t op)
{
    const uint32_t own = program_op(p, op)->block;
    for (uint32_t b = program_block(p, own)->next; b != 0; b = program_block(p, b)->next) {
        if (program_block(p, b)->first_op != 0) {
            return program_block(p, b)->first_op;
        }
    }
    const uint32_t region = program_block(p, own)->region;
    const uint32_t parent = program_region(p, region)->op;
    size_t place = 0;
    while (op_region_at(p, parent, place) != region) {
        place++;
    }
    return first_inside(p, parent, place + 1);
}

/* What follows an op and all that is inside it, within its parent; 0: nothing. */
static uint32_t sibling(const tsr_program *p, uint32_t op)
{
    const uint32_t next = program_op(p, op)->next;
    return next != 0 ? next : first_beyond(p, op);
}

uint32_t op_walk_skip(const tsr_program *p, uint32_t root, uint32_t op)
{
    while (op != root) {
        const uint32_t next = sibling(p, op);
        if (next != 0) {
            return next;
        }
        op = op_parent(p, op);
    }
    return 0;
}

uint32_t op_walk_next(const tsr_program *p, uint32_t root, uint32_t op)
{
    const uint32_t inside = first_inside(p, op, 0);
    return inside != 0 ? inside : op_walk_skip(p, root, op);
}

uint32_t op_post_first(const tsr_program *p, uint32_t root)
{
    for (uint32_t inside = first_inside(p, root, 0); inside != 0;
         inside = first_inside(p, root, 0)) {
        root = inside;
    }
    return root;
}

uint32_t op_post_next(const tsr_program *p, uint32_t root, uint32_t op)
{
    if (op == root) {
        return 0;
    }
    const uint32_t next = sibling(p, op);
    return next != 0 ? op_post_first(p, next) : op_parent(p, op);
}
