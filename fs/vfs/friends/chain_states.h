// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "vfs/chain/chain.h"

namespace tfilefs {

// The present states of several chains, in their order. Error: the first that one of them answers. May be called from
// any thread.
void current_states(std::vector<std::shared_ptr<Chain>>, Freshness, Reply<std::vector<ChainStatePtr>>);

}  // namespace tfilefs
