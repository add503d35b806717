// SPDX-License-Identifier: Apache-2.0
#include "draw/draw_table.h"

#include <memory>
#include <utility>

#include "repack/chain_source.h"
#include "repack/where_choice.h"
#include "vfs/names/chain_names.h"

namespace tfilefs {
Result<Drawing> draw_table(const TableDrawing& wanted, const std::stop_token& stop,
                           const std::function<void(double)>& progress) {
  TRY(std::vector<ChainName> files, chain_names(wanted.source, wanted.remote));
  if (files.empty() || files.front().table.empty())
    return tfile::fail(ErrorKind::invalid, wanted.source + ": name the table, as in FILE.root:TABLE");
  const std::string table = files.front().table;
  const bool is_one_file = files.size() == 1;
  CacheOptions cache;
  cache.memory = wanted.memory;
  cache.threads = wanted.threads;
  cache.prefetch = Prefetch::off;  // all of a unit is asked for at once
  WantedFriends friends;
  friends.texts = texts_of_drawing(wanted.request, wanted.definitions);
  TRY(const std::unique_ptr<ChainSource> source,
      ChainSource::open(cache, std::move(files), table, wanted.remote, friends));
  const QueryScope scope = scope_of(*source, wanted.definitions, is_one_file);
  TRY(const Query query, bind_drawing(wanted.request, scope));
  ScanThreads threads(wanted.threads, wanted.memory);
  return draw({source->named_table(), source->named_streams(), false, threads.unit_bytes(), {wanted.memory / 4}}, query,
              wanted.request, {threads, stop, progress});
}

}  // namespace tfilefs
