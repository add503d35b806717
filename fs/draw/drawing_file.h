// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "query/draw.h"
#include "reply.h"

namespace tfilefs {

// What a drawing is written as, by the end of the name.
enum class DrawingForm : std::uint8_t { svg, csv, json, root };

// Errors: invalid (another end).
Result<DrawingForm> drawing_form(const std::string& path);

// The bytes of the file. Of .root and .json, the histogram is a TH1D, TH2D or TH3D of the name "htemp", as TTree::Draw
// calls it. Blocks for a moment. Errors: unsupported (three axes as a picture, a profile as .root or .json).
Result<std::string> drawing_bytes(const Drawing&, DrawingForm, bool is_log);

}  // namespace tfilefs
