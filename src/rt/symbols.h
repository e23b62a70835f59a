/*
 * The symbols of unbound dimensions that are bound in a world: name, kind, numbers.
 *
 * Layouts of the world never have a symbol that is bound: those made later are resolved when they
 * are looked up (layout_get), and tensors that exist are moved to the bound layout.
 */
#ifndef RT_SYMBOLS_H
#define RT_SYMBOLS_H

#include "rt/comm.h"

/* One that is bound; the world's list. */
typedef struct bound_symbol bound_symbol;

/*
 * The sharding with the dimensions bound whose symbols are; itself where none is. The new one is
 * allocated in the arena.
 */
tsr_status symbols_resolve(tsr_comm *world, tsr_arena *arena, const tsr_sharding *sharding,
                           const tsr_sharding **out);

/* Forgets all, when the world closes. */
void symbols_clear(tsr_comm *world);

#endif
