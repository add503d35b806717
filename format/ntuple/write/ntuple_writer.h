// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "container/recorded_table.h"
#include "model/part_sizes.h"
#include "ntuple/write/committed_ntuple.h"
#include "ntuple/write/known_pages.h"
#include "ntuple/write/page_list_encode.h"
#include "ntuple/write/part_encode.h"
#include "ntuple/write/schema_encode.h"
#include "ntuple/write/stored_columns.h"
#include "tfile/source.h"

namespace tfile {

// An RNTuple that grows (RNTuple Binary Format Specification 1.0). Its header is written once; fields that come later
// are in the footer's schema extension. Each commit adds a cluster group with a page list of its own, a footer, and a
// new anchor. A field that is added to existing entries has pages in their clusters, whose page lists are then written
// anew. Only the removal of a field makes a new header, and all page lists with it. See TableWriter for rules about
// threads.
class NtupleWriter final : public RecordedTable, public TableWriter {
 public:
  TableWriter* writer() override { return this; }

  static std::unique_ptr<NtupleWriter> create(BlobPlace, std::string name, std::string title);

  // Opens an existing RNTuple: the decompressed payload of its key. Blocks. Errors: as read_committed_ntuple.
  static Result<std::unique_ptr<NtupleWriter>> open(BlobPlace, std::shared_ptr<const Source>,
                                                    std::span<const std::byte> anchor);

  TableFormat format() const override { return TableFormat::rntuple; }
  std::int64_t committed_entries() const override;
  const CommittedForm& committed_form() const override;
  Result<> add_fields(std::span<const InputColumn> columns, const WriteSchema& form) override;
  Result<> drop_field(std::string_view name) override;
  Result<Part> encode(std::size_t field, const OfferedPart&) const override;
  void add_sample(std::size_t field, const Part&) override;
  ClusterSizes cluster_sizes(std::uint64_t cluster_bytes) const override;
  std::optional<std::int64_t> end_of_cluster(std::int64_t entry) const override;
  void leave_out_stored(Part&) override;
  void add_part(std::size_t field, Part&, std::uint64_t address) override;
  void end_cluster(std::int64_t entries, std::int64_t cluster_entries) override;

  Result<Draft> draft(std::uint32_t keylen) const override;
  Result<std::vector<std::byte>> place(Draft, RecordPlaces&) override;
  void placed() override;
  const std::string& class_name() const override;
  std::vector<std::string> classes() const override;
  void rename(std::string) override {}  // the header keeps the name that the RNTuple had when it was made

 private:
  // The clusters of one page list, and its record where this object has written it.
  struct Group {
    ClusterGroup group;
    ByteRange record;
    std::shared_ptr<const std::vector<ClusterRecord>> clusters;  // null until they are needed
  };
  // The records of the committed state, or of the one that is planned.
  struct Records {
    Anchor anchor;
    std::uint64_t header_checksum = 0;
    std::optional<SchemaLists> header;  // if this object has written it
    SchemaLists extension;
    std::size_t fields = 0, columns = 0, aliases = 0;  // how many of the schema header and extension describe
    std::vector<Group> groups;
    ByteRange footer;  // its record where this object has written it
  };
  using Pages = std::vector<WrittenPage>;
  // Pages of columns that were added to an existing cluster, by column, and the first element of each.
  struct LatePages {
    ColumnNumber column = 0;
    std::int64_t first_element = 0;
    Pages pages;
  };

  explicit NtupleWriter(BlobPlace place) : place_(std::move(place)) {}

  std::size_t committed_fields() const { return committed_ ? committed_->fields.size() : 0; }
  bool has_field(std::string_view name) const;
  ClusterRecord closed_cluster(std::int64_t begin, std::int64_t end);
  Result<> place_header(Records&, RecordPlaces&) const;
  Result<> place_new_header(Records&, RecordPlaces&, SchemaLists) const;
  void extend(Records&) const;
  Result<> remove_fields(Records&, RecordPlaces&) const;
  Result<SchemaLists> header_of(const Records&) const;
  Result<> place_page_lists(Records&, RecordPlaces&) const;
  Result<> load_clusters(Group&) const;
  Result<Group> placed_group(std::vector<ClusterRecord>, const Records&, RecordPlaces&) const;
  // `keeps_column`: by number; all if it is empty.
  Result<> join_groups(Records&, RecordPlaces&, const std::vector<bool>& keeps_column) const;
  Result<> add_late_columns(std::vector<ClusterRecord>&) const;
  Result<> place_footer(Records&, RecordPlaces&) const;

  BlobPlace place_;
  std::string name_, title_;              // of a new one
  std::shared_ptr<const Source> source_;  // of the file as it was opened
  std::unique_ptr<CommittedNtuple> committed_;
  SchemaRecords schema_;
  std::vector<StoredField> fields_;             // those of the committed form, then the added ones
  std::vector<EntryBytes> bytes_;               // of each, according to a sample
  std::set<std::string, std::less<>> names_;    // of all fields of the table
  std::set<std::string, std::less<>> dropped_;  // those of fields that the next commit removes
  std::vector<std::int64_t> elements_;          // of each column of the file
  std::vector<std::int64_t> cluster_ends_{0};   // the first entry, then the end of each cluster

  std::int64_t cluster_begin_ = 0;                      // of the cluster that is being written
  std::unordered_map<ColumnNumber, Pages> pages_;       // of that cluster
  KnownPages known_;                                    // that it stores already
  std::vector<ClusterRecord> closed_;                   // clusters that no page list has yet
  std::map<std::size_t, std::vector<LatePages>> late_;  // by cluster
  std::uint64_t changes_ = 0;

  Records records_;
  std::optional<Records> planned_;
};

}  // namespace tfile
