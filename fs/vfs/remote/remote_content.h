// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cluster_cache.h"
#include "content.h"
#include "tfile/source.h"

namespace tfilefs {

// A plain file of a server, byte for byte. Reads are sent when they are asked for, and wait on no thread; the kernel
// keeps the pages.
class RemoteContent final : public Content {
 public:
  RemoteContent(ClusterCache& cache, std::shared_ptr<const tfile::Source> source)
      : cache_(cache), source_(std::move(source)) {}
  std::uint64_t size() const override { return source_->size(); }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices>) override;

 private:
  ClusterCache& cache_;
  const std::shared_ptr<const tfile::Source> source_;
};

}  // namespace tfilefs
