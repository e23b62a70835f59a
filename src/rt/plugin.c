#include "rt/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/comm.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/guard.h"

enum { MAX_PATH = 4096, ERROR_TEXT = 256 };

/* The MPI implementations that have plug-ins, and how to recognize them. */
typedef struct mpi_kind {
    const char *name;
    const char *file;
    const char *size_variable; /* how many processes its launcher started */
    const char *rank_variable; /* and which one this is */
    const char *symbol;        /* defined only by its library */
} mpi_kind;

static const mpi_kind kinds[] = {
    {"openmpi", "libtessera_mpi_openmpi.so", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
     "ompi_mpi_comm_world"},
    {"mpich", "libtessera_mpi_mpich.so", "PMI_SIZE", "PMI_RANK", "MPII_Comm_get_attr"},
};
enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

/* Where plug-ins are, from the folder of the library or program that this code is in. */
static const char *const subfolders[] = {"", "../", "../lib/", "../" TSR_LIBRARY_DIR "/"};

static const mpi_kind *launcher_kind(void)
{
    for (size_t i = 0; i < NUM_KINDS; i++) {
        if (getenv(kinds[i].size_variable) != NULL) {
            return &kinds[i];
        }
    }
    return NULL;
}

const char *plugin_of_launcher(void)
{
    const char *chosen = getenv("TSR_MPI");
    if (chosen != NULL && chosen[0] != '\0') {
        return strcmp(chosen, "none") == 0 ? NULL : chosen;
    }
    const mpi_kind *kind = launcher_kind();
    return kind != NULL ? kind->name : NULL;
}

int64_t tsr_launcher_rank(void)
{
    GUARD(tsr_launcher_rank);
    const mpi_kind *kind = plugin_of_launcher() != NULL ? launcher_kind() : NULL;
    const char *rank = kind != NULL ? getenv(kind->rank_variable) : NULL;
    return rank != NULL ? atoll(rank) : -1;
}

static tsr_status find_kind(tsr_context *ctx, const char *name, const mpi_kind **out)
{
    for (size_t i = 0; i < NUM_KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            *out = &kinds[i];
            return TSR_OK;
        }
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "unknown MPI '%s': TSR_MPI must be openmpi, mpich or none", name);
}

/* Loads a file of a folder; NULL when it is missing or does not load. */
static void *load_from(const char *folder, size_t length, const char *subfolder, const char *file)
{
    char path[MAX_PATH];
    const int used = snprintf(path, sizeof path, "%.*s%s%s%s", (int)length, folder,
                              length > 0 ? "/" : "", subfolder, file);
    if (used < 0 || (size_t)used >= sizeof path) {
        return NULL;
    }
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
}

/*
 * From TSR_PLUGIN_PATH alone when it is set; else from folders near this library, then from the
 * system's search path.
 */
static void *load(const char *file)
{
    const char *path = getenv("TSR_PLUGIN_PATH");
    if (path != NULL && path[0] != '\0') {
        return load_from(path, strlen(path), "", file);
    }
    Dl_info here;
    void *handle = NULL;
    if (dladdr((const void *)&kinds, &here) != 0 && here.dli_fname != NULL) {
        const char *end = strrchr(here.dli_fname, '/');
        const size_t length = end != NULL ? (size_t)(end - here.dli_fname) : 0;
        for (size_t i = 0;
             handle == NULL && end != NULL && i < sizeof subfolders / sizeof *subfolders; i++) {
            handle = load_from(here.dli_fname, length, subfolders[i], file);
        }
    }
    return handle != NULL ? handle : load_from("", 0, "", file);
}

static tsr_status open_kind(tsr_context *ctx, const mpi_kind *kind, const void *comm,
                            tsr_transport *out)
{
    char error[ERROR_TEXT] = "";
    void *handle = load(kind->file);
    if (handle == NULL) {
        const char *why = dlerror();
        return diag_error(
            ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
            "the plug-in for %s cannot be loaded: %s; it is built when that MPI's development "
            "package is installed, and searched in TSR_PLUGIN_PATH and beside the library",
            kind->name, why != NULL ? why : "not found");
    }
    void *symbol = dlsym(handle, TSR_TRANSPORT_OPEN);
    tsr_transport_open_function *open = NULL;
    memcpy(&open, &symbol, sizeof open);
    if (open == NULL) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
                          "%s is not a transport plug-in: it does not export %s", kind->file,
                          TSR_TRANSPORT_OPEN);
    }
    if (open(TSR_TRANSPORT_VERSION, comm, out, error, sizeof error) != 0) {
        return diag_error(ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION, "%s does not start: %s",
                          kind->name, error);
    }
    return TSR_OK;
}

/* Without this every process would be rank 0 of 1 when the wrong MPI is loaded. */
static tsr_status check_size(tsr_context *ctx, const tsr_transport *t)
{
    const mpi_kind *launcher = launcher_kind();
    const char *size = launcher != NULL ? getenv(launcher->size_variable) : NULL;
    const long long started = size != NULL ? atoll(size) : 1;
    if (started == t->size) {
        return TSR_OK;
    }
    return diag_error(ctx, TSR_ERR_INVALID, NO_LOCATION,
                      "%s sees %lld processes, but %s started %lld; use the mpirun of the same "
                      "MPI, or set TSR_MPI",
                      t->name, (long long)t->size,
                      launcher != NULL ? launcher->name : "no launcher", started);
}

tsr_status plugin_open_world(tsr_context *ctx, const char *name, tsr_transport *out)
{
    const mpi_kind *kind = NULL;
    TSR_TRY(find_kind(ctx, name, &kind));
    TSR_TRY(open_kind(ctx, kind, NULL, out));
    const tsr_status status = check_size(ctx, out);
    if (status < 0) {
        out->close(out->state, TSR_END_BROKEN);
    }
    return status;
}

tsr_status plugin_open_comm(tsr_context *ctx, const void *comm, tsr_transport *out)
{
    for (size_t i = 0; i < NUM_KINDS; i++) {
        if (dlsym(RTLD_DEFAULT, kinds[i].symbol) != NULL) {
            return open_kind(ctx, &kinds[i], comm, out);
        }
    }
    return diag_error(
        ctx, TSR_ERR_UNSUPPORTED, NO_LOCATION,
        "this program uses neither Open MPI nor MPICH: the symbols of both are missing");
}
