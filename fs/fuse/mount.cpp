// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount.h"

#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include "child_program.h"
#include "descriptor.h"
#include "fuse/end_signals.h"
#include "fuse/operation.h"
#include "fuse/operations.h"
#include "fuse/session_io.h"
#include "mutex.h"
#include "printable.h"

namespace tfilefs {
namespace {

using tfile::fail;

// Two are enough on two cores (answers from memory, bench/mount). More only help where several wait for locks.
constexpr unsigned kSessionThreadsMax = 4;

// The size of one asynchronous read-ahead. With the kernel's 128 KiB a cluster would be read in many small requests.
// With more than one request can carry, each page fault in a file mapped for random access would read that much around
// it.
constexpr int kReadAheadKib = 1024;

constexpr const char* kNoHelper = "fusermount3 is not installed: install the package fuse3";

// libfuse reports problems by printing; while mounting, that becomes the text of the error.
Mutex log_mutex{"log_mutex"};
std::string log_text GUARDED_BY(log_mutex);

void collect_log(fuse_log_level, const char* format, va_list arguments) {
  std::array<char, 512> line;
  std::vsnprintf(line.data(), line.size(), format, arguments);
  const Lock lock(log_mutex);
  if (log_text.size() < 4096) log_text += line.data();
}

std::string take_log() {
  const Lock lock(log_mutex);
  std::string text = std::exchange(log_text, {});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.starts_with("fuse: ") ? text.substr(6) : text;
}

class Arguments {
 public:
  explicit Arguments(const MountSettings& settings) {
    fuse_opt_add_arg(&arguments_, "tfilefs");
    char* options = nullptr;
    fuse_opt_add_opt(&options,
                     settings.writable ? "rw,nosuid,nodev,subtype=tfilefs" : "ro,nosuid,nodev,subtype=tfilefs");
    fuse_opt_add_opt(&options, ("max_read=" + std::to_string(kBlockSize)).c_str());
    fuse_opt_add_opt_escaped(&options, ("fsname=" + settings.shown_source).c_str());
    // Without default_permissions the kernel would let every other user in, whatever the mode bits say.
    if (settings.allow_other) fuse_opt_add_opt(&options, "allow_other,default_permissions");
    for (const std::string& option : settings.kernel_options) fuse_opt_add_opt_escaped(&options, option.c_str());
    fuse_opt_add_arg(&arguments_, "-o");
    fuse_opt_add_arg(&arguments_, options);
    if (settings.debug) fuse_opt_add_arg(&arguments_, "-d");
    std::free(options);
  }
  ~Arguments() { fuse_opt_free_args(&arguments_); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  fuse_args* get() { return &arguments_; }

 private:
  fuse_args arguments_ = FUSE_ARGS_INIT(0, nullptr);
};

// The device number of the mount, once it has answered a question about its root; 0 if it never will. A child process
// asks, which does not have the session's descriptor. If this process asked itself and were killed while a thread waits
// for the answer, the kernel would keep that thread, the descriptor and so the connection alive for ever.
dev_t ask_root(fuse_session* session, const std::string& mount_point) {
  std::array<int, 2> answer;
  if (::pipe2(answer.data(), O_CLOEXEC) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(fuse_session_fd(session));
    struct stat root {};
    const bool told = ::stat(mount_point.c_str(), &root) == 0 &&
                      ::write(answer[1], &root.st_dev, sizeof root.st_dev) == sizeof root.st_dev;
    ::_exit(told ? 0 : 1);
  }
  ::close(answer[1]);
  dev_t device = 0;
  end_of_child(child);
  if (child < 0 || ::read(answer[0], &device, sizeof device) != sizeof device) device = 0;
  ::close(answer[0]);
  return device;
}

// Waits until the mount answers, so that programs that wait for `ready` find it answering. Then tells the kernel how
// far to read ahead, which only root may do, and only after the session was set up. `below`: the device that lies under
// the mount; it is the one that answers if the mount was unmounted at once.
void greet(fuse_session* session, const std::string& mount_point, dev_t below) {
  if (mounted_descriptor(mount_point)) return;  // another program's mount: it is not known where
  const dev_t device = ask_root(session, mount_point);
  if (device == 0 || device == below) return;
  std::ofstream(std::string("/sys/class/bdi/") + std::to_string(major(device)) + ":" + std::to_string(minor(device)) +
                "/read_ahead_kb")
      << kReadAheadKib << std::flush;
}

// Gives memory back when there was no request for a minute, longer than a pause between two steps of a job. With
// `idle`, unmounts when nothing is open, there was no request for that long, and nothing is lost by it. Ends with the
// session.
class IdleWatch {
 public:
  IdleWatch(FileSystem& fs, const MountSettings& settings)
      : thread_(std::thread([this, &fs, settings] { watch(fs, settings); })) {}
  ~IdleWatch() {
    {
      const Lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  static constexpr std::chrono::minutes kMemoryIdle{1};

  void watch(FileSystem& fs, const MountSettings& settings) {
    using Clock = std::chrono::steady_clock;
    const auto started = Clock::now();
    const std::chrono::seconds tick(settings.idle ? 1 : 10);
    auto given_back = started;  // the last request when memory was last given back
    auto stays = started;       // when it was last found that unmounting would lose something
    for (;;) {
      {
        const Lock lock(mutex_);
        if (!over_) changed_.wait_for(mutex_, tick);
        if (over_) return;
      }
      const auto last = std::max(fs.last_request(), started);
      if (last > given_back && Clock::now() - last >= kMemoryIdle) {
        fs.give_back_memory();
        given_back = last;
      }
      if (!settings.idle || fs.is_in_use() || Clock::now() - std::max(last, stays) < *settings.idle) continue;
      if (!fs.may_end()) {
        stays = Clock::now();
        continue;
      }
      // A process may still have its working directory here: then this fails with busy, and is tried again later.
      if (unmount(settings.mount_point, false)) return;
    }
  }

  Mutex mutex_{"IdleWatch::mutex_"};
  Condition changed_;
  bool over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Watches MountSettings::lifeline. Ends with the session.
class Lifeline {
 public:
  explicit Lifeline(const MountSettings& settings) : over_(::eventfd(0, EFD_CLOEXEC)) {
    if (settings.lifeline) thread_ = std::thread([this, &settings] { watch(settings); });
  }
  ~Lifeline() {
    ::eventfd_write(over_.get(), 1);
    if (thread_.joinable()) thread_.join();
  }
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

 private:
  void watch(const MountSettings& settings) const {
    std::array<pollfd, 2> waits{pollfd{*settings.lifeline, 0, 0}, pollfd{over_.get(), POLLIN, 0}};
    while (::poll(waits.data(), waits.size(), -1) < 0 && errno == EINTR) {
    }
    if (waits[1].revents != 0) return;
    (void)unmount(settings.mount_point, true);
    ::rmdir(settings.mount_point.c_str());
  }

  const Descriptor over_;
  std::thread thread_;
};

// Idle threads are kept, not ended and started anew.
int loop(fuse_session* session) {
#if FUSE_MAJOR_VERSION == 3 && FUSE_MINOR_VERSION < 12
  fuse_loop_config config{};
  config.max_idle_threads = kSessionThreadsMax;  // of more, it cannot be told how many there may be
  return fuse_session_loop_mt(session, &config);
#else
  fuse_loop_config* config = fuse_loop_cfg_create();
  fuse_loop_cfg_set_clone_fd(config, 0);
  fuse_loop_cfg_set_max_threads(config, kSessionThreadsMax);
  fuse_loop_cfg_set_idle_threads(config, kSessionThreadsMax);
  const int status = fuse_session_loop_mt(session, config);
  fuse_loop_cfg_destroy(config);
  return status;
#endif
}

tl::unexpected<Error> cannot_mount(const MountSettings& settings) {
  std::string why = take_log();
  if (why.empty() && ::geteuid() != 0 && helper_path().empty()) why = kNoHelper;
  return fail(ErrorKind::io, settings.mount_point + ": cannot mount" + (why.empty() ? "" : ": " + why));
}

// All that must work before the first request is answered. A source that does not exist is made only now, so that a
// mount that fails leaves nothing behind.
Result<> begin_session(const Served& served, const MountSettings& settings) {
  if (auto begun = answer_init(served.session, served); !begun) {
    begun.error().text = settings.mount_point + ": " + begun.error().text;
    return begun;
  }
  return served.file_system->make_source();
}

}  // namespace

namespace {

Result<> no_threads(const MountSettings& settings) {
  return fail(ErrorKind::io,
              settings.mount_point + ": cannot mount: no thread could be created (check ulimit -u and -v)", -1, EAGAIN);
}

// Until the session ends. `below`: the device that lies under the mount. Error: no thread can be made; nobody was told
// that the mount is ready then. What waits for the others is made last, since nothing may go wrong behind it.
Result<> answer_requests(fuse_session* session, FileSystem& fs, const MountSettings& settings, dev_t below,
                         const MountEvents& events) try {
  std::atomic<bool> greeted = false, fails = false;
  const IdleWatch idle(fs, settings);
  const Lifeline lifeline(settings);
  std::thread greeter([&] {
    greet(session, settings.mount_point, below);
    greeted = true;
    if (!fails) events.ready();
  });
  // Negative: libfuse has no thread to begin with. Later it goes on with those that it has.
  fails = loop(session) < 0 && !greeted;
  if (!fails) events.ending();
  // A signal may have come before the mount answered: then it never will, and this ends the greeter's question.
  if (!greeted) fuse_session_unmount(session);
  greeter.join();
  return fails ? no_threads(settings) : Result<>();
} catch (const std::system_error&) {
  return no_threads(settings);
}

struct SessionEnd {
  fuse_session* session;
  ~SessionEnd() { fuse_session_destroy(session); }
};

Result<> what_was_lost(const std::vector<std::string>& paths) {
  std::string text = "lost, saved neither to the file nor to a journal:";
  for (const std::string& path : paths) text += " " + path;
  return fail(ErrorKind::no_space, text);
}

}  // namespace

std::optional<int> mounted_descriptor(const std::string& mount_point) {
  constexpr std::string_view kBegin = "/dev/fd/";
  if (!mount_point.starts_with(kBegin)) return std::nullopt;
  int descriptor = 0;
  const char* const begin = mount_point.data() + kBegin.size();
  const char* const end = mount_point.data() + mount_point.size();
  const auto [last, error] = std::from_chars(begin, end, descriptor);
  if (error != std::errc() || last != end || descriptor < 0) return std::nullopt;
  return descriptor;
}

Result<> serve(std::unique_ptr<FileSystem> fs, const MountSettings& settings, const MountEvents& events) {
  if (!settings.debug) fuse_set_log_func(collect_log);
  Arguments arguments(settings);
  Served served;
  served.file_system = fs.get();
  served.trust = {settings.allow_other, settings.ownership};
  // Another program's mount may belong to another namespace of processes.
  if (!mounted_descriptor(settings.mount_point)) served.own_process = ::getpid();
  fuse_session* session = fuse_session_new(arguments.get(), &operations(), sizeof(fuse_lowlevel_ops), &served);
  if (!session) return cannot_mount(settings);
  served.session = session;
  const SessionEnd end{session};
  // Before there is a mount, which a signal would otherwise leave behind.
  const EndSignals signals(served);
  fs->set_kernel(kernel_notices(served));
  struct stat below {};
  ::stat(settings.mount_point.c_str(), &below);
  if (fuse_session_mount(session, settings.mount_point.c_str()) != 0) return cannot_mount(settings);
  auto begun = begin_session(served, settings);
  if (!begun) {
    fuse_session_unmount(session);
    return begun;
  }
  fs->begin_metrics_file();
  const Result<> answered = answer_requests(session, *fs, settings, below.st_dev, events);
  // Requests under way are answered first, while the session still exists. Those that take long are given up.
  served.end.request_stop();
  const std::vector<std::string> lost = fs->end();
  fs.reset();
  fuse_session_unmount(session);
  if (settings.lifeline) ::rmdir(settings.mount_point.c_str());
  if (!answered) return answered;
  return lost.empty() ? Result<>() : what_was_lost(lost);
}

std::string helper_path() {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(std::string("/usr/bin:") + (path ? path : "/bin"));
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string found = (directory.empty() ? "." : directory) + "/fusermount3";
    if (::access(found.c_str(), X_OK) == 0) return found;
  }
  return "";
}

std::string fuse_library_version() { return fuse_pkgversion(); }

Result<> unmount(const std::string& mount_point, bool lazy) {
  if (::geteuid() == 0) {
    if (::umount2(mount_point.c_str(), (lazy ? MNT_DETACH : 0) | UMOUNT_NOFOLLOW) == 0) return {};
    const int number = errno;
    return fail(number == EBUSY ? ErrorKind::busy : ErrorKind::io, mount_point + ": " + std::strerror(number), -1,
                number);
  }
  const std::string helper = helper_path();
  if (helper.empty()) return fail(ErrorKind::io, kNoHelper);
  const Ended ended = run_program(helper, {"fusermount3", lazy ? "-uz" : "-u", "--", mount_point});
  if (ended.status == 0) return {};
  if (ended.status == 127) return fail(ErrorKind::io, helper + ": cannot be run");
  return busy(mount_point + ": cannot be unmounted: " + printable(ended.said));
}

}  // namespace tfilefs
