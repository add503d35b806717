// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tfile/effort.h"
#include "tfile/result.h"
#include "tfile/table.h"

namespace tfile {

// What is to be drawn of an object: plain numbers, whatever class they came from.

struct PlotAxis {
  std::string title;                // in TLatex, as all titles here
  std::vector<double> edges;        // bins + 1 of them; empty for axes without bins
  std::vector<std::string> labels;  // of the bins; empty, or one for each (which may be empty)
  bool is_time = false;             // values are seconds since `time_offset`, which is since the epoch (UTC)
  double time_offset = 0;
};

// A histogram or profile of one or two dimensions, without its flow bins.
struct PlotBins {
  PlotAxis x, y;               // y: of the values, or of the second dimension
  std::string value_title;     // of two dimensions: of the colour scale
  std::vector<double> values;  // of two dimensions: [x][y]
  std::vector<double> errors;  // empty: not to be drawn
  std::size_t dimensions = 1;
  bool is_profile = false;
  double entries = 0, mean = 0, deviation = 0;  // of one dimension
};

// Points, with the errors they have: `low` is to be drawn to the left or below; empty: none.
struct PlotPoints {
  PlotAxis x, y;
  std::vector<double> xs, ys;
  std::vector<double> x_low, x_high, y_low, y_high;
  bool is_line = false;  // a curve: joined, without marks
};

// Bins of any outline: polygons, each with its value as its colour.
struct PlotPolygons {
  struct Polygon {
    std::vector<double> xs, ys;
    double value = 0;
  };
  PlotAxis x, y;  // their edges: the two ends
  std::string value_title;
  std::vector<Polygon> polygons;
  double entries = 0;
};

struct Plot {
  std::string title;
  std::vector<std::variant<PlotBins, PlotPoints, PlotPolygons>> layers;  // the first decides the axes
};

// A table of an object's numbers, for reading.
struct Spreadsheet {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  // of equal length
};

// What stands behind a key that is neither a directory nor a table. As a Table it holds the arrays of histograms and
// graphs (none for other classes) in one stream of one chunk; everything else is made of the key's payload, which the
// caller provides: the decompressed bytes, as File::payload gives them. Const; from any thread; nothing here blocks.
class Object : public Table {
 public:
  std::string class_name;
  bool has_plot = false;         // plot() gives something
  bool has_spreadsheet = false;  // spreadsheet() does
  bool has_text = false;         // text() does

  // ROOT's JSON of the members that the file has (docs/semantics.md, "Objects"). Errors: unsupported (a class that the
  // file does not describe), damaged.
  virtual Result<std::string> json(std::span<const std::byte> payload) const = 0;
  virtual Result<Plot> plot(std::span<const std::byte> payload, Effort&) const = 0;
  virtual Result<Spreadsheet> spreadsheet(std::span<const std::byte> payload, Effort&) const = 0;
  // The text that the object holds, lines ended.
  virtual Result<std::string> text(std::span<const std::byte> payload) const = 0;
};

}  // namespace tfile
