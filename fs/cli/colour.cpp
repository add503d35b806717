// SPDX-License-Identifier: Apache-2.0
#include "cli/colour.h"

#include <unistd.h>

#include <cstdlib>

namespace tfilefs {

bool has_colours() {
  const char* const unwanted = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = !terminal || std::string_view(terminal) == "dumb";
  return ::isatty(STDOUT_FILENO) == 1 && !is_dumb && !(unwanted && *unwanted != '\0');
}

std::string coloured(std::string_view text, Colour colour) {
  if (colour == Colour::none) return std::string(text);
  const char* const number = colour == Colour::red      ? "31"
                             : colour == Colour::green  ? "32"
                             : colour == Colour::yellow ? "33"
                                                        : "34";
  return "\033[1;" + std::string(number) + "m" + std::string(text) + "\033[0m";
}

}  // namespace tfilefs
