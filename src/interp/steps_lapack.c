/*
 * Custom calls of LAPACK's routines, `lapack_<type><routine>_ffi`, as JAX makes them: the last
 * two dimensions are matrices by columns, all others a batch.
 */
#include "interp/steps_lapack.h"

#include <string.h>

#include "base/arena.h"
#include "interp/machine.h"
#include "ir/elements.h"
#include "kernel/lapack.h"

/* ---- what each routine takes ---- */

typedef struct lapack_setting {
    const char *name;
    lapack_option option;
    const char *codes; /* that it may be; of a truth value, those of true and false */
    bool is_truth;
} lapack_setting;

/*
 * Values are words: T the element type, R its real parts, C the complex type, I i32; then the
 * extents, named as in `dim_names`. A result like an operand is that operand changed.
 */
typedef struct lapack_row {
    const char *name;
    const char *complex_name;
    lapack_routine routine;
    const char *operands;
    const char *results;
    const char *complex_results;
    lapack_setting settings[4]; /* ended by one without a name, if there are less */
} lapack_row;

#define NO_SETTING                                                                                 \
    {                                                                                              \
        NULL, LAPACK_NUM_OPTIONS, NULL, false                                                      \
    }

static const char dim_names[] = "mnkhrtpuv"; /* as lapack_dim */

static const lapack_row rows[] = {
    {"potrf", "potrf", LAPACK_POTRF, "Tnn", "Tnn I", NULL, {{"uplo", LAPACK_UPLO, "LU", false}}},
    {"getrf", "getrf", LAPACK_GETRF, "Tmn", "Tmn Ik I", NULL, {NO_SETTING}},
    {"geqrf", "geqrf", LAPACK_GEQRF, "Tmn", "Tmn Tk", NULL, {NO_SETTING}},
    {"orgqr", "ungqr", LAPACK_ORGQR, "Tmn Tt", "Tmn", NULL, {NO_SETTING}},
    {"ormqr",
     "unmqr",
     LAPACK_ORMQR,
     "Tpt Tt Tmr",
     "Tmr",
     NULL,
     {{"left", LAPACK_SIDE, "LR", true}, {"transpose", LAPACK_TRANS, "TN", true}}},
    {"geqp3", "geqp3", LAPACK_GEQP3, "Tmn In", "Tmn In Tk", NULL, {NO_SETTING}},
    {"gesdd",
     "gesdd",
     LAPACK_GESDD,
     "Tmn",
     "Tmn Rk Tmu Tvn I",
     NULL,
     {{"mode", LAPACK_MODE, "ASN", false}}},
    {"gesvd",
     "gesvd",
     LAPACK_GESVD,
     "Tmn",
     "Tmn Rk Tmu Tvn I",
     NULL,
     {{"mode", LAPACK_MODE, "ASN", false}}},
    {"syevd",
     "heevd",
     LAPACK_SYEVD,
     "Tnn",
     "Tnn Rn I",
     NULL,
     {{"mode", LAPACK_MODE, "VN", false}, {"uplo", LAPACK_UPLO, "LU", false}}},
    {"geev",
     "geev",
     LAPACK_GEEV,
     "Tnn",
     "Rn Rn Cnn Cnn I",
     "Tn Cnn Cnn I",
     {{"compute_left", LAPACK_LEFT, "VN", false}, {"compute_right", LAPACK_RIGHT, "VN", false}}},
    {"gees",
     "gees",
     LAPACK_GEES,
     "Tnn",
     "Tnn Tnn Rn Rn I I",
     "Tnn Tnn Tn I I",
     {{"sort", LAPACK_MODE, "N", false}, {"mode", LAPACK_MODE, "VN", false}}},
    {"gehrd", "gehrd", LAPACK_GEHRD, "Tnn", "Tnn Th I", NULL, {NO_SETTING}},
    {"sytrd",
     "hetrd",
     LAPACK_SYTRD,
     "Tnn",
     "Tnn Rn Rh Th I",
     NULL,
     {{"uplo", LAPACK_UPLO, "LU", false}}},
    {"gtsv", "gtsv", LAPACK_GTSV, "Tn Tn Tn Tnr", "Tn Tn Tn Tnr I", NULL, {NO_SETTING}},
    {"trsm",
     "trsm",
     LAPACK_TRSM,
     "Tpp Tmr",
     "Tmr",
     NULL,
     {{"diag", LAPACK_DIAG, "UN", false},
      {"side", LAPACK_SIDE, "LR", false},
      {"trans_x", LAPACK_TRANS, "NTC", false},
      {"uplo", LAPACK_UPLO, "LU", false}}},
};

enum { NUM_ROWS = sizeof rows / sizeof rows[0] };

/* ---- running ---- */

