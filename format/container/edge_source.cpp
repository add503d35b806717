// SPDX-License-Identifier: Apache-2.0
#include "container/edge_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/request.h"

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
    edges_ = {Edge{whole_.get(), {0, begin}, {}}, Edge{whole_.get(), {size - end, end}, {}}};
    for (std::span<Edge> left(edges_.data(), end == 0 ? 1 : 2); !left.empty();) {
      const std::size_t count = parts_of_request<Edge>(left);
      TRY_VOID(read_edges(left.first(count)));
      left = left.subspan(count);
    }
    return {};
  }

  std::size_t memory() const { return sizeof *this + edges_[0].bytes.size() + edges_[1].bytes.size(); }

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
  struct Edge {
    const Source* source;
    ByteRange range;
    Buffer bytes;
  };

  Result<> read_edges(std::span<Edge> edges) {
    std::vector<ByteRange> ranges;
    std::vector<std::span<std::byte>> into;
    for (Edge& edge : edges) {
      edge.bytes = Buffer(edge.range.size);
      ranges.push_back(edge.range);
      into.push_back(edge.bytes.span());
    }
    return whole_->read(ranges, into);
  }

  const std::byte* edge_with(ByteRange range) const {
    for (const Edge& edge : edges_) {
      const auto [begin, size] = edge.range;
      if (range.begin >= begin && range.begin <= begin + size && range.size <= begin + size - range.begin)
        return edge.bytes.data() + (range.begin - begin);
    }
    return nullptr;
  }

  const std::shared_ptr<const Source> whole_;
  std::array<Edge, 2> edges_{};
};

}  // namespace

Result<Edges> with_edges(std::shared_ptr<const Source> source) {
  auto edges = std::make_shared<EdgeSource>(std::move(source));
  TRY_VOID(edges->fill());
  const std::size_t memory = edges->memory();
  return Edges{std::move(edges), memory};
}

}  // namespace tfile
