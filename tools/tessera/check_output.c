#include "check_output.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

const char *severity_name(tsr_severity severity)
{
    static const char *const names[] = {
        [TSR_NOTE] = "note", [TSR_WARNING] = "warning", [TSR_ERROR] = "error"};
    return names[severity];
}

/* Where an op is: in the text, and in the source that the program was made from. */
struct place {
    int64_t line; /* 0: not in the text */
    int64_t column;
    bool has_source;
    tsr_source_location source;
};

static struct place place_of(const struct check_result *r, tsr_ir_op op)
{
    struct place place = {0};
    if (!tsr_ir_op_position(r->program, op, &place.line, &place.column)) {
        place.line = 0;
    }
    place.has_source =
        tsr_ir_op_source(r->session->ctx, r->session->arena, r->program, op, &place.source);
    return place;
}

/* ---- text ---- */

static void print_head(const struct check_result *r, tsr_ir_op op, tsr_severity severity)
{
    static const char *const colours[] = {
        [TSR_NOTE] = "\033[36m", [TSR_WARNING] = "\033[35m", [TSR_ERROR] = "\033[31m"};
    const struct place place = place_of(r, op);
    fputs(r->file, stdout);
    if (place.line > 0) {
        printf(":%" PRId64 ":%" PRId64, place.line, place.column);
    }
    printf(": %s%s%s: ", r->colour ? colours[severity] : "", severity_name(severity),
           r->colour ? "\033[0m" : "");
}

static void print_source(const struct check_result *r, tsr_ir_op op)
{
    const struct place place = place_of(r, op);
    if (place.has_source) {
        printf("  from %s:%" PRId64 ":%" PRId64 "\n", place.source.file, place.source.line,
               place.source.column);
    }
}

void print_findings_text(const struct check_result *r)
{
    for (size_t i = 0; i < r->findings.count; i++) {
        const tsr_finding *f = &r->findings.list[i];
        print_head(r, f->op, f->rule->severity);
        printf("%s [%s]\n", f->message, f->rule->name);
        print_source(r, f->op);
        for (size_t n = 0; n < f->num_notes; n++) {
            print_head(r, f->notes[n].op, TSR_NOTE);
            printf("%s\n", f->notes[n].text);
            print_source(r, f->notes[n].op);
        }
        printf("  help: %s\n", f->remedy);
    }
}

void print_rules(void)
{
    size_t count = 0;
    const tsr_check_rule *rules = tsr_check_rules(&count);
    for (size_t i = 0; i < count; i++) {
        printf("%s  %-27s %-8s %s\n", rules[i].id, rules[i].name, severity_name(rules[i].severity),
               rules[i].title);
    }
}

/* ---- JSON ---- */

static void write_field(const char *name, const char *text)
{
    printf("\"%s\": ", name);
    write_json_string(stdout, text);
}

static void write_place(const struct check_result *r, tsr_ir_op op)
{
    const struct place place = place_of(r, op);
    printf("\"line\": %" PRId64 ", \"column\": %" PRId64 ", \"op\": ", place.line, place.column);
    write_json_string(stdout, tsr_ir_op_name(r->program, op));
    if (!place.has_source) {
        fputs(", \"source\": null", stdout);
        return;
    }
    fputs(", \"source\": {", stdout);
    write_field("file", place.source.file);
    printf(", \"line\": %" PRId64 ", \"column\": %" PRId64 "}", place.source.line,
           place.source.column);
}

static void write_finding(const struct check_result *r, const tsr_finding *f)
{
    fputs("  {", stdout);
    write_field("id", f->rule->id);
    fputs(", ", stdout);
    write_field("rule", f->rule->name);
    fputs(", ", stdout);
    write_field("severity", severity_name(f->rule->severity));
    fputs(", ", stdout);
    write_field("file", r->file);
    fputs(", ", stdout);
    write_place(r, f->op);
    fputs(", ", stdout);
    write_field("axis", f->axis);
    fputs(", ", stdout);
    write_field("message", f->message);
    fputs(", ", stdout);
    write_field("remedy", f->remedy);
    fputs(", \"notes\": [", stdout);
    for (size_t n = 0; n < f->num_notes; n++) {
        fputs(n == 0 ? "{" : ", {", stdout);
        write_place(r, f->notes[n].op);
        fputs(", ", stdout);
        write_field("text", f->notes[n].text);
        fputs("}", stdout);
    }
    fputs("]}", stdout);
}

