/*
 * Gather and scatter against StableHLO's definition, one element at a time, with random dimension
 * numbers; and the boxes of an input against the whole of it.
 */
#include <stdlib.h>
#include <string.h>

#include "strided.h"

#include "kernel/index.h"

enum { MAX_INPUT = 4, MAX_PIECES = 3 };

/* What a dimension of the input is. */
typedef enum role { OFFSET, COLLAPSED, BATCHING } role;

/* One random case; the whole input. */
typedef struct scene {
    bool gathers;
    size_t rank;
    int64_t full[STRIDED_MAX_RANK];
    role roles[MAX_INPUT];
    bool indexed[MAX_INPUT];
    int64_t slice_sizes[MAX_INPUT];
    size_t slices_dim[MAX_INPUT];  /* of an offset dimension */
    size_t indices_dim[MAX_INPUT]; /* of a batching dimension */
    size_t window_dims[STRIDED_MAX_RANK];
    size_t collapsed[MAX_INPUT];
    size_t input_batching[MAX_INPUT];
    size_t indices_batching[MAX_INPUT];
    size_t map[MAX_INPUT];
    size_t num_offset;
    size_t num_collapsed;
    size_t num_batching;
    size_t num_indexed;

    /* The dimensions of the indices but for that of the vectors, and where the slices have them. */
    size_t num_places;
    int64_t places[STRIDED_MAX_RANK];
    size_t places_in_slices[STRIDED_MAX_RANK];
    size_t places_in_indices[STRIDED_MAX_RANK];
    size_t vector_dim;

    int64_t indices_shape[STRIDED_MAX_RANK];
    size_t indices_rank;
    int64_t slices_shape[STRIDED_MAX_RANK];
    size_t slices_rank;
    strided input;
    strided indices;
    strided slices;
} scene;

static void choose_roles(scene *s, rng *r)
{
    s->rank = 1 + (size_t)rng_below(r, MAX_INPUT);
    for (size_t d = 0; d < s->rank; d++) {
        s->full[d] = 1 + rng_below(r, 6);
        s->roles[d] = (role)(rng_chance(r, 50) ? OFFSET : rng_below(r, 3));
        s->indexed[d] = s->roles[d] != BATCHING && rng_chance(r, 60);
        if (s->roles[d] == COLLAPSED && !s->indexed[d]) {
            s->full[d] = 1;
        }
        s->slice_sizes[d] = s->roles[d] != OFFSET ? 1
                            : s->indexed[d]       ? 1 + rng_below(r, s->full[d])
                                                  : s->full[d];
        if (s->indexed[d]) {
            const size_t at = (size_t)rng_below(r, (int64_t)++s->num_indexed);
            s->map[s->num_indexed - 1] = s->map[at];
            s->map[at] = d;
        }
        if (s->roles[d] == COLLAPSED) {
            s->collapsed[s->num_collapsed++] = d;
        }
    }
}

/* The places: those of batching dimensions, in any order, and a few more. */
static void choose_places(scene *s, rng *r)
{
    size_t batching[STRIDED_MAX_RANK]; /* the input's dimension and 1, or 0 */
    for (size_t d = 0; d < s->rank; d++) {
        if (s->roles[d] == BATCHING) {
            batching[s->num_places++] = d + 1;
        }
    }
    for (size_t more = (size_t)rng_below(r, 3); more > 0 && s->num_places < 4; more--) {
        batching[s->num_places++] = 0;
    }
    for (size_t i = s->num_places; i > 1; i--) {
        const size_t j = (size_t)rng_below(r, (int64_t)i);
        const size_t kept = batching[j];
        batching[j] = batching[i - 1];
        batching[i - 1] = kept;
    }
    const bool implicit = s->num_indexed == 1 && rng_chance(r, 50);
    s->vector_dim = implicit ? s->num_places : (size_t)rng_below(r, (int64_t)s->num_places + 1);
    s->indices_rank = s->num_places + (implicit ? 0 : 1);
    s->indices_shape[s->vector_dim] = (int64_t)s->num_indexed;
    for (size_t i = 0; i < s->num_places; i++) {
        const size_t dim = i < s->vector_dim ? i : i + 1;
        s->places[i] = batching[i] > 0 ? s->full[batching[i] - 1] : rng_below(r, 5);
        s->places_in_indices[i] = dim;
        s->indices_shape[dim] = s->places[i];
        if (batching[i] > 0) {
            s->indices_dim[batching[i] - 1] = dim;
        }
    }
    for (size_t d = 0; d < s->rank; d++) {
        if (s->roles[d] == BATCHING) {
            s->input_batching[s->num_batching] = d;
            s->indices_batching[s->num_batching++] = s->indices_dim[d];
        }
    }
}

