// SPDX-License-Identifier: Apache-2.0
#include "vfs/root_file_holder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <type_traits>

#include "vfs/name_index.h"

namespace tfilefs {

void RootFileHolder::attributes(Slot, Reply<Attributes> reply) const {
  file_->current(Freshness::recent, [&context = context_, reply = std::move(reply)](Result<GenerationPtr> now) mutable {
    if (!now) return reply(tl::unexpected(std::move(now).error()));
    reply(directory_attributes((*now)->state.from, context.ownership));
  });
}

void RootFileHolder::enter(Slot, Freshness freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  file_->current(freshness, [reply = std::move(reply)](Result<GenerationPtr> now) mutable {
    if (!now) return reply(tl::unexpected(std::move(now).error()));
    reply((*now)->root());
  });
}

SourceState source_state(const struct stat& status) {
  const auto nanoseconds = [](const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; };
  return {{static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim), nanoseconds(status.st_ctim),
           status.st_ino, status.st_dev},
          provenance_of(status)};
}

std::uint64_t version_of(const tfile::Identity& identity) {
  // Numbers of 8 bytes without padding: hashed as they lie.
  static_assert(std::has_unique_object_representations_v<tfile::Identity>);
  return hash_of_name({reinterpret_cast<const char*>(&identity), sizeof identity}) | 1;
}

namespace {

class PathOrigin final : public Origin {
 public:
  explicit PathOrigin(std::string path) : path_(std::move(path)) {}

  Result<SourceState> look() const override {
    struct stat status {};
    if (::stat(path_.c_str(), &status) != 0) {
      const int number = errno;
      return tfile::fail(number == ENOENT ? ErrorKind::not_found : ErrorKind::io, path_ + ": " + std::strerror(number),
                         -1, number);
    }
    return source_state(status);
  }

  Result<std::shared_ptr<const tfile::File>> open() const override {
    TRY(auto source, tfile::open_source(path_));
    return tfile::File::open(std::move(source));
  }

 private:
  const std::string path_;
};

}  // namespace

std::unique_ptr<const Origin> make_path_origin(std::string path) {
  return std::make_unique<const PathOrigin>(std::move(path));
}

}  // namespace tfilefs
