// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/table_load.h"

#include <utility>

#include "vfs/nodes/blocking.h"

namespace tfilefs {

void load_table(std::shared_ptr<const Generation> generation, std::shared_ptr<const tfile::DirectoryListing> listing,
                std::uint32_t key, std::string path, Reply<std::shared_ptr<const LoadedTable>> reply) {
  const tfile::KeyInfo& info = listing->keys[key];
  auto load = [generation, listing, key, seek = info.seek,
               path = std::move(path)]() -> Result<std::shared_ptr<const LoadedTable>> {
    const Generation& g = *generation;
    TRY(auto table, g.file->unresolved_table(listing->keys[key]));
    g.note_memory(table->memory());
    if (!table->reason.empty()) g.context.errors.add(path, table->reason);
    for (const std::string& warning : table->warnings) g.context.errors.add(path, warning);
    return std::make_shared<const LoadedTable>(std::move(table), g.context.cache, TableLabel{path, g.serial},
                                               g.source->origin(), TableRanges{g.ranges, seek});
  };
  generation->table(info.seek).get(
      [&](Reply<std::shared_ptr<const LoadedTable>> loaded) {
        answer_blocking_within(generation->context.cache, generation->source->origin(),
                               std::uint64_t{info.objlen} + info.nbytes, std::move(load), std::move(loaded));
      },
      std::move(reply));
}

}  // namespace tfilefs
