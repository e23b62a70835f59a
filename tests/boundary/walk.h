/*
 * The walk over all public functions: each is called with valid arguments, then with each argument
 * wrong in turn, then with valid ones again. The calls (walk_rows) are made by walk.awk out of the
 * headers and the values of values.txt, which are fields of `walk`.
 */
#ifndef WALK_H
#define WALK_H

#include <math.h>
#include <stdio.h>

#include <tessera/dlpack.h>
#include <tessera/tessera.h>

enum { WALK_ROOMS = 16, WALK_ROOM_BYTES = 512, WALK_NUMBERS = 64 };

typedef enum walk_expectation {
    WALK_SURVIVES,         /* any status; a failure has a message */
    WALK_REFUSED,          /* TSR_ERR_INVALID, the argument is named, outputs are untouched */
    WALK_REFUSED_SILENTLY, /* the same where there is no context for a message */
    WALK_SUCCEEDS,
    WALK_FAILS
} walk_expectation;

typedef struct walk {
    /* The step that is under way. */
    const char *function;
    bool typed; /* in a scope of types */
    int64_t step;
    bool ended;
    walk_expectation expectation;
    const char *what;
    char *rooms;
    size_t rooms_used;
    size_t steps;
    size_t failures;

    tsr_context *ctx;
    tsr_arena *lasting; /* of the values */
    tsr_arena *arena;   /* of one step */
    tsr_comm *world;
    tsr_comm *group;
    tsr_comm *abstract_world;
    tsr_world *open_world;
    tsr_context *abstract_ctx;

    const tsr_mesh *mesh;
    const tsr_mesh *other_mesh;
    const tsr_mesh *empty_mesh;
    const tsr_mesh *maximal_mesh;
    const tsr_sharding *sharding;
    const tsr_sharding *other_sharding;
    const tsr_sharding *scalar_sharding;
    const tsr_sharding *maximal_sharding;
    const tsr_sharding *open_sharding;
    const tsr_sharding *ragged_sharding;
    const tsr_sharding *unbound_sharding;
    const tsr_sharding *replicated;
    const tsr_sharding *shardings[4];
    const tsr_geometry *geometry;
    const tsr_geometry *other_geometry;
    const tsr_plan *plan;
    const tsr_rule *rule;
    const tsr_rule *other_rule;
    const tsr_type *type;
    const tsr_type *other_type;
    const tsr_type *types[4];
    const tsr_groups *groups;
    const tsr_devices *devices;
    tsr_mesh_table *table;
    tsr_program *program;
    tsr_interpreter *interpreter;
    const tsr_array_file *array_file;
    const tsr_topology *topology;
    tsr_topology_spec topology_spec;
    const tsr_route *route;
    tsr_named_view named_view;
    tsr_explanation *explanation;
    tsr_outputs *outputs;
    tsr_conversion *conversion;
    tsr_partitioned *partitioned;

    tsr_tensor *x;        /* f32[4,4] cut along x */
    tsr_tensor *whole;    /* f32[4,4] */
    tsr_tensor *scalar;   /* f32[] */
    tsr_tensor *ragged;   /* f32[4,4] in rows of explicit sizes */
    tsr_tensor *integers; /* i32[4] from 0 to 3 */
    tsr_tensor *truths_tensor;
    tsr_tensor *row;      /* f32[4] */
    tsr_tensor *ints;     /* i32[4,4] */
    tsr_tensor *parted;   /* f32[4,4], rows of two partitions */
    tsr_tensor *aligned;  /* the same, aligned */
    tsr_tensor *summands; /* f32[4,4], a sum pending */
    tsr_tensor *y;        /* as x */
    tsr_tensor *abstract_x;
    tsr_tensor *other_x; /* of another world */
    tsr_tensor *tensors[4];
    tsr_tensor *pending; /* typed: f32[4,4]{x:P} */
    tsr_tensor *varying; /* typed: f32[4,4]{x:V} */
    tsr_tensor *varyings[2];
    tsr_tensor *local_integers; /* typed: i32[4]{x:R} */
    tsr_tensor *local_number;   /* typed: f32[]{x:R} */
    tsr_tensor *sharded_value;  /* typed: f32[4@x,4] */
    tsr_tensor *alike;          /* typed: f32[4,4]{x:R} */
    tsr_tensor *varying_two;    /* typed: f32[2,4]{x:V} */
    tsr_tensor *invariant;      /* typed: f32[4,4]{x:I} */

    float data[64];
    float data_out[64];
    int64_t double_shape[2];
    int64_t part_shape[2];
    int64_t index_shape[2];
    int64_t zeros[WALK_NUMBERS];
    int64_t ones[WALK_NUMBERS];
    int64_t halves[2];
    int64_t row_sizes[2];
    int64_t turns[2];
    tsr_view double_view;
    tsr_view double_out;
    tsr_view part;
    tsr_view part_out;
    tsr_tensor_spec bits_spec;
    tsr_extents index_extents;
    const char *npy;
    size_t npy_size;
    char npy_path[64];
    char program_path[64];
    tsr_text program_text;
    const tsr_mesh *named_mesh;
    const tsr_sharding *open_empty;
    const tsr_type *invariant_type;
    const tsr_type *pending_type;
    const tsr_type *varying_type;
    tsr_typed_shape pending_shape;
    tsr_propagation propagation_on_mesh;
    tsr_slices_dims tensor_slices;
    int64_t shape[WALK_NUMBERS];
    int64_t negative[WALK_NUMBERS];
    int64_t greatest[WALK_NUMBERS];
    size_t far[WALK_NUMBERS];
    size_t dims[WALK_NUMBERS];
    bool truths[WALK_NUMBERS];
    const char *strange;
    FILE *stream; /* to nowhere */
    char *long_text;
    tsr_axis_ref axes[2];
    tsr_axis_ref axes_room[8];
    tsr_axis_ref far_axis;
    tsr_axis_ref negative_axis;
    tsr_axis_ref odd_axis;
    tsr_axis_list axis_list;
    tsr_stride strides[2];
    tsr_stride strides_room[2];
    tsr_extents extents;
    tsr_extents negative_extents;
    tsr_extents huge_extents;
    tsr_extents many_extents;
    tsr_extents extents_list[4];
    tsr_end ends[4];
    tsr_end far_end;
    tsr_text text;
    tsr_text text_room;
    tsr_view view;
    tsr_view view_out;
    tsr_tensor_spec spec;
    tsr_tensor *z;
    tsr_sgd_options sgd_options;
    tsr_adam_options adam_options;
    tsr_tensor_spec replicated_spec;
    tsr_link link;
    tsr_algorithm_settings settings;
    tsr_typed_shape typed_shape;
    tsr_typed_call typed_call;
    tsr_type_spec type_spec;
    tsr_axis_type axis_types[4];
    tsr_spec_dim spec_dims[4];
    tsr_transition transition;
    tsr_transition transition_room;
    tsr_mutation mutation;
    tsr_strided_axis strided_axis;
    tsr_strided_type strided_type;
    tsr_wire_request wire;
    tsr_sharding_reader reader;
    tsr_layout_reader layout_reader;
    tsr_sharding_spec sharding_spec;
    tsr_dim sharding_dims[2];
    tsr_mesh_spec mesh_spec;
    const char *axis_names[2];
    tsr_rule_spec rule_spec;
    tsr_factor factors[2];
    size_t factor_numbers[2];
    tsr_rule_dim rule_dims[2];
    tsr_rule_tensor rule_tensor;
    tsr_ragged ragged_dim;
    tsr_propagation propagation;
    tsr_alignment alignment;
    tsr_decision decision;
    tsr_diagnostic diagnostic;
    tsr_provenance provenance;
    tsr_check_options check_options;
    tsr_pass_options pass_options;
    tsr_interpreter_options interpreter_options;
    tsr_dot_dims dot_dims;
    tsr_slices_dims slices_dims;
    tsr_convolution_dims convolution_dims;
    tsr_step_spec step_spec;
    tsr_placement placement;
    tsr_amounts amounts;
    tsr_partitioned_spec partitioned_spec;
    tsr_placement parts;
    tsr_placement whole_parts;
    tsr_amounts part_amounts;
    tsr_tensor_spec int_spec;
    const tsr_sharding *parted_sharding;
    const tsr_sharding *aligned_sharding;
    const tsr_sharding *parted_unbound;
    const tsr_sharding *pending_sharding;
    tsr_custom_op custom_op;
    tsr_spmd_scope spmd_scope;
    tsr_local_region local_region;
    const char *types_text[2];
    tsr_collective_options collective_options;
    tsr_typed_number number;
    tsr_launch_spec launch_spec;
    tsr_request no_request;
    tsr_request request;
    tsr_started started;
    tsr_ir_tensor no_tensor;
    tsr_ir_op plain_op;
    tsr_ir_value argument;
    tsr_ir_block block;
    tsr_ir_region region;
    tsr_ir_attr attribute;
} walk;

