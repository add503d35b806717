// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "view/damage.h"
#include "view/view.h"

namespace tfilefs {
namespace {

class ColumnContent : public Content {
 public:
  ColumnContent(std::shared_ptr<CachedStreams> streams, const tfile::Column& column, std::int64_t length)
      : streams_(std::move(streams)), stream_(column.stream), slot_(column.slot), item_size_(column.item_size()) {
    const auto items = static_cast<std::uint64_t>(std::max<std::int64_t>(0, length));
    // A file cannot be larger than a signed 64-bit offset.
    constexpr auto kFileMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    size_ = item_size_ > 0 && items > kFileMax / item_size_ ? kFileMax : items * item_size_;
    if (size_ > 0) streams_->note_open(stream_);
  }
  ~ColumnContent() override {
    if (size_ > 0) streams_->note_close(stream_);
  }
  ColumnContent(const ColumnContent&) = delete;
  ColumnContent& operator=(const ColumnContent&) = delete;

  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    if (offset >= size_) return reply(Slices());
    const std::size_t expected = std::min<std::uint64_t>(size, size_ - offset);
    streams_->read(stream_, slot_, item_size_, offset, expected, {.handed_over = true},
                   [offset, expected, reply = std::move(reply)](Result<Slices> slices) mutable {
                     // The size was taken from metadata; chunks that hold less contradict it.
                     if (slices && slices->size() != expected) slices = ends_early(offset, slices->size(), expected);
                     reply(std::move(slices));
                   });
  }

 private:
  const std::shared_ptr<CachedStreams> streams_;
  const tfile::StreamId stream_;
  const std::uint32_t slot_;
  const std::size_t item_size_;
  std::uint64_t size_ = 0;
};

}  // namespace

std::shared_ptr<Content> column_content(std::shared_ptr<CachedStreams> streams, const tfile::Column& column,
                                        std::int64_t length) {
  return std::make_shared<ColumnContent>(std::move(streams), column, length);
}

}  // namespace tfilefs
