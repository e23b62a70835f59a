/* Programs from texts and files: read, then verified. */
#include "base/guard.h"
#include "text/read.h"

tsr_status tsr_program_read(tsr_context *ctx, const tsr_text *text, int flags, tsr_program **out)
{
    GUARD(tsr_program_read);
    tsr_program *p = NULL;
    TSR_TRY(program_read_text(ctx, text, flags, &p));
    const tsr_status status =
        (flags & TSR_PROGRAM_UNVERIFIED) == 0 ? tsr_program_verify(ctx, p) : TSR_OK;
    if (status < 0) {
        tsr_program_destroy(p);
        return status;
    }
    *out = p;
    return TSR_OK;
}

tsr_status tsr_program_load(tsr_context *ctx, const char *path, int flags, tsr_program **out)
{
    GUARD(tsr_program_load);
    loaded_file *file = NULL;
    tsr_program *program = NULL;
    TSR_TRY(loaded_file_read(ctx, path, &file));
    const tsr_text text = loaded_file_text(file);
    const tsr_status status = tsr_program_read(ctx, &text, flags, &program);
    if (program == NULL) {
        loaded_file_release(file);
        return status;
    }
    program->file = file;
    *out = program;
    return TSR_OK;
}
