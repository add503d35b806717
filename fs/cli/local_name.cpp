// SPDX-License-Identifier: Apache-2.0
#include "cli/local_name.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "tfile/percent_text.h"

namespace tfilefs {

std::string local_name(std::string word) {
  for (const std::string_view scheme : {"file:///", "file://localhost/"})
    if (word.starts_with(scheme)) {
      const std::string path = word.substr(scheme.size() - 1);
      return tfile::percent_decoded(path).value_or(path);
    }
  const char* const home = std::getenv("HOME");
  if (home && word.starts_with("~/") && ::access(word.c_str(), F_OK) != 0) return home + word.substr(1);
  return word;
}

}  // namespace tfilefs
