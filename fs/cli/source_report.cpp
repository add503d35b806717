// SPDX-License-Identifier: Apache-2.0
#include "cli/source_report.h"

#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"

namespace tfilefs {

int report_on_sources(std::string_view command_name, int argc, char** argv, const SourceReport& report) {
  CommandLine command(command_name);
  std::vector<std::string> sources;
  bool is_json = false;
  command.take("--json", is_json);
  command.take("SOURCE...", sources);
  if (const auto code = command.parse(argc, argv)) return *code;
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  const SourceWords words{.words = std::move(sources), .enters = true, .command = command_name};
  const int code = for_each_source(words, {}, kExitFailure,
                                   [&](const OneSource& one) { return report(one, is_json ? &array : nullptr); });
  if (is_json && (code == kExitOk || !array.empty())) print_json(array);
  return code;
}

}  // namespace tfilefs
