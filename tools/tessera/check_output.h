/* Findings of `tessera check` as text, JSON and SARIF. */
#ifndef TOOL_CHECK_OUTPUT_H
#define TOOL_CHECK_OUTPUT_H

#include <tessera/check.h>

#include "session.h"

/* What was found in a program, and what the program is called. */
struct check_result {
    struct session *session;
    const char *file;
    const tsr_program *program;
    tsr_findings findings;
    bool colour; /* of stdout */
};

void print_findings_text(const struct check_result *result);
void print_findings_json(const struct check_result *result);
/* SARIF 2.1.0, one run, with all rules. */
void print_findings_sarif(const struct check_result *result);

/* All rules: id, name, severity, title. */
void print_rules(void);

const char *severity_name(tsr_severity severity);

#endif
