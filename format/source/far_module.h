// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "far/far_libraries.h"

namespace tfile {

// The room `far`: held by this program, or loaded from the module tfilefs-far.so, once. The module is looked for in
// LIBDIR/tfilefs beside the program's directory, then where the program's RUNPATH says.
// Error: unsupported (it is not installed, or a library that it needs is not). Blocks.
Result<const FarLibraries*> far_libraries();

}  // namespace tfile
