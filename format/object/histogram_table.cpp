// SPDX-License-Identifier: Apache-2.0
#include "object/histogram_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "object/fill_buffer.h"
#include "object/histogram.h"
#include "tfile/effort.h"
#include "tfile/mutex.h"

namespace tfile {
namespace {

// Lines of a piece, of 30 to 100 bytes each.
constexpr std::uint64_t kPieceLines = 8192;
// Cells that are read together: of an array that is in memory in part, other pieces need its neighbours. A matrix has
// them the other way round, so that each time the whole array is gone through: once for 8 MB of what is shown.
constexpr std::uint64_t kCellsRead = 64 << 10, kCellsKept = 512 << 10;

// Bins [x, x_end) × [y, y_end), with all z.
struct Area {
  std::uint64_t x = 0, x_end = 0, y = 0, y_end = 0;
  bool covers(const Area& other) const {
    return x <= other.x && other.x_end <= x_end && y <= other.y && other.y_end <= y_end;
  }
};

// The bins as three dimensions, and how they are divided into pieces: the lines of a piece follow each other.
struct TableGrid {
  HistogramBins bins;
  std::array<std::uint64_t, 3> n{1, 1, 1};
  std::uint64_t step_x = 1, step_y = 1, pieces_y = 1;

  explicit TableGrid(HistogramBins h) : bins(std::move(h)) {
    for (std::size_t i = 0; i < bins.bins.size(); ++i) n[i] = bins.bins[i];
    step_y = std::clamp<std::uint64_t>(kPieceLines / n[2], 1, n[1]);
    if (step_y == n[1]) step_x = std::clamp<std::uint64_t>(kPieceLines / (n[1] * n[2]), 1, n[0]);
    pieces_y = (n[1] + step_y - 1) / step_y;
  }
  std::uint64_t pieces() const { return (n[0] + step_x - 1) / step_x * pieces_y; }
  Area area(std::uint64_t piece) const {
    const std::uint64_t x = piece / pieces_y * step_x, y = piece % pieces_y * step_y;
    return {x, std::min(x + step_x, n[0]), y, std::min(y + step_y, n[1])};
  }
  // Beside the piece, as many more as are read with it.
  Area area_read(std::uint64_t piece) const {
    Area area = this->area(piece);
    const std::uint64_t of_x = (area.y_end - area.y) * n[2];
    if (pieces_y == 1) area.x_end = std::clamp(area.x + kCellsKept / of_x, area.x_end, n[0]);
    return area;
  }
  // The number of the first of these bins.
  std::uint64_t cell(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    const std::size_t d = bins.bins.size();
    return bins.cell(x + 1, d > 1 ? y + 1 : 0, d > 2 ? z + 1 : 0);
  }
};

// The shown values of the bins of an area, in the order of the lines.
struct AreaValues {
  Area area;
  std::vector<double> values, variances, entries;
};

class HistogramTable final : public PiecedText {
 public:
  HistogramTable(const HistogramSource& source, const ObjectKind& kind, TableGrid grid, OpenedHistogram opened,
                 QuotedField quoted);
  Result<> count(const HistogramSource& source, const std::stop_token& stop);
  Result<> make(std::size_t piece, std::span<const std::byte> payload, std::span<char> to) const override;

 private:
  std::uint64_t bin_size(std::size_t axis, std::uint64_t bin) const;
  Result<AreaValues> read(const HistogramSource& source, const Area& area) const;
  void append_lines(std::string& to, const AreaValues& all, const Area& area) const;
  void append_line(std::string& to, const AreaValues& all, std::uint64_t at,
                   const std::array<std::uint64_t, 3>& bins) const;

