// SPDX-License-Identifier: Apache-2.0
#include "draw/drawing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "descriptor.h"
#include "query/drawn_bins.h"
#include "query/drawn_object.h"
#include "query/pictures.h"
#include "staging/journal/new_file.h"
#include "tfile/file.h"
#include "tfile/new_object.h"

namespace tfilefs {

using tfile::fail;

namespace {

Result<> check_free(const FilePlace& place, DrawingForm form) {
  struct stat status {};
  if (::fstatat(place.directory.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, place.shown + ": not a regular file");
  if (form == DrawingForm::root) return fail(ErrorKind::exists, place.shown + ": already exists");
  return {};
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
  text += histogram.is_profile() ? "value,error,effective_entries\n" : "value,error\n";
  std::vector<std::vector<double>> edges;
  for (const HistogramAxis& axis : histogram.axes()) edges.push_back(bin_edges(axis));
  for_each_bin(histogram, false, [&](std::size_t bin, const std::array<std::size_t, 3>& places) {
    for (std::size_t axis = 0; axis < edges.size(); ++axis) {
      append_number(text, edges[axis][places[axis] - 1]);
      text += ',';
      append_number(text, edges[axis][places[axis]]);
      text += ',';
    }
    append_number(text, bin_value(histogram, bin));
    text += ',';
    append_number(text, bin_error(histogram, bin));
    if (histogram.is_profile()) {
      text += ',';
      append_number(text, histogram.effective_entries(bin));
    }
    text += '\n';
  });
  return text;
}

// ---- pictures

Result<std::string> svg_of(const Drawing& drawing, bool is_log) {
  TRY(const tfile::Plot plot, drawn_plot(drawing, is_log));
  return plot_svg(plot);
}

// ---- objects

Result<std::string> root_of(const Drawing& drawing) {
  TRY(const tfile::NewObject object, drawn_object(drawing));
  TRY(const Descriptor file, drawn_file(object));
  const auto size = static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END));
  TRY(const std::vector<std::byte> bytes, read_at(file.get(), 0, size));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::string> json_of(const Drawing& drawing) {
  TRY(const tfile::NewObject object, drawn_object(drawing));
  TRY(Descriptor written, drawn_file(object));
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
      std::vector<std::byte> payload;
      for (const tfile::ByteRange range : piece.payload) {
        const auto bytes = std::span(object.payload).subspan(range.begin, range.size);
        payload.insert(payload.end(), bytes.begin(), bytes.end());
      }
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
  if (path.ends_with(".svg") && !has_pictures())
    return fail(ErrorKind::unsupported,
                path + ": this program was built without plots; expected a name that ends in .csv, .json or .root");
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

Result<FilePlace> drawing_place(const std::string& path, DrawingForm form) {
  std::error_code none;
  const std::filesystem::path behind_links = std::filesystem::canonical(path, none);
  TRY(FilePlace place, place_of(none ? path : behind_links.string()));
  place.shown = path;
  TRY_VOID(check_free(place, form));
  return place;
}

Result<> write_drawing(const FilePlace& place, DrawingForm form, std::string_view bytes) {
  TRY(NewFile file, NewFile::make(place, place.owner().value_or(process_owner())));
  TRY_VOID(check_free(place, form));  // from here on the file knows what it replaces
  if (const auto written = write_all(file.get(), 0, std::as_bytes(std::span(bytes))); !written)
    return tfile::system_error(place.shown, written.error().system_errno);
  return file.publish(place);
}

}  // namespace tfilefs
