// SPDX-License-Identifier: Apache-2.0
#include "repack/open_inputs.h"

#include <string>

#include "descriptor_limit.h"
#include "vfs/nodes/guarded_source.h"

namespace tfilefs {
namespace {

// Files that stay open: each has a descriptor, and what describes it in memory. There may be more files than
// descriptors, and columns are read through descriptors of their own.
std::size_t open_max() {
  constexpr std::size_t kOpenMax = 64, kDescriptors = 8;
  return files_within_limit(kOpenMax, kDescriptors);
}

// Reads of a file that is overwritten meanwhile fail, instead of giving a mixture.
Result<std::shared_ptr<const tfile::File>> open_guarded(const std::string& source, const tfile::RemoteOptions& remote) {
  TRY(auto opened, tfile::open_source(source, remote));
  TRY(const auto guarded, GuardedSource::guard(std::move(opened)));
  TRY(auto file, tfile::File::open(guarded));
  guarded->set_saved_end(static_cast<std::uint64_t>(file->header().end));
  return file;
}

}  // namespace

Result<std::shared_ptr<const tfile::File>> OpenInputs::open(std::size_t number) {
  if (const auto known = open_.find(number); known != open_.end()) return known->second;
  auto file = open_guarded(names_[number].file, remote_);
  const std::string name = tfile::shown_name(names_[number].file);
  if (!file && !file.error().text.starts_with(name)) file.error().text.insert(0, name + ": ");
  if (file && open_.size() < open_max()) open_.emplace(number, *file);
  return file;
}

}  // namespace tfilefs
