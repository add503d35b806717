// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "object/object_members.h"

namespace tfile {

// An object that another holds: in a pad of a canvas, a stack, a list.
struct ObjectPart {
  std::string path;  // of names, as a directory in the mount: "c_1/energy"
  std::string class_name;
  ObjectMembers members;
};

// Those that have arrays, a plot or a text, and what leads to them, in the order of their paths' directories; names are
// escaped, and told apart where they are the same. At most a thousand, eight levels deep.
std::vector<ObjectPart> object_parts(const StreamerInfos&, const ObjectMembers&);

}  // namespace tfile
