/* The rules of products that `ops` has no hook for. */
#include "base/arena.h"
#include "ir/check.h"
#include "ir/check_ops.h"

/* The extents of a product of vectors and matrices; -1 for other operands. */
static int dot_extents(const type_head *lhs, const type_head *rhs, int64_t *out)
{
    int n = 0;
    if (lhs->count < 1 || lhs->count > 2 || rhs->count < 1 || rhs->count > 2 ||
        !extents_agree(type_extents(lhs)[lhs->count - 1], type_extents(rhs)[0])) {
        return -1;
    }
    if (lhs->count == 2) {
        out[n++] = type_extents(lhs)[0];
    }
    if (rhs->count == 2) {
        out[n++] = type_extents(rhs)[1];
    }
    return n;
}

tsr_status check_dot(const ir_check *k)
{
    int64_t extents[2];
    const int rank = dot_extents(operand(k, 0), operand(k, 1), extents);
    const type_head *to = result(k, 0);
    if (rank < 0) {
        return refuse(k, "expected both lhs/rhs ranks to be either 1 or 2");
    }
    bool fits = (int)to->count == rank;
    for (int i = 0; fits && i < rank; i++) {
        fits = extents_agree(extents[i], type_extents(to)[i]);
    }
    return fits ? TSR_OK
                : refuse(k,
                         "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                         words_of_extents(extents, (size_t)rank).text,
                         type_words(k, result_type(k, 0)));
}
