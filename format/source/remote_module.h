// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/remote_libraries.h"

namespace tfile {

// The room `remote`: held by this program, or loaded from the module tfilefs-remote.so, once. The module is looked for
// in LIBDIR/tfilefs beside the program's directory, then where the program's RUNPATH says. Error: unsupported (it is
// not installed, or a library that it needs is not). Blocks.
Result<const RemoteLibraries*> remote_libraries();

}  // namespace tfile
