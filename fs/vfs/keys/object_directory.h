// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cluster_cache.h"
#include "once.h"
#include "tfile/file.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

// The decompressed payload of a key as a file, through the cache.
class ObjectBytes {
 public:
  ObjectBytes(std::shared_ptr<const Generation>, std::shared_ptr<const tfile::DirectoryListing>, std::uint32_t key);

  std::optional<Attributes> known_attributes() const;
  void attributes(Reply<Attributes>) const;
  void open(Reply<OpenedContent>) const;

 private:
  struct Payload {
    std::shared_ptr<CachedStreams> streams;
    std::int64_t length = 0;
  };
  void load(Reply<Payload>) const;
  Attributes attributes_of(const tfile::StreamSet&, std::int64_t length) const;

  const std::shared_ptr<const Generation> generation_;
  const std::shared_ptr<const tfile::DirectoryListing> listing_;
  const std::uint32_t key_;
  mutable Once<Payload> payload_;
};

// The directory of an object that has only its bytes to show: object.bin. `why`: if the object is damaged, object.json
// is there too, and fails with this.
std::shared_ptr<const Directory> make_object_directory(std::shared_ptr<const Generation>,
                                                       std::shared_ptr<const tfile::DirectoryListing>,
                                                       std::uint32_t key, const tfile::Error& why);

}  // namespace tfilefs
