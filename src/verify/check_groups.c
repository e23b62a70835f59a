/* The rules of collectives: replica groups, pairs and channels. */
#include <string.h>

#include "base/arena.h"
#include "verify/check.h"
#include "verify/check_ops.h"

/* ---- replica groups ---- */

/* The checks of groups besides that each id occurs once. */
typedef struct group_rules {
    bool skips_missing; /* -1 stands for no device */
    bool not_empty;     /* with global ids there is a group */
    int64_t size;       /* of each group; 0: any */
} group_rules;

static tsr_status check_ids(const ir_check *k, numbers ids, bool skips)
{
    bool *seen = ARENA_ARRAY(k->p->scratch, bool, ids.count + 1);
    size_t present = 0;
    if (seen == NULL) {
        return diag_nomem(k->ctx);
    }
    memset(seen, 0, (ids.count + 1) * sizeof *seen);
    for (size_t i = 0; i < ids.count; i++) {
        const int64_t id = ids.values[i];
        if (id == -1 && skips) {
            continue;
        }
        if (id == -1) {
            return refuse(k, "Invalid replica id -1");
        }
        present++;
        const bool listed = id >= 0 && (uint64_t)id < ids.count;
        for (size_t j = 0; j < i && !listed; j++) {
            if (ids.values[j] == id) {
                return refuse(k, "replica id #%lld seen more than once", (long long)id);
            }
        }
        if (listed && seen[id]) {
            return refuse(k, "replica id #%lld seen more than once", (long long)id);
        }
        if (listed) {
            seen[id] = true;
        }
    }
    for (size_t i = 0; i < present; i++) {
        if (!seen[i]) {
            return refuse(k, "replica id #%zu not seen in replica groups", i);
        }
    }
    return TSR_OK;
}

/* Groups along axes of a mesh are checked where they are read. */
static tsr_status check_groups(const ir_check *k, group_rules rules)
{
    const uint32_t attr = op_property(k->p, k->op, "replica_groups");
    const numbers ids = attr_as_numbers(k, attr);
    if (!ids.given) {
        return TSR_OK;
    }
    const type_head *type = program_type(k->p, program_attr(k->p, attr)->type);
    if (type->count != 2) {
        return refuse(k, "replica groups should be a rank 2 tensor");
    }
    if (rules.not_empty && ids.count == 0) {
        return refuse(k, "if `use_global_device_ids` is set, the replica groups cannot be empty");
    }
    TSR_TRY(check_ids(k, ids, rules.skips_missing));
    return rules.size == 0 || type_extents(type)[1] == rules.size
               ? TSR_OK
               : refuse(k, "group size of replica_groups must be %lld", (long long)rules.size);
}

static int64_t channel_field(const ir_check *k, const char *field, int64_t otherwise)
{
    int64_t value = otherwise;
    (void)attr_as_integer(k->p, op_field_attr(k, "channel_handle", field), &value);
    return value;
}

static bool has_global_ids(const ir_check *k)
{
    return op_property(k->p, k->op, "use_global_device_ids") != 0;
}

static tsr_status check_channel(const ir_check *k)
{
    const int64_t id = channel_field(k, "handle", 0);
    return !has_global_ids(k) || id > 0
               ? TSR_OK
               : refuse(k,
                        "channel_id must be positive when useGlobalDeviceIds is set but got: %lld",
                        (long long)id);
}

/* ---- ops ---- */

static tsr_status check_gathered(const ir_check *k, size_t i, int64_t dim)
{
    const type_head *from = operand(k, i);
    const type_head *to = result(k, i);
    if (dim >= from->count) {
        return refuse(k, "all_gather_dim must be a valid index of operand");
    }
    if (from->count != to->count) {
        return refuse(k, "operand and result must have the same rank");
    }
    const int64_t part = type_extents(from)[dim];
    const int64_t whole = type_extents(to)[dim];
    if (part == 0) {
        return refuse(k, "dimension size of operand at 'all_gather_dim' cannot be zero");
    }
    for (uint32_t d = 0; d < from->count; d++) {
        if (d != dim && !extents_agree(type_extents(from)[d], type_extents(to)[d])) {
            return refuse(k,
                          "operand and result should have the same shape except for the dimension "
                          "size at 'all_gather_dim'");
        }
    }
    return part == TSR_UNKNOWN || whole == TSR_UNKNOWN || whole % part == 0
               ? TSR_OK
               : refuse(k,
                        "result gather dimension has size %lld, expected to be a multiple of "
                        "operand gather dimension size %lld",
                        (long long)whole, (long long)part);
}

