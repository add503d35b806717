// SPDX-License-Identifier: Apache-2.0
#include "plot/canvas_plot.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "object/held_items.h"
#include "object/object_arrays.h"
#include "object/object_plots.h"
#include "plot/object_plot.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

// More than fits on a screen.
constexpr std::size_t kItemsMax = 1000, kLayersMax = 200;
constexpr int kPadsDeep = 8;
constexpr std::int64_t kInFrameBit = 1 << 14;  // TText::kTextNDC, TLine::kLineNDC

std::string item(const char* list, std::size_t i) { return std::string(list) + ".arr." + std::to_string(i); }

std::string option_of(const ObjectMembers& members, const char* list, std::size_t i) {
  return small_letters(members.text(std::string(list) + ".opt." + std::to_string(i)));
}

std::size_t items_of(const ObjectMembers& members, const char* list) {
  return std::min(members.item_count(std::string(list) + ".arr"), kItemsMax);
}

// Adds the layers of one item to a frame, and the titles of its axes if it is the first item.
void add_layers(Plot& to, Plot from) {
  if (to.layers.empty()) {
    to.title = from.title;
    to.is_shared = from.is_shared;
  }
  for (auto& layer : from.layers) {
    if (to.layers.size() < kLayersMax) to.layers.push_back(std::move(layer));
  }
  to.legend.insert(to.legend.end(), from.legend.begin(), from.legend.end());
}

PlotLegendLine legend_line(const ObjectMembers& part, const PlotLook& look, const char* marks) {
  PlotLegendLine line;
  line.text = part.text("fTitle");
  if (line.text.empty()) line.text = part.text("fName");
  if (const auto end = line.text.find(';'); end != line.text.npos) line.text.resize(end);
  line.look = look;
  const std::string_view has(marks);
  line.has_line = has.find('l') != has.npos;
  line.has_mark = has.find('p') != has.npos;
  line.has_fill = has.find('f') != has.npos;
  return line;
}

class CanvasReader {
 public:
  explicit CanvasReader(const PlotScene& scene) : scene_(scene) { scene_.is_shared = true; }

  void add_colours(const ObjectMembers& pad);
  Plot pad(const ObjectMembers& members, int depth);

  // A RooPlot: the axes come from a histogram that is not drawn itself; the items are drawn inside them.
  Plot roo_plot(const ObjectMembers& members);

 private:
  // The axes, with titles and ranges but no points.
  static PlotPoints axes_alone(const ObjectMembers& roo_plot);

  // The margins of a pad, as fractions of the pad.
  struct Margins {
    Margins() = default;
    explicit Margins(const ObjectMembers& pad) {
      const auto part = [&](const char* name) { return std::clamp(pad.number(name).value_or(0.1), 0.0, 0.45); };
      left = part("fLeftMargin");
      right = 1 - part("fRightMargin");
      bottom = part("fBottomMargin");
      top = 1 - part("fTopMargin");
    }
    double x(double value) const { return (value - left) / (right - left); }
    double y(double value) const { return (value - bottom) / (top - bottom); }
    double left = 0.1, right = 0.9, bottom = 0.1, top = 0.9;
  };

  Plot::Pad placed(const ObjectMembers& part, int depth);

  // A pad that was painted has the range of its frame. It is logarithmic for a logarithmic axis.
  static void set_shown(Plot& plot, const ObjectMembers& pad);
  void add(Plot& to, const ObjectMembers& part, std::string_view class_name, std::string option,
           const Margins& margins);
  void add_text(Plot& to, const ObjectMembers& part, const Margins& margins) const;
  void add_line(Plot& to, const ObjectMembers& part, const Margins& margins) const;
  void add_box(Plot& to, const ObjectMembers& part) const;
  static PlotNote corners(const ObjectMembers& part, const std::string& suffix);
  static void put_in_frame(PlotNote& note, const Margins& margins);

