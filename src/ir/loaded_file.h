/* The text of a program that came from a file, shared by its clones. */
#ifndef IR_LOADED_FILE_H
#define IR_LOADED_FILE_H

#include <tessera/program.h>

typedef struct loaded_file loaded_file;

tsr_status loaded_file_read(tsr_context *ctx, const char *path, loaded_file **out);
/* One owner more; one less, the last of which frees it. NULL is none. */
loaded_file *loaded_file_share(loaded_file *file);
void loaded_file_release(loaded_file *file);
tsr_text loaded_file_text(const loaded_file *file);

#endif
