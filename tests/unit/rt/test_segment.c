/* The allocator of segments: what it gives, what it gives back, and how much it wastes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "failing_heap.h"
#include "random.h"

#include "base/arena.h"
#include "rt/proc.h"
#include "rt/segment.h"

enum { PAGE = SEGMENT_ALIGNMENT, MAX_BLOCKS = 512 };

#define MEGABYTE ((size_t)1 << 20)

/* A segment over fresh address space. */
typedef struct space {
    segment s;
    char *base;
    size_t size;
} space;

static space space_new(tsr_context *ctx, size_t size)
{
    space p = {.size = size};
    p.base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
    assert_ptr_not_equal(p.base, MAP_FAILED);
    segment_init(&p.s, ctx, p.base, size);
    return p;
}

static void space_free(space *p)
{
    segment_destroy(&p->s);
    assert_int_equal(munmap(p->base, p->size), 0);
}

/* What the test believes is allocated. */
typedef struct model {
    struct {
        char *memory;
        size_t size;
        unsigned char mark;
    } blocks[MAX_BLOCKS];
    size_t count;
    size_t pages;
    size_t most_pages;
} model;

static size_t pages_of(size_t size)
{
    return (size > 0 ? size + PAGE - 1 : PAGE) / PAGE;
}

/* Writes a mark at both ends of a block: another block there would overwrite it. */
static void put_marks(const model *m, size_t i)
{
    char *memory = m->blocks[i].memory;
    const size_t size = m->blocks[i].size > 0 ? m->blocks[i].size : 1;
    memory[0] = (char)m->blocks[i].mark;
    memory[size - 1] = (char)m->blocks[i].mark;
}

static void check_marks(const model *m, size_t i)
{
    const char *memory = m->blocks[i].memory;
    const size_t size = m->blocks[i].size > 0 ? m->blocks[i].size : 1;
    assert_int_equal((unsigned char)memory[0], m->blocks[i].mark);
    assert_int_equal((unsigned char)memory[size - 1], m->blocks[i].mark);
}

static bool add(space *p, model *m, size_t size, unsigned char mark)
{
    char *memory = segment_try(&p->s, size);
    if (memory == NULL) {
        return false;
    }
    assert_int_equal((size_t)(memory - p->base) % PAGE, 0);
    assert_true(memory >= p->base && memory + size <= p->base + p->size);
    for (size_t i = 0; i < m->count; i++) {
        const char *other = m->blocks[i].memory;
        assert_true(memory + pages_of(size) * PAGE <= other ||
                    other + pages_of(m->blocks[i].size) * PAGE <= memory);
    }
    m->blocks[m->count].memory = memory;
    m->blocks[m->count].size = size;
    m->blocks[m->count].mark = mark;
    put_marks(m, m->count++);
    m->pages += pages_of(size);
    m->most_pages = m->pages > m->most_pages ? m->pages : m->most_pages;
    return true;
}

static void drop(space *p, model *m, size_t i)
{
    check_marks(m, i);
    segment_free(&p->s, m->blocks[i].memory);
    m->pages -= pages_of(m->blocks[i].size);
    m->blocks[i] = m->blocks[--m->count];
}

/* Sizes of every magnitude up to 2^bits, and often the same ones again. */
static size_t random_size(rng *r, int64_t bits)
{
    static const size_t usual[] = {0, 1, PAGE - 1, PAGE, PAGE + 1, 7 * PAGE, 100 * PAGE, MEGABYTE};
    if (rng_chance(r, 30)) {
        return usual[rng_below(r, sizeof usual / sizeof usual[0])];
    }
    return (size_t)rng_below(r, (int64_t)1 << rng_below(r, bits + 1));
}

/* Returns how far into the segment blocks have reached. */
static size_t churn(space *p, model *m, rng *r, int64_t rounds, int64_t bits, size_t most_live)
{
    size_t reached = 0;
    for (int64_t i = 0; i < rounds; i++) {
        const size_t size = random_size(r, bits);
        const bool full = m->count == MAX_BLOCKS || m->pages * PAGE + size > most_live;
        if (m->count > 0 && (full || rng_chance(r, 45))) {
            drop(p, m, (size_t)rng_below(r, (int64_t)m->count));
        } else if (!full) {
            assert_true(add(p, m, size, (unsigned char)i));
            const size_t end =
                (size_t)(m->blocks[m->count - 1].memory - p->base) + pages_of(size) * PAGE;
            reached = end > reached ? end : reached;
        }
        assert_int_equal(p->s.live, m->pages * PAGE);
        assert_int_equal(p->s.most, m->most_pages * PAGE);
    }
    return reached;
}

