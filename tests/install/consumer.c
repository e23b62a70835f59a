/* An outside program in C: the loaded library must fit the installed headers. */
#include <stdio.h>
#include <tessera/tessera.h>

int main(void)
{
    if (tsr_abi_check(TSR_ABI_VERSION) != 0) {
        fprintf(stderr, "libtessera %s does not fit these headers\n", tsr_version());
        return 1;
    }
    printf("C with libtessera %s\n", tsr_version());
    return 0;
}
