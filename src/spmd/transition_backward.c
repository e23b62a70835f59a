/* The backward of each call, as a table. */
#include "base/base.h"
#include "base/guard.h"
#include "spmd/transition.h"

typedef struct step_row {
    tsr_transition_op op;
    end_kind src;
    end_kind dst;
} step_row;

static const struct {
    step_row forward;
    size_t num_steps;
    step_row steps[2];
} rows[] = {
    {{TSR_ALL_REDUCE, END_P, END_R}, 1, {{TSR_ALL_REDUCE, END_P, END_R}}},
    {{TSR_ALL_REDUCE, END_P, END_I}, 1, {{TSR_CONVERT, END_I, END_R}}},
    {{TSR_ALL_REDUCE, END_V, END_R},
     2,
     {{TSR_ALL_REDUCE, END_P, END_R}, {TSR_REINTERPRET, END_R, END_V}}},
    {{TSR_ALL_REDUCE, END_V, END_I},
     2,
     {{TSR_CONVERT, END_I, END_R}, {TSR_REINTERPRET, END_R, END_V}}},
    {{TSR_ALL_GATHER, END_V, END_R}, 1, {{TSR_REDUCE_SCATTER, END_P, END_V}}},
    {{TSR_ALL_GATHER, END_S, END_R}, 1, {{TSR_REDUCE_SCATTER, END_P, END_S}}},
    {{TSR_ALL_GATHER, END_V, END_I}, 1, {{TSR_CONVERT, END_I, END_V}}},
    {{TSR_ALL_GATHER, END_S, END_I}, 1, {{TSR_CONVERT, END_I, END_S}}},
    {{TSR_REDUCE_SCATTER, END_P, END_V}, 1, {{TSR_ALL_GATHER, END_V, END_R}}},
    {{TSR_REDUCE_SCATTER, END_P, END_S}, 1, {{TSR_ALL_GATHER, END_S, END_R}}},
    {{TSR_REDUCE_SCATTER, END_V, END_V},
     2,
     {{TSR_ALL_GATHER, END_V, END_R}, {TSR_REINTERPRET, END_R, END_V}}},
    {{TSR_REDUCE_SCATTER, END_V, END_S},
     2,
     {{TSR_ALL_GATHER, END_S, END_R}, {TSR_REINTERPRET, END_R, END_V}}},
    {{TSR_ALL_TO_ALL, END_V, END_V}, 1, {{TSR_ALL_TO_ALL, END_V, END_V}}},
    {{TSR_ALL_TO_ALL, END_S, END_S}, 1, {{TSR_ALL_TO_ALL, END_S, END_S}}},
    {{TSR_ALL_TO_ALL, END_V, END_S}, 1, {{TSR_ALL_TO_ALL, END_S, END_V}}},
    {{TSR_ALL_TO_ALL, END_S, END_V}, 1, {{TSR_ALL_TO_ALL, END_V, END_S}}},
    {{TSR_REINTERPRET, END_R, END_I}, 1, {{TSR_CONVERT, END_I, END_P}}},
    {{TSR_REINTERPRET, END_R, END_V}, 1, {{TSR_REINTERPRET, END_V, END_P}}},
    {{TSR_REINTERPRET, END_R, END_P}, 1, {{TSR_REINTERPRET, END_R, END_P}}},
    {{TSR_REINTERPRET, END_I, END_R}, 1, {{TSR_ALL_REDUCE, END_P, END_I}}},
    {{TSR_REINTERPRET, END_I, END_V},
     2,
     {{TSR_REINTERPRET, END_V, END_P}, {TSR_ALL_REDUCE, END_P, END_I}}},
    {{TSR_REINTERPRET, END_I, END_P},
     2,
     {{TSR_REINTERPRET, END_R, END_P}, {TSR_ALL_REDUCE, END_P, END_I}}},
    {{TSR_REINTERPRET, END_V, END_P}, 1, {{TSR_REINTERPRET, END_R, END_V}}},
    {{TSR_CONVERT, END_R, END_I}, 1, {{TSR_CONVERT, END_I, END_P}}},
    {{TSR_CONVERT, END_R, END_V}, 1, {{TSR_CONVERT, END_V, END_P}}},
    {{TSR_CONVERT, END_R, END_S}, 1, {{TSR_CONVERT, END_S, END_P}}},
    {{TSR_CONVERT, END_R, END_P}, 1, {{TSR_CONVERT, END_R, END_P}}},
    {{TSR_CONVERT, END_I, END_R}, 1, {{TSR_ALL_REDUCE, END_P, END_I}}},
    {{TSR_CONVERT, END_I, END_V}, 1, {{TSR_ALL_GATHER, END_V, END_I}}},
    {{TSR_CONVERT, END_I, END_S}, 1, {{TSR_ALL_GATHER, END_S, END_I}}},
    {{TSR_CONVERT, END_I, END_P}, 1, {{TSR_CONVERT, END_R, END_I}}},
    {{TSR_CONVERT, END_V, END_P}, 1, {{TSR_CONVERT, END_R, END_V}}},
    {{TSR_CONVERT, END_S, END_P}, 1, {{TSR_CONVERT, END_R, END_S}}},
    {{TSR_CONVERT, END_V, END_S}, 1, {{TSR_CONVERT, END_S, END_V}}},
    {{TSR_CONVERT, END_S, END_V}, 1, {{TSR_CONVERT, END_V, END_S}}},
};

