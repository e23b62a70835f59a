/*
 * Writes random uses of every op that StableHLO has and whose types rows infer, and the sharding
 * rules of their rows: `rules COUNT conservative|plain PROGRAM RULES`. A line of RULES is the name
 * of a function of PROGRAM, the op, and the rule or `none`. rules.sh compares them with the
 * reference's.
 */
#include <stdlib.h>
#include <string.h>

#include "instance.h"

/* A fault in the rule of the op that TSR_PLANT names, to see that it is found. */
static const tsr_rule *plant_fault(fixture *f, const char *op, const tsr_rule *rule)
{
    const char *planted = getenv("TSR_PLANT");
    bool whole[64] = {true};
    if (planted != NULL && strcmp(planted, op) == 0 && tsr_rule_num_factors(rule) > 0) {
        assert_int_equal(tsr_rule_keep_whole(f->ctx, f->arena, rule, whole, &rule), TSR_OK);
    }
    return rule;
}

static void write_one(fixture *f, const instance *i, size_t number, FILE *program, FILE *rules)
{
    const op_request request = instance_request(f, i);
    const tsr_rule *rule = NULL;
    const char *text = "none";
    char name[32];
    (void)snprintf(name, sizeof name, "c%zu", number);
    instance_print(program, i, name);
    const tsr_status status = op_find_rule(&request, i->results, f->arena, &rule);
    assert_true(status == TSR_OK || status == TSR_NOT_APPLICABLE);
    if (status == TSR_OK) {
        rule = plant_fault(f, i->row->name, rule);
        assert_int_equal(tsr_rule_print(f->ctx, f->arena, rule, TSR_RULE_BARE, &text), TSR_OK);
    }
    (void)fprintf(rules, "%s %s %s\n", name, i->row->name, text);
}

int main(int argc, char **argv)
{
    void *state = NULL;
    if (argc != 5) {
        (void)fprintf(stderr, "usage: rules COUNT conservative|plain PROGRAM RULES\n");
        return 2;
    }
    const size_t each = (size_t)strtoul(argv[1], NULL, 10);
    const bool conservative = strcmp(argv[2], "conservative") == 0;
    FILE *program = fopen(argv[3], "w");
    FILE *rules = fopen(argv[4], "w");
    if (program == NULL || rules == NULL || fixture_setup(&state) != 0) {
        (void)fprintf(stderr, "rules: cannot write %s or %s\n", argv[3], argv[4]);
        return 2;
    }
    fixture *f = state;
    const rng base = rng_start("rules");
    size_t number = 0;
    (void)fputs("module {\n", program);
    for (size_t k = 0; k < op_count(); k++) {
        const op_row *row = op_at(k);
        for (size_t n = 0; row->dialect == OP_STABLEHLO && row->types != NULL && n < each; n++) {
            rng r = rng_case(&base, number);
            const tsr_arena_mark mark = tsr_arena_get_mark(f->arena);
            instance i;
            if (!instance_draw(f, row, &r, &i)) {
                (void)fprintf(stderr, "rules: the op %s has no generator\n", row->name);
                return 1;
            }
            i.facts.conservative = conservative;
            write_one(f, &i, number++, program, rules);
            tsr_arena_reset(f->arena, mark);
        }
    }
    (void)fputs("}\n", program);
    (void)fixture_teardown(&state);
    return fclose(program) != 0 || fclose(rules) != 0;
}
