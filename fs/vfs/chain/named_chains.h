// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mutex.h"
#include "vfs/chain/chain.h"

namespace tfilefs {

// ".chain" -> all files; ".chain=GLOB" -> those whose names match; nothing for other names.
std::optional<std::string> pattern_of_chain(std::string_view name);

// The names of files that belong to the chain of a directory: those that end in ".root", or match the pattern.
class ChainedNames {
 public:
  // Error: invalid (its braces stand for too many patterns).
  static Result<ChainedNames> of(const std::string& pattern);
  bool has(const std::string& name) const;

 private:
  std::vector<std::string> patterns_;  // none: all ROOT files
};

// The chains of directories that are in use, by path. Thread-safe.
class NamedChains {
 public:
  // `make` gives a chain that is not in use yet.
  std::shared_ptr<Chain> get(const std::string& path, const std::function<std::shared_ptr<Chain>()>& make)
      EXCLUDES(mutex_);

 private:
  Mutex mutex_{"NamedChains::mutex_"};
  std::map<std::string, std::weak_ptr<Chain>> known_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
