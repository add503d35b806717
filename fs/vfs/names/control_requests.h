// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tfilefs {

// A request to a mount by an attribute of .tfilefs: to drop what is staged, before it ends.
inline constexpr const char* kDiscardAttribute = "user.tfilefs.discard";

}  // namespace tfilefs