tsr_status check_all_gather(const ir_check *k)
{
    TSR_TRY(check_groups(k, (group_rules){.not_empty = has_global_ids(k)}));
    if (has_global_ids(k) && channel_field(k, "handle", 1) < 0) {
        return refuse(k, "channel_id cannot be negative when useGlobalDeviceIds is set");
    }
    for (size_t i = 0; i < num_operands(k); i++) {
        TSR_TRY(check_gathered(k, i, op_integer(k, "all_gather_dim", 0)));
    }
    return TSR_OK;
}

/* The reducer of a collective: on scalars of the element type of each operand. */
static tsr_status check_combiner(const ir_check *k, size_t i)
{
    uint32_t scalar = 0;
    TSR_TRY(type_tensor(k->p, NULL, 0, operand(k, i)->element, 0, &scalar));
    const uint32_t input = operand_type(k, i);
    const reducer r = {.count = 1, .inputs = &input, .inits = &scalar, .has_window = true};
    return check_reducer(k, &r);
}

tsr_status check_all_reduce(const ir_check *k)
{
    TSR_TRY(check_groups(k, (group_rules){.skips_missing = true, .not_empty = has_global_ids(k)}));
    TSR_TRY(check_channel(k));
    for (size_t i = 0; i < num_operands(k); i++) {
        TSR_TRY(check_combiner(k, i));
    }
    return TSR_OK;
}

tsr_status infer_all_reduce(const ir_check *k, inferred_types *out)
{
    region_parts parts;
    TSR_TRY(region_parts_of(k, 0, &parts));
    for (size_t i = 0; i < num_operands(k); i++) {
        const type_head *type = operand(k, i);
        uint32_t made = 0;
        TSR_TRY(type_tensor(k->p, type_extents(type), type->count,
                            type_element(k->p, parts.returned[0]), type->encoding, &made));
        TSR_TRY(infer_one(k, made, out));
    }
    return TSR_OK;
}

static tsr_status check_scattered(const ir_check *k, int64_t dim)
{
    const type_head *from = operand(k, 0);
    const type_head *to = result(k, 0);
    if (from->count != to->count) {
        return refuse(k, "operand and result should have same rank");
    }
    if (dim >= from->count) {
        return refuse(k, "scatter dim should be less than operand/result rank");
    }
    TSR_TRY(check_channel(k));
    const int64_t whole = type_extents(from)[dim];
    const int64_t part = type_extents(to)[dim];
    if (part == 0) {
        return refuse(k, "result dimension size at scatter_dimension cannot be zero");
    }
    if (whole == 0) {
        return refuse(k, "operand dimension size at scatter_dimension cannot be zero");
    }
    if (whole == TSR_UNKNOWN || part == TSR_UNKNOWN) {
        return TSR_OK;
    }
    if (whole % part != 0) {
        return refuse(
            k,
            "operand scatter dimension has size %lld, expected to be a multiple of result "
            "scatter dimension size %lld",
            (long long)whole, (long long)part);
    }
    for (uint32_t d = 0; d < from->count; d++) {
        const int64_t a = type_extents(from)[d];
        const int64_t b = type_extents(to)[d];
        if (d != dim && !extents_agree(a, b)) {
            return refuse(k,
                          "non scatter dimensions should be same for operand (%lld) and result "
                          "(%lld)",
                          (long long)a, (long long)b);
        }
    }
    return TSR_OK;
}

