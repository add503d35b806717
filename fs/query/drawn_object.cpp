// SPDX-License-Identifier: Apache-2.0
#include "query/drawn_object.h"

#include <sys/mman.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <utility>

#include "query/drawn_bins.h"
#include "staging/journal/file_place.h"
#include "tfile/writer.h"

namespace tfilefs {

namespace {

std::vector<std::byte> bytes_of(const std::vector<double>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(double));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace

Result<tfile::NewObject> drawn_object(const Drawing& drawing) {
  const DrawnHistogram& histogram = drawing.histogram;
  tfile::OfferedHistogram offered;
  offered.name = kDrawnName;
  offered.title = drawing.title;
  for (const HistogramAxis& axis : histogram.axes())
    offered.edges.push_back({tfile::Dtype::f8, bytes_of(bin_edges(axis))});
  const auto grid = [&](auto number_of, bool has_flow) {
    tfile::OfferedHistogram::Grid made;
    std::vector<double> numbers;
    for_each_bin(histogram, has_flow, [&](std::size_t bin, const auto&) { numbers.push_back(number_of(bin)); });
    made.bytes = bytes_of(numbers);
    for (std::size_t axis = 1; axis < histogram.dimensions(); ++axis)
      made.shape.push_back(static_cast<std::uint32_t>(histogram.axes()[axis].bins) + (has_flow ? 2 : 0));
    return made;
  };
  const auto value = [&](std::size_t bin) { return bin_value(histogram, bin); };
  const auto variance = [&](std::size_t bin) {
    return histogram.is_profile() ? std::pow(histogram.profile_error(bin), 2) : histogram.squares()[bin];
  };
  offered.values = grid(value, false);
  offered.flow_values = grid(value, true);
  if (histogram.is_weighted() || histogram.is_profile()) {
    offered.variances = grid(variance, false);
    offered.flow_variances = grid(variance, true);
  }
  offered.entries = histogram.entries();
  // Those of a profile are of its values as well; its means have those of their bins.
  if (!histogram.is_profile()) offered.moments = histogram.moments();
  return tfile::new_histogram(offered);
}

Result<Descriptor> drawn_file(const tfile::NewObject& object) {
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

}  // namespace tfilefs
