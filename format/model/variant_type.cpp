// SPDX-License-Identifier: Apache-2.0
#include "tfile/variant_type.h"

namespace tfile {

std::string variant_type(std::span<const std::string> alternatives) {
  std::string text = "std::variant<";
  for (const std::string& type : alternatives) text += (text.back() == '<' ? "" : ",") + type;
  return text + ">";
}

}  // namespace tfile
