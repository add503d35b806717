// SPDX-License-Identifier: Apache-2.0
#include "draw/drawing_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <utility>

#include "descriptor.h"
#include "plot/plot_svg.h"
#include "staging/journal/file_place.h"
#include "tfile/file.h"
#include "tfile/new_object.h"
#include "tfile/plot.h"
#include "tfile/writer.h"

namespace tfilefs {

using tfile::fail;

namespace {

constexpr const char* kName = "htemp";

// ---- bins

// Calls visit(bin, places) for each bin within the axes, or of all; x is the slowest, as the files of a mount have it.
template <class Visit>
void for_each_bin(const DrawnHistogram& histogram, bool has_flow, Visit visit) {
  const std::size_t axes = histogram.dimensions(), first = has_flow ? 0 : 1;
  std::array<std::size_t, 3> end{1, 1, 1}, begin{0, 0, 0}, places{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    begin[axis] = first;
    end[axis] = static_cast<std::size_t>(histogram.axes()[axis].bins) + (has_flow ? 2 : 1);
  }
  for (places[0] = begin[0]; places[0] < end[0]; ++places[0]) {
    for (places[1] = begin[1]; places[1] < end[1]; ++places[1]) {
      for (places[2] = begin[2]; places[2] < end[2]; ++places[2])
        visit(histogram.bin_at(std::span(places).first(axes)), places);
    }
  }
}

double value_of(const DrawnHistogram& histogram, std::size_t bin) {
  return histogram.is_profile() ? histogram.profile_value(bin) : histogram.contents()[bin];
}
double error_of(const DrawnHistogram& histogram, std::size_t bin) {
  return histogram.is_profile() ? histogram.profile_error(bin) : std::sqrt(histogram.squares()[bin]);
}

std::vector<double> edges_of(const HistogramAxis& axis) {
  std::vector<double> edges;
  for (std::int32_t i = 0; i <= axis.bins; ++i) edges.push_back(axis.edge(static_cast<std::size_t>(i)));
  edges.back() = axis.high;
  return edges;
}

// ---- text

void append_number(std::string& text, double value) {
  std::array<char, 32> digits{};
  text.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

// As the table.csv of a stored histogram.
std::string csv_of(const DrawnHistogram& histogram) {
  constexpr const char* kAxes[] = {"x", "y", "z"};
  std::string text;
  for (std::size_t axis = 0; axis < histogram.dimensions(); ++axis)
    text += std::string(kAxes[axis]) + "_low," + kAxes[axis] + "_high,";
  text += "value,error\n";
  std::vector<std::vector<double>> edges;
  for (const HistogramAxis& axis : histogram.axes()) edges.push_back(edges_of(axis));
  for_each_bin(histogram, false, [&](std::size_t bin, const std::array<std::size_t, 3>& places) {
    for (std::size_t axis = 0; axis < edges.size(); ++axis) {
      append_number(text, edges[axis][places[axis] - 1]);
      text += ',';
      append_number(text, edges[axis][places[axis]]);
      text += ',';
    }
    append_number(text, value_of(histogram, bin));
    text += ',';
    append_number(text, error_of(histogram, bin));
    text += '\n';
  });
  return text;
}

// ---- pictures

Result<std::string> svg_of(const Drawing& drawing, bool is_log) {
  const DrawnHistogram& histogram = drawing.histogram;
  if (histogram.dimensions() > 2)
    return fail(ErrorKind::unsupported, "three axes make no picture: write them as .csv, .json or .root");
  tfile::PlotBins bins;
  bins.dimensions = histogram.dimensions();
  bins.is_profile = histogram.is_profile();
  bins.x.edges = edges_of(histogram.axes()[0]);
  bins.x.title = drawing.titles[0];
  if (bins.dimensions == 2) bins.y.edges = edges_of(histogram.axes()[1]);
  if (drawing.titles.size() > 1) bins.y.title = drawing.titles[1];
  if (drawing.titles.size() > 2) bins.value_title = drawing.titles[2];
  const bool has_errors = bins.dimensions == 1 && (bins.is_profile || histogram.is_weighted());
  bins.has_points = has_errors;
  bins.has_steps = !bins.is_profile;
  for_each_bin(histogram, false, [&](std::size_t bin, const auto&) {
    const bool is_empty = bins.dimensions == 2 && histogram.squares()[bin] == 0;
    bins.values.push_back(is_empty ? std::nan("") : value_of(histogram, bin));
    if (has_errors) bins.errors.push_back(error_of(histogram, bin));
  });
  bins.entries = histogram.entries();
  bins.mean = histogram.mean(0);
  bins.deviation = histogram.deviation(0);
  tfile::Plot plot;
  plot.title = drawing.title;
  plot.layers.emplace_back(std::move(bins));
  plot.set_log(false, is_log && histogram.dimensions() == 1, is_log && histogram.dimensions() == 2);
  return plot_svg(plot);
}

// ---- objects

std::vector<std::byte> bytes_of(const std::vector<double>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(double));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

Result<tfile::NewObject> object_of(const Drawing& drawing) {
  const DrawnHistogram& histogram = drawing.histogram;
  if (histogram.is_profile()) return fail(ErrorKind::unsupported, "a profile is written as .svg or .csv");
  tfile::OfferedHistogram offered;
  offered.name = kName;
  offered.title = drawing.title;
  for (const HistogramAxis& axis : histogram.axes())
    offered.edges.push_back({tfile::Dtype::f8, bytes_of(edges_of(axis))});
  const auto grid = [&](std::span<const double> cells, bool has_flow) {
    tfile::OfferedHistogram::Grid made;
    std::vector<double> numbers;
    for_each_bin(histogram, has_flow, [&](std::size_t bin, const auto&) { numbers.push_back(cells[bin]); });
    made.bytes = bytes_of(numbers);
    for (std::size_t axis = 1; axis < histogram.dimensions(); ++axis)
      made.shape.push_back(static_cast<std::uint32_t>(histogram.axes()[axis].bins) + (has_flow ? 2 : 0));
    return made;
  };
  offered.values = grid(histogram.contents(), false);
  offered.flow_values = grid(histogram.contents(), true);
  if (histogram.is_weighted()) {
    offered.variances = grid(histogram.squares(), false);
    offered.flow_variances = grid(histogram.squares(), true);
  }
  return tfile::new_histogram(offered);
}

// A ROOT file in memory with the object.
Result<Descriptor> file_of(const Drawing& drawing) {
  TRY(const tfile::NewObject object, object_of(drawing));
  TRY(const auto writer, tfile::FileWriter::create("draw.root", {tfile::Compression::Algorithm::zlib, 1}));
  TRY(const auto key, writer->add_object("", object, 0));
  TRY(const tfile::CommitPlan plan, writer->plan(tfile::datime_of(std::time(nullptr))));
  Descriptor file(::memfd_create("tfilefs-draw", MFD_CLOEXEC));
  if (!file) return tfile::system_error("draw", errno);
  TRY_VOID(write_all(file.get(), key.address, key.head));
  for (const tfile::CommitStep& step : plan.steps) {
    if (step.kind == tfile::CommitStep::Kind::write) TRY_VOID(write_all(file.get(), step.offset, step.bytes));
  }
  return file;
}

Result<std::string> root_of(const Drawing& drawing) {
  TRY(const Descriptor file, file_of(drawing));
  const auto size = static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END));
  TRY(const std::vector<std::byte> bytes, read_at(file.get(), 0, size));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::string> json_of(const Drawing& drawing) {
  TRY(const tfile::NewObject object, object_of(drawing));
  TRY(Descriptor written, file_of(drawing));
  TRY(const auto source, tfile::adopt_source(written.release(), "draw.root", -1));
  TRY(const auto file, tfile::File::open(source));
  const auto listing = file->root();
  if (listing->keys.size() != 1)
    return fail(ErrorKind::damaged,
                "the file of the histogram has " + std::to_string(listing->keys.size()) + " keys, expected 1");
  TRY(const auto made, file->object(listing->keys[0], object.payload));
  TRY(const auto text, made->json(object.payload, {}));
  std::string all;
  for (std::size_t i = 0; i < text->pieces.size(); ++i) {
    const tfile::PiecedText::Piece& piece = text->pieces[i];
    std::string part = piece.text;
    if (part.empty()) {
      part.resize(piece.size);
      const auto payload = std::span(object.payload).subspan(piece.payload.begin, piece.payload.size);
      TRY_VOID(text->make(i, payload, part));
    }
    all += part;
  }
  return all;
}

}  // namespace

Result<DrawingForm> drawing_form(const std::string& path) {
  constexpr std::pair<std::string_view, DrawingForm> kForms[] = {{".svg", DrawingForm::svg},
                                                                 {".csv", DrawingForm::csv},
                                                                 {".json", DrawingForm::json},
                                                                 {".root", DrawingForm::root}};
  for (const auto& [end, form] : kForms) {
    if (path.ends_with(end)) return form;
  }
  return fail(ErrorKind::invalid, path + ": expected a name that ends in .svg, .csv, .json or .root");
}

Result<std::string> drawing_bytes(const Drawing& drawing, DrawingForm form, bool is_log) {
  switch (form) {
    case DrawingForm::svg:
      return svg_of(drawing, is_log);
    case DrawingForm::csv:
      return csv_of(drawing.histogram);
    case DrawingForm::json:
      return json_of(drawing);
    default:
      return root_of(drawing);
  }
}

}  // namespace tfilefs
