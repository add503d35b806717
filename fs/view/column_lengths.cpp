// SPDX-License-Identifier: Apache-2.0
#include "view/column_lengths.h"

#include <atomic>
#include <utility>

namespace tfilefs {
namespace {

// The last length to arrive answers.
struct Gathering {
  Reply<ColumnLengths> reply;
  ColumnLengths lengths;
  std::atomic<std::size_t> left;

  void one_is_there() {
    if (--left > 0) return;
    if (reply.stop_token().stop_requested()) return reply(given_up());
    reply(std::move(lengths));
  }
};

}  // namespace

void column_lengths(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<const tfile::Table>& table,
                    bool may_decode, Reply<ColumnLengths> reply) {
  auto gathering = std::make_shared<Gathering>();
  gathering->reply = std::move(reply);
  gathering->lengths.resize(table->columns.size());
  gathering->left = 1;
  const std::stop_token stop = gathering->reply.stop_token();
  for (std::size_t i = 0; i < table->columns.size(); ++i) {
    const tfile::Column& column = table->columns[i];
    if (stop.stop_requested()) break;
    if (table->is_unread(static_cast<tfile::ColumnId>(i))) continue;
    ++gathering->left;
    const auto take = [gathering, i](auto length) {
      if (length) gathering->lengths[i] = *length;
      gathering->one_is_there();
    };
    if (may_decode)
      streams->length(column.stream, column.slot, Reply<std::int64_t>(take, stop));
    else
      streams->cheap_length(column.stream, column.slot, [take](auto length) { take(std::move(length)); });
  }
  gathering->one_is_there();
}

}  // namespace tfilefs
