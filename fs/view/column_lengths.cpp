// SPDX-License-Identifier: Apache-2.0
#include "view/column_lengths.h"

#include <utility>

#include "exec/when_all.h"
#include "on_behalf.h"

namespace tfilefs {

void column_lengths(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<const tfile::Table>& table,
                    bool may_decode, Reply<ColumnLengths> reply) {
  const std::size_t count = table->columns.size();
  auto ask = [streams, table, may_decode](std::size_t i, ColumnLengths& lengths, Reply<void> answer) {
    const tfile::Column& column = table->columns[i];
    if (table->is_unread(static_cast<tfile::ColumnId>(i))) return answer({});
    const auto take = [&known = lengths[i]](const auto& length, Reply<void> done) {
      if (length) known = *length;
      done({});
    };
    if (may_decode)
      streams->length(column.stream, column.slot, on_behalf_of<std::int64_t>(std::move(answer), take));
    else
      streams->cheap_length(column.stream, column.slot,
                            on_behalf_of<std::optional<std::int64_t>>(std::move(answer), take));
  };
  when_all(count, count, ColumnLengths(count), std::move(ask), std::move(reply));
}

}  // namespace tfilefs
