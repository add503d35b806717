// SPDX-License-Identifier: Apache-2.0
#include "view/chain/file_visits.h"

namespace tfilefs {

std::vector<tfile::ColumnId> FileVisits::visit(tfile::ColumnId column, std::size_t file) {
  const auto part = static_cast<std::uint32_t>(file);
  history_.note(column, part, part);
  const auto [at, is_new] = last_.try_emplace(column, file);
  if (!is_new && at->second == file) return {};
  at->second = file;
  std::vector<tfile::ColumnId> beside = history_.companions(column, part, part);
  std::erase_if(beside, [&](tfile::ColumnId each) {
    const auto known = last_.find(each);
    return known == last_.end() || known->second >= file;
  });
  for (const tfile::ColumnId each : beside) last_[each] = file;
  return beside;
}

}  // namespace tfilefs
