// SPDX-License-Identifier: Apache-2.0
#include "vfs/source_item.h"

#include <fcntl.h>
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

#include "tfile/chunk.h"
#include "tfile/file.h"
#include "tfile/name.h"
#include "vfs/acting_for.h"
#include "vfs/blocking.h"
#include "vfs/names.h"
#include "vfs/root_file_holder.h"
#include "vfs/written_file.h"

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
  // Where the end is, the source's file system decides: one step with the write, whoever else appends.
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
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got = ::pread(fd, bytes->data() + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return tfile::fail(ErrorKind::io, std::strerror(errno), static_cast<std::int64_t>(offset), errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    Slices slices;
    slices.pieces.push_back(bytes->span().first(done));
    slices.pins.push_back(std::move(bytes));
    return slices;
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
  return tfile::fail(ErrorKind::stale, "another file was put in its place since it was looked up");
}

// An open file, whatever has become of its name.
class OpenSourceFile final : public Holder {
 public:
  OpenSourceFile(std::shared_ptr<SourceTree> tree, std::shared_ptr<const Descriptor> file, CallerPtr by)
      : tree_(std::move(tree)), file_(std::move(file)), by_(std::move(by)) {}

  void attributes(HeldItem, Reply<Attributes> reply) const override {
    answer_blocking(
        tree_->context().cache, [tree = tree_, file = file_] { return told(*tree, file->get()); }, std::move(reply));
  }
  void change(HeldItem, const AttributeChange& change, Reply<Attributes> reply) const override {
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

// Which bytes the file has, as far as its times tell that: not while it could change once more at the same time.
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
    if (known) {
      TRY(const struct stat before, as_moved(tree->status(path, by)));
      if (!is_same_file(before, *known)) return another_file();
    }
    TRY_VOID(as_moved(tree->change(path, change, by)));
    TRY(const struct stat status, tree->status(path, by));
    return mirrored_attributes(status, tree->context().ownership, tree->context().writing != nullptr);
  };
}

class SourceFile final : public Holder {
 public:
  SourceFile(TreePtr tree, std::string path, const struct stat& status, CallerPtr by = nullptr)
      : tree_(std::move(tree)), path_(std::move(path)), status_(status), by_(std::move(by)), seen_(Clock::now()) {}

  // The host decides about access, each time.
  void admit(HeldItem, Access, const CallerPtr&, Reply<void> reply) const override { reply({}); }
  std::shared_ptr<const Holder> acting_for(const CallerPtr& by) const override {
    return std::make_shared<const SourceFile>(tree_, path_, status_, by);
  }

  std::uint64_t file_identity() const override {
    return version_of({.object = tfile::identity_of(status_).object});  // its contents may change, as those of files do
  }
  // A file that can be renamed and linked here is the same file under all of its names.
  bool keeps_inode() const override { return tree_->context().writing != nullptr; }
  const std::string& path() const { return path_; }
  std::optional<Attributes> known_attributes(HeldItem) const override {
    // A file that is written through this mount changes without a new look at it.
    if (by_ || tree_->context().writing || Clock::now() - seen_ > MountedFile::kRecent) return std::nullopt;
    return mirrored_attributes(status_, tree_->context().ownership, tree_->context().writing != nullptr);
  }
  void attributes(HeldItem held, Reply<Attributes> reply) const override {
    if (auto known = known_attributes(held)) return reply(*known);
    auto job = [tree = tree_, path = path_, known = status_, by = by_]() -> Result<Attributes> {
      TRY(const struct stat status, as_moved(tree->status(path, by)));
      if (!is_same_file(status, known)) return another_file();
      return mirrored_attributes(status, tree->context().ownership, tree->context().writing != nullptr);
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }
  void open(HeldItem, Reply<OpenedContent> reply) const override { open_as(O_RDONLY, std::move(reply)); }
  void open_to_write(HeldItem, Reply<OpenedContent> reply) const override { open_as(O_RDWR, std::move(reply)); }
  void open_only_to_write(HeldItem, Reply<OpenedContent> reply) const override { open_as(O_WRONLY, std::move(reply)); }
  void change(HeldItem, const AttributeChange& change, Reply<Attributes> reply) const override {
    answer_blocking(tree_->context().cache, attributes_changed(tree_, path_, change, by_, status_), std::move(reply));
  }
  void read_link(HeldItem, Reply<std::string> reply) const override {
    answer_blocking(
        tree_->context().cache,
        [tree = tree_, path = path_, by = by_] { return as_moved(tree->link_target(path, by)); }, std::move(reply));
  }

 private:
  void open_as(int mode, Reply<OpenedContent> reply) const {
    auto job = [tree = tree_, path = path_, known = status_, mode, by = by_] {
      return open_passed(*tree, path, known, mode, by);
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }

  using Clock = std::chrono::steady_clock;
  const TreePtr tree_;
  const std::string path_;
  const struct stat status_;
  const CallerPtr by_;
  const Clock::time_point seen_;
};

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
    answer_blocking(
        tree_->context().cache, [tree = tree_, path = path_, by = by_] { return as_moved(tree->list(path, by)); },
        std::move(reply));
  }
  void make_file(std::string_view name, const Creation&, bool exclusive, Reply<CreatedFile>) const override;
  void make_directory(std::string_view name, const Creation&, Reply<FoundEntry>) const override;
  void make_link(std::string_view name, std::string_view target, const Creation&, Reply<FoundEntry>) const override;
  void make_hard_link(std::string_view name, const Holder& of, Reply<FoundEntry>) const override;
  void remove(std::string_view name, bool directory, Reply<void>) const override;
  void rename(std::string_view name, const Directory& to, std::string_view new_name, unsigned flags,
              Reply<void>) const override;

 private:
  std::string below(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  }
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

// The first bytes decide. But a file that cannot be opened as a ROOT file passes through, unless something is staged
// for it. If it has changed meanwhile, as by a commit, it is looked up again.
void decide(MountContext& context, Found found, Reply<FoundEntry> reply) {
  const bool same_for_all = !found.is_link && !found.is_own;
  if (!found.root_file) return reply(FoundEntry{std::move(found.entry), {}, same_for_all});
  MountedFile& file = *found.root_file;
  file.current(Freshness::recent, [&context, same_for_all, found = std::move(found),
                                   reply = std::move(reply)](Result<GenerationPtr> now) mutable {
    if (now && found.written) return reply(FoundEntry{{found.written->root(), {}}, {}});
    if (now)
      return reply(FoundEntry{
          {std::make_shared<const RootFileHolder>(context, std::move(found.root_file)), {}}, {}, same_for_all});
    const bool is_staged = found.written && found.written->overlay().has_pending();
    if (is_staged || !passes_through(now.error())) return reply(tl::unexpected(std::move(now).error()));
    context.errors.add("/" + found.root_file->path(), now.error());
    reply(FoundEntry{std::move(found.entry), {}, same_for_all});
  });
}

// A page of plots is shown if no file has its name; not on a mount that can make files, which could have that name. The
// same for a chain, on any mount.
Result<Found> look_up_or_make(const TreePtr& tree, const std::string& directory, const std::string& path,
                              const CallerPtr& by) {
  auto found = tree->look_up(path, by);
  const std::string name = path.substr(path.rfind('/') + 1);
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

void SourceDirectory::find(std::string_view name, Reply<FoundEntry> reply) const {
  auto finish = [&context = tree_->context(), reply = std::move(reply)](Result<Found> found) mutable {
    if (!found) return reply(tl::unexpected(std::move(found).error()));
    decide(context, *std::move(found), std::move(reply));
  };
  answer_blocking(
      tree_->context().cache,
      [tree = tree_, directory = path_, path = below(name), by = by_] {
        return look_up_or_make(tree, directory, path, by);
      },
      Reply<Found>(std::move(finish)));
}

void SourceDirectory::make_file(std::string_view name, const Creation& how, bool exclusive,
                                Reply<CreatedFile> reply) const {
  auto job = [tree = tree_, path = below(name), how, exclusive, by = by_]() -> Result<CreatedFile> {
    TRY(Descriptor file, tree->make_file(path, how, exclusive, by));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return tfile::fail(ErrorKind::io, std::strerror(errno), -1, errno);
    CreatedFile made{{{make_source_file(tree, path, status), {}}, {}}, {}};
    made.content = passed(*tree, std::move(file), status, by);
    return made;
  };
  answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
}

// A name that ends in ".root" becomes a ROOT file.
void SourceDirectory::make_directory(std::string_view name, const Creation& how, Reply<FoundEntry> reply) const {
  auto job = [tree = tree_, path = below(name), how = Creation(how), by = by_]() mutable -> Result<FoundEntry> {
    if (path.ends_with(".root")) {
      if (tree->status(path)) return tfile::fail(ErrorKind::exists, "there is one already", -1, EEXIST);
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
    TRY_VOID(tree->make_link(path, target, by));
    TRY(const struct stat status, tree->status(path));
    return FoundEntry{{make_source_file(tree, path, status), {}}, {}};
  };
  answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
}

void SourceDirectory::make_hard_link(std::string_view name, const Holder& of, Reply<FoundEntry> reply) const {
  const auto* file = dynamic_cast<const SourceFile*>(&of);
  if (!file) return Directory::make_hard_link(name, of, std::move(reply));
  auto job = [tree = tree_, of_path = file->path(), path = below(name), by = by_]() -> Result<FoundEntry> {
    TRY_VOID(tree->make_hard_link(of_path, path, by));
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

// A ROOT file, which is shown as a directory, is removed by rmdir if it is empty, as a directory would be.
Result<> remove_root_file(SourceTree& tree, const std::string& path, const CallerPtr& by) {
  TRY(const auto written, tree.written_file(path));
  if (written->staged().is_there()) {
    TRY(const auto source, written->staged().committed_source());
    TRY(const auto file, tfile::File::open(source));
    const Overlay::Listing staged = written->overlay().list(*written->staged().root());
    const bool all_gone =
        std::all_of(file->root()->keys.begin(), file->root()->keys.end(),
                    [&](const tfile::KeyInfo& key) { return staged.whiteouts.contains(tfile::escape_name(key.name)); });
    if (!all_gone || !staged.staged.empty()) return tfile::fail(ErrorKind::not_empty, "not empty", -1, ENOTEMPTY);
    TRY_VOID(claim(tree, *written));
    if (auto removed = tree.remove(path, false, by); !removed) {
      written->staged().unclaim();
      return removed;
    }
  } else if (!written->overlay().list(*written->staged().root()).staged.empty()) {
    return tfile::fail(ErrorKind::not_empty, "not empty", -1, ENOTEMPTY);
  }
  tree.forget(written);
  return {};
}

void SourceDirectory::remove(std::string_view name, bool directory, Reply<void> reply) const {
  auto job = [tree = tree_, path = below(name), directory, by = by_]() -> Result<> {
    TRY(const Found found, tree->look_up(path, by));
    if (found.written && !directory) return tfile::fail(ErrorKind::invalid, "is a directory", -1, EISDIR);
    if (found.written) return remove_root_file(*tree, path, by);
    return tree->remove(path, directory, by);
  };
  change_name(below(name), below(name), std::move(job), std::move(reply));
}

// Renames a file, or a directory and all below. Staged data belongs to a name, so it is committed to the files before
// they move.
class Renaming {
 public:
  Renaming(SourceTree& tree, std::string from, std::string into)
      : tree_(tree), from_(std::move(from)), into_(std::move(into)) {}

  Result<> run(unsigned flags, const CallerPtr& by) {
    auto done = prepare(by);
    if (done) done = tree_.rename(from_, into_, flags, by);
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
  Result<> prepare(const CallerPtr& by) {
    TRY(const Found found, tree_.look_up(from_, by));
    const auto taken = tree_.look_up(into_);
    if (found.written) {
      TRY_VOID(claim(tree_, *found.written));
      TRY_VOID(hold(found.written));
    }
    for (const WrittenPtr& file : tree_.written_files()) {
      if (file->path().starts_with(from_ + "/")) TRY_VOID(hold(file));
    }
    if (!taken || !taken->written || taken->written == found.written) return {};
    TRY_VOID(claim(tree_, *taken->written));
    held_.push_back(taken->written);
    return {};
  }

  Result<> hold(const WrittenPtr& file) {
    StagedFile& staged = file->staged();
    if (!staged.is_wanted()) return {};  // there is no such file any more
    held_.push_back(file);
    TRY_VOID(staged.commit(staged.root()));
    if (!staged.is_there() || !staged.changes().rest())
      return tfile::fail(ErrorKind::busy, "not committed yet", -1, EBUSY);
    return {};
  }

  SourceTree& tree_;
  const std::string from_, into_;
  std::vector<WrittenPtr> held_;
};

void SourceDirectory::rename(std::string_view name, const Directory& to, std::string_view new_name, unsigned flags,
                             Reply<void> reply) const {
  const auto* target = dynamic_cast<const SourceDirectory*>(&to);
  if (!target) return reply(tfile::fail(ErrorKind::invalid, "into a ROOT file", -1, EXDEV));
  auto job = [tree = tree_, from = below(name), into = target->below(new_name), flags, by = by_] {
    return Renaming(*tree, from, into).run(flags, by);
  };
  change_name(below(name), target->below(new_name), std::move(job), std::move(reply));
}

class SourceDirectoryHolder final : public Holder {
 public:
  SourceDirectoryHolder(TreePtr tree, std::string path, CallerPtr by = nullptr)
      : tree_(std::move(tree)),
        path_(std::move(path)),
        by_(std::move(by)),
        directory_(std::make_shared<const SourceDirectory>(tree_, path_, by_)) {}
  void admit(HeldItem, Access, const CallerPtr&, Reply<void> reply) const override { reply({}); }
  std::shared_ptr<const Holder> acting_for(const CallerPtr& by) const override {
    return std::make_shared<const SourceDirectoryHolder>(tree_, path_, by);
  }

  void attributes(HeldItem, Reply<Attributes> reply) const override {
    auto job = [tree = tree_, path = path_, by = by_]() -> Result<Attributes> {
      TRY(const struct stat status, as_moved(tree->status(path, by)));
      return mirrored_attributes(status, tree->context().ownership, tree->context().writing != nullptr);
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }
  void enter(HeldItem, Freshness, Reply<std::shared_ptr<const Directory>> reply) const override { reply(directory_); }
  void change(HeldItem, const AttributeChange& change, Reply<Attributes> reply) const override {
    answer_blocking(tree_->context().cache, attributes_changed(tree_, path_, change, by_), std::move(reply));
  }
  // For all ROOT files below it.
  void sync(HeldItem, Reply<void> reply) const override {
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

std::shared_ptr<const Holder> make_source_directory(TreePtr tree, std::string path) {
  return std::make_shared<const SourceDirectoryHolder>(std::move(tree), std::move(path));
}

std::shared_ptr<const Holder> make_source_file(TreePtr tree, std::string path, const struct stat& status) {
  return std::make_shared<const SourceFile>(std::move(tree), std::move(path), status);
}

}  // namespace tfilefs
