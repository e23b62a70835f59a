/* Syntaxes of stablehlo that no form describes. */
#include <string.h>

#include "base/arena.h"
#include "ir/elements.h"
#include "text/spell.h"

static uint32_t result_type(const tsr_program *p, uint32_t op)
{
    return value_type(p, program_op(p, op)->results);
}

static const attr_head *property(const printer *pr, uint32_t op, const char *name)
{
    const uint32_t attr = op_property(pr->program, op, name);
    return attr != 0 ? program_attr(pr->program, attr) : NULL;
}

/* ---- constant ---- */

/* `() <{value = ..}> {..} : () -> T`, for a value of another type than the result. */
static tsr_status read_typed_constant(parser *ps, op_reader *op)
{
    lex_next(&ps->lex);
    TSR_TRY(expect(ps, ')', "expected ')'"));
    if (accept(ps, '<')) {
        TSR_TRY(read_dict(ps, op));
        TSR_TRY(expect(ps, '>', "expected '>'"));
    }
    TSR_TRY(read_dict(ps, op));
    TSR_TRY(expect(ps, ':', "expected ':'"));
    return read_function_types(ps, op);
}

tsr_status constant_read(parser *ps, op_reader *op)
{
    uint32_t value = 0;
    if (at_kind(ps, '(')) {
        return read_typed_constant(ps, op);
    }
    TSR_TRY(read_dict(ps, op));
    const size_t at = ps->lex.current.at;
    TSR_TRY(read_attr(ps, &value));
    const attr_head *head = program_attr(ps->program, value);
    if (!attr_is_elements(ps->program, value)) {
        return error_at(ps, at, "custom op '%s' invalid kind of attribute specified",
                        op_kind_name(op->row->kind));
    }
    TSR_TRY(set_property(ps, op, "value", value));
    return add_type(ps, op, head->type);
}

void constant_print(printer *pr, uint32_t op)
{
    const uint32_t value = op_property(pr->program, op, "value");
    if (program_attr(pr->program, value)->type != result_type(pr->program, op)) {
        const ir_op *record = program_op(pr->program, op);
        put(pr, "() <");
        print_attr(pr, record->properties);
        put_char(pr, '>');
        if (record->attributes != 0) {
            put_char(pr, ' ');
            print_attr(pr, record->attributes);
        }
        put(pr, " : ");
        print_op_types(pr, op);
        return;
    }
    print_dict(pr, op, NULL);
    put_char(pr, ' ');
    print_attr(pr, value);
}

const char *constant_name(const tsr_program *p, uint32_t op, char *room, size_t size)
{
    (void)room;
    (void)size;
    const uint32_t element = type_element(p, result_type(p, op));
    return type_is(p, element, TYPE_INTEGER) ? "c" : "cst";
}

/* ---- composite ---- */

tsr_status composite_read(parser *ps, op_reader *op)
{
    slice name;
    uint32_t attr = 0;
    TSR_TRY(read_string(ps, &name));
    TSR_TRY(attr_string(ps->program, name.data, name.size, 0, &attr));
    TSR_TRY(set_property(ps, op, "name", attr));
    TSR_TRY(read_uses(ps, op));
    if (accept(ps, '(')) {
        do {
            TSR_TRY(read_region(ps, op, NULL, 0));
        } while (accept(ps, ','));
        TSR_TRY(expect(ps, ')', "expected ')'"));
    }
    return form_read(ps, op, "$D : $F");
}

void composite_print(printer *pr, uint32_t op)
{
    const ir_op *record = program_op(pr->program, op);
    put_char(pr, ' ');
    print_attr(pr, op_property(pr->program, op, "name"));
    put_char(pr, ' ');
    print_operands(pr, op, 0, record->num_operands);
    for (uint32_t i = 0; i < record->num_regions; i++) {
        put(pr, i == 0 ? " (" : ", ");
        print_region(pr, op_region_at(pr->program, op, i), true);
    }
    put(pr, record->num_regions > 0 ? ")" : "");
    form_print(pr, op, "$D : $F");
}

/* ---- dot_general ---- */

