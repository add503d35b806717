// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "object/object_members.h"

namespace tfile {

// The text of an object that is mostly text (TObjString, TNamed, TParameter, TMacro, strings and lists of them), each
// line ended by a newline; nullopt for other objects.
std::optional<std::string> object_text(const StreamerInfos&, std::string_view class_name, const ObjectMembers&);

}  // namespace tfile