/* Mixes the dimensions of the window among the places. */
static void choose_slices(scene *s, rng *r)
{
    size_t left = s->num_places;
    size_t place = 0;
    for (size_t d = 0; d < s->rank; d++) {
        if (s->roles[d] != OFFSET) {
            continue;
        }
        for (; left > 0 && rng_chance(r, 40); left--) {
            s->places_in_slices[place] = s->slices_rank;
            s->slices_shape[s->slices_rank++] = s->places[place];
            place++;
        }
        s->window_dims[s->num_offset++] = s->slices_rank;
        s->slices_dim[d] = s->slices_rank;
        s->slices_shape[s->slices_rank++] = s->slice_sizes[d];
    }
    for (; left > 0; left--) {
        s->places_in_slices[place] = s->slices_rank;
        s->slices_shape[s->slices_rank++] = s->places[place];
        place++;
    }
}

static void fill_indices(scene *s, rng *r)
{
    static const tsr_dtype types[] = {TSR_I8, TSR_I16, TSR_I32, TSR_I64,
                                      TSR_U8, TSR_U16, TSR_U32, TSR_U64};
    const size_t which = (size_t)rng_below(r, 8);
    strided_init(&s->indices, r, types[which], s->indices_shape, s->indices_rank, STRIDED_SRC);
    for (int64_t i = 0; i < strided_count(&s->indices); i++) {
        unsigned char *at = strided_element(&s->indices, i);
        number_store(types[which], (double)(rng_below(r, 8) - (which < 4 ? 2 : 0)), at);
        if (rng_chance(r, 3)) {
            memset(at, 0xff, s->indices.item);
        }
    }
}

static void fill_bytes(rng *r, strided *s)
{
    for (int64_t i = 0; i < strided_count(s); i++) {
        unsigned char *at = strided_element(s, i);
        for (size_t byte = 0; byte < s->item; byte++) {
            at[byte] = (unsigned char)rng_below(r, 256);
        }
    }
}

static void fill_numbers(rng *r, strided *s)
{
    for (int64_t i = 0; i < strided_count(s); i++) {
        number_store(s->view.dtype, (double)rng_below(r, 7), strided_element(s, i));
    }
}

static void scene_init(scene *s, rng *r, tsr_dtype dtype, strided_kind input, strided_kind slices)
{
    memset(s, 0, sizeof *s);
    choose_roles(s, r);
    choose_places(s, r);
    choose_slices(s, r);
    fill_indices(s, r);
    strided_init(&s->input, r, dtype, s->full, s->rank, input);
    strided_init(&s->slices, r, dtype, s->slices_shape, s->slices_rank, slices);
}

static void scene_free(scene *s)
{
    strided_free(&s->input);
    strided_free(&s->indices);
    strided_free(&s->slices);
}

/* The start index of a place, along an indexed dimension. */
static int64_t start_of(const scene *s, const int64_t *slices_index, size_t d)
{
    int64_t index[STRIDED_MAX_RANK] = {0};
    for (size_t i = 0; i < s->num_places; i++) {
        index[s->places_in_indices[i]] = slices_index[s->places_in_slices[i]];
    }
    for (size_t i = 0; i < s->num_indexed; i++) {
        if (s->map[i] == d && s->vector_dim < s->indices_rank) {
            index[s->vector_dim] = (int64_t)i;
        }
    }
    const double x = number_load(s->indices.view.dtype, strided_at(&s->indices, index));
    return x > 1e6 ? 1000000 : (int64_t)x;
}

/* The element of the input that one of the slices is; false if it is outside. */
static bool input_of(const scene *s, const int64_t *slices_index, bool clamp, int64_t *index)
{
    bool inside = true;
    for (size_t d = 0; d < s->rank; d++) {
        index[d] = s->roles[d] == OFFSET ? slices_index[s->slices_dim[d]] : 0;
        for (size_t i = 0; i < s->num_places; i++) {
            if (s->roles[d] == BATCHING && s->places_in_indices[i] == s->indices_dim[d]) {
                index[d] = slices_index[s->places_in_slices[i]];
            }
        }
        if (s->indexed[d]) {
            const int64_t most = s->full[d] - s->slice_sizes[d];
            int64_t start = start_of(s, slices_index, d);
            start = clamp && start > most ? most : start;
            index[d] += clamp && start < 0 ? 0 : start;
            inside = inside && index[d] >= 0 && index[d] < s->full[d];
        }
    }
    return inside;
}

