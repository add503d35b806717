// SPDX-License-Identifier: Apache-2.0
#include "object/cell_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytes/payload_bytes.h"
#include "object/many_dimensions.h"
#include "tfile/effort.h"

namespace tfile {
namespace {

// The cells of a piece: a line of each is 50 to 300 bytes.
constexpr std::uint64_t kPieceCells = 8192;

// An axis: the borders of its bins, as text if they are few, and their labels.
class CellAxis {
 public:
  CellAxis(const ObjectMembers& members, const std::string& path, std::uint32_t bins, const QuotedField& quoted)
      : bins_(bins), borders_(members, path, bins) {
    constexpr std::uint32_t kKeptBinsMax = 4096, kNamedBinsMax = 1 << 20;
    for (std::uint32_t bin = 0; bin < bins && bins <= kKeptBinsMax; ++bin)
      append_borders(kept_.emplace_back(), borders_, bin);
    if (bins <= kNamedBinsMax) labels_ = axis_labels(members, path, bins);
    for (std::string& label : labels_) label = ',' + quoted(label);
  }
  bool has_labels() const { return !labels_.empty(); }
  // `bin`: 0 is the underflow.
  bool is_inside(std::uint64_t bin) const { return bin >= 1 && bin <= bins_; }

  void append(std::string& line, std::uint64_t bin) const {
    if (kept_.empty()) return append_borders(line, borders_, bin - 1);
    line += kept_[bin - 1];
  }
  void append_label(std::string& line, std::uint64_t bin) const {
    if (has_labels()) line += labels_[bin - 1];
  }
  std::uint64_t size(std::uint64_t bin) const {
    const std::uint64_t borders = kept_.empty() ? size_of_borders(borders_, bin - 1) : kept_[bin - 1].size();
    return borders + (has_labels() ? labels_[bin - 1].size() : 0);
  }

 private:
  std::uint32_t bins_;
  AxisBins borders_;
  std::vector<std::string> kept_, labels_;  // labels: quoted, with a comma before
};

// Numbers by their place in the payload, which need not be in memory.
class PlacedNumbers {
 public:
  PlacedNumbers() = default;
  PlacedNumbers(const StoredNumbers& stored, std::span<const std::byte> payload)
      : place_(WholePayload(payload).place_of(stored.bytes)), dtype_(stored.dtype) {
    if (stored.packing) packing_ = *stored.packing;
  }
  ByteRange bytes_at(std::uint64_t offset, std::uint64_t size) const { return {place_.begin + offset, size}; }
  ByteRange numbers_at(std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t width = of({}).stored_size();
    return bytes_at(first * width, count * width);
  }
  std::vector<double> read(std::span<const std::byte> bytes) const {
    const StoredNumbers some = of(bytes);
    std::vector<double> values(some.count());
    numbers_as_double(some, values.data());
    return values;
  }

 private:
  StoredNumbers of(std::span<const std::byte> bytes) const { return {bytes, dtype_, packing_ ? &*packing_ : nullptr}; }

  ByteRange place_;
  Dtype dtype_ = Dtype::u1;
  std::optional<Packing> packing_;
};

// A chunk of a THnSparse, or all cells of a THn, which have no coordinates.
struct CellBlock {
  std::uint64_t first = 0, count = 0;  // in all cells
  PlacedNumbers coordinates, contents;
  std::optional<PlacedNumbers> squares;
};

// Some cells of a block.
struct SomeCells {
  const CellBlock* block = nullptr;
  std::uint64_t first = 0, count = 0;              // in all cells
  ByteRange coordinates{}, contents{}, squares{};  // of the payload
};

std::vector<ByteRange> ranges_of(const std::vector<SomeCells>& piece) {
  std::vector<ByteRange> ranges;
  for (const SomeCells& some : piece) {
    for (const ByteRange range : {some.coordinates, some.contents, some.squares})
      if (range.size > 0) ranges.push_back(range);
  }
  return ranges;
}

// The bytes of ranges: of a payload, or as they lie one behind the other.
class RangeBytes {
 public:
  RangeBytes(std::span<const std::byte> bytes, bool is_payload) : bytes_(bytes), is_payload_(is_payload) {}
  std::span<const std::byte> next(ByteRange range) {
    const std::uint64_t begin = is_payload_ ? range.begin : at_;
    at_ += range.size;
    return bytes_.subspan(begin, range.size);
  }

