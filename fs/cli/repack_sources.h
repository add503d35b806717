// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reply.h"

namespace tfilefs {

// The sources of repack: names of files, with the path of a table behind them, and the expression of a `.where=` at the
// end of it ("" for none).
struct RepackSources {
  std::vector<std::string> names;
  std::string where;
};

// As typed: "FILE/TABLE/.where=EXPR" as well, and paths in a mount of this machine, which stand for what is mounted
// there. Reads the mount's .tfilefs/config.json. Errors: unsupported (several `.where=`; a mount with friends= or
// expressions of its own).
Result<RepackSources> repack_sources(const std::vector<std::string>& typed);

}  // namespace tfilefs
