// SPDX-License-Identifier: Apache-2.0
#include "repack/chain_source.h"

#include <utility>

#include "waited.h"

namespace tfilefs {

ChainSource::ChainSource(const CacheOptions& options)
    : cache_(std::make_unique<ClusterCache>(options)), context_{*cache_, errors_, {}} {}

ChainSource::~ChainSource() {
  cache_->settle();
  table_ = nullptr;
  state_.reset();
  chain_.reset();
  context_.recent.clear();
  cache_.reset();
}

Result<std::unique_ptr<ChainSource>> ChainSource::open(const CacheOptions& options, std::vector<ChainName> files,
                                                       const std::string& table, const tfile::FarOptions& far) {
  std::unique_ptr<ChainSource> source(new ChainSource(options));
  for (ChainName& file : files) file.table = table;
  source->chain_ = std::make_shared<Chain>(source->context_, make_named_place(source->context_, std::move(files), far),
                                           ChainOptions(), "");
  TRY(source->state_,
      waited<ChainStatePtr>([&](auto reply) { source->chain_->current(Freshness::now, std::move(reply)); }));
  if (source->state_->tables.empty()) return tfile::fail(ErrorKind::not_found, table + ": no table that can be read");
  source->table_ = &source->state_->tables.front();
  return source;
}

}  // namespace tfilefs