/* A value in scratch memory, by columns. */
typedef struct lapack_value {
    const char *word;
    size_t word_size;
    int64_t rows;
    int64_t cols;
    int64_t item;
    size_t offset;
} lapack_value;

typedef struct lapack_step {
    lapack_job job;
    lapack_space space;
    lapack_value values[LAPACK_MAX_VALUES]; /* operands, then results that are none of them */
    size_t num_values;
    size_t result_values[LAPACK_MAX_VALUES];
    size_t space_offset;
    size_t bytes; /* of scratch memory */
    int64_t batch;
} lapack_step;

static int64_t value_bytes(const lapack_value *v)
{
    return v->rows * v->cols * v->item;
}

static void load_columns(const lapack_value *v, const char *from, char *to)
{
    for (int64_t k = 0; k < v->cols; k++) {
        for (int64_t i = 0; i < v->rows; i++) {
            memcpy(to + (k * v->rows + i) * v->item, from + (i * v->cols + k) * v->item,
                   (size_t)v->item);
        }
    }
}

static void store_columns(const lapack_value *v, const char *from, char *to)
{
    for (int64_t i = 0; i < v->rows; i++) {
        for (int64_t k = 0; k < v->cols; k++) {
            memcpy(to + (i * v->cols + k) * v->item, from + (k * v->rows + i) * v->item,
                   (size_t)v->item);
        }
    }
}

static void run_one(interp_machine *m, const code_step *step, char *scratch, int64_t index)
{
    const lapack_step *s = step->data;
    lapack_job job = s->job;
    for (size_t i = 0; i < s->num_values; i++) {
        const lapack_value *v = &s->values[i];
        job.values[i] = scratch + v->offset;
        if (i < step->num_operands) {
            load_columns(v, interp_operand(m, step, i)->data + index * value_bytes(v),
                         job.values[i]);
        } else {
            memset(job.values[i], 0, (size_t)value_bytes(v));
        }
    }
    kernel_lapack(&job, s->space, scratch + s->space_offset);
    for (size_t i = 0; i < step->num_results; i++) {
        const lapack_value *v = &s->values[s->result_values[i]];
        store_columns(v, scratch + v->offset,
                      m->slots[step->results[i]]->data + index * value_bytes(v));
    }
}

static tsr_status run_lapack(interp_machine *m, const code_step *step)
{
    const lapack_step *s = step->data;
    char *scratch = interp_scratch(m, s->bytes);
    if (scratch == NULL) {
        return diag_nomem(m->ctx);
    }
    for (size_t i = 0; i < step->num_results; i++) {
        interp_array *result;
        TSR_TRY(interp_array_new(m->pool, step->types[step->num_operands + i], &result));
        interp_set_result(m, step, i, result);
    }
    for (int64_t i = 0; i < s->batch; i++) {
        run_one(m, step, scratch, i);
    }
    return TSR_OK;
}

/* ---- reading ---- */

/* The next word of a list, or NULL. */
static const char *next_word(const char **list, size_t *size)
{
    const char *word = *list;
    *size = strcspn(word, " ");
    *list += *size + (word[*size] == ' ' ? 1 : 0);
    return *size == 0 ? NULL : word;
}

static tsr_dtype word_dtype(char kind, tsr_dtype dtype)
{
    const bool is_double = dtype == TSR_F64 || dtype == TSR_C128;
    return kind == 'T'   ? dtype
           : kind == 'I' ? TSR_I32
           : kind == 'R' ? (is_double ? TSR_F64 : TSR_F32)
                         : (is_double ? TSR_C128 : TSR_C64);
}

/* Whether a type is as a word says; extents that are not known yet become so. */
static bool read_type(const char *word, size_t size, const op_type *type, const op_type *first,
                      size_t batch, lapack_step *s, lapack_value *out)
{
    const size_t core = size - 1;
    int64_t extents[2] = {1, 1};
    if (type->dtype != word_dtype(word[0], s->job.dtype) || type->rank != batch + core ||
        memcmp(type->shape, first->shape, batch * sizeof *type->shape) != 0) {
        return false;
    }
    for (size_t i = 0; i < core; i++) {
        int *dim = &s->job.dims[strchr(dim_names, word[1 + i]) - dim_names];
        extents[i] = type->shape[batch + i];
        if (extents[i] > LAPACK_MAX_ELEMENTS || (*dim >= 0 && *dim != extents[i])) {
            return false;
        }
        *dim = (int)extents[i];
    }
    *out = (lapack_value){.word = word,
                          .word_size = size,
                          .rows = extents[0],
                          .cols = extents[1],
                          .item = tsr_dtype_item_bytes(type->dtype)};
    return extents[0] * extents[1] <= LAPACK_MAX_ELEMENTS;
}

