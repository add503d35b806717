// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "content.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {

// The file itself, byte for byte; stale once a commit has begun to change the bytes of the former state. Reads are jobs
// for a thread that may block. No bytes are cached here: the kernel keeps its pages, and the source's own page cache is
// one copy away.
class SourceContent final : public Content {
 public:
  explicit SourceContent(std::shared_ptr<const Generation> generation) : generation_(std::move(generation)) {}
  std::uint64_t size() const override { return generation_->source->size(); }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices>) override;

 private:
  const std::shared_ptr<const Generation> generation_;
};

}  // namespace tfilefs
