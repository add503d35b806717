// SPDX-License-Identifier: Apache-2.0
#include "ntuple/copy/ntuple_copy.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "bytes/appender.h"
#include "compression/frame.h"
#include "container/key.h"
#include "ntuple/field_nodes.h"
#include "ntuple/write/anchor_encode.h"
#include "ntuple/write/envelope_encode.h"

namespace tfile {
namespace {

// Pages of a column that are stored together make one record of at most this size, unless one page is larger.
constexpr std::uint64_t kRecordBytes = 4 << 20;

// A footer's list of attribute sets with none in it.
std::vector<std::byte> no_attribute_sets() {
  EnvelopeAppender tail;
  tail.list(0, {});
  return tail.take();
}

bool is_same(const ListItems& a, const ListItems& b) { return a.count == b.count && a.bytes == b.bytes; }

bool is_same(const SchemaLists& a, const SchemaLists& b) {
  return is_same(a.fields, b.fields) && is_same(a.columns, b.columns) && is_same(a.aliases, b.aliases) &&
         is_same(a.type_information, b.type_information);
}

}  // namespace

Result<> NtupleCopy::add_table(std::shared_ptr<const File> file, const KeyInfo& key, const KeptEntries* kept) {
  TRY(SourceNtuple found, read_source_ntuple(*file, key));
  TRY_VOID(check(found, kept));
  source_ = std::make_unique<SourceNtuple>(std::move(found));
  if (groups_.empty()) {
    anchor_ = source_->anchor;
    header_ = source_->header;
    tail_ = source_->has_attribute_sets ? no_attribute_sets() : source_->footer.tail;
    header_lists_ = source_->header_lists;
    extension_ = source_->footer.extension;
    elements_.resize(source_->schema.columns.size());
  }
  if (source_->has_attribute_sets) left_out_.push_back("attribute sets");
  plan_units();
  return {};
}

Result<> NtupleCopy::check(const SourceNtuple& found, const KeptEntries* kept) const {
  const auto refuse = [](const char* why) { return fail(ErrorKind::unsupported, why); };
  if (options_.cluster_bytes != 0 || options_.keeps_field || (kept && !kept->is_all(found.entries)))
    return refuse("pages can only be copied unchanged");
  if (groups_.empty()) return {};
  if (!is_same(found.header_lists, header_lists_) || !is_same(found.footer.extension, extension_))
    return refuse("its fields differ from those of the first");
  const auto comes_late = [](const ColumnRecord& column) { return column.first_element != 0; };
  if (std::ranges::any_of(found.schema.columns, comes_late)) return refuse("some fields start after its first entry");
  return {};
}

void NtupleCopy::plan_units() {
  units_.clear();
  placed_.assign(source_->clusters.size(), {});
  for (std::uint32_t cluster = 0; cluster < source_->clusters.size(); ++cluster) {
    std::unordered_set<std::uint64_t> seen;
    const std::vector<SourceColumn>& columns = source_->clusters[cluster].columns;
    for (std::uint32_t column = 0; column < columns.size(); ++column) {
      std::uint64_t bytes = 0;
      for (std::uint32_t page = 0; page < columns[column].pages.size(); ++page) {
        const ByteRange range = columns[column].pages[page].range;
        if (!seen.insert(range.begin).second) continue;
        if (units_.empty() || units_.back().cluster != cluster || units_.back().column != column ||
            bytes + range.size > kRecordBytes) {
          units_.push_back({cluster, column, {}});
          bytes = 0;
        }
        units_.back().pages.push_back(page);
        bytes += range.size;
      }
    }
  }
}

TableCopy::Unit NtupleCopy::unit(std::size_t index) const {
  const PagesOfColumn& pages = units_[index];
  const SourceColumn& column = column_of(pages);
  const SourceCluster& cluster = source_->clusters[pages.cluster];
  Unit unit;
  unit.entries.begin = static_cast<std::int64_t>(cluster.first_entry);
  unit.entries.end = unit.entries.begin + static_cast<std::int64_t>(cluster.entries);
  for (const std::uint32_t i : pages.pages) {
    const SourcePage& page = column.pages[i];
    Locator& input = unit.inputs.emplace_back();
    input.source = source_->source_of(page.range);
    input.range = {page.range.begin, page.range.size + (page.has_checksum ? kChecksumSize : 0)};
    unit.raw_bytes += std::uint64_t{page.elements} * source_->schema.columns[pages.column].bits / 8;
  }
  return unit;
}

std::string NtupleCopy::name_of_unit(std::size_t index) const {
  return "field " + path_of_field(source_->schema, source_->schema.columns[units_[index].column].field);
}

// Checks a page, compresses it anew if that is wanted, and appends it with its checksum.
Result<> NtupleCopy::add_stored_page(const SourcePage& page, std::uint32_t column, std::span<const std::byte> stored,
                                     std::vector<std::byte>& into, Part& part) const {
  std::span<const std::byte> bytes = stored.first(page.range.size);
  if (page.has_checksum)
    TRY_VOID(check_checksum("the page", bytes, load_little<std::uint64_t>(stored.data() + bytes.size()),
                            static_cast<std::int64_t>(page.range.begin)));
  Buffer unpacked;
  std::vector<std::byte> packed;
  if (options_.compression) {
    const std::uint64_t size = (std::uint64_t{page.elements} * source_->schema.columns[column].bits + 7) / 8;
    TRY(unpacked, decompress(bytes, size));
    TRY(const bool shrinks, compress(unpacked.span(), unpacked.size(), *options_.compression, packed));
    bytes = shrinks ? std::span<const std::byte>(packed) : unpacked.span();
  }
  Part::Unit& unit = part.units.emplace_back();
  unit.stream = column;
  unit.elements = page.elements;
  unit.offset = into.size();
  unit.size = bytes.size();
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size());
  into.insert(into.end(), bytes.begin(), bytes.end());
  const auto sum = std::as_bytes(std::span(&checksum, 1));
  into.insert(into.end(), sum.begin(), sum.end());
  return {};
}

