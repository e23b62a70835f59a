/* The dialects by hand-written examples: every form in both directions, every refusal, every error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "base/arena.h"

enum { MAX_RANK = 16 };

#define XY "<[\"x\"=2, \"y\"=4]>"
#define XYZ "<[\"x\"=2, \"y\"=2, \"z\"=2]>"

/* A shape as text, "4x8"; "" is a scalar, a `?` not known, NULL no shape. */
typedef struct extents {
    size_t rank;
    int64_t values[MAX_RANK];
    const int64_t *shape;
} extents;

static void parse_shape(const char *text, extents *out)
{
    *out = (extents){0};
    if (text == NULL) {
        return;
    }
    out->shape = out->values;
    while (*text != '\0') {
        char *end = NULL;
        const bool unknown = *text == '?';
        out->values[out->rank++] = unknown ? TSR_UNKNOWN : strtoll(text, &end, 10);
        text = unknown ? text + 1 : end;
        text += *text == 'x';
    }
}

static const tsr_mesh *mesh_or_none(fixture *f, const char *text)
{
    return text != NULL ? mesh_of(f, text) : NULL;
}

static tsr_status try_read(fixture *f, tsr_dialect dialect, const char *mesh, const char *shape,
                           const char *string, const tsr_sharding **out)
{
    extents e;
    parse_shape(shape, &e);
    tsr_text text = tsr_text_of("<test>", string);
    const tsr_sharding_reader reader = {
        .mesh = mesh_or_none(f, mesh), .reading = TSR_READ_LENIENT, .rank = -1};
    const tsr_status status =
        tsr_dialect_read(f->ctx, f->arena, dialect, &text, &reader, e.rank, e.shape, out);
    if (status == TSR_OK) {
        assert_int_equal(text.at, strlen(string));
    }
    return status;
}

static const tsr_sharding *read_it(fixture *f, tsr_dialect dialect, const char *mesh,
                                   const char *shape, const char *string)
{
    const tsr_sharding *sharding = NULL;
    const tsr_status status = try_read(f, dialect, mesh, shape, string, &sharding);
    if (status != TSR_OK) {
        const tsr_diagnostic *first = tsr_context_diagnostics(f->ctx);
        fail_msg("%s: %s", string, first != NULL ? first->text : tsr_status_name(status));
    }
    return sharding;
}

static void expect_print(fixture *f, const tsr_sharding *sharding, tsr_printing printing,
                         const char *expected)
{
    const char *text;
    assert_int_equal(tsr_sharding_print(f->ctx, f->arena, sharding, printing, &text), TSR_OK);
    assert_string_equal(text, expected);
}

/* Reading `string` gives the sharding that prints as `bare`. */
static void expect_read(fixture *f, tsr_dialect dialect, const char *mesh, const char *shape,
                        const char *string, const char *bare)
{
    expect_print(f, read_it(f, dialect, mesh, shape, string), TSR_PRINT_BARE, bare);
    assert_null(tsr_context_diagnostics(f->ctx));
}

/* The same with its own mesh, which is printed too. */
static void expect_read_full(fixture *f, const char *mesh, const char *shape, const char *string,
                             const char *full)
{
    expect_print(f, read_it(f, TSR_DIALECT_HLO, mesh, shape, string), TSR_PRINT_STRIPPED, full);
}

static tsr_status try_write(fixture *f, tsr_dialect dialect, const char *mesh, const char *shape,
                            const char *sharding, const char **out)
{
    extents e;
    parse_shape(shape, &e);
    return tsr_dialect_write(f->ctx, f->arena, dialect, sharding_of(f, mesh_of(f, mesh), sharding),
                             e.shape, out);
}

static void expect_write(fixture *f, tsr_dialect dialect, const char *mesh, const char *shape,
                         const char *sharding, const char *expected)
{
    const char *text = NULL;
    assert_int_equal(try_write(f, dialect, mesh, shape, sharding, &text), TSR_OK);
    assert_string_equal(text, expected);
}

/* The last error, or one of its notes when the words are not in it. */
static void expect_words(fixture *f, const char *words)
{
    const tsr_diagnostic *error = tsr_context_diagnostics(f->ctx);
    assert_non_null(error);
    bool found = strstr(error->text, words) != NULL;
    for (const tsr_diagnostic *note = error->notes; note != NULL; note = note->next) {
        found = found || strstr(note->text, words) != NULL;
    }
    if (!found) {
        fail_msg("\"%s\" is not in \"%s\"", words, error->text);
    }
}

static void expect_read_error(fixture *f, tsr_dialect dialect, const char *mesh, const char *shape,
                              const char *string, tsr_status status, const char *words)
{
    const tsr_sharding *untouched = NULL;
    tsr_context_clear(f->ctx);
    assert_int_equal(try_read(f, dialect, mesh, shape, string, &untouched), status);
    assert_null(untouched);
    expect_words(f, words);
    tsr_context_clear(f->ctx);
}

/* A refusal says that it is one, why, and what to do. */
static void expect_refused(fixture *f, tsr_dialect dialect, const char *mesh, const char *shape,
                           const char *sharding, const char *words, const char *remedy)
{
    const char *untouched = NULL;
    char head[64];
    (void)snprintf(head, sizeof head, "cannot be expressed in %s, because ",
                   tsr_dialect_name(dialect));
    tsr_context_clear(f->ctx);
    assert_int_equal(try_write(f, dialect, mesh, shape, sharding, &untouched), TSR_ERR_UNSUPPORTED);
    assert_null(untouched);
    assert_int_equal(strncmp(tsr_context_diagnostics(f->ctx)->text, head, strlen(head)), 0);
    expect_words(f, words);
    expect_words(f, remedy);
    tsr_context_clear(f->ctx);
}

static void test_names(void **state)
{
    fixture *f = *state;
    static const char *const names[] = {"sdy", "jax", "dtensor", "hlo"};
    for (size_t i = 0; i < 4; i++) {
        tsr_dialect dialect;
        assert_int_equal(tsr_dialect_parse(f->ctx, names[i], &dialect), TSR_OK);
        assert_int_equal(dialect, i);
        assert_string_equal(tsr_dialect_name(dialect), names[i]);
    }
    tsr_dialect dialect = TSR_DIALECT_HLO;
    assert_int_equal(tsr_dialect_parse(f->ctx, "klingon", &dialect), TSR_ERR_INVALID);
    assert_int_equal(dialect, TSR_DIALECT_HLO);
    expect_words(f, "unknown dialect: \"klingon\"");
    expect_words(f, "sdy, jax, dtensor and hlo");
}

static tsr_dialect guess(const char *string)
{
    const tsr_text text = tsr_text_of("<test>", string);
    return tsr_dialect_guess(&text);
}

