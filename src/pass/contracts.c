#include "pass/contracts.h"

#include <string.h>

#include "base/base.h"
#include "transform/reshard.h"

/* All that propagation and constraints may end: they write open shardings that ops do not share. */
#define SHARDINGS_MAY_CHANGE                                                                       \
    .ends = {&contract_closed_shardings, &contract_explicit_calls, &contract_explicit_reshards}

static const pass_contracts rows[] = {
    {.pass = "sdy-lift-inlined-meshes",
     .establishes = {&contract_named_meshes},
     .ends = {&contract_inlined_meshes}},
    {.pass = "sdy-inline-meshes",
     .establishes = {&contract_inlined_meshes},
     .ends = {&contract_named_meshes}},
    {.pass = "sdy-flatten-call-graph", .establishes = {&contract_single_calls}},
    {.pass = "sdy-unflatten-call-graph", .ends = {&contract_single_calls}},
    {.pass = "sdy-import-func-calls",
     .establishes = {&contract_no_calls, &contract_single_calls},
     .ends = {&contract_no_edges}},
    {.pass = "sdy-export-named-computations", .ends = {&contract_no_calls}},
    {.pass = "tessera-import-composites",
     .establishes = {&contract_no_composites},
     .ends = {&contract_no_calls, &contract_single_calls}},
    {.pass = "tessera-export-composites", .ends = {&contract_no_composites}},
    {.pass = "sdy-add-data-flow-edges", .ends = {&contract_no_edges}},
    {.pass = "sdy-sink-data-flow-edges", .establishes = {&contract_no_edges}},
    {.pass = "sdy-add-func-data-flow-edges", .ends = {&contract_no_func_edges}},
    {.pass = "sdy-sink-func-data-flow-edges", .establishes = {&contract_no_func_edges}},
    {.pass = "sdy-remove-sharding-groups", .establishes = {&contract_no_groups}},
    {.pass = "sdy-sharding-constraint-to-reshard", .establishes = {&contract_no_constraints}},
    {.pass = "sdy-close-shardings", .establishes = {&contract_closed_shardings}},
    {.pass = "sdy-insert-explicit-reshards", .establishes = {&contract_explicit_calls}},
    {.pass = "sdy-insert-explicit-reshards",
     .option = "enable-full-version",
     .establishes = {&contract_explicit_reshards}},
    {.pass = "sdy-apply-sharding-constraints", SHARDINGS_MAY_CHANGE},
    {.pass = "sdy-basic-propagate", SHARDINGS_MAY_CHANGE},
    {.pass = "sdy-aggressive-propagate", SHARDINGS_MAY_CHANGE},
    {.pass = "sdy-op-priority-propagate", SHARDINGS_MAY_CHANGE},
    {.pass = "sdy-user-priority-propagate", SHARDINGS_MAY_CHANGE},
};

const pass_contracts *pass_contracts_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

bool pass_contracts_apply(const pass_contracts *row, const char *pass,
                          const tsr_pass_options *options)
{
    return strcmp(row->pass, pass) == 0 &&
           (row->option == NULL || tsr_option_bool(options, row->option));
}

tsr_status pass_contracts_verify(tsr_context *ctx, tsr_program *p, const char *pass,
                                 const tsr_pass_options *options)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!pass_contracts_apply(&rows[i], pass, options)) {
            continue;
        }
        for (size_t k = 0; k < MAX_PASS_CONTRACTS && rows[i].establishes[k] != NULL; k++) {
            TSR_TRY(contract_verify(ctx, p, rows[i].establishes[k]));
        }
    }
    return TSR_OK;
}