/* `name = [0] x [1]`: two lists. */
static tsr_status read_pair(parser *ps, const char *name, uint32_t *lists)
{
    TSR_TRY(lex_expect_word(&ps->lex, name));
    TSR_TRY(expect(ps, '=', "expected '='"));
    TSR_TRY(read_ints(ps, &lists[0]));
    TSR_TRY(lex_expect_word(&ps->lex, "x"));
    return read_ints(ps, &lists[1]);
}

tsr_status dot_general_read(parser *ps, op_reader *op)
{
    uint32_t fields[4] = {0};
    uint32_t dims = 0;
    TSR_TRY(form_read(ps, op, "$o, $o,"));
    TSR_TRY(attr_ints(ps->program, NULL, 0, &fields[0]));
    fields[1] = fields[0];
    if (at_kind(ps, TOKEN_WORD) && slice_is(token_text(ps), "batching_dims")) {
        TSR_TRY(read_pair(ps, "batching_dims", &fields[0]));
        TSR_TRY(expect(ps, ',', "expected ','"));
    }
    TSR_TRY(read_pair(ps, "contracting_dims", &fields[2]));
    TSR_TRY(attr_struct(ps->program, STRUCT_DOT, fields, 4, &dims));
    TSR_TRY(set_property(ps, op, "dot_dimension_numbers", dims));
    return form_read(ps, op,
                     "$?(, precision = $(precision_config))$?(, algorithm = "
                     "$(algorithm))$D : $F");
}

static void print_pair(printer *pr, const char *name, const attr_head *a, const attr_head *b)
{
    put(pr, name);
    print_ints(pr, a);
    put(pr, " x ");
    print_ints(pr, b);
}

void dot_general_print(printer *pr, uint32_t op)
{
    const attr_head *dims = property(pr, op, "dot_dimension_numbers");
    const attr_head *lists[4];
    for (size_t i = 0; i < 4; i++) {
        lists[i] = program_attr(pr->program, attr_list(dims)[i]);
    }
    form_print(pr, op, " $o, $o");
    if (lists[0]->count > 0 || lists[1]->count > 0) {
        print_pair(pr, ", batching_dims = ", lists[0], lists[1]);
    }
    print_pair(pr, ", contracting_dims = ", lists[2], lists[3]);
    form_print(pr, op,
               "$?(, precision = $(precision_config))$?(, algorithm = $(algorithm))$D : $F");
}

/* ---- optimization_barrier ---- */

tsr_status barrier_read(parser *ps, op_reader *op)
{
    TSR_TRY(read_dict(ps, op));
    if (accept(ps, '(')) {
        return expect(ps, ')', "expected ')'");
    }
    return form_read(ps, op, "$v : $T");
}

void barrier_print(printer *pr, uint32_t op)
{
    print_dict(pr, op, NULL);
    if (program_op(pr->program, op)->num_operands == 0) {
        put(pr, "()");
    } else {
        form_print(pr, op, " $v : $T");
    }
}

/* ---- reduce_precision ---- */

/* Takes a mark and the decimal number after it off a word. */
static bool take_bits(slice *word, char mark, uint64_t *out)
{
    size_t end = 1;
    if (word->size == 0 || word->data[0] != mark) {
        return false;
    }
    while (end < word->size && word->data[end] >= '0' && word->data[end] <= '9') {
        end++;
    }
    const slice digits = {word->data + 1, end - 1};
    *word = (slice){word->data + end, word->size - end};
    return digits.size > 0 && lex_digits(digits, out) && *out <= INT32_MAX;
}

tsr_status reduce_precision_read(parser *ps, op_reader *op)
{
    uint64_t exponent = 0;
    uint64_t mantissa = 0;
    uint32_t type = 0;
    uint32_t attr = 0;
    TSR_TRY(form_read(ps, op, "$o, format ="));
    const slice word = token_text(ps);
    slice rest = word;
    if (!at_kind(ps, TOKEN_WORD) || !take_bits(&rest, 'e', &exponent) ||
        !take_bits(&rest, 'm', &mantissa) || rest.size > 0) {
        return error_here(ps, "expected exponent mantissa in format e#m#, saw %.*s", (int)word.size,
                          word.data);
    }
    lex_next(&ps->lex);
    TSR_TRY(type_integer(ps->program, 32, SIGNLESS, &type));
    TSR_TRY(attr_integer(ps->program, type, exponent, &attr));
    TSR_TRY(set_property(ps, op, "exponent_bits", attr));
    TSR_TRY(attr_integer(ps->program, type, mantissa, &attr));
    TSR_TRY(set_property(ps, op, "mantissa_bits", attr));
    return form_read(ps, op, "$D : $S");
}

