// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec/timers.h"
#include "reply.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

// The attributes of an entry, without the size if that alone takes long. For look-ups: while the kernel waits for one,
// other processes that look up the same name wait in the kernel, where no signal ends them. The computing of the size
// goes on for a moment, so that the next request for it finds it under way.
void attributes_within(Timers&, const Entry&, Reply<Attributes>);

}  // namespace tfilefs
