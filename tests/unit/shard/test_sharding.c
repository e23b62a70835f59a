/* Shardings: the program form, every rule and message, and others made from one. */
#include <string.h>

#include "base/buffer.h"
#include "shard/sharding.h"
#include "support.h"

static const char *const foo = "@foo = <[\"a\"=2, \"b\"=4, \"c\"=8]>";

#define FAILED "failed to parse Sdy_TensorSharding"
#define NAME_FAILED                                                                                \
    "failed to parse Sdy_AxisRef parameter 'name' which is to be a `::llvm::StringRef`"
#define LIST_FAILED "failed to parse axis list which is expected to be an `ArrayRef<AxisRefAttr>`"
#define SUB_AXIS_FAILED                                                                            \
    "failed to parse Sdy_AxisRef parameter 'sub_axis_info' which is to be a `SubAxisInfoAttr`"
#define SUB_FAILED(part)                                                                           \
    "failed to parse Sdy_SubAxisInfo parameter '" part "' which is to be a `int64_t`"
#define MESH_AXIS_FAILED(part, type)                                                               \
    "failed to parse Sdy_MeshAxis parameter '" part "' which is to be a `" type "`"
#define AXES_FAILED                                                                                \
    "failed to parse Sdy_Mesh parameter 'axes' which is to be a `::llvm::ArrayRef<MeshAxisAttr>`"
#define NOT_A_MESH "expecting MeshAttr or FlatSymbolRefAttr, got: <<NULL ATTRIBUTE>>"
#define DIMS_FAILED                                                                                \
    FAILED " parameter 'dim_shardings' which is to be a `::llvm::ArrayRef<DimensionShardingAttr>`"

static tsr_status read(fixture *f, const tsr_mesh *mesh, const char *given, int64_t rank,
                       const tsr_sharding **out)
{
    const tsr_sharding_reader reader = {.mesh = mesh, .reading = TSR_READ_PROGRAM, .rank = rank};
    tsr_text text = tsr_text_of("p.mlir", given);
    return tsr_sharding_read(f->ctx, f->arena, &text, &reader, out);
}

static void program_form_prints_as_read(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, foo);
    static const struct {
        const char *given;
        const char *printed;
    } cases[] = {
        {"#sdy.sharding<@foo, [{\"a\"}, {}]>", "<@foo, [{\"a\"}, {}]>"},
        {"<@foo, [{\"a\", ?}, {}], replicated={\"b\"}, unreduced=max{\"c\"}>",
         "<@foo, [{\"a\", ?}, {}], replicated={\"b\"}, unreduced=max{\"c\"}>"},
        {"<@foo, [{\"a\",?}p0, {?}p1]>", "<@foo, [{\"a\", ?}p0, {?}p1]>"},
        {"<@foo, [], unreduced={\"a\"}, replicated={\"b\"}>",
         "<@foo, [], replicated={\"b\"}, unreduced={\"a\"}>"},
        {"<@foo, [{}], unreduced=sum{\"a\"}>", "<@foo, [{}], unreduced={\"a\"}>"},
        {"<@foo, [{}], unreduced{\"a\"}>", "<@foo, [{}], unreduced={\"a\"}>"},
        {"<@foo, [{}], unreduced=avg{\"a\"}>", "<@foo, [{}], unreduced=avg{\"a\"}>"},
        {"< @foo , [ { \"c\": (2)4 } ] >", "<@foo, [{\"c\":(2)4}]>"},
        {"<@foo, [{\"c\":(4)2, \"c\":(1)4}]>", "<@foo, [{\"c\":(4)2, \"c\":(1)4}]>"},
        {"<@foo, [{\"c\":(1)2, \"b\", \"c\":(2)4}]>", "<@foo, [{\"c\":(1)2, \"b\", \"c\":(2)4}]>"},
        {"<@foo, []>", "<@foo, []>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *sharding = NULL;
        const char *text;
        assert_int_equal(read(f, mesh, cases[i].given, -1, &sharding), TSR_OK);
        assert_int_equal(tsr_sharding_print(f->ctx, f->arena, sharding, TSR_PRINT_STRIPPED, &text),
                         TSR_OK);
        assert_string_equal(text, cases[i].printed);
    }
    const tsr_sharding *inlined = NULL;
    assert_int_equal(read(f, NULL, "<mesh<[\"x\"=2]>, [{\"x\"}, {}]>", 2, &inlined), TSR_OK);
    assert_string_equal(sharding_full(f, inlined), "#sdy.sharding<mesh<[\"x\"=2]>, [{\"x\"}, {}]>");
}