 private:
  const std::span<const std::byte> bytes_;
  const bool is_payload_;
  std::uint64_t at_ = 0;
};

class CellTable final : public PiecedText {
 public:
  CellTable(const ObjectMembers& members, const std::vector<std::uint32_t>& bins, bool is_sparse,
            std::shared_ptr<const PayloadBytes> kept, const QuotedField& quoted);
  Result<> add_blocks(const ObjectMembers& members, std::span<const std::byte> payload);
  Result<> count(std::span<const std::byte> payload, const std::stop_token& stop);
  Result<> make(std::size_t piece, std::span<const std::byte> payload, std::span<char> to) const override;

 private:
  void add_block(const ObjectMembers& members, std::uint64_t count, const std::string& coordinates,
                 const std::string& contents, const std::string& squares, std::span<const std::byte> payload);
  std::vector<SomeCells> cells_of_piece(std::uint64_t first) const;
  template <class Put>
  void each_cell_inside(const std::vector<SomeCells>& piece, RangeBytes bytes, Put put) const;
  void place(std::span<const std::byte> coordinates, std::uint64_t number, std::uint64_t cell,
             std::vector<std::uint64_t>& at) const;

  const std::vector<std::uint32_t> bins_;
  const std::optional<PackedCoordinates> packed_;  // of a THnSparse
  const std::shared_ptr<const PayloadBytes> kept_;
  std::vector<CellAxis> axes_;
  std::vector<CellBlock> blocks_;
  std::uint64_t cells_ = 0;
  std::vector<std::uint64_t> starts_{0};  // of each piece, the first cell
};

CellTable::CellTable(const ObjectMembers& members, const std::vector<std::uint32_t>& bins, bool is_sparse,
                     std::shared_ptr<const PayloadBytes> kept, const QuotedField& quoted)
    : bins_(bins), packed_(is_sparse ? std::optional<PackedCoordinates>(bins) : std::nullopt), kept_(std::move(kept)) {
  std::string header, labels;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    axes_.emplace_back(members, axis_path(i), bins[i], quoted);
    const std::string axis = "axis" + std::to_string(i);
    header += axis + "_low," + axis + "_high,";
    if (axes_.back().has_labels()) labels += ',' + axis + "_label";
  }
  header += "value,error" + labels + '\n';
  pieces.push_back({header.size(), header, {}});
}

Result<> CellTable::add_blocks(const ObjectMembers& members, std::span<const std::byte> payload) {
  if (!packed_) {
    TRY(const std::uint64_t cells, dense_cells(members, bins_));
    add_block(members, cells, "", "fArray.fData", "fSumw2.fData", payload);
    return {};
  }
  TRY(const std::vector<std::size_t> counts, cells_of_chunks(members, *packed_));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string chunk = chunk_path(i);
    add_block(members, counts[i], chunk + "fCoordinates", chunk + "fContent", chunk + "fSumw2", payload);
  }
  return {};
}

void CellTable::add_block(const ObjectMembers& members, std::uint64_t count, const std::string& coordinates,
                          const std::string& contents, const std::string& squares, std::span<const std::byte> payload) {
  if (count == 0) return;
  CellBlock& block = blocks_.emplace_back();
  block.first = cells_;
  block.count = count;
  if (packed_) block.coordinates = {*members.numbers(coordinates), payload};
  block.contents = {*members.numbers(contents), payload};
  const StoredNumbers* const stored = members.numbers(squares);
  if (stored && stored->count() >= count) block.squares = {*stored, payload};
  cells_ += count;
}

// `number`: of the cell, among those with these coordinates.
void CellTable::place(std::span<const std::byte> coordinates, std::uint64_t number, std::uint64_t cell,
                      std::vector<std::uint64_t>& at) const {
  if (packed_) {
    std::size_t axis = 0;
    packed_->unpack(&coordinates[number * packed_->cell_size()], [&](std::uint64_t bin) { at[axis++] = bin; });
    return;
  }
  for (std::size_t i = bins_.size(); i-- > 0; cell /= bins_[i] + 2ull) at[i] = cell % (bins_[i] + 2ull);
}

