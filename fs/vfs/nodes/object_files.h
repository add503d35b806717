// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/cluster_cache.h"
#include "mutex.h"
#include "once.h"
#include "tfile/file.h"
#include "tfile/object.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

// An object that was opened, and the texts made from its payload, as a whole in the cache or in pieces. Const and
// thread-safe.
class ObjectFiles : public std::enable_shared_from_this<ObjectFiles> {
 public:
  // `payload`: of File::payload, of a large object of File::large_payload. `cached`: the same in the cache, where it
  // may be already since the object was opened. `blocks`: the bytes of File::large_payload in the cache; nullptr if the
  // payload is not large.
  ObjectFiles(std::shared_ptr<const tfile::Object>, std::shared_ptr<const tfile::StreamSet> payload,
              std::shared_ptr<CachedStreams> cached, std::shared_ptr<CachedStreams> blocks, ClusterCache&);

  const std::shared_ptr<const tfile::Object>& object() const { return object_; }

  // The texts of this object, or of the part of it at a node: names, and whether each is shown only if views are
  // listed.
  struct Name {
    std::string_view name;
    ViewKind shown_as;
    bool is_view;
  };
  std::vector<Name> names(tfile::NodeId) const;

  // One of these, or a plot with logarithmic axes.
  std::optional<ViewKind> find(tfile::NodeId, std::string_view name) const;

  // One of them, as bytes from the cache.
  void content(tfile::NodeId, ViewKind, Reply<std::shared_ptr<Content>>) const;
  // Its size, if it was made before; never reads.
  std::optional<std::uint64_t> known_size(tfile::NodeId, ViewKind) const;

  // Has the JSON text counted while the payload is there: who opens an object mostly lists its files, with sizes. Does
  // nothing if it cannot be counted.
  void count_json(std::span<const std::byte> payload) const;

 private:
  std::optional<std::size_t> part_at(tfile::NodeId) const;
  Once<std::shared_ptr<Content>> once(tfile::NodeId, ViewKind) const;
  void made_whole(std::size_t part, ViewKind, Reply<std::shared_ptr<Content>>) const;
  void made_in_pieces(std::size_t part, ViewKind, Reply<std::shared_ptr<Content>>) const;
  std::shared_ptr<Content> shown_in_pieces(std::shared_ptr<const tfile::PiecedText>) const;

  const std::shared_ptr<const tfile::Object> object_;
  const std::shared_ptr<const tfile::StreamSet> payload_;
  const std::shared_ptr<CachedStreams> cached_, blocks_;
  ClusterCache& cache_;
  mutable Mutex mutex_{"ObjectFiles::mutex_"};
  mutable std::map<std::pair<tfile::NodeId, ViewKind>, Once<std::shared_ptr<Content>>> contents_ GUARDED_BY(mutex_);
};

// Reads the payload of a key of kind object through the cache, and the object in it. Errors: of the storage, and damage
// of the payload.
void load_object(ClusterCache&, std::shared_ptr<const tfile::File>, std::shared_ptr<const tfile::DirectoryListing>,
                 std::uint32_t key, Reply<std::shared_ptr<const ObjectFiles>>);

}  // namespace tfilefs