/* Insists on exactly these errors, in order; notes are not looked at. */
/* Unresolved texts print in canonical form: no mesh is known here. */
static void texts_print_before_names_are_looked_up(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *given;
        const char *printed;
    } cases[] = {
        {"#sdy.sharding<@\"a-b\", [{\"x\",?} p1,{ }], unreduced=min{\"z\"}, replicated={\"y\"}>",
         "<@\"a-b\", [{\"x\", ?}p1, {}], replicated={\"y\"}, unreduced=min{\"z\"}>"},
        {"<@\"plain\", [{?}p0, {\"q\\22\\n\" : (2) 4}], unreduced=sum{\"z\"}>",
         "<@plain, [{?}p0, {\"q\\22\\0A\":(2)4}], unreduced={\"z\"}>"},
        {"<mesh<[\"x\"=2,\"y\"=2],device_ids=[0,1,2,3]>, [{\"y\"}]>",
         "<mesh<[\"x\"=2, \"y\"=2]>, [{\"y\"}]>"},
        {"<mesh<[], device_ids=[0]>, []>", "<mesh<[], device_ids=[0]>, []>"},
        {"<@m, [{\"x\"}:dynamic[3,5], {\"y\"}:dynamic[[1,2],[3,4]]p2]>",
         "<@m, [{\"x\"}:dynamic[3, 5], {\"y\"}:dynamic[[1, 2], [3, 4]]p2]>"},
        {"<@m, [{\"x\"}:dynamic[?]]>", "<@m, [{\"x\"}:dynamic[?]]>"},
        {"<@m, [{\"x\"}:partitioned[[4,6],[2,4]](unaligned,align=8)]>",
         "<@m, [{\"x\"}:partitioned[[4, 6], [2, 4]](align=8)]>"},
        {"<@m, [{\"x\"}:partitioned[?](partitions=8,aligned,owners=[0,5,8])]>",
         "<@m, [{\"x\"}:partitioned[?](aligned, partitions=8, owners=[0, 5, 8])]>"},
        {"<@m, [{\"x\"}:partitioned[?](partitions=8,aligned,owners=[0,4,8])]>",
         "<@m, [{\"x\"}:partitioned[?](aligned, partitions=8)]>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_text source = tsr_text_of(NULL, cases[i].given);
        lexer lex = lex_start(f->ctx, f->arena, &source);
        sharding_text text;
        const char *printed = NULL;
        buffer buf = buffer_new(f->arena);
        assert_int_equal(sharding_text_read(&lex, TSR_READ_PROGRAM, &text), TSR_OK);
        sharding_text_print(&buf, &text);
        assert_int_equal(buffer_finish(f->ctx, &buf, &printed), TSR_OK);
        assert_string_equal(printed, cases[i].printed);
    }
}

static void expect_errors(fixture *f, const char *const *wanted)
{
    const tsr_diagnostic *d = tsr_context_diagnostics(f->ctx);
    for (size_t i = 0; wanted[i] != NULL; i++, d = d->next) {
        assert_non_null(d);
        assert_string_equal(d->text, wanted[i]);
        assert_int_equal(d->follow_up, i > 0);
    }
    assert_null(d);
    tsr_context_clear(f->ctx);
}

