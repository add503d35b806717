// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "descriptor.h"
#include "query/draw.h"
#include "reply.h"
#include "tfile/new_object.h"

namespace tfilefs {

// As TTree::Draw calls what it draws.
inline constexpr std::string_view kDrawnName = "htemp";

// A drawing as the histogram kDrawnName of a ROOT file: a TH1D, TH2D, TH3D, TProfile or TProfile2D. Errors: as
// new_histogram().
Result<tfile::NewObject> drawn_object(const Drawing&);

// A ROOT file in memory with such an object alone.
Result<Descriptor> drawn_file(const tfile::NewObject&);

}  // namespace tfilefs