static void test_guess(void **state)
{
    (void)state;
    assert_int_equal(guess("P('x')"), TSR_DIALECT_JAX);
    assert_int_equal(guess("  P ()"), TSR_DIALECT_JAX);
    assert_int_equal(guess("PartitionSpec('x')"), TSR_DIALECT_JAX);
    assert_int_equal(guess("jax.sharding.PartitionSpec('x')"), TSR_DIALECT_JAX);
    assert_int_equal(guess("[Shard(0)]"), TSR_DIALECT_DTENSOR);
    assert_int_equal(guess("[ Replicate()]"), TSR_DIALECT_DTENSOR);
    assert_int_equal(guess("[Partial()]"), TSR_DIALECT_DTENSOR);
    assert_int_equal(guess("[DynamicShard(0, [1])]"), TSR_DIALECT_DTENSOR);
    assert_int_equal(guess("[PartitionedShard(0)]"), TSR_DIALECT_DTENSOR);
    assert_int_equal(guess("[_StridedShard(0)]"), TSR_DIALECT_DTENSOR);
    assert_int_equal(guess("(S(0), R)"), TSR_DIALECT_DTENSOR);
    assert_int_equal(guess("{replicated}"), TSR_DIALECT_HLO);
    assert_int_equal(guess("{devices=[2]<=[2]}"), TSR_DIALECT_HLO);
    assert_int_equal(guess("[{\"x\"}]"), TSR_DIALECT_SDY);
    assert_int_equal(guess("[]"), TSR_DIALECT_SDY);
    assert_int_equal(guess("sharding<@m, []>"), TSR_DIALECT_SDY);
    assert_int_equal(guess("#sdy.sharding<@m, []>"), TSR_DIALECT_SDY);
    assert_int_equal(guess("<@m, []>"), TSR_DIALECT_SDY);
    assert_int_equal(guess("P"), TSR_DIALECT_SDY);
    assert_int_equal(guess(""), TSR_DIALECT_SDY);
    assert_int_equal(guess("["), TSR_DIALECT_SDY);
    assert_int_equal(guess(" \n"), TSR_DIALECT_SDY);
}

/* A slice of a larger text: nothing after `size` is read, `at` ends after the sharding. */
static void test_slices(void **state)
{
    fixture *f = *state;
    const char *string = "P('x') to [Shard(0)]";
    tsr_text text = tsr_text_of("<test>", string);
    const tsr_sharding_reader reader = {.mesh = mesh_of(f, "<[\"x\"=2]>"), .rank = 1};
    const tsr_sharding *sharding;
    text.size = 1;
    assert_int_equal(tsr_dialect_guess(&text), TSR_DIALECT_SDY);
    text.size = strlen(string);
    assert_int_equal(
        tsr_dialect_read(f->ctx, f->arena, TSR_DIALECT_JAX, &text, &reader, 0, NULL, &sharding),
        TSR_OK);
    assert_int_equal(text.at, 6);
    text.at = 10;
    assert_int_equal(tsr_dialect_guess(&text), TSR_DIALECT_DTENSOR);
    assert_int_equal(
        tsr_dialect_read(f->ctx, f->arena, TSR_DIALECT_DTENSOR, &text, &reader, 0, NULL, &sharding),
        TSR_OK);
    assert_int_equal(text.at, text.size);
}

static void test_sdy(void **state)
{
    fixture *f = *state;
    const tsr_dialect sdy = TSR_DIALECT_SDY;
    expect_read(f, sdy, XY, "4x8", "[{\"x\"}, {\"y\", ?}p1]", "[{\"x\"}, {\"y\", ?}p1]");
    expect_read(f, sdy, XY, NULL, "#sdy.sharding<@m, [{\"x\"}]>", "[{\"x\"}]");
    expect_read_error(f, sdy, XY, "4x8", "[{\"x\"}]", TSR_ERR_INVALID,
                      "sharding doesn't match tensor rank: 1 != 2");
    expect_write(f, sdy, "@m = " XY, NULL, "[{\"y\":(1)2, ?}p1], replicated={\"x\"}",
                 "#sdy.sharding<@m, [{\"y\":(1)2, ?}p1], replicated={\"x\"}>");
}

static void test_jax_read(void **state)
{
    fixture *f = *state;
    const tsr_dialect jax = TSR_DIALECT_JAX;
    expect_read(f, jax, XYZ, "4x8x2x2", "P('x', None, ('y', 'z'), P.UNCONSTRAINED)",
                "[{\"x\"}, {}, {\"y\", \"z\"}, {?}]");
    expect_read(f, jax, XYZ, NULL, "P(\"x\", None)", "[{\"x\"}, {}]");
    expect_read(f, jax, XYZ, "4x8", "PartitionSpec('x')", "[{\"x\"}, {}]");
    expect_read(f, jax, XYZ, NULL, "jax.P('x', PartitionSpec.UNCONSTRAINED,)", "[{\"x\"}, {?}]");
    expect_read(f, jax, XYZ, NULL, "P((), ('x',), ('z', 'y',))", "[{}, {\"x\"}, {\"z\", \"y\"}]");
    expect_read(f, jax, XYZ, NULL, "P()", "[]");
    expect_read(f, jax, XYZ, "1x2x3", "P()", "[{}, {}, {}]");
    expect_read(f, jax, XYZ, "", "P()", "[]");
    expect_read(f, jax, XYZ, NULL, "P('x', unreduced={'z', 'y'})",
                "[{\"x\"}], unreduced={\"y\", \"z\"}");
    expect_read(f, jax, XYZ, NULL, "P('x', unreduced=frozenset({'y'}))",
                "[{\"x\"}], unreduced={\"y\"}");
    expect_read(f, jax, XYZ, NULL, "P(None, unreduced=set(),)", "[{}]");
    expect_read(f, jax, XYZ, NULL, "P(unreduced={'x'})", "[], unreduced={\"x\"}");
    expect_read(f, jax, "<[\"it's\"=2, \"b\\\\c\"=2]>", NULL, "P('it\\'s', 'b\\\\c')",
                "[{\"it's\"}, {\"b\\\\c\"}]");
    expect_read(f, jax, "<[\"a\\0Ab\"=2]>", NULL, "P('a\\x0Ab')", "[{\"a\\0Ab\"}]");
    expect_read(f, jax, "<[], device_ids=[3]>", "4x8", "P()", "[]");
}

static void test_jax_errors(void **state)
{
    fixture *f = *state;
    const tsr_dialect jax = TSR_DIALECT_JAX;
    expect_read_error(f, jax, XY, "4", "P('x', None)", TSR_ERR_INVALID,
                      "the partition spec has 2 entries, the tensor 1 dimensions");
    expect_read_error(f, jax, XY, NULL, "P('q')", TSR_ERR_INVALID, "unknown axis name: \"q\"");
    expect_read_error(f, jax, XY, NULL, "P('x', 'x')", TSR_ERR_INVALID, "\"x\"");
    expect_read_error(f, jax, XY, NULL, "P('x', unreduced={'x'})", TSR_ERR_INVALID, "\"x\"");
    expect_read_error(f, jax, NULL, NULL, "P('x')", TSR_ERR_INVALID, "none is given");
    expect_read_error(f, jax, XY, NULL, "Q('x')", TSR_ERR_SYNTAX, "expected P(...)");
    expect_read_error(f, jax, XY, NULL, "P", TSR_ERR_SYNTAX, "expected '('");
    expect_read_error(f, jax, XY, NULL, "P('x'", TSR_ERR_SYNTAX, "expected ')'");
    expect_read_error(f, jax, XY, NULL, "P('x", TSR_ERR_SYNTAX, "in string literal");
    expect_read_error(f, jax, XY, NULL, "P(x)", TSR_ERR_SYNTAX, "expected None");
    expect_read_error(f, jax, XY, NULL, "P((None,))", TSR_ERR_SYNTAX, "expected string");
    expect_read_error(f, jax, XY, NULL, "P(unreduced={'x'}, 'y')", TSR_ERR_SYNTAX,
                      "an entry cannot follow unreduced");
    expect_read_error(f, jax, XY, NULL, "P(unreduced={'x'}, unreduced={'y'})", TSR_ERR_SYNTAX,
                      "unreduced is repeated");
    expect_read_error(f, jax, XY, NULL, "P(reduced={'x'})", TSR_ERR_UNSUPPORTED, "reduced={...}");
}