static void parse_errors_come_in_the_order_of_the_reference(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, foo);
    static const struct {
        const char *given;
        const char *wanted[6];
    } cases[] = {
        {"<@foo, [{\"b\"}phigh]>",
         {"expecting priority in format 'p<number>', got: phigh", DIMS_FAILED}},
        {"<@foo, [{\"b\"}p]>", {"expecting priority in format 'p<number>', got: p", DIMS_FAILED}},
        {"<@foo, [{\"b\"}x1]>", {"expecting priority in format 'p<number>', got: x1", DIMS_FAILED}},
        {"<@foo, [{\"b\"}p01]>",
         {"priorities with leading zeros are not allowed, got: p01", DIMS_FAILED}},
        {"<@foo, [{\"b\"}p9999999999999999999]>",
         {"expecting integer priority, got: p9999999999999999999", DIMS_FAILED}},
        {"<@foo, [{}], replicated{\"a\"}>",
         {"expected '='", FAILED " parameter 'replicated_axes'"}},
        {"<@foo, [{}], replicated unreduced={\"a\"}>",
         {"expected '='", FAILED " parameter 'replicated_axes'"}},
        {"<@foo, [{}], unreduced=[\"a\"]>", {"expected '{'", FAILED " parameter 'unreduced_axes'"}},
        {"<@foo, [{}], unreduced={\"a\", \"b\"[]}>",
         {"expected '}'", FAILED " parameter 'unreduced_axes'"}},
        {"<@foo, [{}], replicated={\"a\", b}>",
         {"expected string", NAME_FAILED, LIST_FAILED, FAILED " parameter 'replicated_axes'"}},
        {"<@foo, [{}], replicated={}>",
         {"expected string", NAME_FAILED, LIST_FAILED, FAILED " parameter 'replicated_axes'"}},
        {"<@foo, [{}], unreduced={}>",
         {"expected string", NAME_FAILED, LIST_FAILED, FAILED " parameter 'unreduced_axes'"}},
        {"<@foo, [{}], >", {FAILED ", expected valid named axis list after comma"}},
        {"<@foo, [{}],>", {FAILED ", expected valid named axis list after comma"}},
        {"<@foo, [{}], other={\"a\"}>", {FAILED ", expected valid named axis list after comma"}},
        {"<@foo, [{}], replicated={\"a\"}, replicated={\"b\"}>",
         {FAILED ", expected valid named axis list after comma"}},
        {"<@foo, [{}], unreduced={\"a\"}, unreduced={\"b\"}>",
         {FAILED ", expected valid named axis list after comma"}},
        {"<@foo, [{a}]>", {"expected string", NAME_FAILED, DIMS_FAILED}},
        {"<@foo, [{\"a\"]>", {"expected ','", DIMS_FAILED}},
        {"<mesh<[\"x\"=0]>, [{}]>",
         {"axis size must be at least 1, got: 0", AXES_FAILED, "failed to parse MeshAttr"}},
        {"<[{}]>", {"invalid kind of attribute specified", NOT_A_MESH}},
        {"<\"foo\", [{}]>", {"invalid kind of attribute specified", NOT_A_MESH}},
        {"<bf16, [{}]>", {"invalid kind of attribute specified", NOT_A_MESH}},
        {"<@foo::@bar, [{}]>", {"invalid kind of attribute specified", NOT_A_MESH}},
        {"<@foo: [{}]>", {"expected ','"}},
        {"<foo, [{}]>", {"expected attribute value", NOT_A_MESH}},
        {"<, [{}]>", {"expected attribute value", NOT_A_MESH}},
        {"<@1, [{}]>", {"@ identifier expected to start with letter or '_'"}},
        {"<@foo, [{\"a\" ?}]>", {"expected ','", DIMS_FAILED}},
        {"<@foo, [{?, \"a\"}]>", {"expected '}'", DIMS_FAILED}},
        {"<@foo, [{\"a\",}]>", {"expected string", NAME_FAILED, DIMS_FAILED}},
        {"<@foo, [{;}]>", {"unexpected character"}},
        {"<@foo, [{\"a\":(x)2}]>",
         {"expected integer value", SUB_FAILED("pre_size"), SUB_AXIS_FAILED, DIMS_FAILED}},
        {"<@foo, [{\"a\":(1)}]>",
         {"expected integer value", SUB_FAILED("size"), SUB_AXIS_FAILED, DIMS_FAILED}},
        {"<@foo, [{\"a\":1}]>", {"expected '('", SUB_AXIS_FAILED, DIMS_FAILED}},
        {"<mesh, [{}]>", {"expected '<'", "failed to parse MeshAttr"}},
        {"<mesh<[x=2]>, [{}]>",
         {"expected string", MESH_AXIS_FAILED("name", "::llvm::StringRef"), AXES_FAILED,
          "failed to parse MeshAttr"}},
        {"<mesh<[\"x\"=y]>, [{}]>",
         {"expected integer value", MESH_AXIS_FAILED("size", "int64_t"), AXES_FAILED,
          "failed to parse MeshAttr"}},
        {"<mesh<[\"x\"]>, [{}]>", {"expected '='", AXES_FAILED, "failed to parse MeshAttr"}},
        {"<mesh<[\"x\"=2], device_ids=[]>, [{}]>",
         {"expected integer value",
          "failed to parse Sdy_Mesh parameter 'device_ids' which is to be a "
          "`::llvm::ArrayRef<int64_t>`",
          "failed to parse MeshAttr"}},
        {"<mesh<[\"x\"=2], device_ids=0>, [{}]>", {"expected '['", "failed to parse MeshAttr"}},
        {"<@foo, [{}]", {"expected '>'"}},
        {"<@foo [{}]>", {"expected ','"}},
        {"<@foo, {}>", {"expected '['"}},
        {"<@foo, [{}] ;", {"unexpected character"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *sharding = NULL;
        assert_true(read(f, mesh, cases[i].given, -1, &sharding) < 0);
        assert_null(sharding);
        expect_errors(f, cases[i].wanted);
    }
}

static void every_rule_has_its_message(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, foo);
    const tsr_mesh *maximal = mesh_of(f, "<[], device_ids=[1]>");
    const struct {
        const tsr_mesh *mesh;
        int64_t rank;
        const char *given;
        const char *message;
    } cases[] = {
        {maximal, 1, "<@m, [{}]>",
         "a maximal sharding can only have a sharding with rank 0 and no replicated or unreduced "
         "axes."},
        {mesh, 2, "<@foo, [{}]>", "sharding doesn't match tensor rank: 1 != 2"},
        {mesh, 1, "<@foo, [{}p1]>", "dim 0 is empty and closed but has a priority"},
        {mesh, 2, "<@foo, [{\"a\"}, {\"x\"}]>", "unknown axis name: \"x\""},
        {mesh, 1, "<@foo, [{\"x\":(1)2}]>", "unknown axis name: \"x\""},
        {mesh, 2, "<@foo, [{\"a\"}, {\"a\"}]>", "duplicate axis ref: \"a\""},
        {mesh, 1, "<@foo, [{\"a\"}], replicated={\"a\"}>", "duplicate axis ref: \"a\""},
        {mesh, 1, "<@foo, [{\"a\"}], unreduced={\"a\"}>", "duplicate axis ref: \"a\""},
        {mesh, 1, "<@foo, [{\"c\":(2)2}], replicated={\"c\":(2)2}>",
         "duplicate axis ref: \"c\":(2)2"},
        {mesh, 1, "<@foo, [{\"c\":(1)2, \"c\":(2)2}]>",
         "two consecutive sub-axes can be merged: \"c\":(1)2, \"c\":(2)2"},
        {mesh, 0, "<@foo, [], replicated={\"c\":(1)2, \"c\":(2)2}>",
         "two consecutive sub-axes can be merged: \"c\":(1)2, \"c\":(2)2"},
        {mesh, 0, "<@foo, [], replicated={\"b\", \"a\"}>",
         "replicated axes are not ordered w.r.t. mesh"},
        {mesh, 0, "<@foo, [], unreduced={\"c\":(4)2, \"c\":(1)2}>",
         "unreduced axes are not ordered w.r.t. mesh"},
        {mesh, 0, "<@foo, [], replicated={\"b\", \"x\", \"a\"}>", "unknown axis name: \"x\""},
        {mesh, 2, "<@foo, [{\"c\"}, {\"c\":(1)2}]>",
         "both sub-axis and full-axis are used for axis name: \"c\""},
        {mesh, 1, "<@foo, [{\"c\":(0)2}]>", "sub-axis pre-size must be at least 1: \"c\":(0)2"},
        {mesh, 1, "<@foo, [{\"c\":(-1)2}]>", "sub-axis pre-size must be at least 1: \"c\":(-1)2"},
        {mesh, 1, "<@foo, [{\"c\":(2)1}]>", "sub-axis sizes must be greater than 1: \"c\":(2)1"},
        {mesh, 1, "<@foo, [{\"c\":(2)3}]>",
         "sub-axis next pre-size 6 doesn't divide the size of the full axis 8: \"c\":(2)3"},
        {mesh, 1, "<@foo, [{\"c\":(1)8}]>",
         "sub-axis size is equal to the full axis size: \"c\":(1)8"},
        {mesh, 2, "<@foo, [{\"c\":(1)4}, {\"c\":(2)4}]>",
         "overlapping sub-axes: \"c\":(1)4, \"c\":(2)4"},
        {mesh, 1, "<@foo, [{\"c\":(4611686018427387904)4}]>",
         "sub-axis next pre-size 18446744073709551616 doesn't divide the size of the full axis 8: "
         "\"c\":(4611686018427387904)4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *sharding = NULL;
        assert_int_equal(read(f, cases[i].mesh, cases[i].given, cases[i].rank, &sharding),
                         TSR_ERR_INVALID);
        assert_null(sharding);
        assert_true(tsr_context_diagnostics(f->ctx)->line == 1);
        expect_error(f, cases[i].message);
    }
    const tsr_sharding *fine = NULL;
    assert_int_equal(read(f, maximal, "<@m, []>", 3, &fine), TSR_OK);
}

static void the_lenient_reading_sorts_and_merges(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, foo);
    static const struct {
        const char *given;
        const char *printed;
    } cases[] = {
        {"[{\"c\":(1)2, \"c\":(2)4}]", "[{\"c\"}]"},
        {"[], replicated={\"c\":(2)2, \"b\", \"c\":(1)2}", "[], replicated={\"b\", \"c\":(1)4}"},
        {"[], unreduced=min{\"c\", \"a\"}", "[], unreduced=min{\"a\", \"c\"}"},
        {"[{}], replicated={}, unreduced={}", "[{}]"},
        {"sharding<@foo, [{\"a\"}]>", "[{\"a\"}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(sharding_bare(f, sharding_of(f, mesh, cases[i].given)),
                            cases[i].printed);
    }
    const tsr_sharding *none = NULL;
    assert_int_equal(tsr_sharding_parse(f->ctx, f->arena, mesh, "[{\"a\"}] x", &none),
                     TSR_ERR_SYNTAX);
    expect_error(f, "expected the end of the sharding");
    assert_int_equal(tsr_sharding_parse(f->ctx, f->arena, NULL, "[{\"a\"}]", &none),
                     TSR_ERR_INVALID);
    expect_error(f, "the sharding does not name a mesh and none is given");
}

