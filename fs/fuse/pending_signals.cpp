// SPDX-License-Identifier: Apache-2.0
#include "fuse/pending_signals.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

namespace tfilefs {
namespace {

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }

// signal(7): these neither end a process nor need a handler.
constexpr std::uint64_t kHarmless = bit_of(SIGCHLD) | bit_of(SIGCONT) | bit_of(SIGURG) | bit_of(SIGWINCH) |
                                    bit_of(SIGSTOP) | bit_of(SIGTSTP) | bit_of(SIGTTIN) | bit_of(SIGTTOU);
constexpr std::uint64_t kStops = bit_of(SIGINT) | bit_of(SIGQUIT) | bit_of(SIGTERM) | bit_of(SIGHUP) | bit_of(SIGALRM);

}  // namespace

bool is_signalled(pid_t thread, Interrupts which) {
  if (which == Interrupts::all || thread == 0) return true;
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  std::map<std::string, std::uint64_t> masks;  // of lines such as "SigPnd:\t0000000000000100"
  for (std::string line; std::getline(status, line);) {
    const std::size_t colon = line.find(':');
    if (colon == 6 && (line.starts_with("Sig") || line.starts_with("Shd")))
      masks[line.substr(0, colon)] = std::strtoull(line.c_str() + colon + 1, nullptr, 16);
  }
  if (!masks.contains("SigPnd")) return true;
  const std::uint64_t waiting = (masks["SigPnd"] | masks["ShdPnd"]) & ~(masks["SigBlk"] | masks["SigIgn"]);
  const std::uint64_t fatal = waiting & ~(masks["SigCgt"] | kHarmless);
  return fatal != 0 || (which == Interrupts::stops && (waiting & kStops) != 0);
}

}  // namespace tfilefs