void reduce_precision_print(printer *pr, uint32_t op)
{
    form_print(pr, op, " $o, format = e");
    put_int(pr, (int64_t)property(pr, op, "exponent_bits")->bits);
    put_char(pr, 'm');
    put_int(pr, (int64_t)property(pr, op, "mantissa_bits")->bits);
    form_print(pr, op, "$D : $S");
}

/* ---- slice ---- */

/* Three lists of one length, as they are read. */
typedef struct ranges {
    int64_t *starts;
    int64_t *limits;
    int64_t *strides;
    size_t count;
    size_t rooms[3];
} ranges;

static tsr_status read_range(parser *ps, ranges *all)
{
    int64_t start = 0;
    int64_t limit = 0;
    int64_t stride = 1;
    TSR_TRY(lex_integer(&ps->lex, &start));
    TSR_TRY(expect(ps, ':', "expected ':'"));
    TSR_TRY(lex_integer(&ps->lex, &limit));
    if (accept(ps, ':')) {
        TSR_TRY(lex_integer(&ps->lex, &stride));
    }
    size_t count = all->count;
    TSR_TRY(PUSH(ps, all->starts, count, all->rooms[0], start));
    count = all->count;
    TSR_TRY(PUSH(ps, all->limits, count, all->rooms[1], limit));
    return PUSH(ps, all->strides, all->count, all->rooms[2], stride);
}

tsr_status slice_read(parser *ps, op_reader *op)
{
    ranges all = {0};
    uint32_t attr = 0;
    TSR_TRY(form_read(ps, op, "$o ["));
    if (!at_kind(ps, ']')) {
        do {
            TSR_TRY(read_range(ps, &all));
        } while (accept(ps, ','));
    }
    TSR_TRY(expect(ps, ']', "expected ']'"));
    TSR_TRY(attr_ints(ps->program, all.starts, all.count, &attr));
    TSR_TRY(set_property(ps, op, "start_indices", attr));
    TSR_TRY(attr_ints(ps->program, all.limits, all.count, &attr));
    TSR_TRY(set_property(ps, op, "limit_indices", attr));
    TSR_TRY(attr_ints(ps->program, all.strides, all.count, &attr));
    TSR_TRY(set_property(ps, op, "strides", attr));
    return form_read(ps, op, "$D : $F");
}

bool slice_fits(const printer *pr, uint32_t op)
{
    const uint32_t count = property(pr, op, "start_indices")->count;
    return property(pr, op, "limit_indices")->count == count &&
           property(pr, op, "strides")->count == count;
}

void slice_print(printer *pr, uint32_t op)
{
    const attr_head *starts = property(pr, op, "start_indices");
    const attr_head *limits = property(pr, op, "limit_indices");
    const attr_head *strides = property(pr, op, "strides");
    form_print(pr, op, " $o [");
    for (uint32_t i = 0; i < starts->count; i++) {
        put(pr, i > 0 ? ", " : "");
        put_int(pr, attr_numbers(starts)[i]);
        put_char(pr, ':');
        put_int(pr, attr_numbers(limits)[i]);
        if (attr_numbers(strides)[i] != 1) {
            put_char(pr, ':');
            put_int(pr, attr_numbers(strides)[i]);
        }
    }
    put_char(pr, ']');
    form_print(pr, op, "$D : $F");
}

/* ---- while ---- */

const char *while_argument_name(const tsr_program *p, uint32_t op, size_t region, size_t index)
{
    (void)p;
    (void)op;
    (void)region;
    (void)index;
    return "iterArg";
}