static void the_program_form_is_strict_in_any_reading(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, foo);
    static const struct {
        const char *given;
        const char *message;
    } cases[] = {
        {"#sdy.sharding<@foo, [{}, {}], replicated={\"b\", \"a\"}>",
         "replicated axes are not ordered w.r.t. mesh"},
        {"<@foo, [{}, {\"c\":(1)2, \"c\":(2)2}]>",
         "two consecutive sub-axes can be merged: \"c\":(1)2, \"c\":(2)2"},
        {"#sdy.sharding<@foo, [{}], replicated={}>", "expected string"},
        {"#sdy.sharding<@foo, [{}]}>", "expected '>'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *none = NULL;
        assert_true(tsr_sharding_parse(f->ctx, f->arena, mesh, cases[i].given, &none) < 0);
        expect_error(f, cases[i].message);
    }
}

static void notes_stay_with_the_headline(void **state)
{
    fixture *f = *state;
    const tsr_mesh *mesh = mesh_of(f, foo);
    static const char *const cases[] = {"<@foo, [{\"a\"}], replicated={b}>",
                                        "[{\"a\"}], replicated{\"b\"}"};
    for (size_t i = 0; i < 2; i++) {
        const tsr_sharding *none = NULL;
        assert_int_equal(tsr_sharding_parse(f->ctx, f->arena, mesh, cases[i], &none),
                         TSR_ERR_SYNTAX);
        assert_non_null(tsr_context_diagnostics(f->ctx)->notes);
        tsr_context_clear(f->ctx);
    }
}

static void explicit_sizes_are_checked_where_they_stand(void **state)
{
    fixture *f = *state;
    const int64_t shape[] = {4, 6};
    const tsr_sharding_reader reader = {
        .mesh = mesh_of(f, foo), .reading = TSR_READ_LENIENT, .rank = 2, .shape = shape};
    tsr_text text = tsr_text_of(NULL, "[{}, {\"a\"}:dynamic[2, 3]]");
    const tsr_sharding *none = NULL;
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &reader, &none), TSR_ERR_INVALID);
    assert_int_equal(tsr_context_diagnostics(f->ctx)->column, 6);
    expect_error(f, "dim 1: its sizes sum to 5, the extent is 6");
}

