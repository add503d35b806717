// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/recorded_table.h"
#include "ntuple/copy/source_ntuple.h"
#include "ntuple/write/page_list_encode.h"
#include "ntuple/write/part_encode.h"
#include "tfile/table_copy.h"

namespace tfile {

// An RNTuple made of the pages of others. Its header is that of the first of them. See TableCopy for rules about
// threads. Only whole RNTuples can be copied so: entries of a page have no beginning that could be seen.
class NtupleCopy final : public RecordedTable, public TableCopy {
 public:
  NtupleCopy(BlobPlace place, CopyOptions options) : place_(std::move(place)), options_(std::move(options)) {}
  TableCopy* copy() override { return this; }

  Result<> add_table(std::shared_ptr<const File>, const KeyInfo&, const KeptEntries*) override;
  const std::vector<std::string>& left_out() const override { return left_out_; }
  std::size_t unit_count() const override { return units_.size(); }
  Unit unit(std::size_t) const override;
  std::string name_of_unit(std::size_t) const override;
  Result<Part> encode(std::size_t unit, std::span<const std::span<const std::byte>> stored) const override;
  Result<> add_unit(std::size_t unit, Part&, std::uint64_t address) override;
  Result<> end_table() override;

  Result<Draft> draft(std::uint32_t keylen) const override;
  Result<std::vector<std::byte>> place(Draft, RecordPlaces&) override;
  void placed() override {}
  const std::string& class_name() const override;
  std::vector<std::string> classes() const override { return {class_name()}; }
  void rename(std::string) override {}  // the header keeps the name that the RNTuple had

 private:
  // Pages of one column in one cluster.
  struct PagesOfColumn {
    std::uint32_t cluster = 0, column = 0;
    std::vector<std::uint32_t> pages;
  };
  // The address of a page in the copy, by its address in the source. Equal pages of a cluster may be stored once.
  using Placed = std::vector<std::pair<std::uint64_t, WrittenPage>>;

  const SourceColumn& column_of(const PagesOfColumn& unit) const {
    return source_->clusters[unit.cluster].columns[unit.column];
  }
  Result<> check(const SourceNtuple&, const KeptEntries*) const;
  void plan_units();
  Result<> add_stored_page(const SourcePage&, std::uint32_t column, std::span<const std::byte> stored,
                           std::vector<std::byte>& into, Part&) const;
  Result<ClusterRecord> copied_cluster(std::size_t cluster) const;

  BlobPlace place_;
  const CopyOptions options_;
  std::unique_ptr<SourceNtuple> source_;
  std::vector<PagesOfColumn> units_;
  std::vector<Placed> placed_;  // by cluster of the source
  Anchor anchor_;               // of the first: its version
  std::vector<std::byte> header_;
  std::vector<std::byte> tail_;  // what follows the cluster groups in a footer
  SchemaLists header_lists_, extension_;
  std::vector<std::vector<ClusterRecord>> groups_;  // one for each table
  std::vector<std::int64_t> elements_;              // of each column, in the tables that have ended
  std::vector<std::string> left_out_;
  std::int64_t entries_ = 0;  // of the tables that have ended
};

}  // namespace tfile