tsr_status check_reduce_scatter(const ir_check *k)
{
    region_parts parts;
    TSR_TRY(check_groups(k, (group_rules){.not_empty = has_global_ids(k)}));
    TSR_TRY(check_combiner(k, 0));
    TSR_TRY(check_scattered(k, op_integer(k, "scatter_dimension", 0)));
    TSR_TRY(region_parts_of(k, 0, &parts));
    const uint32_t wanted = type_element(k->p, parts.returned[0]);
    return result(k, 0)->element == wanted
               ? TSR_OK
               : refuse(k, "result element-type is expected to be '%s', but got '%s'",
                        type_words(k, wanted), type_words(k, result(k, 0)->element));
}

tsr_status infer_all_to_all(const ir_check *k, inferred_types *out)
{
    static const char *const names[] = {"split_dimension", "concat_dimension"};
    const int64_t count = op_integer(k, "split_count", 1);
    const int64_t dims[] = {op_integer(k, names[0], 0), op_integer(k, names[1], 0)};
    TSR_TRY(check_groups(k, (group_rules){.size = count}));
    for (size_t i = 0; i < num_operands(k); i++) {
        const type_head *type = operand(k, i);
        for (size_t n = 0; n < 2; n++) {
            if (dims[n] >= type->count) {
                return refuse(k, "AllToAll %s %lld is out-of-bounds for input rank %u", names[n],
                              (long long)dims[n], type->count);
            }
        }
        int64_t *extents = ARENA_ARRAY(k->p->scratch, int64_t, type->count + 1);
        if (extents == NULL) {
            return diag_nomem(k->ctx);
        }
        memcpy(extents, type_extents(type), type->count * sizeof *extents);
        const int64_t size = extents[dims[0]];
        if (size != TSR_UNKNOWN && size % count != 0) {
            return refuse(k,
                          "split dimension has size %lld, expected to be a multiple of split_count "
                          "%lld",
                          (long long)size, (long long)count);
        }
        extents[dims[0]] = size == TSR_UNKNOWN ? size : size / count;
        if (extents[dims[1]] != TSR_UNKNOWN) {
            extents[dims[1]] *= count;
        }
        TSR_TRY(infer_tensor(k, extents, type->count, type->element, out));
    }
    return TSR_OK;
}

/* Several operands, the last of them the root, are of a later version: only results are compared.
 */
tsr_status infer_collective_broadcast(const ir_check *k, inferred_types *out)
{
    for (size_t i = 0; i < num_results(k) && i < num_operands(k); i++) {
        TSR_TRY(infer_one(k, operand_type(k, i), out));
    }
    return TSR_OK;
}

tsr_status check_collective_broadcast(const ir_check *k)
{
    if (num_operands(k) == 1 && num_results(k) == 1 &&
        operand(k, 0)->element != result(k, 0)->element) {
        return op_error(k->ctx, k->p, k->op,
                        "requires the same element type for all operands and results");
    }
    const uint32_t attr = op_property(k->p, k->op, "replica_groups");
    const numbers ids = attr_as_numbers(k, attr);
    if (!ids.given) {
        return TSR_OK;
    }
    const type_head *type = program_type(k->p, program_attr(k->p, attr)->type);
    if (type->count != 2) {
        return refuse(k, "replica groups should be a rank 2 tensor,but instead it is of rank %u",
                      type->count);
    }
    for (size_t i = 0; i < ids.count; i++) {
        if (ids.values[i] < 0) {
            return refuse(k, "replica_groups values must be positive, but was given %lld",
                          (long long)ids.values[i]);
        }
        for (size_t j = 0; j < i; j++) {
            if (ids.values[j] == ids.values[i]) {
                return refuse(k, "replica id #%lld seen more than once", (long long)ids.values[i]);
            }
        }
    }
    return TSR_OK;
}

