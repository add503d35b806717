// SPDX-License-Identifier: Apache-2.0
#include "vfs/mirror/source_item.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>
#include <vector>

#include "on_behalf.h"
#include "path_name.h"
#include "tfile/chunk.h"
#include "tfile/file.h"
#include "tfile/local_file.h"
#include "tfile/name.h"
#include "vfs/names/names.h"
#include "vfs/nodes/acting_for.h"
#include "vfs/nodes/awaited_descriptor.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/root_file_vnodes.h"
#include "vfs/written/written_file.h"

namespace tfilefs {
namespace {

using TreePtr = std::shared_ptr<SourceTree>;

// A plain file, passed through. Reads reach to the present end of the file, so that a growing one can be followed.
class PassedContent final : public Content {
 public:
  // `by`: the caller that opened it. A write by it clears the set-user-ID and set-group-ID bits.
  PassedContent(ClusterCache& cache, std::shared_ptr<const Descriptor> file, std::uint64_t size, CallerPtr by)
      : cache_(cache), file_(std::move(file)), size_(size), by_(std::move(by)) {}
  std::uint64_t size() const override { return size_; }
  const std::shared_ptr<const Descriptor>& file() const { return file_; }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    answer_reading(
        cache_, tfile::kLocalOrigin, [file = file_, offset, size] { return read_file(file->get(), offset, size); },
        std::move(reply));
  }
  void write(std::uint64_t offset, std::span<const std::byte> bytes, Reply<std::size_t> reply) override {
    auto job = [file = file_, offset, by = by_,
                copy = std::vector<std::byte>(bytes.begin(), bytes.end())]() -> Result<std::size_t> {
      const ActingFor acting(by);
      if (!acting) return not_admitted();
      TRY_VOID(write_all(file->get(), offset, copy));
      return copy.size();
    };
    answer_blocking(cache_, std::move(job), std::move(reply));
  }
  void append(std::uint64_t, std::span<const std::byte> bytes, Reply<std::size_t> reply) override {
    auto job = [file = file_, by = by_,
                copy = std::vector<std::byte>(bytes.begin(), bytes.end())]() -> Result<std::size_t> {
      const ActingFor acting(by);
      if (!acting) return not_admitted();
      return append_all(file->get(), copy);
    };
    answer_blocking(cache_, std::move(job), std::move(reply));
  }
  void sync(Reply<void> reply) override {
    auto job = [file = file_]() -> Result<> {
      if (::fsync(file->get()) != 0) return tfile::fail(ErrorKind::io, std::strerror(errno), -1, errno);
      return {};
    };
    answer_blocking(cache_, std::move(job), std::move(reply));
  }

 private:
  // The source's file system decides where the end is: one step with the write, whoever else appends.
  static Result<std::size_t> append_all(int fd, std::span<const std::byte> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const iovec piece{const_cast<std::byte*>(bytes.data()) + done, bytes.size() - done};
      const ssize_t taken = ::pwritev2(fd, &piece, 1, 0, RWF_APPEND);
      if (taken < 0 && errno == EINTR) continue;
      if (taken < 0 && done > 0) break;  // as write(2): what was taken before counts
      if (taken < 0) return tfile::fail(ErrorKind::io, std::strerror(errno), -1, errno);
      done += static_cast<std::size_t>(taken);
    }
    return done;
  }
  static Result<Slices> read_file(int fd, std::uint64_t offset, std::size_t size) {
    auto bytes = std::make_shared<tfile::Buffer>(size);
    const auto got = tfile::read_up_to(fd, offset, bytes->span());
    if (!got)
      return tfile::fail(ErrorKind::io, std::strerror(got.error()), static_cast<std::int64_t>(offset), got.error());
    return one_slice(std::move(bytes), 0, *got);
  }

  ClusterCache& cache_;
  const std::shared_ptr<const Descriptor> file_;
  const std::uint64_t size_;
  const CallerPtr by_;
};

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && (a.st_mode & S_IFMT) == (b.st_mode & S_IFMT);
}

// A file that was moved is to be looked up under its new name.
template <class T>
Result<T> as_moved(Result<T> result) {
  if (!result && result.error().kind == ErrorKind::not_found) return tfile::fail(ErrorKind::stale, result.error().text);
  return result;
}

