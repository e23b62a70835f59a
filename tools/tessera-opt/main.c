/* The command `tessera-opt`: flags and behaviour of `sdy_opt`. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/base.h>

#include "interpret.h"
#include "process.h"
#include "report.h"

/* Opens what is read and written, processes, and keeps the output if all went well. */
static int run_settings(const settings *s)
{
    input in;
    output out;
    if (!input_open(s->input, &in)) {
        (void)complain("cannot open input file '%s': %s", s->input != NULL ? s->input : "-",
                       strerror(errno));
        return s->interpret ? EXIT_BAD_INPUT : EXIT_FAILURE;
    }
    int result = EXIT_FAILURE;
    if (output_open(s->output, &out)) {
        result = process_input(s, &in, &out);
    }
    if (!output_close(&out, result == EXIT_SUCCESS) && result == EXIT_SUCCESS) {
        result = EXIT_FAILURE;
    }
    input_close(&in);
    return result;
}

int main(int argc, char **argv)
{
    settings s;
    signal(SIGPIPE, SIG_IGN);
    if (tsr_abi_check(TSR_ABI_VERSION) != TSR_OK) {
        complain("the loaded library is version %s, which is incompatible with this command",
                 tsr_version());
        return EXIT_FAILURE;
    }
    pass_table table = {0};
    table.rows = tsr_passes(&table.count);
    const settings_result result = settings_read(argc, argv, &table, &s);
    if (result != SETTINGS_RUN) {
        return result == SETTINGS_DONE && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    const int exit_status = run_settings(&s);
    settings_clear(&s);
    return exit_status;
}