/* `(%iterArg = %a, ..)`: names of arguments and the operands. */
static tsr_status read_carried(parser *ps, op_reader *op, ssa_argument **arguments, size_t *count,
                               size_t *room)
{
    TSR_TRY(expect(ps, '(', "expected '('"));
    if (accept(ps, ')')) {
        return TSR_OK;
    }
    do {
        ssa_argument argument = {.at = (uint32_t)ps->lex.current.at};
        const slice name = token_text(ps);
        if (!next_is_use(ps)) {
            return error_here(ps, "expected SSA operand");
        }
        TSR_TRY(name_key(ps, (slice){name.data + 1, name.size - 1}, &argument.name));
        argument.name++;
        argument.location = argument.at;
        lex_next(&ps->lex);
        TSR_TRY(expect(ps, '=', "expected '='"));
        TSR_TRY(form_read(ps, op, "$o"));
        TSR_TRY(PUSH(ps, *arguments, *count, *room, argument));
    } while (accept(ps, ','));
    return expect(ps, ')', "expected ')'");
}

tsr_status while_read(parser *ps, op_reader *op)
{
    ssa_argument *arguments = NULL;
    size_t count = 0;
    size_t room = 0;
    TSR_TRY(read_carried(ps, op, &arguments, &count, &room));
    if (count > 0) {
        TSR_TRY(form_read(ps, op, ": $T"));
        for (size_t i = 0; i < count; i++) {
            arguments[i].type = op->results[i];
        }
    }
    TSR_TRY(read_dict_with_keyword(ps, op));
    TSR_TRY(lex_expect_word(&ps->lex, "cond"));
    TSR_TRY(read_region(ps, op, arguments, count));
    TSR_TRY(lex_expect_word(&ps->lex, "do"));
    return read_region(ps, op, arguments, count);
}

/* Whether a region has arguments, and they have the types of the operands. */
static bool arguments_fit(const tsr_program *p, uint32_t op, size_t region)
{
    const ir_op *record = program_op(p, op);
    const uint32_t entry = op_entry_block(p, op, region);
    const ir_block *block = program_block(p, entry);
    if (entry == 0 || block->num_arguments != record->num_operands) {
        return false;
    }
    for (uint32_t i = 0; i < record->num_operands; i++) {
        const uint32_t argument = program_pool(p, block->arguments)[i];
        if (value_type(p, argument) != value_type(p, op_operand(p, op, i))) {
            return false;
        }
    }
    return true;
}

/* The syntax shows the types of the operands only, and the arguments of one region. */
bool while_fits(const printer *pr, uint32_t op)
{
    const ir_op *record = program_op(pr->program, op);
    bool fits = record->num_operands == record->num_results && arguments_fit(pr->program, op, 0) &&
                arguments_fit(pr->program, op, 1);
    for (uint32_t i = 0; fits && i < record->num_results; i++) {
        fits = value_type(pr->program, record->results + i) ==
               value_type(pr->program, op_operand(pr->program, op, i));
    }
    return fits;
}

void while_print(printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const ir_op *record = program_op(p, op);
    const ir_block *entry = program_block(p, op_entry_block(p, op, 0));
    put_char(pr, '(');
    for (uint32_t i = 0; i < record->num_operands; i++) {
        put(pr, i > 0 ? ", " : "");
        print_value(pr, program_pool(p, entry->arguments)[i]);
        put(pr, " = ");
        print_value(pr, op_operand(p, op, i));
    }
    put_char(pr, ')');
    form_print(pr, op, "$V( : $T)$A");
    put_line(pr);
    put(pr, "cond ");
    print_region(pr, op_region_at(p, op, 0), false);
    put(pr, " do ");
    print_region(pr, op_region_at(p, op, 1), false);
}

/* ---- reduce ---- */

/* The scalar tensor of the element type of a tensor. */
static tsr_status scalar_type(tsr_program *p, uint32_t type, uint32_t *out)
{
    return type_tensor(p, NULL, 0, type_element(p, type), 0, out);
}