#define WALK_END(of) ((tsr_end){.kind = (of), .dim = TSR_NO_DIM})

typedef struct walk_row {
    const char *name;
    void (*run)(walk *w);
} walk_row;
extern const walk_row walk_rows[];
extern const size_t walk_num_rows;

/* The steps of a function: with nothing changed, then each change, then with nothing changed. */
#define WALK_STEPS(w, name, is_typed) for (walk_begin(w, name, is_typed); walk_next(w);)
void walk_begin(walk *w, const char *function, bool typed);
bool walk_next(walk *w);
int64_t walk_step(walk *w);
void walk_expect(walk *w, walk_expectation expectation, const char *what);
void walk_check(walk *w, tsr_status status, bool silent, bool has_status);

/* Frees what a call made, if it succeeded and wrote it. */
void walk_release_tensors(walk *w, tsr_status status, tsr_tensor **made);
void walk_release_program(walk *w, tsr_status status, tsr_program **made);
void walk_release_explanation(walk *w, tsr_status status, tsr_explanation **made);
void walk_release_interpreter(walk *w, tsr_status status, tsr_interpreter **made);
void walk_release_world(walk *w, tsr_status status, tsr_world **made);
void walk_release_outputs(walk *w, tsr_status status, tsr_outputs **made);
void walk_release_partitioned(walk *w, tsr_status status, tsr_partitioned **made);
void walk_release_conversion(walk *w, tsr_status status, tsr_conversion **made);
void walk_release_request(walk *w, tsr_status status, tsr_comm *comm, tsr_request *made);
void walk_release_started(walk *w, tsr_status status, tsr_started *made);
void walk_release_dlpack(walk *w, tsr_status status, struct DLManagedTensor **made);

/* Memory for an output, filled with a pattern. */
void *walk_room(walk *w);

tsr_text *walk_text(walk *w, const char *text);
tsr_axis_list *walk_axis_list(walk *w);
tsr_mesh_table *walk_table(walk *w);
tsr_status walk_back(tsr_comm *world, void *state, tsr_tensor *const *inputs,
                     tsr_tensor *const *cotangents, tsr_tensor **gradients);

/* Callbacks that do nothing much. */
tsr_status walk_nothing(tsr_comm *world, void *state);
void walk_log(void *state, const tsr_diagnostic *diagnostic);
tsr_status walk_region(tsr_comm *world, tsr_tensor *const *inputs, tsr_tensor **outputs,
                       void *state);
bool walk_write(void *state, const char *bytes, size_t count);
void walk_element(const int64_t *index, void *element, void *state);

#endif
