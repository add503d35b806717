// SPDX-License-Identifier: Apache-2.0
#include "http/item_attributes.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "on_behalf.h"

namespace tfilefs {
namespace {

constexpr std::string_view kPrefix = "user.tfilefs.";

// Those of the prefix, of names that each end in a NUL; the next one last.
std::vector<std::string> own_names(const std::string& all) {
  std::vector<std::string> names;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end + 1) {
    end = std::min(all.find('\0', begin), all.size());
    const std::string_view name = std::string_view(all).substr(begin, end - begin);
    if (name.starts_with(kPrefix)) names.emplace(names.begin(), name);
  }
  return names;
}

// Asks for one after the other; there are a dozen at most.
void add_attributes(FileSystem& fs, InodeId id, std::vector<std::string> left, ItemAttributes found,
                    Reply<ItemAttributes> reply) {
  if (left.empty()) return reply(std::move(found));
  const std::string name = std::move(left.back());
  left.pop_back();
  auto add = [&fs, id, name, left = std::move(left), found = std::move(found)](std::string value,
                                                                               Reply<ItemAttributes> told) mutable {
    found.emplace_back(name.substr(kPrefix.size()), std::move(value));
    add_attributes(fs, id, std::move(left), std::move(found), std::move(told));
  };
  fs.getxattr(id, name, value_for<std::string>(std::move(reply), std::move(add)));
}

}  // namespace

void attributes_of(FileSystem& fs, InodeId id, Reply<ItemAttributes> reply) {
  auto begin = [&fs, id](const std::string& names, Reply<ItemAttributes> told) {
    add_attributes(fs, id, own_names(names), {}, std::move(told));
  };
  fs.listxattr(id, value_for<std::string>(std::move(reply), std::move(begin)));
}

}  // namespace tfilefs
