// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "view/column_pieces.h"
#include "view/view.h"

namespace tfilefs {
namespace {

class ColumnContent : public Content {
 public:
  ColumnContent(std::shared_ptr<CachedStreams> streams, const tfile::Column& column, std::int64_t length)
      : streams_(std::move(streams)), all_(range_of_items(column, 0, length)) {
    if (all_.size > 0) streams_->note_open(all_.stream);
  }
  ~ColumnContent() override {
    if (all_.size > 0) streams_->note_close(all_.stream);
  }
  ColumnContent(const ColumnContent&) = delete;
  ColumnContent& operator=(const ColumnContent&) = delete;

  std::uint64_t size() const override { return all_.size; }

  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    if (offset >= all_.size) return reply(Slices());
    ColumnRange range = all_;
    range.offset = offset;
    range.size = std::min<std::uint64_t>(size, all_.size - offset);
    read_whole(*streams_, range, {.handed_over = true}, std::move(reply));
  }

 private:
  const std::shared_ptr<CachedStreams> streams_;
  const ColumnRange all_;
};

}  // namespace

std::shared_ptr<Content> column_content(std::shared_ptr<CachedStreams> streams, const tfile::Column& column,
                                        std::int64_t length) {
  return std::make_shared<ColumnContent>(std::move(streams), column, length);
}

}  // namespace tfilefs
