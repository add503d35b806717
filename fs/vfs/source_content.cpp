// SPDX-License-Identifier: Apache-2.0
#include "vfs/source_content.h"

#include <algorithm>

#include "tfile/chunk.h"
#include "vfs/blocking.h"

namespace tfilefs {

void SourceContent::read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) {
  if (offset >= source_->size()) return reply(Slices{});
  size = std::min<std::uint64_t>(size, source_->size() - offset);
  auto job = [source = source_, offset, size]() -> Result<Slices> {
    auto bytes = std::make_shared<tfile::Buffer>(size);
    TRY_VOID(tfile::read_range(*source, {offset, size}, bytes->span()));
    Slices slices;
    slices.pieces.push_back(bytes->span());
    slices.pins.push_back(std::move(bytes));
    return slices;
  };
  answer_reading(cache_, source_->origin(), std::move(job), std::move(reply));
}

}  // namespace tfilefs
