// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/effort.h"
#include "tfile/pieced_text.h"
#include "tfile/result.h"
#include "tfile/table.h"

namespace tfile {

struct Plot;         // tfile/plot.h
struct Spreadsheet;  // tfile/plot.h

// The object of a key that is neither a directory nor a table. As a Table, it holds the arrays of histograms and
// graphs, and no columns for other classes. Its streams have one chunk each: one stream for all arrays of a part or, if
// the arrays are large, one stream per array. All other functions take the key's payload from the caller: the
// decompressed bytes that File::payload gives, or nothing if the object is large. Const; every function may be called
// from any thread; none blocks, unless the object is large.
class Object : public Table {
 public:
  std::string class_name;
  bool is_large = false;  // it is from File::large_object()

  // The object itself, and the objects that it contains (in a canvas, a stack, a list), each at its node.
  struct Part {
    NodeId node = 0;
    bool has_json = true;          // json() works: true only for the object itself
    bool has_plot = false;         // plot() works
    bool has_spreadsheet = false;  // spreadsheet() works
    bool has_text = false;         // text() works
    std::uint64_t numbers = 0;     // in its longest array, or in all objects in it: measures plot and spreadsheet
    std::uint64_t drawn = 0;       // of these, those that its plot has in memory
    std::size_t plots = 1;         // its plot is made of at most this many plots
  };
  std::vector<Part> parts{Part{}};  // by node; the first is the object itself

  // Whether a copy of the object needs descriptions() beside its bytes and its JSON: it has bytes of classes that are
  // not ROOT's own of today, or the JSON does not name its class.
  bool needs_descriptions = false;
  // The descriptions of the classes whose bytes are in the object: a list in the name of its class, as the payload of
  // a StreamerInfo record whose key has no bytes.
  virtual std::string descriptions(std::span<const std::byte> payload) const = 0;

  // ROOT's JSON of the members that the file has (docs/semantics/objects.md, "object.json"). Errors: unsupported (a
  // class that the file does not describe), damaged, io with ECANCELED (stopped).
  virtual Result<std::shared_ptr<const PiecedText>> json(std::span<const std::byte> payload,
                                                         const std::stop_token& stop) const = 0;
  // The table of a part, in CSV, if it is one that can be made in pieces: a histogram's, and each one of many
  // dimensions. nullptr: spreadsheet() is to be used. `quoted`: a text as a field, in quotes. Errors: as for json().
  virtual Result<std::shared_ptr<const PiecedText>> table(std::span<const std::byte> payload, std::size_t part,
                                                          const std::function<std::string(std::string_view)>& quoted,
                                                          const std::stop_token& stop) const = 0;
  // These take the number of a part. Errors: unsupported, damaged, invalid (the part has no such form).
  virtual Result<Plot> plot(std::span<const std::byte> payload, std::size_t part, Effort&) const = 0;
  virtual Result<Spreadsheet> spreadsheet(std::span<const std::byte> payload, std::size_t part, Effort&) const = 0;
  // The text of the part, each line ended by a newline.
  virtual Result<std::string> text(std::span<const std::byte> payload, std::size_t part) const = 0;
};

}  // namespace tfile