static void test_jax_write(void **state)
{
    fixture *f = *state;
    const tsr_dialect jax = TSR_DIALECT_JAX;
    expect_write(f, jax, XYZ, NULL, "[{\"x\"}, {}, {\"z\", \"y\"}, {?}]",
                 "P('x', None, ('z', 'y'), P.UNCONSTRAINED)");
    expect_write(f, jax, XYZ, "4x4", "[{\"x\"}, {}], unreduced={\"y\", \"z\"}",
                 "P('x', None, unreduced={'y', 'z'})");
    expect_write(f, jax, XYZ, NULL, "[]", "P()");
    expect_write(f, jax, XYZ, NULL, "[], unreduced={\"x\"}", "P(unreduced={'x'})");
    expect_write(f, jax, "<[\"it's\"=2, \"b\\\\c\"=2]>", NULL, "[{\"it's\"}, {\"b\\\\c\"}]",
                 "P('it\\'s', 'b\\\\c')");
    expect_write(f, jax, "<[\"a\\0Ab\"=2]>", NULL, "[{\"a\\0Ab\"}]", "P('a\\x0Ab')");
}

static void test_jax_refusals(void **state)
{
    fixture *f = *state;
    const tsr_dialect jax = TSR_DIALECT_JAX;
    expect_refused(f, jax, XY, NULL, "[{}, {\"y\":(1)2}]", "\"y\":(1)2 is only part of its axis",
                   "an axis of its own");
    expect_refused(f, jax, XY, NULL, "[{}], unreduced={\"y\":(2)2}", "\"y\":(2)2 is only part",
                   "an axis of its own");
    expect_refused(f, jax, XY, NULL, "[{}, {\"x\", ?}]", "dim 1 is open and sharded already",
                   "leave out its ?");
    expect_refused(f, jax, XY, NULL, "[{\"x\"}p3]", "dim 0 has priority 3", "remove the p3");
    expect_refused(f, jax, XY, NULL, "[{}], replicated={\"x\"}", "\"x\" must stay replicated",
                   "remove replicated");
    expect_refused(f, jax, XY, NULL, "[{\"x\"}:dynamic[3, 5]]", "dim 0 is dynamic",
                   "sdy and dtensor");
    expect_refused(f, jax, XY, NULL, "[{\"x\"}:partitioned[[3], [5]]]", "dim 0 is partitioned",
                   "sdy and dtensor");
    expect_refused(f, jax, XY, NULL, "[{}], unreduced=max{\"x\"}",
                   "the reduction pending over \"x\" is max", "sdy and dtensor");
    expect_refused(f, jax, "<[], device_ids=[3]>", NULL, "[]", "its mesh is the single device 3",
                   "sdy and hlo");
}

static void test_dtensor_read(void **state)
{
    fixture *f = *state;
    const tsr_dialect dt = TSR_DIALECT_DTENSOR;
    expect_read(f, dt, XYZ, "4x8", "[Shard(0), Replicate(), Partial()]",
                "[{\"x\"}, {}], unreduced={\"z\"}");
    expect_read(f, dt, XYZ, "4x8", "(Shard(dim=1), S(0), R)", "[{\"y\"}, {\"x\"}]");
    expect_read(f, dt, XYZ, "4x8", "[Shard(-1), Shard(-2), Replicate(),]", "[{\"y\"}, {\"x\"}]");
    expect_read(f, dt, XYZ, "4x8", "[P, P(sum), P('sum')]",
                "[{}, {}], unreduced={\"x\", \"y\", \"z\"}");
    expect_read(f, dt, XY, "4", "[Partial(\"avg\"), R]", "[{}], unreduced=avg{\"x\"}");
    expect_read(f, dt, XY, "4", "[Partial('max'), R]", "[{}], unreduced=max{\"x\"}");
    expect_read(f, dt, "<[\"x\"=1, \"y\"=2]>", "4", "[Partial('max'), Partial('max')]",
                "[{}], unreduced=max{\"x\", \"y\"}");
    expect_read(f, dt, XY, "4", "[Partial(min), R]", "[{}], unreduced=min{\"x\"}");
    expect_read(f, dt, XY, "4", "[Partial(reduce_op='product'), R]", "[{}], unreduced=prod{\"x\"}");
    expect_read(f, dt, XY, "8", "[DynamicShard(0, [3, 5]), R]", "[{\"x\"}:dynamic[3, 5]]");
    expect_read(f, dt, XY, "8", "[DynamicShard(sizes=[3, 5], dim=-1), R]",
                "[{\"x\"}:dynamic[3, 5]]");
    expect_read(f, dt, XY, "6",
                "[PartitionedShard(dim=0, num_partitions=3, counts=[[1,2,0],[1,1,1]]), R]",
                "[{\"x\"}:partitioned[[1, 2, 0], [1, 1, 1]]]");
    expect_read(f, dt, XY, "6",
                "[PartitionedShard(0, counts=[[1,2],[1,2]], aligned=True, owner_start=[0, 2, 2], "
                "alignment=8), R]",
                "[{\"x\"}:partitioned[[1, 2], [1, 2]](aligned, owners=[0, 2, 2], align=8)]");
    expect_read(f, dt, XY, "6", "[PartitionedShard(0, 2, [[1,2],[1,2]], False), R]",
                "[{\"x\"}:partitioned[[1, 2], [1, 2]]]");
    expect_read(f, dt, XY, "8", "[DynamicShard(0), R]", "[{\"x\"}:dynamic[?]]");
    expect_read(f, dt, XY, "8", "[DynamicShard(0, ?rows), R]", "[{\"x\"}:dynamic[?rows]]");
    expect_read(f, dt, XY, "8", "[PartitionedShard(0, 4, ?tokens, aligned=True), R]",
                "[{\"x\"}:partitioned[?tokens](aligned, partitions=4)]");
    expect_read(f, dt, XY, "8", "[R, DynamicShard(dim=0)]", "[{\"y\"}:dynamic[?]]");
    expect_read(f, dt, XY, "8", "[PartitionedShard(dim=0, num_partitions=4, aligned=True), R]",
                "[{\"x\"}:partitioned[?](aligned, partitions=4)]");
    expect_read(f, dt, XY, "32",
                "[PartitionedShard(dim=0, num_partitions=4, splits=[4,6,4,2], aligned=False), R]",
                "[{\"x\"}:partitioned[[4, 6, 4, 2], [4, 6, 4, 2]]]");
    expect_read(f, dt, XY, "15", "[PartitionedShard(0, 4, [4, 5, 4, 2]), R]",
                "[{\"x\"}:partitioned[[2, 3, 2, 1], [2, 2, 2, 1]]]");
    expect_read(f, dt, XY, "3", "[R, PartitionedShard(0, splits=[2, 1], aligned=True)]",
                "[{\"y\"}:partitioned[[1, 1], [1, 0], [0, 0], [0, 0]](aligned)]");
    expect_read(f, dt, "<[]>", "6", "[]", "[{}]");
    expect_read(f, dt, "<[], device_ids=[1]>", "6x2", "()", "[]");
    expect_read(f, dt, XY, "", "[Replicate(), torch.distributed.tensor.Replicate()]", "[]");
}

