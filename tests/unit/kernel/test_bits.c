/*
 * Random bits by key and counter. The wanted bits were printed by XLA's generators on CPU; blocks
 * of zeros are those published with the algorithms.
 */
#include <string.h>

#include "strided.h"

#include "kernel/bits.h"

enum { MAX_ELEMENTS = 8, MAX_DIMS_HERE = 2 };

typedef struct bits_case {
    bits_algorithm algorithm;
    tsr_dtype dtype;
    size_t rank;
    int64_t shape[MAX_DIMS_HERE];
    int64_t num_words; /* of the state */
    uint64_t state[3];
    uint64_t after[3];
    uint64_t wanted[MAX_ELEMENTS];
} bits_case;

#define KEY UINT64_C(0x1122334455667788)
#define LAST UINT64_C(0xfffffffffffffffe)

static const bits_case cases[] = {
    {BITS_PHILOX,
     TSR_U32,
     1,
     {4},
     3,
     {0, 0, 0},
     {0, 1, 0},
     {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {BITS_THREE_FRY, TSR_U32, 1, {2}, 2, {0, 0}, {0, 1}, {0x6b200159, 0x99ba4efe}},
    {BITS_PHILOX,
     TSR_U32,
     1,
     {5},
     3,
     {KEY, LAST, 7},
     {KEY, 0, 8},
     {0xdf0b8380, 0x7387ca59, 0x4031ad69, 0x59d1ed17, 0x217dd4b0}},
    {BITS_PHILOX,
     TSR_U64,
     1,
     {5},
     3,
     {KEY, LAST, 7},
     {KEY, 1, 8},
     {0x7387ca59df0b8380, 0x59d1ed174031ad69, 0x9347de74217dd4b0, 0x8dc9d04565758b80,
      0x319b69af4de876de}},
    {BITS_PHILOX, TSR_U8, 1, {5}, 3, {KEY, LAST, 7}, {KEY, 0, 8}, {0x80, 0x59, 0x69, 0x17, 0xb0}},
    {BITS_PHILOX,
     TSR_U16,
     1,
     {5},
     3,
     {KEY, LAST, 7},
     {KEY, 0, 8},
     {0x8380, 0xca59, 0xad69, 0xed17, 0xd4b0}},
    {BITS_PHILOX,
     TSR_U32,
     1,
     {5},
     2,
     {KEY, LAST},
     {KEY, 0},
     {0x692c97bc, 0x1cc322d3, 0x138ba891, 0x51db837d, 0x1b6410dc}},
    {BITS_PHILOX,
     TSR_U64,
     1,
     {5},
     2,
     {KEY, LAST},
     {KEY, 1},
     {0x1cc322d3692c97bc, 0x51db837d138ba891, 0x034026951b6410dc, 0xea754e5a229b42eb,
      0x55de986d86102ae7}},
    {BITS_THREE_FRY,
     TSR_U32,
     1,
     {5},
     2,
     {KEY, LAST},
     {KEY, 1},
     {0x4132f7fb, 0x45d434d0, 0x1e0b69a5, 0x809ea15f, 0x0deab093}},
    {BITS_THREE_FRY,
     TSR_U64,
     1,
     {5},
     2,
     {KEY, LAST},
     {KEY, 3},
     {0x45d434d04132f7fb, 0x809ea15f1e0b69a5, 0xee3d5da80deab093, 0xef8011e6495ca14a,
      0x5d1bb8bbe11d3632}},
    {BITS_THREE_FRY, TSR_U8, 1, {5}, 2, {KEY, LAST}, {KEY, 1}, {0xfb, 0xd0, 0xa5, 0x5f, 0x93}},
    {BITS_THREE_FRY,
     TSR_BF16,
     1,
     {5},
     2,
     {KEY, LAST},
     {KEY, 1},
     {0xf7fb, 0x34d0, 0x69a5, 0xa15f, 0xb093}},
    {BITS_PHILOX, TSR_U32, 1, {0}, 2, {5, 6}, {5, 6}, {0}},
    {BITS_THREE_FRY, TSR_U32, 1, {0}, 2, {5, 6}, {5, 6}, {0}},
    {BITS_PHILOX, TSR_U32, 0, {0}, 2, {5, 6}, {5, 7}, {1465900379}},
    {BITS_THREE_FRY, TSR_U32, 0, {0}, 2, {5, 6}, {5, 7}, {2857746084}},
};

static uint64_t element_at(const strided *s, int64_t place)
{
    int64_t index[STRIDED_MAX_RANK];
    uint64_t value = 0;
    strided_index(s->view.shape, s->view.rank, place, index);
    memcpy(&value, strided_at(s, index), s->item);
    return value;
}

static void bits_are_those_of_xla(void **unused)
{
    (void)unused;
    const rng start = rng_start("bits_are_those_of_xla");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bits_case *c = &cases[i];
        rng r = rng_case(&start, i);
        strided bits;
        strided after;
        strided_init(&bits, &r, c->dtype, c->shape, c->rank, STRIDED_DST);
        strided_init(&after, &r, TSR_U64, &c->num_words, 1, STRIDED_DST);
        uint64_t words[3];
        memcpy(words, c->state, sizeof words);
        const tsr_view state = {
            .data = words,
            .dtype = TSR_U64,
            .rank = 1,
            .shape = &(int64_t){c->num_words},
            .strides = &(int64_t){sizeof *words},
        };
        kernel_bits(c->algorithm, &bits.view, &after.view, &state);
        for (int64_t k = 0; k < c->num_words; k++) {
            assert_int_equal(element_at(&after, k), c->after[k]);
        }
        for (int64_t k = 0; k < strided_count(&bits); k++) {
            assert_int_equal(element_at(&bits, k), c->wanted[k]);
        }
        strided_check_guards(&bits);
        strided_check_guards(&after);
        strided_free(&bits);
        strided_free(&after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_are_those_of_xla)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
