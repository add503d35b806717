// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vfs/chain.h"
#include "vfs/directory.h"

namespace tfilefs {

// The directory of a chain: its tables, in directories as in the files; hidden are .files, with each file under its
// number and name, and .chain.json. In each table also .file.u4 and .entry.i8, found by name. A chain is for the user
// who mounts, and root: others would have to be asked for by each file.
std::shared_ptr<const Holder> make_chain_root(std::shared_ptr<Chain>);

// The directory of several chains, one at least.
using NamedRoots = std::vector<std::pair<std::string, std::shared_ptr<Chain>>>;
std::shared_ptr<const Holder> make_chains_root(NamedRoots);

// The nodes of a table of a chain, and the files made of them, in one state of the chain; node 0 is the table. What is
// entered is of the state that is now; a file of an older state is opened no more (stale), and those that are open
// go on as far as their files have not changed.
std::shared_ptr<const Holder> make_chain_table(std::shared_ptr<Chain>, ChainStatePtr, std::string path);

}  // namespace tfilefs
