// SPDX-License-Identifier: Apache-2.0
#include "vfs/mirror/source_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "path_name.h"
#include "staging/changes/abandoned_journal.h"
#include "staging/journal/file_claim.h"
#include "staging/journal/journal.h"
#include "tfile/errnos.h"
#include "tfile/source.h"
#include "vfs/chain/chain_directory.h"
#include "vfs/friends/chain_friends.h"
#include "vfs/mirror/source_item.h"
#include "vfs/names/names.h"
#include "vfs/names/natural_order.h"
#include "vfs/nodes/acting_for.h"
#include "vfs/nodes/awaited_descriptor.h"
#include "vfs/nodes/beneath.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/root_file_vnodes.h"
#include "vfs/written/written_file.h"

namespace tfilefs {
namespace {

constexpr int kDirectoryFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
// O_NONBLOCK so that opening a FIFO does not wait for its writer; it changes nothing for regular files.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

tl::unexpected<Error> system_failure(const std::string& path, int number) {
  return tfile::system_error("/" + path, number);
}

// The bits of a path deny it to the user who asks, or the ids of that user cannot be taken on.
tl::unexpected<Error> no_access(const std::string& path) { return system_failure(path, tfile::errnos::kAccessDenied); }

Result<bool> begins_as_root_file(int fd, const std::string& path) {
  std::array<char, 4> magic{};
  const ssize_t got = ::pread(fd, magic.data(), magic.size(), 0);
  if (got < 0) return system_failure(path, errno);
  return got == 4 && std::memcmp(magic.data(), "root", 4) == 0;
}

Result<std::string> text_of_link(const Descriptor& link, const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
  if (size < 0) return system_failure(path, errno);
  return std::string(target.data(), static_cast<std::size_t>(size));
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// A ROOT file of the tree, looked up anew by its path each time. Does not own the tree, which owns its ROOT files.
class TreeOrigin final : public FileLocator {
 public:
  TreeOrigin(std::weak_ptr<const SourceTree> tree, std::string path, std::string shown)
      : tree_(std::move(tree)), path_(std::move(path)), shown_(std::move(shown)) {}

  Result<SourceState> look() const override {
    TRY(const auto tree, this->tree());
    TRY(const Descriptor file, tree->open_path(path_, O_PATH | O_CLOEXEC, true));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return system_failure(path_, errno);
    return source_state(status);
  }

  Result<std::shared_ptr<const GuardedSource>> open() const override {
    TRY(const auto tree, this->tree());
    TRY(Descriptor file, tree->open_path(path_, kReadFlags, true));
    TRY(const Descriptor directory, tree->open_path(parent_of(path_), kDirectoryFlags, false));
    TRY(auto source, tfile::adopt_source(file.release(), shown_, directory.get()));
    return GuardedSource::guard(std::move(source));
  }

  Result<tfile::Identity> reach(const CallerPtr& by, Access access, const std::string& sibling) const override {
    TRY(const auto tree, this->tree());
    const int flags = access == Access::status ? O_PATH | O_CLOEXEC
                      : access == Access::read ? kReadFlags
                                               : O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    TRY(const Descriptor file,
        sibling.empty() ? tree->open_path(path_, flags, true, by) : tree->open_beside(path_, sibling, flags, by));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return system_failure(path_, errno);
    return tfile::identity_of(status);
  }

 private:
  Result<std::shared_ptr<const SourceTree>> tree() const {
    if (auto tree = tree_.lock()) return tree;
    return system_failure(path_, tfile::errnos::kNotFound);  // the mount is ending
  }

  const std::weak_ptr<const SourceTree> tree_;
  const std::string path_, shown_;
};

struct NamesListing final : Listing {
  struct Name {
    std::string name;
    mode_t type;
  };
  std::vector<Name> names;
  std::size_t size() const override { return names.size(); }
  void item(std::size_t i, Item& into) const override {
    into.name = names[i].name;
    into.type = names[i].type;
    into.entry = {};
  }
};

// The type that is known without opening: a file may be a ROOT file, and then is a directory.
mode_t listed_type(const dirent& entry) {
  switch (entry.d_type) {
    case DT_DIR:
      return S_IFDIR;
    case DT_REG:
      return std::string_view(entry.d_name).ends_with(".root") ? S_IFDIR : 0;
    case DT_LNK:
    case DT_UNKNOWN:
      return 0;
    default:
      return DTTOIF(entry.d_type);
  }
}

}  // namespace

namespace {

// The files of a chain in a directory of the tree.
class DirectoryPlace final : public ChainPlace {
 public:
  DirectoryPlace(std::shared_ptr<SourceTree> tree, std::string directory, std::string pattern)
      : tree_(std::move(tree)), directory_(std::move(directory)), pattern_(std::move(pattern)) {}

