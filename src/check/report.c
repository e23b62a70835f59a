/* The rules, and findings. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/guard.h"
#include "check/check.h"

static const tsr_check_rule rules[NUM_RULES] = {
    [RULE_PENDING_IN_NONLINEAR] =
        {"TSR-C001", "pending-in-nonlinear", TSR_ERROR, "a pending sum in a nonlinear op",
         "Each device contracted its own part of a dimension, so its value is one summand of a "
         "pending sum. A nonlinear op applied to each summand does not give the op of the sum. "
         "Reduce before the op."},
    [RULE_PENDING_PLUS_SHARED] =
        {"TSR-C002", "pending-plus-replicated", TSR_ERROR,
         "a replicated value added to a pending sum",
         "When the pending sum is reduced later, the replicated value is counted once per device. "
         "Reduce before the addition, or add on one device only."},
    [RULE_UNREDUCED_GRADIENT] =
        {"TSR-C003", "unreduced-gradient", TSR_ERROR,
         "the gradient of a replicated input is never reduced",
         "A result has the type of a replicated argument and is declared equal on all devices, but "
         "each device computed it from its own part of a dimension. The devices would update their "
         "copies with different gradients. Reduce it over the axis, or declare the result sharded "
         "along it."},
    [RULE_RESULT_VARIES] =
        {"TSR-C004", "result-varies", TSR_ERROR,
         "a result is declared replicated over an axis along which it varies",
         "The value of such a result is undefined: devices hold different values. Reduce or gather "
         "it over the axis, or declare the result sharded along it."},
    [RULE_RESULT_MAY_VARY] =
        {"TSR-C005", "result-may-vary", TSR_WARNING,
         "a result is declared replicated, but the program does not show that devices agree",
         "The value was sent between devices and was not reduced or gathered afterwards. The "
         "devices may hold equal values, for example after an all-gather written as a ring, but "
         "the check cannot prove it. End with a reduction or an all_gather, or declare the result "
         "sharded along the axis."},
    [RULE_NEEDLESS_COLLECTIVE] = {"TSR-C006", "needless-collective", TSR_WARNING,
                                  "a collective over an axis along which the value does not vary",
                                  "All devices of a group already hold the same value. A sum "
                                  "multiplies it by the number of devices; other collectives only "
                                  "move copies. Remove the collective, or name the intended axis."},
    [RULE_PARTLY_NEEDLESS_COLLECTIVE] =
        {"TSR-C007", "partly-needless-collective", TSR_NOTE,
         "a collective over several axes, along one of which the value does not vary",
         "Along that axis a sum multiplies the value by the number of devices, and other "
         "collectives move copies. Remove the axis unless this is intended."},
    [RULE_DIVERGENT_COLLECTIVE] =
        {"TSR-C008", "divergent-collective", TSR_ERROR,
         "a collective that depends on a condition that varies: a deadlock",
         "Devices of one group take different branches, or leave a loop after different numbers of "
         "iterations, so some wait in the collective for devices that never enter it. Reduce the "
         "condition over the axis first, or move the collective out of the branch or loop."},
    [RULE_CLOSED_DIMENSION] =
        {"TSR-C009", "closed-dimension", TSR_WARNING,
         "a closed dimension gathers a tensor that is sharded the same way again afterwards",
         "A dimension written {} (None in a PartitionSpec) is closed: it means replicated, not "
         "unspecified. Here it forces an all-gather of a tensor that was sharded before and is "
         "sharded the same way later, although no op between needs the whole tensor. Name the "
         "axis, or leave the dimension open: {?}, PartitionSpec.UNCONSTRAINED."},
    [RULE_LOCAL_SUM_IN_NONLINEAR] =
        {"TSR-C010", "local-sum-in-nonlinear", TSR_NOTE,
         "a sum over each device's own rows in a nonlinear op",
         "A statistic of the local part is legal, as in unsynchronized batch normalization. If the "
         "statistic of the whole tensor is intended, reduce first."},
    [RULE_LOCAL_STATISTIC] =
        {"TSR-C011", "local-statistic", TSR_WARNING,
         "parts of a tensor are normalized by a statistic of each device's own part",
         "A mean, variance, norm or maximum over a sharded dimension covers the local part only, "
         "and is then subtracted from the parts or scales them, without a collective that reduces "
         "it. The devices normalize differently. Reduce the statistic over the axis first: psum, "
         "pmax."},
    [RULE_STATISTIC_BESIDE_PARTS] =
        {"TSR-C012", "statistic-beside-parts", TSR_NOTE,
         "a statistic of each device's own part in an op with the parts",
         "Adding a local statistic to the parts, or comparing them with it, is legal. If a "
         "statistic of the whole tensor is intended, reduce it over the axis first."},
};

const tsr_check_rule *tsr_check_rules(size_t *count)
{
    GUARD(tsr_check_rules);
    *count = NUM_RULES;
    return rules;
}

/* What tells findings apart. */
typedef struct finding_key {
    uint32_t rule;
    uint32_t op;
    uint32_t value;
    int32_t axis;
} finding_key;

