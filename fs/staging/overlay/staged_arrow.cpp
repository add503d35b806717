// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staged_arrow.h"

#include <utility>

#include "array/arrow_columns.h"
#include "staging/overlay/staged_tree.h"

namespace tfilefs {

using tfile::fail;

std::optional<std::string> arrow_table_name(std::string_view file_name) {
  constexpr std::string_view kSuffix = ".arrow";
  if (file_name.size() <= kSuffix.size() || file_name[0] == '.' || !file_name.ends_with(kSuffix)) return std::nullopt;
  return std::string(file_name.substr(0, file_name.size() - kSuffix.size()));
}

Result<StagedTable> read_staged_arrow(const StagedArrow& file, StagingMemory& memory) {
  TRY(const bool whole, is_whole_arrow(*file.node->bytes, file.size));
  if (!whole) return fail(ErrorKind::invalid, "not a complete Arrow IPC file");
  const auto allocate = [&memory](std::size_t size) -> Result<std::shared_ptr<std::byte>> {
    TRY_VOID(memory.make_room(size));
    const std::shared_ptr<StagedBuffer> buffer = memory.buffer(size);
    return std::shared_ptr<std::byte>(buffer, buffer->data());
  };
  TRY(const auto columns, arrow_columns(file.node->bytes, file.size, allocate));
  StagedTable table;
  table.node = file.node;
  table.path = file.table;
  table.format = file.node->format;
  table.arrow_size = file.size;
  table.modified = file.modified;
  for (const ArrowColumn& column : columns) {
    StagedColumn staged;
    staged.node = file.node;
    staged.path = column.path;
    staged.bytes = column.bytes;
    staged.size = column.size;
    table.columns.push_back(std::move(staged));
  }
  return table;
}

}  // namespace tfilefs