  Result<std::vector<ChainName>> list() const override {
    TRY(const ChainedNames chained, ChainedNames::of(pattern_));
    TRY(const auto listing, tree_->list(directory_));
    std::vector<ChainName> names;
    Listing::Item item;
    for (std::size_t i = 0; i < listing->size(); ++i) {
      listing->item(i, item);
      if (chained.has(item.name)) names.push_back({directory_.empty() ? item.name : directory_ + "/" + item.name, ""});
    }
    if (names.empty()) return no_such_entry("no files to chain");
    std::ranges::sort(names, is_before, &ChainName::file);
    return names;
  }

  Result<std::shared_ptr<MountedFile>> file(const std::string& name, std::string) const override {
    TRY(const SourceTree::Found found, tree_->look_up(name));
    if (!found.root_file) return tfile::fail(ErrorKind::unsupported, name + ": not a ROOT file");
    return found.root_file;
  }

 private:
  const std::shared_ptr<SourceTree> tree_;
  const std::string directory_, pattern_;
};

}  // namespace

Entry SourceTree::chain(const std::string& directory, const std::string& name, const std::string& pattern) {
  const std::string path = directory.empty() ? name : directory + "/" + name;
  const auto make = [&] {
    auto place = std::make_unique<const DirectoryPlace>(shared_from_this(), directory, pattern);
    return make_chain(context_, std::move(place), ChainOptions(), path);
  };
  return make_chain_root(chains_.get(path, make));
}

Result<std::shared_ptr<SourceTree>> SourceTree::open(MountContext& context, const std::string& directory,
                                                     std::string hidden) {
  Descriptor root(::open(directory.c_str(), kDirectoryFlags));
  if (!root) return system_failure(directory, errno);
  std::array<char, PATH_MAX> real;
  const std::string real_path = ::realpath(directory.c_str(), real.data()) ? real.data() : directory;
  return std::shared_ptr<SourceTree>(new SourceTree(context, std::move(root), real_path, std::move(hidden)));
}

std::shared_ptr<const Vnodes> SourceTree::root() { return make_source_directory(shared_from_this(), ""); }

bool SourceTree::is_hidden(std::string_view path) const {
  std::string_view name = path;
  if (name.ends_with(kTemporarySuffix)) name.remove_suffix(kTemporarySuffix.size());  // one that is being rewritten
  return (!hidden_.empty() && path == hidden_) || name.ends_with(kJournalSuffix);
}

Result<> SourceTree::check_new_name(const std::string& path) const {
  if (!is_hidden(path)) return {};
  return not_permitted(path + ": this name is reserved for a journal");
}

Result<Descriptor> SourceTree::open_path(const std::string& path, int flags, bool links, const CallerPtr& by) const {
  const ActingFor acting(by);
  if (!acting) return no_access(path);
  return open_as_is(path, flags, links, by);
}

// With the ids that the thread has now.
Result<Descriptor> SourceTree::open_as_is(const std::string& path, int flags, bool links, const CallerPtr& by) const {
  Descriptor opened = open_beneath_for(by, root_.get(), real_path_, path, flags, false);
  if (!opened && errno == ELOOP && links) {
    TRY(const std::string inside, inside_path_of_link(path, by));
    opened = open_beneath_for(by, root_.get(), real_path_, inside, flags, true);
  } else if (opened && links && (flags & O_PATH)) {
    struct stat status {};
    if (::fstat(opened.get(), &status) == 0 && S_ISLNK(status.st_mode)) {
      TRY(const std::string inside, inside_path_of_link(path, by));
      opened = open_beneath_for(by, root_.get(), real_path_, inside, flags, true);
    }
  }
  if (!opened) return system_failure(path, errno);
  return opened;
}

Result<Descriptor> SourceTree::open_beside(const std::string& path, const std::string& below, int flags,
                                           const CallerPtr& by) const {
  const ActingFor acting(by);
  if (!acting) return no_access(below);
  TRY(const Descriptor directory, open_as_is(parent_of(path), kDirectoryFlags, false, by));
  Descriptor opened = open_beneath_for(by, directory.get(), "", below, flags, true);
  if (!opened) return system_failure(below, errno);
  return opened;
}

// RESOLVE_BENEATH accepts no absolute link; one that names a file inside the tree is made relative to it here.
Result<std::string> SourceTree::inside_path_of_link(const std::string& path, const CallerPtr& by) const {
  TRY(const Descriptor link, open_as_is(path, O_PATH | O_CLOEXEC, false, by));
  TRY(const std::string target, text_of_link(link, path));
  if (!target.starts_with('/')) return path;
  if (real_path_ == "/") return target.substr(1);
  if (target.starts_with(real_path_ + "/")) return target.substr(real_path_.size() + 1);
  return system_failure(path, tfile::errnos::kOutside);
}

Result<struct stat> SourceTree::status(const std::string& path, const CallerPtr& by) const {
  TRY(const Descriptor at, open_path(path, O_PATH | O_CLOEXEC, false, by));
  struct stat status {};
  if (::fstat(at.get(), &status) != 0) return system_failure(path, errno);
  if (S_ISLNK(status.st_mode) && context_.writing) {
    TRY(const std::string text, shown_link(at, path, by));
    status.st_size = static_cast<off_t>(text.size());
  }
  return status;
}

Result<std::string> SourceTree::link_target(const std::string& path, const CallerPtr& by) const {
  TRY(const Descriptor link, open_path(path, O_PATH | O_CLOEXEC, false, by));
  return context_.writing ? shown_link(link, path, by) : text_of_link(link, path);
}

// A link with a whole path that leads to a ROOT file of the tree leads to the one in the mount, which is a directory.
Result<std::string> SourceTree::shown_link(const Descriptor& link, const std::string& path, const CallerPtr& by) const {
  TRY(std::string text, text_of_link(link, path));
  if (!text.starts_with('/')) return text;
  const ActingFor acting(by);
  const auto inside = inside_path_of_link(path, by);
  if (!acting || !inside) return text;
  const auto file = open_as_is(path, kReadFlags, true, by);
  const auto is_root_file = file ? begins_as_root_file(file->get(), path) : Result<bool>(false);
  if (!is_root_file || !*is_root_file) return text;
  std::string up;
  for (const char each : path) up += each == '/' ? "../" : "";
  return up + *inside;
}

Result<SourceTree::Found> SourceTree::look_up(const std::string& path, const CallerPtr& by) {
  if (is_hidden(path)) return no_such_entry();
  const auto seen = this->status(path, by);
  if (!seen && context_.writing && seen.error().kind == ErrorKind::not_found) return look_up_written(path);
  TRY(const struct stat status, seen);
  Found found;
  found.entry = Entry{S_ISDIR(status.st_mode) ? make_source_directory(shared_from_this(), path)
                                              : make_source_file(shared_from_this(), path, status),
                      {}};
  found.is_directory = S_ISDIR(status.st_mode);
  found.is_link = S_ISLNK(status.st_mode);
  if (S_ISREG(status.st_mode) || found.is_link) {
    // A link leads no caller to a file that it could not reach by itself: for that caller it stays a link.
    const auto file = open_path(path, kReadFlags, true, found.is_link ? by : nullptr);
    struct stat behind {};
    // A file that cannot be opened for a lack of descriptors or memory must not be taken for a plain file.
    if (!file && file.error().kind == ErrorKind::io) return tl::unexpected(file.error());
    if (file && ::fstat(file->get(), &behind) == 0 && S_ISREG(behind.st_mode)) {
      TRY(const bool is_root_file, begins_as_root_file(file->get(), path));
      if (is_root_file) found.root_file = root_file(path);
    }
  }
  if (found.root_file && !context_.writing) tell_of_journal(path, status.st_nlink > 1);
  if (found.root_file && context_.writing && S_ISREG(status.st_mode)) {
    auto written = written_file(path);
    if (written) {
      (*written)->staged().note_there();
      found.written = *std::move(written);
    } else if (lacks_descriptor(written.error())) {
      return tl::unexpected(std::move(written).error());
    } else {
      context_.errors.add("/" + path, written.error());
    }
  }
  return found;
}

// A file that does not exist: made and not committed yet, here or by a writer that crashed.
Result<SourceTree::Found> SourceTree::look_up_written(const std::string& path) {
  bool known = false;
  {
    const Lock lock(mutex_);
    known = written_.contains(path);
  }
  if (!known && !status(path + std::string(kJournalSuffix))) return no_such_entry();
  Found found;
  TRY(found.written, written_file(path));
  if (!found.written->staged().is_wanted()) return no_such_entry();
  if (found.written->staged().is_there() && !found.written->overlay().has_pending()) {
    forget(found.written);  // another program has removed it, and nothing of it is left here
    return no_such_entry();
  }
  found.entry = {found.written->root(), {}};
  return found;
}

std::shared_ptr<MountedFile> SourceTree::root_file(const std::string& path) {
  const Lock lock(mutex_);
  auto& file = root_files_[path];
  if (!file) {
    auto origin = std::make_unique<const TreeOrigin>(weak_from_this(), path, real_path_ + "/" + path);
    file = std::make_shared<MountedFile>(context_, std::move(origin), path);
  }
  return file;
}

Result<std::shared_ptr<const Listing>> SourceTree::list(const std::string& path, const CallerPtr& by) {
  TRY(Descriptor directory, open_path(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, false, by));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(directory.get()), ::closedir);
  if (!stream) return system_failure(path, errno);
  directory.release();
  auto listing = std::make_shared<NamesListing>();
  const auto next = [&] {
    errno = 0;
    return ::readdir(stream.get());
  };
  while (const dirent* entry = next()) {
    const std::string_view name = entry->d_name;
    const std::string at = path.empty() ? std::string(name) : path + "/" + entry->d_name;
    if (!context_.writing && name.ends_with(kJournalSuffix))
      tell_of_journal(at.substr(0, at.size() - kJournalSuffix.size()), false);
    if (name == "." || name == ".." || is_hidden(at)) continue;
    if (path.empty() && name == kControlName) continue;
    listing->names.push_back({std::string(name), listed_type(*entry)});
  }
  if (errno != 0) return system_failure(path, errno);
  // Files that were made and are not committed yet.
  for (const auto& file : written_files()) {
    const std::string& at = file->path();
    if (parent_of(at) == path && !file->staged().is_there() && file->staged().is_wanted())
      listing->names.push_back({name_in_path(at), S_IFDIR});
  }
  return std::shared_ptr<const Listing>(std::move(listing));
}

// ---- writing

Result<std::shared_ptr<WrittenFile>> SourceTree::written_file(const std::string& path) {
  {
    const Lock lock(mutex_);
    while (opening_.contains(path)) opened_.wait(mutex_);
    const auto known = written_.find(path);
    if (known != written_.end()) return known->second;
    opening_.insert(path);
  }
  auto made = open_written_file(path);
  {
    const Lock lock(mutex_);
    opening_.erase(path);
    refused_.erase(path);
    if (made) {
      written_.emplace(path, *made);
    } else {
      refused_.emplace(path, made.error().text);
    }
  }
  opened_.notify_all();
  return made;
}

Result<FilePlace> SourceTree::place(const std::string& path) const {
  FilePlace place;
  TRY(place.directory, open_path(parent_of(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC, false));
  place.name = name_in_path(path);
  place.shown = real_path_ + "/" + path;
  return place;
}

// The status of the journal beside another name of the file.
Result<struct stat> SourceTree::status_of_other_journal(const std::string& path) const {
  TRY(const FilePlace lies, place(path));
  const auto other = other_name_with_journal(lies);
  struct stat status {};
  if (!other || ::fstatat(other->directory.get(), journal_name(other->name).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return no_such_entry();
  return status;
}

// Reports each state of a journal once, however often it is met: reading it may take a while.
void SourceTree::tell_of_journal(const std::string& path, bool has_other_names) {
  auto now = status(path + std::string(kJournalSuffix));
  if (!now && has_other_names) now = status_of_other_journal(path);
  if (!now) return;
  const JournalState state{now->st_dev, now->st_ino, now->st_size, now->st_mtim.tv_sec, now->st_mtim.tv_nsec};
  {
    const Lock lock(mutex_);
    auto& reply = told_[path];
    if (reply == state) return;
    reply = state;
  }
  run_job(context_.cache, [self = shared_from_this(), path] {
    const auto lies = self->place(path);
    if (!lies) return;
    const auto left = left_in_journal(*lies);
    if (left && *left) self->context_.errors.add("/" + path, **left);
    if (left) return;
    const Lock lock(self->mutex_);  // its writer may end without changing it, so it is read again next time
    self->told_.erase(path);
  });
}

Result<std::shared_ptr<WrittenFile>> SourceTree::open_written_file(const std::string& path) {
  TRY(FilePlace place, this->place(path));
  return open_written(context_, root_file(path), std::move(place), path);
}

void SourceTree::forget(const std::shared_ptr<WrittenFile>& file) {
  file->staged().forget();
  const Lock lock(mutex_);
  if (const auto known = written_.find(file->path()); known != written_.end() && known->second == file)
    written_.erase(known);
}

std::vector<std::shared_ptr<WrittenFile>> SourceTree::written_files() {
  const Lock lock(mutex_);
  std::vector<std::shared_ptr<WrittenFile>> files;
  for (const auto& [path, file] : written_) files.push_back(file);
  return files;
}

void SourceTree::take_over_journals() { take_over_journals_in("", 0); }

std::map<std::string, std::string> SourceTree::refused_journals() {
  std::map<std::string, std::string> refused;
  {
    const Lock lock(mutex_);
    refused = refused_;
  }
  std::erase_if(refused, [this](const auto& file) { return !status(file.first + std::string(kJournalSuffix)); });
  return refused;
}

void SourceTree::take_over_journals_in(const std::string& path, int depth) {
  constexpr int kDepthMax =
      64;  // as deep as the paths of a source usually are; in a deeper tree journals are found when it is entered
  const auto directory = open_path(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, false);
  if (!directory || depth > kDepthMax) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(::dup(directory->get())), ::closedir);
  if (!stream) return;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    const std::string below = path.empty() ? name : path + "/" + name;
    if (name == "." || name == ".." || (!hidden_.empty() && below == hidden_)) continue;
    if (entry->d_type == DT_DIR) take_over_journals_in(below, depth + 1);
    if (!name.ends_with(kJournalSuffix)) continue;
    const std::string file = below.substr(0, below.size() - kJournalSuffix.size());
    if (auto taken = written_file(file); !taken) context_.errors.add("/" + file, taken.error());
  }
}

Result<std::shared_ptr<WrittenFile>> SourceTree::new_written_file(const std::string& path, Creation& how,
                                                                  const CallerPtr& by) {
  {
    TRY_VOID(check_new_name(path));
    const ActingFor acting(by);
    TRY(const Descriptor in, parent(path, by));
    if (!acting || !may_change_names(by, in.get())) return no_access(path);
    struct stat status {};
    if (::fstat(in.get(), &status) != 0) return system_failure(path, errno);
    if (status.st_mode & S_ISGID) how.gid = status.st_gid;  // as for all files made in such a directory
  }
  return written_file(path);
}

// The directory in which names are changed, held by its descriptor from then on.
Result<Descriptor> SourceTree::parent(const std::string& path, const CallerPtr& by) const {
  TRY(Descriptor in, open_as_is(parent_of(path), kDirectoryFlags, false, by));
  // If the kernel does not act with the caller's ids, it does not check the caller's rights.
  if (!ActingFor::is_possible() && !may_change_names(by, in.get())) return no_access(path);
  return in;
}

Result<Descriptor> SourceTree::make_file(const std::string& path, const Creation& how, bool exclusive,
                                         const CallerPtr& by) {
  TRY_VOID(check_new_name(path));
  const ActingFor acting(by);
  if (!acting) return no_access(path);
  TRY(const Descriptor in, parent(path, by));
  Descriptor file(::openat(in.get(), name_in_path(path).c_str(),
                           O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (exclusive ? O_EXCL : 0),
                           how.mode));
  if (!file) return system_failure(path, errno);
  return file;
}

Result<> SourceTree::make_directory(const std::string& path, const Creation& how, const CallerPtr& by) {
  TRY_VOID(check_new_name(path));
  const ActingFor acting(by);
  if (!acting) return no_access(path);
  TRY(const Descriptor in, parent(path, by));
  if (::mkdirat(in.get(), name_in_path(path).c_str(), how.mode) != 0) return system_failure(path, errno);
  return {};
}

Result<> SourceTree::make_link(const std::string& path, const std::string& target, const CallerPtr& by) {
  TRY_VOID(check_new_name(path));
  const ActingFor acting(by);
  if (!acting) return no_access(path);
  TRY(const Descriptor in, parent(path, by));
  if (::symlinkat(target.c_str(), in.get(), name_in_path(path).c_str()) != 0) return system_failure(path, errno);
  return {};
}

Result<> SourceTree::make_hard_link(const std::string& of, const std::string& path, const CallerPtr& by) {
  TRY_VOID(check_new_name(path));
  const ActingFor acting(by);
  if (!acting) return no_access(path);
  TRY(const Descriptor from, open_as_is(parent_of(of), kDirectoryFlags, false, by));
  TRY(const Descriptor in, parent(path, by));
  if (::linkat(from.get(), name_in_path(of).c_str(), in.get(), name_in_path(path).c_str(), 0) != 0)
    return system_failure(path, errno);
  return {};
}

void SourceTree::note_name(const struct stat& status, const std::string& path) {
  constexpr std::size_t kFilesMost = 4096, kNamesMost = 8;  // those that are in use are seen again
  const Lock lock(mutex_);
  if (names_.size() >= kFilesMost) names_.clear();
  std::vector<std::string>& names = names_[{status.st_dev, status.st_ino}];
  std::erase(names, path);
  names.insert(names.begin(), path);
  if (names.size() > kNamesMost) names.pop_back();
}

std::vector<std::string> SourceTree::names_of(const struct stat& status) const {
  const Lock lock(mutex_);
  const auto found = names_.find({status.st_dev, status.st_ino});
  return found == names_.end() ? std::vector<std::string>() : found->second;
}

// From now on another file is at the path, or none.
void SourceTree::note_another(const std::string& path) {
  const Lock lock(mutex_);
  if (const auto known = root_files_.find(path); known != root_files_.end()) known->second->expect_another();
}

// The same for all paths below it.
void SourceTree::note_others_below(const std::string& path) {
  const Lock lock(mutex_);
  for (const auto& [at, file] : root_files_) {
    if (at.starts_with(path + "/")) file->expect_another();
  }
}

namespace {

// A file that is about to lose a name, held open: the host gives the number of one that is gone to the next only when
// nothing holds it. On NFS it would get a hidden name instead, so that its number may be another's at once.
class LosingName {
 public:
  LosingName(const Descriptor& directory, const std::string& name) {
    struct statfs system {};
    if (::fstatfs(directory.get(), &system) != 0 || system.f_type == NFS_SUPER_MAGIC) return;
    file_ = Descriptor(::openat(directory.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }
  // It has lost it.
  void tell(const MountContext& context) const {
    struct stat status {};
    if (file_ && ::fstat(file_.get(), &status) == 0 && !S_ISDIR(status.st_mode) && status.st_nlink == 0)
      context.file_is_gone(file_number(status));
  }

 private:
  Descriptor file_;
};

}  // namespace

Result<> SourceTree::remove(const std::string& path, bool directory, const CallerPtr& by) {
  const ActingFor acting(by);
  if (!acting) return no_access(path);
  TRY(const Descriptor in, parent(path, by));
  const LosingName file(in, name_in_path(path));
  if (::unlinkat(in.get(), name_in_path(path).c_str(), directory ? AT_REMOVEDIR : 0) != 0)
    return system_failure(path, errno);
  file.tell(context_);
  note_another(path);
  return {};
}

Result<> SourceTree::rename(const std::string& from, const std::string& to, unsigned flags, const CallerPtr& by) {
  TRY_VOID(check_new_name(to));
  const ActingFor acting(by);
  if (!acting) return no_access(from);
  TRY(const Descriptor out_of, parent(from, by));
  TRY(const Descriptor into, parent(to, by));
  const LosingName replaced(into, name_in_path(to));
  if (::renameat2(out_of.get(), name_in_path(from).c_str(), into.get(), name_in_path(to).c_str(), flags) != 0)
    return system_failure(from, errno);
  replaced.tell(context_);
  for (const std::string& path : {from, to}) note_another(path), note_others_below(path);
  return {};
}

namespace {

constexpr auto kNobody = static_cast<uid_t>(-1);

// The times for utimensat(2). Nothing if a new size has set the time already: a caller that may write a file but does
// not own it may not set a single time.
std::optional<std::array<timespec, 2>> times_of(const AttributeChange& change) {
  if (!change.accessed && !change.modified) return std::nullopt;
  if (change.size && !change.accessed && change.modified->tv_nsec == UTIME_NOW) return std::nullopt;
  constexpr timespec kLeave{0, UTIME_OMIT};
  return std::array<timespec, 2>{change.accessed.value_or(kLeave), change.modified.value_or(kLeave)};
}

// Before a caller other than the owner writes, the kernel asks, on its behalf, for the mode without the set-user-ID and
// set-group-ID bits. The caller may not change the mode; but when it writes, the host clears these bits itself.
bool is_taken_away(const AttributeChange& change, const struct stat& status, const CallerPtr& by) {
  constexpr mode_t kTaken = S_ISUID | S_ISGID;
  if (!change.mode || !by || by->uid == status.st_uid) return false;
  const mode_t old = status.st_mode & 07777, wanted = *change.mode & 07777;
  return (old & ~kTaken) == (wanted & ~kTaken) && (wanted & ~old) == 0;
}

}  // namespace

Result<> SourceTree::change(const std::string& path, const AttributeChange& change, const CallerPtr& by) {
  const ActingFor acting(by);
  if (!acting) return no_access(path);
  TRY(const Descriptor in, open_as_is(parent_of(path), kDirectoryFlags, false, by));
  const std::string name = path.empty() ? "." : name_in_path(path);
  struct stat status {};
  if (::fstatat(in.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return system_failure(path, errno);
  if (change.size) {
    TRY(const Descriptor file, open_as_is(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, false, by));
    if (::ftruncate(file.get(), static_cast<off_t>(*change.size)) != 0) return system_failure(path, errno);
  }
  // Never through a link: the link itself is changed.
  if (change.mode && !is_taken_away(change, status, by) &&
      ::fchmodat(in.get(), name.c_str(), *change.mode & 07777, AT_SYMLINK_NOFOLLOW) != 0)
    return system_failure(path, errno);
  if (change.uid || change.gid) {
    if (::fchownat(in.get(), name.c_str(), change.uid.value_or(kNobody), change.gid.value_or(kNobody),
                   AT_SYMLINK_NOFOLLOW) != 0)
      return system_failure(path, errno);
  }
  const auto times = times_of(change);
  if (times && ::utimensat(in.get(), name.c_str(), times->data(), AT_SYMLINK_NOFOLLOW) != 0)
    return system_failure(path, errno);
  return {};
}

Result<> SourceTree::change(int open_file, const AttributeChange& change, const CallerPtr& by) {
  const std::string what = "open file";
  const ActingFor acting(by);
  if (!acting) return no_access(what);
  struct stat status {};
  if (::fstat(open_file, &status) != 0) return system_failure(what, errno);
  if (change.size && ::ftruncate(open_file, static_cast<off_t>(*change.size)) != 0) return system_failure(what, errno);
  if (change.mode && !is_taken_away(change, status, by) && ::fchmod(open_file, *change.mode & 07777) != 0)
    return system_failure(what, errno);
  if ((change.uid || change.gid) &&
      ::fchown(open_file, change.uid.value_or(kNobody), change.gid.value_or(kNobody)) != 0)
    return system_failure(what, errno);
  const auto times = times_of(change);
  if (times && ::futimens(open_file, times->data()) != 0) return system_failure(what, errno);
  return {};
}

}  // namespace tfilefs
