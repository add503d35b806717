// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tfile {

// How to draw an object: plain numbers, whatever its class.

// The look of a line, fill or mark. The renderer chooses whatever is not set. Colours are 0xRRGGBB.
struct PlotLook {
  std::optional<std::uint32_t> line, fill, mark;
  bool is_dashed = false, is_dotted = false;
  bool is_hatched = false;  // the fill
};

struct PlotAxis {
  std::string title;                // TLatex, like all titles here
  std::vector<double> edges;        // bins + 1 of them; empty for axes without bins
  std::vector<std::string> labels;  // of the bins: one per bin (may be empty), or none at all
  bool is_time = false;             // values are seconds since `time_offset`, which counts from the epoch (UTC)
  double time_offset = 0;
  std::optional<double> low, high;  // the limits to show, if the object sets them
};

// A histogram or profile of one or two dimensions, without its flow bins.
struct PlotBins {
  PlotAxis x, y;               // y: the values, or the second dimension
  std::string value_title;     // of two dimensions: title of the colour scale
  std::vector<double> values;  // of two dimensions: [x][y]; nan: empty
  std::vector<double> errors;  // empty: draw none
  std::size_t dimensions = 1;
  bool is_profile = false;
  bool has_steps = true, has_points = false;    // of one dimension: an outline; marks with error bars
  bool is_band = false, is_smooth = false;      // of one dimension: the errors form a band, along a smooth line
  bool has_boxes = false;                       // of one dimension: a box for each error
  std::optional<double> least, most;            // of all values, if bins were joined
  double entries = 0, mean = 0, deviation = 0;  // of one dimension
  PlotLook look;
};

// Points, with their error bars: the `low` ones extend to the left or down. Empty vectors: no error bars.
struct PlotPoints {
  PlotAxis x, y;
  std::vector<double> xs, ys;
  std::vector<double> x_low, x_high, y_low, y_high;
  std::vector<double> zs;   // shown as colours, if there are as many as points
  std::string value_title;  // of `zs`
  bool is_line = false;     // the points are joined
  bool has_marks = true;    // one mark per point, and its error bars
  bool is_area = false;     // the area enclosed by the line is filled
  bool is_band = false;     // the error bars form a band
  PlotLook look;
};

// Bins of any outline: polygons, each coloured by its value.
struct PlotPolygons {
  struct Polygon {
    std::vector<double> xs, ys;
    double value = 0;
  };
  PlotAxis x, y;  // `edges` has the two ends
  std::string value_title;
  std::vector<Polygon> polygons;
  double entries = 0;
};

// A text, a line or a box drawn over the layers. Coordinates are in the units of the axes or, if `in_frame`, fractions
// of the frame from its lower left corner.
struct PlotNote {
  enum class Kind : std::uint8_t { text, line, box } kind = Kind::text;
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;  // a text uses only the first two
  bool in_frame = false;
  std::string text;
  int align = 0;     // of a text: the point is its right end (-1), its left end (0) or its middle (1)
  double size = 0;   // of a text: fraction of the height of the pad; 0: not set
  double angle = 0;  // degrees, anticlockwise
  PlotLook look;
};

// A line of a legend: its text, and the look of the layer that it describes.
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
  std::optional<double> legend_left, legend_top;  // fractions of the frame, as for notes
  bool log_x = false, log_y = false, log_z = false;
  std::string left_out;    // the class of an object in it that is not drawn
  bool is_shared = false;  // the axes cover all layers, also along x
  double aspect = 1.5;     // width to height

  // A canvas: plots and their places, in fractions of the whole, from its lower left corner.
  struct Pad;
  std::vector<Pad> pads;

  // Makes axes logarithmic, in all pads. Axes that are logarithmic stay so.
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

// A table of an object's numbers, for people to read.
struct Spreadsheet {
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  // of equal length
  // Columns of text to the right of these, with their own names.
  std::vector<std::string> text_names = {};
  std::vector<std::vector<std::string>> texts = {};
};

}  // namespace tfile
