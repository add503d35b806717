// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <string>
#include <vector>

#include "tfile/file.h"
#include "tfile/result.h"

namespace tfile {

// The parts of a tree that no column shows. Texts to be compared, not to be read: equal ones say
// the same, wherever in a record they stood; "" is none.
struct TreeExtras {
  std::string aliases, user_info;
  double weight = 1;
  bool has_index = false, has_friends = false;
};
// Also of trees that cannot be copied. Blocks. Errors: damaged, unsupported (nothing can be told), io.
Result<TreeExtras> tree_extras(const File&, const KeyInfo& tree);

// "its aliases", "its weight of 2.5", ...: what is lost where columns alone are taken.
std::vector<std::string> names_of(const TreeExtras&);
// The extras of the other tree that differ from the first, and are lost where the first stands for both.
std::vector<std::string> names_of_other(const TreeExtras& first, const TreeExtras& other);

}  // namespace tfile
