// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/ntuple_writer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "compression/frame.h"
#include "ntuple/blob_source.h"
#include "ntuple/field_nodes.h"
#include "ntuple/write/anchor_encode.h"
#include "ntuple/write/field_removal.h"
#include "ntuple/write/length_field.h"
#include "ntuple/write/ntuple_form.h"
#include "tfile/member_names.h"

namespace tfile {
namespace {

// The file needs no more than the first version of the format.
constexpr std::uint16_t kEpoch = 1;

// The parts of a field that was sampled have pages of at most that size, before compression.
constexpr double kPartPageBytes = 1 << 20;

// When there are more groups, their page lists are joined: a reader asks for each by itself.
constexpr std::size_t kGroupsMax = 100;
// Unless that makes a page list which takes readers long.
constexpr std::uint64_t kJoinedMax = 256 << 20;

// The envelopes of the file were read before, so their sizes are known to be plausible.
constexpr SizeClaim kEnvelopeClaim{std::uint64_t{1} << 30, 1000};

constexpr std::uint64_t kLargeEntries = std::uint64_t{1} << 56;  // above it are flags

EnvelopeLink link_to(const RecordPlaces::Placed& placed, std::size_t length) {
  EnvelopeLink link;
  link.length = length;
  link.locator.range = placed.payload;
  return link;
}

std::uint64_t size_of_clusters(std::span<const ClusterRecord> clusters) {
  std::uint64_t size = 0;
  for (const ClusterRecord& cluster : clusters) size += cluster.frames.size();
  return size;
}

// All nodes, with what streamers wrote as the bytes that were offered.
FieldNodes offered_nodes_of(const SchemaRecords& schema) {
  std::map<PageColumn, std::string> as_bytes;
  const auto is_streamed = [](const FieldRecord& field) { return field.role == FieldRole::streamer; };
  const bool has_any = std::ranges::any_of(schema.fields, is_streamed);
  for (PageColumn column = 0; has_any && column < schema.columns.size(); ++column) as_bytes.emplace(column, "");
  return make_field_nodes(schema, as_bytes);
}

Result<StoredField> stored_field(const FieldNodes& made, std::span<const ColumnNumber> written,
                                 std::span<const ColumnId> columns) {
  StoredField stored;
  for (const ColumnId id : columns) {
    TRY(StoredColumn column, stored_column(made, written, id));
    stored.columns.push_back(column);
  }
  return stored;
}

// How the fields of the form are stored in `schema`, which has them.
Result<std::vector<StoredField>> stored_fields(std::span<const InputColumn> columns, const WriteSchema& form,
                                               const SchemaRecords& schema) {
  FieldNodes made = offered_nodes_of(schema);
  made.nodes = {};  // its columns say all that is asked for
  const std::vector<ColumnNumber> written = written_columns(made);
  // A member that is left alone in its record is escaped, and also found as it was offered.
  std::deque<std::string> unescaped;
  std::unordered_map<std::string_view, ColumnId> shown;
  for (ColumnId id = 0; id < made.columns.size(); ++id) shown.emplace(made.columns[id].path, id);
  for (ColumnId id = 0; id < made.columns.size(); ++id) {
    std::string path = without_escaped_members(made.columns[id].path);
    if (path != made.columns[id].path) shown.emplace(unescaped.emplace_back(std::move(path)), id);
  }
  std::vector<StoredField> fields;
  for (const FieldForm& field : form.fields) {
    std::vector<ColumnId> ids;
    for (const std::uint32_t i : field.encoded) {
      const auto id = shown.find(columns[i].path);
      if (id == shown.end())
        return fail(ErrorKind::invalid, columns[i].path + ": the mount would show a different name");
      ids.push_back(id->second);
    }
    TRY(StoredField stored,
        shows_lengths(field) ? stored_lengths(made, written, ids[0], ids[1]) : stored_field(made, written, ids));
    stored.name = field.name;
    stored.lists = field.lists;
    stored.variants = field.variants;
    fields.push_back(std::move(stored));
  }
  return fields;
}

}  // namespace

std::unique_ptr<NtupleWriter> NtupleWriter::create(BlobPlace place, std::string name, std::string title) {
  std::unique_ptr<NtupleWriter> writer(new NtupleWriter(std::move(place)));
  writer->name_ = std::move(name);
  writer->title_ = std::move(title);
  writer->records_.anchor.epoch = kEpoch;
  writer->records_.anchor.max_key_size = kKeySizeMax;
  return writer;
}

Result<std::unique_ptr<NtupleWriter>> NtupleWriter::open(BlobPlace place, std::shared_ptr<const Source> source,
                                                         std::span<const std::byte> anchor) {
  TRY(CommittedNtuple found, read_committed_ntuple(source, anchor));
  std::unique_ptr<NtupleWriter> writer(new NtupleWriter(std::move(place)));
  writer->source_ = std::move(source);
  writer->schema_ = found.schema;
  writer->fields_ = found.fields;
  writer->bytes_.resize(found.fields.size());
  writer->elements_ = found.elements;
  writer->cluster_ends_ = found.cluster_ends;
  Records& records = writer->records_;
  records.anchor = found.anchor;
  records.header_checksum = found.header_checksum;
  records.extension = found.footer.extension;
  records.fields = found.schema.fields.size();
  records.columns = found.schema.columns.size();
  records.aliases = found.schema.aliases.size();
  for (const ClusterGroup& group : found.groups) records.groups.push_back({group, {}, nullptr});
  writer->cluster_begin_ = found.cluster_ends.back();
  for (const auto& [column, page] : found.newest_pages) {
    if (!writer->place_.is_taken || writer->place_.is_taken({page.begin, page.size + kChecksumSize}))
      writer->known_.add_former(column, page);
  }
  found.newest_pages.clear();
  for (FieldId id = 0; id < found.schema.fields.size(); ++id) {
    if (found.schema.fields[id].parent == id) writer->names_.insert(found.schema.fields[id].name);
  }
  writer->committed_ = std::make_unique<CommittedNtuple>(std::move(found));
  return writer;
}

std::int64_t NtupleWriter::committed_entries() const { return committed_ ? committed_->cluster_ends.back() : 0; }

const CommittedForm& NtupleWriter::committed_form() const {
  static const CommittedForm none;
  return committed_ ? committed_->form : none;
}

bool NtupleWriter::has_field(std::string_view name) const { return names_.contains(name); }

// The schema is taken as the mount will show it, so that what does not come out as offered is refused.
Result<> NtupleWriter::add_fields(std::span<const InputColumn> columns, const WriteSchema& form) {
  if (form.fields.empty()) return {};
  for (const FieldForm& field : form.fields) {
    if (has_field(field.name))
      return fail(ErrorKind::exists, field.name + ": the table already has a field of that name");
  }
  SchemaRecords schema = schema_;
  TRY_VOID(add_to_schema(columns, form, place_.compression.level != 0, schema));
  TRY(std::vector<StoredField> added, stored_fields(columns, form, schema));
  schema_ = std::move(schema);
  if (place_.describe) place_.describe(schema_);
  elements_.resize(schema_.columns.size());
  for (StoredField& field : added) {
    names_.insert(field.name);
    fields_.push_back(std::move(field));
  }
  bytes_.resize(fields_.size());
  cluster_begin_ = 0;
  ++changes_;
  return {};
}

Result<> NtupleWriter::drop_field(std::string_view name) {
  if (!has_field(name)) return fail(ErrorKind::not_found, std::string(name) + ": no such field");
  names_.erase(names_.find(name));
  dropped_.emplace(name);
  ++changes_;
  return {};
}

Result<Part> NtupleWriter::encode(std::size_t field, const OfferedPart& offered) const {
  const StoredField& stored = fields_[field];
  return stored.lengths_of.empty() ? encode_part(stored, place_, offered) : encode_lengths(stored, offered);
}

void NtupleWriter::add_sample(std::size_t field, const Part& part) {
  bytes_[field] = entry_bytes(part);
  // Only the largest page matters, whatever number of columns the field has.
  std::map<std::uint32_t, std::uint64_t> raw;
  for (const Part::Unit& unit : part.units) {
    const ColumnRecord& column = schema_.columns[unit.stream];
    raw[unit.stream] += (std::uint64_t{unit.elements} * column.bits + 7) / 8;
  }
  std::uint64_t most = 0;
  for (const auto& [column, bytes] : raw) most = std::max(most, bytes);
  if (most > 0) bytes_[field].raw = static_cast<double>(most) / static_cast<double>(part.entries);
}

ClusterSizes NtupleWriter::cluster_sizes(std::uint64_t cluster_bytes) const {
  ClusterSizes sizes;
  double stored = 0;
  for (const EntryBytes& bytes : bytes_) {
    sizes.part_entries.push_back(part_entries(bytes, kPartPageBytes));
    stored += bytes.stored;
  }
  if (stored > 0) sizes.entries = cluster_entries(cluster_bytes, stored, sizes.part_entries);
  return sizes;
}

std::optional<std::int64_t> NtupleWriter::end_of_cluster(std::int64_t entry) const {
  const auto end = std::ranges::upper_bound(cluster_ends_, entry);
  return end == cluster_ends_.end() ? std::nullopt : std::optional(*end);
}

void NtupleWriter::leave_out_stored(Part& part) {
  for (Part::Unit& unit : part.units) {
    const std::span<const std::byte> stored = part.stored.span().subspan(unit.offset, unit.size + kChecksumSize);
    unit.address = known_.address_of(unit, stored, source_.get());
  }
  cut_stored_units(part);
}

void NtupleWriter::add_part(std::size_t, Part& part, std::uint64_t address) {
  put_part_address(part, address);
  for (Part::Unit& unit : part.units) {
    if (unit.address == 0) unit.address = address + unit.offset;
    pages_[unit.stream].push_back({unit.elements, {unit.address, unit.size}});
    known_.add(unit);
  }
  ++changes_;
}

// Entries that have a cluster already get the columns of the added fields.
void NtupleWriter::end_cluster(std::int64_t entries, std::int64_t) {
  const auto end = std::ranges::lower_bound(cluster_ends_, entries);
  if (end == cluster_ends_.end()) {
    closed_.push_back(closed_cluster(cluster_begin_, entries));
    cluster_ends_.push_back(entries);
  } else if (entries > cluster_begin_) {
    std::vector<LatePages>& late = late_[static_cast<std::size_t>(end - cluster_ends_.begin()) - 1];
    for (ColumnNumber column = 0; column < schema_.columns.size(); ++column) {
      const auto pages = pages_.find(column);
      if (pages == pages_.end()) continue;
      late.push_back({column, elements_[column], std::move(pages->second)});
      for (const WrittenPage& page : late.back().pages) elements_[column] += page.elements;
    }
  }
  cluster_begin_ = entries;
  pages_.clear();
  known_.end_cluster();
  ++changes_;
}

ClusterRecord NtupleWriter::closed_cluster(std::int64_t begin, std::int64_t end) {
  ClusterRecord cluster;
  cluster.first_entry = static_cast<std::uint64_t>(begin);
  cluster.entries = static_cast<std::uint64_t>(end - begin);
  const auto settings = static_cast<std::uint32_t>(place_.compression.settings());
  for (ColumnNumber column = 0; column < schema_.columns.size(); ++column) {
    if (schema_.columns[column].representation != 0) {
      cluster.add_suppressed_column();
      continue;
    }
    const Pages& pages = pages_[column];
    cluster.add_column(pages, elements_[column], settings);
    for (const WrittenPage& page : pages) elements_[column] += page.elements;
  }
  return cluster;
}

// ---- the commit

Result<RecordedTable::Draft> NtupleWriter::draft(std::uint32_t) const {
  constexpr std::uint64_t kEachRecord = 256;  // of a field or column, with its key; strings are added
  if (!pages_.empty()) return fail(ErrorKind::invalid, "the last cluster was not ended");
  Draft draft;
  draft.state = changes_;
  draft.size = kEachRecord *
               (schema_.fields.size() + schema_.columns.size() + schema_.aliases.size() + records_.groups.size() + 1);
  for (const FieldRecord& field : schema_.fields)
    draft.size += field.name.size() + field.type_name.size() + field.type_alias.size() + field.description.size();
  draft.size += size_of_clusters(closed_);
  for (const Group& group : records_.groups) draft.size += group.group.page_list.length;
  return draft;
}

Result<std::vector<std::byte>> NtupleWriter::place(Draft, RecordPlaces& places) {
  Records records = records_;
  if (records.anchor.header.length == 0) {
    TRY_VOID(place_header(records, places));
  } else {
    extend(records);
  }
  if (dropped_.empty()) {
    TRY_VOID(place_page_lists(records, places));
  } else {
    TRY_VOID(remove_fields(records, places));
  }
  TRY_VOID(place_footer(records, places));
  std::vector<std::byte> anchor = encode_anchor(records.anchor);
  planned_ = std::move(records);
  return anchor;
}

void NtupleWriter::placed() {
  if (!planned_) return;
  records_ = *std::move(planned_);
  planned_.reset();
  closed_.clear();
  late_.clear();
  dropped_.clear();
}

Result<> NtupleWriter::place_header(Records& records, RecordPlaces& places) const {
  SchemaLists lists;
  for (const FieldRecord& field : schema_.fields) lists.add(field);
  for (const ColumnRecord& column : schema_.columns) lists.add(column);
  for (const AliasRecord& alias : schema_.aliases) lists.add(alias);
  if (!schema_.streamer_infos.empty()) lists.add_streamer_infos(schema_.streamer_infos);
  records.fields = schema_.fields.size();
  records.columns = schema_.columns.size();
  records.aliases = schema_.aliases.size();
  return place_new_header(records, places, std::move(lists));
}

Result<> NtupleWriter::place_new_header(Records& records, RecordPlaces& places, SchemaLists lists) const {
  const std::vector<std::byte> header = committed_ ? encode_header(committed_->name, committed_->description, lists)
                                                   : encode_header(name_, title_, lists);
  TRY(const RecordPlaces::Placed placed, places.add_blob(header));
  records.anchor.header = link_to(placed, header.size());
  records.header_checksum = envelope_checksum(header);
  records.header = std::move(lists);
  return {};
}

// Adds the fields that neither header nor extension have.
void NtupleWriter::extend(Records& records) const {
  for (; records.fields < schema_.fields.size(); ++records.fields)
    records.extension.add(schema_.fields[records.fields]);
  for (; records.columns < schema_.columns.size(); ++records.columns)
    records.extension.add(schema_.columns[records.columns]);
  for (; records.aliases < schema_.aliases.size(); ++records.aliases)
    records.extension.add(schema_.aliases[records.aliases]);
}

Result<SchemaLists> NtupleWriter::header_of(const Records& records) const {
  if (records.header) return *records.header;
  const auto blobs = source_of_blobs(source_, records.anchor.max_key_size);
  TRY(const Buffer bytes, read_envelope_bytes(*blobs, records.anchor.header, kEnvelopeClaim));
  return lists_of_header(bytes.span());
}

// The pages stay; what describes them is written anew. Nobody adds to the RNTuple after that without opening it again.
Result<> NtupleWriter::remove_fields(Records& records, RecordPlaces& places) const {
  TRY(const SchemaLists header, header_of(records));
  TRY(RemainingSchema left, without_fields(header, records.extension, schema_, dropped_));
  TRY_VOID(place_new_header(records, places, std::move(left.header)));
  records.extension = std::move(left.extension);
  return join_groups(records, places, left.keeps_column);
}

Result<> NtupleWriter::load_clusters(Group& group) const {
  if (group.clusters) return {};
  const auto blobs = source_of_blobs(source_, records_.anchor.max_key_size);
  TRY(const Buffer bytes, read_envelope_bytes(*blobs, group.group.page_list, kEnvelopeClaim));
  TRY(std::vector<ClusterRecord> clusters, read_cluster_records(bytes.span()));
  std::ranges::stable_sort(clusters, {}, &ClusterRecord::first_entry);
  group.clusters = std::make_shared<const std::vector<ClusterRecord>>(std::move(clusters));
  return {};
}

Result<NtupleWriter::Group> NtupleWriter::placed_group(std::vector<ClusterRecord> clusters, const Records& records,
                                                       RecordPlaces& places) const {
  const std::vector<std::byte> list = encode_page_list(records.header_checksum, clusters);
  TRY(const RecordPlaces::Placed placed, places.add_blob(list));
  Group made;
  made.record = placed.record;
  made.group.page_list = link_to(placed, list.size());
  made.group.clusters = static_cast<std::uint32_t>(clusters.size());
  if (!clusters.empty()) {
    made.group.first_entry = clusters.front().first_entry;
    const std::uint64_t last = clusters.back().entries % kLargeEntries;
    made.group.entries = clusters.back().first_entry + last - made.group.first_entry;
  }
  made.clusters = std::make_shared<const std::vector<ClusterRecord>>(std::move(clusters));
  return made;
}

// One page list for all clusters, in place of those of the groups.
Result<> NtupleWriter::join_groups(Records& records, RecordPlaces& places,
                                   const std::vector<bool>& keeps_column) const {
  std::vector<ClusterRecord> clusters;
  for (Group& group : records.groups) {
    TRY_VOID(load_clusters(group));
    if (group.record.size != 0) places.release(group.record);
    clusters.insert(clusters.end(), group.clusters->begin(), group.clusters->end());
  }
  clusters.insert(clusters.end(), closed_.begin(), closed_.end());
  TRY_VOID(add_late_columns(clusters));
  if (!keeps_column.empty()) {
    for (ClusterRecord& cluster : clusters) keep_columns(cluster, keeps_column);
  }
  TRY(Group joined, placed_group(std::move(clusters), records, places));
  records.groups.clear();
  records.groups.push_back(std::move(joined));
  return {};
}

Result<> NtupleWriter::place_page_lists(Records& records, RecordPlaces& places) const {
  std::uint64_t size = size_of_clusters(closed_);
  for (const Group& group : records.groups) size += group.group.page_list.length;
  const bool are_many = records.groups.size() >= kGroupsMax && size <= kJoinedMax;
  if (!late_.empty() || (are_many && !closed_.empty())) return join_groups(records, places, {});
  if (closed_.empty()) return {};
  TRY(Group added, placed_group(closed_, records, places));
  records.groups.push_back(std::move(added));
  return {};
}

// Clusters from before an extension list fewer columns; those in between have no elements in them.
Result<> NtupleWriter::add_late_columns(std::vector<ClusterRecord>& clusters) const {
  const auto settings = static_cast<std::uint32_t>(place_.compression.settings());
  for (const auto& [number, late] : late_) {
    if (number >= clusters.size())
      return fail(ErrorKind::damaged, "its page lists have changed: have " + std::to_string(clusters.size()) +
                                          " clusters, expected cluster " + std::to_string(number));
    ClusterRecord& cluster = clusters[number];
    for (const LatePages& column : late) {
      while (cluster.columns < column.column) cluster.add_column({}, 0, settings);
      cluster.add_column(column.pages, column.first_element, settings);
    }
  }
  return {};
}

Result<> NtupleWriter::place_footer(Records& records, RecordPlaces& places) const {
  std::vector<ClusterGroup> groups;
  for (const Group& group : records.groups) groups.push_back(group.group);
  const std::span<const std::byte> tail = committed_ ? std::span(committed_->footer.tail) : std::span<std::byte>();
  const std::vector<std::byte> footer = encode_footer(records.header_checksum, records.extension, groups, tail);
  if (records.footer.size != 0) places.release(records.footer);
  TRY(const RecordPlaces::Placed placed, places.add_blob(footer));
  records.footer = placed.record;
  records.anchor.footer = link_to(placed, footer.size());
  return {};
}

const std::string& NtupleWriter::class_name() const {
  static const std::string kName = "ROOT::RNTuple";
  return kName;
}

std::vector<std::string> NtupleWriter::classes() const { return {class_name()}; }

}  // namespace tfile
