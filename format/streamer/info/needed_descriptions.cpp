// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/needed_descriptions.h"

#include <algorithm>
#include <set>

#include "streamer/info/cpp_type.h"

namespace tfile {
namespace {

// The classes that a type names, with and without their arguments.
void add_names(const CppType& type, std::vector<std::string>& into) {
  into.push_back(type.key());
  for (const CppType& argument : type.arguments) add_names(argument, into);
}

}  // namespace

std::vector<const StreamerInfo*> needed_descriptions(const StreamerInfos& infos, std::span<const std::string> types) {
  std::vector<std::string> left;
  for (const std::string& type : types) add_names(parse_cpp_type(type), left);
  std::set<std::string> seen;
  while (!left.empty()) {
    const std::string name = std::move(left.back());
    left.pop_back();
    if (!seen.insert(name).second) continue;
    for (const auto& info : infos.from_file()) {
      if (info->class_name != name) continue;
      for (const StreamerElement& element : info->elements)
        add_names(parse_cpp_type(is_base(element) ? element.name : element.type_name), left);
    }
  }
  std::vector<const StreamerInfo*> needed;
  for (const auto& info : infos.from_file()) {
    if (seen.contains(info->class_name)) needed.push_back(info.get());
  }
  return needed;
}

}  // namespace tfile
