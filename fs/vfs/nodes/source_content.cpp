// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/source_content.h"

#include <algorithm>

#include "tfile/chunk.h"
#include "vfs/nodes/blocking.h"

namespace tfilefs {

void SourceContent::read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) {
  if (offset >= this->size()) return reply(Slices{});
  size = std::min<std::uint64_t>(size, this->size() - offset);
  auto job = [generation = generation_, offset, size]() -> Result<Slices> {
    const GuardedSource& source = *generation->source;
    auto bytes = std::make_shared<tfile::Buffer>(size);
    TRY_VOID(tfile::read_range(source, {offset, size}, bytes->span()));
    if (generation->superseded) return tfile::fail(ErrorKind::stale, source.name() + ": committed since it was opened");
    return one_slice(std::move(bytes));
  };
  answer_reading(generation_->context.cache, generation_->source->origin(), std::move(job), std::move(reply));
}

}  // namespace tfilefs
