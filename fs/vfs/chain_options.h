// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "view/chain/chain_schema.h"

namespace tfilefs {

struct ChainOptions {
  ChainPolicy policy = ChainPolicy::common;
  bool skips_missing = false;  // a file that cannot be opened is left out
};

}  // namespace tfilefs
