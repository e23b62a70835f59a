#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        const tsr_status try_status = (call);                                                      \
        if (try_status < 0) {                                                                      \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

static const char program_text[] =
    "module {\n"
    "  sdy.mesh @mesh = <[\"x\"=2]>\n"
    "  func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>})\n"
    "      -> tensor<4x4xf32> {\n"
    "    %b = stablehlo.add %a, %a : tensor<4x4xf32>\n"
    "    return %b : tensor<4x4xf32>\n"
    "  }\n"
    "}\n";

/* ---- layouts ---- */

static tsr_status make_shardings(walk *w)
{
    tsr_context *ctx = w->ctx;
    tsr_arena *arena = w->lasting;
    TRY(tsr_mesh_parse(ctx, arena, "<[\"x\"=2]>", &w->mesh));
    TRY(tsr_mesh_parse(ctx, arena, "<[\"a\"=3, \"b\"=4]>", &w->other_mesh));
    TRY(tsr_mesh_parse(ctx, arena, "<[]>", &w->empty_mesh));
    TRY(tsr_mesh_parse(ctx, arena, "<[], device_ids=[0]>", &w->maximal_mesh));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{\"x\"}, {}]", &w->sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{}, {}]", &w->replicated));
    TRY(tsr_sharding_parse(ctx, arena, w->other_mesh, "[{\"a\"}, {}, {\"b\":(2)2}]",
                           &w->other_sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[]", &w->scalar_sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->maximal_mesh, "[]", &w->maximal_sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{?}, {\"x\", ?}p1]", &w->open_sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{\"x\"}:dynamic[3,1], {}]", &w->ragged_sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{\"x\"}:dynamic[?], {}]", &w->unbound_sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{?}, {?}]", &w->open_empty));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{\"x\"}:partitioned[[1, 1], [1, 1]], {}]",
                           &w->parted_sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh,
                           "[{\"x\"}:partitioned[[1, 1], [1, 1]](aligned), {}]",
                           &w->aligned_sharding));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{\"x\"}:partitioned[?](partitions=2), {}]",
                           &w->parted_unbound));
    TRY(tsr_sharding_parse(ctx, arena, w->mesh, "[{}, {}], unreduced={\"x\"}",
                           &w->pending_sharding));
    TRY(tsr_mesh_rename(ctx, arena, w->mesh, "named", &w->named_mesh));
    for (size_t i = 0; i < 4; i++) {
        w->shardings[i] = w->sharding;
    }
    const int64_t other_shape[] = {5, 7, 2};
    TRY(tsr_geometry_create(ctx, arena, w->sharding, 2, w->shape, &w->geometry));
    TRY(tsr_geometry_create(ctx, arena, w->other_sharding, 3, other_shape, &w->other_geometry));
    TRY(tsr_geometry_holders(ctx, arena, w->geometry, w->zeros, &w->devices));
    TRY(tsr_plan_create(ctx, arena, w->geometry, w->geometry, TSR_F32, &w->plan));
    TRY(tsr_groups_create(ctx, arena, w->mesh, w->axes, 1, &w->groups));
    TRY(tsr_mesh_table_create(ctx, arena, &w->table));
    TRY(tsr_topology_find(ctx, arena, "host", &w->topology));
    w->topology_spec = tsr_topology_facts(w->topology);
    TRY(tsr_route_find(ctx, arena, w->geometry, w->geometry, TSR_F32, NULL, &w->route));
    return TSR_OK;
}

static tsr_status make_rules(walk *w)
{
    TRY(tsr_rule_elementwise(w->ctx, w->lasting, 2, w->extents, &w->rule));
    TRY(tsr_rule_transpose(w->ctx, w->lasting, w->many_extents, w->dims, &w->other_rule));
    TRY(tsr_type_uniform(w->ctx, w->lasting, w->mesh, (tsr_axis_type){.kind = TSR_R}, &w->type));
    TRY(tsr_type_uniform(w->ctx, w->lasting, w->other_mesh, (tsr_axis_type){.kind = TSR_P},
                         &w->other_type));
    TRY(tsr_type_uniform(w->ctx, w->lasting, w->mesh, (tsr_axis_type){.kind = TSR_P},
                         &w->pending_type));
    TRY(tsr_type_uniform(w->ctx, w->lasting, w->mesh, (tsr_axis_type){.kind = TSR_V},
                         &w->varying_type));
    TRY(tsr_type_uniform(w->ctx, w->lasting, w->mesh, (tsr_axis_type){.kind = TSR_I},
                         &w->invariant_type));
    for (size_t i = 0; i < 4; i++) {
        w->types[i] = w->type;
    }
    return TSR_OK;
}

static tsr_status make_program(walk *w)
{
    const tsr_text text = tsr_text_of("walk", program_text);
    TRY(tsr_program_read(w->ctx, &text, TSR_PROGRAM_DEFAULT, &w->program));
    const tsr_ir_op main = tsr_program_symbol(w->program, "main");
    w->region = tsr_ir_op_region(w->program, main, 0);
    w->block = tsr_ir_region_first_block(w->program, w->region);
    w->argument = tsr_ir_block_argument(w->program, w->block, 0);
    w->plain_op = tsr_ir_block_first_op(w->program, w->block);
    w->attribute = tsr_ir_op_attribute(w->program, main, "sym_name");
    TRY(tsr_explanation_create(w->ctx, w->program, -1, &w->explanation));
    TRY(tsr_interpreter_create(w->ctx, w->program, NULL, &w->interpreter));
    return tsr_interpreter_run(w->ctx, w->interpreter, &w->view, 1, &w->outputs);
}

/* ---- tensors ---- */

static tsr_status make_tensors(walk *w)
{
    tsr_comm *world = w->world;
    TRY(tsr_comm_along(world, w->mesh, w->axes, 1, &w->group));
    TRY(tsr_tensor_from_full(world, &w->spec, -1, w->data, &w->x));
    TRY(tsr_tensor_from_full(world, &w->replicated_spec, -1, w->data, &w->whole));
    const tsr_tensor_spec scalar = {.sharding = w->scalar_sharding, .dtype = TSR_F32};
    TRY(tsr_ones(world, &scalar, &w->scalar));
    tsr_tensor_spec ragged = w->spec;
    ragged.sharding = w->ragged_sharding;
    TRY(tsr_tensor_from_full(world, &ragged, -1, w->data, &w->ragged));
    const tsr_sharding *row = NULL;
    TRY(tsr_sharding_parse(w->ctx, w->lasting, w->mesh, "[{}]", &row));
    const tsr_tensor_spec integers = {
        .sharding = row, .dtype = TSR_I32, .rank = 1, .shape = w->shape};
    TRY(tsr_iota(world, &integers, 0, &w->integers));
    const tsr_tensor_spec floats = {
        .sharding = row, .dtype = TSR_F32, .rank = 1, .shape = w->shape};
    TRY(tsr_ones(world, &floats, &w->row));
    TRY(tsr_ones(world, &w->spec, &w->y));
    TRY(tsr_ones(world, &w->spec, &w->z));
    w->sgd_options = (tsr_sgd_options){.learning_rate = 0.5, .momentum = 0.5};
    w->adam_options = (tsr_adam_options){.learning_rate = 0.5, .beta1 = 0.5, .beta2 = 0.5};
    TRY(tsr_ones(world, &w->int_spec, &w->ints));
    tsr_tensor_spec parted = w->spec;
    parted.sharding = w->parted_sharding;
    TRY(tsr_tensor_from_full(world, &parted, -1, w->data, &w->parted));
    parted.sharding = w->aligned_sharding;
    TRY(tsr_tensor_from_full(world, &parted, -1, w->data, &w->aligned));
    parted.sharding = w->pending_sharding;
    TRY(tsr_tensor_create(world, &parted, &w->summands));
    tsr_tensor *whole = NULL;
    TRY(tsr_dynamic_to_replicate(w->ragged, 0, &w->conversion, &whole));
    tsr_tensor_release(whole);
    TRY(tsr_partitioned_create(world, &w->partitioned_spec, &w->partitioned));
    tsr_tensor_spec truths = w->spec;
    truths.dtype = TSR_I1;
    TRY(tsr_ones(world, &truths, &w->truths_tensor));
    TRY(tsr_zeros(w->abstract_world, &w->spec, &w->abstract_x));
    w->other_x = w->abstract_x;
    for (size_t i = 0; i < 4; i++) {
        w->tensors[i] = w->x;
    }
    return TSR_OK;
}

static tsr_status make_typed(walk *w)
{
    const tsr_view view = {.data = w->data, .dtype = TSR_F32, .rank = 2, .shape = w->shape};
    TRY(tsr_spmd_open(w->world, &w->spmd_scope));
    tsr_status status = tsr_typed_value(w->world, &view, "f32[4,4]{x:P}", &w->pending);
    if (status == TSR_OK) {
        status = tsr_typed_value(w->world, &view, "f32[4,4]{x:V}", &w->varying);
    }
    if (status == TSR_OK) {
        status = tsr_typed_value(w->world, &view, "f32[4,4]{x:I}", &w->invariant);
    }
    const tsr_view two = {.data = w->data, .dtype = TSR_F32, .rank = 2, .shape = w->part_shape};
    if (status == TSR_OK) {
        status = tsr_typed_value(w->world, &two, "f32[2,4]{x:V}", &w->varying_two);
    }
    if (status == TSR_OK) {
        status = tsr_typed_value(w->world, &two, "f32[4@x,4]", &w->sharded_value);
    }
    static int32_t numbers[4] = {0, 1, 2, 3};
    const tsr_view integers = {.data = numbers, .dtype = TSR_I32, .rank = 1, .shape = w->shape};
    if (status == TSR_OK) {
        status = tsr_typed_value(w->world, &integers, "i32[4]{x:V}", &w->local_integers);
    }
    const tsr_view number = {.data = w->data, .dtype = TSR_F32};
    if (status == TSR_OK) {
        status = tsr_typed_value(w->world, &number, "f32[]{x:R}", &w->local_number);
    }
    if (status == TSR_OK) {
        status = tsr_typed_value(w->world, &view, "f32[4,4]{x:R}", &w->alike);
    }
    w->varyings[0] = w->varyings[1] = w->varying;
    tsr_spmd_close(w->world);
    return status;
}

/* ---- plain values ---- */

static void make_numbers(walk *w)
{
    for (size_t i = 0; i < WALK_NUMBERS; i++) {
        w->shape[i] = 4;
        w->negative[i] = -3;
        w->greatest[i] = INT64_MAX - 1;
        w->far[i] = SIZE_MAX - 1;
        w->dims[i] = i;
        w->truths[i] = false;
        w->zeros[i] = 0;
        w->ones[i] = 1;
    }
    w->double_shape[0] = 8;
    w->double_shape[1] = 4;
    w->part_shape[0] = 2;
    w->part_shape[1] = 4;
    w->index_shape[0] = 4;
    w->index_shape[1] = 1;
    w->halves[0] = w->halves[1] = 2;
    w->row_sizes[0] = 1;
    w->row_sizes[1] = 4;
    w->turns[0] = 1;
    w->turns[1] = 0;
    for (size_t i = 0; i < 64; i++) {
        w->data[i] = (float)i / 8;
    }
    w->axes[0] = (tsr_axis_ref){.axis = 0, .pre = 1, .size = 2};
    w->axes[1] = w->axes[0];
    w->far_axis = (tsr_axis_ref){.axis = 77, .size = 2};
    w->negative_axis = (tsr_axis_ref){.axis = -5, .is_sub = 1, .pre = -1, .size = -2};
    w->odd_axis = (tsr_axis_ref){.axis = 0, .is_sub = 1, .pre = INT64_MAX, .size = INT64_MAX};
    w->strides[0] = (tsr_stride){.size = 2, .stride = 2};
    w->strides[1] = (tsr_stride){.size = 2, .stride = 1};
    w->extents = (tsr_extents){.rank = 2, .sizes = w->shape};
    w->negative_extents = (tsr_extents){.rank = 2, .sizes = w->negative};
    w->huge_extents = (tsr_extents){.rank = 2, .sizes = w->greatest};
    w->many_extents = (tsr_extents){.rank = 5, .sizes = w->shape};
    for (size_t i = 0; i < 4; i++) {
        w->extents_list[i] = w->extents;
        w->ends[i] = (tsr_end){.kind = TSR_R, .dim = TSR_NO_DIM};
        w->axis_types[i] = (tsr_axis_type){.kind = TSR_R};
        w->spec_dims[i] = (tsr_spec_dim){0};
    }
    w->far_end = (tsr_end){.kind = TSR_V, .dim = INT64_MAX};
    w->link = (tsr_link){1e-6, 1e-9, 1e-9, 1e-9};
    w->no_request.id = UINT64_MAX;
    w->no_tensor = (tsr_ir_tensor){.value = 0, .func = 12345, .index = SIZE_MAX};
    w->strange = "\xff%s{\"x\"=-99999999999999999999, [[[((<>";
}

static void make_structs(walk *w)
{
    w->text = tsr_text_of("walk", "[{\"x\"}, {}]");
    w->view = (tsr_view){.data = w->data, .dtype = TSR_F32, .rank = 2, .shape = w->shape};
    w->view_out = (tsr_view){.data = w->data_out, .dtype = TSR_F32, .rank = 2, .shape = w->shape};
    w->double_view = w->view;
    w->double_view.shape = w->double_shape;
    w->double_out = w->view_out;
    w->double_out.shape = w->double_shape;
    w->part = w->view;
    w->part.shape = w->part_shape;
    w->part_out = w->view_out;
    w->part_out.shape = w->part_shape;
    w->index_extents = (tsr_extents){.rank = 2, .sizes = w->index_shape};
    w->program_text = tsr_text_of("walk", program_text);
    w->spec =
        (tsr_tensor_spec){.sharding = w->sharding, .dtype = TSR_F32, .rank = 2, .shape = w->shape};
    w->replicated_spec = w->spec;
    w->replicated_spec.sharding = w->replicated;
    w->typed_shape =
        (tsr_typed_shape){.type = w->type, .dtype = TSR_F32, .rank = 2, .shape = w->shape};
    w->pending_shape = w->typed_shape;
    w->pending_shape.type = w->pending_type;
    w->typed_call = (tsr_typed_call){
        .name = "walk", .mesh = w->mesh, .num_operands = 1, .operands = &w->typed_shape};
    w->type_spec = (tsr_type_spec){
        .mesh = w->mesh, .axes = w->axis_types, .has_spec = true, .rank = 2, .dims = w->spec_dims};
    w->transition = (tsr_transition){.op = TSR_ALL_REDUCE,
                                     .src = {.kind = TSR_P, .dim = TSR_NO_DIM},
                                     .dst = {.kind = TSR_R, .dim = TSR_NO_DIM}};
    w->mutation = (tsr_mutation){.from = {.kind = TSR_R}, .to = {.kind = TSR_I}};
    w->strided_axis =
        (tsr_strided_axis){.pairs = w->strides, .num_pairs = 2, .type = {.kind = TSR_R}};
    w->strided_type = (tsr_strided_type){.num_axes = 1, .axes = &w->strided_axis};
    w->wire = (tsr_wire_request){.input = TSR_F32};
    w->reader = (tsr_sharding_reader){.mesh = w->mesh, .reading = TSR_READ_LENIENT, .rank = -1};
    w->layout_reader = (tsr_layout_reader){.sharding = w->reader};
    w->layout_reader.sharding.rank = 2;
    w->sharding_dims[0] = tsr_dim_closed(w->axes, 1);
    w->sharding_dims[1] = tsr_dim_closed(NULL, 0);
    w->sharding_spec = (tsr_sharding_spec){.mesh = w->mesh, .rank = 2, .dims = w->sharding_dims};
    w->axis_names[0] = "x";
    w->axis_names[1] = "y";
    w->mesh_spec =
        (tsr_mesh_spec){.num_axes = 2, .axis_names = w->axis_names, .axis_sizes = w->shape};
    w->factors[0] = (tsr_factor){.size = 4};
    w->factors[1] = (tsr_factor){.size = 4};
    w->factor_numbers[0] = 0;
    w->factor_numbers[1] = 1;
    w->rule_dims[0] = (tsr_rule_dim){&w->factor_numbers[0], 1};
    w->rule_dims[1] = (tsr_rule_dim){&w->factor_numbers[1], 1};
    w->rule_tensor = (tsr_rule_tensor){w->rule_dims, 2};
    w->rule_spec = (tsr_rule_spec){.factors = w->factors,
                                   .num_factors = 2,
                                   .operands = &w->rule_tensor,
                                   .num_operands = 1,
                                   .results = &w->rule_tensor,
                                   .num_results = 1};
    static const int64_t sizes[] = {3, 1};
    w->ragged_dim = (tsr_ragged){.kind = TSR_RAGGED_DYNAMIC, .rows = 2, .sizes = sizes};
    w->propagation = (tsr_propagation){.rule = w->rule};
    w->propagation_on_mesh = (tsr_propagation){.rule = w->rule, .mesh = w->mesh};
    static const int64_t bytes[] = {64, 64, 64};
    w->alignment =
        (tsr_alignment){.rule = w->rule, .mesh = w->mesh, .operands = w->shardings, .bytes = bytes};
    w->decision = (tsr_decision){.axes = w->axes, .num_axes = 1};
    w->diagnostic = (tsr_diagnostic){.severity = TSR_ERROR, .text = "text"};
    w->dot_dims = (tsr_dot_dims){
        .num_contracting = 1, .lhs_contracting = &w->dims[1], .rhs_contracting = &w->dims[0]};
    w->slices_dims = (tsr_slices_dims){.dims = {.num_offset = 1,
                                                .offset_dims = &w->dims[1],
                                                .num_collapsed = 1,
                                                .collapsed_dims = &w->dims[0],
                                                .index_vector_dim = 1},
                                       .num_indexed = 1,
                                       .start_index_map = &w->dims[0]};
    w->tensor_slices = w->slices_dims;
    w->convolution_dims = (tsr_convolution_dims){.input_feature = 1,
                                                 .kernel_output_feature = 1,
                                                 .output_feature = 1,
                                                 .feature_group_count = 1,
                                                 .batch_group_count = 1};
    w->step_spec = (tsr_step_spec){.kind = TSR_STEP_DIRECT, .dst = w->geometry};
    w->amounts = (tsr_amounts){.kind = TSR_AMOUNTS_ALL, .values = sizes, .count = 2};
    w->placement = (tsr_placement){.sharding = w->unbound_sharding, .amounts = &w->amounts};
    static const int64_t counts[] = {1, 1, 1, 1};
    w->part_amounts = (tsr_amounts){.kind = TSR_AMOUNTS_ALL, .values = counts, .count = 4};
    w->parts = (tsr_placement){.sharding = w->parted_unbound, .amounts = &w->part_amounts};
    w->whole_parts = (tsr_placement){.sharding = w->parted_sharding};
    w->partitioned_spec = (tsr_partitioned_spec){
        .sharding = w->sharding, .num_partitions = 2, .splits = {TSR_AMOUNTS_OWN, counts, 2, NULL}};
    w->int_spec = w->spec;
    w->int_spec.dtype = TSR_I32;
    w->bits_spec = w->spec;
    w->bits_spec.dtype = TSR_U32;
    w->custom_op = (tsr_custom_op){.name = "walk", .backward = walk_back};
    w->spmd_scope = (tsr_spmd_scope){.mesh = w->mesh};
    w->types_text[0] = w->types_text[1] = "f32[4,4]{x:R}";
    w->local_region = (tsr_local_region){.region = walk_region,
                                         .inputs = w->tensors,
                                         .input_types = w->types_text,
                                         .num_inputs = 1,
                                         .output_types = w->types_text,
                                         .num_outputs = 1};
    w->launch_spec = (tsr_launch_spec){.num_ranks = 1};
}

/* A file of each kind that a call reads, for as long as the walk runs. */
static tsr_status make_files(walk *w)
{
    const char *header = NULL;
    size_t size = 0;
    TRY(tsr_npy_header(w->ctx, w->lasting, TSR_F32, 2, w->shape, &header, &size));
    char *npy = tsr_arena_alloc(w->lasting, size + 16 * sizeof(float));
    if (npy == NULL) {
        return TSR_ERR_NOMEM;
    }
    memcpy(npy, header, size);
    memcpy(npy + size, w->data, 16 * sizeof(float));
    w->npy = npy;
    w->npy_size = size + 16 * sizeof(float);
    (void)snprintf(w->npy_path, sizeof w->npy_path, "/tmp/tessera-walk-%d.npy", (int)getpid());
    (void)snprintf(w->program_path, sizeof w->program_path, "/tmp/tessera-walk-%d-%d.mlir",
                   (int)getpid(), (int)tsr_comm_rank(w->world));
    TRY(tsr_tensor_save_npy(w->x, w->npy_path));
    TRY(tsr_array_file_open(w->ctx, w->lasting, w->npy_path, &w->array_file));
    w->named_view = (tsr_named_view){"x", w->view};
    FILE *file = fopen(w->program_path, "w");
    const bool written = file != NULL && fputs(program_text, file) >= 0;
    return file != NULL && fclose(file) == 0 && written ? TSR_OK : TSR_ERR_INVALID;
}

tsr_status values_make(walk *w)
{
    w->rooms = malloc((size_t)WALK_ROOMS * WALK_ROOM_BYTES);
    w->long_text = malloc(1 << 16);
    w->stream = fopen("/dev/null", "w");
    if (w->rooms == NULL || w->long_text == NULL || w->stream == NULL) {
        return TSR_ERR_NOMEM;
    }
    memset(w->long_text, 'a', (1 << 16) - 1);
    const tsr_launch_spec one = {
        .num_ranks = 1, .ranks = TSR_RANKS_THREADS, .segment_bytes = 1 << 20};
    TRY(tsr_world_open(w->ctx, &one, &w->open_world));
    w->long_text[(1 << 16) - 1] = '\0';
    TRY(tsr_arena_create(w->ctx, &w->lasting));
    TRY(tsr_arena_create(w->ctx, &w->arena));
    make_numbers(w);
    TRY(make_shardings(w));
    TRY(make_rules(w));
    make_structs(w);
    TRY(make_program(w));
    TRY(make_tensors(w));
    make_structs(w);
    TRY(make_files(w));
    return make_typed(w);
}

void values_renew(walk *w)
{
    tsr_arena_reset(w->arena, (tsr_arena_mark){0});
    memcpy(w->strides_room, w->strides, sizeof w->strides);
    w->transition_room = w->transition;
    w->wire = (tsr_wire_request){.input = TSR_F32};
}

tsr_text *walk_text(walk *w, const char *text)
{
    w->text_room = tsr_text_of("walk", text);
    return &w->text_room;
}

tsr_mesh_table *walk_table(walk *w)
{
    tsr_mesh_table *table = NULL;
    return tsr_mesh_table_create(w->ctx, w->arena, &table) == TSR_OK ? table : NULL;
}

tsr_status walk_back(tsr_comm *world, void *state, tsr_tensor *const *inputs,
                     tsr_tensor *const *cotangents, tsr_tensor **gradients)
{
    (void)world;
    (void)state;
    (void)inputs;
    (void)cotangents;
    gradients[0] = NULL;
    return TSR_OK;
}

tsr_axis_list *walk_axis_list(walk *w)
{
    w->axis_list = (tsr_axis_list){.refs = w->axes_room, .capacity = 8};
    return &w->axis_list;
}

void values_set_typed(walk *w, bool typed)
{
    if (w->typed && !typed) {
        tsr_spmd_close(w->world);
    } else if (!w->typed && typed && tsr_spmd_open(w->world, &w->spmd_scope) < 0) {
        abort();
    }
    w->typed = typed;
}

void values_free(walk *w)
{
    values_set_typed(w, false);
    w->failures += tsr_world_close(w->open_world) != TSR_OK;
    tsr_tensor *const tensors[] = {w->x,
                                   w->whole,
                                   w->scalar,
                                   w->ragged,
                                   w->integers,
                                   w->truths_tensor,
                                   w->abstract_x,
                                   w->pending,
                                   w->varying,
                                   w->invariant,
                                   w->row,
                                   w->y,
                                   w->z,
                                   w->varying_two,
                                   w->sharded_value,
                                   w->alike,
                                   w->local_integers,
                                   w->local_number,
                                   w->ints,
                                   w->parted,
                                   w->aligned,
                                   w->summands};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        tsr_tensor_release(tensors[i]);
    }
    tsr_conversion_release(w->conversion);
    tsr_partitioned_release(w->partitioned);
    (void)remove(w->npy_path);
    (void)remove(w->program_path);
    (void)remove(w->strange); /* tsr_tensor_save_npy has made it */
    tsr_outputs_destroy(w->outputs);
    tsr_interpreter_destroy(w->interpreter);
    tsr_explanation_destroy(w->explanation);
    tsr_program_destroy(w->program);
    tsr_arena_destroy(w->arena);
    tsr_arena_destroy(w->lasting);
    (void)fclose(w->stream);
    free(w->rooms);
    free(w->long_text);
}