/* Several axes on one dimension: as ours where the sizes agree, else with DTensor's sizes. */
static void test_dtensor_cuts(void **state)
{
    fixture *f = *state;
    const tsr_dialect dt = TSR_DIALECT_DTENSOR;
    const char *mesh = "<[\"x\"=2, \"y\"=2]>";
    expect_read(f, dt, mesh, "8", "[Shard(0), Shard(0)]", "[{\"x\", \"y\"}]");
    expect_read(f, dt, mesh, "7", "[Shard(0), Shard(0)]", "[{\"x\", \"y\"}]");
    expect_read(f, dt, mesh, "5", "[Shard(0), Shard(0)]", "[{\"x\", \"y\"}:dynamic[2, 1, 1, 1]]");
    expect_read(f, dt, mesh, "1", "[Shard(0), Shard(0)]", "[{\"x\", \"y\"}]");
    expect_read(f, dt, mesh, "0", "[Shard(0), Shard(0)]", "[{\"x\", \"y\"}]");
    expect_read(f, dt, mesh, "2", "[Shard(0), Shard(0)]", "[{\"x\", \"y\"}:dynamic[1, 0, 1, 0]]");
    expect_read(f, dt, "<[\"x\"=2, \"u\"=1]>", "?", "[Shard(0), Shard(0)]", "[{\"x\", \"u\"}]");
    expect_read(f, dt, "<[\"x\"=1048576, \"y\"=1048576]>", "2199023255551", "[Shard(0), Shard(0)]",
                "[{\"x\", \"y\"}]");
    expect_read_error(f, dt, mesh, "?x4", "[Shard(0), Shard(0)]", TSR_ERR_INVALID,
                      "dim 0 is sharded by several axes");
    expect_read_error(f, dt, "<[\"x\"=1048576, \"y\"=1048576]>", "5", "[Shard(0), Shard(0)]",
                      TSR_ERR_LIMIT, "needs 1099511627776 explicit sizes");
    expect_write(f, dt, mesh, "8", "[{\"x\", \"y\"}]", "[Shard(0), Shard(0)]");
    expect_write(f, dt, mesh, "5", "[{\"x\", \"y\"}:dynamic[2, 1, 1, 1]]", "[Shard(0), Shard(0)]");
    expect_write(f, dt, mesh, NULL, "[{\"x\", \"y\"}:dynamic[[2, 1], [1, 1]]]",
                 "[Shard(0), Shard(0)]");
    expect_refused(f, dt, mesh, "5", "[{\"x\", \"y\"}]",
                   "dim 0 of extent 5 over \"x\", \"y\" is cut into 2, 2, 1, 0 here, but once for "
                   "each axis there: into 2, 1, 1, 1",
                   "{\"x\", \"y\"}:dynamic[2, 1, 1, 1]");
    expect_refused(f, dt, mesh, NULL, "[{\"x\", \"y\"}:dynamic[2, 2, 1, 0]]",
                   "is cut into 2, 2, 1, 0 here", "dynamic[2, 1, 1, 1]");
    expect_refused(f, dt, "<[\"x\"=1048576, \"y\"=1048576]>", "5", "[{\"x\", \"y\"}]",
                   "has other shard sizes than there", "once for each axis");
}

static void test_dtensor_errors(void **state)
{
    fixture *f = *state;
    const tsr_dialect dt = TSR_DIALECT_DTENSOR;
    const struct {
        const char *shape;
        const char *text;
        tsr_status status;
        const char *words;
    } cases[] = {
        {"4", "[Shard(0)]", TSR_ERR_INVALID, "1 placements for a mesh of 2 axes"},
        {"4", "[R, R, R]", TSR_ERR_INVALID, "3 placements for a mesh of 2 axes"},
        {NULL, "[Shard(0), R]", TSR_ERR_INVALID, "how many dimensions"},
        {"4", "[Shard(1), R]", TSR_ERR_INVALID, "dim 1 of a tensor that has 1 dimensions"},
        {"4", "[Shard(-2), R]", TSR_ERR_INVALID, "dim -2 of a tensor that has 1 dimensions"},
        {"4", "[Partial(), Partial('max')]", TSR_ERR_UNSUPPORTED,
         "this one is max and an earlier one sum"},
        {"4", "[Partial(band), R]", TSR_ERR_SYNTAX, "unknown reduction: band"},
        {"4", "[Partial(band), R]", TSR_ERR_SYNTAX, "sum, avg, max, min and product"},
        {"4", "[_StridedShard(0, split_factor=2), R]", TSR_ERR_UNSUPPORTED,
         "split_factor 2: the mesh axes after this one cut dim 0 into 1"},
        {"8", "[_StridedShard(0, split_factor=3), S(0)]", TSR_ERR_UNSUPPORTED, "split_factor 3"},
        {"8", "[_StridedShard(0, split_factor=0), S(0)]", TSR_ERR_INVALID, "at least 1, got: 0"},
        {"8", "[_StridedShard(0), S(0)]", TSR_ERR_SYNTAX, "_StridedShard needs its split_factor"},
        {"8", "[_StridedShard(0, 4, sf=4), S(0)]", TSR_ERR_SYNTAX, "the argument is repeated"},
        {"4", "[Shrd(0), R]", TSR_ERR_SYNTAX, "expected Shard(0)"},
        {"4", "[Shard(), R]", TSR_ERR_SYNTAX, "Shard needs its dim"},
        {"4", "[Shard, R]", TSR_ERR_SYNTAX, "Shard needs its dim"},
        {"4", "[Shard(0, 1), R]", TSR_ERR_SYNTAX, "too many arguments"},
        {"4", "[Replicate(0), R]", TSR_ERR_SYNTAX, "too many arguments"},
        {"4", "[Shard(0, dim=0), R]", TSR_ERR_SYNTAX, "the argument is repeated"},
        {"4", "[Shard(x), R]", TSR_ERR_SYNTAX, "expected integer value"},
        {"4", "[Shard(0), R", TSR_ERR_SYNTAX, "expected ']'"},
        {"4", "(R, R]", TSR_ERR_SYNTAX, "expected ')'"},
        {"4", "{R}", TSR_ERR_SYNTAX, "expected '['"},
        {"4", "[DynamicShard(0, [1, 2, 1]), R]", TSR_ERR_INVALID, "needs 2 sizes, got: 3"},
        {"4", "[DynamicShard(0, [1, 3]), Shard(0)]", TSR_ERR_UNSUPPORTED,
         "dim 0 has explicit sizes on one axis"},
        {"4", "[Shard(0), DynamicShard(0, [1, 1, 1, 1])]", TSR_ERR_UNSUPPORTED,
         "dim 0 has explicit sizes on one axis"},
        {"4", "[PartitionedShard(0, 3, [[1, 1], [1, 1]]), R]", TSR_ERR_INVALID,
         "num_partitions is 3, but each row has 2 counts"},
        {"4", "[PartitionedShard(0, counts=[[1, 1], [2]]), R]", TSR_ERR_INVALID,
         "a row has 1 counts, but the first row has 2"},
        {"4", "[PartitionedShard(0, counts=[[1, 1]], aligned=maybe), R]", TSR_ERR_SYNTAX,
         "expected True or False"},
        {"4", "[PartitionedShard(0), R]", TSR_ERR_SYNTAX, "PartitionedShard needs its counts"},
        {"9", "[PartitionedShard(0, 2, splits=[3, 1]), R]", TSR_ERR_INVALID,
         "the splits sum to 4, which is neither the extent 9 of dim 0 nor the extent of each of "
         "its 2 shards"},
        {"4", "[PartitionedShard(0, 3, [3, 1]), R]", TSR_ERR_INVALID,
         "num_partitions is 3, but there are 2 splits"},
        {"4", "[PartitionedShard(0, splits=[5, -1]), R]", TSR_ERR_LIMIT, "at least 0"},
        {"4", "[PartitionedShard(0, splits=[]), R]", TSR_ERR_SYNTAX, "expected integer value"},
        {"4", "[PartitionedShard(0, splits=[1], counts=[[1], [1]]), R]", TSR_ERR_SYNTAX,
         "the argument is repeated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_read_error(f, dt, XY, cases[i].shape, cases[i].text, cases[i].status,
                          cases[i].words);
    }
    expect_read_error(f, dt, NULL, "4", "[R]", TSR_ERR_INVALID, "none is given");
}

