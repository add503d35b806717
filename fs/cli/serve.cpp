// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/served_source.h"

namespace tfilefs {

int run_serve(int argc, char** argv) {
  CommandLine command("serve");
  ServeRequest request;
  std::vector<std::string> option_lists;
  std::string token_file;
  double seconds = static_cast<double>(request.request_time.count()), linger = 0;
  command.take("--listen", request.listen);
  command.take("--host", request.hosts);
  command.take("--token-file", token_file);
  command.take_seconds("--timeout", seconds, 1);
  command.take_seconds("--linger", linger, 0);
  command.take("-o", option_lists);
  command.take("SOURCE...", request.sources);
  if (const auto code = command.parse(argc, argv)) return *code;
  auto options = options_or_complaint(option_lists);
  if (!options) return kExitUsage;
  request.options = *std::move(options);
  request.request_time = std::chrono::seconds(static_cast<long>(seconds));
  request.linger = std::chrono::milliseconds(static_cast<long>(linger * 1000));
  if (!token_file.empty()) {
    auto token = read_token(token_file);
    if (!token) return complain(token.error());
    request.token = *std::move(token);
  }
  const auto served =
      serve_source(std::move(request), [](const ServedAt& at) { return tell_url(at, "/?token=" + at.token); });
  return served ? kExitOk : complain(served.error());
}

}  // namespace tfilefs
