/*
 * A check under way: what is known of each value, axis by axis.
 *
 * A program is walked as it would run, from functions that nothing calls. For each value and each
 * sub-axis of the mesh there is a cell. Along a manual axis it says what the devices hold; along
 * the other (automatic) axes, where the program is about whole tensors, which dimension is cut.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <tessera/check.h>

#include "base/arena.h"
#include "base/map.h"
#include "ir/program.h"
#include "ir/shardings.h"
#include "ops/op.h"
#include "ops/rules.h"

enum { NO_DIM = -1, MAX_SUB_AXES = 64 };

typedef enum cell_kind {
    CELL_ZERO,     /* zeros on all devices: they may also be taken as a pending sum */
    CELL_SAME,     /* the same on all devices (R); automatic: not cut */
    CELL_PENDING,  /* the sum over the devices is meant (P) */
    CELL_VARYING,  /* may differ (V); with a dimension: parts of it, S(dim). Automatic: cut */
    CELL_GATHERED, /* automatic: was cut along `dim`, and is whole because of `origin` */
} cell_kind;

typedef struct cell {
    uint8_t kind;
    bool contracted; /* a pending sum of products whose factors were both cut: surely a share */
    bool exchanged;  /* a varying value that has been sent between devices */
    bool statistic;  /* varying: made of reductions over parts, and of what all devices have */
    int32_t dim;     /* NO_DIM: none */
    int64_t major;   /* elements of the dimension that are more major than the cut; 0: none are */
    uint32_t origin; /* the op that made it pending, varying or gathered; 0: none */
} cell;

/* Sets of sub-axes are bits. */
typedef uint64_t axis_bits;

/* A part of an axis of the mesh on which all that is checked agrees. */
typedef struct sub_axis {
    tsr_axis_ref ref;
    int64_t place_stride;
} sub_axis;

/* A mesh, its sub-axes, and the cells of values on it. Axes of size 1 are left out. */
typedef struct scope {
    struct scope *next;
    const tsr_mesh *mesh;
    size_t count;
    sub_axis axes[MAX_SUB_AXES];
    cell **cells;      /* by value; NULL: not seen */
    axis_bits *merged; /* by op: statistics that a collective merges, or that vary as declared */
} scope;

/* Functions that are being walked, the innermost first. */
typedef struct active_call {
    const struct active_call *outer;
    uint32_t func;
} active_call;

struct finding_entry;

typedef struct checker {
    tsr_context *ctx;
    tsr_program *p;
    tsr_arena *results; /* the caller's */
    tsr_arena *arena;   /* while the check lasts */
    tsr_arena *scratch; /* while an op is looked at */
    op_rules *rules;
    scope *scopes;
    scope *s;
    axis_bits manual;                     /* the sub-axes of `s` that are manual here */
    axis_bits guards;                     /* that what runs here depends on */
    uint32_t guard_ops[MAX_SUB_AXES];     /* by sub-axis: the op that decides */
    uint32_t guard_origins[MAX_SUB_AXES]; /* where its condition began to vary */
    const active_call *calls;
    int64_t budget; /* ops that may still be looked at one by one */
    bool quiet;     /* states are not final: nothing is reported */
    bool notes;
    bool local;
    map known; /* findings, by what tells them apart */
    struct finding_entry *first;
    struct finding_entry *last;
    size_t num_findings;
    struct statistic_use *uses; /* of statistics beside parts, the last first */
} checker;

/* ---- scope.c ---- */

/* The scope of a mesh, made once. */
tsr_status scope_find(checker *c, const tsr_mesh *mesh, scope **out);
/* The mesh that a program without one is checked on: its devices along one axis. */
tsr_status scope_default_mesh(checker *c, const tsr_mesh **out);
/* How many devices the module says there are; 0: it does not. */
int64_t num_devices_said(const checker *c);

