/* `tessera show`: its options, the facts, the output. */
#include "show.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "mesh_name.h"
#include "output.h"
#include "utf8.h"

enum option_key {
    KEY_MESH = 'm',
    KEY_SHAPE = 's',
    KEY_DTYPE = 'd',
    KEY_FROM = 'f',
    KEY_TO = 't',
    KEY_JSON = 'j',
    KEY_SVG = 256,
    KEY_DEVICES,
    KEY_STRICT,
    KEY_NO_SUB_AXES,
    KEY_ASCII,
    KEY_COLOR,
    KEY_VALUE
};

static const struct argp_option option_rows[] = {
    {0, 0, 0, 0, "What to show:", 1},
    {"mesh", KEY_MESH, "MESH", 0,
     "mesh: x=2,y=4 or `<[\"x\"=2, \"y\"=4]>', optionally with a name: `@m = <[\"x\"=2]>', or as "
     "JAX and torch print meshes. Repeatable; the first is the mesh of a sharding without a mesh "
     "name. HLO text and text that contains its mesh do not need it.",
     1},
    {"shape", KEY_SHAPE, "SHAPE", 0,
     "shape of the tensor: 4x8 or 4,8; scalar; or a type, 4x8xf32, f32[4,8] or tensor<4x8xf32>. A "
     "type may follow the sharding instead: `[{\"x\"}, {}] : tensor<4x8xf32>'",
     1},
    {"dtype", KEY_DTYPE, "TYPE", 0, "element type, such as f32, to print bytes per device", 1},
    {"value", KEY_VALUE, "WHICH", 0,
     "show only one of several shardings in the text: its number from 0, or the name of its value",
     1},
    {0, 0, 0, 0, "How to read the sharding:", 2},
    {"from", KEY_FROM, "DIALECT", 0, "sdy, jax, dtensor or hlo (default: recognized from the text)",
     2},
    {"strict", KEY_STRICT, 0, 0,
     "accept only the forms of programs: <@mesh, [...]> in canonical order, @mesh = <[...]>", 2},
    {"no-sub-axes", KEY_NO_SUB_AXES, 0, 0, "reject sub-axes", 2},
    {0, 0, 0, 0, "How to show it:", 3},
    {"to", KEY_TO, "DIALECT", 0, "translate only: print the text in sdy, jax, dtensor or hlo", 3},
    {"json", KEY_JSON, 0, 0, "print JSON, with the box of each device in mesh order", 3},
    {"devices", KEY_DEVICES, "A:B", 0,
     "list only the devices at the places A to B-1 of the mesh, also with --json", 3},
    {"svg", KEY_SVG, "FILE", 0, "also write the picture as SVG; with `-' print only the SVG", 3},
    {"ascii", KEY_ASCII, 0, 0, "draw with ASCII even in a UTF-8 locale", 3},
    {"color", KEY_COLOR, "WHEN", 0,
     "auto, always or never; auto uses colors on a terminal unless NO_COLOR is set (default: auto)",
     3},
    {0}};

