// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "descriptor.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {

// A ROOT file as an entry of a directory: itself a directory, in whatever generation.
class RootFileVnodes final : public Vnodes {
 public:
  RootFileVnodes(MountContext& context, std::shared_ptr<MountedFile> file)
      : context_(context), file_(std::move(file)) {}
  void admit(VnodeId, Access access, const CallerPtr& by, Reply<void> reply) const override {
    file_->admit(access, by, std::move(reply));
  }
  void attributes(VnodeId, Reply<Attributes>) const override;
  void enter(VnodeId, Freshness, Reply<std::shared_ptr<const Directory>>) const override;

 private:
  MountContext& context_;
  const std::shared_ptr<MountedFile> file_;
};

// The file at `path` of the host (links are followed, since the user who mounts names it). It is found by its name in
// its directory, even if another file system is mounted over that. Errors: as open(2) of the directory.
Result<std::unique_ptr<const FileLocator>> make_path_origin(const std::string& path);
// The same for one of many files in a directory that is open.
std::unique_ptr<const FileLocator> make_path_origin(const std::string& path,
                                                    std::shared_ptr<const Descriptor> directory);

SourceState source_state(const struct stat&);

// A number that two states of a file share only if they are equal (or by a collision of 64 bits); never 0.
std::uint64_t version_of(const tfile::Identity&);
// The same of the file itself, whose contents may change: Vnodes::file_identity.
std::uint64_t file_number(const struct stat&);

}  // namespace tfilefs
