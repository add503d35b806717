// SPDX-License-Identifier: Apache-2.0
#include "vfs/source_item.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "tfile/chunk.h"
#include "vfs/blocking.h"
#include "vfs/root_file_holder.h"

namespace tfilefs {
namespace {

using TreePtr = std::shared_ptr<SourceTree>;

// A plain file, passed through. Reads go as far as the file does now, so that one that grows can be followed.
class PassedContent final : public Content {
 public:
  PassedContent(ClusterCache& cache, Descriptor file, std::uint64_t size)
      : cache_(cache), file_(std::make_shared<const Descriptor>(std::move(file))), size_(size) {}
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    answer_blocking(
        cache_, [file = file_, offset, size] { return read_file(file->get(), offset, size); }, std::move(reply));
  }

 private:
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
};

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && (a.st_mode & S_IFMT) == (b.st_mode & S_IFMT);
}

// The kernel walks the path again when told so, and finds what is there now.
tl::unexpected<Error> another_file() {
  return tfile::fail(ErrorKind::stale, "another file was put in its place since it was looked up");
}

Result<OpenedContent> open_passed(SourceTree& tree, const std::string& path, const struct stat& known) {
  TRY(Descriptor file, tree.open_path(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, false));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return tfile::fail(ErrorKind::io, std::strerror(errno), -1, errno);
  if (!is_same_file(status, known)) return another_file();
  OpenedContent opened;
  opened.version = version_of(source_state(status).identity);
  opened.content = std::make_shared<PassedContent>(tree.context().cache, std::move(file),
                                                   static_cast<std::uint64_t>(status.st_size));
  return opened;
}

class SourceFile final : public Holder {
 public:
  SourceFile(TreePtr tree, std::string path, const struct stat& status)
      : tree_(std::move(tree)), path_(std::move(path)), status_(status), seen_(Clock::now()) {}

  std::uint64_t file_identity() const override {
    tfile::Identity place;  // what it holds may change, as files do
    place.device = status_.st_dev;
    place.inode = status_.st_ino;
    return version_of(place);
  }
  std::optional<Attributes> known_attributes(Slot) const override {
    if (Clock::now() - seen_ > MountedFile::kRecent) return std::nullopt;
    return mirrored_attributes(status_, tree_->context().ownership);
  }
  void attributes(Slot slot, Reply<Attributes> reply) const override {
    if (auto known = known_attributes(slot)) return reply(*known);
    auto job = [tree = tree_, path = path_, known = status_]() -> Result<Attributes> {
      TRY(const struct stat status, tree->status(path));
      if (!is_same_file(status, known)) return another_file();
      return mirrored_attributes(status, tree->context().ownership);
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }
  void open(Slot, Reply<OpenedContent> reply) const override {
    auto job = [tree = tree_, path = path_, known = status_] { return open_passed(*tree, path, known); };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }
  void read_link(Slot, Reply<std::string> reply) const override {
    answer_blocking(
        tree_->context().cache, [tree = tree_, path = path_] { return tree->link_target(path); }, std::move(reply));
  }

 private:
  using Clock = std::chrono::steady_clock;
  const TreePtr tree_;
  const std::string path_;
  const struct stat status_;
  const Clock::time_point seen_;
};

class SourceDirectory final : public Directory {
 public:
  SourceDirectory(TreePtr tree, std::string path) : tree_(std::move(tree)), path_(std::move(path)) {}
  void find(std::string_view name, Reply<FoundEntry>) const override;
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    answer_blocking(
        tree_->context().cache, [tree = tree_, path = path_] { return tree->list(path); }, std::move(reply));
  }

 private:
  const TreePtr tree_;
  const std::string path_;
};

struct Found {
  Entry entry;                             // as it shows if it is not a ROOT file
  std::shared_ptr<MountedFile> root_file;  // set where the first bytes say that it is one
};

// The first bytes decide; but one that cannot be opened as a ROOT file passes through.
void decide(MountContext& context, Found found, Reply<FoundEntry> reply) {
  if (!found.root_file) return reply(FoundEntry{std::move(found.entry), {}});
  MountedFile& file = *found.root_file;
  file.current(Freshness::recent, [&context, found = std::move(found),
                                   reply = std::move(reply)](Result<GenerationPtr> now) mutable {
    if (now)
      return reply(FoundEntry{{std::make_shared<const RootFileHolder>(context, std::move(found.root_file)), {}}, {}});
    if (now.error().kind == ErrorKind::not_found) return reply(tl::unexpected(std::move(now).error()));
    context.errors.add("/" + found.root_file->path(), now.error());
    reply(FoundEntry{std::move(found.entry), {}});
  });
}

void SourceDirectory::find(std::string_view name, Reply<FoundEntry> reply) const {
  auto job = [tree = tree_,
              path = path_.empty() ? std::string(name) : path_ + "/" + std::string(name)]() -> Result<Found> {
    Found found;
    TRY(found.entry, tree->look_up(path, found.root_file));
    return found;
  };
  auto finish = [&context = tree_->context(), reply = std::move(reply)](Result<Found> found) mutable {
    if (!found) return reply(tl::unexpected(std::move(found).error()));
    decide(context, *std::move(found), std::move(reply));
  };
  answer_blocking(tree_->context().cache, std::move(job), Reply<Found>(std::move(finish)));
}

class SourceDirectoryHolder final : public Holder {
 public:
  SourceDirectoryHolder(TreePtr tree, std::string path)
      : tree_(std::move(tree)),
        path_(std::move(path)),
        directory_(std::make_shared<const SourceDirectory>(tree_, path_)) {}

  void attributes(Slot, Reply<Attributes> reply) const override {
    auto job = [tree = tree_, path = path_]() -> Result<Attributes> {
      TRY(const struct stat status, tree->status(path));
      return mirrored_attributes(status, tree->context().ownership);
    };
    answer_blocking(tree_->context().cache, std::move(job), std::move(reply));
  }
  void enter(Slot, Freshness, Reply<std::shared_ptr<const Directory>> reply) const override { reply(directory_); }

 private:
  const TreePtr tree_;
  const std::string path_;
  const std::shared_ptr<const Directory> directory_;
};

}  // namespace

std::shared_ptr<const Holder> make_source_directory(TreePtr tree, std::string path) {
  return std::make_shared<const SourceDirectoryHolder>(std::move(tree), std::move(path));
}

std::shared_ptr<const Holder> make_source_file(TreePtr tree, std::string path, const struct stat& status) {
  return std::make_shared<const SourceFile>(std::move(tree), std::move(path), status);
}

}  // namespace tfilefs
