// SPDX-License-Identifier: Apache-2.0
#include "repack/saved_meanwhile.h"

#include <algorithm>

#include "tfile/source.h"
#include "vfs/nodes/guarded_source.h"

namespace tfilefs {
namespace {

bool is_being_written(const ChainName& name) {
  if (tfile::is_url(name.file)) return false;
  const auto source = tfile::open_source(name.file);
  const auto guarded = source ? GuardedSource::guard(*source) : tl::unexpected(source.error());
  return guarded && (*guarded)->is_changing();
}

}  // namespace

Error damage_or_save(Error error, const std::vector<ChainName>& files) {
  if (error.kind != ErrorKind::damaged) return error;
  const auto written = std::ranges::find_if(files, is_being_written);
  if (written == files.end()) return error;
  return {ErrorKind::stale, written->file + ": another program is writing this file; try again", -1, 0, error.source};
}

}  // namespace tfilefs
