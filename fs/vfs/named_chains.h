// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mutex.h"
#include "vfs/chain.h"

namespace tfilefs {

// ".chain" -> all files; ".chain=GLOB" -> those whose names match; nothing for other names.
std::optional<std::string> pattern_of_chain(std::string_view name);

// Whether a file of that name belongs to the chain of a directory: it ends in ".root", or matches the pattern.
Result<bool> is_chained(const std::string& pattern, const std::string& name);

// The chains of directories that are in use, by path. Thread-safe.
class NamedChains {
 public:
  std::shared_ptr<Chain> get(MountContext&, const std::string& path, std::unique_ptr<const ChainPlace>)
      EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::map<std::string, std::weak_ptr<Chain>> known_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
