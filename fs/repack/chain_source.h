// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/cluster_cache.h"
#include "error_log.h"
#include "reply.h"
#include "tfile/source.h"
#include "vfs/chain.h"
#include "vfs/chain_names.h"

namespace tfilefs {

// The columns of a table that lies in one file or in many, read through a cache of its own.
class ChainSource {
 public:
  // `table`: the name in those files that are named without one, with its directories. Blocks. Errors: as
  // Chain::current(); not_found (a file has no such table), unsupported (nothing in that of a file can be read).
  static Result<std::unique_ptr<ChainSource>> open(const CacheOptions&, std::vector<ChainName> files,
                                                   const std::string& table, const tfile::FarOptions&);
  ~ChainSource();
  ChainSource(const ChainSource&) = delete;
  ChainSource& operator=(const ChainSource&) = delete;

  const tfile::Table& table() const { return *table_->chained; }
  // Where the files differ; some columns may be left out.
  const std::vector<Difference>& differences() const { return table_->differences; }
  CachedStreams& streams() const { return *table_->streams; }

 private:
  ChainSource(const CacheOptions&);
  Result<> check_files() const;

  std::unique_ptr<ClusterCache> cache_;
  ErrorLog errors_;
  MountContext context_;
  std::shared_ptr<Chain> chain_;
  ChainStatePtr state_;
  const ChainedTable* table_ = nullptr;
};

}  // namespace tfilefs