  // The place of a pave. If it was painted, it has its place as fractions of the pad, else in its corners.
  static PlotNote pave(const ObjectMembers& part, const Margins& margins);

  // A painted pad contains its title as a pave; the plot already has it.
  void add_pave(Plot& to, const ObjectMembers& part, const Margins& margins) const;
  void add_pave_line(Plot& to, const PlotNote& place, const ObjectMembers& part, std::string_view text, std::size_t i,
                     std::size_t lines) const;
  void add_legend(Plot& to, const ObjectMembers& part, const Margins& margins) const;

  PlotScene scene_;
};

void CanvasReader::add_colours(const ObjectMembers& pad) {
  for (std::size_t i = 0; i < items_of(pad, "fPrimitives"); ++i) {
    const ObjectMembers part = pad.at(item("fPrimitives", i));
    if (part.class_name("") == "TObjArray" && part.text("name") == "ListOfColors") scene_.palette.add(part);
  }
}

Plot CanvasReader::pad(const ObjectMembers& members, int depth) {
  Plot own;
  own.log_x = members.number("fLogx").value_or(0) != 0;
  own.log_y = members.number("fLogy").value_or(0) != 0;
  own.log_z = members.number("fLogz").value_or(0) != 0;
  const Margins margins(members);
  bool is_painted = false, has_title = false;
  std::vector<Plot::Pad> pads;
  for (std::size_t i = 0; i < items_of(members, "fPrimitives") && scene_.budget.take(1, 0); ++i) {
    const ObjectMembers part = members.at(item("fPrimitives", i));
    const std::string_view class_name = part.class_name("");
    if (class_name == "TFrame") is_painted = true;
    if (part.text("fName") == "title") has_title = true;
    if (is_pad(scene_.infos, class_name)) {
      if (depth < kPadsDeep) pads.push_back(placed(part, depth));
    } else {
      add(own, part, class_name, option_of(members, "fPrimitives", i), margins);
    }
  }
  if (is_painted && !own.layers.empty()) set_shown(own, members);
  if (is_painted && !has_title) own.title.clear();  // the canvas was drawn without a title
  if (pads.empty()) return own;
  Plot all;
  all.title = own.title;
  if (!own.layers.empty() || !own.notes.empty()) all.pads.push_back({0, 0, 1, 1, std::move(own)});
  for (Plot::Pad& one : pads) all.pads.push_back(std::move(one));
  return all;
}

Plot CanvasReader::roo_plot(const ObjectMembers& members) {
  Plot plot;
  plot.layers.emplace_back(axes_alone(members));
  const HeldItems items = held_items(scene_.infos, members).value_or(HeldItems());
  for (std::size_t i = 0; i < std::min(items.count, kItemsMax) && scene_.budget.take(1, 0); ++i) {
    const ObjectMembers part = members.at(items.path(i));
    std::string option = small_letters(members.text(items.option(i)));
    // "OPTION:i": the item exists but is invisible.
    const std::size_t colon = std::min(option.find(':'), option.size());
    if (option.substr(colon).starts_with(":i")) continue;
    option.resize(colon);
    add(plot, part, part.class_name(""), option.empty() ? "lp" : std::move(option), Margins());
  }
  return plot;
}

PlotPoints CanvasReader::axes_alone(const ObjectMembers& roo_plot) {
  const ObjectMembers frame = roo_plot.at("_hist");
  PlotPoints axes;
  axes.x.title = frame.text("fXaxis.fTitle");
  axes.y.title = frame.text("fYaxis.fTitle");
  axes.x.edges = {frame.number("fXaxis.fXmin").value_or(0), frame.number("fXaxis.fXmax").value_or(1)};
  set_range(axes.y, frame);
  if (!axes.y.low) axes.y.low = 0;  // the histogram is empty
  return axes;
}

