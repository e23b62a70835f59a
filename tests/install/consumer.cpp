/* An outside program in C++: the loaded library must fit the installed headers. */
#include <iostream>
#include <tessera/tessera.h>

int main()
{
    if (tsr_abi_check(TSR_ABI_VERSION) != 0) {
        std::cerr << "libtessera " << tsr_version() << " does not fit these headers\n";
        return 1;
    }
    const tsr_end ends[] = {TSR_AS(R), TSR_AS_S(-1), TSR_AS_P(TSR_AVG)};
    if (ends[0].kind != TSR_R || ends[1].dim != -1 || ends[2].partial != TSR_AVG) {
        std::cerr << "the ends of collectives are other ones in C++\n";
        return 1;
    }
    std::cout << "C++ with libtessera " << tsr_version() << "\n";
    return 0;
}
