// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vfs/chain/chain.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

// The directory of a chain: its tables, in directories as in the files; hidden are .files, with each file under its
// number and name, and .chain.json. In each table also .file.u4 and .entry.i8, found by name. A chain is for the user
// who mounts, and root: others would have to be asked for by each file.
Entry make_chain_root(const std::shared_ptr<Chain>&);

// The directory of several chains, one at least.
using NamedRoots = std::vector<std::pair<std::string, std::shared_ptr<Chain>>>;
Entry make_chains_root(const NamedRoots&);

}  // namespace tfilefs