/* The operand that a result is, changed, and that is not another result; or a new value. */
static size_t value_of(lapack_step *s, size_t num_operands, bool *taken, const lapack_value *v)
{
    for (size_t i = 0; i < num_operands; i++) {
        if (!taken[i] && s->values[i].word_size == v->word_size &&
            memcmp(s->values[i].word, v->word, v->word_size) == 0) {
            taken[i] = true;
            return i;
        }
    }
    s->values[s->num_values] = *v;
    return s->num_values++;
}

/* The extents that follow from those of the operands. */
static void complete_dims(int *dims)
{
    const int n = dims[LAPACK_N] < 0 ? 0 : dims[LAPACK_N];
    dims[LAPACK_N] = n;
    dims[LAPACK_M] = dims[LAPACK_M] < 0 ? n : dims[LAPACK_M];
    dims[LAPACK_K] = dims[LAPACK_M] < n ? dims[LAPACK_M] : n;
    dims[LAPACK_H] = n > 1 ? n - 1 : 0;
}

static bool read_types(const lapack_row *row, const code_step *step, lapack_step *s)
{
    const op_type *first = &step->types[0]->tensor;
    const bool is_complex = first->dtype == TSR_C64 || first->dtype == TSR_C128;
    const char *operands = row->operands;
    const char *results =
        is_complex && row->complex_results != NULL ? row->complex_results : row->results;
    const size_t core = strcspn(operands, " ") - 1;
    const size_t batch = first->rank - core;
    bool taken[LAPACK_MAX_VALUES] = {false};
    size_t i = 0;
    size_t size;
    if (first->rank < core) {
        return false;
    }
    for (const char *w; (w = next_word(&operands, &size)) != NULL; i++) {
        if (i >= step->num_operands ||
            !read_type(w, size, &step->types[i]->tensor, first, batch, s, &s->values[i])) {
            return false;
        }
    }
    s->num_values = i;
    complete_dims(s->job.dims);
    for (const char *w; (w = next_word(&results, &size)) != NULL; i++) {
        lapack_value v;
        if (i >= step->num_operands + step->num_results ||
            !read_type(w, size, &step->types[i]->tensor, first, batch, s, &v)) {
            return false;
        }
        s->result_values[i - step->num_operands] = value_of(s, step->num_operands, taken, &v);
    }
    s->batch = 1;
    for (size_t k = 0; k < batch; k++) {
        s->batch *= first->shape[k];
    }
    return i == step->num_operands + step->num_results;
}

/* Whether a layout, from the dimension that changes fastest on, is that of matrices by columns. */
static bool is_by_columns(code_decoder *d, uint32_t attr, size_t rank, bool is_matrix)
{
    const void *bytes;
    size_t size;
    bool is_splat;
    if (!attr_is(d->code->program, attr, ATTR_ELEMENTS) ||
        elements_bytes(d->code->ctx, d->code->arena, d->code->program, attr, &bytes, &size,
                       &is_splat) != TSR_OK ||
        size != (is_splat && rank > 0 ? 1 : rank) * sizeof(int64_t)) {
        return false;
    }
    for (size_t i = 0; i < size / sizeof(int64_t); i++) {
        const size_t by_rows = rank - 1 - i;
        int64_t dim;
        memcpy(&dim, (const char *)bytes + i * sizeof dim, sizeof dim);
        if (dim != (int64_t)(is_matrix && i < 2 ? rank - 2 + i : by_rows)) {
            return false;
        }
    }
    return true;
}

/* The layouts of `count` values from `at` on. */
static bool has_layouts(code_decoder *d, const code_step *step, const char *name, size_t at,
                        size_t count, size_t batch)
{
    const tsr_program *p = d->code->program;
    const uint32_t list = op_property(p, step->op, name);
    if (!attr_is(p, list, ATTR_ARRAY) || program_attr(p, list)->count != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t rank = step->types[at + i]->tensor.rank;
        if (!is_by_columns(d, attr_list(program_attr(p, list))[i], rank, rank == batch + 2)) {
            return false;
        }
    }
    return true;
}

