// SPDX-License-Identifier: Apache-2.0
#include "repack/chain_source.h"

#include <algorithm>
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
  for (ChainName& file : files) {
    if (file.table.empty()) file.table = table;
  }
  source->chain_ = std::make_shared<Chain>(source->context_, make_named_place(source->context_, std::move(files), far),
                                           ChainOptions(), "");
  TRY(source->state_,
      waited<ChainStatePtr>([&](auto reply) { source->chain_->current(Freshness::now, std::move(reply)); }));
  if (source->state_->tables.empty()) return tfile::fail(ErrorKind::not_found, table + ": no table that can be read");
  source->table_ = &source->state_->tables.front();
  TRY_VOID(source->check_files());
  return source;
}

// A chain goes on without files that do not have the table. Here that would lose their entries.
Result<> ChainSource::check_files() const {
  for (std::size_t i = 0; i < state_->members.size(); ++i) {
    if (!table_->paths[i].empty()) continue;
    const ChainMember& file = state_->members[i];
    const auto is_meant = [&](const TableFacts& facts) {
      return facts.path == file.table || facts.original == file.table;
    };
    const auto found = std::ranges::find_if(file.facts->tables, is_meant);
    if (found == file.facts->tables.end())
      return tfile::fail(ErrorKind::not_found, file.name + ": no table " + file.table);
    if (found->entries != 0)
      return tfile::fail(ErrorKind::unsupported, file.name + ": nothing of table " + file.table + " can be read");
  }
  return {};
}

}  // namespace tfilefs
