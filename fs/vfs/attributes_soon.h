// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exec/alarms.h"
#include "reply.h"
#include "vfs/directory.h"

namespace tfilefs {

// The attributes of what stands there, soon: without the size, if that alone is long in coming. For look-ups: while the
// kernel waits for one, nobody else can look up the same name, nor be killed while he waits for that. What makes the
// size goes on for a moment, so that who asks for it next finds it under way.
void attributes_soon(Alarms&, const Entry&, Reply<Attributes>);

}  // namespace tfilefs