tsr_status check_collective_permute(const ir_check *k)
{
    const uint32_t attr = op_property(k->p, k->op, "source_target_pairs");
    const numbers ids = attr_as_numbers(k, attr);
    if (!ids.given) {
        return TSR_OK;
    }
    const type_head *type = program_type(k->p, program_attr(k->p, attr)->type);
    if (type->count != 2) {
        return refuse(k, "expect source_target_pairs attribute to be of rank 2, but got rank %u",
                      type->count);
    }
    if (type_extents(type)[1] != 2) {
        return refuse(k, "expect source_target_pairs attribute of shape (N, 2), but got (%s)",
                      words_of_shape(type).text);
    }
    for (size_t i = 0; i < ids.count; i++) {
        if (ids.values[i] < 0) {
            return refuse(k, "replica ids in source_target_pairs must be >= 0.");
        }
        for (size_t j = i % 2; j < i; j += 2) {
            if (ids.values[j] == ids.values[i]) {
                return refuse(k, "duplicate %s not allowed.", i % 2 == 0 ? "sources" : "targets");
            }
        }
    }
    return TSR_OK;
}

/* ---- transfers ---- */

static tsr_status check_channel_type(const ir_check *k, int64_t host, const char *words)
{
    const bool is_host = op_bool(k, "is_host_transfer");
    const int64_t type = channel_field(k, "type", 0);
    if (is_host && type != host) {
        return refuse(k, "channel_type should be %s when is_host_transfer is true", words);
    }
    return is_host || type == 1
               ? TSR_OK
               : refuse(k,
                        "channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false");
}

tsr_status infer_send(const ir_check *k, inferred_types *out)
{
    TSR_TRY(check_channel_type(k, 2, "DEVICE_TO_HOST"));
    return infer_token(k, out);
}

tsr_status check_recv(const ir_check *k)
{
    const size_t n = num_results(k);
    TSR_TRY(check_channel_type(k, 3, "HOST_TO_DEVICE"));
    if (n == 0) {
        return refuse(k, "result is expected to be at least of size 1, but got 0");
    }
    for (size_t i = 0; i + 1 < n; i++) {
        if (!type_is(k->p, result_type(k, i), TYPE_TENSOR)) {
            return refuse(k,
                          "everything but the last element of result types is expected to be of "
                          "tensor type, but got '%s'",
                          type_words(k, result_type(k, i)));
        }
    }
    return type_is(k->p, result_type(k, n - 1), TYPE_TOKEN)
               ? TSR_OK
               : refuse(k,
                        "last element of result types is expected to be of token type, but got "
                        "'%s'",
                        type_words(k, result_type(k, n - 1)));
}

/* Layouts of what is fed, without the token: each a permutation. */
static tsr_status check_layouts(const ir_check *k, const attr_head *list)
{
    if (list->count != num_results(k) - 1) {
        return refuse(k,
                      "layout-attribute size must be %zu (which is the number of op-results - 1 "
                      "(for token result)), but got %u",
                      num_results(k) - 1, list->count);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (!attr_is(k->p, attr_list(list)[i], ATTR_ARRAY)) {
            return refuse(k, "layout-attribute expected to have elements of type array, but got %s",
                          attr_string_of(k->ctx, k->p, attr_list(list)[i]));
        }
    }
    return TSR_OK;
}

tsr_status check_infeed(const ir_check *k)
{
    const size_t n = num_results(k);
    const uint32_t layout = op_property(k->p, k->op, "layout");
    if (n == 0) {
        return refuse(k, "result is expected to be at least of size 1, but got 0");
    }
    if (!type_is(k->p, result_type(k, n - 1), TYPE_TOKEN)) {
        return refuse(k,
                      "last element of result types is expected to be of token type, but got '%s'",
                      type_words(k, result_type(k, n - 1)));
    }
    for (size_t i = 0; i + 1 < n; i++) {
        if (!type_is(k->p, result_type(k, i), TYPE_TENSOR)) {
            return refuse(k,
                          "all elements of result types, except the last element, are expected to "
                          "be of tensor type, but got '%s'",
                          type_words(k, result_type(k, i)));
        }
    }
    return attr_is(k->p, layout, ATTR_ARRAY) ? check_layouts(k, program_attr(k->p, layout))
                                             : TSR_OK;
}