// On a stale error the kernel walks the path again, and finds the present file.
tl::unexpected<Error> another_file() {
  return tfile::fail(ErrorKind::stale, "replaced by another file since it was looked up");
}

Result<> check_same(const SourceTree& tree, const std::string& path, const struct stat& known, const CallerPtr& by) {
  TRY(const struct stat now, as_moved(tree.status(path, by)));
  if (!is_same_file(now, known)) return another_file();
  return {};
}

// An open file, whatever has become of its name.
class OpenSourceFile final : public Vnodes {
 public:
  OpenSourceFile(std::shared_ptr<SourceTree> tree, std::shared_ptr<const Descriptor> file, CallerPtr by)
      : tree_(std::move(tree)), file_(std::move(file)), by_(std::move(by)) {}

  void attributes(VnodeId, Reply<Attributes> reply) const override {
    answer_blocking(
        tree_->context().cache, [tree = tree_, file = file_] { return told(*tree, file->get()); }, std::move(reply));
  }
  void change(VnodeId, const AttributeChange& change, Reply<Attributes> reply) const override {
    auto job = [tree = tree_, file = file_, change, by = by_]() -> Result<Attributes> {
      TRY_VOID(SourceTree::change(file->get(), change, by));
      return told(*tree, file->get());
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }

 private:
  static Result<Attributes> told(const SourceTree& tree, int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return tfile::fail(ErrorKind::io, std::strerror(errno), -1, errno);
    return mirrored_attributes(status, tree.context().ownership, tree.context().writing != nullptr);
  }

  const std::shared_ptr<SourceTree> tree_;
  const std::shared_ptr<const Descriptor> file_;
  const CallerPtr by_;
};

// The version of the file's bytes, as far as its times tell that: not while it could change once more at the same time.
std::uint64_t version_seen(const struct stat& status) {
  constexpr time_t kClockStep = 2;  // seconds: the coarsest clock of file systems, that of FAT
  static std::atomic<std::uint64_t> openings = 0;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tfile::Identity identity = tfile::identity_of(status);
  if (now.tv_sec - status.st_ctim.tv_sec <= kClockStep) identity.state = ++openings;
  return version_of(identity);
}

OpenedContent passed(SourceTree& tree, Descriptor descriptor, const struct stat& status, CallerPtr by) {
  const auto file = std::make_shared<const Descriptor>(std::move(descriptor));
  OpenedContent opened;
  opened.version = version_seen(status);
  if (tree.context().writing) opened.own = std::make_shared<const OpenSourceFile>(tree.shared_from_this(), file, by);
  opened.content = std::make_shared<PassedContent>(tree.context().cache, file,
                                                   static_cast<std::uint64_t>(status.st_size), std::move(by));
  return opened;
}

Result<OpenedContent> open_passed(SourceTree& tree, const std::string& path, const struct stat& known, int mode,
                                  const CallerPtr& by) {
  TRY(Descriptor file, as_moved(tree.open_path(path, mode | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, false, by)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return tfile::fail(ErrorKind::io, std::strerror(errno), -1, errno);
  if (!is_same_file(status, known)) return another_file();
  return passed(tree, std::move(file), status, by);
}

// A job that changes attributes and returns the new ones. `known`: what is at the path, as far as that was looked at.
auto attributes_changed(TreePtr tree, std::string path, const AttributeChange& change, CallerPtr by,
                        std::optional<struct stat> known = std::nullopt) {
  return [tree = std::move(tree), path = std::move(path), change, by = std::move(by), known]() -> Result<Attributes> {
    if (known) TRY_VOID(check_same(*tree, path, *known, by));
    TRY_VOID(as_moved(tree->change(path, change, by)));
    TRY(const struct stat status, tree->status(path, by));
    return mirrored_attributes(status, tree->context().ownership, tree->context().writing != nullptr);
  };
}

// `look` with a path of a file. The kernel knows a file by one of its names, the one seen last, which may go, or be
// closed to the caller, while it is asked for by another: then the others are tried.
template <class Look>
auto at_any_name(const SourceTree& tree, const std::string& path, const struct stat& file, Look look)
    -> decltype(look(path)) {
  auto seen = look(path);
  if (seen || (seen.error().kind != ErrorKind::stale && seen.error().kind != ErrorKind::denied)) return seen;
  for (const std::string& name : tree.names_of(file)) {
    if (auto there = look(name)) return there;
  }
  return seen;
}

class SourceFile final : public Vnodes {
 public:
  SourceFile(TreePtr tree, std::string path, const struct stat& status, CallerPtr by = nullptr)
      : tree_(std::move(tree)),
        path_(std::move(path)),
        status_(status),
        by_(std::move(by)),
        seen_(tree_->context().clock->now()) {}

  // The host decides about access, each time.
  void admit(VnodeId, Access, const CallerPtr&, Reply<void> reply) const override { reply({}); }
  std::shared_ptr<const Vnodes> acting_for(const CallerPtr& by) const override {
    return std::make_shared<const SourceFile>(tree_, path_, status_, by);
  }

  std::uint64_t file_identity() const override { return file_number(status_); }
  // A file that can be renamed and linked here is the same file under all of its names.
  bool keeps_inode() const override { return tree_->context().writing != nullptr; }
  std::optional<Attributes> known_attributes(VnodeId) const override {
    // A file that is written through this mount changes without a new look at it.
    if (by_ || tree_->context().writing || tree_->context().clock->now() - seen_ > MountedFile::kRecent)
      return std::nullopt;
    return mirrored_attributes(status_, tree_->context().ownership, tree_->context().writing != nullptr);
  }
  void attributes(VnodeId vnode, Reply<Attributes> reply) const override {
    if (auto known = known_attributes(vnode)) return reply(*known);
    answer_somewhere(
        [tree = tree_, known = status_, by = by_](const std::string& path) -> Result<Attributes> {
          TRY(const struct stat status, as_moved(tree->status(path, by)));
          if (!is_same_file(status, known)) return another_file();
          return mirrored_attributes(status, tree->context().ownership, tree->context().writing != nullptr);
        },
        std::move(reply));
  }
  void open(VnodeId, Reply<OpenedContent> reply) const override { open_as(O_RDONLY, std::move(reply)); }
  void open_to_write(VnodeId, Reply<OpenedContent> reply) const override { open_as(O_RDWR, std::move(reply)); }
  void open_only_to_write(VnodeId, Reply<OpenedContent> reply) const override { open_as(O_WRONLY, std::move(reply)); }
  void change(VnodeId, const AttributeChange& change, Reply<Attributes> reply) const override {
    answer_somewhere([tree = tree_, known = status_, change, by = by_](
                         const std::string& path) { return attributes_changed(tree, path, change, by, known)(); },
                     std::move(reply));
  }
  void read_link(VnodeId, Reply<std::string> reply) const override {
    answer_somewhere(
        [tree = tree_, known = status_, by = by_](const std::string& path) -> Result<std::string> {
          TRY_VOID(check_same(*tree, path, known, by));
          return as_moved(tree->link_target(path, by));
        },
        std::move(reply));
  }
  // Blocks. Error: stale, if it is no more at its path.
  Result<> link_to(const std::string& link, const CallerPtr& by) const {
    return at_any_name(*tree_, path_, status_, [&](const std::string& path) -> Result<> {
      TRY_VOID(check_same(*tree_, path, status_, by));
      TRY_VOID(as_moved(tree_->make_hard_link(path, link, by)));
      tree_->note_name(status_, path);
      return {};
    });
  }

 private:
  // `look` is given a path of the file, and may be called again.
  template <class T, class Look>
  void answer_somewhere(Look look, Reply<T> reply) const {
    auto job = [tree = tree_, path = path_, known = status_, look = std::move(look)] {
      return at_any_name(*tree, path, known, look);
    };
    answer_opening(tree_->context().cache, std::move(job), std::move(reply));
  }
  void open_as(int mode, Reply<OpenedContent> reply) const {
    answer_somewhere([tree = tree_, known = status_, mode,
                      by = by_](const std::string& path) { return open_passed(*tree, path, known, mode, by); },
                     std::move(reply));
  }

  const TreePtr tree_;
  const std::string path_;
  const struct stat status_;
  const CallerPtr by_;
  const SteadyClock::Time seen_;
};

struct Judged;

class SourceDirectory final : public Directory {
 public:
  SourceDirectory(TreePtr tree, std::string path, CallerPtr by = nullptr)
      : tree_(std::move(tree)), path_(std::move(path)), by_(std::move(by)) {}
  void admit(Access, const CallerPtr&, Reply<void> reply) const override { reply({}); }
  std::shared_ptr<const Directory> acting_for(const CallerPtr& by) const override {
    return std::make_shared<const SourceDirectory>(tree_, path_, by);
  }
  void find(std::string_view name, Reply<FoundEntry>) const override;
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    answer_opening(
        tree_->context().cache, [tree = tree_, path = path_, by = by_] { return as_moved(tree->list(path, by)); },
        std::move(reply));
  }
  void make_file(std::string_view name, const Creation&, bool exclusive, Reply<CreatedFile>) const override;
  void make_directory(std::string_view name, const Creation&, Reply<FoundEntry>) const override;
  void make_link(std::string_view name, std::string_view target, const Creation&, Reply<FoundEntry>) const override;
  void make_hard_link(std::string_view name, const Vnodes& of, Reply<FoundEntry>) const override;
  void remove(std::string_view name, bool directory, Reply<void>) const override;
  void rename(std::string_view name, const Directory& to, std::string_view new_name, unsigned flags,
              Reply<void>) const override;

 private:
  std::string below(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  }
  // The find of `look_up`, a job, and how it is shown.
  template <class Job>
  void judged(Job look_up, Freshness, Reply<Judged>) const;
  // The files under these names, or below them, may be just being committed: the change waits for that.
  template <class Job>
  void change_name(const std::string& from, const std::string& into, Job job, Reply<void> reply) const {
    for (const WrittenPtr& file : tree_->written_files()) {
      if (!lies_in(file->path(), from) && !lies_in(file->path(), into)) continue;
      return answer_committing(tree_->context().cache, &file->staged(), std::move(job), std::move(reply));
    }
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }

  const TreePtr tree_;
  const std::string path_;
  const CallerPtr by_;
};

using Found = SourceTree::Found;

// Whether the error means that the file is to be shown as a plain one: it is damaged, or may not be read. A lack of
// descriptors or of memory passes, and a file that could not be read once may be readable the next time.
bool passes_through(const Error& error) { return is_lasting(error) || error.kind == ErrorKind::denied; }

// The kind that a name is shown as. `former`: a file that begins like a ROOT file, and is none, may have been one.
struct Judged {
  Found found;
  WrittenPtr former;
  bool is_root_file() const { return found.root_file || found.written; }
};

// The first bytes decide. But a file that cannot be opened as a ROOT file passes through, unless something is staged
// for it.
void judge(MountContext& context, Found found, Freshness freshness, Reply<Judged> reply) {
  // If names are changed, a link is one, and not the directory to which it leads.
  if (context.writing && found.is_link) found.root_file = nullptr;
  if (!found.root_file) return reply(Judged{std::move(found), nullptr});
  MountedFile& file = *found.root_file;
  auto show = [&context, found = std::move(found)](const Result<GenerationPtr>& now, Reply<Judged> done) mutable {
    if (now) return done(Judged{std::move(found), nullptr});
    const bool is_staged = found.written && found.written->overlay().has_pending();
    if (is_staged || !passes_through(now.error())) return done(tl::unexpected(now.error()));
    context.errors.add("/" + found.root_file->path(), now.error());
    found.root_file = nullptr;
    Judged plain{std::move(found), nullptr};
    plain.former = std::exchange(plain.found.written, nullptr);
    done(std::move(plain));
  };
  file.current(freshness, on_behalf_of<GenerationPtr>(std::move(reply), std::move(show)));
}

FoundEntry shown_as(MountContext& context, Found found) {
  const bool same_for_all = !found.is_link && !found.is_own;
  if (!found.root_file) return {std::move(found.entry), {}, same_for_all};
  if (found.written) return {{found.written->root(), {}}, {}};
  return {{std::make_shared<const RootFileVnodes>(context, std::move(found.root_file)), {}}, {}, same_for_all};
}

// A page of plots is shown if no file has its name; not on a mount that can make files, which could have that name. The
// same for a chain, on any mount.
Result<Found> look_up_or_make(const TreePtr& tree, const std::string& directory, const std::string& path,
                              const CallerPtr& by) {
  auto found = tree->look_up(path, by);
  const std::string name = name_in_path(path);
  const auto pattern = pattern_of_chain(name);
  if (!found && found.error().kind == ErrorKind::not_found && pattern && !by && tree->status(directory)) {
    Found chain;
    chain.is_own = true;
    chain.entry = tree->chain(directory, name, *pattern);
    return chain;
  }
  const bool is_index = path == kIndexName || path.ends_with("/" + std::string(kIndexName));
  const bool is_missing = !found && found.error().kind == ErrorKind::not_found;
  if (!is_missing || !is_index || by || tree->context().writing) return found;
  Found index;
  index.is_own = true;
  TRY(index.entry, source_index(tree, directory));
  return index;
}

template <class Job>
void SourceDirectory::judged(Job look_up, Freshness freshness, Reply<Judged> reply) const {
  auto finish =
      value_for<Found>(std::move(reply), [&context = tree_->context(), freshness](Found found, Reply<Judged> done) {
        judge(context, std::move(found), freshness, std::move(done));
      });
  answer_opening(tree_->context().cache, std::move(look_up), std::move(finish));
}

void SourceDirectory::find(std::string_view name, Reply<FoundEntry> reply) const {
  auto finish =
      value_for<Judged>(std::move(reply), [&context = tree_->context()](Judged judged, Reply<FoundEntry> done) {
        done(shown_as(context, std::move(judged.found)));
      });
  judged([tree = tree_, directory = path_, path = below(name),
          by = by_] { return look_up_or_make(tree, directory, path, by); },
         Freshness::recent, std::move(finish));
}

namespace {

// A ROOT file that was made and is not committed yet has its name, though there is nothing on the host.
Result<> check_not_staged(SourceTree& tree, const std::string& path) {
  for (const WrittenPtr& file : tree.written_files()) {
    if (file->path() == path && !file->staged().is_there() && file->staged().is_wanted()) return name_taken();
  }
  return {};
}

}  // namespace

void SourceDirectory::make_file(std::string_view name, const Creation& how, bool exclusive,
                                Reply<CreatedFile> reply) const {
  auto job = [tree = tree_, path = below(name), how, exclusive, by = by_]() -> Result<CreatedFile> {
    // Without O_EXCL it is opened by its name, which the kernel looks up again.
    if (auto is_free = check_not_staged(*tree, path); !is_free) {
      if (!exclusive) return another_file();
      return tl::unexpected(std::move(is_free).error());
    }
    auto created = tree->make_file(path, how, true, by);
    const bool is_new = created.has_value();
    if (!created && !exclusive && created.error().kind == ErrorKind::exists) {
      // A file that begins like a ROOT file is opened by its name: it may be shown as a directory.
      TRY(const Found found, tree->look_up(path));
      if (found.root_file || found.written) return another_file();
      created = tree->make_file(path, how, false, by);
    }
    TRY(Descriptor file, std::move(created));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return tfile::fail(ErrorKind::io, std::strerror(errno), -1, errno);
    CreatedFile made{{{make_source_file(tree, path, status), {}}, {}, true, is_new}, {}};
    made.content = passed(*tree, std::move(file), status, by);
    return made;
  };
  answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
}

// A name that ends in ".root" becomes a ROOT file.
void SourceDirectory::make_directory(std::string_view name, const Creation& how, Reply<FoundEntry> reply) const {
  auto job = [tree = tree_, path = below(name), how = Creation(how), by = by_]() mutable -> Result<FoundEntry> {
    if (path.ends_with(".root")) {
      if (tree->status(path)) return name_taken();
      TRY(const auto written, tree->new_written_file(path, how, by));
      // As in chmod: a copy of a read-only view of the file stays writable by its owner.
      TRY_VOID(written->staged().make({how.uid, how.gid, (how.mode & 0666) | S_IWUSR}));
      return FoundEntry{{written->root(), {}}, {}};
    }
    TRY_VOID(tree->make_directory(path, how, by));
    return FoundEntry{{make_source_directory(tree, path), {}}, {}};
  };
  answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
}

void SourceDirectory::make_link(std::string_view name, std::string_view target, const Creation&,
                                Reply<FoundEntry> reply) const {
  auto job = [tree = tree_, path = below(name), target = std::string(target), by = by_]() -> Result<FoundEntry> {
    TRY_VOID(check_not_staged(*tree, path));
    TRY_VOID(tree->make_link(path, target, by));
    TRY(const struct stat status, tree->status(path));
    return FoundEntry{{make_source_file(tree, path, status), {}}, {}, true, true};
  };
  answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
}

void SourceDirectory::make_hard_link(std::string_view name, const Vnodes& of, Reply<FoundEntry> reply) const {
  const auto* file = dynamic_cast<const SourceFile*>(&of);
  if (!file) return Directory::make_hard_link(name, of, std::move(reply));
  auto job = [tree = tree_, of = *file, path = below(name), by = by_]() -> Result<FoundEntry> {
    TRY_VOID(check_not_staged(*tree, path));
    TRY_VOID(of.link_to(path, by));
    TRY(const struct stat status, tree->status(path, by));
    return FoundEntry{{make_source_file(tree, path, status), {}}, {}};
  };
  answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
}

// A file that another mount is writing keeps its name.
Result<> claim(SourceTree& tree, const WrittenFile& file) {
  auto claimed = file.changes().claim();
  if (!claimed) tree.context().errors.add("/" + file.path(), claimed.error());
  return claimed;
}

// A ROOT file that cannot be written now, since another mount writes it, or a journal could not be taken over.
tl::unexpected<Error> not_ours() { return busy("being written by another mount"); }

// Whether no key is left in the file, and nothing is staged for it. To be called while it rests.
Result<bool> is_empty(const WrittenFile& written) {
  const Overlay::Listing staged = written.overlay().list(*written.staged().root());
  if (!staged.staged.empty()) return false;
  if (!written.staged().is_there()) return true;
  TRY(const auto source, written.staged().committed_source());
  TRY(const auto file, tfile::File::open(source));
  return std::ranges::all_of(file->root()->keys, [&](const tfile::KeyInfo& key) {
    return staged.whiteouts.contains(tfile::escape_name(key.name));
  });
}

// Keeps an empty ROOT file as it is, until it is forgotten or unclaimed: no other mount writes it, nothing can be
// staged in it, and no commit begins. Error: not_empty.
Result<> hold_empty(SourceTree& tree, const WrittenFile& written) {
  TRY_VOID(claim(tree, written));
  const bool rests = written.staged().rest();
  auto empty = rests ? is_empty(written) : Result<bool>(false);
  if (empty && *empty) return {};
  written.staged().unclaim();
  if (!empty) return tl::unexpected(std::move(empty).error());
  return not_empty();
}

// A ROOT file, which is shown as a directory, is removed by rmdir if it is empty, as a directory would be.
Result<> remove_root_file(SourceTree& tree, const WrittenPtr& written, const CallerPtr& by) {
  TRY_VOID(hold_empty(tree, *written));
  if (written->staged().is_there()) {
    if (auto removed = tree.remove(written->path(), false, by); !removed) {
      written->staged().unclaim();
      return removed;
    }
  }
  tree.forget(written);
  return {};
}

Result<> remove_name(SourceTree& tree, const std::string& path, bool directory, const Judged& judged,
                     const CallerPtr& by) {
  if (judged.is_root_file() && !directory) return is_a_directory();
  if (judged.found.written) return remove_root_file(tree, judged.found.written, by);
  if (judged.is_root_file()) return not_ours();
  TRY_VOID(tree.remove(path, directory, by));
  if (judged.former) tree.forget(judged.former);
  return {};
}

void SourceDirectory::remove(std::string_view name, bool directory, Reply<void> reply) const {
  const std::string path = below(name);
  auto go_on = [self = shared_from_this(), this, path, directory](Judged judged, Reply<void> done) mutable {
    auto job = [tree = tree_, path, directory, judged = std::move(judged), by = by_] {
      return remove_name(*tree, path, directory, judged, by);
    };
    change_name(path, path, std::move(job), std::move(done));
  };
  judged([tree = tree_, path, by = by_] { return tree->look_up(path, by); }, Freshness::now,
         value_for<Judged>(std::move(reply), std::move(go_on)));
}

// Renames a file, or a directory and all below. Staged data belongs to a name, so it is committed to the files before
// they move. Both names are held meanwhile: what was found of them stays true until one is the other.
class Renaming {
 public:
  Renaming(SourceTree& tree, std::string from, std::string into, Judged moved, std::optional<Judged> taken)
      : tree_(tree),
        from_(std::move(from)),
        into_(std::move(into)),
        moved_(std::move(moved)),
        taken_(std::move(taken)) {}

  Result<> run(unsigned flags, const CallerPtr& by) {
    auto done = prepare(flags);
    if (done) done = replaces_other_kind_ ? replace(by) : tree_.rename(from_, into_, flags, by);
    for (const WrittenPtr& file : held_) {
      if (done) {
        tree_.forget(file);
      } else {
        file->staged().unclaim();
      }
    }
    return done;
  }

 private:
  Result<> prepare(unsigned flags) {
    // It would leave a device behind, as only file systems that lie over others want it.
    if (flags & ~static_cast<unsigned>(RENAME_NOREPLACE | RENAME_EXCHANGE))
      return invalid_argument("rename flags are not supported, except RENAME_NOREPLACE and RENAME_EXCHANGE");
    if (taken_ && (flags & RENAME_NOREPLACE)) return name_taken();
    const bool exchanges = (flags & RENAME_EXCHANGE) != 0;
    if (taken_ && !exchanges) TRY_VOID(hold_target());
    TRY_VOID(hold_all(moved_, from_));
    if (taken_ && exchanges) TRY_VOID(hold_all(*taken_, into_));
    return {};
  }

  static bool is_directory(const Judged& judged) { return judged.is_root_file() || judged.found.is_directory; }

  // Holds what is to be replaced: a file by a file, or an empty directory by a directory, as they are shown.
  Result<> hold_target() {
    if (is_directory(*taken_) && !is_directory(moved_)) return is_a_directory();
    if (!is_directory(*taken_) && is_directory(moved_)) return not_a_directory();
    if (taken_->former) held_.push_back(taken_->former);
    if (taken_->is_root_file() && !taken_->found.written) return not_ours();
    const WrittenPtr& written = taken_->found.written;
    if (written) {
      TRY_VOID(hold_empty(tree_, *written));
      held_.push_back(written);
    }
    const bool is_file_there = written && written->staged().is_there();
    if (taken_->found.is_directory) {
      TRY(const auto names, tree_.list(into_));
      if (names->size() > 0) return not_empty();
    }
    replaces_other_kind_ =
        moved_.is_root_file() ? taken_->found.is_directory : moved_.found.is_directory && is_file_there;
    return {};
  }

  // On the host one of the two is a file, and the other a directory: they change places in one step, and the one that
  // is to go is removed. If it is not empty, they change back.
  Result<> replace(const CallerPtr& by) {
    TRY_VOID(tree_.rename(from_, into_, RENAME_EXCHANGE, by));
    auto removed = tree_.remove(from_, taken_->found.is_directory, by);
    if (!removed) TRY_VOID(tree_.rename(from_, into_, RENAME_EXCHANGE, by));
    return removed;
  }

  Result<> hold_all(const Judged& judged, const std::string& path) {
    if (judged.former) held_.push_back(judged.former);
    if (judged.is_root_file() && !judged.found.written) return not_ours();
    if (judged.found.written) {
      TRY_VOID(claim(tree_, *judged.found.written));
      TRY_VOID(hold(judged.found.written));
    }
    for (const WrittenPtr& file : tree_.written_files()) {
      if (file->path().starts_with(path + "/")) TRY_VOID(hold(file));
    }
    return {};
  }

  Result<> hold(const WrittenPtr& file) {
    StagedFile& staged = file->staged();
    if (!staged.is_wanted()) return {};  // there is no such file any more
    held_.push_back(file);
    TRY_VOID(staged.commit(staged.root()));
    if (!staged.is_there() || !staged.rest() || file->overlay().has_pending()) return busy("not committed yet");
    return {};
  }

  SourceTree& tree_;
  const std::string from_, into_;
  const Judged moved_;
  const std::optional<Judged> taken_;  // nothing if the name is free
  bool replaces_other_kind_ = false;
  std::vector<WrittenPtr> held_;
};

void SourceDirectory::rename(std::string_view name, const Directory& to, std::string_view new_name, unsigned flags,
                             Reply<void> reply) const {
  const auto* target = dynamic_cast<const SourceDirectory*>(&to);
  if (!target) return reply(crosses_files("cannot be moved into a ROOT file"));
  const std::string from = below(name), into = target->below(new_name);
  auto run = [self = shared_from_this(), this, from, into, flags](Judged moved, std::optional<Judged> taken,
                                                                  Reply<void> done) {
    auto job = [tree = tree_, from, into, moved = std::move(moved), taken = std::move(taken), flags, by = by_] {
      return Renaming(*tree, from, into, moved, taken).run(flags, by);
    };
    change_name(from, into, std::move(job), std::move(done));
  };
  auto go_on = [self = shared_from_this(), this, into, run](Judged moved, Reply<void> answer) mutable {
    auto both = [run, moved = std::move(moved)](std::optional<Judged> taken, Reply<void> done) mutable {
      run(std::move(moved), std::move(taken), std::move(done));
    };
    judged([tree = tree_, into] { return tree->look_up(into); }, Freshness::now,
           found_or_not<Judged>(std::move(answer), std::move(both)));
  };
  judged([tree = tree_, from, by = by_] { return tree->look_up(from, by); }, Freshness::now,
         value_for<Judged>(std::move(reply), std::move(go_on)));
}

class SourceDirectoryVnodes final : public Vnodes {
 public:
  SourceDirectoryVnodes(TreePtr tree, std::string path, CallerPtr by = nullptr)
      : tree_(std::move(tree)),
        path_(std::move(path)),
        by_(std::move(by)),
        directory_(std::make_shared<const SourceDirectory>(tree_, path_, by_)) {}
  void admit(VnodeId, Access, const CallerPtr&, Reply<void> reply) const override { reply({}); }
  std::shared_ptr<const Vnodes> acting_for(const CallerPtr& by) const override {
    return std::make_shared<const SourceDirectoryVnodes>(tree_, path_, by);
  }

  void attributes(VnodeId, Reply<Attributes> reply) const override {
    auto job = [tree = tree_, path = path_, by = by_]() -> Result<Attributes> {
      TRY(const struct stat status, as_moved(tree->status(path, by)));
      return mirrored_attributes(status, tree->context().ownership, tree->context().writing != nullptr);
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }
  void enter(VnodeId, Freshness, Reply<std::shared_ptr<const Directory>> reply) const override { reply(directory_); }
  void change(VnodeId, const AttributeChange& change, Reply<Attributes> reply) const override {
    answer_blocking(tree_->context().cache, attributes_changed(tree_, path_, change, by_), std::move(reply));
  }
  // For all ROOT files below it.
  void sync(VnodeId, Reply<void> reply) const override {
    auto job = [tree = tree_, path = path_]() -> Result<> {
      Result<> done;
      for (const WrittenPtr& file : tree->written_files()) {
        if (!path.empty() && !file->path().starts_with(path + "/")) continue;
        auto committed = file->staged().commit(file->staged().root());
        if (done) done = std::move(committed);
      }
      return done;
    };
    answer_committing(tree_->context().cache, tree_.get(), std::move(job), std::move(reply));
  }

 private:
  const TreePtr tree_;
  const std::string path_;
  const CallerPtr by_;
  const std::shared_ptr<const Directory> directory_;
};

}  // namespace

std::shared_ptr<const Descriptor> host_file_of(const Content& content) {
  const auto* passed = dynamic_cast<const PassedContent*>(&content);
  return passed ? passed->file() : nullptr;
}

std::shared_ptr<const Vnodes> make_source_directory(TreePtr tree, std::string path) {
  return std::make_shared<const SourceDirectoryVnodes>(std::move(tree), std::move(path));
}

std::shared_ptr<const Vnodes> make_source_file(TreePtr tree, std::string path, const struct stat& status) {
  if (status.st_nlink > 1 && tree->context().writing) tree->note_name(status, path);
  return std::make_shared<const SourceFile>(std::move(tree), std::move(path), status);
}

}  // namespace tfilefs