static const char doc[] =
    "Shows what each device of a mesh holds of a tensor: the canonical sharding, the local shape, "
    "and a picture of the shards with the ids of their devices.\vSHARDING is written in one of "
    "these dialects:\n"
    "  sdy      '[{\"x\"}, {\"y\", ?}], replicated={\"z\"}'\n"
    "           '#sdy.sharding<@mesh, [{\"x\"}, {}]>'\n"
    "  jax      \"P('x', None, ('y', 'z'))\"\n"
    "  dtensor  '[Shard(0), Replicate(), Partial()]'\n"
    "  hlo      '{devices=[2,1,4]<=[8] last_tile_dim_replicate}'\n"
    "In sdy, the lists of '[...], replicated={...}' and of 'sharding<...>' may be\n"
    "empty or in any order; '<@mesh, [...]>' and '#sdy.sharding<...>' are read as\n"
    "in programs. A type may follow any sharding, ' : tensor<4x8xf32>', and the\n"
    "name of a value come before it, '%arg0 : '.\n"
    "Text around the sharding may be pasted too; all shardings in it are shown:\n"
    "  '%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}'\n"
    "  '#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>, <@mesh, [{}]>]>'\n"
    "  \"NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=PartitionSpec('x', None))\"\n"
    "  \"DTensor(.., device_mesh=DeviceMesh((dp=2, tp=4)), placements=(Shard(dim=0), ..))\"\n"
    "  'sharding={devices=[2,4]<=[8]}', '{{devices=[2]<=[2]}, {replicated}}'\n"
    "\n"
    "Examples:\n"
    "  tessera show --mesh x=2,y=4 --shape 4x8 '[{\"x\"}, {\"y\"}]'\n"
    "  tessera show --mesh '<[\"x\"=2, \"y\"=4]>' --shape 5x8 \"P(('y', 'x'), None)\"\n"
    "  tessera show --mesh '<[\"x\"=2, \"y\"=4]>' --to hlo '[{\"x\"}, {\"y\"}]'\n"
    "  tessera show --shape 4x8 --svg out.svg '{devices=[2,4]<=[8]}'\n"
    "\n"
    "Exit status: 0 fine, 2 bad usage or input, 3 cannot be expressed.";

/* Refuses combinations that would print two things to one output, or nothing. */
static int check_options(const struct options *options, const struct facts *facts, size_t count)
{
    const bool svg_to_stdout = options->svg != NULL && strcmp(options->svg, "-") == 0;
    const char *needs_shape = options->svg != NULL       ? "--svg needs --shape"
                              : options->devices != NULL ? "--devices needs --shape"
                              : options->dtype != NULL   ? "--dtype needs --shape to count bytes"
                                                         : NULL;
    for (size_t i = 0; i < count; i++) {
        if (needs_shape != NULL && !facts[i].has_shape) {
            return complain("%s", needs_shape);
        }
    }
    if (options->to != NULL && (options->svg != NULL || options->devices != NULL)) {
        return complain("--to prints only a translation: remove %s",
                        options->svg != NULL ? "--svg" : "--devices");
    }
    if (svg_to_stdout && options->json) {
        return complain("--json and --svg - both print to standard output: remove one");
    }
    if (options->svg != NULL && count > 1) {
        return complain(
            "the text has %zu shardings, but --svg draws one; choose it, such as --value 0", count);
    }
    return EXIT_FINE;
}

static error_t parse_end(int key, struct options *options, char *argument, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (options->sharding != NULL) {
            argp_error(state,
                       "more than one sharding given: '%s'; quote the sharding as one argument",
                       argument);
        }
        options->sharding = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a sharding is missing, such as '[{\"x\"}, {\"y\"}]'");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_MESH:
        options->meshes[options->num_meshes++] = argument;
        return 0;
    case KEY_SHAPE:
        options->shape = argument;
        return 0;
    case KEY_DTYPE:
        options->dtype = argument;
        return 0;
    case KEY_FROM:
        options->from = argument;
        return 0;
    case KEY_TO:
        options->to = argument;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_SVG:
        options->svg = argument;
        return 0;
    case KEY_DEVICES:
        options->devices = argument;
        return 0;
    case KEY_VALUE:
        options->value = argument;
        return 0;
    case KEY_STRICT:
        options->strict = true;
        return 0;
    case KEY_NO_SUB_AXES:
        options->no_sub_axes = true;
        return 0;
    case KEY_ASCII:
        options->ascii = true;
        return 0;
    case KEY_COLOR:
        if (!colour_mode_parse(argument, &options->colour)) {
            argp_error(state, "--color '%s': write auto, always or never", argument);
        }
        return 0;
    default:
        return parse_end(key, options, argument, state);
    }
}