/* The region of `applies stablehlo.add`: the op on the two arguments, and a return. */
static tsr_status make_body(parser *ps, op_reader *op, slice name, uint32_t scalar)
{
    const ssa_argument arguments[2] = {{.type = scalar, .location = (uint32_t)op->at},
                                       {.type = scalar, .location = (uint32_t)op->at}};
    uint32_t region = 0;
    uint32_t block = 0;
    uint32_t inner = 0;
    uint32_t done = 0;
    TSR_TRY(new_region(ps, &region));
    TSR_TRY(PUSH(ps, op->regions, op->num_regions, op->region_room, region));
    TSR_TRY(new_block(ps, region, arguments, 2, &block));
    const uint32_t *inputs =
        program_pool(ps->program, program_block(ps->program, block)->arguments);
    uint32_t operands[2] = {inputs[0], inputs[1]};
    op_reader combine = {.at = op->at,
                         .location = op->location,
                         .operands = operands,
                         .num_operands = 2,
                         .results = &scalar,
                         .num_results = 1};
    TSR_TRY(program_op_name(ps->program, name.data, name.size, &combine.name_id));
    TSR_TRY(finish_op(ps, &combine, block, &inner));
    uint32_t result = program_op(ps->program, inner)->results;
    op_reader finish = {
        .at = op->at, .location = op->location, .operands = &result, .num_operands = 1};
    TSR_TRY(program_kind_name(ps->program, OP_STABLEHLO_RETURN, &finish.name_id));
    return finish_op(ps, &finish, block, &done);
}

/* `(%a init: %i), (%b init: %j)`: inputs first, then initial values. */
static tsr_status read_inputs(parser *ps, op_reader *op)
{
    ssa_use *inits = NULL;
    size_t count = 0;
    size_t room = 0;
    do {
        ssa_use init;
        TSR_TRY(form_read(ps, op, "($o init:"));
        TSR_TRY(read_use(ps, &init));
        TSR_TRY(PUSH(ps, inits, count, room, init));
        TSR_TRY(expect(ps, ')', "expected ')'"));
    } while (accept(ps, ','));
    for (size_t i = 0; i < count; i++) {
        TSR_TRY(PUSH(ps, op->uses, op->num_uses, op->use_room, inits[i]));
    }
    return TSR_OK;
}

/* ` reducer(%a: T, %c: T) (%b: T, %d: T) {..}`: pairs of arguments i and n + i. */
static tsr_status read_reducer(parser *ps, op_reader *op)
{
    ssa_argument *firsts = NULL;
    ssa_argument *seconds = NULL;
    size_t counts[2] = {0};
    size_t rooms[2] = {0};
    TSR_TRY(lex_expect_word(&ps->lex, "reducer"));
    while (at_kind(ps, '(')) {
        ssa_argument argument;
        lex_next(&ps->lex);
        TSR_TRY(read_argument(ps, false, &argument));
        TSR_TRY(PUSH(ps, firsts, counts[0], rooms[0], argument));
        TSR_TRY(expect(ps, ',', "expected ','"));
        TSR_TRY(read_argument(ps, false, &argument));
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): PUSH makes room */
        TSR_TRY(PUSH(ps, seconds, counts[1], rooms[1], argument));
        TSR_TRY(expect(ps, ')', "expected ')'"));
    }
    for (size_t i = 0; i < counts[1]; i++) {
        TSR_TRY(PUSH(ps, firsts, counts[0], rooms[0], seconds[i]));
    }
    return read_region(ps, op, firsts, counts[0]);
}

static tsr_status read_dimensions(parser *ps, op_reader *op)
{
    uint32_t attr = 0;
    TSR_TRY(form_read(ps, op, "across dimensions ="));
    TSR_TRY(read_ints(ps, &attr));
    TSR_TRY(set_property(ps, op, "dimensions", attr));
    return form_read(ps, op, "$D : $F");
}

