/* An outside program in C++: the loaded library must fit the installed headers. */
#include <iostream>
#include <tessera/tessera.h>

int main()
{
    if (tsr_abi_check(TSR_ABI_VERSION) != 0) {
        std::cerr << "libtessera " << tsr_version() << " does not fit these headers\n";
        return 1;
    }
    std::cout << "C++ with libtessera " << tsr_version() << "\n";
    return 0;
}