/* Whether slices of a gather have all of a dimension, so that its start does not matter. */
static bool takes_all(const scene *s, size_t d)
{
    return s->gathers && s->slice_sizes[d] == s->full[d];
}

/* A box of the input, and the parts of the others that go with it. */
typedef struct piece {
    tsr_view input;
    tsr_view indices;
    tsr_view slices;
    int64_t start[STRIDED_MAX_RANK];
    int64_t shapes[3][STRIDED_MAX_RANK];
} piece;

static void narrow(tsr_view *view, int64_t *shape, size_t dim, int64_t from, int64_t size)
{
    view->data = (char *)view->data + from * view->strides[dim];
    shape[dim] = size;
}

static void piece_init(const scene *s, const strided *input, const strided *slices,
                       const int64_t *from, const int64_t *size, piece *p)
{
    p->input = input->view;
    p->indices = s->indices.view;
    p->slices = slices->view;
    memcpy(p->shapes[0], input->shape, sizeof p->shapes[0]);
    memcpy(p->shapes[1], s->indices.shape, sizeof p->shapes[1]);
    memcpy(p->shapes[2], slices->shape, sizeof p->shapes[2]);
    p->input.shape = p->shapes[0];
    p->indices.shape = p->shapes[1];
    p->slices.shape = p->shapes[2];
    for (size_t d = 0; d < s->rank; d++) {
        p->start[d] = from[d];
        narrow(&p->input, p->shapes[0], d, from[d], size[d]);
        if (s->roles[d] == OFFSET && (!s->indexed[d] || takes_all(s, d))) {
            narrow(&p->slices, p->shapes[2], s->slices_dim[d], from[d], size[d]);
        }
        for (size_t i = 0; i < s->num_places; i++) {
            if (s->roles[d] == BATCHING && s->places_in_indices[i] == s->indices_dim[d]) {
                narrow(&p->indices, p->shapes[1], s->indices_dim[d], from[d], size[d]);
                narrow(&p->slices, p->shapes[2], s->places_in_slices[i], from[d], size[d]);
            }
        }
    }
}

static gather_job job_of(const scene *s, const piece *p)
{
    return (gather_job){.input = &p->input,
                        .indices = &p->indices,
                        .input_start = p->start,
                        .input_full = s->full,
                        .offset_dims = s->window_dims,
                        .num_offset = s->num_offset,
                        .collapsed_dims = s->collapsed,
                        .num_collapsed = s->num_collapsed,
                        .input_batching = s->input_batching,
                        .indices_batching = s->indices_batching,
                        .num_batching = s->num_batching,
                        .start_index_map = s->map,
                        .num_indexed = s->num_indexed,
                        .index_vector_dim = s->vector_dim,
                        .slice_sizes = s->slice_sizes};
}

/* How a dimension is cut: into up to three pieces, some of them empty. */
typedef struct cuts {
    int64_t at[MAX_INPUT][MAX_PIECES + 1];
    int64_t counts[MAX_INPUT];
    int64_t total;
} cuts;

static cuts random_cuts(const scene *s, rng *r, bool whole)
{
    cuts c = {.total = 1};
    for (size_t d = 0; d < s->rank; d++) {
        c.counts[d] = whole ? 1 : 1 + rng_below(r, MAX_PIECES);
        c.total *= c.counts[d];
        for (int64_t i = 1; i < c.counts[d]; i++) {
            const int64_t before = c.at[d][i - 1];
            c.at[d][i] = before + rng_below(r, s->full[d] - before + 1);
        }
        c.at[d][c.counts[d]] = s->full[d];
    }
    return c;
}

static void cut(const scene *s, const cuts *c, int64_t which, const strided *input,
                const strided *slices, piece *p)
{
    int64_t index[STRIDED_MAX_RANK];
    int64_t from[STRIDED_MAX_RANK];
    int64_t size[STRIDED_MAX_RANK];
    strided_index(c->counts, s->rank, which, index);
    for (size_t d = 0; d < s->rank; d++) {
        from[d] = c->at[d][index[d]];
        size[d] = c->at[d][index[d] + 1] - from[d];
    }
    piece_init(s, input, slices, from, size, p);
}

