// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "staging/overlay/staged_table.h"
#include "tfile/new_object.h"

namespace tfilefs {

// The object that a staged directory becomes: that of its object.bin, or a histogram of its arrays. Takes the memory of
// its bytes, outside of `memory=`. Blocks. Errors: busy (a program writes a file of it), invalid and unsupported (it
// can be none: what new_object and new_histogram say), io.
Result<tfile::NewObject> offered_object(const StagedObject&);

}  // namespace tfilefs
