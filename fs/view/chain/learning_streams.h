// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cluster_cache.h"
#include "view/chain/chain_streams.h"
#include "view/chain/chain_table.h"

namespace tfilefs {

// The columns of a chain's table, of which a read brings along what was read together with the column in other files:
// of small columns all that is in the file, of others what a reader comes to first. Unless `prefetch=learn` the streams
// themselves.
std::shared_ptr<CachedStreams> learning_streams(const ClusterCache&, std::shared_ptr<ChainStreams>,
                                                std::shared_ptr<const ChainTable>);

}  // namespace tfilefs
