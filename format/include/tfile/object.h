// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "tfile/effort.h"
#include "tfile/result.h"
#include "tfile/table.h"

namespace tfile {

struct Plot;         // tfile/plot.h
struct Spreadsheet;  // tfile/plot.h

// What stands behind a key that is neither a directory nor a table. As a Table it holds the arrays of histograms and
// graphs (none for other classes) in streams of one chunk: for each of its parts one of all, or, of large arrays, one
// of each. Everything else is made of the key's payload, which the caller provides: the decompressed bytes, as
// File::payload gives them. Const; from any thread; nothing here blocks.
class Object : public Table {
 public:
  std::string class_name;

  // The object itself, and the objects that it holds (in a canvas, a stack, a list), each at its node.
  struct Part {
    NodeId node = 0;
    bool has_json = true;          // json() does: of the object itself
    bool has_plot = false;         // plot() gives something
    bool has_spreadsheet = false;  // spreadsheet() does
    bool has_text = false;         // text() does
    std::uint64_t numbers = 0;  // of its longest array, or of those of all that it holds: plot and table grow with it
    std::size_t plots = 1;      // that its plot is made of, at most
  };
  std::vector<Part> parts{Part{}};  // by node; the first is the object itself

  // ROOT's JSON of the members that the file has (docs/semantics.md, "Objects"). Errors: unsupported (a class that the
  // file does not describe), damaged, io with ECANCELED (stopped).
  virtual Result<std::string> json(std::span<const std::byte> payload, const std::stop_token& stop) const = 0;
  // Of one of its parts, by number. Errors: unsupported, damaged; invalid for a part that has no such thing.
  virtual Result<Plot> plot(std::span<const std::byte> payload, std::size_t part, Effort&) const = 0;
  virtual Result<Spreadsheet> spreadsheet(std::span<const std::byte> payload, std::size_t part, Effort&) const = 0;
  // The text that it holds, lines ended.
  virtual Result<std::string> text(std::span<const std::byte> payload, std::size_t part) const = 0;
};

}  // namespace tfile
