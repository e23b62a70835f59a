#include "coll/collective.h"

#include "base/guard.h"

static const coll_row rows[COLL_COUNT] = {
#define COLLECTIVE(kind_, name_, op_, step_, step_name_, call_, traits_)                           \
    [kind_] = {.name = (name_),                                                                    \
               .op = (op_),                                                                        \
               .step_name = (step_name_),                                                          \
               .call = (call_),                                                                    \
               .step = (step_),                                                                    \
               .traits = (traits_)},
#include "coll/collectives.def"
#undef COLLECTIVE
};

const coll_row *coll_row_of(coll_kind kind)
{
    return &rows[kind];
}

coll_kind coll_of_step(tsr_step_kind step)
{
    int kind = 0;
    while (rows[kind].step_name == NULL || rows[kind].step != step) {
        kind++;
    }
    return (coll_kind)kind;
}

const char *tsr_step_kind_name(tsr_step_kind kind)
{
    GUARD(tsr_step_kind_name);
    return rows[coll_of_step(kind)].step_name;
}