/* Junk in every element of a view, which must all be written. */
static void spoil(const tsr_view *view, size_t item)
{
    int64_t count = 1;
    for (size_t d = 0; d < view->rank; d++) {
        count *= view->shape[d];
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t index[STRIDED_MAX_RANK];
        int64_t offset = 0;
        strided_index(view->shape, view->rank, i, index);
        for (size_t d = 0; d < view->rank; d++) {
            offset += index[d] * view->strides[d];
        }
        memset((char *)view->data + offset, 0xff, item);
    }
}

/* Gathers box by box and adds up, by OR. */
static void gather_by_pieces(scene *s, rng *r, const cuts *c, strided *sum)
{
    for (int64_t i = 0; i < strided_count(sum); i++) {
        memset(strided_element(sum, i), 0, sum->item);
    }
    for (int64_t which = 0; which < c->total; which++) {
        strided part;
        piece p;
        strided_init(&part, r, s->input.view.dtype, s->slices_shape, s->slices_rank, STRIDED_DST);
        for (int64_t i = 0; i < strided_count(&part); i++) {
            memset(strided_element(&part, i), 0, part.item);
        }
        cut(s, c, which, &s->input, &part, &p);
        spoil(&p.slices, part.item);
        const gather_job job = job_of(s, &p);
        kernel_gather(&job, &p.slices);
        strided_check_guards(&part);
        for (int64_t i = 0; i < strided_count(sum); i++) {
            unsigned char *to = strided_element(sum, i);
            const unsigned char *from = strided_element(&part, i);
            for (size_t byte = 0; byte < sum->item; byte++) {
                to[byte] |= from[byte];
            }
        }
        strided_free(&part);
    }
}

static void check_gather(rng *r, tsr_dtype dtype, bool whole)
{
    scene s;
    scene_init(&s, r, dtype, STRIDED_SRC, STRIDED_DST);
    s.gathers = true;
    fill_bytes(r, &s.input);
    const cuts c = random_cuts(&s, r, whole);
    gather_by_pieces(&s, r, &c, &s.slices);
    for (int64_t i = 0; i < strided_count(&s.slices); i++) {
        int64_t slices_index[STRIDED_MAX_RANK];
        int64_t index[STRIDED_MAX_RANK];
        strided_index(s.slices_shape, s.slices_rank, i, slices_index);
        (void)input_of(&s, slices_index, true, index);
        assert_memory_equal(strided_at(&s.slices, slices_index), strided_at(&s.input, index),
                            s.slices.item);
    }
    scene_free(&s);
}

