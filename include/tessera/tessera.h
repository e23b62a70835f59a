/*
 * All of Tessera.
 *
 * How every call treats its arguments: a prototype states by words (base.h) which pointers may be
 * NULL. Any other pointer that is NULL, an enumeration with an undefined value, or a struct that
 * contains such is TSR_ERR_INVALID, with a message that names the call and the argument; nothing
 * else changes. A call without a status then returns NULL, false, 0 for a size_t, -1 for a signed
 * number, "?" for a name, or a struct of zeros; so does a call whose index is out of range. A freed
 * object, an invalid pointer, or an array that is shorter than stated cannot be detected.
 */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include <tessera/algorithm.h>
#include <tessera/axis.h>
#include <tessera/base.h>
#include <tessera/check.h>
#include <tessera/collective.h>
#include <tessera/comm.h>
#include <tessera/context.h>
#include <tessera/dialect.h>
#include <tessera/dlpack.h>
#include <tessera/dtype.h>
#include <tessera/eager.h>
#include <tessera/explain.h>
#include <tessera/file.h>
#include <tessera/geometry.h>
#include <tessera/gradient.h>
#include <tessera/interpret.h>
#include <tessera/mesh.h>
#include <tessera/npy.h>
#include <tessera/ops.h>
#include <tessera/optimizer.h>
#include <tessera/pass.h>
#include <tessera/picture.h>
#include <tessera/placement.h>
#include <tessera/plan.h>
#include <tessera/program.h>
#include <tessera/propagate.h>
#include <tessera/route.h>
#include <tessera/rule.h>
#include <tessera/sharding.h>
#include <tessera/spmd.h>
#include <tessera/stride.h>
#include <tessera/tensor.h>
#include <tessera/topology.h>
#include <tessera/transport.h>
#include <tessera/typed.h>
#include <tessera/view.h>

#endif
