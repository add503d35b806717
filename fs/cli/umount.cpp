// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/mount_holders.h"
#include "cli/mount_point.h"
#include "cli/mount_table.h"
#include "cli/pending.h"
#include "descriptor.h"
#include "fuse/mount.h"

namespace tfilefs {
namespace {

// The daemon of a mount: its id, and a descriptor on which its end can be waited for; none if it does not answer or is
// in another PID namespace, where the id is that of another process.
struct Daemon {
  bool answers = false;
  bool is_elsewhere = false;  // in another PID namespace
  pid_t pid = -1;
  Descriptor ends{-1};
};

Daemon open_daemon(const std::string& mount_point) {
  std::ifstream config(mount_point + "/.tfilefs/config.json");
  const auto reply = nlohmann::json::parse(config, nullptr, false);
  if (!reply.is_object() || !reply.contains("pid") || !reply["pid"].is_number_integer()) return {};
  const auto pid = reply["pid"].get<pid_t>();
  const auto named = reply.find("pid_namespace");
  if (named == reply.end() || !named->is_number_unsigned() || named->get<std::uint64_t>() != pid_namespace())
    return {true, true, -1, Descriptor()};
  return {true, false, pid, Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
}

// While this exists, a daemon that does not answer for a second (it is stopped, or waits for its storage) is reported.
// With `lazy` the mount is then unmounted without the daemon, and the program ends.
class UnansweredNotice {
 public:
  UnansweredNotice(std::string mount_point, bool lazy)
      : watch_([mount_point = std::move(mount_point), lazy, answered = answered_.get_future()] {
          if (answered.wait_for(std::chrono::seconds(1)) == std::future_status::ready) return;
          // Without access to the mount point, which would hang.
          const std::string whole = std::filesystem::absolute(mount_point).lexically_normal().string();
          const std::string point = whole.ends_with('/') ? whole.substr(0, whole.size() - 1) : whole;
          if (!is_tfilefs_mount(point)) return;
          const std::string silent = point + ": the daemon does not respond";
          if (!lazy) {
            complain(
                {ErrorKind::busy, silent + "; waiting for it (Ctrl-C stops waiting, umount --lazy does not wait)"});
            return;
          }
          const auto done = unmount(point, true);
          if (done)
            complain(
                {ErrorKind::busy, silent + "; unmounted; pending writes will be committed when the daemon resumes"});
          // The main thread may be waiting in the kernel for the daemon.
          std::_Exit(done ? kExitOk : complain(done.error()));
        }) {}
  ~UnansweredNotice() { answered_.set_value(); }

 private:
  std::promise<void> answered_;
  std::jthread watch_;
};

// A program that looks at every mount (df, an indexer) uses each for an instant only. That is not worth an error, so
// unmounting is tried again for a second.
Result<> unmount_soon(const std::string& mount_point) {
  constexpr auto kInstant = std::chrono::milliseconds(50);
  constexpr int kTries = 20;
  for (int tried = 1;; ++tried) {
    auto result = unmount(mount_point, false);
    if (result || result.error().kind != ErrorKind::busy || tried == kTries) return result;
    std::this_thread::sleep_for(kInstant);
  }
}

bool ends_within(const Daemon& daemon, int milliseconds) {
  pollfd wait{daemon.ends.get(), POLLIN, 0};
  int ended = 0;
  while ((ended = ::poll(&wait, 1, milliseconds)) < 0 && errno == EINTR) {
  }
  return ended > 0;
}

// If the daemon does not end within a second, the processes that keep the mount are reported.
void wait_for_end(const Daemon& daemon, const std::string& mount_point, const std::string& device) {
  constexpr int kUnnoticed = 1000;  // milliseconds
  constexpr int kForever = -1;
  if (ends_within(daemon, kUnnoticed)) return;
  const std::string who = "process " + std::to_string(daemon.pid);
  const auto holders = mount_holders(device);
  for (const std::string& holder : holders) complain({ErrorKind::busy, mount_point + ": " + holder, -1, 0});
  complain({ErrorKind::busy,
            mount_point + ": unmounted; waiting for the daemon, " + who +
                (holders.empty() ? ", to complete requests in flight" : "") +
                " (Ctrl-C stops waiting, umount --lazy does not wait)",
            -1, 0});
  ends_within(daemon, kForever);
}

// The files being written, with the programs that write them, a line each. To be called before unmounting: after that
// the path by which a file was opened is no longer known.
std::vector<std::string> writers_of(const std::string& mount_point, const std::vector<std::string>& written) {
  std::vector<std::string> lines;
  const auto uses = written.empty() ? std::vector<MountUse>() : mount_uses(mount_point);
  for (const std::string& path : written) {
    const std::size_t before = lines.size();
    for (const MountUse& use : uses) {
      if (use.path == path && use.how == MountUse::How::open_to_write)
        lines.push_back(path + ": " + use.process + " is writing it");
    }
    if (lines.size() == before) lines.push_back(path + ": an unknown process is writing it");
  }
  return lines;
}

// The result of a commit of the whole mount, and what it left.
struct Committed {
  Result<> result;
  Pending pending;
};

// A file that has just been closed, or whose writer was killed, may still be open in the daemon for an instant. So what
// is said to be written, though no process has it open, is committed again for a second.
Committed commit_mount(const std::string& mount_point) {
  constexpr auto kInstant = std::chrono::milliseconds(50);
  constexpr int kTries = 20;
  for (int tried = 1;; ++tried) {
    // The control directory stands for all files that are written, even if the source is gone.
    auto result = commit_directory(mount_point, mount_point + "/.tfilefs");
    Pending pending = read_pending(mount_point);
    if (pending.written.empty() || tried == kTries || !mount_uses(mount_point).empty())
      return {std::move(result), std::move(pending)};
    std::this_thread::sleep_for(kInstant);
  }
}

// Refuses, because unmounting would lose data, which the user must decide.
int refuse(const std::string& mount_point, const Pending& pending) {
  for (const std::string& line : pending.lines) complain({ErrorKind::busy, "not committed: " + line});
  for (const std::string& path : pending.unkept)
    complain({ErrorKind::no_space, "saved neither to its file nor to the journal: " + path});
  for (const std::string& line : writers_of(mount_point, pending.written)) complain({ErrorKind::busy, line});
  const std::string not_unmounted = mount_point + ": not unmounted: ";
  if (pending.unkept.empty())
    return complain({ErrorKind::busy, not_unmounted + "a file is being written: wait until the writer closes it, or "
                                                      "end the writer; umount --lazy does not wait"});
  return complain({ErrorKind::busy, not_unmounted +
                                        "these files would be lost: free disk space or remove them; umount --lazy "
                                        "discards them"});
}

// Reports the processes that keep the mount from being unmounted.
int tell_who_uses(const std::string& mount_point, const Error& error) {
  constexpr std::size_t kLinesMax = 20;  // a shell's window
  const auto uses = error.kind == ErrorKind::busy ? mount_uses(mount_point) : std::vector<MountUse>();
  for (std::size_t i = 0; i < std::min(uses.size(), kLinesMax); ++i) {
    const std::string path = mount_point + uses[i].path;
    const bool works_there = uses[i].how == MountUse::How::working_directory;
    complain({ErrorKind::busy, uses[i].process + (works_there ? " has " + path + " as its working directory"
                                                              : " has " + path + " open")});
  }
  if (uses.size() > kLinesMax) complain({ErrorKind::busy, "and " + std::to_string(uses.size() - kLinesMax) + " more"});
  return complain(error);
}

// Reports what was not committed, and what becomes of it. `pending` and `writers` are from before unmounting.
int tell_what_is_left(const Pending& pending, const std::vector<std::string>& writers) {
  int code = kExitOk;
  for (const std::string& path : pending.unkept)
    code = complain({ErrorKind::no_space, "lost, saved neither to its file nor to the journal: " + path, -1, 0});
  for (const std::string& line : pending.lines) {
    const bool is_kept = pending.unkept.empty() && pending.written.empty();
    code = complain({ErrorKind::busy, (is_kept ? "not committed, kept in the journal: " : "not committed: ") + line});
  }
  for (const std::string& line : writers)
    code = complain({ErrorKind::busy, line + ": will be committed once the writer closes it"});
  return code;
}

// The daemon of a dead mount is gone: no request is answered, and data in journals is not committed.
int unmount_dead(const std::string& mount_point, const std::string& source, bool lazy) {
  if (const auto done = lazy ? unmount(mount_point, true) : unmount_soon(mount_point); !done)
    return complain(done.error());
  remove_made_mount_point(mount_point);
  int code = kExitOk;
  for (const std::string& line : abandoned_journals(source)) code = complain({ErrorKind::busy, line});
  return code;
}

}  // namespace

int run_umount(int argc, char** argv) {
  CommandLine command("umount");
  std::string mount_point;
  bool lazy = false, discard = false;
  command.take("MNT", mount_point);
  command.take("-z", lazy);
  command.take("--discard", discard);
  if (const auto code = command.parse(argc, argv)) return *code;

  auto notice = std::make_unique<UnansweredNotice>(mount_point, lazy);
  mount_point = absolute_path(mount_point);
  if (!is_tfilefs_mount(mount_point)) return complain(no_mount(mount_point, ": not a mount point of tfilefs"));
  if (const auto source = source_of_dead_mount(mount_point)) return unmount_dead(mount_point, *source, lazy);
  const std::string device = mount_device(mount_point);
  const Daemon daemon = open_daemon(mount_point);
  notice.reset();
  // A daemon that did not say how it is mounted answers nothing else.
  if (discard && daemon.answers) {
    if (const auto done = discard_staged(mount_point); !done) return complain(done.error());
  }
  const auto [committed, pending] = daemon.answers && !discard ? commit_mount(mount_point) : Committed{};
  if (!lazy && !(pending.unkept.empty() && pending.written.empty())) return refuse(mount_point, pending);
  const auto writers = writers_of(mount_point, pending.written);
  const auto result = lazy ? unmount(mount_point, true) : unmount_soon(mount_point);
  if (!result) return tell_who_uses(mount_point, result.error());
  if (!lazy && daemon.ends) wait_for_end(daemon, mount_point, device);
  if (!lazy && daemon.is_elsewhere)
    complain({ErrorKind::busy, mount_point +
                                   ": unmounted here; not waiting for the daemon, which is in another PID namespace; "
                                   "all writes have been committed"});
  const int code = tell_what_is_left(pending, writers);
  return code == kExitOk && !committed ? complain(committed.error()) : code;
}

}  // namespace tfilefs
