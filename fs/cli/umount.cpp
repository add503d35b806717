// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/mount_table.h"
#include "cli/pending.h"
#include "fuse/mount.h"

namespace tfilefs {
namespace {

// A descriptor by which the end of the mount's daemon can be waited for; -1 where it cannot be told who that is.
int open_daemon(const std::string& mount_point) {
  std::ifstream config(mount_point + "/.tfilefs/config.json");
  const auto json = nlohmann::json::parse(config, nullptr, false);
  if (!json.is_object() || !json.contains("pid") || !json["pid"].is_number_integer()) return -1;
  return static_cast<int>(::syscall(SYS_pidfd_open, json["pid"].get<pid_t>(), 0));
}

// Who looks at every mount there is (df, an indexer) has each in use for an instant, which is not what "busy" is to
// say.
Result<> unmount_soon(const std::string& mount_point) {
  constexpr auto kInstant = std::chrono::milliseconds(50);
  constexpr int kTries = 20;
  for (int tried = 1;; ++tried) {
    auto result = unmount(mount_point, false);
    if (result || result.error().kind != ErrorKind::busy || tried == kTries) return result;
    std::this_thread::sleep_for(kInstant);
  }
}

void wait_for_end(int daemon) {
  pollfd wait{daemon, POLLIN, 0};
  while (::poll(&wait, 1, -1) < 0 && errno == EINTR) {
  }
  ::close(daemon);
}

}  // namespace

int run_umount(int argc, char** argv) {
  CLI::App app("Commits what is whole, unmounts, and waits until the daemon is gone.", "tfilefs umount");
  std::string mount_point;
  app.add_option("MNT", mount_point, "the mount point")->required();
  if (const auto code = parse_arguments(app, argc, argv)) return *code;

  mount_point = absolute_path(mount_point);
  if (!is_tfilefs_mount(mount_point))
    return complain({ErrorKind::invalid, mount_point + ": not a mount point of tfilefs", -1, 0});
  const int daemon = open_daemon(mount_point);
  // Nobody answers in a dead mount.
  const auto committed = daemon >= 0 ? commit_directory(mount_point, mount_point) : Result<>{};
  const Pending pending = daemon >= 0 ? read_pending(mount_point) : Pending{};
  const auto result = unmount_soon(mount_point);
  if (!result) {
    if (daemon >= 0) ::close(daemon);
    return complain(result.error());
  }
  if (daemon >= 0) wait_for_end(daemon);
  int code = committed ? kExitOk : complain(committed.error());
  for (const std::string& line : pending.lines)
    code = complain({ErrorKind::busy, "not committed, kept in the journal: " + line, -1, 0});
  return code;
}

}  // namespace tfilefs
