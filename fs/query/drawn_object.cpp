// SPDX-License-Identifier: Apache-2.0
#include "query/drawn_object.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <span>
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
  const auto grid_of = [&](std::span<const double> sums) {
    tfile::OfferedHistogram::Grid made;
    std::vector<double> numbers;
    for_each_bin(histogram, true, [&](std::size_t bin, const auto&) { numbers.push_back(sums[bin]); });
    made.bytes = bytes_of(numbers);
    for (std::size_t axis = 1; axis < histogram.dimensions(); ++axis)
      made.shape.push_back(static_cast<std::uint32_t>(histogram.axes()[axis].bins) + 2);
    return made;
  };
  if (histogram.is_profile()) {
    offered.flow_values = grid_of(histogram.value_sums());
    offered.flow_variances = grid_of(histogram.value_squares());
    offered.flow_weights = grid_of(histogram.contents());
    if (histogram.is_weighted()) offered.flow_weight_squares = grid_of(histogram.squares());
  } else {
    offered.flow_values = grid_of(histogram.contents());
    if (histogram.is_weighted()) offered.flow_variances = grid_of(histogram.squares());
  }
  offered.entries = histogram.entries();
  offered.moments = histogram.moments();
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
