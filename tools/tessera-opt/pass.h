/* Passes as the command line knows them: rows of the library, or of a test. */
#ifndef OPT_PASS_H
#define OPT_PASS_H

#include <tessera/pass.h>

typedef struct pass_table {
    const tsr_pass *rows;
    size_t count;
} pass_table;

#endif
