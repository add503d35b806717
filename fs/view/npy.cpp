// SPDX-License-Identifier: Apache-2.0
#include "array/npy.h"

#include <algorithm>

#include "view/view.h"

namespace tfilefs {
namespace {

// A generated header, then the bytes of the column as they are.
class NpyContent : public Content {
 public:
  NpyContent(std::string header, std::shared_ptr<Content> column)
      : header_(std::make_shared<const std::string>(std::move(header))), column_(std::move(column)) {}

  std::uint64_t size() const override { return header_->size() + column_->size(); }

  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    if (offset >= header_->size()) return column_->read(offset - header_->size(), size, std::move(reply));
    Slices head;
    const auto bytes = std::as_bytes(std::span(*header_)).subspan(offset);
    head.pieces.push_back(bytes.first(std::min(size, bytes.size())));
    head.pins.push_back(header_);
    const std::size_t rest = size - head.pieces[0].size();
    if (rest == 0) return reply(std::move(head));
    column_->read(0, rest, [head = std::move(head), reply = std::move(reply)](Result<Slices> body) mutable {
      if (!body) return reply(std::move(body));
      head.pieces.insert(head.pieces.end(), body->pieces.begin(), body->pieces.end());
      std::move(body->pins.begin(), body->pins.end(), std::back_inserter(head.pins));
      reply(std::move(head));
    });
  }

 private:
  const std::shared_ptr<const std::string> header_;
  const std::shared_ptr<Content> column_;
};

}  // namespace

std::shared_ptr<Content> npy_content(std::shared_ptr<CachedStreams> streams, const tfile::Column& column,
                                     std::int64_t length) {
  return std::make_shared<NpyContent>(npy_header(column.dtype, column.shape, std::max<std::int64_t>(0, length)),
                                      column_content(std::move(streams), column, length));
}

}  // namespace tfilefs
