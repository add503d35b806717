// SPDX-License-Identifier: Apache-2.0
#include "object/sparse_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytes/endian.h"
#include "object/histogram_sum.h"
#include "streamer/info/object_append.h"
#include "streamer/info/object_frame.h"

namespace tfile {
namespace {

constexpr std::string_view kChunk = "THnSparseArrayChunk";
// The members of the sum's chunks, in the order in which they are written.
constexpr std::array<std::string_view, 6> kChunkMembers = {
    "TObject", "fSingleCoordinateSize", "fCoordinatesSize", "fCoordinates", "fContent", "fSumw2"};
// Bins of a chunk. ROOT's default is 16384, and each chunk has room for all of its bins in the file.
constexpr std::int64_t kChunkMax = 1 << 24;
// In TObject::fBits of what was made by `new`, and not deleted.
constexpr std::uint32_t kOnHeapBits = 0x03000000;

constexpr std::pair<std::string_view, Dtype> kArrays[] = {
    {"TArrayC", Dtype::i1},   {"TArrayS", Dtype::i2}, {"TArrayI", Dtype::i4}, {"TArrayL", Dtype::i8},
    {"TArrayL64", Dtype::i8}, {"TArrayF", Dtype::f4}, {"TArrayD", Dtype::f8}};

// The filled bins, in their order.
struct SparseBins {
  std::size_t cell_size = 0;  // bytes of the coordinates of one
  std::int64_t chunk_size = 0;
  bool has_squares = false;
  Dtype dtype = Dtype::u1;
  std::vector<std::byte> coordinates, contents;  // as they are stored
  std::vector<double> squares;                   // of weights: absolute contents if there are none

  std::size_t count() const { return squares.size(); }
  std::string_view cell(std::size_t i) const {
    return {reinterpret_cast<const char*>(coordinates.data()) + i * cell_size, cell_size};
  }
  std::span<std::byte> content(std::size_t i) {
    return std::span(contents).subspan(i * size_of(dtype), size_of(dtype));
  }
};

class BinReader {
 public:
  explicit BinReader(const ObjectMembers& members) : members_(members) {
    bins_.chunk_size = members.integer("fChunkSize", 0);
    bins_.has_squares = members.number("fTsumw2").value_or(-1) >= 0;
  }

  Result<SparseBins> run() {
    const std::size_t chunks = members_.item_count("fBinContent.arr");
    for (std::size_t i = 0; i < chunks; ++i) TRY_VOID(add("fBinContent.arr." + std::to_string(i), i + 1 == chunks));
    if (const std::int64_t filled = members_.integer("fFilledBins", -1);
        static_cast<std::int64_t>(bins_.count()) != filled)
      return fail(ErrorKind::damaged, "THnSparse: fFilledBins is " + std::to_string(filled) + ", its chunks hold " +
                                          std::to_string(bins_.count()));
    return std::move(bins_);
  }

 private:
  tl::unexpected<Error> misfit(const std::string& path, std::size_t coordinates, std::size_t contents,
                               std::int64_t cell_size) const {
    return fail(ErrorKind::damaged, "THnSparse: " + path + " has " + std::to_string(coordinates) +
                                        " bytes of coordinates, " + std::to_string(cell_size) + " for a bin, and " +
                                        std::to_string(contents) + " contents, in chunks of " +
                                        std::to_string(bins_.chunk_size));
  }

  Result<> add(const std::string& path, bool is_last) {
    const ObjectMembers chunk = members_.at(path);
    const StoredNumbers* const coordinates = chunk.numbers("fCoordinates");
    const StoredNumbers* const contents = chunk.numbers("fContent");
    const StoredNumbers* const squares = chunk.numbers("fSumw2");
    const std::int64_t cell_size = chunk.integer("fSingleCoordinateSize", 0);
    if (!coordinates || !contents || contents->packing || cell_size < 1)
      return misfit(path, coordinates ? coordinates->bytes.size() : 0, contents ? contents->count() : 0, cell_size);
    if (bins_.cell_size == 0) bins_.cell_size = static_cast<std::size_t>(cell_size);
    if (bins_.count() == 0) bins_.dtype = contents->dtype;
    const std::size_t count = coordinates->bytes.size() / bins_.cell_size;
    const bool fits = static_cast<std::size_t>(cell_size) == bins_.cell_size && bins_.dtype == contents->dtype &&
                      count <= contents->count() && (!squares || count <= squares->count()) &&
                      static_cast<std::int64_t>(count) <= bins_.chunk_size &&
                      (is_last || static_cast<std::int64_t>(count) == bins_.chunk_size);
    if (!fits) return misfit(path, coordinates->bytes.size(), contents->count(), cell_size);
    append(bins_.coordinates, coordinates->bytes.first(count * bins_.cell_size));
    append(bins_.contents, contents->bytes.first(count * size_of(bins_.dtype)));
    std::vector<double> weights = chunk.doubles(squares ? "fSumw2" : "fContent");
    weights.resize(count);
    for (const double weight : weights) bins_.squares.push_back(squares ? weight : std::abs(weight));
    return {};
  }

