// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "cli/inside_files.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/source_names.h"
#include "descriptor.h"
#include "path_name.h"
#include "printable.h"
#include "tfile/local_file.h"
#include "vfs/names/name_index.h"
#include "waited.h"

namespace tfilefs {
namespace {

using tfile::fail;

// The error of a call that has just failed: "cannot write /x: No space left on device".
tl::unexpected<Error> cannot(const std::string& what, const std::string& path) {
  const int number = errno;
  return tfile::system_error("cannot " + what + " " + path, number);
}

bool is_same_time(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

std::string below(const std::string& directory, const std::string& name) {
  return directory.empty() || directory.ends_with('/') ? directory + name : directory + "/" + name;
}

// One thing to copy.
struct Copy {
  std::shared_ptr<FileSystem> fs;
  HeldInode from;
  std::string mirrored;  // its path on the host, if it is what the source mirrors there
  std::string shown;     // the name for messages
  std::string to;        // on the host
};

// A directory of the host, whatever its name.
using HostDirectory = std::pair<dev_t, ino_t>;

// Bytes that were written before the machine was restarted may not have reached the disk: an unfinished file is
// continued only after the same start.
std::string id_of_this_start() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

struct CopyWay {
  bool is_recursive = false;
  bool is_quiet = false;
  bool names_files = false;  // those that are copied, and those that are there
};

class Copier {
 public:
  explicit Copier(CopyWay way) : way_(way), progress_(!way.is_quiet) {}

  // Adds a file, or a directory with what is listed below it. False after an error, which was reported.
  bool add(Copy);
  // Makes a directory of the host that copies go to, if it is not there.
  Result<> make_directory(const std::string& path);
  // All of a source was added. It is open until this is copied, with its threads and descriptors: of many sources only
  // some are at a time.
  bool end_source() {
    constexpr std::size_t kOpenMost = 16;
    return ++open_ < kOpenMost || run();
  }
  // Copies what was added; false as above.
  bool run();

 private:
  bool add_directory(const Copy&);
  bool is_made(const std::string& mirrored) const;
  // Whether it was not there yet.
  Result<bool> copy(const Copy&);
  Result<bool> copy_file(const Copy&);
  void name(const Copy&, bool was_copied);
  std::string identity_of(const Copy&) const;
  bool is_there(const Copy&) const;
  Result<> copy_link(const Copy&);
  Result<> fill(const Copy&, const std::string& part);
  Result<> publish(const Copy&, int file, const std::string& part);
  bool report(const std::string& shown, Error error) {
    progress_.clear();
    if (!error.text.starts_with(shown)) error.text = shown + ": " + error.text;
    complain(error);
    return false;
  }

  const CopyWay way_;
  ProgressLine progress_;
  std::vector<Copy> copies_;                        // files, and links, that are still to be copied
  std::size_t open_ = 0;                            // sources that they are of
  std::map<std::string, std::string> taken_;        // what is copied to a path of the host
  std::set<HostDirectory> made_;                    // that copies go to
  std::uint64_t all_ = 0, done_ = 0, skipped_ = 0;  // bytes
  const std::string start_ = id_of_this_start();
};

bool Copier::add(Copy copy) {
  const auto [other, is_new] = taken_.try_emplace(copy.to, copy.shown);
  if (!is_new) return report(copy.shown, {ErrorKind::exists, "its copy would replace that of " + other->second, -1, 0});
  if (S_ISDIR(copy.from.attributes().mode)) {
    if (!way_.is_recursive) return report(copy.shown, {ErrorKind::invalid, "is a directory: -r copies it", -1, 0});
    return add_directory(copy);
  }
  all_ += copy.from.attributes().size;
  copies_.push_back(std::move(copy));
  return true;
}

Result<> Copier::make_directory(const std::string& path) {
  struct stat there {};
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return cannot("make the directory", path);
  // A link to a directory would lead the copy elsewhere.
  if (::lstat(path.c_str(), &there) != 0 || !S_ISDIR(there.st_mode))
    return fail(ErrorKind::exists, "cannot make the directory " + path + ": it is there, and is none");
  made_.emplace(there.st_dev, there.st_ino);
  return {};
}

bool Copier::is_made(const std::string& mirrored) const {
  struct stat there {};
  return ::stat(mirrored.c_str(), &there) == 0 && made_.contains({there.st_dev, there.st_ino});
}

bool Copier::add_directory(const Copy& copy) {
  const bool is_reached = is_made(copy.mirrored);
  if (auto made = is_reached ? Result<>() : make_directory(copy.to); !made)
    return report(copy.shown, std::move(made).error());
  // Else each level of the copy would have another below it.
  if (is_reached || is_made(copy.mirrored))
    return report(copy.shown, {ErrorKind::invalid, "is not copied into itself: the copy goes there", -1, 0});
  const auto names = names_in(*copy.fs, copy.from.id());
  if (!names) return report(copy.shown, names.error());
  bool good = true;
  for (const ListedName& each : *names) {
    const std::string shown = copy.shown + "/" + each.name;
    const auto found =
        waited<FileSystem::Found>([&](auto reply) { copy.fs->lookup(copy.from.id(), each.name, std::move(reply)); });
    good &= found ? add({copy.fs, HeldInode(*copy.fs, *found), below(copy.mirrored, each.name), shown,
                         below(copy.to, each.name)})
                  : report(shown, found.error());
  }
  return good;
}

bool Copier::run() {
  bool good = true;
  for (const Copy& each : copies_) {
    const auto copied = copy(each);
    if (copied && way_.names_files) name(each, *copied);
    if (!copied) good = report(each.shown, copied.error());
  }
  progress_.clear();
  copies_.clear();
  open_ = 0;
  return good;
}

void Copier::name(const Copy& each, bool was_copied) {
  progress_.clear();
  std::printf("%s -> %s%s\n", printable(each.shown).c_str(), printable(each.to).c_str(),
              was_copied ? "" : " (unchanged)");
}

Result<bool> Copier::copy(const Copy& each) {
  if (S_ISLNK(each.from.attributes().mode)) {
    TRY_VOID(copy_link(each));
    return true;
  }
  if (S_ISREG(each.from.attributes().mode)) return copy_file(each);
  return fail(ErrorKind::unsupported, "is neither a file nor a directory");
}

// A copy takes the place of what is there: of a file or a link, and of nothing else. `stat`: ::stat or ::lstat.
Result<> check_place(const std::string& path, int (*stat)(const char*, struct stat*)) {
  struct stat there {};
  if (stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode) || S_ISLNK(there.st_mode)) return {};
  return fail(
      ErrorKind::exists,
      "cannot write " + path +
          (S_ISDIR(there.st_mode) ? ": it is a directory" : ": it is no file; tfilefs cat writes to it, by > " + path));
}

Result<> Copier::copy_link(const Copy& each) {
  TRY_VOID(check_place(each.to, ::lstat));
  TRY(const std::string target,
      waited<std::string>([&](auto reply) { each.fs->readlink(each.from.id(), std::move(reply)); }));
  if (::symlink(target.c_str(), each.to.c_str()) == 0) return {};
  if (errno != EEXIST || ::unlink(each.to.c_str()) != 0 || ::symlink(target.c_str(), each.to.c_str()) != 0)
    return cannot("make the link", each.to);
  return {};
}

// Tells two states of a file apart, as far as it can be seen without reading it.
std::string Copier::identity_of(const Copy& each) const {
  const Attributes& from = each.from.attributes();
  std::string all = each.shown + "\n" + std::to_string(from.size);
  for (const timespec& time : {from.modified, from.changed})
    all += "\n" + std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
  return all;
}

std::string hash_text(const std::string& text) {
  std::array<char, 17> hash;
  std::snprintf(hash.data(), hash.size(), "%016llx", static_cast<unsigned long long>(hash_of_name(text)));
  return hash.data();
}

// The state and the file that a copy is of. Without such an attribute it is made again: times of files in a ROOT file
// have whole seconds, so they do not tell it.
constexpr const char* kCopyOf = "user.tfilefs.copy_of";

// Whether the copy is there, and was not changed since.
bool Copier::is_there(const Copy& each) const {
  struct stat there {};
  if (::lstat(each.to.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return false;
  const Attributes& from = each.from.attributes();
  std::array<char, 16> hash;
  return static_cast<std::uint64_t>(there.st_size) == from.size && is_same_time(there.st_mtim, from.modified) &&
         ::getxattr(each.to.c_str(), kCopyOf, hash.data(), hash.size()) == static_cast<ssize_t>(hash.size()) &&
         std::string_view(hash.data(), hash.size()) == hash_text(identity_of(each));
}

// The name of the unfinished file tells what it is a part of.
Result<bool> Copier::copy_file(const Copy& each) {
  TRY_VOID(check_place(each.to, ::stat));
  if (is_there(each)) {
    done_ += each.from.attributes().size;
    skipped_ += each.from.attributes().size;
    return false;
  }
  const std::size_t slash = each.to.rfind('/') + 1;  // 0, if there is none
  constexpr std::size_t kNameMost = 200;             // NAME_MAX, without what is added
  const std::string name = each.to.substr(slash, kNameMost);
  TRY_VOID(
      fill(each, each.to.substr(0, slash) + "." + name + "." + hash_text(identity_of(each) + "\n" + start_) + ".part"));
  return true;
}

Result<> Copier::fill(const Copy& each, const std::string& part) {
  // Others may write to the directory, too: what they put there is not gone on with.
  const Descriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  if (!file) return cannot("write", part);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return cannot("look at", part);
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || status.st_nlink != 1)
    return fail(ErrorKind::exists, "cannot go on with " + part + ": it is of no earlier copy; remove it");
  auto begin = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t size = each.from.attributes().size;
  if (begin > size)
    return fail(ErrorKind::exists, "cannot go on with " + part + ": it is longer than the file; remove it");
  if (::lseek(file.get(), status.st_size, SEEK_SET) < 0) return cannot("write", part);
  done_ += begin;
  skipped_ += begin;
  const auto add = [&](const Slices& piece) -> Result<> {
    TRY_VOID(write_slices(file.get(), part, piece));
    begin += piece.size();
    done_ += piece.size();
    progress_.show(done_, skipped_, all_);
    return {};
  };
  TRY_VOID(read_whole(*each.fs, each.from.id(), begin, add));
  if (begin != size)
    return fail(ErrorKind::stale, "the source has changed: it gave " + std::to_string(begin) + " bytes instead of " +
                                      std::to_string(size));
  return publish(each, file.get(), part);
}

Result<> Copier::publish(const Copy& each, int file, const std::string& part) {
  const std::array<timespec, 2> times{timespec{0, UTIME_NOW}, each.from.attributes().modified};
  const std::string hash = hash_text(identity_of(each));
  (void)::fsetxattr(file, kCopyOf, hash.data(), hash.size(), 0);  // see there
  if (::futimens(file, times.data()) != 0 || ::fsync(file) != 0) return cannot("write", part);
  if (::rename(part.c_str(), each.to.c_str()) != 0) return cannot("replace", each.to);
  return {};
}

Error several_to(const std::string& path) {
  return {ErrorKind::invalid, "these are several, and " + path + " is no directory to copy them into", -1, 0};
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::is_regular_file(a, error) && std::filesystem::equivalent(a, b, error);
}

// The place to which a find in a source goes.
struct Destination {
  std::string path;
  bool is_directory = false;
};

struct CopyRequest {
  const FileSystemOptions& options;
  Destination to;
  Copier copier;
};

bool add_from(const OneSource& source, const std::string& path, CopyRequest& request) {
  const auto complained = [](const std::string& shown, Error error) {
    if (!error.text.starts_with(shown)) error.text = shown + ": " + error.text;
    complain(error);
    return false;
  };
  auto opened = FileSystem::open(source.name, request.options);
  if (!opened) return complained(source.shown, std::move(opened).error());
  const std::shared_ptr<FileSystem> fs = *std::move(opened);
  auto files = files_at(*fs, path);
  if (!files) return complained(below(source.shown, path), files.error());
  Destination to = request.to;
  if (files->size() > 1 && !to.is_directory) return complained(below(source.shown, path), several_to(to.path));
  const std::string name = name_in_path(source.shown);
  if (source.is_of_several) {
    to.path = below(to.path, name);
    if (auto made = request.copier.make_directory(to.path); !made)
      return complained(source.shown, std::move(made).error());
  }
  bool good = true;
  for (InsideFile& file : *files) {
    const std::string own = file.path.empty() ? name : name_in_path(file.path);
    const std::string shown = file.path.empty() ? source.shown : below(source.shown, file.path);
    const std::string copy = to.is_directory ? below(to.path, own) : to.path;
    if (is_same_file(copy, source.name))
      good = complained(shown, {ErrorKind::exists, "its copy would replace the file that it is in", -1, 0});
    else
      good &= request.copier.add({fs, std::move(file.inode), below(source.name, file.path), shown, copy});
  }
  return good;
}

}  // namespace

int run_cp(int argc, char** argv) {
  CommandLine command("cp");
  CopyWay way;
  std::vector<std::string> option_lists, paths;
  command.take("-r", way.is_recursive);
  command.take("-q", way.is_quiet);
  command.take("-v", way.names_files);
  command.take("-o", option_lists);
  command.take("SOURCE/PATH... DEST", paths);
  if (const auto code = command.parse(argc, argv)) return *code;
  const auto options = options_or_complaint(option_lists);
  if (!options) return kExitUsage;
  const std::string to = paths.back();
  paths.pop_back();
  struct stat status {};
  const bool is_directory = ::stat(to.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (paths.size() > 1 && !is_directory)
    return complain({ErrorKind::invalid, "cannot copy several to " + to + ": it is no directory", -1, 0});
  CopyRequest request{options->file_system, {to, is_directory}, Copier(way)};
  bool good = true;
  for (const std::string& path : paths) {
    const SourcePath at = split_source(path);
    const int code =
        for_each_source({{at.source}}, options->file_system.remote, kExitFailure, [&](const OneSource& one) {
          if (one.is_of_several && !is_directory)
            return complain({ErrorKind::invalid, at.source + ": " + several_to(to).text, -1, 0});
          const bool is_added = add_from(one, at.inside, request);
          return request.copier.end_source() && is_added ? kExitOk : kExitFailure;
        });
    good &= code == kExitOk;
  }
  good &= request.copier.run();
  return good ? kExitOk : kExitFailure;
}

}  // namespace tfilefs