typedef struct finding_entry {
    struct finding_entry *next;
    finding_key key;
    tsr_finding finding;
} finding_entry;

const char *report_text(checker *c, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (c->quiet) {
        return "";
    }
    va_start(arguments, format);
    const int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t length = size < 0 ? 0 : strnlen(text, sizeof text - 1);
    return arena_string(c->results, text, length);
}

static finding_key key_of(const checker *c, const report *r)
{
    return (finding_key){(uint32_t)r->rule, r->op, r->value, c->s->axes[r->axis].ref.axis};
}

static bool is_known(const checker *c, const report *r)
{
    const finding_key key = key_of(c, r);
    return map_find(&c->known, (const char *)&key, sizeof key) != NULL;
}

/* Notes without a place, or at the place of the finding, say nothing more. */
static size_t keep_notes(const report *r, tsr_finding_note *notes)
{
    size_t count = 0;
    for (size_t i = 0; i < r->num_notes; i++) {
        if (r->notes[i].op != 0 && r->notes[i].op != r->op) {
            notes[count++] = r->notes[i];
        }
    }
    return count;
}

tsr_status report_add(checker *c, const report *r)
{
    const tsr_check_rule *rule = &rules[r->rule];
    if (r->message == NULL || r->remedy == NULL) {
        return diag_nomem(c->ctx);
    }
    if (c->quiet || (rule->severity == TSR_NOTE && !c->notes) || is_known(c, r)) {
        return TSR_OK;
    }
    const char *axis = axis_name(c, r->axis);
    finding_entry *entry = ARENA_NEW(c->arena, finding_entry);
    tsr_finding_note *notes = ARENA_ARRAY(c->results, tsr_finding_note, r->num_notes + 1);
    axis = arena_string(c->results, axis, strlen(axis));
    if (entry == NULL || notes == NULL || axis == NULL) {
        return diag_nomem(c->ctx);
    }
    *entry = (finding_entry){.key = key_of(c, r),
                             .finding = {.rule = rule,
                                         .op = r->op,
                                         .value = r->value,
                                         .axis = axis,
                                         .message = r->message,
                                         .remedy = r->remedy,
                                         .num_notes = keep_notes(r, notes),
                                         .notes = notes}};
    if (map_insert(&c->known, (const char *)&entry->key, sizeof entry->key) == NULL) {
        return diag_nomem(c->ctx);
    }
    if (c->last != NULL) {
        c->last->next = entry;
    } else {
        c->first = entry;
    }
    c->last = entry;
    c->num_findings++;
    return TSR_OK;
}

/* A finding, where it is in the text, and how many were found before it. */
typedef struct placed_finding {
    const tsr_finding *finding;
    uint32_t at;
    size_t order;
} placed_finding;

static int compare_places(const void *a, const void *b)
{
    const placed_finding *x = a;
    const placed_finding *y = b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at)
                          : (x->order > y->order) - (x->order < y->order);
}

tsr_status report_finish(checker *c, tsr_findings *out)
{
    TSR_TRY(statistics_report(c));
    tsr_finding *list = ARENA_ARRAY(c->results, tsr_finding, c->num_findings + 1);
    placed_finding *placed = ARENA_ARRAY(c->arena, placed_finding, c->num_findings + 1);
    size_t count = 0;
    if (list == NULL || placed == NULL) {
        return diag_nomem(c->ctx);
    }
    for (const finding_entry *e = c->first; e != NULL; e = e->next) {
        placed[count] = (placed_finding){&e->finding, program_op(c->p, e->finding.op)->at, count};
        count++;
    }
    qsort(placed, count, sizeof *placed, compare_places);
    for (size_t i = 0; i < count; i++) {
        list[i] = *placed[i].finding;
    }
    *out = (tsr_findings){count, list};
    return TSR_OK;
}