  static void append(std::vector<std::byte>& to, std::span<const std::byte> more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  const ObjectMembers& members_;
  SparseBins bins_;
};

void add_bins(SparseBins& to, SparseBins from) {
  if (to.count() == 0) {
    to.cell_size = from.cell_size;
    to.dtype = from.dtype;
  }
  to.coordinates.reserve(to.coordinates.size() + from.coordinates.size());  // so that views of cells stay
  std::unordered_map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < to.count(); ++i) known.emplace(to.cell(i), i);
  for (std::size_t i = 0; i < from.count(); ++i) {
    const auto [place, is_new] = known.try_emplace(from.cell(i), to.count());
    const std::span<std::byte> content = from.content(i);
    if (!is_new) {
      add_stored(to.content(place->second), {content, to.dtype});
      to.squares[place->second] += from.squares[i];
      continue;
    }
    const auto cell = std::as_bytes(std::span(from.cell(i)));
    to.coordinates.insert(to.coordinates.end(), cell.begin(), cell.end());
    to.contents.insert(to.contents.end(), content.begin(), content.end());
    to.squares.push_back(from.squares[i]);
  }
}

// The chunks of these bins, as items of a TObjArray.
class ChunkWriter {
 public:
  ChunkWriter(SparseBins& bins, std::string_view array, std::uint16_t version)
      : bins_(bins), array_(array), version_(version) {}

  std::size_t count() const { return (bins_.count() + room() - 1) / room(); }

  std::vector<std::byte> write() {
    const std::size_t opened = out_.open_array(static_cast<std::int32_t>(count()));
    for (std::size_t first = 0; first < bins_.count(); first += room())
      chunk(first, std::min(room(), bins_.count() - first));
    out_.close(opened);
    return out_.take();
  }

 private:
  std::size_t room() const { return static_cast<std::size_t>(bins_.chunk_size); }

  void chunk(std::size_t first, std::size_t count) {
    const std::size_t slot = out_.open_pointer(kChunk), frame = out_.open(version_);
    out_.tobject(kOnHeapBits);
    const std::size_t coordinates = count * bins_.cell_size, size = size_of(bins_.dtype);
    out_.big(static_cast<std::int32_t>(bins_.cell_size));
    out_.big(static_cast<std::int32_t>(coordinates));
    out_.u1(1);  // they are there
    out_.bytes(std::span(bins_.coordinates).subspan(first * bins_.cell_size, coordinates));
    const std::size_t contents = open_array(array_);
    out_.bytes(std::span(bins_.contents).subspan(first * size, count * size));
    out_.zeros((room() - count) * size);
    out_.close(contents);
    if (bins_.has_squares) {
      const std::size_t squares = open_array("TArrayD");
      for (std::size_t i = first; i < first + count; ++i) out_.big(bins_.squares[i]);
      out_.zeros((room() - count) * sizeof(double));
      out_.close(squares);
    } else {
      out_.null_pointer();
    }
    out_.close(frame);
    out_.close(slot);
  }

  std::size_t open_array(std::string_view class_name) {
    const std::size_t opened = out_.open_pointer(class_name);
    out_.big(static_cast<std::int32_t>(room()));
    return opened;
  }