Plot::Pad CanvasReader::placed(const ObjectMembers& part, int depth) {
  const auto number = [&](const char* name) { return std::clamp(part.number(name).value_or(0), 0.0, 1.0); };
  const double x = number("fXlowNDC"), y = number("fYlowNDC");
  return {x, y, std::min(x + number("fWNDC"), 1.0), std::min(y + number("fHNDC"), 1.0), pad(part, depth + 1)};
}

void CanvasReader::set_shown(Plot& plot, const ObjectMembers& pad) {
  const auto range = [&](PlotAxis& axis, const char* low, const char* high, bool is_log) {
    const double from = pad.number(low).value_or(0), to = pad.number(high).value_or(0);
    if (!(from < to)) return;
    axis.low = is_log ? std::pow(10, from) : from;
    axis.high = is_log ? std::pow(10, to) : to;
  };
  std::visit(
      [&](auto& layer) {
        range(layer.x, "fUxmin", "fUxmax", plot.log_x);
        range(layer.y, "fUymin", "fUymax", plot.log_y);
      },
      plot.layers[0]);
}

void CanvasReader::add(Plot& to, const ObjectMembers& part, std::string_view class_name, std::string option,
                       const Margins& margins) {
  PlotScene scene = scene_;
  scene.option = std::move(option);
  if (class_name == "TLegend") return add_legend(to, part, margins);
  if (class_name == "TLatex" || class_name == "TText" || class_name == "TMathText") return add_text(to, part, margins);
  if (class_name == "TLine" || class_name == "TArrow") return add_line(to, part, margins);
  if (class_name == "TBox") return add_box(to, part);
  if (class_name == "TPaveText" || class_name == "TPaveLabel") return add_pave(to, part, margins);
  auto plot = is_drawable(scene.infos, part) ? part_plot(part, scene) : std::nullopt;
  if (plot)
    add_layers(to, *std::move(plot));
  else if (to.left_out.empty() && class_name != "TFrame" && class_name != "TObjArray")  // TObjArray: the colours
    to.left_out = class_name;
}

void CanvasReader::add_text(Plot& to, const ObjectMembers& part, const Margins& margins) const {
  PlotNote note;
  note.text = part.text("fTitle");
  note.in_frame = (part.integer("fBits", 0) & kInFrameBit) != 0;
  const double x = part.number("fX").value_or(0), y = part.number("fY").value_or(0);
  note.x1 = note.in_frame ? margins.x(x) : x;
  note.y1 = note.in_frame ? margins.y(y) : y;
  const std::int64_t align = part.integer("fTextAlign", 11) / 10;  // 1 left, 2 middle, 3 right
  note.align = align == 2 ? 1 : align == 3 ? -1 : 0;
  const double size = part.number("fTextSize").value_or(0);
  note.size = size > 0 && size < 1 ? size : 0;
  note.angle = part.number("fTextAngle").value_or(0);
  note.look.line = scene_.palette.colour(part.integer("fTextColor", 1));
  to.notes.push_back(std::move(note));
}

void CanvasReader::add_line(Plot& to, const ObjectMembers& part, const Margins& margins) const {
  PlotNote note = corners(part, "");
  note.kind = PlotNote::Kind::line;
  if ((part.integer("fBits", 0) & kInFrameBit) != 0) put_in_frame(note, margins);
  note.look = look_of(part, scene_);
  to.notes.push_back(std::move(note));
}

void CanvasReader::add_box(Plot& to, const ObjectMembers& part) const {
  PlotNote note = corners(part, "");
  note.kind = PlotNote::Kind::box;
  note.look = look_of(part, scene_);
  to.notes.push_back(std::move(note));
}

PlotNote CanvasReader::corners(const ObjectMembers& part, const std::string& suffix) {
  PlotNote note;
  note.x1 = part.number("fX1" + suffix).value_or(0);
  note.y1 = part.number("fY1" + suffix).value_or(0);
  note.x2 = part.number("fX2" + suffix).value_or(0);
  note.y2 = part.number("fY2" + suffix).value_or(0);
  return note;
}

