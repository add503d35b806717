// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

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
};

}  // namespace tfilefs