/* The canonical texts of the sharding and of its mesh. */
static int print_texts(struct session *session, struct facts *facts)
{
    const char *mesh = NULL;
    const char *name = tsr_mesh_name(facts->mesh);
    tsr_status status = tsr_sharding_print(session->ctx, session->arena, facts->sharding,
                                           TSR_PRINT_FULL, &facts->sharding_text);
    if (status == TSR_OK) {
        status = tsr_mesh_print(session->ctx, session->arena, facts->mesh, &mesh);
    }
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    facts->mesh_text =
        name == NULL ? mesh
                     : session_format(session, "@%s = %s", mesh_name_format(session, name), mesh);
    return EXIT_FINE;
}

static int find_geometry(struct session *session, struct facts *facts)
{
    tsr_status status = tsr_geometry_create(session->ctx, session->arena, facts->sharding,
                                            facts->rank, facts->shape.extents, &facts->geometry);
    if (status != TSR_OK) {
        return session_fail(session, status);
    }
    int64_t *local = session_alloc(session, facts->rank, sizeof *local);
    int64_t *padded = session_alloc(session, facts->rank, sizeof *padded);
    tsr_geometry_local_shape(facts->geometry, local);
    tsr_geometry_padded_shape(facts->geometry, padded);
    facts->local_shape = local;
    facts->padded_shape = padded;
    return facts_find_stored(session, facts);
}

/* Which devices to list: those asked for, else all of them if that is not too much. */
static int find_range(const struct options *options, struct facts *facts)
{
    int64_t devices = tsr_mesh_num_devices(facts->mesh);
    facts->has_range = options->devices != NULL;
    facts->end = devices;
    if (facts->has_range) {
        return range_read(options->devices, devices, &facts->first, &facts->end);
    }
    if (options->json && facts->has_shape && devices > DEVICES_LISTED) {
        return complain("the mesh has %lld devices; at most %d are listed by default: use "
                        "--devices A:B for the places A to B-1",
                        (long long)devices, DEVICES_LISTED);
    }
    return EXIT_FINE;
}

/* Computes all facts before anything is printed. */
static int find_facts(struct session *session, const struct options *options, struct facts *facts)
{
    facts->mesh = tsr_sharding_mesh(facts->sharding);
    facts->rank = facts->has_shape ? facts->shape.rank : tsr_sharding_rank(facts->sharding);
    int code = print_texts(session, facts);
    if (code == EXIT_FINE && facts->has_shape && options->to == NULL) {
        code = find_geometry(session, facts);
    }
    return code == EXIT_FINE && options->to == NULL ? find_range(options, facts) : code;
}

static int translate(struct session *session, const struct options *options,
                     const struct facts *facts, const char **out)
{
    tsr_dialect dialect;
    const char *text = NULL;
    tsr_status status = tsr_dialect_parse(session->ctx, options->to, &dialect);
    if (status == TSR_OK) {
        status = tsr_dialect_write(session->ctx, session->arena, dialect, facts->sharding,
                                   facts->has_shape ? facts->shape.extents : NULL, &text);
    }
    *out = text;
    return status == TSR_OK ? EXIT_FINE : show_fail(session, facts, status);
}

/* One line for each translation; nothing is printed unless all can be made. */
static int translate_all(struct session *session, const struct options *options,
                         const struct facts *facts, size_t count)
{
    const char **texts = session_alloc(session, count, sizeof *texts);
    int code = EXIT_FINE;
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        code = translate(session, options, &facts[i], &texts[i]);
    }
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        if (!options->json) {
            puts(texts[i]);
            continue;
        }
        printf("%s{\"dialect\": \"%s\", \"text\": ", count > 1 ? (i == 0 ? "[" : " ") : "",
               options->to);
        write_json_string(stdout, texts[i]);
        puts(count > 1 ? (i + 1 < count ? "}," : "}]") : "}");
    }
    return code;
}

