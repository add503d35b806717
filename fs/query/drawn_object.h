// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/draw.h"
#include "reply.h"
#include "tfile/new_object.h"

namespace tfilefs {

// A drawing as the histogram `htemp` of a ROOT file. Errors: unsupported (a profile).
Result<tfile::NewObject> drawn_object(const Drawing&);

}  // namespace tfilefs
