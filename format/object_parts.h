// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/object_members.h"

namespace tfile {

// An object inside another one: in a pad of a canvas, a stack, a list.
struct ObjectPart {
  std::string path;  // of names, as a directory in the mount: "c_1/energy"
  std::string class_name;
  ObjectMembers members;
};

// The parts that have arrays, a plot or a text, and the parts on the way to them, in the order of their directories.
// Names are escaped and made unique. At most a thousand parts, up to eight levels deep.
std::vector<ObjectPart> object_parts(const StreamerInfos&, const ObjectMembers&);

// The text of an object that is mostly text (TObjString, TNamed, TParameter, TMacro, strings and lists of them), each
// line ended by a newline; nullopt for other objects.
std::optional<std::string> object_text(const StreamerInfos&, std::string_view class_name, const ObjectMembers&);

}  // namespace tfile