Result<Part> NtupleCopy::encode(std::size_t index, std::span<const std::span<const std::byte>> stored) const {
  const PagesOfColumn& pages = units_[index];
  const SourceColumn& column = column_of(pages);
  KeyHeader key = blob_key(place_);
  std::vector<std::byte> bytes(static_cast<std::size_t>(key.keylen));
  Part part;
  for (std::size_t i = 0; i < pages.pages.size(); ++i)
    TRY_VOID(add_stored_page(column.pages[pages.pages[i]], pages.column, stored[i], bytes, part));
  if (bytes.size() > kKeySizeMax) return fail(ErrorKind::unsupported, "page larger than 1 GiB");
  key.nbytes = static_cast<std::int32_t>(bytes.size());
  key.objlen = key.nbytes - key.keylen;
  Appender head;
  append_key(head, key);
  std::ranges::copy(head.span(), bytes.begin());
  part.stored = Buffer(bytes.size(), Use::passing);
  std::memcpy(part.stored.data(), bytes.data(), bytes.size());
  return part;
}

Result<> NtupleCopy::add_unit(std::size_t index, Part& part, std::uint64_t address) {
  put_part_address(part, address);
  const PagesOfColumn& pages = units_[index];
  for (std::size_t i = 0; i < part.units.size(); ++i) {
    const Part::Unit& unit = part.units[i];
    placed_[pages.cluster].emplace_back(column_of(pages).pages[pages.pages[i]].range.begin,
                                        WrittenPage{unit.elements, {address + unit.offset, unit.size}});
  }
  return {};
}