static void results_do_not_lean_on_their_source(void **state)
{
    fixture *f = *state;
    tsr_arena *other;
    const tsr_sharding *closed = NULL;
    const tsr_sharding *opened = NULL;
    const tsr_mesh *renamed = NULL;
    const tsr_mesh *mesh = mesh_of(f, foo);
    assert_int_equal(tsr_arena_create(f->ctx, &other), TSR_OK);
    const tsr_mesh *listed = NULL;
    const tsr_sharding *source = NULL;
    assert_int_equal(tsr_mesh_parse(f->ctx, other, "<[\"x\"=4], device_ids=[3, 1, 0, 2]>", &listed),
                     TSR_OK);
    assert_int_equal(tsr_sharding_parse(f->ctx, other, mesh,
                                        "[{\"a\", ?}], replicated={\"b\"}, unreduced={\"c\"}",
                                        &source),
                     TSR_OK);
    assert_int_equal(tsr_mesh_rename(f->ctx, f->arena, listed, "m", &renamed), TSR_OK);
    assert_int_equal(tsr_sharding_close(f->ctx, f->arena, source, &closed), TSR_OK);
    assert_int_equal(tsr_sharding_open(f->ctx, f->arena, source, &opened), TSR_OK);
    tsr_arena_destroy(other);
    assert_string_equal(mesh_text(f, renamed), "<[\"x\"=4], device_ids=[3, 1, 0, 2]>");
    assert_int_equal(tsr_mesh_place_of(renamed, 3), 0);
    assert_string_equal(sharding_bare(f, closed), "[{\"a\"}], unreduced={\"c\"}");
    assert_string_equal(sharding_bare(f, opened),
                        "[{\"a\", ?}], replicated={\"b\"}, unreduced={\"c\"}");
}

static void a_bare_text_leaves_what_is_not_its_own(void **state)
{
    fixture *f = *state;
    const tsr_sharding_reader reader = {
        .mesh = mesh_of(f, foo), .reading = TSR_READ_LENIENT, .rank = -1};
    tsr_text text = tsr_text_of(NULL, "[{\"a\"}], replicated={\"b\"}, [{}]");
    const tsr_sharding *sharding = NULL;
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &reader, &sharding), TSR_OK);
    assert_string_equal(text.data + text.at, ", [{}]");
    assert_string_equal(sharding_bare(f, sharding), "[{\"a\"}], replicated={\"b\"}");
    text = tsr_text_of(NULL, "[{\"a\"}] $ \"");
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &reader, &sharding), TSR_OK);
    assert_int_equal(text.at, 7);
    assert_null(tsr_context_diagnostics(f->ctx));
}

static void names_resolve_through_a_table(void **state)
{
    fixture *f = *state;
    tsr_mesh_table *table;
    assert_int_equal(tsr_mesh_table_create(f->ctx, f->arena, &table), TSR_OK);
    assert_int_equal(tsr_mesh_table_add(f->ctx, table, mesh_of(f, foo)), TSR_OK);
    assert_int_equal(tsr_mesh_table_add(f->ctx, table, mesh_of(f, "@\"b-r\" = <[\"x\"=2]>")),
                     TSR_OK);
    const tsr_sharding_reader reader = {.meshes = table, .reading = TSR_READ_PROGRAM, .rank = -1};
    tsr_text text = tsr_text_of(NULL, "<@\"b-r\", [{\"x\"}]>");
    const tsr_sharding *sharding = NULL;
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &reader, &sharding), TSR_OK);
    assert_string_equal(sharding_full(f, sharding), "#sdy.sharding<@\"b-r\", [{\"x\"}]>");
    text = tsr_text_of(NULL, "<@bar, [{\"x\"}]>");
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &reader, &sharding),
                     TSR_ERR_INVALID);
    expect_error(f, "unknown mesh: @bar");
}

static void lists_of_shardings(void **state)
{
    fixture *f = *state;
    const tsr_sharding_reader reader = {
        .mesh = mesh_of(f, foo), .reading = TSR_READ_PROGRAM, .rank = -1};
    tsr_text text =
        tsr_text_of(NULL, "#sdy.sharding_per_value<[<@foo, [{\"a\"}]>, <@foo, [{}, {}]>]> rest");
    const tsr_sharding *const *list = NULL;
    size_t count = 0;
    assert_int_equal(tsr_shardings_read(f->ctx, f->arena, &text, &reader, &list, &count), TSR_OK);
    assert_int_equal(count, 2);
    assert_int_equal(tsr_sharding_rank(list[1]), 2);
    assert_string_equal(text.data + text.at, " rest");
    text = tsr_text_of(NULL, "<[]>");
    assert_int_equal(tsr_shardings_read(f->ctx, f->arena, &text, &reader, &list, &count), TSR_OK);
    assert_int_equal(count, 0);
    text = tsr_text_of(NULL, "<[<@foo, [{\"b\"}phigh]>]>");
    assert_int_equal(tsr_shardings_read(f->ctx, f->arena, &text, &reader, &list, &count),
                     TSR_ERR_SYNTAX);
    const char *const wanted[] = {
        "expecting priority in format 'p<number>', got: phigh", DIMS_FAILED,
        "failed to parse Sdy_TensorShardingPerValue parameter 'shardings' which is to be a "
        "`::llvm::ArrayRef<TensorShardingAttr>`",
        NULL};
    expect_errors(f, wanted);
    text = tsr_text_of(NULL, "<[<@foo, [{\"q\"}]>]>");
    assert_int_equal(tsr_shardings_read(f->ctx, f->arena, &text, &reader, &list, &count),
                     TSR_ERR_INVALID);
    const char *const once[] = {"unknown axis name: \"q\"", NULL};
    expect_errors(f, once);
}

