// SPDX-License-Identifier: Apache-2.0
#include "repack/open_inputs.h"

#include "descriptor_limit.h"
#include "root_file.h"

namespace tfilefs {
namespace {

// Files that stay open: each has a descriptor, and what describes it in memory. There may be more files than
// descriptors, and columns are read through descriptors of their own.
std::size_t open_max() {
  constexpr std::size_t kOpenMax = 64, kDescriptors = 8;
  return files_within_limit(kOpenMax, kDescriptors);
}

}  // namespace

Result<std::shared_ptr<const tfile::File>> OpenInputs::open(std::size_t number) {
  if (const auto known = open_.find(number); known != open_.end()) return known->second;
  TRY(auto file, open_root_file(names_[number].file, far_));
  if (open_.size() < open_max()) open_.emplace(number, file);
  return file;
}

}  // namespace tfilefs
