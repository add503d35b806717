// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

#include "child_program.h"
#include "cli/colour.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/mount_holders.h"
#include "cli/options.h"
#include "cli/resource_limits.h"
#include "descriptor.h"
#include "fuse/mount.h"
#include "printable.h"
#include "temporary_name.h"

namespace tfilefs {
namespace {

namespace filesystem = std::filesystem;

// `note`: it works, but less well than it could.
enum class Verdict : std::uint8_t { good, note, bad };

struct MachineFinding {
  Verdict verdict;
  std::string what, told;
};

// Prints what is found as it is found, or all of it at the end.
class DoctorReport {
 public:
  explicit DoctorReport(bool is_json) : is_json_(is_json) {}
  void add(const MachineFinding& finding) {
    constexpr std::array<const char*, 3> kNames{"good", "note", "bad"};
    constexpr std::array kColours{Colour::green, Colour::yellow, Colour::red};
    const auto verdict = static_cast<std::size_t>(finding.verdict);
    const std::string name = kNames[verdict];
    is_good_ &= finding.verdict != Verdict::bad;
    if (is_json_)
      all_.push_back({{"verdict", name}, {"what", finding.what}, {"told", finding.told}});
    else
      std::printf("%s%s  %-12s %s\n", coloured(name, has_colours() ? kColours[verdict] : Colour::none).c_str(),
                  name.size() < 4 ? " " : "", finding.what.c_str(), printable(finding.told).c_str());
  }
  int end() const {
    if (is_json_) print_json(all_);
    return is_good_ ? kExitOk : kExitFailure;
  }

