/*
 * All of Tessera.
 *
 * What every call does with its arguments: a prototype says by words (base.h) which pointers may be
 * NULL. Another pointer that is NULL, an enumeration that has none of its values, or a struct that
 * holds such is TSR_ERR_INVALID, with a message that names the call and the argument; nothing else
 * is touched. A call without a status gives nothing then: NULL, false, 0 of a size_t, -1 of a
 * signed number, "?" of a name, a struct of zeros. So does one whose index is out of range. An
 * object that was freed, a pointer that points nowhere or to fewer elements than said cannot be
 * detected.
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
#include <tessera/rule.h>
#include <tessera/sharding.h>
#include <tessera/spmd.h>
#include <tessera/stride.h>
#include <tessera/tensor.h>
#include <tessera/transport.h>
#include <tessera/typed.h>
#include <tessera/view.h>

#endif
