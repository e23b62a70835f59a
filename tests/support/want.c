#include "want.h"

#include <string.h>

bool heard(tsr_comm *comm, const char *part)
{
    bool found = false;
    tsr_context *ctx = tsr_comm_context(comm);
    for (const tsr_diagnostic *d = tsr_context_diagnostics(ctx); d != NULL; d = d->next) {
        found = found || strstr(d->text, part) != NULL;
        for (const tsr_diagnostic *n = d->notes; n != NULL; n = n->next) {
            found = found || strstr(n->text, part) != NULL;
        }
    }
    if (found) {
        tsr_context_clear(ctx);
    }
    return found;
}
