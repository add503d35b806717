// SPDX-License-Identifier: Apache-2.0
#include "view/chain/counts_wanted.h"

#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"

namespace tfilefs {

void want_unknown_counts(std::vector<CountId> ids, std::function<bool(CountId)> is_known,
                         std::function<void(CountId, Reply<StartsPtr>)> want, Reply<void> reply) {
  const std::size_t count = ids.size();
  auto ask = [ids = std::move(ids), is_known = std::move(is_known), want = std::move(want)](std::size_t i,
                                                                                            Reply<void> told) {
    const CountId id = ids[ids.size() - 1 - i];
    if (is_known(id)) return told({});
    want(id, answer_with<StartsPtr>(std::move(told), [](const StartsPtr&) {}));
  };
  for_each(count, std::move(ask), std::move(reply));
}

}  // namespace tfilefs