void CanvasReader::put_in_frame(PlotNote& note, const Margins& margins) {
  note.in_frame = true;
  note.x1 = margins.x(note.x1);
  note.x2 = margins.x(note.x2);
  note.y1 = margins.y(note.y1);
  note.y2 = margins.y(note.y2);
}

PlotNote CanvasReader::pave(const ObjectMembers& part, const Margins& margins) {
  PlotNote note = corners(part, "NDC");
  if (note.x1 == 0 && note.x2 == 0) note = corners(part, "");
  put_in_frame(note, margins);
  return note;
}

void CanvasReader::add_pave(Plot& to, const ObjectMembers& part, const Margins& margins) const {
  if (part.text("fName") == "title") return;
  const PlotNote place = pave(part, margins);
  const std::size_t lines = std::min<std::size_t>(items_of(part, "fLines"), 40);
  if (lines == 0) return add_pave_line(to, place, part, part.text("fLabel"), 0, 1);
  for (std::size_t i = 0; i < lines; ++i)
    add_pave_line(to, place, part, part.at(item("fLines", i)).text("fTitle"), i, lines);
}

void CanvasReader::add_pave_line(Plot& to, const PlotNote& place, const ObjectMembers& part, std::string_view text,
                                 std::size_t i, std::size_t lines) const {
  PlotNote note = place;
  note.text = text;
  const std::int64_t align = part.integer("fTextAlign", 22) / 10;
  note.align = align == 2 ? 1 : align == 3 ? -1 : 0;
  note.x1 = align == 2 ? (place.x1 + place.x2) / 2 : align == 3 ? place.x2 : place.x1;
  note.y1 = place.y2 - (place.y2 - place.y1) * (static_cast<double>(i) + 0.7) / static_cast<double>(lines);
  note.look.line = scene_.palette.colour(part.integer("fTextColor", 1));
  to.notes.push_back(std::move(note));
}

void CanvasReader::add_legend(Plot& to, const ObjectMembers& part, const Margins& margins) const {
  const PlotNote place = pave(part, margins);
  to.legend.clear();
  to.legend_left = std::min(place.x1, place.x2);
  to.legend_top = std::max(place.y1, place.y2);
  for (std::size_t i = 0; i < items_of(part, "fPrimitives"); ++i) {
    const ObjectMembers entry = part.at(item("fPrimitives", i));
    const ObjectMembers object = entry.at("fObject");
    const bool has_object = !object.class_name("").empty();
    PlotLegendLine line =
        legend_line(entry, look_of(has_object ? object : entry, scene_), std::string(entry.text("fOption")).c_str());
    line.text = entry.text("fLabel");
    to.legend.push_back(std::move(line));
  }
}

// Gives the axes of the first part the titles and the range of the whole.
void set_axes(Plot& plot, const ObjectMembers& whole) {
  if (plot.layers.empty()) return;
  std::visit(
      [&](auto& layer) {
        layer.x.title = whole.text("fHistogram.fXaxis.fTitle");
        layer.y.title = whole.text("fHistogram.fYaxis.fTitle");
        set_range(layer.y, whole);
      },
      plot.layers[0]);
}

// The maps of a stack cannot be seen through each other: their sum is drawn, and the scale says so. False: it cannot be
// added, being of other bins, or of bins that were joined.
bool add_map(std::optional<PlotBins>& sum, std::size_t& maps, PlotBins& map) {
  if (!sum) {
    sum = std::move(map);
    maps = 1;
    return true;
  }
  if (map.values.size() != sum->values.size() || map.x.edges.size() != sum->x.edges.size() || map.least || sum->least)
    return false;
  for (std::size_t i = 0; i < map.values.size(); ++i) {
    double& value = sum->values[i];
    if (std::isfinite(map.values[i])) value = std::isfinite(value) ? value + map.values[i] : map.values[i];
  }
  sum->entries += map.entries;
  sum->value_title = "sum of " + std::to_string(++maps) + " histograms";
  return true;
}

}  // namespace

