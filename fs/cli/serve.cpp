// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/served_source.h"

namespace tfilefs {
namespace {

// What a program that started this one reads: the first line is a URL.
Result<> tell_url(const ServedAt& at) {
  std::printf("%s/?token=%s\n", at.origin.c_str(), at.token.c_str());
  TRY_VOID(finish_output());
  if (at.is_open_to_others)
    std::fprintf(stderr,
                 "tfilefs: whoever has the token reads what you may read, and others on the network see it: %s\n",
                 "put a proxy with TLS before it");
  return {};
}

}  // namespace

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
  const auto served = serve_source(std::move(request), tell_url);
  return served ? kExitOk : complain(served.error());
}

}  // namespace tfilefs
