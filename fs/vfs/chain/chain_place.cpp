// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <cerrno>
#include <map>
#include <utility>

#include "descriptor.h"
#include "tfile/local_file.h"
#include "vfs/chain/chain.h"
#include "vfs/nodes/root_file_vnodes.h"
#include "vfs/nodes/url_origin.h"

namespace tfilefs {
namespace {

template <class Name>
class NamedPlace final : public ChainPlace {
 public:
  NamedPlace(MountContext& context, std::vector<Name> names, tfile::RemoteOptions remote)
      : context_(context), names_(std::move(names)), remote_(std::move(remote)) {
    remote_.is_one_of_many = true;
  }

  Result<std::vector<ChainName>> list() const override {
    std::vector<ChainName> all;
    for (const Name& name : names_) {
      TRY(const std::vector<ChainName> found, chain_names(name, remote_));
      all.insert(all.end(), found.begin(), found.end());
    }
    if (all.empty()) return tfile::fail(ErrorKind::not_found, "no files to chain");
    return all;
  }

  Result<std::shared_ptr<MountedFile>> file(const std::string& name, std::string path) const override {
    if (tfile::is_url(name))
      return std::make_shared<MountedFile>(context_, make_url_origin(name, remote_), std::move(path));
    TRY(auto directory, directory_of(name));
    return std::make_shared<MountedFile>(context_, make_path_origin(name, std::move(directory)), std::move(path));
  }

 private:
  // The files of a directory share one descriptor of it.
  Result<std::shared_ptr<const Descriptor>> directory_of(const std::string& file) const {
    const std::size_t slash = file.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : file.substr(0, slash + 1);
    const Lock lock(mutex_);
    std::weak_ptr<const Descriptor>& known = directories_[parent];
    if (auto open = known.lock()) return open;
    auto open = std::make_shared<const Descriptor>(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!*open) return tfile::system_error(parent, errno);
    known = open;
    return open;
  }

  MountContext& context_;
  const std::vector<Name> names_;
  tfile::RemoteOptions remote_;  // constant after construction
  mutable Mutex mutex_{"NamedPlace::mutex_"};
  mutable std::map<std::string, std::weak_ptr<const Descriptor>> directories_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<const ChainPlace> make_named_place(MountContext& context, std::vector<std::string> names,
                                                   tfile::RemoteOptions remote) {
  return std::make_unique<const NamedPlace<std::string>>(context, std::move(names), std::move(remote));
}

std::unique_ptr<const ChainPlace> make_named_place(MountContext& context, std::vector<ChainName> names,
                                                   tfile::RemoteOptions remote) {
  return std::make_unique<const NamedPlace<ChainName>>(context, std::move(names), std::move(remote));
}

}  // namespace tfilefs