 private:
  const bool is_json_;
  bool is_good_ = true;
  nlohmann::ordered_json all_ = nlohmann::ordered_json::array();
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool is_root() { return ::geteuid() == 0; }

// ---- what the machine has

MachineFinding look_at_kernel() {
  utsname name{};
  ::uname(&name);
  const std::string release = std::string(name.sysname) + " " + name.release;
  const std::string known = text_of("/proc/filesystems");
  if (known.empty())
    return {Verdict::bad, "kernel", release + ": /proc is not mounted: mount -t proc proc /proc, as root"};
  std::istringstream types(known);
  for (std::string word; types >> word;)
    if (word == "fuse") return {Verdict::good, "kernel", release + ", with FUSE"};
  return {Verdict::note, "kernel", release + ": FUSE is not loaded; modprobe fuse loads it"};
}

MachineFinding look_at_device() {
  const char* const kDevice = "/dev/fuse";
  const Descriptor device(::open(kDevice, O_RDWR | O_CLOEXEC));
  const int number = errno;
  struct stat status {};
  if (::stat(kDevice, &status) == 0 && !S_ISCHR(status.st_mode))  // as a bind of what is not there leaves it
    return {Verdict::bad, kDevice,
            "is not a device: remove it, then modprobe fuse; start a container with --device /dev/fuse"};
  if (device) return {Verdict::good, kDevice, "can be opened"};
  const std::string why = std::strerror(number);
  if (number == ENOENT || number == ENODEV || number == ENXIO)
    return {Verdict::bad, kDevice, why + ": run modprobe fuse; start a container with --device /dev/fuse"};
  if (number == EPERM)
    return {Verdict::bad, kDevice, why + ": not allowed in this container: start it with --device /dev/fuse"};
  return {Verdict::bad, kDevice, why + ": its mode should be 0666: chmod 0666 /dev/fuse, as root"};
}

// Whether this user may be root of a namespace of its own, and mount there.
bool may_make_user_namespace() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
  return end_of_child(child) == 0;
}

// By it fusermount3 judges whose mount it is.
bool has_mount_table() { return ::access("/etc/mtab", R_OK) == 0; }

std::string mounting_without_helper() {
  return may_make_user_namespace() ? "without it only root can mount, also root of a user namespace: unshare -Urm"
                                   : "without it only root can mount, and user namespaces are not allowed here";
}

MachineFinding look_at_helper() {
  const std::string found = helper_path();
  if (is_root()) return {Verdict::good, "fusermount3", found.empty() ? "not installed; root does not need it" : found};
  if (found.empty())
    return {Verdict::bad, "fusermount3", "not installed: install the package fuse3; " + mounting_without_helper()};
  if (!has_mount_table())
    return {Verdict::bad, "fusermount3",
            found + " cannot unmount without /etc/mtab: ln -s /proc/self/mounts /etc/mtab, as root"};
  struct stat status {};
  const bool is_setuid = ::stat(found.c_str(), &status) == 0 && status.st_uid == 0 && (status.st_mode & S_ISUID) != 0;
  if (is_setuid && !::getpwuid(::getuid()))  // as in a container that is given any number for its user
    return {Verdict::bad, "fusermount3",
            found + " refuses a user without a name, as " + std::to_string(::getuid()) +
                " is: add a line to /etc/passwd; " + mounting_without_helper()};
  if (is_setuid) return {Verdict::good, "fusermount3", found};
  return {Verdict::bad, "fusermount3", found + " is not setuid root: chmod u+s " + found + ", as root"};
}

MachineFinding look_at_allow_other() {
  if (is_root()) return {Verdict::good, "allow_other", "root may let other users in"};
  std::istringstream lines(text_of("/etc/fuse.conf"));
  for (std::string line; std::getline(lines, line);) {
    // As fusermount3 reads it: without a comment, and without spaces around the word.
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word, more;
    if (words >> word && word == "user_allow_other" && !(words >> more))
      return {Verdict::good, "allow_other", "users may let other users in"};
  }
  return {Verdict::note, "allow_other",
          "only root may let other users in; for all: echo user_allow_other >> /etc/fuse.conf, as root"};
}

MachineFinding look_at_open_files() {
  constexpr rlim_t kEnough = 4096;  // each ROOT file in use keeps a few descriptors open
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max >= kEnough)
    return {Verdict::good, "open files",
            limit.rlim_max == RLIM_INFINITY ? "no limit" : std::to_string(limit.rlim_max) + " at most"};
  return {Verdict::note, "open files",
          std::to_string(limit.rlim_max) + " at most, too few for directories with many ROOT files: raise ulimit -Hn"};
}

std::string in_mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

MachineFinding look_at_memory() {
  const ResourceLimit limit = memory_limit();
  const std::string taken =
      "the cache takes up to " + in_mebibytes(default_memory(limit.amount)) + " of " + in_mebibytes(limit.amount);
  if (limit.from.empty()) return {Verdict::good, "memory", taken};
  const std::string allowed = taken + ", which " + limit.from + " allows";
  constexpr std::uint64_t kEnough = 96 << 20;  // the program, the least cache, and requests in flight
  if (limit.amount >= kEnough) return {Verdict::good, "memory", allowed};
  return {Verdict::note, "memory",
          allowed + ": with less than " + in_mebibytes(kEnough) + " it may run out of memory and be killed"};
}

MachineFinding look_at_cores() {
  const ResourceLimit limit = core_limit();
  const std::string threads =
      std::to_string(limit.amount) + (limit.amount == 1 ? " thread decodes" : " threads decode");
  return {Verdict::good, "cores", limit.from.empty() ? threads : threads + ", as " + limit.from + " allows"};
}

// ---- a mount

// Runs this program with the arguments.
Ended run_self(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tfilefs");
  return run_program("/proc/self/exe", std::move(arguments));
}

// Looks at the mount's device, which the kernel reads ahead for.
MachineFinding look_at_read_ahead(const std::string& device) {
  constexpr int kWanted = 1024;  // what the daemon asks for
  std::istringstream text(text_of("/sys/class/bdi/" + device + "/read_ahead_kb"));
  int kibibytes = 0;
  if (!(text >> kibibytes)) return {Verdict::note, "read-ahead", "unknown: /sys shows none for this mount"};
  const std::string told = std::to_string(kibibytes) + " KiB";
  if (kibibytes >= kWanted) return {Verdict::good, "read-ahead", told};
  return {Verdict::note, "read-ahead",
          told + "; only root can raise it, so that large files are read in fewer requests"};
}

// Writes a column into a ROOT file that is not there yet, and reads it from the file. What went wrong, or nothing.
std::string write_and_read(const std::string& directory, MachineFinding& read_ahead) {
  const std::string file = directory + "/tiny.root", mnt = directory + "/mnt", numbers = "0123456789abcdef";
  std::error_code error;
  filesystem::create_directory(mnt, error);
  const auto reply = [](const char* what, const Ended& ended) { return std::string(what) + ": " + ended.said; };
  if (const Ended made = run_self({"-o", "rw", file, mnt}); made.status != kExitOk) return reply("mounting", made);
  filesystem::create_directory(mnt + "/t", error);
  std::ofstream(mnt + "/t/x.i4") << numbers;
  if (const Ended ended = run_self({"umount", mnt}); ended.status != kExitOk) return reply("unmounting", ended);
  if (const Ended made = run_self({"-o", "ro", file, mnt}); made.status != kExitOk) return reply("mounting", made);
  const std::string read = text_of(mnt + "/t/x.i4");
  read_ahead = look_at_read_ahead(mount_device(mnt));
  if (const Ended ended = run_self({"umount", mnt}); ended.status != kExitOk) return reply("unmounting", ended);
  return read == numbers ? "" : "a tiny ROOT file was read back with other values than were written";
}

void check_mount(DoctorReport& report) {
  if (!is_root() && !has_mount_table()) {
    report.add({Verdict::bad, "mount", "not tried: it could not be unmounted"});
    return;
  }
  const char* const temporary = std::getenv("TMPDIR");
  std::string directory =
      temporary_name(std::string(temporary && *temporary ? temporary : "/tmp") + "/tfilefs-doctor-");
  if (!::mkdtemp(directory.data())) {
    report.add({Verdict::bad, "mount",
                directory + ": " + std::strerror(errno) + ": set TMPDIR to a directory that you can write to"});
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  MachineFinding read_ahead{};
  const std::string wrong = write_and_read(directory, read_ahead);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  if (!wrong.empty()) run_self({"umount", "--lazy", directory + "/mnt"});
  std::error_code error;
  for (const char* name : {"/mnt", "/tiny.root", ""}) filesystem::remove(directory + name, error);
  if (!wrong.empty()) {
    report.add({Verdict::bad, "mount", wrong});
    return;
  }
  report.add(read_ahead);
  report.add({Verdict::good, "mount",
              "a tiny file was written, mounted, read and unmounted in " + std::to_string(took.count()) + " ms"});
}

}  // namespace

int run_doctor(int argc, char** argv) {
  CommandLine command("doctor");
  bool is_json = false;
  command.take("--json", is_json);
  if (const auto code = command.parse(argc, argv)) return *code;
  DoctorReport report(is_json);
  for (const auto look : {look_at_kernel, look_at_device, look_at_helper, look_at_allow_other, look_at_open_files,
                          look_at_memory, look_at_cores})
    report.add(look());
  check_mount(report);
  return report.end();
}

}  // namespace tfilefs
