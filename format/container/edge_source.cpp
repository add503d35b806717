// SPDX-License-Identifier: Apache-2.0
#include "container/edge_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "tfile/buffer.h"

namespace tfile {
namespace {

// For a local file, the header; and the list of keys, with the StreamerInfo of some dozen classes. For a distant file,
// as much as arrives while a request waits anyway, up to the StreamerInfo of a large experiment.
constexpr std::uint64_t kBeginSize = 4096, kEndSize = 64 << 10, kFarSizeMax = 1 << 20;

class EdgeSource final : public Source {
 public:
  explicit EdgeSource(std::shared_ptr<const Source> whole) : whole_(std::move(whole)) {}

  Result<> fill() {
    const std::uint64_t size = whole_->size();
    const std::uint64_t far = std::min(whole_->traits().bytes_in_flight(), kFarSizeMax);
    const std::uint64_t begin = std::min(size, std::max(kBeginSize, far));
    const std::uint64_t end = std::min(size - begin, std::max(kEndSize, far));
    ranges_ = {ByteRange{0, begin}, ByteRange{size - end, end}};
    const std::size_t count = end == 0 ? 1 : 2;
    if (whole_->traits().ranges_max < count || whole_->traits().request_max < begin + end) {
      for (std::size_t i = 0; i < count; ++i) TRY_VOID(fill(i, 1));
      return {};
    }
    return fill(0, count);
  }

  std::size_t memory() const { return sizeof *this + bytes_[0].size() + bytes_[1].size(); }

  const Identity& identity() const override { return whole_->identity(); }
  Result<Identity> identity_now() const override { return whole_->identity_now(); }
  SourceOrigin origin() const override { return whole_->origin(); }
  const std::string& name() const override { return whole_->name(); }
  SourceTraits traits() const override { return whole_->traits(); }
  Result<std::shared_ptr<const Source>> sibling(std::string_view path) const override { return whole_->sibling(path); }

  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    const bool held = std::ranges::all_of(ranges, [&](ByteRange range) { return edge_with(range) != nullptr; });
    if (!held) return whole_->read(ranges, into);
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (ranges[i].size > 0) std::memcpy(into[i].data(), edge_with(ranges[i]), ranges[i].size);
    return {};
  }

 private:
  Result<> fill(std::size_t first, std::size_t count) {
    std::array<std::span<std::byte>, 2> into;
    for (std::size_t i = first; i < first + count; ++i) {
      bytes_[i] = Buffer(ranges_[i].size);
      into[i] = bytes_[i].span();
    }
    return whole_->read(std::span(ranges_).subspan(first, count), std::span(into).subspan(first, count));
  }

  const std::byte* edge_with(ByteRange range) const {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const ByteRange edge = ranges_[i];
      if (range.begin >= edge.begin && range.begin <= edge.end() && range.size <= edge.end() - range.begin)
        return bytes_[i].data() + (range.begin - edge.begin);
    }
    return nullptr;
  }

  const std::shared_ptr<const Source> whole_;
  std::array<ByteRange, 2> ranges_{};
  std::array<Buffer, 2> bytes_;
};

}  // namespace

Result<Edges> with_edges(std::shared_ptr<const Source> source) {
  auto edges = std::make_shared<EdgeSource>(std::move(source));
  TRY_VOID(edges->fill());
  const std::size_t memory = edges->memory();
  return Edges{std::move(edges), memory};
}

}  // namespace tfile