void print_findings_json(const struct check_result *r)
{
    fputs("[", stdout);
    for (size_t i = 0; i < r->findings.count; i++) {
        fputs(i == 0 ? "\n" : ",\n", stdout);
        write_finding(r, &r->findings.list[i]);
    }
    fputs(r->findings.count > 0 ? "\n]\n" : "]\n", stdout);
}

/* ---- SARIF ---- */

/* A path as a URI reference: bytes that are not plain in one are escaped. */
static void write_uri(const char *path)
{
    fputc('"', stdout);
    for (const unsigned char *at = (const unsigned char *)path; *at != '\0'; at++) {
        if (isalnum(*at) != 0 || strchr("/._-~+,=@", *at) != NULL) {
            fputc(*at, stdout);
        } else {
            printf("%%%02X", *at);
        }
    }
    fputc('"', stdout);
}

static void write_physical(const char *file, int64_t line, int64_t column)
{
    fputs("\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", stdout);
    write_uri(file);
    fputs("}", stdout);
    if (line > 0) {
        printf(", \"region\": {\"startLine\": %" PRId64, line);
        if (column > 0) {
            printf(", \"startColumn\": %" PRId64, column);
        }
        fputs("}", stdout);
    }
    fputs("}", stdout);
}

/* In the source when the program has locations: that is what is reviewed. */
static void write_location(const struct check_result *r, const struct place *place)
{
    if (place->has_source) {
        write_physical(place->source.file, place->source.line, place->source.column);
    } else {
        write_physical(r->file, place->line, place->column);
    }
}

static void write_related(const struct check_result *r, const tsr_finding *f)
{
    const struct place own = place_of(r, f->op);
    bool first = true;
    if (own.has_source) {
        fputs("\n          {\"message\": {\"text\": \"in the program\"}, ", stdout);
        write_physical(r->file, own.line, own.column);
        fputs("}", stdout);
        first = false;
    }
    for (size_t n = 0; n < f->num_notes; n++) {
        const struct place place = place_of(r, f->notes[n].op);
        fputs(first ? "\n          {\"message\": {" : ",\n          {\"message\": {", stdout);
        write_field("text", f->notes[n].text);
        fputs("}, ", stdout);
        write_location(r, &place);
        fputs("}", stdout);
        first = false;
    }
}

static size_t rule_index(const tsr_check_rule *rule)
{
    size_t count = 0;
    return (size_t)(rule - tsr_check_rules(&count));
}

static void write_result(const struct check_result *r, const tsr_finding *f)
{
    const struct place place = place_of(r, f->op);
    fputs("        {", stdout);
    write_field("ruleId", f->rule->id);
    printf(", \"ruleIndex\": %zu, ", rule_index(f->rule));
    write_field("level", severity_name(f->rule->severity));
    fputs(",\n         \"message\": {", stdout);
    write_field("text", session_format(r->session, "%s. To do: %s.", f->message, f->remedy));
    fputs("},\n         \"locations\": [{", stdout);
    write_location(r, &place);
    fputs("}],\n         \"relatedLocations\": [", stdout);
    write_related(r, f);
    fputs("]}", stdout);
}

static void write_rule(const tsr_check_rule *rule)
{
    fputs("            {", stdout);
    write_field("id", rule->id);
    fputs(", ", stdout);
    write_field("name", rule->name);
    fputs(",\n             \"shortDescription\": {", stdout);
    write_field("text", rule->title);
    fputs("},\n             \"help\": {", stdout);
    write_field("text", rule->help);
    printf("},\n             \"defaultConfiguration\": {\"level\": \"%s\"}}",
           severity_name(rule->severity));
}

void print_findings_sarif(const struct check_result *r)
{
    size_t count = 0;
    const tsr_check_rule *rules = tsr_check_rules(&count);
    fputs("{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
          "  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n      \"tool\": {\n"
          "        \"driver\": {\n          \"name\": \"tessera\",\n          ",
          stdout);
    write_field("version", tsr_version());
    fputs(",\n          \"rules\": [", stdout);
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "\n" : ",\n", stdout);
        write_rule(&rules[i]);
    }
    fputs("\n          ]\n        }\n      },\n      \"columnKind\": \"utf16CodeUnits\",\n"
          "      \"results\": [",
          stdout);
    for (size_t i = 0; i < r->findings.count; i++) {
        fputs(i == 0 ? "\n" : ",\n", stdout);
        write_result(r, &r->findings.list[i]);
    }
    fputs("\n      ]\n    }\n  ]\n}\n", stdout);
}