static bool read_settings(const code_decoder *d, const lapack_row *row, const code_step *step,
                          lapack_job *job)
{
    const tsr_program *p = d->code->program;
    const uint32_t config = tsr_ir_op_attribute(p, step->op, "mhlo.backend_config");
    for (size_t i = 0; i < 4 && row->settings[i].name != NULL; i++) {
        const lapack_setting *setting = &row->settings[i];
        int64_t value;
        if (!attr_as_integer(p, dict_get(p, config, setting->name), &value)) {
            return false;
        }
        const int64_t code = setting->is_truth ? setting->codes[value != 0 ? 0 : 1] : value;
        if (code <= 0 || code > 127 || strchr(setting->codes, (int)code) == NULL) {
            return false;
        }
        job->options[setting->option] = (char)code;
    }
    if (job->routine == LAPACK_GEHRD) {
        int64_t low = 0;
        int64_t high = -1;
        (void)attr_as_integer(p, dict_get(p, config, "low"), &low);
        (void)attr_as_integer(p, dict_get(p, config, "high"), &high);
        const int n = job->dims[LAPACK_N];
        job->low = low < 1 || low > (n > 1 ? n : 1) ? 0 : (int)low;
        job->high = high < (low < n ? low : n) || high > n ? -1 : (int)high;
        return job->low > 0 && job->high >= 0;
    }
    /* The transpose of a complex product is the adjoint. */
    if (job->routine == LAPACK_ORMQR && job->options[LAPACK_TRANS] == 'T' &&
        (job->dtype == TSR_C64 || job->dtype == TSR_C128)) {
        job->options[LAPACK_TRANS] = 'C';
    }
    return true;
}

/* Relations between extents that words do not say. */
static bool dims_fit(const lapack_job *job)
{
    const int *d = job->dims;
    const char mode = job->options[LAPACK_MODE];
    const int side = job->options[LAPACK_SIDE] == 'L' ? d[LAPACK_M] : d[LAPACK_R];
    switch (job->routine) {
    case LAPACK_ORGQR:
        return d[LAPACK_T] <= d[LAPACK_N] && d[LAPACK_N] <= d[LAPACK_M];
    case LAPACK_ORMQR:
        return d[LAPACK_P] == side && d[LAPACK_T] <= side;
    case LAPACK_TRSM:
        return d[LAPACK_P] == side;
    case LAPACK_GESDD:
    case LAPACK_GESVD:
        return mode == 'A'   ? d[LAPACK_U] == d[LAPACK_M] && d[LAPACK_V] == d[LAPACK_N]
               : mode == 'S' ? d[LAPACK_U] == d[LAPACK_K] && d[LAPACK_V] == d[LAPACK_K]
                             : true;
    default:
        return true;
    }
}

static const lapack_row *find_row(slice target, tsr_dtype *dtype)
{
    static const char codes[] = {'s', 'd', 'c', 'z'};
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64, TSR_C64, TSR_C128};
    enum { PREFIX = 7, SUFFIX = 4 }; /* of "lapack_" and "_ffi" */
    if (!lapack_is_linked() || target.size <= PREFIX + 1 + SUFFIX ||
        memcmp(target.data, "lapack_", PREFIX) != 0 ||
        memcmp(target.data + target.size - SUFFIX, "_ffi", SUFFIX) != 0) {
        return NULL;
    }
    const char *code = memchr(codes, target.data[PREFIX], sizeof codes);
    if (code == NULL) {
        return NULL;
    }
    const slice name = {target.data + PREFIX + 1, target.size - PREFIX - 1 - SUFFIX};
    *dtype = dtypes[code - codes];
    for (size_t i = 0; i < NUM_ROWS; i++) {
        if (slice_is(name, code - codes < 2 ? rows[i].name : rows[i].complex_name)) {
            return &rows[i];
        }
    }
    return NULL;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

tsr_status interp_prepare_lapack(code_decoder *d, code_step *step, slice target)
{
    tsr_dtype dtype;
    const lapack_row *row = find_row(target, &dtype);
    if (row == NULL || step->num_operands == 0 || !code_is_static(step)) {
        return TSR_NOT_APPLICABLE;
    }
    lapack_step *s = CODE_NEW(d, lapack_step);
    if (s == NULL) {
        return diag_nomem(d->code->ctx);
    }
    *s = (lapack_step){.job = {.routine = row->routine, .dtype = dtype}};
    memset(s->job.dims, -1, sizeof s->job.dims);
    if (!read_types(row, step, s) || !read_settings(d, row, step, &s->job) || !dims_fit(&s->job)) {
        return TSR_NOT_APPLICABLE;
    }
    const size_t batch = step->types[0]->tensor.rank - (strcspn(row->operands, " ") - 1);
    if (!has_layouts(d, step, "operand_layouts", 0, step->num_operands, batch) ||
        !has_layouts(d, step, "result_layouts", step->num_operands, step->num_results, batch)) {
        return TSR_NOT_APPLICABLE;
    }
    for (size_t i = 0; i < s->num_values; i++) {
        s->values[i].offset = s->bytes;
        /* At least one element more: LAPACK may look at the first of none. */
        s->bytes += aligned((size_t)value_bytes(&s->values[i]) + 16);
    }
    s->space = lapack_space_of(&s->job);
    s->space_offset = s->bytes;
    s->bytes += lapack_space_bytes(&s->job, s->space);
    step->data = s;
    step->action = run_lapack;
    return TSR_OK;
}
