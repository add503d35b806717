// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tfile {

// What is to be drawn of an object: plain numbers, whatever class they came from.

// How something looks; what is not set is for the drawing to choose. Colours are 0xRRGGBB.
struct PlotLook {
  std::optional<std::uint32_t> line, fill, mark;
  bool is_dashed = false, is_dotted = false;
  bool is_hatched = false;  // the fill
};

struct PlotAxis {
  std::string title;                // in TLatex, as all titles here
  std::vector<double> edges;        // bins + 1 of them; empty for axes without bins
  std::vector<std::string> labels;  // of the bins; empty, or one for each (which may be empty)
  bool is_time = false;             // values are seconds since `time_offset`, which is since the epoch (UTC)
  double time_offset = 0;
  std::optional<double> low, high;  // what is to be shown, where somebody chose it
};

// A histogram or profile of one or two dimensions, without its flow bins.
struct PlotBins {
  PlotAxis x, y;               // y: of the values, or of the second dimension
  std::string value_title;     // of two dimensions: of the colour scale
  std::vector<double> values;  // of two dimensions: [x][y]; nan: nothing is there
  std::vector<double> errors;  // empty: not to be drawn
  std::size_t dimensions = 1;
  bool is_profile = false;
  bool has_steps = true, has_points = false;    // of one dimension: outline; marks with errors
  double entries = 0, mean = 0, deviation = 0;  // of one dimension
  PlotLook look;
};

// Points, with the errors they have: `low` is to be drawn to the left or below; empty: none.
struct PlotPoints {
  PlotAxis x, y;
  std::vector<double> xs, ys;
  std::vector<double> x_low, x_high, y_low, y_high;
  std::vector<double> zs;   // shown as colours, where there are as many as points
  std::string value_title;  // of these
  bool is_line = false;     // joined
  bool has_marks = true;    // a mark for each, and its errors
  bool is_area = false;     // what the line encloses is filled
  bool is_band = false;     // the errors are an area
  PlotLook look;
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

// What is written or drawn on top: a text, a line, a box. In the units of the axes, or (`in_frame`) in parts of the
// frame, from its lower left corner.
struct PlotNote {
  enum class Kind : std::uint8_t { text, line, box } kind = Kind::text;
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;  // of a text the first two
  bool in_frame = false;
  std::string text;
  int align = 0;     // of a text: -1 its right end is there, 0 its left, 1 its middle
  double size = 0;   // of a text: part of the height of the pad; 0: not said
  double angle = 0;  // degrees, against the clock
  PlotLook look;
};

// A line of a legend: a text, and which layer it speaks of.
struct PlotLegendLine {
  std::string text;
  PlotLook look;
  bool has_line = false, has_mark = false, has_fill = false;
};

struct Plot {
  std::string title;
  std::vector<std::variant<PlotBins, PlotPoints, PlotPolygons>> layers;  // the first decides the axes
  std::vector<PlotNote> notes;
  std::vector<PlotLegendLine> legend;
  std::optional<double> legend_left, legend_top;  // in parts of the frame, as for notes
  bool log_x = false, log_y = false, log_z = false;
  std::string left_out;    // the class of something that it holds and that is not drawn
  bool is_shared = false;  // the axes hold all layers, also along x
  double aspect = 1.5;     // width to height

  // A canvas: plots at their places, in parts of the whole, from its lower left corner.
  struct Pad;
  std::vector<Pad> pads;

  // Makes axes logarithmic, of all pads; those that are already stay so.
  void set_log(bool x, bool y, bool z);
};

struct Plot::Pad {
  double x1 = 0, y1 = 0, x2 = 1, y2 = 1;
  Plot plot;
};

inline void Plot::set_log(bool x, bool y, bool z) {
  log_x = log_x || x;
  log_y = log_y || y;
  log_z = log_z || z;
  for (Pad& pad : pads) pad.plot.set_log(x, y, z);
}

// A table of an object's numbers, for reading.
struct Spreadsheet {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  // of equal length
  // Columns of text behind these, with names of their own.
  std::vector<std::string> text_names = {};
  std::vector<std::vector<std::string>> texts = {};
};

}  // namespace tfile
