// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/absolute_paths.h"
#include "cli/background.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/first_steps.h"
#include "cli/mount_guard.h"
#include "cli/mount_point.h"
#include "cli/mount_table.h"
#include "cli/open_file_limit.h"
#include "cli/options.h"
#include "cli/root_files_below.h"
#include "cli/service_notice.h"
#include "cli/source_names.h"
#include "cli/version.h"
#include "descriptor.h"
#include "log.h"
#include "printable.h"
#include "tfile/disk_cache.h"
#include "vfs/metrics_file.h"
#include "vfs/names/path_pattern.h"

namespace tfilefs {
namespace {

using tfile::fail;

// Names the README, which tells what a listing of the mount does not show. `hidden`: as hidden_by_own().
std::string greeting(const std::string& mount_point, const std::string& hidden) {
  const std::string told = hidden.empty() ? "" : "tfilefs: " + printable(hidden) + "\n";
  if (mounted_descriptor(mount_point)) return "tfilefs: answers " + mount_point + "\n" + told;
  std::string directory = mount_point;
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  return "tfilefs: mounted; see " + printable(directory) + "/.tfilefs/README\n" + told;
}

// For who names the mount point first: it is a directory, or nothing yet, and the other is a file. Empty: it is not so.
std::string swapped_arguments(const std::vector<std::string>& sources, const std::string& mount_point) {
  struct stat status {};
  if (sources.size() != 1 || ::stat(mount_point.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  const bool is_there = ::stat(sources[0].c_str(), &status) == 0;
  if (tfile::is_url(sources[0]) || (is_there && !S_ISDIR(status.st_mode))) return "";
  return mount_point + ": is a file, no mount point; did you mean tfilefs " + mount_point + " " + sources[0] + "?";
}

// For who names several files by a pattern, or what is inside a file. Empty: it is not so.
std::string more_than_a_file(const std::string& source, const std::string& mount_point) {
  struct stat status {};
  if (tfile::is_url(source) || ::stat(source.c_str(), &status) == 0) return "";
  const std::string told = source + ": " + std::strerror(errno);
  if (has_pattern(source)) return told + "; files of a pattern are mounted as one: did you mean -o chain?";
  const SourcePath split = split_source(source);
  if (split.inside.empty() || ::stat(split.source.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  return told + "; a mount shows all of a file: did you mean tfilefs " + split.source + " " + mount_point + "?";
}

// A file that is made can have the signs of patterns in its name: a backslash before each tells that they stand for
// themselves.
std::string made_source(const std::string& source) {
  struct stat status {};
  const std::string plain = unescaped(source);
  return ::stat(source.c_str(), &status) != 0 && as_pattern(plain) == source ? plain : source;
}

struct MountRequest {
  std::string source, mount_point;   // absolute, or a URL
  std::vector<std::string> sources;  // of a chain
  MountOptions options;
  bool foreground = false, debug = false, quiet = false, verbose = false;
  std::string tries_at;  // the mount point as it was given, to name first steps at; empty: nobody would read them
};

// The mistake in the arguments, and what was meant; empty: there is none.
std::string meant_otherwise(const MountRequest& request, const std::string& mount_point) {
  const std::string swapped = swapped_arguments(request.sources, mount_point);
  if (!swapped.empty() || request.options.chain) return swapped;
  return more_than_a_file(request.sources[0], mount_point);
}

// The mount point, and what becomes of it: only the mount that stood on it, or the one that made it, takes it away.
struct Place {
  MountPoint point;
  PlaceHold hold;  // until the mount stands, or has failed
  bool has_stood = false;
};

Result<> take_mount_point(const MountRequest& request, Place& place) {
  if (!mounted_descriptor(request.mount_point)) {
    // A mount that fails takes away what it has made, and others may have waited for.
    do {
      TRY(place.point, prepare_mount_point(request.mount_point, request.options.nonempty));
      place.hold = PlaceHold(request.mount_point);
    } while (!place.hold.is_still_at(request.mount_point));
    return {};
  }
  if (!request.options.idle && !request.options.lifeline && !request.options.auto_unmount) return {};
  return fail(ErrorKind::invalid, request.mount_point +
                                      ": unmounted by the program that mounted it, so "
                                      "idle=, lifeline= and auto_unmount cannot be");
}

// A file has its journal beside it, and so has one that will be made. Below a directory that its user may not write
// there can be files that he may, but not on a file system that is read-only.
Result<> check_writable(const std::string& source) {
  struct stat status {};
  const bool is_directory = ::stat(source.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  const std::string above = std::filesystem::path(source).parent_path();
  for (const std::string& path : {source, is_directory ? source : above}) {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0) continue;
    const int number = errno;
    if (number == EROFS || ((number == EACCES || number == EPERM) && !is_directory))
      return fail(ErrorKind::denied,
                  path + ": cannot be written (" + std::strerror(number) + "): mount without rw, or write elsewhere",
                  -1, number);
  }
  return {};
}

Result<> check(const MountRequest& request) {
  if (request.options.file_system.write && !request.options.chain && !tfile::is_url(request.source))
    TRY_VOID(check_writable(request.source));
  if (const std::string& page = request.options.file_system.metrics_file; !page.empty())
    TRY_VOID(check_metrics_file(page));
  if (const std::string& log = request.options.log_file; !log.empty()) {
    // Lines would be appended to it.
    if (begins_as_root_file(log)) return fail(ErrorKind::exists, log + ": a ROOT file: name another for the log");
    TRY_VOID(begin_log_file(log));
  }
  const std::string& cache = request.options.file_system.remote.cache_directory;
  const auto& friends = request.options.file_system.friends;
  const bool is_remote =
      std::any_of(request.sources.begin(), request.sources.end(), tfile::is_url) ||
      std::ranges::any_of(friends, [](const NamedFriend& each) { return tfile::is_url(each.source); });
  if (is_remote && !cache.empty()) TRY_VOID(tfile::prepare_cache_directory(cache));
  return {};
}

// If the mount point lies inside a mirrored directory, the mirror must not lead into itself.
std::string hidden_path(const MountRequest& request) {
  const std::string below = request.source == "/" ? "/" : request.source + "/";
  return request.mount_point.starts_with(below) ? request.mount_point.substr(below.size()) : "";
}

// The mount's own directory has the name of something that the mirrored one has; "" if it does not.
std::string hidden_by_own(const MountRequest& request) {
  if (request.options.chain || tfile::is_url(request.source)) return "";
  const std::string own = request.source + "/.tfilefs";
  struct stat status {};
  if (::lstat(own.c_str(), &status) != 0) return "";
  return own + " is hidden by the mount's own .tfilefs, and is left unchanged";
}

// As the table of mounts shows it.
std::string shown_source(const MountRequest& request) {
  return request.options.shown_source.value_or(tfile::shown_name(request.source));
}

LogOptions log_options(const MountRequest& request) {
  using To = LogOptions::To;
  LogOptions log;
  log.file = request.options.log_file;
  log.to = !log.file.empty() ? To::file : request.foreground ? To::standard_error : To::syslog;
  log.form = request.options.log_form;
  log.mount = request.mount_point;
  log.source = shown_source(request);
  log.least = request.options.log.value_or(log.to == To::standard_error ? Severity::error : Severity::info);
  return log;
}

// As libselinux tells it.
bool has_selinux() { return ::access("/sys/fs/selinux/enforce", F_OK) == 0; }

// With the contexts of SELinux, which mount(8) leaves out, too, where it is off.
std::vector<std::string> kernel_options(const MountOptions& options) {
  std::vector<std::string> all = options.kernel_options;
  if (has_selinux()) all.insert(all.end(), options.contexts.begin(), options.contexts.end());
  return all;
}

MountSettings settings_of(const MountRequest& request) {
  MountSettings settings;
  settings.mount_point = request.mount_point;
  settings.shown_source = shown_source(request);
  settings.kernel_options = kernel_options(request.options);
  settings.allow_other = request.options.allow_other;
  settings.ownership = request.options.file_system.ownership;
  settings.debug = request.debug;
  settings.idle = request.options.idle;
  settings.lifeline = request.options.lifeline;
  settings.writable = request.options.file_system.write.has_value();
  return settings;
}

// Serves, and tells the log and the manager of services how it goes. `says_error`: the command says an error where the
// log is, too. `hidden`: as hidden_by_own().
Result<> serve_and_tell(std::unique_ptr<FileSystem> fs, const MountSettings& settings, const std::string& hidden,
                        Log& log, bool says_error, const std::function<void()>& ready) {
  const ServiceNotice notice;
  const std::string what = printable(settings.shown_source) + " on " + printable(settings.mount_point);
  MountEvents events;
  events.ready = [&] {
    ready();
    notice.tell("READY=1\nSTATUS=" + what + "\nMAINPID=" + std::to_string(::getpid()));
    log.add(Severity::info, "mounted " + what + (settings.writable ? ", read-write" : ", read-only"));
    if (!hidden.empty()) log.add(Severity::warn, printable(hidden));
  };
  events.ending = [&] { notice.tell("STOPPING=1\nSTATUS=" + what + ": ending, committing what was written"); };
  auto served = serve(std::move(fs), settings, events);
  if (!served && !says_error) log.add(Severity::error, message_of(served.error()));
  log.tell_numbers();
  log.add(Severity::info, "ended " + what);
  return served;
}

// The log is that of the process meanwhile.
class WithLog {
 public:
  explicit WithLog(Log& log) { set_process_log(&log); }
  ~WithLog() { set_process_log(nullptr); }
  WithLog(const WithLog&) = delete;
  WithLog& operator=(const WithLog&) = delete;
};

// The text when the mount answers: a line that names first steps, or nothing. No server is asked for it.
std::string steps_of(const MountRequest& request, FileSystem& fs) {
  const bool is_remote = std::any_of(request.sources.begin(), request.sources.end(), tfile::is_url);
  return request.tries_at.empty() || is_remote ? "" : first_steps(fs, request.tries_at);
}

using Ready = std::function<void(const std::string& more)>;

// `ready` is called when the mount answers.
Result<> mount_and_serve(MountRequest& request, Place& place, const Ready& ready) {
  TRY_VOID(take_mount_point(request, place));
  std::optional<MountGuard> guard;
  if (request.options.auto_unmount) guard.emplace(request.mount_point);
  TRY_VOID(check(request));
  TRY_VOID(clear_dead_mount(request.mount_point));
  Log log(log_options(request));
  const WithLog told(log);
  const auto config = [&](ConfigForm form) {
    return config_text(request.sources, request.mount_point, request.options, form);
  };
  if (request.options.log == Severity::debug) log.add(Severity::debug, "options " + config(ConfigForm::one_line));
  const MountSettings settings = settings_of(request);
  request.options.file_system.config_json = config(ConfigForm::lines);
  request.options.file_system.names = {settings.mount_point, settings.shown_source};
  TRY(auto fs, request.options.chain
                   ? FileSystem::open_chain(request.sources, *request.options.chain, request.options.file_system)
                   : FileSystem::open(request.source, request.options.file_system, hidden_path(request)));
  if (settings.writable) {
    // The umask of the process that makes a file counts, and the kernel has applied it already. This process's own
    // umask is for its own files.
    process_owner();
    ::umask(0);
  }
  const std::string more =
      steps_of(request, *fs) + (request.verbose ? "tfilefs: options " + config(ConfigForm::one_line) + "\n" : "");
  const bool says_error = log_options(request).to == LogOptions::To::standard_error;
  return serve_and_tell(std::move(fs), settings, hidden_by_own(request), log, says_error, [&] {
    place.has_stood = true;
    place.hold = PlaceHold();
    ready(more);
  });
}

// An exception here is a lack: of threads, or memory.
Result<> mount_or_say_why(MountRequest request, const Ready& ready) {
  Place place;
  const Result<> served = [&]() -> Result<> {
    try {
      return mount_and_serve(request, place, ready);
    } catch (const std::exception& error) {
      return fail(ErrorKind::io, printable(request.mount_point) + ": cannot mount: " + error.what());
    }
  }();
  if (place.has_stood && place.point.goes)
    remove_mount_point(request.mount_point, PlaceHold(request.mount_point));
  else if (!place.has_stood && place.point.is_made)
    remove_mount_point(request.mount_point, place.hold);
  return served;
}

void make_absolute(MountRequest& request) {
  make_paths_absolute(request.sources, request.options);
  request.source = request.sources[0];
  if (!mounted_descriptor(request.mount_point)) request.mount_point = absolute_path(request.mount_point);
}

// If standard error is the log, in its form.
int say_failure(const LogOptions& log, const Error& error) {
  if (log.to != LogOptions::To::standard_error || log.form == LogOptions::Form::text) return complain(error);
  Log(log).add(Severity::error, LogEntry{message_of(error), "", error.system_errno});
  return kExitFailure;
}

// `mount_point`: as it was given.
int mount_in_background(MountRequest request, const std::string& mount_point) {
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  if (is_terminal && !request.quiet && !mounted_descriptor(mount_point)) request.tries_at = mount_point;
  Background background(request.quiet ? "" : greeting(mount_point, hidden_by_own(request)));
  const auto result = mount_or_say_why(std::move(request), [&](const std::string& more) { background.ready(more); });
  if (result) return kExitOk;
  background.fail(message_of(result.error()));
  return kExitFailure;
}

}  // namespace

int run_mount(int argc, char** argv) {
  CommandLine command("");
  std::vector<std::string> option_lists;
  MountRequest request;
  command.take("-o", option_lists);
  command.take("-f", request.foreground);
  command.take("-d", request.debug);
  command.take("-q", request.quiet);
  command.take("-v", request.verbose);
  command.tell_version([&] { return version_text(request.verbose); });
  command.take("SOURCE... MNT", request.sources);
  if (const auto code = command.parse(argc, argv)) return *code;

  auto options = options_or_complaint(option_lists);
  if (!options) return kExitUsage;
  request.options = *std::move(options);
  const std::string mount_point = request.mount_point = request.sources.back();
  request.sources.pop_back();
  if (request.sources.size() > 1 && !request.options.chain) {
    complain(Error{ErrorKind::invalid, "more than one SOURCE works only with -o chain"});
    return kExitUsage;
  }
  if (const std::string meant = meant_otherwise(request, mount_point); !meant.empty()) {
    complain(Error{ErrorKind::invalid, meant});
    return kExitFailure;
  }
  if (request.options.file_system.write && !request.options.chain) request.sources[0] = made_source(request.sources[0]);
  make_absolute(request);
  allow_many_files();

  request.foreground |= request.debug;
  if (request.foreground) {
    const LogOptions log = log_options(request);
    const auto say = [](const std::string& more) { std::fputs(more.c_str(), stderr); };
    const auto result = mount_or_say_why(std::move(request), say);
    return result ? kExitOk : say_failure(log, result.error());
  }
  return mount_in_background(std::move(request), mount_point);
}

}  // namespace tfilefs
