/* The checks of ops of their own, by kind. */
#include "verify/verify.h"

const verify_hooks verify_hooks_of[OP_KIND_COUNT] = {
    [OP_BUILTIN_MODULE] = {.op = verify_module_op},
    [OP_FUNC_FUNC] = {.op = verify_func},
    [OP_FUNC_CALL] = {.symbols = verify_call},
    [OP_FUNC_RETURN] = {.op = verify_return},
    [OP_STABLEHLO_COMPOSITE] = {.symbols = verify_composite},
    [OP_SDY_MESH] = {.op = verify_sdy_mesh},
    [OP_SDY_SHARDING_CONSTRAINT] = {.symbols = verify_constraint},
    [OP_SDY_RESHARD] = {.symbols = verify_constraint},
    [OP_SDY_MANUAL_COMPUTATION] = {.op = verify_manual_axes, .symbols = verify_manual_computation},
    [OP_SDY_NAMED_COMPUTATION] = {.regions = verify_named_types,
                                  .symbols = verify_named_computation},
    [OP_SDY_DATA_FLOW_EDGE] = {.symbols = verify_data_flow_edge},
    [OP_SDY_FUNC_DATA_FLOW_EDGE] = {.symbols = verify_func_data_flow_edge},
    [OP_SDY_PROPAGATION_BARRIER] = {.op = verify_barrier},
    [OP_SDY_ALL_GATHER] = {.symbols = verify_all_gather},
    [OP_SDY_ALL_SLICE] = {.symbols = verify_all_slice},
    [OP_SDY_SHARDED_TO_UNREDUCED] = {.symbols = verify_sharded_to_unreduced},
    [OP_SDY_REDUCE_SCATTER] = {.symbols = verify_reduce_scatter},
    [OP_SDY_ALL_REDUCE] = {.symbols = verify_all_reduce},
    [OP_SDY_REPLICATED_TO_UNREDUCED] = {.symbols = verify_replicated_to_unreduced},
    [OP_SDY_ALL_TO_ALL] = {.symbols = verify_all_to_all},
    [OP_SDY_COLLECTIVE_PERMUTE] = {.symbols = verify_collective_permute},
};