tsr_status reduce_read(parser *ps, op_reader *op)
{
    op->at = ps->lex.current.at;
    TSR_TRY(read_inputs(ps, op));
    if (!at_kind(ps, TOKEN_WORD) || !slice_is(token_text(ps), "applies")) {
        TSR_TRY(read_dimensions(ps, op));
        return read_reducer(ps, op);
    }
    lex_next(&ps->lex);
    const size_t at = ps->lex.current.at;
    const slice name = token_text(ps);
    const ir_row *row = ir_row_of(op_kind_find(name.data, name.size));
    if (!at_kind(ps, TOKEN_WORD) || row == NULL || (row->traits & IR_COMMUTATIVE) == 0) {
        return error_at(ps, at,
                        "expected the inner-op to be a commutative binary-op from the stablehlo "
                        "dialect, with zero region, producing single result");
    }
    lex_next(&ps->lex);
    TSR_TRY(read_dimensions(ps, op));
    TSR_TRY(read_optional_location(ps, &op->location));
    uint32_t scalar = 0;
    if (op->num_operands == 0) {
        return error_at(ps, op->at, "expected at least one input");
    }
    TSR_TRY(scalar_type(ps->program, value_type(ps->program, op->operands[0]), &scalar));
    return make_body(ps, op, name, scalar);
}

/*
 * Whether the body is one commutative op of scalars of the input's element type on the two
 * arguments in order, returned.
 */
bool reduce_is_compact(const tsr_program *p, uint32_t op)
{
    const uint32_t body = op_entry_block(p, op, 0);
    if (body == 0 || program_op(p, op)->num_operands != 2 || program_block(p, body)->next != 0) {
        return false;
    }
    const ir_block *block = program_block(p, body);
    const uint32_t inner = block->first_op;
    const uint32_t last = block->last_op;
    if (block->num_arguments != 2 || inner == 0 || program_op(p, inner)->next != last ||
        last == inner) {
        return false;
    }
    const ir_op *combine = program_op(p, inner);
    const ir_row *row = program_row(p, inner);
    const uint32_t *arguments = program_pool(p, block->arguments);
    if (row == NULL || (row->traits & IR_COMMUTATIVE) == 0 || combine->num_operands != 2 ||
        combine->num_results != 1 || op_operand(p, inner, 0) != arguments[0] ||
        op_operand(p, inner, 1) != arguments[1] || program_op(p, last)->num_operands != 1 ||
        op_operand(p, last, 0) != combine->results) {
        return false;
    }
    const type_head *scalar = program_type(p, value_type(p, arguments[0]));
    const uint32_t input = value_type(p, op_operand(p, op, 0));
    return scalar->kind == TYPE_TENSOR && scalar->count == 0 &&
           value_type(p, arguments[0]) == value_type(p, arguments[1]) &&
           value_type(p, combine->results) == value_type(p, arguments[0]) &&
           scalar->element == type_element(p, input);
}

static void print_reducer(printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const ir_block *body = program_block(p, op_entry_block(p, op, 0));
    const uint32_t *arguments = program_pool(p, body->arguments);
    const uint32_t count = body->num_arguments / 2;
    put_line(pr);
    put(pr, " reducer");
    for (uint32_t i = 0; i < count; i++) {
        put(pr, i > 0 ? " (" : "(");
        print_argument(pr, arguments[i]);
        put(pr, ", ");
        print_argument(pr, arguments[count + i]);
        put_char(pr, ')');
    }
    put(pr, "  ");
    print_region(pr, op_region_at(p, op, 0), false);
}

bool reduce_fits(const printer *pr, uint32_t op)
{
    const uint32_t count = program_op(pr->program, op)->num_operands;
    const uint32_t body = op_entry_block(pr->program, op, 0);
    return count > 0 && count % 2 == 0 && body != 0 &&
           program_block(pr->program, body)->num_arguments == count;
}

void reduce_print(printer *pr, uint32_t op)
{
    const tsr_program *p = pr->program;
    const size_t count = program_op(p, op)->num_operands / 2;
    const bool is_compact = reduce_is_compact(p, op);
    for (size_t i = 0; i < count; i++) {
        put(pr, i > 0 ? ", (" : "(");
        print_value(pr, op_operand(p, op, i));
        put(pr, " init: ");
        print_value(pr, op_operand(p, op, count + i));
        put_char(pr, ')');
    }
    if (is_compact) {
        put(pr, " applies ");
        put(pr, op_name(p, program_block(p, op_entry_block(p, op, 0))->first_op));
    }
    put(pr, " across dimensions = ");
    print_ints(pr, property(pr, op, "dimensions"));
    form_print(pr, op, "$D : $F");
    if (!is_compact) {
        print_reducer(pr, op);
    }
}
