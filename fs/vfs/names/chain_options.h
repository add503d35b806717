// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "view/chain/chain_schema.h"

namespace tfilefs {

struct ChainOptions {
  ChainPolicy policy = ChainPolicy::common;
  bool skips_missing = false;  // a file that cannot be opened is left out
  std::string index;           // where what was learned of the files is kept (chain_index.h); empty: nowhere
};

// A dataset's description of a chain.
struct ChainAbout {
  std::string metadata;                                         // .dataset.json; empty: none
  std::vector<std::pair<std::string, std::string>> attributes;  // user.tfilefs.meta.*
};

}  // namespace tfilefs