static void gather_is_that_of_the_definition(void **state)
{
    (void)state;
    const rng start = rng_start("gather_is_that_of_the_definition");
    for (int64_t i = 0; i < prop_cases(6000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        check_gather(&r, (tsr_dtype)(i % tsr_dtype_count()), true);
    }
}

static void boxes_add_up_to_the_gather_of_the_whole(void **state)
{
    (void)state;
    const rng start = rng_start("boxes_add_up_to_the_gather_of_the_whole");
    for (int64_t i = 0; i < prop_cases(3000); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        check_gather(&r, (tsr_dtype)(i % tsr_dtype_count()), false);
    }
}

static void combine(scatter_kind kind, tsr_dtype dtype, unsigned char *to,
                    const unsigned char *update)
{
    static const fold_op folds[] = {FOLD_SUM, FOLD_SUM, FOLD_PROD, FOLD_MAX, FOLD_MIN};
    const void *both[] = {to, update};
    if (kind == SCATTER_SET) {
        memcpy(to, update, (size_t)tsr_dtype_item_bytes(dtype));
    } else {
        kernel_fold(to, NULL, both, 2, NULL, NULL, 0, dtype, folds[kind], false);
    }
}

/* Window by window, in the order of the places, and each element by element. */
static void scatter_by_definition(const scene *s, scatter_kind kind, const strided *input)
{
    int64_t windows = 1;
    int64_t elements = 1;
    int64_t window_shape[STRIDED_MAX_RANK];
    for (size_t i = 0; i < s->num_places; i++) {
        windows *= s->places[i];
    }
    for (size_t i = 0; i < s->num_offset; i++) {
        window_shape[i] = s->slices_shape[s->window_dims[i]];
        elements *= window_shape[i];
    }
    for (int64_t n = 0; n < windows * elements; n++) {
        int64_t place[STRIDED_MAX_RANK];
        int64_t within[STRIDED_MAX_RANK];
        int64_t slices_index[STRIDED_MAX_RANK];
        int64_t index[STRIDED_MAX_RANK];
        strided_index(s->places, s->num_places, n / elements, place);
        strided_index(window_shape, s->num_offset, n % elements, within);
        for (size_t i = 0; i < s->num_places; i++) {
            slices_index[s->places_in_slices[i]] = place[i];
        }
        for (size_t i = 0; i < s->num_offset; i++) {
            slices_index[s->window_dims[i]] = within[i];
        }
        if (input_of(s, slices_index, false, index)) {
            combine(kind, input->view.dtype, strided_at(input, index),
                    strided_at(&s->slices, slices_index));
        }
    }
}

static void check_scatter(rng *r, tsr_dtype dtype, scatter_kind kind, bool whole)
{
    scene s;
    strided wanted;
    scene_init(&s, r, dtype, STRIDED_DST, STRIDED_SRC);
    s.gathers = false;
    strided_init(&wanted, r, dtype, s.full, s.rank, STRIDED_PLAIN);
    (kind == SCATTER_SET ? fill_bytes : fill_numbers)(r, &s.input);
    (kind == SCATTER_SET ? fill_bytes : fill_numbers)(r, &s.slices);
    for (int64_t i = 0; i < strided_count(&wanted); i++) {
        memcpy(strided_element(&wanted, i), strided_element(&s.input, i), wanted.item);
    }
    scatter_by_definition(&s, kind, &wanted);
    const cuts c = random_cuts(&s, r, whole);
    for (int64_t which = 0; which < c.total; which++) {
        piece p;
        cut(&s, &c, which, &s.input, &s.slices, &p);
        const gather_job job = job_of(&s, &p);
        kernel_scatter(kind, &job, &p.slices);
    }
    for (int64_t i = 0; i < strided_count(&wanted); i++) {
        assert_memory_equal(strided_element(&s.input, i), strided_element(&wanted, i), wanted.item);
    }
    strided_check_guards(&s.input);
    strided_free(&wanted);
    scene_free(&s);
}

static void check_scatters(const char *name, int64_t cases, bool whole)
{
    const rng start = rng_start(name);
    for (int64_t i = 0; i < prop_cases(cases); i++) {
        rng r = rng_case(&start, (uint64_t)i);
        const tsr_dtype dtype = (tsr_dtype)(i % tsr_dtype_count());
        const scatter_kind kind = (scatter_kind)rng_below(&r, 5);
        if (scatter_supports(kind, dtype)) {
            check_scatter(&r, dtype, kind, whole);
        }
    }
}

static void scatter_is_that_of_the_definition(void **state)
{
    (void)state;
    check_scatters("scatter_is_that_of_the_definition", 8000, true);
}

static void boxes_put_together_are_the_scatter_of_the_whole(void **state)
{
    (void)state;
    check_scatters("boxes_put_together_are_the_scatter_of_the_whole", 4000, false);
}

static void support_is_as_documented(void **state)
{
    (void)state;
    for (int i = 0; i < tsr_dtype_count(); i++) {
        const tsr_dtype dtype = (tsr_dtype)i;
        assert_true(scatter_supports(SCATTER_SET, dtype));
        assert_int_equal(scatter_supports(SCATTER_ADD, dtype), fold_supports(dtype, FOLD_SUM));
        assert_int_equal(scatter_supports(SCATTER_MULTIPLY, dtype),
                         fold_supports(dtype, FOLD_PROD));
        assert_int_equal(scatter_supports(SCATTER_MAX, dtype), fold_supports(dtype, FOLD_MAX));
        assert_int_equal(scatter_supports(SCATTER_MIN, dtype), fold_supports(dtype, FOLD_MIN));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(support_is_as_documented),
        cmocka_unit_test(gather_is_that_of_the_definition),
        cmocka_unit_test(boxes_add_up_to_the_gather_of_the_whole),
        cmocka_unit_test(scatter_is_that_of_the_definition),
        cmocka_unit_test(boxes_put_together_are_the_scatter_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
