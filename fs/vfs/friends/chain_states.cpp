// SPDX-License-Identifier: Apache-2.0
#include "vfs/friends/chain_states.h"

#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

using States = std::vector<ChainStatePtr>;

}  // namespace

// One after the other: mostly each answers at once.
void current_states(std::vector<std::shared_ptr<Chain>> chains, Freshness freshness, Reply<States> reply) {
  const std::size_t count = chains.size();
  auto ask = [chains = std::move(chains), freshness](std::size_t i, States& states, Reply<void> done) {
    auto add = [&states](ChainStatePtr state) { states.push_back(std::move(state)); };
    chains[i]->current(freshness, answer_with<ChainStatePtr>(std::move(done), std::move(add)));
  };
  for_each(count, States(), std::move(ask), std::move(reply));
}

}  // namespace tfilefs
