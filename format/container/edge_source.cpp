// SPDX-License-Identifier: Apache-2.0
#include "container/edge_source.h"

#include <algorithm>
#include <cstring>

#include "tfile/buffer.h"
#include "tfile/request.h"

namespace tfile {
namespace {

// The header; and the list of keys, with the StreamerInfo of some dozen classes.
constexpr std::uint64_t kBeginSize = 4096, kEndSize = 64 << 10;

}  // namespace

// Bytes of the source that are in memory.
struct EdgeSource::Window {
  const Source* source;
  ByteRange range;
  Buffer bytes;
};

Result<> EdgeSource::fill(std::vector<Window>& windows) {
  std::vector<ReadRequest> requests;
  for (std::span<Window> left(windows); !left.empty();) {
    const std::size_t count = parts_of_request<Window>(left);
    ReadRequest& request = requests.emplace_back(ReadRequest{left[0].source, {}, {}, {}});
    for (Window& window : left.first(count)) {
      request.ranges.push_back(window.range);
      request.into.push_back(window.bytes.span());
    }
    left = left.subspan(count);
  }
  read_requests(requests);
  for (ReadRequest& request : requests) TRY_VOID(std::move(request.result));
  return {};
}

// A source that is far away holds its ends itself.
Result<std::shared_ptr<const EdgeSource>> EdgeSource::over(std::shared_ptr<const Source> source) {
  const bool holds_ends = source->traits().end_held > 0;
  const std::uint64_t size = source->size();
  const auto edges = std::make_shared<const EdgeSource>(std::move(source));
  if (holds_ends) return edges;
  const std::uint64_t begin = std::min(size, kBeginSize), end = std::min(size - begin, kEndSize);
  std::vector<ByteRange> ranges{{0, begin}};
  if (end > 0) ranges.push_back({size - end, end});
  TRY_VOID(edges->hold(std::move(ranges)));
  return edges;
}

Result<> EdgeSource::hold(std::vector<ByteRange> ranges) const {
  std::erase_if(ranges, [&](ByteRange range) { return range.size == 0 || is_held(range); });
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  std::vector<Window> read;
  for (const ByteRange range : ranges) read.push_back({inner_.get(), range, Buffer(range.size)});
  TRY_VOID(fill(read));
  const Lock lock(mutex_);
  auto windows = std::make_shared<std::vector<std::shared_ptr<const Window>>>(*windows_);
  for (Window& window : read) windows->push_back(std::make_shared<const Window>(std::move(window)));
  windows_ = std::move(windows);
  return {};
}

std::size_t EdgeSource::memory() const {
  const SourceTraits traits = inner_->traits();
  std::size_t bytes = sizeof *this + traits.begin_held + traits.end_held;
  for (const auto& window : *windows()) bytes += window->bytes.size();
  return bytes;
}

Result<> EdgeSource::read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
  return read_held(ranges, into) ? Result<>() : inner_->read(ranges, into);
}

void EdgeSource::start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                            ReadDone done) const {
  if (read_held(ranges, into)) return done({});
  inner_->start_read(ranges, into, std::move(done));
}

void EdgeSource::start_reads(std::vector<Started> reads) const {
  std::vector<Started> left;
  for (Started& read : reads) {
    if (read_held(read.ranges, read.into))
      read.done({});
    else
      left.push_back(std::move(read));
  }
  if (!left.empty()) inner_->start_reads(std::move(left));
}

EdgeSource::Held EdgeSource::windows() const {
  const Lock lock(mutex_);
  return windows_;
}

const std::byte* EdgeSource::find(const Held& windows, ByteRange range) {
  for (const auto& window : *windows) {
    const auto [begin, size] = window->range;
    if (range.begin >= begin && range.begin <= begin + size && range.size <= begin + size - range.begin)
      return window->bytes.data() + (range.begin - begin);
  }
  return nullptr;
}

bool EdgeSource::is_held(ByteRange range) const {
  const SourceTraits traits = inner_->traits();
  const std::uint64_t size = inner_->size();
  if (range.begin > size || range.size > size - range.begin) return true;  // not to be read: it is damaged
  return range.end() <= traits.begin_held || size - range.begin <= traits.end_held || find(windows(), range);
}

bool EdgeSource::read_held(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
  const Held held = windows();
  if (!std::ranges::all_of(ranges, [&](ByteRange range) { return find(held, range) != nullptr; })) return false;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].size > 0) std::memcpy(into[i].data(), find(held, ranges[i]), ranges[i].size);
  return true;
}

}  // namespace tfile
