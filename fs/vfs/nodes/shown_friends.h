// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

struct MountContext;

// The friends of a table, as its directory shows them. Const.
class ShownFriends {
 public:
  virtual ~ShownFriends() = default;
  // .friends of the table: a directory for each friend, and beside it the views of it. `from`: what it inherits.
  virtual std::shared_ptr<const Directory> directory(MountContext&, const Provenance& from) const = 0;
  // A column of a friend, or a view of it, by "ALIAS.NAME". Error: not_found, those of opening the friend.
  virtual void find_column(MountContext&, std::string_view name, Reply<FoundEntry>) const = 0;

  // Their aliases, without escapes.
  virtual std::vector<std::string> aliases() const = 0;
  // One of them as it is now: with as many entries as the table, or, if `is_matched` is not set, fewer.
  struct Joined {
    std::uint64_t state = 0;  // a number that no other state has
    std::shared_ptr<const tfile::Table> table;
    std::shared_ptr<CachedStreams> streams;
    bool is_matched = false;  // each entry has one of the friend's or none: the columns are optional
  };
  // Errors: those of opening the friend, and of matching its entries.
  virtual void joined(std::string_view alias, Reply<Joined>) const = 0;
};

}  // namespace tfilefs
