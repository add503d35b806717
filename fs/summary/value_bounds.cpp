// SPDX-License-Identifier: Apache-2.0
#include "summary/value_bounds.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "view/column_pieces.h"
#include "view/row_groups.h"

namespace tfilefs {
namespace {

using Bounds = std::vector<std::int64_t>;

void clamp_all(Bounds& bounds, std::int64_t most) {
  for (std::int64_t& bound : bounds) bound = std::clamp<std::int64_t>(bound, 0, most);
}

// From lists to their first items. `bounds` lives until the reply.
void step_down(const std::shared_ptr<CachedStreams>& streams, const tfile::Column& offsets, ReadUse use, Bounds& bounds,
               Reply<void> reply) {
  auto read = [streams, range = range_of_items(offsets, 0, 0), use, &bounds](std::int64_t length, Reply<void> done) {
    if (length < 1) return clamp_all(bounds, 0), done({});
    clamp_all(bounds, length - 1);  // there is one offset more than lists
    std::vector<Pick> picks;
    constexpr std::uint64_t kSize = sizeof(std::int64_t);
    for (std::size_t i = 0; i < bounds.size(); ++i)
      picks.push_back({static_cast<std::uint64_t>(bounds[i]) * kSize, kSize, i * kSize});
    auto buffer = std::make_shared<tfile::Buffer>(bounds.size() * kSize);
    auto take = [buffer, &bounds] { std::memcpy(bounds.data(), buffer->data(), buffer->size()); };
    pick_items(streams, range, std::move(picks), buffer, use, answer_with<void>(std::move(done), std::move(take)));
  };
  streams->length(offsets.stream, offsets.slot, value_for<std::int64_t>(std::move(reply), std::move(read)));
}

// The bounds of these items as values, if they can be what they are said to be.
Bounds bounds_of_values(Bounds items, std::int64_t per_item, std::int64_t values) {
  const bool is_sound = items.front() == 0 && std::ranges::is_sorted(items) && items.back() <= values / per_item;
  if (!is_sound) return {};
  for (std::int64_t& bound : items) bound *= per_item;
  return items;
}

}  // namespace

void value_bounds(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, tfile::ColumnId id,
                  std::int64_t values, ReadUse use, Reply<Bounds> reply) {
  const tfile::Column& column = table->columns[id];
  const auto per_item = static_cast<std::int64_t>(column.item_size() / tfile::size_of(column.dtype));
  if (per_item < 1) return reply(Bounds());
  Bounds rows = *row_group_bounds(*table);
  if (column.lists.empty()) clamp_all(rows, values / per_item);
  auto step = [streams, table, id, use](std::size_t i, Bounds& bounds, Reply<void> done) {
    step_down(streams, table->columns[table->columns[id].lists[i]], use, bounds, std::move(done));
  };
  auto tell = [per_item, values](Result<Bounds> items) -> Result<Bounds> {
    return items ? bounds_of_values(*std::move(items), per_item, values) : Bounds();
  };
  for_each(column.lists.size(), std::move(rows), std::move(step),
           answer_of_result<Bounds>(std::move(reply), std::move(tell)));
}

}  // namespace tfilefs