// The cells of the piece that begins with this one.
std::vector<SomeCells> CellTable::cells_of_piece(std::uint64_t first) const {
  std::vector<SomeCells> piece;
  const std::uint64_t end = std::min(first + kPieceCells, cells_);
  for (auto block = std::ranges::upper_bound(blocks_, first, {}, &CellBlock::first) - 1; first < end; ++block) {
    SomeCells& some = piece.emplace_back();
    some.block = &*block;
    some.first = first;
    some.count = std::min(end, block->first + block->count) - first;
    const std::uint64_t inside = first - block->first;
    if (packed_) {
      const std::uint64_t size = packed_->cell_size();
      some.coordinates = block->coordinates.bytes_at(inside * size, some.count * size);
    }
    some.contents = block->contents.numbers_at(inside, some.count);
    if (block->squares) some.squares = block->squares->numbers_at(inside, some.count);
    first += some.count;
  }
  return piece;
}

// These cells, if they are none of flow: their bins, their content, and its variance.
template <class Put>
void CellTable::each_cell_inside(const std::vector<SomeCells>& piece, RangeBytes bytes, Put put) const {
  std::vector<std::uint64_t> at(axes_.size());
  for (const SomeCells& some : piece) {
    const std::span<const std::byte> coordinates = bytes.next(some.coordinates);
    const std::vector<double> values = some.block->contents.read(bytes.next(some.contents));
    std::vector<double> squares;
    if (some.block->squares) squares = some.block->squares->read(bytes.next(some.squares));
    for (std::uint64_t i = 0; i < some.count; ++i) {
      place(coordinates, i, some.first + i, at);
      bool is_inside = true;
      for (std::size_t axis = 0; axis < at.size(); ++axis) is_inside &= axes_[axis].is_inside(at[axis]);
      if (is_inside) put(at, values[i], squares.empty() ? std::abs(values[i]) : squares[i]);
    }
  }
}

Result<> CellTable::count(std::span<const std::byte> payload, const std::stop_token& stop) {
  ErrorSizes errors;
  for (std::uint64_t first = 0; first < cells_; first += kPieceCells) {
    TRY_VOID(Effort(stop).check());
    std::uint64_t size = 0;
    const auto add = [&](const std::vector<std::uint64_t>& at, double value, double variance) {
      for (std::size_t axis = 0; axis < at.size(); ++axis) size += axes_[axis].size(at[axis]);
      size += csv_size(value) + errors.of(variance) + 2;  // a comma and the end of the line
    };
    const std::vector<SomeCells> cells = cells_of_piece(first);
    each_cell_inside(cells, RangeBytes(payload, true), add);
    if (size == 0) continue;
    pieces.push_back({size, {}, {}});
    if (!kept_) pieces.back().payload = ranges_of(cells);
    starts_.push_back(first);
  }
  return {};
}

Result<> CellTable::make(std::size_t piece, std::span<const std::byte> payload, std::span<char> to) const {
  constexpr const char* kOther = "the table of the object has changed since its size was computed";
  const std::vector<SomeCells> cells = cells_of_piece(starts_[piece]);
  std::uint64_t needed = 0;
  for (const ByteRange range : ranges_of(cells)) needed += range.size;
  if (!kept_ && payload.size() != needed) return fail(ErrorKind::stale, kOther);
  std::string text;
  text.reserve(to.size());
  CsvText digits;
  const auto append = [&](const std::vector<std::uint64_t>& at, double value, double variance) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) axes_[axis].append(text, at[axis]);
    text += csv_number(value, digits);
    text += ',';
    text += csv_number(std::sqrt(variance), digits);
    for (std::size_t axis = 0; axis < at.size(); ++axis) axes_[axis].append_label(text, at[axis]);
    text += '\n';
  };
  each_cell_inside(cells, kept_ ? RangeBytes(kept_->span(), true) : RangeBytes(payload, false), append);
  if (text.size() != to.size()) return fail(ErrorKind::stale, kOther);
  std::memcpy(to.data(), text.data(), text.size());
  return {};
}

}  // namespace

Result<std::shared_ptr<const PiecedText>> cell_table(const ObjectMembers& members, const ObjectKind& kind,
                                                     std::span<const std::byte> payload,
                                                     std::shared_ptr<const PayloadBytes> kept,
                                                     const QuotedField& quoted, const std::stop_token& stop) {
  TRY(const std::vector<std::uint32_t> bins, bins_of_axes(members));
  const bool is_sparse = kind.family == ObjectFamily::sparse;
  auto table = std::make_shared<CellTable>(members, bins, is_sparse, std::move(kept), quoted);
  TRY_VOID(table->add_blocks(members, payload));
  TRY_VOID(table->count(payload, stop));
  return std::shared_ptr<const PiecedText>(std::move(table));
}

}  // namespace tfile
