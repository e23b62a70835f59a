#include "plan_output.h"

#include <stdio.h>
#include <string.h>

#include "utf8.h"

enum { LABEL = 14, BAR = 40, TIME_TEXT = 32, DIGITS = 9 };

/* `12.345 us`: nanoseconds, exact. */
static const char *time_text(int64_t nanoseconds, char *out)
{
    (void)snprintf(out, TIME_TEXT, "%lld.%03lld us", (long long)(nanoseconds / 1000),
                   (long long)(nanoseconds % 1000));
    return out;
}

void plan_print_wrapped(const char *name, const char *text)
{
    const size_t width = TERMINAL_WIDTH - LABEL;
    printf("%-*s", LABEL, name);
    while (strlen(text) > width) {
        size_t end = width;
        while (end > 0 && text[end] != ' ') {
            end--;
        }
        end = end > 0 ? end : width;
        printf("%.*s\n%*s", (int)end, text, LABEL, "");
        text += text[end] == ' ' ? end + 1 : end;
    }
    puts(text);
}

/* `gpu-pod: pod 2, host 8` */
static void print_topology(const tsr_topology_spec *t)
{
    printf("%-*s%s:", LABEL, "topology", t->name != NULL ? t->name : "without a name");
    for (size_t l = 0; l < t->num_levels; l++) {
        printf("%s %s %lld", l > 0 ? "," : "", t->levels[l].name, (long long)t->levels[l].size);
    }
    puts("");
}

static tsr_status print_step(struct session *session, const struct plan_view *view,
                             const tsr_topology_spec *t, size_t index)
{
    const tsr_route_step step = tsr_route_step_at(view->route, index);
    const char *axes = NULL;
    char time[TIME_TEXT];
    const tsr_status status =
        tsr_axes_print(session->ctx, session->arena, view->mesh, step.axes, step.num_axes, &axes);
    if (status != TSR_OK) {
        return status;
    }
    printf("step %-*zu%s along %s, %s: %s%s\n", LABEL - 5, index + 1, tsr_step_kind_name(step.kind),
           axes, step.algorithm, time_text(step.nanoseconds, time), step.padded ? ", padded" : "");
    for (size_t l = 0; l < t->num_levels; l++) {
        if (step.rounds[l] > 0) {
            printf("%*s%lld bytes over %s in %lld round%s\n", LABEL, "", (long long)step.bytes[l],
                   t->levels[l].name, (long long)step.rounds[l], step.rounds[l] == 1 ? "" : "s");
        }
    }
    printf("%*sto %s\n", LABEL, "", step.layout);
    return TSR_OK;
}

/* How much of a bar some bytes are; at least one mark if they are any. */
static int marks_of(int64_t bytes, int64_t largest)
{
    const int marks = (int)((double)bytes / (double)largest * BAR + 0.5);
    return bytes > 0 && marks == 0 ? 1 : marks;
}

/* A bar for each level: what each step receives there, drawn by its number. */
static void print_picture(const struct plan_view *view, const tsr_route_facts *facts,
                          const tsr_topology_spec *t)
{
    int64_t largest = 1;
    for (size_t l = 0; l < t->num_levels; l++) {
        largest = facts->bytes[l] > largest ? facts->bytes[l] : largest;
    }
    for (size_t l = 0; l < t->num_levels; l++) {
        printf("%-*.*s|", LABEL, LABEL - 1, t->levels[l].name);
        int width = 0;
        for (size_t i = 0; i < facts->num_steps; i++) {
            int marks = marks_of(tsr_route_step_at(view->route, i).bytes[l], largest);
            for (; marks > 0 && width < BAR; marks--, width++) {
                putchar(i < DIGITS ? '1' + (int)i : '+');
            }
        }
        printf("%*s| %lld bytes\n", BAR - width, "", (long long)facts->bytes[l]);
    }
}

static void print_other(const char *name, int64_t nanoseconds, const char *note)
{
    char time[TIME_TEXT];
    printf("%-*s%s%s\n", LABEL, name,
           nanoseconds >= 0 ? time_text(nanoseconds, time) : "not possible",
           nanoseconds >= 0 ? note : "");
}

static void print_summary(const struct plan_view *view, const tsr_route_facts *facts)
{
    char time[TIME_TEXT];
    char other[TIME_TEXT];
    printf("%-*s%s in %zu step%s, ", LABEL, "time", time_text(facts->nanoseconds, time),
           facts->num_steps, facts->num_steps == 1 ? "" : "s");
    if (facts->proven) {
        printf("the minimum of %zu layouts\n", facts->num_layouts);
    } else {
        printf("within %s of the minimum\n", time_text(facts->gap, other));
    }
    printf("%-*s%s%s\n", LABEL, "bound", time_text(facts->lower_bound, time),
           facts->bound_met ? ", met" : "");
    printf("%-*s%lld live bytes of a device", LABEL, "memory", (long long)facts->live_bytes);
    if (view->memory > 0) {
        printf(", limit %lld", (long long)view->memory);
    }
    puts("");
    if (facts->num_steps > 0) {
        print_other("direct", facts->direct, "");
        print_other("collective", facts->collective, "");
        print_other("greedy", facts->greedy,
                    facts->greedy_obeys ? "" : ", beyond the limits of memory");
    }
}