static void drop_all(space *p, model *m)
{
    while (m->count > 0) {
        drop(p, m, m->count - 1);
    }
    assert_int_equal(p->s.live, 0);
}

/* Blocks are apart, keep what is written, and nothing is lost: in the end all is one block. */
static void blocks_are_apart_and_come_together(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("blocks_are_apart_and_come_together");
    for (int64_t i = 0; i < prop_cases(20); i++) {
        static model m;
        rng r = rng_case(&base, (uint64_t)i);
        space p = space_new(f->ctx, 64 * MEGABYTE);
        m = (model){.count = 0};
        (void)churn(&p, &m, &r, 3000, 21, 32 * MEGABYTE);
        drop_all(&p, &m);
        assert_true(add(&p, &m, p.size, 1));
        assert_null(segment_try(&p.s, 1));
        drop_all(&p, &m);
        space_free(&p);
    }
}

/* Random blocks never reach much further than the most that was live. */
static void little_is_wasted(void **state)
{
    fixture *f = *state;
    const rng base = rng_start("little_is_wasted");
    double worst = 0;
    for (int64_t i = 0; i < prop_cases(20); i++) {
        static model m;
        rng r = rng_case(&base, (uint64_t)i);
        space p = space_new(f->ctx, 1024 * MEGABYTE);
        m = (model){.count = 0};
        const size_t reached = churn(&p, &m, &r, 5000, 20, 64 * MEGABYTE);
        const double waste = (double)reached / (double)(m.most_pages * PAGE);
        worst = waste > worst ? waste : worst;
        drop_all(&p, &m);
        space_free(&p);
    }
    printf("reached at most %.2f times what was live\n", worst);
    assert_true(worst < 1.5);
}

static size_t resident_bytes(const space *p)
{
    const size_t pages = p->size / PAGE;
    unsigned char *present = malloc(pages);
    size_t count = 0;
    assert_non_null(present);
    assert_int_equal(mincore(p->base, p->size, present), 0);
    for (size_t i = 0; i < pages; i++) {
        count += present[i] & 1U;
    }
    free(present);
    return count * PAGE;
}

/* After a peak, pages go back as other blocks come and go; a loop keeps the pages of its own. */
static void pages_go_back(void **state)
{
    fixture *f = *state;
    enum { PEAK = 40 };
    space p = space_new(f->ctx, 2048 * MEGABYTE);
    char *blocks[PEAK];
    for (int i = 0; i < PEAK; i++) {
        blocks[i] = segment_try(&p.s, 10 * MEGABYTE);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, 10 * MEGABYTE);
    }
    for (int i = 4; i < PEAK; i++) {
        segment_free(&p.s, blocks[i]);
    }
    for (int i = 0; i < 4000; i++) {
        char *brief = segment_try(&p.s, MEGABYTE);
        assert_non_null(brief);
        brief[0] = 1;
        segment_free(&p.s, brief);
    }
    assert_int_equal(p.s.live, 40 * MEGABYTE);
    assert_true(resident_bytes(&p) <= 40 * MEGABYTE + MEGABYTE + SEGMENT_SPARE_BYTES);
    char *large = segment_try(&p.s, 300 * MEGABYTE);
    assert_non_null(large);
    memset(large, 1, 300 * MEGABYTE);
    segment_free(&p.s, large);
    char *again = segment_try(&p.s, 300 * MEGABYTE);
    assert_ptr_equal(again, large);
    assert_true(resident_bytes(&p) >= 300 * MEGABYTE);
    segment_free(&p.s, again);
    for (int i = 0; i < 4; i++) {
        segment_free(&p.s, blocks[i]);
    }
    space_free(&p);
}

