// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "reply.h"
#include "view/chain/chain_schema.h"

namespace tfilefs {

// Where items begin among those of all: in each file of a chain, in each block of a friend's runs; and the end of all.
using StartsPtr = std::shared_ptr<const std::vector<std::int64_t>>;

// As want_counts(), for ids of which the last is not known.
void want_unknown_counts(std::vector<CountId>, std::function<bool(CountId)> is_known,
                         std::function<void(CountId, Reply<StartsPtr>)> want, Reply<void>);

// Answers when all of these counts are known. `want` asks for one that is not; they are asked for one after the other,
// from the last on, as one may make others known. Error: the first that `want` answers. May be called from any thread.
// Each read asks, and mostly all are known: then nothing is allocated.
template <class IsKnown, class Want>
void want_counts(std::vector<CountId> ids, IsKnown is_known, Want want, Reply<void> reply) {
  while (!ids.empty() && is_known(ids.back())) ids.pop_back();
  if (ids.empty()) return reply({});
  want_unknown_counts(std::move(ids), std::move(is_known), std::move(want), std::move(reply));
}

}  // namespace tfilefs