tsr_status plan_print_table(struct session *session, const struct plan_view *view)
{
    const tsr_route_facts facts = tsr_route_describe(view->route);
    const tsr_topology_spec t = tsr_topology_facts(facts.topology);
    printf("%-*s%s\n", LABEL, "from", view->from);
    printf("%-*s%s\n", LABEL, "to", view->to);
    printf("%-*s%s\n", LABEL, "tensor", view->shape);
    print_topology(&t);
    for (size_t i = 0; i < facts.num_steps; i++) {
        const tsr_status status = print_step(session, view, &t, i);
        if (status != TSR_OK) {
            return status;
        }
    }
    if (facts.num_steps > 0) {
        print_picture(view, &facts, &t);
    }
    print_summary(view, &facts);
    return TSR_OK;
}

/* ---- JSON ---- */

static void print_text(const char *key, const char *text)
{
    printf("\"%s\": ", key);
    write_json_string(stdout, text);
    fputs(", ", stdout);
}

static void print_numbers(const char *key, const int64_t *numbers, size_t count)
{
    printf("\"%s\": [", key);
    for (size_t i = 0; i < count; i++) {
        printf("%s%lld", i > 0 ? ", " : "", (long long)numbers[i]);
    }
    fputs("], ", stdout);
}

/* A time; null where a way does not exist. */
static void print_way(const char *key, int64_t nanoseconds)
{
    if (nanoseconds >= 0) {
        printf("\"%s\": %lld, ", key, (long long)nanoseconds);
    } else {
        printf("\"%s\": null, ", key);
    }
}

static tsr_status print_json_step(struct session *session, const struct plan_view *view,
                                  size_t levels, size_t index)
{
    const tsr_route_step step = tsr_route_step_at(view->route, index);
    const char *axes = NULL;
    const tsr_status status =
        tsr_axes_print(session->ctx, session->arena, view->mesh, step.axes, step.num_axes, &axes);
    if (status != TSR_OK) {
        return status;
    }
    fputs(index > 0 ? ", {" : "{", stdout);
    print_text("kind", tsr_step_kind_name(step.kind));
    print_text("axes", axes);
    print_text("algorithm", step.algorithm);
    print_text("layout", step.layout);
    print_numbers("bytes", step.bytes, levels);
    print_numbers("rounds", step.rounds, levels);
    printf("\"padded\": %s, \"in_order\": %s, \"reduced\": %lld, \"copied\": %lld, "
           "\"nanoseconds\": %lld, \"live_bytes\": %lld}",
           step.padded ? "true" : "false", step.sharding != NULL ? "true" : "false",
           (long long)step.reduced, (long long)step.copied, (long long)step.nanoseconds,
           (long long)step.live_bytes);
    return TSR_OK;
}

static void print_json_levels(const tsr_topology_spec *t)
{
    fputs("\"levels\": [", stdout);
    for (size_t l = 0; l < t->num_levels; l++) {
        fputs(l > 0 ? ", {" : "{", stdout);
        print_text("name", t->levels[l].name);
        printf("\"size\": %lld, \"latency_ps\": %lld, \"bandwidth\": %lld}",
               (long long)t->levels[l].size, (long long)t->levels[l].latency,
               (long long)t->levels[l].bandwidth);
    }
    fputs("], ", stdout);
}

tsr_status plan_print_json(struct session *session, const struct plan_view *view)
{
    const tsr_route_facts facts = tsr_route_describe(view->route);
    const tsr_topology_spec t = tsr_topology_facts(facts.topology);
    putchar('{');
    print_text("from", view->from);
    print_text("to", view->to);
    if (t.name != NULL) {
        print_text("topology", t.name);
    }
    print_json_levels(&t);
    fputs("\"steps\": [", stdout);
    for (size_t i = 0; i < facts.num_steps; i++) {
        const tsr_status status = print_json_step(session, view, t.num_levels, i);
        if (status != TSR_OK) {
            return status;
        }
    }
    fputs("], ", stdout);
    print_numbers("bytes", facts.bytes, t.num_levels);
    print_way("direct", facts.num_steps > 0 ? facts.direct : -1);
    print_way("collective", facts.num_steps > 0 ? facts.collective : -1);
    print_way("greedy", facts.greedy);
    printf("\"greedy_obeys\": %s, \"nanoseconds\": %lld, \"lower_bound\": %lld, "
           "\"bound_met\": %s, \"proven\": %s, \"gap\": %lld, \"live_bytes\": %lld, "
           "\"layouts\": %zu}\n",
           facts.greedy_obeys ? "true" : "false", (long long)facts.nanoseconds,
           (long long)facts.lower_bound, facts.bound_met ? "true" : "false",
           facts.proven ? "true" : "false", (long long)facts.gap, (long long)facts.live_bytes,
           facts.num_layouts);
    return TSR_OK;
}
