// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/result.h"
#include "tfile/writer.h"

namespace tfile {

// A file or directory of columns that are offered to a table. `column` is set for a file.
struct OfferedNode {
  std::string name;  // as in the path
  std::optional<std::uint32_t> column;
  std::vector<OfferedNode> children;  // in the order offered
};

// The columns as files in directories, by their paths, in the order in which the first column of each was offered.
// Errors: invalid (a column lies below another one, or has the path of another one).
Result<std::vector<OfferedNode>> offered_nodes(std::span<const InputColumn>);

// The node's name in the path without its type: as the layout's own names are compared.
std::string_view stem_of(const OfferedNode&);

// The name of the field or member: a directory's own, or the part of a file name before the type.
std::string field_name_of(const OfferedNode&);

// The child that is the offsets of a list; nullptr if there is none.
const OfferedNode* offsets_in(const OfferedNode&, std::span<const InputColumn>);

// Whether the mount would show a member of a record under the name of the node. The other members, which may still
// come, decide whether its first byte is escaped: both is taken. Error: invalid.
Result<> check_member_name(const std::string& path, const OfferedNode& member);

}  // namespace tfile
