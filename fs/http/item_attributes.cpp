// SPDX-License-Identifier: Apache-2.0
#include "http/item_attributes.h"

#include <string_view>

#include "on_behalf.h"
#include "vfs/nodes/xattr.h"

namespace tfilefs {

void attributes_of(FileSystem& fs, InodeId id, WhichAttributes which, Reply<ItemAttributes> reply) {
  auto take = [](const Xattrs& all) -> Result<ItemAttributes> {
    constexpr std::string_view kPrefix = "user.tfilefs.";
    ItemAttributes found;
    for (const auto& [name, value] : all) {
      if (!name.starts_with(kPrefix)) continue;
      TRY(auto shown, xattr_value(all, name));  // no longer than a mount shows it
      found.emplace_back(name.substr(kPrefix.size()), std::move(shown));
    }
    return found;
  };
  auto answer = answer_with<Xattrs>(std::move(reply), std::move(take));
  which == WhichAttributes::all ? fs.all_xattrs(id, std::move(answer)) : fs.listed_xattrs(id, std::move(answer));
}

}  // namespace tfilefs