/* The picture with the sharding, the mesh and the shape above it. */
static int draw_svg(struct session *session, const struct facts *facts, const char **out)
{
    const char *shape = facts_format_shape(session, facts->rank, facts->shape.extents);
    const char *titles[] = {facts->sharding_text, facts->mesh_text,
                            session_format(session, "shape %s", shape)};
    tsr_status status = tsr_picture_svg(session->ctx, session->arena, facts->geometry, titles,
                                        sizeof titles / sizeof titles[0], out);
    return status == TSR_OK ? EXIT_FINE : session_fail(session, status);
}

/* The table, the picture below it, and the devices that were asked for. */
static int print_plain(struct session *session, const struct options *options,
                       const struct facts *facts)
{
    const tsr_picture_style style = {.unicode = !options->ascii && terminal_unicode(),
                                     .colour = terminal_colour(options->colour, stdout)};
    const char *picture = NULL;
    if (facts->has_shape) {
        tsr_status status =
            tsr_picture_text(session->ctx, session->arena, facts->geometry, &style, &picture);
        if (status != TSR_OK) {
            return session_fail(session, status);
        }
    }
    if (facts->label != NULL) {
        printf("%-14s%s\n", "value", facts->label);
    }
    int code = show_table(session, facts, style.unicode);
    if (code == EXIT_FINE && picture != NULL) {
        printf("\n%s", picture);
    }
    if (code == EXIT_FINE && facts->has_range) {
        putchar('\n');
        code = show_device_list(session, facts);
    }
    return code;
}

/* Standard output before the file: when it fails, the file is left alone. */
static int print_one(struct session *session, const struct options *options,
                     const struct facts *facts)
{
    const char *svg = NULL;
    int code = options->svg != NULL ? draw_svg(session, facts, &svg) : EXIT_FINE;
    if (code != EXIT_FINE) {
        return code;
    }
    if (options->json) {
        show_json(session, facts);
    } else if (svg == NULL || strcmp(options->svg, "-") != 0) {
        code = print_plain(session, options, facts);
    }
    if (code != EXIT_FINE || svg == NULL) {
        return code;
    }
    return output_flush() == 0 ? output_write(options->svg, svg, strlen(svg)) : EXIT_BAD_INPUT;
}

static int print_all(struct session *session, const struct options *options,
                     const struct facts *facts, size_t count)
{
    const bool list = options->json && count > 1;
    int code = EXIT_FINE;
    fputs(list ? "[" : "", stdout);
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        fputs(i == 0 ? "" : list ? ",\n" : "\n", stdout);
        code = print_one(session, options, &facts[i]);
    }
    fputs(list ? "]\n" : "", stdout);
    return code;
}

static int show(struct session *session, const struct options *options)
{
    struct facts *facts = NULL;
    size_t count = 0;
    int code = show_input(session, options, &facts, &count);
    if (code == EXIT_FINE) {
        code = check_options(options, facts, count);
    }
    for (size_t i = 0; i < count && code == EXIT_FINE; i++) {
        code = find_facts(session, options, &facts[i]);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    return options->to != NULL ? translate_all(session, options, facts, count)
                               : print_all(session, options, facts, count);
}

const struct argp show_argp = {
    .options = option_rows, .parser = parse_option, .args_doc = "SHARDING", .doc = doc};

int show_run(int argc, char **argv)
{
    struct options options = {0};
    struct session session;
    options.meshes = calloc((size_t)argc + 1, sizeof *options.meshes);
    if (options.meshes == NULL) {
        return complain("out of memory");
    }
    int code =
        argp_parse(&show_argp, argc, argv, 0, NULL, &options) == 0 ? EXIT_FINE : EXIT_BAD_INPUT;
    if (code == EXIT_FINE) {
        code = session_open(&session, options.colour);
    }
    if (code == EXIT_FINE) {
        code = show(&session, &options);
        session_close(&session);
    }
    free(options.meshes);
    return code;
}
