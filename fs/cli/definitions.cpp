// SPDX-License-Identifier: Apache-2.0
#include "cli/definitions.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "printable.h"

namespace tfilefs {

Result<NamedExpressions> parse_definitions(const std::vector<std::string>& given) {
  NamedExpressions made;
  for (const std::string& define : given) {
    auto named = parse_named_expression(define);
    if (!named) return tfile::fail(ErrorKind::invalid, "--define " + define + ": expected NAME=EXPR");
    if (std::ranges::find(made, named->first, &NamedExpressions::value_type::first) != made.end())
      return tfile::fail(ErrorKind::invalid, "--define " + named->first + ": given twice");
    made.push_back(*std::move(named));
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