/* Pages at the end of a free block are known when its front, which has none, is allocated. */
static void pages_at_the_end_count(void **state)
{
    fixture *f = *state;
    space p = space_new(f->ctx, 2048 * MEGABYTE);
    char *hole = segment_try(&p.s, MEGABYTE);
    char *first = segment_try(&p.s, PAGE);
    char *front = segment_try(&p.s, 200 * MEGABYTE);
    char *end = segment_try(&p.s, 40 * MEGABYTE);
    char *last = segment_try(&p.s, PAGE);
    assert_ptr_equal(end, front + 200 * MEGABYTE);
    memset(end, 1, 40 * MEGABYTE);
    segment_free(&p.s, front);
    segment_free(&p.s, hole);
    for (int i = 0; i < 4000; i++) {
        assert_ptr_equal(segment_try(&p.s, MEGABYTE), hole);
        segment_free(&p.s, hole);
    }
    assert_true(p.s.resident <= MEGABYTE);
    segment_free(&p.s, end);
    assert_ptr_equal(segment_try(&p.s, 200 * MEGABYTE), front);
    assert_true(resident_bytes(&p) >= 40 * MEGABYTE);
    assert_true(p.s.resident >= 40 * MEGABYTE);
    segment_free(&p.s, front);
    segment_free(&p.s, first);
    segment_free(&p.s, last);
    space_free(&p);
}

/* A block that a lost rank may still write into is never given out again. */
static void retired_blocks_stay(void **state)
{
    fixture *f = *state;
    space p = space_new(f->ctx, 8 * MEGABYTE);
    char *first = segment_try(&p.s, MEGABYTE);
    char *second = segment_try(&p.s, MEGABYTE);
    assert_non_null(first);
    assert_non_null(second);
    segment_free(&p.s, second);
    segment_retire_live(&p.s);
    segment_free(&p.s, first);
    for (int i = 0; i < 7; i++) {
        char *other = segment_try(&p.s, MEGABYTE);
        assert_non_null(other);
        assert_true(other >= first + MEGABYTE);
    }
    assert_null(segment_try(&p.s, 1));
    space_free(&p);
}

static void what_does_not_fit(void **state)
{
    fixture *f = *state;
    space p = space_new(f->ctx, MEGABYTE);
    assert_null(segment_alloc(&p.s, MEGABYTE + 1));
    expect_error(f, "cannot allocate 1048577 bytes in a segment of 1048576 bytes; set a larger "
                    "segment_bytes or TSR_SEGMENT_BYTES");
    char *half = segment_alloc(&p.s, MEGABYTE / 2);
    assert_non_null(half);
    assert_null(segment_alloc(&p.s, MEGABYTE / 2 + 1));
    expect_error(f, "the segment of 1048576 bytes has no room for 524289 more bytes; set a larger "
                    "segment_bytes or TSR_SEGMENT_BYTES");
    segment_free(&p.s, half);
    assert_non_null(segment_alloc(&p.s, MEGABYTE));
    space_free(&p);
}

/* More than the machine has, of which a block is left: not for want of what describes that. */
static void what_the_machine_has_not(void **state)
{
    fixture *f = *state;
    const size_t tera = (size_t)1 << 40;
    space p = space_new(f->ctx, 16 * tera);
    if (proc_available_bytes() < 8 * tera) {
        assert_null(segment_alloc(&p.s, 8 * tera));
        expect_error(f, "the machine has too little free memory: in a segment of 17592186044416 "
                        "bytes a tensor needs 8796093022208; use fewer or smaller tensors");
    }
    space_free(&p);
}

/*
 * With the n-th allocation of a description failing: no block, or one of its size, so that the next
 * ones have room; nothing is lost.
 */
static bool fail_once(int64_t n)
{
    failing_heap heap = {.fail_at = -1};
    const tsr_allocator allocator = {.resize = failing_heap_resize, .state = &heap};
    static model m;
    fixture f = {0};
    assert_int_equal(tsr_context_create(&allocator, &f.ctx), TSR_OK);
    space p = space_new(f.ctx, 16 * MEGABYTE);
    m = (model){.count = 0};
    heap.calls = 0;
    heap.fail_at = n;
    for (size_t i = 0; i < 100; i++) {
        (void)add(&p, &m, (i % 7) * PAGE, (unsigned char)i);
    }
    assert_true(m.count >= 99);
    while (m.count > 1) {
        drop(&p, &m, m.count / 2);
    }
    const bool failed = heap.calls > n;
    heap.fail_at = -1;
    m.count = 0;
    space_free(&p);
    tsr_context_destroy(f.ctx);
    assert_int_equal(heap.live, 0);
    return failed;
}

static void failures_lose_nothing(void **state)
{
    (void)state;
    int64_t n = 0;
    while (fail_once(n)) {
        n++;
    }
    assert_true(n > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks_are_apart_and_come_together),
        TEST(little_is_wasted),
        TEST(pages_go_back),
        TEST(pages_at_the_end_count),
        TEST(retired_blocks_stay),
        TEST(what_does_not_fit),
        TEST(what_the_machine_has_not),
        TEST(failures_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