static void test_dtensor_write(void **state)
{
    fixture *f = *state;
    const tsr_dialect dt = TSR_DIALECT_DTENSOR;
    expect_write(f, dt, XYZ, NULL, "[{\"y\"}, {\"x\"}], unreduced={\"z\"}",
                 "[Shard(1), Shard(0), Partial()]");
    expect_write(f, dt, XYZ, NULL, "[{}], unreduced=avg{\"y\"}",
                 "[Replicate(), Partial(\"avg\"), Replicate()]");
    expect_write(f, dt, XYZ, NULL, "[{}], unreduced=prod{\"x\", \"y\"}",
                 "[Partial(\"product\"), Partial(\"product\"), Replicate()]");
    expect_write(f, dt, XY, "8", "[{\"x\"}:dynamic[3, 5]]",
                 "[DynamicShard(0, [3, 5]), Replicate()]");
    expect_write(f, dt, XY, "8", "[{\"x\"}:dynamic[4, 4]]", "[Shard(0), Replicate()]");
    expect_write(f, dt, XY, NULL, "[{\"x\"}:dynamic[4, 3]]", "[Shard(0), Replicate()]");
    expect_write(f, dt, XY, "6", "[{\"x\"}:partitioned[[1, 2], [1, 2]]]",
                 "[PartitionedShard(dim=0, num_partitions=2, counts=[[1, 2], [1, 2]], "
                 "aligned=False), Replicate()]");
    expect_write(
        f, dt, XY, "6", "[{\"x\"}:partitioned[[1, 2], [1, 2]](aligned, owners=[0, 2, 2], align=8)]",
        "[PartitionedShard(dim=0, num_partitions=2, counts=[[1, 2], [1, 2]], aligned=True, "
        "owner_start=[0, 2, 2], alignment=8), Replicate()]");
    expect_write(f, dt, "<[\"x\"=2, \"u\"=1]>", NULL, "[{\"u\", \"x\"}]", "[Shard(0), Shard(0)]");
    expect_write(f, dt, "<[]>", NULL, "[{}]", "[]");
    expect_write(f, dt, XY, "8", "[{\"y\", \"x\"}]",
                 "[_StridedShard(0, split_factor=4), Shard(0)]");
    expect_write(f, dt, "a=2,b=3,c=5", "60", "[{\"c\", \"a\", \"b\"}]",
                 "[_StridedShard(0, split_factor=5), _StridedShard(0, split_factor=5), Shard(0)]");
    expect_write(f, dt, "a=2,b=3,c=5", "60", "[{\"b\", \"c\", \"a\"}]",
                 "[_StridedShard(0, split_factor=15), Shard(0), Shard(0)]");
}

static void test_dtensor_refusals(void **state)
{
    fixture *f = *state;
    const tsr_dialect dt = TSR_DIALECT_DTENSOR;
    expect_refused(f, dt, "<[\"dp\"=4, \"tp\"=2]>", "9", "[{\"tp\", \"dp\"}]",
                   "dim 0 of extent 9 over \"tp\", \"dp\", not in mesh order, is stored there with",
                   "a multiple of 8");
    expect_refused(f, dt, XY, "8", "[{\"y\":(1)2}]", "\"y\":(1)2 is only part of its axis",
                   "an axis of its own");
    expect_refused(f, dt, XY, "8", "[{?}]", "dim 0 is open", "leave out its ?");
    expect_refused(f, dt, XY, "8", "[{\"x\", ?}]", "dim 0 is open", "leave out its ?");
    expect_refused(f, dt, XY, "8", "[{\"x\"}p0]", "dim 0 has priority 0", "remove the p0");
    expect_refused(f, dt, XY, "8", "[{}], replicated={\"y\"}", "\"y\" must stay replicated",
                   "remove replicated");
    expect_refused(f, dt, XY, "8", "[{\"x\"}:dynamic[?]]", "the sizes of dim 0 are not bound yet",
                   "bind them");
    expect_refused(f, dt, "<[\"x\"=2, \"y\"=1]>", "8", "[{\"x\", \"y\"}:partitioned[[4], [4]]]",
                   "dim 0 is partitioned over several axes", "one axis");
    expect_refused(f, dt, "<[], device_ids=[3]>", "8", "[]", "its mesh is the single device 3",
                   "sdy and hlo");
    const char *untouched = NULL;
    assert_int_equal(try_write(f, dt, XY, NULL, "[{\"x\", \"y\"}]", &untouched), TSR_ERR_INVALID);
    expect_words(f, "dim 0 is sharded by \"x\", \"y\": whether dtensor cuts it");
    expect_words(f, "give the shape");
    tsr_context_clear(f->ctx);
    assert_int_equal(try_write(f, dt, XY, "9", "[{\"x\"}:dynamic[3, 5]]", &untouched),
                     TSR_ERR_INVALID);
    expect_words(f, "sum to 8, the extent is 9");
    assert_null(untouched);
}

static void test_hlo_own_mesh(void **state)
{
    fixture *f = *state;
    const char *plain = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}";
    expect_read_full(f, NULL, "4x8", plain, "<mesh<[\"d0\"=2, \"d1\"=4]>, [{\"d0\"}, {}]>");
    expect_read_full(f, NULL, NULL, "{devices=[2, 1, 4] <= [8] last_tile_dims={replicated}}",
                     "<mesh<[\"d0\"=2, \"d1\"=4]>, [{\"d0\"}, {}]>");
    expect_read_full(f, NULL, "4x8", "{devices=[2,2]0,2,1,3}",
                     "<mesh<[\"d0\"=2, \"d1\"=2], device_ids=[0, 2, 1, 3]>, [{\"d0\"}, {\"d1\"}]>");
    expect_read_full(f, NULL, "4x8", "{devices=[2,2]3,1,2,0}",
                     "<mesh<[\"d0\"=2, \"d1\"=2], device_ids=[3, 1, 2, 0]>, [{\"d0\"}, {\"d1\"}]>");
    expect_read_full(f, NULL, NULL,
                     "{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}",
                     "<mesh<[\"d0\"=2, \"d1\"=2, \"d2\"=2]>, [{\"d0\"}, {}], unreduced={\"d1\"}>");
    expect_read_full(f, NULL, NULL,
                     "{devices=[2,4]<=[8] last_tile_dims={unreduced} metadata={op_name=\"a}\" "
                     "x={y=1}}}",
                     "<mesh<[\"d0\"=2, \"d1\"=4]>, [{\"d0\"}], unreduced={\"d1\"}>");
    expect_read_full(f, NULL, NULL, "{devices=[1,1]<=[1]}", "<mesh<[]>, [{}, {}]>");
    expect_read_full(f, NULL, NULL, "{devices=[1,1]0}", "<mesh<[]>, [{}, {}]>");
    expect_read_full(f, NULL, "4x8", "{replicated}", "<mesh<[]>, [{}, {}]>");
    expect_read_full(f, NULL, "4x8", "{replicated metadata={}}", "<mesh<[]>, [{}, {}]>");
    expect_read_full(f, NULL, NULL, "{maximal device=3}", "<mesh<[], device_ids=[3]>, []>");
    expect_read_full(f, XY, "4x8", "{maximal device=3}", "<mesh<[], device_ids=[3]>, []>");
    expect_read_full(f, "@m = <[], device_ids=[3]>", "4x8", "{maximal device=3}", "<@m, []>");
    expect_read_full(f, "@m = <[], device_ids=[3]>", "4x8", "{replicated}", "<@m, []>");
}