/* An end of a step; `dim` is that of the forward's end which it mirrors. */
static tsr_end end_of(end_kind kind, int64_t dim)
{
    static const tsr_local_type kinds[] = {
        [END_R] = TSR_R, [END_I] = TSR_I, [END_V] = TSR_V, [END_P] = TSR_P, [END_S] = TSR_V};
    return (tsr_end){kinds[kind], kind == END_S ? dim : TSR_NO_DIM, TSR_SUM};
}

static tsr_transition step_of(const step_row *row, const tsr_transition *forward)
{
    const int64_t src = forward->src.dim;
    const int64_t dst = forward->dst.dim;
    return (tsr_transition){.op = row->op,
                            .src = end_of(row->src, dst != TSR_NO_DIM ? dst : src),
                            .dst = end_of(row->dst, src != TSR_NO_DIM ? src : dst),
                            .gather_dim = forward->scatter_dim,
                            .scatter_dim = forward->gather_dim};
}

tsr_status tsr_transition_backward(tsr_context *ctx, const tsr_transition *transition,
                                   tsr_transition *steps, size_t *num_steps)
{
    GUARD(tsr_transition_backward);
    const pair_status status = transition_pair(transition);
    const tsr_reduction pending = transition->src.partial;
    end_kind src = END_R;
    end_kind dst = END_R;
    if (status == PAIR_SAME) {
        *num_steps = 0;
        return TSR_OK;
    }
    if (status != PAIR_NONE && transition->src.kind == TSR_P && pending != TSR_SUM &&
        pending != TSR_AVG) {
        return SPMD_ERROR(ctx, "%s of %s has no gradient: only sums and averages have one",
                          tsr_transition_name(transition->op),
                          tsr_axis_type_name((tsr_axis_type){TSR_P, pending}));
    }
    (void)end_kind_of(transition->src, &src);
    (void)end_kind_of(transition->dst, &dst);
    for (size_t i = 0; status != PAIR_NONE && i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].forward.op != transition->op || rows[i].forward.src != src ||
            rows[i].forward.dst != dst) {
            continue;
        }
        for (size_t k = 0; k < rows[i].num_steps; k++) {
            steps[k] = step_of(&rows[i].steps[k], transition);
        }
        steps[rows[i].num_steps - 1].divide =
            transition->divide || (transition->src.kind == TSR_P && pending == TSR_AVG);
        *num_steps = rows[i].num_steps;
        return TSR_OK;
    }
    return tsr_transition_check(ctx, "?", transition, SIZE_MAX / 2, TSR_UNGUARDED);
}
