// SPDX-License-Identifier: Apache-2.0
#include "http/markup.h"

#include "plot/svg_text.h"

namespace tfilefs {

std::string html_escaped(std::string_view text) {
  std::string escaped;
  append_markup(escaped, text);
  return escaped;
}

}  // namespace tfilefs