static void test_hlo_on_mesh(void **state)
{
    fixture *f = *state;
    const tsr_dialect hlo = TSR_DIALECT_HLO;
    expect_read(f, hlo, XY, "4x8", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
                "[{\"x\"}, {}]");
    expect_read(f, hlo, XY, "4x8", "{devices=[4,2]<=[2,4]T(1,0)}", "[{\"y\"}, {\"x\"}]");
    expect_read(f, hlo, XY, "8", "{devices=[8]<=[8]}", "[{\"x\", \"y\"}]");
    expect_read(f, hlo, XY, "8", "{devices=[8]<=[2,4]T(1,0)}", "[{\"y\", \"x\"}]");
    expect_read(f, hlo, XY, "8", "{devices=[4,2]<=[8] last_tile_dim_replicate}",
                "[{\"x\", \"y\":(1)2}]");
    expect_read(f, hlo, XY, "4x8", "{replicated}", "[{}, {}]");
    expect_read(f, hlo, XY, "4x8", "{unreduced}", "[{}, {}], unreduced={\"x\", \"y\"}");
    expect_read(f, hlo, XY, "8", "{devices=[4,2]<=[2,4]T(1,0) last_tile_dims={unreduced}}",
                "[{\"y\"}], unreduced={\"x\"}");
    expect_read(f, hlo, "<[], device_ids=[0]>", "8x8", "{devices=[1,1]<=[1]}", "[]");
    expect_read(f, hlo, "<[\"u\"=1]>", "8x8", "{devices=[1,1]<=[1]}", "[{}, {}]");
    expect_read(f, hlo, XYZ, "8",
                "{devices=[2,2,2]0,1,2,3,4,5,6,7 last_tile_dims={replicated, unreduced}}",
                "[{\"x\"}], unreduced={\"z\"}");
    expect_read(f, hlo, "<[\"x\"=2, \"y\"=3]>", "8",
                "{devices=[2,3]2,0,1,5,4,3 last_tile_dim_replicate}", "[{\"x\"}]");
    expect_read(f, hlo, "<[\"x\"=3, \"y\"=2], device_ids=[0, 2, 4, 1, 3, 5]>", "8",
                "{devices=[3,2]<=[3,2]T(1,0) last_tile_dim_replicate}", "[{\"x\"}]");
    expect_read(f, hlo, "<[\"x\"=2, \"y\"=2], device_ids=[3, 1, 2, 0]>", "8",
                "{devices=[4]3,1,2,0}", "[{\"x\", \"y\"}]");
}

/* Tile (i, j) of the transposed iota holds device j * 4 + i. */
static void test_hlo_placement(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {8, 6};
    const tsr_sharding *sharding =
        read_it(f, TSR_DIALECT_HLO, NULL, "8x6", "{devices=[4,2]<=[2,4]T(1,0)}");
    const tsr_geometry *geometry;
    assert_int_equal(tsr_geometry_create(f->ctx, f->arena, sharding, 2, shape, &geometry), TSR_OK);
    for (int64_t i = 0; i < 4; i++) {
        for (int64_t j = 0; j < 2; j++) {
            int64_t start[2];
            int64_t size[2];
            assert_true(tsr_geometry_box(geometry, j * 4 + i, start, size));
            assert_int_equal(start[0], i * 2);
            assert_int_equal(start[1], j * 3);
            assert_int_equal(size[0], 2);
            assert_int_equal(size[1], 3);
        }
    }
}

