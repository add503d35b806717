// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "query/draw.h"
#include "reply.h"
#include "staging/journal/file_place.h"

namespace tfilefs {

// The form in which a drawing is written, by the end of the name.
enum class DrawingForm : std::uint8_t { svg, csv, json, root };

// Errors: invalid (another end).
Result<DrawingForm> drawing_form(const std::string& path);

// The bytes of the file. Of .root and .json, the histogram is a TH1D, TH2D, TH3D, TProfile or TProfile2D of the name
// "htemp", as TTree::Draw calls it. Blocks for a moment. Errors: unsupported (three axes as a picture).
Result<std::string> drawing_bytes(const Drawing&, DrawingForm, bool is_log);

// The place of the file, behind links. A picture or table replaces what has its name; a ROOT file does not. Errors:
// exists, invalid (no regular file), those of its directory.
Result<FilePlace> drawing_place(const std::string& path, DrawingForm);

// Writes all of the file before it has its name: what had that name is there until then. Blocks. Errors: as
// drawing_place(), denied, no_space, io.
Result<> write_drawing(const FilePlace&, DrawingForm, std::string_view bytes);

}  // namespace tfilefs
