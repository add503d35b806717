// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/root_file_vnodes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "path_name.h"
#include "vfs/names/name_index.h"
#include "vfs/nodes/acting_for.h"
#include "vfs/nodes/beneath.h"

namespace tfilefs {

void RootFileVnodes::attributes(VnodeId, Reply<Attributes> reply) const {
  auto tell = [&context = context_](const GenerationPtr& now, Reply<Attributes> done) {
    done(directory_attributes(now->state.from, context.ownership));
  };
  file_->current(Freshness::recent, value_for<GenerationPtr>(std::move(reply), std::move(tell)));
}

void RootFileVnodes::enter(VnodeId, Freshness freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  auto tell = [](const GenerationPtr& now, Reply<std::shared_ptr<const Directory>> done) { done(now->root()); };
  file_->current(freshness, value_for<GenerationPtr>(std::move(reply), std::move(tell)));
}

SourceState source_state(const struct stat& status) { return {tfile::identity_of(status), provenance_of(status)}; }

std::uint64_t version_of(const tfile::Identity& identity) {
  const std::array<std::uint64_t, 5> numbers{identity.size, static_cast<std::uint64_t>(identity.modified_ns),
                                             identity.object[0], identity.object[1], identity.state};
  return hash_of_name({reinterpret_cast<const char*>(numbers.data()), sizeof numbers}) | 1;
}

std::uint64_t file_number(const struct stat& status) {
  return version_of({.object = tfile::identity_of(status).object});
}

namespace {

class PathOrigin final : public FileLocator {
 public:
  PathOrigin(std::string path, std::shared_ptr<const Descriptor> directory, std::string name)
      : path_(std::move(path)), directory_(std::move(directory)), name_(std::move(name)) {}

  Result<SourceState> look() const override {
    struct stat status {};
    if (::fstatat(directory_->get(), name_.c_str(), &status, 0) != 0) return tfile::system_error(path_, errno);
    return source_state(status);
  }

  Result<std::shared_ptr<const GuardedSource>> open() const override {
    // O_NONBLOCK so that opening a FIFO does not wait for its writer; it changes nothing for regular files.
    Descriptor file(::openat(directory_->get(), name_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!file) return tfile::system_error(path_, errno);
    TRY(auto source, tfile::adopt_source(file.release(), path_, directory_->get()));
    return GuardedSource::guard(std::move(source));
  }

  // The user who mounts shares the path to the file. Its own permissions decide about the file itself.
  Result<tfile::Identity> reach(const CallerPtr& by, Access access, const std::string& sibling) const override {
    const Descriptor file(::openat(directory_->get(), name_.c_str(), O_PATH | O_CLOEXEC));
    if (!file) return tfile::system_error(path_, errno);
    const ActingFor acting(by);
    if (!acting) return tl::unexpected(not_admitted());
    const Descriptor found = sibling.empty() ? reopen_for(by, file.get(), access)
                                             : open_beneath_for(by, directory_->get(), "", sibling,
                                                                O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, true);
    struct stat status {};
    if (!found || ::fstat(found.get(), &status) != 0) return tfile::system_error(path_, errno);
    return tfile::identity_of(status);
  }

 private:
  const std::string path_;
  const std::shared_ptr<const Descriptor> directory_;
  const std::string name_;
};

}  // namespace

Result<std::unique_ptr<const FileLocator>> make_path_origin(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  auto directory = std::make_shared<const Descriptor>(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!*directory) return tfile::system_error(parent, errno);
  return make_path_origin(path, std::move(directory));
}

std::unique_ptr<const FileLocator> make_path_origin(const std::string& path,
                                                    std::shared_ptr<const Descriptor> directory) {
  return std::make_unique<const PathOrigin>(path, std::move(directory), name_in_path(path));
}

}  // namespace tfilefs