std::string small_letters(std::string_view text) {
  std::string option(text);
  std::transform(option.begin(), option.end(), option.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return option;
}

Plot roo_plot(const ObjectMembers& members, const PlotScene& scene) { return CanvasReader(scene).roo_plot(members); }

Plot stack_plot(const ObjectMembers& members, const PlotScene& scene) {
  Plot plot;
  std::vector<PlotBins> all;
  std::optional<PlotBins> sum;
  std::size_t maps = 0;
  const bool is_stacked = scene.option.find("nostack") == std::string::npos;
  for (std::size_t i = 0; i < items_of(members, "fHists"); ++i) {
    const ObjectMembers part = members.at(item("fHists", i));
    PlotScene inner = scene;
    inner.is_shared = true;
    inner.option = option_of(members, "fHists", i);
    auto drawn = is_drawable(scene.infos, part) ? part_plot(part, inner) : std::nullopt;
    auto* bins = drawn && !drawn->layers.empty() ? std::get_if<PlotBins>(drawn->layers.data()) : nullptr;
    if (bins && bins->dimensions == 2 && all.empty() && add_map(sum, maps, *bins)) continue;
    if (!bins || bins->dimensions != 1 || sum) {
      plot.left_out = part.class_name("");
      continue;
    }
    bins->entries = bins->mean = bins->deviation = 0;
    plot.legend.push_back(legend_line(part, bins->look, bins->look.fill ? "f" : "l"));
    if (is_stacked && !all.empty() && all.back().values.size() == bins->values.size()) {
      for (std::size_t bin = 0; bin < bins->values.size(); ++bin) bins->values[bin] += all.back().values[bin];
    }
    if (is_stacked) bins->errors.clear(), bins->has_points = false, bins->has_steps = true;
    all.push_back(std::move(*bins));
  }
  // Lower histograms of a stack are drawn over the sums that include them.
  if (is_stacked) std::reverse(all.begin(), all.end());
  for (PlotBins& bins : all) plot.layers.emplace_back(std::move(bins));
  set_axes(plot, members);
  if (sum) plot.layers.emplace_back(*std::move(sum));
  if (plot.legend.size() < 2) plot.legend.clear();
  return plot;
}

Plot multigraph_plot(const ObjectMembers& members, const PlotScene& scene) {
  Plot plot;
  for (std::size_t i = 0; i < items_of(members, "fGraphs"); ++i) {
    const ObjectMembers part = members.at(item("fGraphs", i));
    PlotScene inner = scene;
    inner.is_shared = true;
    inner.option = option_of(members, "fGraphs", i);
    if (inner.option.empty()) inner.option = scene.option;
    auto drawn = is_drawable(scene.infos, part) ? part_plot(part, inner) : std::nullopt;
    if (!drawn || drawn->layers.empty()) {
      plot.left_out = part.class_name("");
      continue;
    }
    if (const auto* points = std::get_if<PlotPoints>(drawn->layers.data()))
      plot.legend.push_back(legend_line(part, points->look, points->has_marks ? (points->is_line ? "lp" : "p") : "l"));
    add_layers(plot, *std::move(drawn));
  }
  plot.is_shared = true;
  set_axes(plot, members);
  if (plot.legend.size() < 2) plot.legend.clear();
  return plot;
}

Plot canvas_plot(const ObjectMembers& members, const PlotScene& scene) {
  CanvasReader reader(scene);
  reader.add_colours(members);
  Plot plot = reader.pad(members, 0);
  const double width = members.number("fCw").value_or(0), height = members.number("fCh").value_or(0);
  if (width > 0 && height > 0) plot.aspect = width / height;
  return plot;
}

}  // namespace tfile
