// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cluster_cache.h"
#include "content.h"
#include "tfile/source.h"

namespace tfilefs {

// The file itself, byte for byte. Reads are jobs for a thread that may block; nothing is kept, since the kernel keeps
// the pages and the source's own are a copy away.
class SourceContent final : public Content {
 public:
  SourceContent(ClusterCache& cache, std::shared_ptr<const tfile::Source> source)
      : cache_(cache), source_(std::move(source)) {}
  std::uint64_t size() const override { return source_->size(); }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices>) override;

 private:
  ClusterCache& cache_;
  const std::shared_ptr<const tfile::Source> source_;
};

}  // namespace tfilefs
