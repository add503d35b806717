// SPDX-License-Identifier: Apache-2.0
#include "container/edge_source.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/request.h"

namespace tfile {
namespace {

// The header; and the list of keys, with the StreamerInfo of some dozen classes.
constexpr std::uint64_t kBeginSize = 4096, kEndSize = 64 << 10;

// Bytes of the source that are in memory.
struct Window {
  const Source* source;
  ByteRange range;
  Buffer bytes;
};
using Windows = std::vector<Window>;

Result<Windows> read_windows(const Source& source, std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  Windows windows;
  for (const ByteRange range : ranges) windows.push_back({&source, range, Buffer(range.size)});
  std::vector<ReadRequest> requests;
  for (std::span<Window> left(windows); !left.empty();) {
    const std::size_t count = parts_of_request<Window>(left);
    ReadRequest& request = requests.emplace_back(ReadRequest{&source, {}, {}, {}});
    for (Window& window : left.first(count)) {
      request.ranges.push_back(window.range);
      request.into.push_back(window.bytes.span());
    }
    left = left.subspan(count);
  }
  read_requests(requests);
  for (ReadRequest& request : requests) TRY_VOID(std::move(request.result));
  return windows;
}

class EdgeSource final : public HeldSource {
 public:
  explicit EdgeSource(std::shared_ptr<const Source> whole) : whole_(std::move(whole)) {}

  // A source that is far away holds its ends itself.
  Result<> fill() {
    if (whole_->traits().end_held > 0) return {};
    const std::uint64_t size = whole_->size();
    const std::uint64_t begin = std::min(size, kBeginSize), end = std::min(size - begin, kEndSize);
    std::vector<ByteRange> ranges{{0, begin}};
    if (end > 0) ranges.push_back({size - end, end});
    return hold(std::move(ranges));
  }

  Result<> hold(std::vector<ByteRange> ranges) const override {
    std::erase_if(ranges, [&](ByteRange range) { return range.size == 0 || is_held(range); });
    TRY(Windows read, read_windows(*whole_, std::move(ranges)));
    const std::lock_guard lock(mutex_);
    auto windows = std::make_shared<std::vector<std::shared_ptr<const Window>>>(*windows_);
    for (Window& window : read) windows->push_back(std::make_shared<const Window>(std::move(window)));
    windows_ = std::move(windows);
    return {};
  }

  std::size_t memory() const override {
    const SourceTraits traits = whole_->traits();
    std::size_t bytes = sizeof *this + traits.begin_held + traits.end_held;
    for (const auto& window : *windows()) bytes += window->bytes.size();
    return bytes;
  }

  const Identity& identity() const override { return whole_->identity(); }
  Result<Identity> identity_now() const override { return whole_->identity_now(); }
  SourceOrigin origin() const override { return whole_->origin(); }
  const std::string& name() const override { return whole_->name(); }
  SourceTraits traits() const override { return whole_->traits(); }
  Result<std::shared_ptr<const Source>> sibling(std::string_view path) const override { return whole_->sibling(path); }

  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    return read_held(ranges, into) ? Result<>() : whole_->read(ranges, into);
  }
  void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override {
    if (read_held(ranges, into)) return done({});
    whole_->start_read(ranges, into, std::move(done));
  }

 private:
  using Held = std::shared_ptr<const std::vector<std::shared_ptr<const Window>>>;

  Held windows() const {
    const std::lock_guard lock(mutex_);
    return windows_;
  }

  static const std::byte* find(const Held& windows, ByteRange range) {
    for (const auto& window : *windows) {
      const auto [begin, size] = window->range;
      if (range.begin >= begin && range.begin <= begin + size && range.size <= begin + size - range.begin)
        return window->bytes.data() + (range.begin - begin);
    }
    return nullptr;
  }

  bool is_held(ByteRange range) const {
    const SourceTraits traits = whole_->traits();
    const std::uint64_t size = whole_->size();
    if (range.begin > size || range.size > size - range.begin) return true;  // not to be read: it is damaged
    return range.end() <= traits.begin_held || size - range.begin <= traits.end_held || find(windows(), range);
  }

  bool read_held(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
    const Held held = windows();
    if (!std::ranges::all_of(ranges, [&](ByteRange range) { return find(held, range) != nullptr; })) return false;
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (ranges[i].size > 0) std::memcpy(into[i].data(), find(held, ranges[i]), ranges[i].size);
    return true;
  }

  const std::shared_ptr<const Source> whole_;
  mutable std::mutex mutex_;
  mutable Held windows_ = std::make_shared<std::vector<std::shared_ptr<const Window>>>();  // guarded by mutex_
};

}  // namespace

Result<std::shared_ptr<const HeldSource>> with_edges(std::shared_ptr<const Source> source) {
  auto edges = std::make_shared<EdgeSource>(std::move(source));
  TRY_VOID(edges->fill());
  return std::shared_ptr<const HeldSource>(std::move(edges));
}

}  // namespace tfile
