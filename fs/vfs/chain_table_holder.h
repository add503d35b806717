// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "vfs/chain.h"
#include "vfs/directory.h"

namespace tfilefs {

// The nodes of a table of a chain, and the files made of them, in one state of the chain; node 0 is the table. What is
// entered is of the state that is now; a file of an older state is opened no more (stale), and those that are open
// go on as far as their files have not changed.
std::shared_ptr<const Holder> make_chain_table(std::shared_ptr<Chain>, ChainStatePtr, std::string path);

}  // namespace tfilefs