static void users_may_be_kept_from_sub_axes(void **state)
{
    fixture *f = *state;
    const tsr_sharding_reader reader = {.mesh = mesh_of(f, foo),
                                        .reading = TSR_READ_LENIENT,
                                        .flags = TSR_SHARDING_NO_SUB_AXES,
                                        .rank = -1};
    tsr_text text = tsr_text_of(NULL, "[{\"a\"}, {\"c\":(1)2}]");
    const tsr_sharding *sharding = NULL;
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &reader, &sharding),
                     TSR_ERR_INVALID);
    expect_error(f, "sub-axes are not allowed here: \"c\":(1)2");
    text = tsr_text_of(NULL, "[{\"c\":(1)2, \"c\":(2)4}]");
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &reader, &sharding),
                     TSR_ERR_INVALID);
    expect_error(f, "sub-axes are not allowed here: \"c\":(1)2");
    text = tsr_text_of(NULL, "[{\"a\"}, {\"c\"}]");
    assert_int_equal(tsr_sharding_read(f->ctx, f->arena, &text, &reader, &sharding), TSR_OK);
}

static void equality_and_equivalence(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, foo);
    const tsr_sharding *plain = sharding_of(f, m, "[{\"a\"}, {}]");
    const tsr_sharding *open = sharding_of(f, m, "[{\"a\", ?}p1, {?}], replicated={\"b\"}");
    const tsr_sharding *pending = sharding_of(f, m, "[{\"a\"}, {}], unreduced={\"b\"}");
    const tsr_sharding *pending_max = sharding_of(f, m, "[{\"a\"}, {}], unreduced=max{\"b\"}");
    const tsr_sharding *none = sharding_of(f, m, "[{?}]");
    const tsr_sharding *other = sharding_of(f, mesh_of(f, "<[\"a\"=2]>"), "[{\"a\"}, {}]");
    assert_true(tsr_sharding_equal(plain, sharding_of(f, m, "[{\"a\"}, {}]")));
    assert_false(tsr_sharding_equal(plain, open));
    assert_true(tsr_sharding_equivalent(plain, open, false));
    assert_false(tsr_sharding_equivalent(plain, pending, false));
    assert_true(tsr_sharding_equivalent(plain, pending, true));
    assert_true(tsr_sharding_equivalent(pending, pending_max, false));
    assert_false(tsr_sharding_equal(pending, pending_max));
    assert_true(tsr_sharding_equivalent(none, NULL, false));
    assert_true(tsr_sharding_equivalent(NULL, none, false));
    assert_false(tsr_sharding_equivalent(plain, NULL, false));
    assert_false(tsr_sharding_equivalent(plain, other, false));
    const tsr_sharding *named =
        sharding_of(f, mesh_of(f, "@bar = <[\"a\"=2, \"b\"=4, \"c\"=8]>"), "[{\"a\"}, {}]");
    assert_false(tsr_sharding_equivalent(plain, named, false));
    assert_false(tsr_sharding_equal(plain, named));
}

static void common_meshes(void **state)
{
    fixture *f = *state;
    const tsr_sharding *a = sharding_of(f, mesh_of(f, "<[\"x\"=2]>"), "[]");
    const tsr_sharding *again = sharding_of(f, mesh_of(f, "@other = <[\"x\"=2]>"), "[]");
    const tsr_sharding *empty = sharding_of(f, mesh_of(f, "<[]>"), "[]");
    const tsr_sharding *ids = sharding_of(f, mesh_of(f, "<[\"x\"=2], device_ids=[1, 0]>"), "[]");
    const tsr_sharding *b = sharding_of(f, mesh_of(f, "<[\"y\"=2]>"), "[]");
#define COMMON(ignore, ...)                                                                        \
    tsr_sharding_common_mesh((const tsr_sharding *[]){__VA_ARGS__},                                \
                             sizeof((const tsr_sharding *[]){__VA_ARGS__}) / sizeof(void *),       \
                             ignore)
    assert_ptr_equal(COMMON(false, NULL, a, again), tsr_sharding_mesh(a));
    assert_ptr_equal(COMMON(false, empty, a, empty), tsr_sharding_mesh(a));
    assert_null(COMMON(false, a, b));
    assert_null(COMMON(false, a, ids));
    assert_ptr_equal(COMMON(true, ids, a), tsr_sharding_mesh(a));
    assert_ptr_equal(COMMON(true, a, again), tsr_sharding_mesh(a));
    assert_ptr_equal(COMMON(false, empty), tsr_sharding_mesh(empty));
    assert_null(COMMON(false, NULL, NULL));
#undef COMMON
}

typedef tsr_status (*maker)(tsr_context *ctx, tsr_arena *arena, const tsr_sharding *sharding,
                            const tsr_sharding **out);

static void opening_and_closing(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, foo);
    const tsr_sharding *s =
        sharding_of(f, m, "[{\"a\", ?}p1, {?}p2], replicated={\"b\"}, unreduced={\"c\"}");
    static const struct {
        maker make;
        const char *printed;
    } cases[] = {
        {tsr_sharding_close, "[{\"a\"}p1, {}], unreduced={\"c\"}"},
        {tsr_sharding_open, "[{\"a\", ?}p1, {?}p2], replicated={\"b\"}, unreduced={\"c\"}"},
    };
    for (size_t i = 0; i < 2; i++) {
        const tsr_sharding *out = NULL;
        assert_int_equal(cases[i].make(f->ctx, f->arena, s, &out), TSR_OK);
        assert_string_equal(sharding_bare(f, out), cases[i].printed);
    }
    const tsr_sharding *out = NULL;
    assert_int_equal(tsr_sharding_replicated_over(f->ctx, f->arena, m, 2, true, &out), TSR_OK);
    assert_string_equal(sharding_bare(f, out), "[{?}, {?}]");
    assert_int_equal(tsr_sharding_replicated_over(f->ctx, f->arena, m, 1, false, &out), TSR_OK);
    assert_string_equal(sharding_bare(f, out), "[{}]");
    assert_int_equal(
        tsr_sharding_open(f->ctx, f->arena, sharding_of(f, m, "[{\"a\"}:dynamic[1, 2]]"), &out),
        TSR_ERR_INVALID);
    expect_error(f, "dim 0 has explicit sizes and cannot be opened");
}