/* The sub-axes that an axis covers. */
axis_bits axis_cover(const scope *s, tsr_axis_ref axis);
/* The sub-axes that a sharding of the scope's mesh has in a dimension; all of its pending ones. */
axis_bits dim_cover(const scope *s, const tsr_dim *dim);
axis_bits unreduced_cover(const scope *s, const tsr_sharding *sharding);
/* The dimension that a sub-axis cuts, or NO_DIM. */
int32_t dim_of(const scope *s, const tsr_sharding *sharding, size_t axis);
const char *axis_name(const checker *c, size_t axis);
bool is_scope_mesh(const checker *c, const tsr_sharding *sharding);

/* ---- groups.c ---- */

/* Devices that exchange with each other. */
typedef struct device_groups {
    size_t count;
    size_t size;
    const int64_t *ids;
} device_groups;

/* The groups of a collective: of its replica groups, or of its pairs. */
tsr_status groups_of(checker *c, uint32_t op, device_groups *out);
/* Cuts axes where groups of a collective need it: pre-sizes, for one axis. */
typedef struct cut_list {
    int64_t pre[MAX_SUB_AXES];
    size_t count;
} cut_list;
tsr_status groups_cuts(checker *c, const tsr_mesh *mesh, const device_groups *groups, size_t axis,
                       cut_list *cuts);
/*
 * The sub-axes along which the groups are; false, with all sub-axes, when they are not along
 * sub-axes.
 */
bool groups_cover(const scope *s, const device_groups *groups, axis_bits *out);
/* The same for pairs of devices; *is_whole: each device sends and receives. */
bool pairs_cover(const scope *s, const device_groups *pairs, axis_bits *out, bool *is_whole);

/* ---- cell.c ---- */

static inline axis_bits axis_bit(size_t axis)
{
    return (axis_bits)1 << axis;
}

static inline bool is_manual(const checker *c, size_t axis)
{
    return (c->manual & axis_bit(axis)) != 0;
}

/* The cells of a value; NULL without memory. Those of a value that was not seen are all the same.
 */
cell *cells_of(checker *c, uint32_t value);
tsr_status cells_set(checker *c, uint32_t value, const cell *from);
cell cell_same(void);
cell cell_varying(int32_t dim, uint32_t origin);
bool cell_is_shared(cell a); /* all devices hold the same */
/* What holds of a value that is one or the other. */
cell cell_join(const checker *c, size_t axis, cell a, cell b);
bool cell_equal(cell a, cell b);
/* Nothing is known: varying along manual axes, not cut along the others. */
cell cell_unknown(const checker *c, size_t axis, uint32_t origin);

/* ---- infer.c ---- */

/* The results of an op by its row: rule, classes of arguments. */
tsr_status infer_op(checker *c, uint32_t op);
/* Each result is the operand of its number, as it is. */
tsr_status pass_op(checker *c, uint32_t op);

/* ---- statistic.c ---- */

/* Whether a value is a statistic of each device's own part. */
bool is_statistic(cell a);
/* A statistic of local parts meets parts in an op: reported unless it is merged somewhere. */
tsr_status statistic_note_use(checker *c, uint32_t op, size_t operand, size_t axis);
/* A value is merged along some axes: it enters a collective, or is returned as each device's own.
 */
tsr_status statistic_merge(checker *c, uint32_t value, axis_bits axes);
/* Reports uses of statistics that are merged nowhere. */
tsr_status statistics_report(checker *c);

/* ---- gradient.c ---- */

/* Whether a sum is of products with what the code of a block multiplies an argument by. */
bool is_gradient_of(checker *c, uint32_t sum, uint32_t argument, uint32_t block);

/* ---- control.c ---- */

/* How an op is looked at. */
typedef tsr_status op_visit(checker *c, uint32_t op);

tsr_status visit_block(checker *c, uint32_t block);
tsr_status visit_while(checker *c, uint32_t op);
tsr_status visit_branches(checker *c, uint32_t op);
/* The function that a call or a composite names; 0: none. */
tsr_status check_callee(checker *c, uint32_t op, uint32_t *out);
tsr_status visit_call(checker *c, uint32_t op);
tsr_status visit_named(checker *c, uint32_t op);
/* Walks a function whose arguments have their cells. */
tsr_status visit_function(checker *c, uint32_t func);
/* The cells of what a block ends with become those of consecutive values. */
tsr_status copy_returned(checker *c, uint32_t block, uint32_t first, size_t count);