  const bool is_profile_;
  const TableGrid grid_;
  const OpenedHistogram opened_;
  const QuotedField quoted_;
  std::vector<AxisBins> axes_;
  std::array<std::vector<std::string>, 3> labels_;  // quoted, with a comma before
  std::optional<HistogramSource> kept_source_;
  mutable Mutex mutex_{"HistogramTable::mutex_", "a read"};
  mutable std::optional<AreaValues> last_ GUARDED_BY(mutex_);  // of a large one: for the next pieces
};

HistogramTable::HistogramTable(const HistogramSource& source, const ObjectKind& kind, TableGrid grid,
                               OpenedHistogram opened, QuotedField quoted)
    : is_profile_(kind.family == ObjectFamily::profile),
      grid_(std::move(grid)),
      opened_(std::move(opened)),
      quoted_(std::move(quoted)) {
  const std::size_t dimensions = grid_.bins.bins.size();
  for (std::size_t i = 0; i < dimensions; ++i)
    axes_.emplace_back(source.members, kTableAxes[i].first, grid_.bins.bins[i]);
  std::string header;
  for (std::size_t i = 0; i < dimensions; ++i)
    header += std::string(kTableAxes[i].second) + "_low," + kTableAxes[i].second + "_high,";
  header += is_profile_ ? "value,error,effective_entries" : "value,error";
  for (std::size_t i = 0; i < dimensions; ++i) {
    labels_[i] = axis_labels(source.members, kTableAxes[i].first, grid_.bins.bins[i]);
    if (labels_[i].empty()) continue;
    for (std::string& label : labels_[i]) label = ',' + quoted_(label);
    header += std::string(",") + kTableAxes[i].second + "_label";
  }
  header += '\n';
  pieces.push_back({header.size(), header, {}});
  if (!opened_) kept_source_ = source;
}

Result<> HistogramTable::count(const HistogramSource& source, const std::stop_token& stop) {
  std::vector<ByteRange> payload;
  if (opened_) payload.push_back({0, source.payload->span().size()});
  const std::size_t first = pieces.size();
  pieces.resize(first + grid_.pieces(), {0, {}, payload});
  CellReader reader(source.members, *source.payload, is_profile_);
  const auto [nx, ny, nz] = grid_.n;
  std::vector<std::uint64_t> of_x;  // wanted for each line of bins
  for (std::uint64_t x = 0; x < nx && ny * nz > 1; ++x) of_x.push_back(bin_size(0, x));
  ErrorSizes errors;
  for (std::uint64_t z = 0; z < nz; ++z) {
    for (std::uint64_t y = 0; y < ny; ++y) {
      const std::uint64_t line = bin_size(1, y) + bin_size(2, z) + 2;  // a comma and the end of the line
      for (std::uint64_t x = 0, many; x < nx; x += many) {
        TRY_VOID(Effort(stop).check());
        many = std::min(kCellsRead, nx - x);
        TRY(const HistogramCells cells, reader.read(grid_.cell(x, y, z), many));
        for (std::uint64_t i = 0; i < many; ++i) {
          const std::uint64_t borders = of_x.empty() ? bin_size(0, x + i) : of_x[x + i];
          std::uint64_t size = line + borders + csv_size(cells.value(i)) + errors.of(cells.variance(i));
          if (is_profile_) size += 1 + csv_size(cells.effective_entries(i));
          pieces[first + (x + i) / grid_.step_x * grid_.pieces_y + y / grid_.step_y].size += size;
        }
      }
    }
  }
  return {};
}

Result<> HistogramTable::make(std::size_t piece, std::span<const std::byte> payload, std::span<char> to) const {
  const std::uint64_t number = piece - 1;  // behind the header
  std::string text;
  text.reserve(to.size());
  if (opened_) {
    TRY(const HistogramSource source, opened_(payload));
    TRY(const AreaValues values, read(source, grid_.area(number)));
    append_lines(text, values, grid_.area(number));
  } else {
    const Lock lock(mutex_);
    if (!last_ || !last_->area.covers(grid_.area(number))) {
      last_.reset();
      TRY(last_, read(*kept_source_, grid_.area_read(number)));
    }
    append_lines(text, *last_, grid_.area(number));
    if (piece + 1 == pieces.size()) last_.reset();  // read to the end
  }
  if (text.size() != to.size())
    return fail(ErrorKind::stale, "the table of the object has changed since its size was computed");
  std::memcpy(to.data(), text.data(), text.size());
  return {};
}

std::uint64_t HistogramTable::bin_size(std::size_t axis, std::uint64_t bin) const {
  if (axis >= axes_.size()) return 0;
  return size_of_borders(axes_[axis], bin) + (labels_[axis].empty() ? 0 : labels_[axis][bin].size());
}

Result<AreaValues> HistogramTable::read(const HistogramSource& source, const Area& area) const {
  AreaValues all;
  all.area = area;
  const std::uint64_t nz = grid_.n[2], high = area.y_end - area.y, wide = area.x_end - area.x;
  all.values.resize(wide * high * nz);
  all.variances.resize(all.values.size());
  if (is_profile_) all.entries.resize(all.values.size());
  CellReader reader(source.members, *source.payload, is_profile_);
  for (std::uint64_t z = 0; z < nz; ++z) {
    for (std::uint64_t y = 0; y < high; ++y) {
      TRY(const HistogramCells cells, reader.read(grid_.cell(area.x, area.y + y, z), wide));
      for (std::uint64_t x = 0; x < wide; ++x) {
        const std::uint64_t at = (x * high + y) * nz + z;
        all.values[at] = cells.value(x);
        all.variances[at] = cells.variance(x);
        if (is_profile_) all.entries[at] = cells.effective_entries(x);
      }
    }
  }
  return all;
}

void HistogramTable::append_lines(std::string& to, const AreaValues& all, const Area& area) const {
  const std::uint64_t nz = grid_.n[2], high = all.area.y_end - all.area.y;
  for (std::uint64_t x = area.x; x < area.x_end; ++x)
    for (std::uint64_t y = area.y; y < area.y_end; ++y)
      for (std::uint64_t z = 0; z < nz; ++z)
        append_line(to, all, ((x - all.area.x) * high + y - all.area.y) * nz + z, {x, y, z});
}

void HistogramTable::append_line(std::string& to, const AreaValues& all, std::uint64_t at,
                                 const std::array<std::uint64_t, 3>& bins) const {
  CsvText text;
  for (std::size_t i = 0; i < axes_.size(); ++i) append_borders(to, axes_[i], bins[i]);
  to += csv_number(all.values[at], text);
  to += ',';
  to += csv_number(std::sqrt(all.variances[at]), text);
  if (is_profile_) {
    to += ',';
    to += csv_number(all.entries[at], text);
  }
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (!labels_[i].empty()) to += labels_[i][bins[i]];
  to += '\n';
}

}  // namespace

bool has_histogram_table(const ObjectKind& kind, const ObjectMembers& members) {
  return has_contents(kind.family) && !has_fill_buffer(members, "", kind.dimensions);
}

Result<std::shared_ptr<const PiecedText>> histogram_table(const HistogramSource& source, const ObjectKind& kind,
                                                          OpenedHistogram opened, QuotedField quoted,
                                                          const std::stop_token& stop) {
  if (!has_histogram_table(kind, source.members))
    return fail(ErrorKind::unsupported, "histogram: its fills are still buffered, not in its bins");
  TRY(HistogramBins bins, histogram_bins(source.members, "", kind.dimensions));
  auto table =
      std::make_shared<HistogramTable>(source, kind, TableGrid(std::move(bins)), std::move(opened), std::move(quoted));
  TRY_VOID(table->count(source, stop));
  return std::shared_ptr<const PiecedText>(std::move(table));
}

}  // namespace tfile
