#include <tessera/base.h>

#include "base/guard.h"

#define STRING_OF(x) #x
#define VERSION_STRING(major, minor, patch)                                                        \
    STRING_OF(major) "." STRING_OF(minor) "." STRING_OF(patch)

const char *tsr_status_name(tsr_status status)
{
    GUARD(tsr_status_name);
    static const struct {
        tsr_status status;
        const char *name;
    } names[] = {
        {TSR_OK, "TSR_OK"},
        {TSR_IN_PROGRESS, "TSR_IN_PROGRESS"},
        {TSR_NOT_APPLICABLE, "TSR_NOT_APPLICABLE"},
        {TSR_ERR_NOMEM, "TSR_ERR_NOMEM"},
        {TSR_ERR_INVALID, "TSR_ERR_INVALID"},
        {TSR_ERR_SYNTAX, "TSR_ERR_SYNTAX"},
        {TSR_ERR_OVERFLOW, "TSR_ERR_OVERFLOW"},
        {TSR_ERR_LIMIT, "TSR_ERR_LIMIT"},
        {TSR_ERR_UNSUPPORTED, "TSR_ERR_UNSUPPORTED"},
        {TSR_ERR_TIMEOUT, "TSR_ERR_TIMEOUT"},
        {TSR_ERR_PEER, "TSR_ERR_PEER"},
        {TSR_ERR_CHECK, "TSR_ERR_CHECK"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].status == status) {
            return names[i].name;
        }
    }
    return "TSR_?";
}

const char *tsr_version(void)
{
    GUARD(tsr_version);
    return VERSION_STRING(TSR_VERSION_MAJOR, TSR_VERSION_MINOR, TSR_VERSION_PATCH);
}

tsr_status tsr_abi_check(int abi_version)
{
    GUARD(tsr_abi_check);
    return abi_version == TSR_ABI_VERSION ? TSR_OK : TSR_ERR_UNSUPPORTED;
}
