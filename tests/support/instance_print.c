/* Random uses of ops as functions of a program. */
#include "instance.h"

static void print_type(FILE *file, const op_type *type)
{
    (void)fputs("tensor<", file);
    for (size_t d = 0; d < type->rank; d++) {
        (void)fprintf(file, "%lldx", (long long)type->shape[d]);
    }
    (void)fprintf(file, "%s>", tsr_dtype_name(type->dtype));
}

static void print_types(FILE *file, const op_type *types, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        (void)fputs(k > 0 ? ", " : "", file);
        print_type(file, &types[k]);
    }
}

/* The part of an argument that is an operand: its first rows. */
static void print_slice(FILE *file, const instance *i, size_t k)
{
    const op_type *to = &i->operands[k];
    const op_type *from = &i->arguments[i->slice_of[k]];
    (void)fprintf(file, "    %%s%zu = \"stablehlo.slice\"(%%arg%zu) <{start_indices = array<i64", k,
                  i->slice_of[k]);
    for (size_t d = 0; d < to->rank; d++) {
        (void)fprintf(file, "%s0", d > 0 ? ", " : ": ");
    }
    (void)fputs(">, limit_indices = array<i64", file);
    for (size_t d = 0; d < to->rank; d++) {
        (void)fprintf(file, "%s%lld", d > 0 ? ", " : ": ", (long long)to->shape[d]);
    }
    (void)fputs(">, strides = array<i64", file);
    for (size_t d = 0; d < to->rank; d++) {
        (void)fprintf(file, "%s1", d > 0 ? ", " : ": ");
    }
    (void)fputs(">}> : (", file);
    print_type(file, from);
    (void)fputs(") -> ", file);
    print_type(file, to);
    (void)fputs("\n", file);
}

void instance_print(FILE *file, const instance *i, const char *name)
{
    instance_print_with(file, i, name, NULL, "");
}

void instance_print_with(FILE *file, const instance *i, const char *name,
                         const char *const *shardings, const char *attributes)
{
    const bool own = i->num_arguments > 0;
    const op_type *arguments = own ? i->arguments : i->operands;
    const size_t num_arguments = own ? i->num_arguments : i->num_operands;
    const size_t num_results = op_num_results(i->row, i->num_operands);
    (void)fprintf(file, "  func.func @%s(", name);
    for (size_t k = 0; k < num_arguments; k++) {
        (void)fprintf(file, "%s%%arg%zu: ", k > 0 ? ", " : "", k);
        print_type(file, &arguments[k]);
        if (shardings != NULL && shardings[k] != NULL) {
            (void)fprintf(file, " {sdy.sharding = #sdy.sharding%s}", shardings[k]);
        }
    }
    (void)fputs(") -> (", file);
    print_types(file, i->results, num_results);
    (void)fputs(") {\n", file);
    for (size_t k = 0; k < i->num_operands; k++) {
        if (i->slice_of[k] != NO_SLICE) {
            print_slice(file, i, k);
        }
    }
    (void)fprintf(file, "    %%0:%zu = \"stablehlo.%s\"(", num_results, i->row->name);
    for (size_t k = 0; k < i->num_operands; k++) {
        const bool slice = i->slice_of[k] != NO_SLICE;
        const size_t number = slice || !own ? k : i->operand_facts[k].source;
        (void)fprintf(file, "%s%%%s%zu", k > 0 ? ", " : "", slice ? "s" : "arg", number);
    }
    (void)fputs(")", file);
    if (i->attributes[0] != '\0') {
        (void)fprintf(file, " <{%s}>", i->attributes);
    }
    if (i->region[0] != '\0') {
        (void)fprintf(file, " ({\n    %s\n    })", i->region);
    }
    if (attributes[0] != '\0') {
        (void)fprintf(file, " {%s}", attributes);
    }
    (void)fputs(" : (", file);
    print_types(file, i->operands, i->num_operands);
    (void)fputs(") -> (", file);
    print_types(file, i->results, num_results);
    (void)fputs(")\n    return ", file);
    for (size_t k = 0; k < num_results; k++) {
        (void)fprintf(file, "%s%%0#%zu", k > 0 ? ", " : "", k);
    }
    (void)fputs(" : ", file);
    print_types(file, i->results, num_results);
    (void)fputs("\n  }\n", file);
}
