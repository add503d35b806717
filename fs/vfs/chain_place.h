// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tfile/source.h"
#include "vfs/chain.h"

namespace tfilefs {

// The files that these names stand for (chain_names()), local ones and URLs.
std::unique_ptr<const ChainPlace> make_named_place(MountContext&, std::vector<std::string> names, tfile::FarOptions);
std::unique_ptr<const ChainPlace> make_named_place(MountContext&, std::vector<ChainName> names, tfile::FarOptions);

}  // namespace tfilefs
