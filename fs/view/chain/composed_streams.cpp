// SPDX-License-Identifier: Apache-2.0
#include "view/chain/composed_streams.h"

#include <algorithm>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"

namespace tfilefs {

void ComposedStreams::run_view_job(std::function<void()> job) {
  cache_.exec().view_workers.run(std::move(job), Urgency::awaited);
}

std::optional<std::int64_t> ComposedStreams::known_length(tfile::StreamId id, std::uint32_t) const {
  const std::int64_t items = items_known(composed_->chained(id).count);
  if (items < 0) return std::nullopt;
  return items + (composed_->columns[id].role == tfile::Role::offsets ? 1 : 0);
}

void ComposedStreams::length(tfile::StreamId id, std::uint32_t slot, Reply<std::int64_t> reply) {
  auto done = [self = shared_from_this(), id, slot] { return *self->known_length(id, slot); };
  want_all({composed_->chained(id).count}, answer_with<void>(std::move(reply), std::move(done)));
}

void ComposedStreams::cheap_length(tfile::StreamId id, std::uint32_t slot, Reply<std::optional<std::int64_t>> reply) {
  reply(known_length(id, slot));
}

// One after the other, as one may make others known.
void ComposedStreams::want_all(std::vector<CountId> ids, Reply<void> reply) {
  const std::size_t count = ids.size();
  auto ask = [self = shared_from_this(), ids = std::move(ids)](std::size_t i, Reply<void> done) {
    if (self->items_known(ids[i]) >= 0) return done({});
    self->want(ids[i], answer_with<StartsPtr>(std::move(done), [](const StartsPtr&) {}));
  };
  for_each(count, std::move(ask), std::move(reply));
}

// Mostly all counts are known, and nothing is allocated for them.
void ComposedStreams::read(tfile::StreamId id, std::uint32_t, std::size_t item_size, std::uint64_t offset,
                           std::size_t size, ReadUse use, Reply<Slices> reply) {
  if (id >= composed_->columns.size() || item_size == 0)
    return reply(tfile::fail(ErrorKind::invalid, "no such column"));
  const Request request{id, offset, offset + size, use};
  const ChainColumn& column = composed_->chained(id);
  const auto is_known = [this](CountId count) { return items_known(count) >= 0; };
  if (is_known(column.count) && std::ranges::all_of(column.held, is_known))
    return read_known(request, std::move(reply));
  std::vector<CountId> needed{column.count};
  needed.insert(needed.end(), column.held.rbegin(), column.held.rend());
  auto go_on = [self = shared_from_this(), request](Reply<Slices> done) { self->read_known(request, std::move(done)); };
  want_all(std::move(needed), value_for<void>(std::move(reply), std::move(go_on)));
}

}  // namespace tfilefs
