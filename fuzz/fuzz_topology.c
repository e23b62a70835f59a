/* Topologies as JSON: what is read prints to a fixed point, and fits as it says. */
#include <tessera/topology.h>

#include "fuzz.h"

static void check_fit(workbench *w, const tsr_topology *t)
{
    const int64_t devices = tsr_topology_num_devices(t);
    const tsr_topology *fitted = NULL;
    const int64_t wanted = devices != TSR_UNKNOWN ? devices : 64;
    if (worked(w, tsr_topology_fit(w->ctx, w->arena, t, wanted, &fitted))) {
        INSIST(tsr_topology_num_devices(fitted) == wanted);
        const int64_t level = tsr_topology_level_between(fitted, 0, wanted - 1);
        INSIST(level >= 0 && level <= (int64_t)tsr_topology_facts(fitted).num_levels);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    workbench w = workbench_open();
    const tsr_text text = {.data = (const char *)data, .size = size};
    const tsr_topology *t = NULL;
    if (worked(&w, tsr_topology_read(w.ctx, w.arena, &text, &t))) {
        const char *printed = NULL;
        const char *again = NULL;
        const tsr_topology *copy = NULL;
        check_fit(&w, t);
        INSIST(tsr_topology_print(w.ctx, w.arena, t, &printed) == TSR_OK);
        const tsr_text second = tsr_text_of(NULL, printed);
        INSIST(tsr_topology_read(w.ctx, w.arena, &second, &copy) == TSR_OK);
        INSIST(tsr_topology_print(w.ctx, w.arena, copy, &again) == TSR_OK);
        INSIST(strcmp(printed, again) == 0);
    }
    workbench_close(&w);
    return 0;
}