static void test_hlo_errors(void **state)
{
    fixture *f = *state;
    const tsr_dialect hlo = TSR_DIALECT_HLO;
    const struct {
        const char *mesh;
        const char *shape;
        const char *text;
        tsr_status status;
        const char *words;
    } cases[] = {
        {NULL, NULL, "{manual}", TSR_ERR_UNSUPPORTED, "{manual} cannot be expressed"},
        {NULL, NULL, "{unknown}", TSR_ERR_UNSUPPORTED, "{unknown} cannot be expressed"},
        {NULL, NULL, "{{replicated}, {replicated}}", TSR_ERR_UNSUPPORTED, "sharding of a tuple"},
        {NULL, NULL, "{}", TSR_ERR_UNSUPPORTED, "sharding of a tuple"},
        {NULL, "4", "{replicated shard_as 1}", TSR_ERR_UNSUPPORTED, "shard_as cannot be expressed"},
        {NULL, "4", "{devices=[2]<=[2] shard_like 1}", TSR_ERR_UNSUPPORTED, "shard_like cannot"},
        {NULL, NULL, "{devices=[2,2]<=[4] last_tile_dims={manual}}", TSR_ERR_UNSUPPORTED,
         "a manual subgroup"},
        {NULL, NULL, "{replicated}", TSR_ERR_INVALID, "how many dimensions"},
        {NULL, "4", "{unreduced}", TSR_ERR_INVALID, "none is given"},
        {XY, NULL, "{unreduced}", TSR_ERR_INVALID, "how many dimensions"},
        {NULL, "4x4x4", "{devices=[2,2]<=[4]}", TSR_ERR_INVALID,
         "sharding doesn't match tensor rank: 2 != 3"},
        {NULL, "4x4", "{devices=[2,2]<=[4] last_tile_dim_replicate}", TSR_ERR_INVALID,
         "sharding doesn't match tensor rank: 1 != 2"},
        {NULL, NULL, "{devices=[2]<=[2] last_tile_dims={replicated, replicated}}", TSR_ERR_INVALID,
         "2 subgroups for 1"},
        {NULL, NULL, "{devices=[2,2]<=[8]}", TSR_ERR_INVALID, "4 tiles, but 8 devices"},
        {NULL, NULL, "{devices=[2,2]0,1,2}", TSR_ERR_INVALID, "4 tiles, but 3 devices"},
        {NULL, NULL, "{devices=[2,2]0,1,2,2}", TSR_ERR_INVALID, "sorted device ids must be"},
        {NULL, NULL, "{devices=[1]5}", TSR_ERR_INVALID, "{maximal device=5}"},
        {NULL, NULL, "{devices=[2,0]<=[0]}", TSR_ERR_INVALID,
         "tile dimension 1 must be at least 1"},
        {NULL, NULL, "{devices=[4]<=[-2,-2]}", TSR_ERR_INVALID, "must be at least 1"},
        {NULL, NULL, "{devices=[4294967296,4294967296]<=[4]}", TSR_ERR_OVERFLOW,
         "more than 2^63-1"},
        {NULL, NULL, "{devices=[4]<=[4294967296,4294967296]}", TSR_ERR_INVALID,
         "devices are given"},
        {NULL, NULL, "{devices=[4]<=[2,2]T(1)}", TSR_ERR_SYNTAX, "1 entries for an iota of 2"},
        {NULL, NULL, "{devices=[4]<=[2,2]T(1,1)}", TSR_ERR_INVALID, "not a permutation"},
        {NULL, NULL, "{devices=[4]}", TSR_ERR_SYNTAX, "expected the devices"},
        {NULL, NULL, "{devices=[]<=[1]}", TSR_ERR_SYNTAX, "expected integer value"},
        {NULL, NULL, "{devices}", TSR_ERR_SYNTAX, "expected '='"},
        {NULL, NULL, "{sharded}", TSR_ERR_SYNTAX, "expected devices=[...]"},
        {NULL, NULL, "{maximal}", TSR_ERR_SYNTAX, "expected 'device'"},
        {NULL, NULL, "{maximal device=-1}", TSR_ERR_INVALID, "device id must be non-negative"},
        {NULL, "4", "{replicated last_tile_dim_replicate}", TSR_ERR_SYNTAX, "after devices"},
        {NULL, NULL, "{devices=[2,2]<=[4] last_tile_dim_replicate last_tile_dim_replicate}",
         TSR_ERR_SYNTAX, "given once"},
        {NULL, NULL, "{devices=[2]<=[2] last_tile_dims={odd}}", TSR_ERR_SYNTAX,
         "expected replicated or unreduced"},
        {NULL, NULL, "{devices=[2]<=[2] odd}", TSR_ERR_SYNTAX, "expected last_tile_dim_replicate"},
        {NULL, NULL, "{devices=[2]<=[2] metadata={", TSR_ERR_SYNTAX, "expected '}'"},
        {NULL, NULL, "{devices=[2]<=[2] metadata={\"}", TSR_ERR_SYNTAX, "string literal"},
        {NULL, NULL, "{devices=[2]<=[2]", TSR_ERR_SYNTAX, "expected last_tile_dim_replicate"},
        {NULL, NULL, "replicated", TSR_ERR_SYNTAX, "expected '{'"},
        {XY, "4", "{devices=[4]<=[4]}", TSR_ERR_INVALID,
         "the text has 4 devices from 0, the mesh has 8"},
        {"<[], device_ids=[3]>", "4", "{devices=[1]<=[1]}", TSR_ERR_INVALID,
         "the mesh has 1 devices from 3"},
        {"<[\"x\"=3, \"y\"=2]>", "4", "{devices=[2,3]<=[6] last_tile_dim_replicate}",
         TSR_ERR_UNSUPPORTED, "cannot be expressed by the axes of the other mesh"},
        {"<[\"x\"=3, \"y\"=2]>", "4", "{devices=[2,3]<=[6] last_tile_dim_replicate}",
         TSR_ERR_UNSUPPORTED, "without a mesh, one "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_read_error(f, hlo, cases[i].mesh, cases[i].shape, cases[i].text, cases[i].status,
                          cases[i].words);
    }
}

/* The reader's flags hold for what is translated as well. */
static void test_hlo_flags(void **state)
{
    fixture *f = *state;
    const tsr_sharding_reader reader = {
        .mesh = mesh_of(f, XY), .flags = TSR_SHARDING_NO_SUB_AXES, .rank = -1};
    const tsr_sharding *sharding = NULL;
    tsr_text text = tsr_text_of("<test>", "{devices=[2,4]<=[8] last_tile_dim_replicate}");
    assert_int_equal(
        tsr_dialect_read(f->ctx, f->arena, TSR_DIALECT_HLO, &text, &reader, 0, NULL, &sharding),
        TSR_OK);
    text = tsr_text_of("<test>", "{devices=[4,2]<=[8] last_tile_dim_replicate}");
    sharding = NULL;
    assert_int_equal(
        tsr_dialect_read(f->ctx, f->arena, TSR_DIALECT_HLO, &text, &reader, 0, NULL, &sharding),
        TSR_ERR_INVALID);
    assert_null(sharding);
    expect_words(f, "sub-axes are not allowed here: \"y\":(1)2");
}

static void test_hlo_write(void **state)
{
    fixture *f = *state;
    const tsr_dialect hlo = TSR_DIALECT_HLO;
    expect_write(f, hlo, XY, NULL, "[{\"x\"}, {}]",
                 "{devices=[2,1,4]<=[8] last_tile_dim_replicate}");
    expect_write(f, hlo, XY, NULL, "[{\"x\"}, {\"y\"}]", "{devices=[2,4]<=[8]}");
    expect_write(f, hlo, XY, NULL, "[{\"y\"}, {\"x\"}]", "{devices=[4,2]<=[2,4]T(1,0)}");
    expect_write(f, hlo, XY, NULL, "[{\"y\"}]",
                 "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}");
    expect_write(f, hlo, XY, NULL, "[{\"y\":(2)2}, {}]",
                 "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
    expect_write(f, hlo, XYZ, NULL, "[{\"z\"}, {\"x\"}]",
                 "{devices=[2,2,2]<=[4,2]T(1,0) last_tile_dim_replicate}");
    expect_write(f, hlo, XYZ, NULL, "[{\"x\"}], unreduced={\"z\"}",
                 "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={unreduced, replicated}}");
    expect_write(f, hlo, XY, NULL, "[{\"x\"}], unreduced={\"y\"}",
                 "{devices=[2,4]<=[8] last_tile_dims={unreduced}}");
    expect_write(f, hlo, XY, NULL, "[], unreduced={\"x\"}",
                 "{devices=[2,4]<=[8] last_tile_dims={unreduced, replicated}}");
    expect_write(f, hlo, XY, NULL, "[{}, {}]", "{replicated}");
    expect_write(f, hlo, "<[\"u\"=1]>", NULL, "[{\"u\"}]", "{replicated}");
    expect_write(f, hlo, "<[\"u\"=1]>", NULL, "[{}], unreduced={\"u\"}", "{replicated}");
    expect_write(f, hlo, "<[]>", NULL, "[{}]", "{replicated}");
    expect_write(f, hlo, XY, NULL, "[{}], unreduced={\"x\", \"y\"}", "{unreduced}");
    expect_write(f, hlo, "<[], device_ids=[3]>", NULL, "[]", "{maximal device=3}");
    expect_write(f, hlo, "<[\"x\"=2, \"y\"=2], device_ids=[3, 1, 2, 0]>", NULL, "[{\"y\"}]",
                 "{devices=[2,2]3,2,1,0 last_tile_dim_replicate}");
    expect_write(f, hlo, "<[\"x\"=2, \"y\"=2], device_ids=[0, 2, 1, 3]>", NULL, "[{\"y\"}]",
                 "{devices=[2,2]<=[4] last_tile_dim_replicate}");
    expect_write(f, hlo, "<[\"x\"=6], device_ids<=[2, 3]T(1, 0)>", NULL, "[{\"x\"}]",
                 "{devices=[6]<=[2,3]T(1,0)}");
    expect_write(f, hlo, "<[\"x\"=6], device_ids<=[2, 3]T(1, 0)>", NULL, "[{\"x\":(1)2}]",
                 "{devices=[2,3]<=[2,3]T(1,0) last_tile_dim_replicate}");
    expect_write(f, hlo, "<[\"x\"=6], device_ids<=[2, 3]T(1, 0)>", NULL, "[{\"x\":(2)3}]",
                 "{devices=[3,2]0,4,3,2,1,5 last_tile_dim_replicate}");
}

static void test_hlo_refusals(void **state)
{
    fixture *f = *state;
    const tsr_dialect hlo = TSR_DIALECT_HLO;
    expect_refused(f, hlo, XY, NULL, "[{}, {?}]", "dim 1 is open", "leave out its ?");
    expect_refused(f, hlo, XY, NULL, "[{\"x\"}p1]", "dim 0 has priority 1", "remove the p1");
    expect_refused(f, hlo, XY, NULL, "[{\"x\"}], replicated={\"y\"}", "\"y\" must stay replicated",
                   "remove replicated");
    expect_refused(f, hlo, XY, NULL, "[{\"x\"}:dynamic[3, 5]]", "dim 0 is dynamic",
                   "sdy and dtensor");
    expect_refused(f, hlo, XY, NULL, "[{}], unreduced=min{\"x\"}",
                   "the reduction pending over \"x\" is min", "sdy and dtensor");
}

/* 2^40 devices are written and read without listing them. */
static void test_hlo_large(void **state)
{
    fixture *f = *state;
    const char *mesh = "<[\"x\"=1048576, \"y\"=1048576]>";
    const char *text = "{devices=[1048576,1024,1024]<=[1048576,1048576]T(1,0) "
                       "last_tile_dim_replicate}";
    expect_write(f, TSR_DIALECT_HLO, mesh, NULL, "[{\"y\"}, {\"x\":(1)1024}]", text);
    expect_read(f, TSR_DIALECT_HLO, mesh, "1048576x1024", text, "[{\"y\"}, {\"x\":(1)1024}]");
    const tsr_sharding *own = read_it(f, TSR_DIALECT_HLO, NULL, "1048576x1024", text);
    assert_int_equal(tsr_mesh_num_devices(tsr_sharding_mesh(own)), INT64_C(1) << 40);
    const tsr_geometry *geometry;
    const int64_t shape[] = {1048576, 1024};
    int64_t start[2];
    int64_t size[2];
    assert_int_equal(tsr_geometry_create(f->ctx, f->arena, own, 2, shape, &geometry), TSR_OK);
    assert_true(tsr_geometry_box(geometry, (INT64_C(5) << 30) + 77, start, size));
    assert_int_equal(start[0], 77);
    assert_int_equal(start[1], 5);
    const char *cut = "<[\"x\"=6, \"y\"=1048576], device_ids<=[2, 3, 1048576]T(1, 0, 2)>";
    const char *untouched = NULL;
    assert_int_equal(try_write(f, TSR_DIALECT_HLO, cut, NULL, "[{\"x\":(2)3}]", &untouched),
                     TSR_ERR_LIMIT);
    expect_words(f, "6291456 devices are too many to list");
}

/* Memory of which one allocation fails. */
typedef struct failing_heap {
    int64_t calls;
    int64_t fail_at;
} failing_heap;

static void *resize(void *state, void *old, size_t old_size, size_t new_size)
{
    failing_heap *heap = state;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return heap->calls++ == heap->fail_at ? NULL : realloc(old, new_size);
}

/* Reads a text on a mesh and writes it in every dialect. A refusal may lose words, not its status.
 */
static void read_and_write(tsr_context *ctx, tsr_arena *arena, const char *string)
{
    const int64_t shape[] = {5, 8};
    const tsr_sharding *sharding = NULL;
    tsr_text text = tsr_text_of("<test>", string);
    tsr_sharding_reader reader = {.reading = TSR_READ_LENIENT, .rank = -1};
    if (tsr_mesh_parse(ctx, arena, "<[\"x\"=2, \"y\"=2], device_ids=[3, 1, 2, 0]>", &reader.mesh) !=
        TSR_OK) {
        return;
    }
    const tsr_status status =
        tsr_dialect_read(ctx, arena, tsr_dialect_guess(&text), &text, &reader, 2, shape, &sharding);
    if (status != TSR_OK) {
        assert_int_equal(status, TSR_ERR_NOMEM);
        assert_null(sharding);
        return;
    }
    for (int d = 0; d < 4; d++) {
        const char *written = NULL;
        const tsr_status one =
            tsr_dialect_write(ctx, arena, (tsr_dialect)d, sharding, shape, &written);
        assert_true(one == TSR_OK || one == TSR_ERR_NOMEM || one == TSR_ERR_UNSUPPORTED);
        assert_true((written != NULL) == (one == TSR_OK));
    }
}

/* Runs with the n-th allocation failing; returns whether there were as many. */
static bool fail_once(int64_t n, const char *text)
{
    failing_heap heap = {.fail_at = n};
    const tsr_allocator allocator = {resize, &heap};
    tsr_context *ctx = NULL;
    tsr_arena *arena = NULL;
    if (tsr_context_create(&allocator, &ctx) != TSR_OK) {
        return true;
    }
    if (context_make_hostile(ctx) == TSR_OK && tsr_arena_create(ctx, &arena) == TSR_OK) {
        read_and_write(ctx, arena, text);
    }
    tsr_arena_destroy(arena);
    tsr_context_destroy(ctx);
    return heap.calls > n;
}

static void test_no_memory(void **state)
{
    static const char *const texts[] = {
        "P(('x', 'y'), P.UNCONSTRAINED)",
        "P('x', unreduced={'y'})",
        "[Shard(0), Shard(0)]",
        "[Shard(1), Shard(1)]",
        "[DynamicShard(0, [2, 3]), Partial()]",
        "[PartitionedShard(0, splits=[2, 3]), R]",
        "[PartitionedShard(dim=0, counts=[[1, 1], [1, 2]], aligned=True), Shard(1)]",
        "{devices=[2,1,2]3,2,1,0 last_tile_dim_replicate}",
        "{devices=[2,2]3,1,2,0}",
        "{replicated}",
        "{unreduced}",
        "{maximal device=2}",
        "[{\"x\", \"y\"}, {}]",
        "[{\"x\"}p1, {\"y\", ?}]"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t n = 0;
        while (fail_once(n, texts[i])) {
            n++;
        }
        assert_true(n > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_names),
                                       TEST(test_guess),
                                       TEST(test_slices),
                                       TEST(test_sdy),
                                       TEST(test_jax_read),
                                       TEST(test_jax_errors),
                                       TEST(test_jax_write),
                                       TEST(test_jax_refusals),
                                       TEST(test_dtensor_read),
                                       TEST(test_dtensor_cuts),
                                       TEST(test_dtensor_errors),
                                       TEST(test_dtensor_write),
                                       TEST(test_dtensor_refusals),
                                       TEST(test_hlo_own_mesh),
                                       TEST(test_hlo_on_mesh),
                                       TEST(test_hlo_placement),
                                       TEST(test_hlo_errors),
                                       TEST(test_hlo_flags),
                                       TEST(test_hlo_write),
                                       TEST(test_hlo_refusals),
                                       TEST(test_hlo_large),
                                       TEST(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