  SparseBins& bins_;
  const std::string_view array_;
  const std::uint16_t version_;
  ObjectAppender out_{0};
};

Result<std::uint16_t> chunk_version(const StreamerInfos& infos) {
  const StreamerInfo* const info = infos.newest(kChunk);
  const auto name_of = [](const StreamerElement& element) -> std::string_view { return element.name; };
  if (info == nullptr || !std::ranges::equal(info->elements, kChunkMembers, {}, name_of))
    return fail(ErrorKind::unsupported, "its chunks are described differently from those of ROOT");
  return static_cast<std::uint16_t>(info->version);
}

// THnSparseT<TArrayF>, by which its chunks have one.
Result<std::string_view> array_of(std::string_view class_name, Dtype dtype) {
  for (const auto& [name, stored] : kArrays) {
    if (class_name.ends_with("<" + std::string(name) + ">") && stored == dtype) return name;
  }
  return fail(ErrorKind::unsupported, "its contents are of a different type");
}

Result<> replace_chunks(SummedPayload& to, const std::string& path, SparseBins& bins) {
  const auto place = to.members.at(path).list_place("fBinContent.arr");
  if (!place)
    return fail(ErrorKind::damaged, "THnSparse" + (path.empty() ? path : " " + path) + ": no list in fBinContent");
  TRY(const std::uint16_t version, chunk_version(*to.infos));
  TRY(const std::string_view array, array_of(to.class_at(path), bins.dtype));
  ChunkWriter writer(bins, array, version);
  const std::uint64_t room = writer.count() * static_cast<std::uint64_t>(bins.chunk_size);
  if (room * (size_of(bins.dtype) + sizeof(double)) + bins.coordinates.size() >= kByteCountBit)
    return fail(ErrorKind::unsupported, "the result would exceed 1 GiB");
  const std::vector<std::byte> written = writer.write();
  TRY(const PayloadPlaces chunks, PayloadPlaces::read(*to.infos, "TObjArray", written, 0));
  // The number of items and the lower bound of indices are in front of them.
  constexpr std::size_t kNumber = sizeof(std::int32_t);
  const std::size_t head = chunks.slots().front().begin - 2 * kNumber;
  PayloadChange change{place->count_at, place->end, {}};
  change.parts.push_back({std::span(written).subspan(head, kNumber)});
  change.parts.push_back({std::span(to.payload).subspan(place->count_at + kNumber, kNumber)});
  change.parts.push_back({std::span(written).subspan(head + 2 * kNumber), &chunks});
  PayloadChanges changes(to);
  changes.add(std::move(change));
  return changes.apply();
}

// For fills with weights THnBase keeps moments, for all that had no squares of weights it has none.
Result<> add_moments(SummedPayload& to, const std::string& path, const SummedPayload& from, std::size_t filled) {
  const ObjectMembers own = to.members.at(path), others = from.members.at(path);
  const std::span<std::byte> count = to.bytes_of(own, "fFilledBins");
  if (count.size() != sizeof(std::int64_t))
    return fail(ErrorKind::damaged, "THnSparse: fFilledBins has " + std::to_string(count.size()) + " bytes, expected " +
                                        std::to_string(sizeof(std::int64_t)));
  store_big(count.data(), static_cast<std::int64_t>(filled));
  constexpr std::array kEntries{"fEntries"};
  constexpr std::array kMomentsOfAll{"fTsumw", "fTsumwx", "fTsumwx2"};
  TRY_VOID(add_members(to, path, from, kEntries));
  const double squares = own.number("fTsumw2").value_or(-1), other = others.number("fTsumw2").value_or(-1);
  if (other < 0) return {};
  to.set_double(own, "fTsumw2", std::max(squares, 0.) + other);
  return add_members(to, path, from, kMomentsOfAll);
}

}  // namespace

Result<> add_sparse(SummedPayload& to, const std::string& path, const SummedPayload& from) {
  const ObjectMembers own = to.members.at(path), others = from.members.at(path);
  const std::int64_t dimensions = own.integer("fNdimensions", 0);
  const auto refuse = [](const char* why) { return fail(ErrorKind::unsupported, why); };
  if (dimensions < 1 || dimensions != others.integer("fNdimensions", 0)) return refuse("its axes differ");
  for (std::int64_t i = 0; i < dimensions; ++i) {
    if (!is_same_axis(own, others, "fAxes.arr." + std::to_string(i))) return refuse("its axes differ");
  }
  TRY(SparseBins bins, BinReader(own).run());
  TRY(SparseBins more, BinReader(others).run());
  const bool fits =
      bins.count() == 0 || more.count() == 0 || (bins.cell_size == more.cell_size && bins.dtype == more.dtype);
  if (!fits || bins.chunk_size < 1 || bins.chunk_size > kChunkMax) return refuse("its bins are stored differently");
  bins.has_squares = bins.has_squares || more.has_squares;
  add_bins(bins, std::move(more));
  TRY_VOID(add_moments(to, path, from, bins.count()));
  if (bins.count() == 0) return {};
  TRY(const PayloadPlaces places, from.places());
  TRY_VOID(to.take_descriptions(from, places));
  return replace_chunks(to, path, bins);
}

}  // namespace tfile
