// SPDX-License-Identifier: Apache-2.0
#include "draw/draw_table.h"

#include <memory>
#include <utility>

#include "repack/chain_source.h"
#include "repack/saved_meanwhile.h"
#include "repack/where_choice.h"
#include "vfs/names/chain_names.h"

namespace tfilefs {
namespace {

Result<Drawing> draw_chain(std::vector<ChainName> files, const TableDrawing& wanted, const std::stop_token& stop,
                           const std::function<void(double)>& progress) {
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

}  // namespace

Result<Drawing> draw_table(const TableDrawing& wanted, const std::stop_token& stop,
                           const std::function<void(double)>& progress) {
  constexpr int kTries = 4;  // a program that saves a file rests in between
  TRY(const std::vector<ChainName> files, chain_names(wanted.source, wanted.remote));
  if (files.empty() || files.front().table.empty())
    return tfile::fail(ErrorKind::invalid, wanted.source + ": name the table, as in FILE.root:TABLE");
  for (int tries = kTries;; --tries) {
    auto drawing = draw_chain(files, wanted, stop, progress);
    if (drawing || drawing.error().kind != ErrorKind::damaged) return drawing;
    Error error = damage_or_save(std::move(drawing).error(), files);
    if (error.kind == ErrorKind::damaged || tries == 1) return tl::unexpected<Error>(std::move(error));
  }
}

}  // namespace tfilefs
