// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/source.h"
#include "tfile/table.h"

namespace tfile {

// The table of a TTree (or heir): `payload` is its key's, decompressed; `keylen` the key's length. Opens the files that
// branches are stored in beside the tree's own. A tree of a version not known at all gives a table with a `reason`.
// `warnings`, of the reading of `infos`, join the table's. It reads no basket. Errors: damaged.
Result<std::shared_ptr<const Table>> open_tree(std::shared_ptr<const Source>, std::span<const std::byte> payload,
                                               std::uint32_t keylen, const std::string& class_name,
                                               std::shared_ptr<const StreamerInfos> infos,
                                               const std::vector<std::string>& warnings);

}  // namespace tfile