/* ---- manual.c ---- */

tsr_status visit_manual(checker *c, uint32_t op);
/*
 * A declared sharding against what a value is along some manual axes: an axis that it does not have
 * must be one along which the value is the same.
 */
typedef struct declared_result {
    uint32_t op; /* that declares it */
    uint32_t value;
    size_t index;
    const tsr_sharding *sharding; /* NULL: replicated */
    axis_bits axes;
    uint32_t block; /* the arguments of the code that returns it are its */
} declared_result;
tsr_status check_declared(checker *c, const declared_result *r);

/* ---- closed.c ---- */

/* A sharding that the program gives a value: along automatic axes it cuts, or gathers. */
tsr_status apply_sharding(checker *c, uint32_t op, uint32_t value, const tsr_sharding *sharding);
/* A value that enters where an axis that was automatic is manual: its cell there. */
tsr_status enter_cell(checker *c, uint32_t op, uint32_t value, const tsr_sharding *sharding,
                      size_t axis, cell *out);
/* What is gathered stays so only where it is used once. */
tsr_status keep_single_uses(checker *c, uint32_t value);

/* ---- collective.c ---- */

tsr_status visit_collective(checker *c, uint32_t op);
/* Whether an op is a StableHLO collective. */
bool is_collective(const tsr_program *p, uint32_t op);

/* ---- device.c ---- */

/* Values that may differ on every device although no operand does. */
tsr_status visit_unknown(checker *c, uint32_t op);
tsr_status visit_device_id(checker *c, uint32_t op);
/* A quotient or remainder: of a device's number it varies along some axes only. */
tsr_status visit_digit(checker *c, uint32_t op);
/* A slice: of a table by a device's number it varies as the table does. */
tsr_status visit_table(checker *c, uint32_t op);

/* ---- constant.c ---- */

tsr_status visit_constant(checker *c, uint32_t op);
/* Whether a value is a constant that is one number throughout, and that number. */
bool constant_number(checker *c, uint32_t value, double *out);
/* Whether a value is computed from constants alone. */
bool is_constant_value(checker *c, uint32_t value);
/* The op that a value comes from, through ops of one operand; 0: an argument. */
uint32_t source_op(const tsr_program *p, uint32_t value);
/*
 * Whether a sum over `size` devices is of shares: its operand is a constant, or was divided by that
 * number or a larger one, or its result is.
 */
tsr_status is_scaled_down(checker *c, uint32_t value, uint32_t result, int64_t size, bool *out);

/* ---- report.c ---- */

typedef enum rule_number {
    RULE_PENDING_IN_NONLINEAR,
    RULE_PENDING_PLUS_SHARED,
    RULE_UNREDUCED_GRADIENT,
    RULE_RESULT_VARIES,
    RULE_RESULT_MAY_VARY,
    RULE_NEEDLESS_COLLECTIVE,
    RULE_PARTLY_NEEDLESS_COLLECTIVE,
    RULE_DIVERGENT_COLLECTIVE,
    RULE_CLOSED_DIMENSION,
    RULE_LOCAL_SUM_IN_NONLINEAR,
    RULE_LOCAL_STATISTIC,
    RULE_STATISTIC_BESIDE_PARTS,
    NUM_RULES
} rule_number;

typedef struct report {
    rule_number rule;
    uint32_t op;
    uint32_t value;
    size_t axis;         /* a sub-axis of the scope */
    const char *message; /* the checker's own, copied */
    const char *remedy;  /* the same */
    tsr_finding_note notes[2];
    size_t num_notes;
} report;

/* Adds a finding, unless states are not final or the rule has one for this op and axis. */
tsr_status report_add(checker *c, const report *r);
/* Puts findings in the order of the program. */
tsr_status report_finish(checker *c, tsr_findings *out);
/* A text for a report; NULL without memory, which report_add then tells. */
const char *report_text(checker *c, const char *format, ...) TSR_PRINTF(2, 3);

#endif
