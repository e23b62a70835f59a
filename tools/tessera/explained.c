/* A program propagated with reasons. */
#include "command.h"
#include "explain.h"
#include "progress.h"

int explained_open(struct session *session, const char *file, const struct annotations *annotations,
                   int64_t until, struct explained *out)
{
    *out = (struct explained){.session = session};
    int code = program_read(session, file, &out->program);
    if (code == EXIT_FINE) {
        code = annotations_apply(session, annotations, out->program);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    progress_stage("propagating");
    const tsr_status status =
        tsr_explanation_create(session->ctx, out->program, until, &out->explanation);
    progress_stage(NULL);
    if (status < 0) {
        return session_fail(session, status);
    }
    print_warnings(session);
    tsr_context_clear(session->ctx);
    return EXIT_FINE;
}

void explained_close(struct explained *e)
{
    tsr_explanation_destroy(e->explanation);
    tsr_program_destroy(e->program);
}