Result<ClusterRecord> NtupleCopy::copied_cluster(std::size_t index) const {
  const SourceCluster& cluster = source_->clusters[index];
  Placed placed = placed_[index];
  std::ranges::sort(placed, {}, &Placed::value_type::first);
  ClusterRecord record;
  record.first_entry = cluster.first_entry + static_cast<std::uint64_t>(entries_);
  record.entries = cluster.entries;
  for (std::size_t number = 0; number < cluster.columns.size(); ++number) {
    const SourceColumn& column = cluster.columns[number];
    if (column.is_suppressed) {
      record.add_suppressed_column();
      continue;
    }
    std::vector<WrittenPage> pages;
    for (const SourcePage& page : column.pages) {
      const auto at = std::ranges::lower_bound(placed, page.range.begin, {}, &Placed::value_type::first);
      if (at == placed.end() || at->first != page.range.begin) return fail(ErrorKind::invalid, "a page was not copied");
      pages.push_back({page.elements, at->second.range});
    }
    const auto settings =
        options_.compression ? static_cast<std::uint32_t>(options_.compression->settings()) : column.settings;
    record.add_column(pages, column.first_element + elements_[number], settings);
  }
  return record;
}

Result<> NtupleCopy::end_table() {
  std::vector<ClusterRecord>& group = groups_.emplace_back();
  std::vector<std::int64_t> ends = elements_;
  for (std::size_t i = 0; i < source_->clusters.size(); ++i) {
    TRY(ClusterRecord record, copied_cluster(i));
    group.push_back(std::move(record));
    placed_[i] = {};
    for (std::size_t number = 0; number < source_->clusters[i].columns.size() && number < ends.size(); ++number) {
      const SourceColumn& column = source_->clusters[i].columns[number];
      if (column.is_suppressed) continue;
      std::int64_t elements = 0;
      for (const SourcePage& page : column.pages) elements += page.elements;
      ends[number] = elements_[number] + column.first_element + elements;
    }
  }
  elements_ = std::move(ends);
  entries_ += source_->entries;
  units_.clear();
  source_.reset();
  return {};
}

Result<RecordedTable::Draft> NtupleCopy::draft(std::uint32_t) const {
  constexpr std::uint64_t kEachRecord = 256;  // a key, and what is around a list
  Draft draft;
  draft.state = static_cast<std::uint64_t>(entries_) + 1;
  draft.size = header_.size() + extension_.fields.bytes.size() + extension_.columns.bytes.size() + kEachRecord;
  for (const std::vector<ClusterRecord>& group : groups_) {
    draft.size += kEachRecord;
    for (const ClusterRecord& cluster : group) draft.size += kEachRecord + cluster.frames.size();
  }
  return draft;
}

Result<std::vector<std::byte>> NtupleCopy::place(Draft, RecordPlaces& places) {
  const auto link_to = [](const RecordPlaces::Placed& placed, std::size_t length) {
    EnvelopeLink link;
    link.length = length;
    link.locator.range = placed.payload;
    return link;
  };
  Anchor anchor = anchor_;
  anchor.max_key_size = kKeySizeMax;
  TRY(const RecordPlaces::Placed header, places.add_blob(header_));
  anchor.header = link_to(header, header_.size());
  const std::uint64_t checksum = envelope_checksum(header_);
  std::vector<ClusterGroup> groups;
  for (const std::vector<ClusterRecord>& clusters : groups_) {
    if (clusters.empty()) continue;
    const std::vector<std::byte> list = encode_page_list(checksum, clusters);
    TRY(const RecordPlaces::Placed placed, places.add_blob(list));
    ClusterGroup& group = groups.emplace_back();
    group.first_entry = clusters.front().first_entry;
    group.entries = clusters.back().first_entry + clusters.back().entries - group.first_entry;
    group.clusters = static_cast<std::uint32_t>(clusters.size());
    group.page_list = link_to(placed, list.size());
  }
  const std::vector<std::byte> footer = encode_footer(checksum, extension_, groups, tail_);
  TRY(const RecordPlaces::Placed placed, places.add_blob(footer));
  anchor.footer = link_to(placed, footer.size());
  return encode_anchor(anchor);
}

const std::string& NtupleCopy::class_name() const {
  static const std::string kName = "ROOT::RNTuple";
  return kName;
}

}  // namespace tfile
