#include "parts.h"

#include <stdlib.h>
#include <string.h>

#include "elements.h"

/* What an element is, by its index: never 0, which is what padding holds. */
static double value_at(const family *f, const int64_t *index, tsr_dtype dtype)
{
    int64_t id = 0;
    for (size_t i = 0; i < f->rank; i++) {
        id = id * f->shape[i] + index[i];
    }
    return (double)(1 + (element_limit(dtype) > 127 ? id : id % 97));
}

static double share(double value, const filling *how)
{
    const double q = (double)how->member;
    const double n = (double)how->members;
    if (n < 2) {
        return value;
    }
    switch (how->reduction) {
    case TSR_SUM:
        return q + 1 < n ? q + 1 : value - n * (n - 1) / 2;
    case TSR_MAX:
        return value - (q == 1 ? 0 : q + 1);
    case TSR_MIN:
        return value + (q == 1 ? 0 : q + 1);
    case TSR_AVG:
        return value + q - (n - 1) / 2;
    default:
        return q == 0 ? value : 1;
    }
}

filling filling_of(const tsr_sharding *sharding, int64_t device)
{
    size_t count;
    const tsr_axis_ref *axes = tsr_sharding_unreduced(sharding, &count);
    return (filling){tsr_sharding_reduction(sharding),
                     index_along(tsr_sharding_mesh(sharding), axes, count, device),
                     tsr_axes_size(axes, count)};
}

bool sharding_is_pending(const tsr_sharding *s)
{
    return filling_of(s, 0).members > 1;
}

enum { CANARY = 0xa5 };

/* What to do with each place of a part; where it only pads, `value` is 0. */
typedef bool (*place_function)(const part *p, double value, bool pads, char *place);

/* Whether the function holds for every place of a part. */
static bool each_place(const part *p, place_function function)
{
    int64_t at[MAX_DIMS] = {0};
    int64_t index[MAX_DIMS] = {0};
    for (size_t i = 0; i < p->rows.rank; i++) {
        if (p->rows.count[i] == 0) {
            return true;
        }
    }
    for (;;) {
        char *place = p->data;
        bool pads = false;
        for (size_t i = 0; i < p->rows.rank; i++) {
            index[i] = p->rows.rows[i][at[i]];
            place += at[i] * p->strides[i];
            pads = pads || index[i] < 0;
        }
        const double value = pads ? 0 : share(value_at(p->of, index, p->dtype), &p->how);
        if (!function(p, value, pads, place)) {
            return false;
        }
        size_t i = p->rows.rank;
        while (i > 0 && ++at[i - 1] == p->rows.count[i - 1]) {
            at[--i] = 0;
        }
        if (i == 0) {
            return true;
        }
    }
}

static bool put(const part *p, double value, bool pads, char *place)
{
    (void)pads;
    element_put(p->dtype, value, place);
    return true;
}

void part_fill(const part *p)
{
    (void)each_place(p, put);
}

static bool is_right(const part *p, double value, bool pads, char *place)
{
    (void)pads;
    return element_is(p->dtype, value, place);
}

/* As is_right, but that padding may be as it was; marks the place as done. */
static bool is_right_there(const part *p, double value, bool pads, char *place)
{
    const size_t item = (size_t)tsr_dtype_item_bytes(p->dtype);
    char untouched[16];
    memset(untouched, CANARY, sizeof untouched);
    const bool right =
        is_right(p, value, pads, place) || (pads && memcmp(place, untouched, item) == 0);
    memset(place, CANARY, item);
    return right;
}

bool part_is_right(const part *p)
{
    if (p->bytes == 0) {
        return each_place(p, is_right);
    }
    bool right = each_place(p, is_right_there);
    for (size_t i = 0; i < p->bytes; i++) {
        right = right && (unsigned char)p->data[i] == CANARY;
    }
    return right;
}

/* Memory for a part: row-major, or column-major with gaps everywhere. */
static bool make_memory(part *p, memory how)
{
    int64_t stride = tsr_dtype_item_bytes(p->dtype) * (how == STRIDED ? 2 : 1);
    for (size_t k = 0; k < p->rows.rank; k++) {
        const size_t i = how == STRIDED ? k : p->rows.rank - 1 - k;
        p->strides[i] = stride;
        stride *= p->rows.count[i] + (how == STRIDED ? 1 : 0);
    }
    p->bytes = (size_t)stride + 16;
    p->data = malloc(p->bytes);
    if (p->data != NULL) {
        memset(p->data, CANARY, p->bytes);
    }
    return p->data != NULL;
}

tsr_status make_part(tsr_comm *world, const tsr_tensor_spec *spec, const family *of, memory how,
                     part *p, tsr_tensor **out)
{
    const int64_t rank = tsr_comm_rank(world);
    *p = (part){.of = of, .dtype = spec->dtype, .how = filling_of(spec->sharding, rank)};
    slice_of(spec->sharding, of->rank, of->shape, rank, &p->rows);
    if (how == OWNED) {
        const tsr_status status = tsr_tensor_create(world, spec, out);
        if (status == TSR_OK) {
            p->data = tsr_tensor_data(*out);
            memcpy(p->strides, tsr_tensor_strides(*out), of->rank * sizeof *p->strides);
        }
        return status;
    }
    if (!make_memory(p, how)) {
        abort();
    }
    return tsr_tensor_wrap(world, spec, p->data, how == STRIDED ? p->strides : NULL, out);
}

void drop_part(part *p, tsr_tensor **tensor)
{
    tsr_tensor_release(*tensor);
    *tensor = NULL;
    if (p->bytes > 0) {
        free(p->data);
    }
    *p = (part){0};
}

bool same_sizes(const tsr_tensor *t, const part *p)
{
    for (size_t i = 0; i < p->rows.rank; i++) {
        if (tsr_tensor_local_shape(t)[i] != p->rows.count[i]) {
            return false;
        }
    }
    return true;
}