static void adding_and_removing_axes(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, foo);
    const tsr_sharding *s = sharding_of(f, m, "[{\"a\", ?}p1, {}], replicated={\"c\":(4)2}");
    const tsr_sharding *out = NULL;
    assert_int_equal(tsr_sharding_add_axis(f->ctx, f->arena, s, 0, axis_of(m, "b"), &out), TSR_OK);
    assert_string_equal(sharding_bare(f, out), "[{\"a\", \"b\", ?}, {}], replicated={\"c\":(4)2}");
    assert_int_equal(tsr_sharding_add_axis(f->ctx, f->arena, s, 1, axis_of(m, "b"), &out),
                     TSR_ERR_INVALID);
    expect_error(f, "dim 1 is closed and cannot be sharded further");
    assert_int_equal(tsr_sharding_add_axis(f->ctx, f->arena, s, 0, axis_of(m, "c:(1)2"), &out),
                     TSR_ERR_INVALID);
    expect_error(f, "axis \"c\" is bound already");
    assert_int_equal(tsr_sharding_add_axis(f->ctx, f->arena, s, 2, axis_of(m, "b"), &out),
                     TSR_ERR_INVALID);
    expect_error(f, "dim 2 is out of range: the sharding has 2 dimensions");
    assert_int_equal(tsr_sharding_replicate(f->ctx, f->arena, s, axis_of(m, "b"), &out), TSR_OK);
    assert_string_equal(sharding_bare(f, out),
                        "[{\"a\", ?}p1, {}], replicated={\"b\", \"c\":(4)2}");
    assert_int_equal(tsr_sharding_replicate(f->ctx, f->arena, s, axis_of(m, "c:(1)4"), &out),
                     TSR_OK);
    assert_string_equal(sharding_bare(f, out), "[{\"a\", ?}p1, {}], replicated={\"c\"}");
    const tsr_sharding *full = sharding_of(f, m, "[{\"c\", \"a\"}p2, {\"b\"}p3]");
    const tsr_axis_ref gone[] = {axis_of(m, "c:(2)2"), axis_of(m, "b")};
    assert_int_equal(tsr_sharding_remove_axes(f->ctx, f->arena, full, gone, 2, &out), TSR_OK);
    assert_string_equal(sharding_bare(f, out), "[{\"c\":(1)2, \"c\":(4)2, \"a\"}p2, {}]");
    assert_int_equal(
        tsr_sharding_remove_axes(f->ctx, f->arena, sharding_of(f, m, "[{\"a\"}:dynamic[1, 2]]"),
                                 &(tsr_axis_ref){.axis = 0, .pre = 1, .size = 2}, 1, &out),
        TSR_ERR_INVALID);
    tsr_context_clear(f->ctx);
}

static void translation_to_another_view(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *from;
        const char *sharding;
        const char *to;
        const char *printed; /* NULL: cannot be expressed */
    } cases[] = {
        {"<[\"a\"=4, \"b\"=2]>", "[{\"a\", \"b\"}, {?}p1]", "<[\"d\"=8]>", "[{\"d\"}, {?}p1]"},
        {"<[\"a\"=4, \"b\"=2]>", "[{\"b\", \"a\"}]", "<[\"d\"=8]>", "[{\"d\":(4)2, \"d\":(1)4}]"},
        {"<[\"a\"=4, \"b\"=2]>", "[{\"b\"}], replicated={\"a\"}", "<[\"x\"=2, \"y\"=2, \"z\"=2]>",
         "[{\"z\"}], replicated={\"x\", \"y\"}"},
        {"<[\"a\"=4, \"b\"=2]>", "[{\"a\":(2)2}], unreduced=max{\"b\"}",
         "<[\"x\"=2, \"y\"=2, \"z\"=2]>", "[{\"y\"}], unreduced=max{\"z\"}"},
        {"<[\"a\"=2, \"b\"=3]>", "[{\"a\"}]", "<[\"x\"=3, \"y\"=2]>", NULL},
        {"<[\"a\"=2, \"b\"=3]>", "[{\"a\", \"b\"}]", "<[\"x\"=3, \"y\"=2]>", "[{\"x\", \"y\"}]"},
        {"<[\"a\"=2, \"b\"=4], device_ids<=[4, 2]T(1, 0)>", "[{\"a\"}]", "<[\"x\"=4, \"y\"=2]>",
         "[{\"y\"}]"},
        {"<[\"a\"=2, \"b\"=2], device_ids=[3, 1, 0, 2]>", "[{\"b\"}]", "<[\"x\"=4]>", NULL},
        {"<[\"a\"=2, \"b\"=2], device_ids=[3, 1, 0, 2]>", "[{\"b\"}]",
         "<[\"x\"=4], device_ids=[3, 1, 0, 2]>", "[{\"x\":(2)2}]"},
        {"<[\"a\"=2, \"b\"=2]>", "[{\"a\", \"b\"}:dynamic[[2, 1], [1, 1]]]", "<[\"x\"=4]>",
         "[{\"x\"}:dynamic[2, 1, 1, 1]]"},
        {"<[\"a\"=3, \"b\"=2], device_ids=[0, 2, 4, 1, 3, 5]>", "[{\"a\"}]",
         "<[\"x\"=3, \"y\"=2], device_ids=[0, 2, 4, 1, 3, 5]>", "[{\"x\"}]"},
        {"<[\"a\"=1]>", "[{}, {\"a\"}:dynamic[6], {}]", "<[\"a\"=1]>", "[{}, {}, {}]"},
        {"<[\"a\"=8], device_ids=[5, 1, 4, 3, 2, 0, 6, 7]>", "[{}]", "<[\"x\"=4, \"y\"=2]>",
         "[{}]"},
        {"<[\"a\"=2], device_ids=[1, 0]>", "[], replicated={\"a\"}", "<[\"x\"=2]>",
         "[], replicated={\"x\"}"},
        {"<[\"a\"=2], device_ids=[1, 0]>", "[{\"a\"}]", "<[\"x\"=2]>", NULL},
        {"<[\"a\"=2, \"b\"=2]>", "[{\"a\"}], unreduced=max{\"b\"}",
         "<[\"x\"=2, \"y\"=2], device_ids=[1, 0, 3, 2]>", "[{\"x\"}], unreduced=max{\"y\"}"},
        {"<[\"a\"=2, \"b\"=2]>", "[{\"b\"}]", "<[\"x\"=2, \"y\"=2], device_ids=[1, 0, 3, 2]>",
         NULL},
        {"<[\"a\"=1, \"b\"=2]>", "[{\"a\"}, {\"b\"}]", "<[\"x\"=2]>", "[{}, {\"x\"}]"},
        {"<[\"a\"=2]>", "[{\"a\"}]", "<[\"x\"=4]>", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tsr_sharding *s = sharding_of(f, mesh_of(f, cases[i].from), cases[i].sharding);
        const tsr_sharding *out = NULL;
        const tsr_status status =
            tsr_sharding_translate(f->ctx, f->arena, s, mesh_of(f, cases[i].to), &out);
        if (cases[i].printed != NULL) {
            assert_int_equal(status, TSR_OK);
            assert_string_equal(sharding_bare(f, out), cases[i].printed);
        } else {
            assert_true(status == TSR_ERR_UNSUPPORTED || status == TSR_ERR_INVALID);
            assert_null(out);
            tsr_context_clear(f->ctx);
        }
    }
}

