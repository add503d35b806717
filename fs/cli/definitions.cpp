// SPDX-License-Identifier: Apache-2.0
#include "cli/definitions.h"

#include <cstdio>
#include <string_view>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "printable.h"
#include "query/query.h"

namespace tfilefs {

Result<std::vector<std::pair<std::string, std::string>>> parse_definitions(const std::vector<std::string>& given) {
  std::vector<std::pair<std::string, std::string>> made;
  for (const std::string& define : given) {
    const std::size_t equal = define.find('=');
    if (equal == std::string::npos || !is_query_name(std::string_view(define).substr(0, equal)) ||
        equal + 1 == define.size() || define[equal + 1] == '=')
      return tfile::fail(ErrorKind::invalid, "--define " + define + ": expected NAME=EXPR");
    made.emplace_back(define.substr(0, equal), define.substr(equal + 1));
  }
  return made;
}

int complain_in_lines(const Error& error) {
  if (!error.text.ends_with('\n')) return complain(error);
  std::string text = "tfilefs: ";
  for (std::string_view rest = error.text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    text += printable(rest.substr(0, end)) + "\n";
    rest.remove_prefix(end + 1);
  }
  std::fputs(text.c_str(), stderr);
  return kExitFailure;
}

}  // namespace tfilefs