static void builders_are_checked_like_texts(void **state)
{
    fixture *f = *state;
    const tsr_mesh *m = mesh_of(f, foo);
    const tsr_axis_ref twice[] = {axis_of(m, "a"), axis_of(m, "a")};
    const tsr_axis_ref unknown = {.axis = 9, .pre = 1, .size = 2};
    const tsr_dim dims[] = {{.axes = twice, .num_axes = 2, .priority = TSR_NO_PRIORITY}};
    const tsr_dim stray[] = {{.axes = &unknown, .num_axes = 1, .priority = TSR_NO_PRIORITY}};
    tsr_sharding_spec spec = {.mesh = m, .rank = 1, .dims = dims};
    const tsr_sharding *out = NULL;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, 0, &out), TSR_ERR_INVALID);
    expect_error(f, "duplicate axis ref: \"a\"");
    spec.dims = stray;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, 0, &out), TSR_ERR_INVALID);
    expect_error(f, "unknown axis name: \"?\"");
    tsr_dim hasty[] = {tsr_dim_closed(twice, 1)};
    spec.dims = hasty;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, 0, &out), TSR_OK);
    assert_string_equal(sharding_bare(f, out), "[{\"a\"}]");
    hasty[0].priority = -7;
    out = NULL;
    assert_int_equal(tsr_sharding_create(f->ctx, f->arena, &spec, 0, &out), TSR_ERR_INVALID);
    expect_error(f, "dim 0: a priority must be at least 0, got: -7");
    assert_null(out);
}

/* As many references as text can hold: looked up, not compared one with another. */
static void many_axes_are_told_apart(void **state)
{
    fixture *f = *state;
    enum { COUNT = 20000 };
    tsr_axis_ref *axes = tsr_arena_alloc(f->arena, COUNT * sizeof *axes);
    for (size_t i = 0; i < COUNT; i++) {
        axes[i] = tsr_axis_sub(0, 2 + (int64_t)i, 3);
    }
    const tsr_mesh *m = mesh_of(f, foo);
    axes[COUNT - 1] = axes[7];
    assert_int_equal(tsr_axes_verify(f->ctx, f->arena, m, axes, COUNT), TSR_ERR_INVALID);
    expect_error(f, "duplicate axis ref: \"a\":(9)3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(program_form_prints_as_read),
        TEST(parse_errors_come_in_the_order_of_the_reference),
        TEST(texts_print_before_names_are_looked_up),
        TEST(every_rule_has_its_message),
        TEST(the_lenient_reading_sorts_and_merges),
        TEST(the_program_form_is_strict_in_any_reading),
        TEST(notes_stay_with_the_headline),
        TEST(explicit_sizes_are_checked_where_they_stand),
        TEST(results_do_not_lean_on_their_source),
        TEST(a_bare_text_leaves_what_is_not_its_own),
        TEST(names_resolve_through_a_table),
        TEST(lists_of_shardings),
        TEST(users_may_be_kept_from_sub_axes),
        TEST(equality_and_equivalence),
        TEST(common_meshes),
        TEST(opening_and_closing),
        TEST(adding_and_removing_axes),
        TEST(translation_to_another_view),
        TEST(builders_are_checked_like_texts),
        TEST(many_axes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
