// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_table.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "compression/frame.h"
#include "model/heap.h"

namespace tfile {
namespace {

// The search for a page skips fewer pages than this.
constexpr std::size_t kPagesBetweenMarks = 128;
// The limits of the fields of a packed page.
constexpr std::uint64_t kBeginMax = (std::uint64_t{1} << 48) - 1;
constexpr std::uint32_t kStepMax = (1 << 12) - 1;
constexpr std::uint32_t kElementsMax = std::numeric_limits<std::int32_t>::max();
// Impossible sizes of pages. The pages of a column are in one file of at most 2^48 bytes, and a page of 4 GiB together
// with its decoded form would not fit into memory.
constexpr std::uint32_t kLost = UINT32_MAX, kZeros = UINT32_MAX - 1;
// Zeros are made in chunks of about a megabyte, but in at most this many chunks.
constexpr std::int64_t kZerosInPage = 1 << 17;
constexpr std::int64_t kZeroPagesMax = 1 << 9;
// 10^12, more than any table has. To claim them takes a few bytes; pages for them take 8 kB per column.
constexpr std::int64_t kWithoutBytesMax = std::int64_t{1} << 40;

}  // namespace

void ColumnPages::append(std::uint32_t cluster, Packed page) {
  const auto push = [&](Packed packed) {
    if (pages_.size() % kPagesBetweenMarks == 0) marks_.push_back({elements_, last_cluster_});
    pages_.push_back(packed);
    last_cluster_ += static_cast<std::uint32_t>(packed.cluster_step);
    elements_ += packed.elements;
  };
  // If the column has no elements in very many clusters, empty pages bridge them.
  while (cluster - last_cluster_ > kStepMax) push({0, kStepMax, 0, kZeros, 0, 0});
  page.cluster_step = (cluster - last_cluster_) & kStepMax;
  push(page);
}

void ColumnPages::add(std::uint32_t cluster, std::uint8_t representation, std::uint32_t elements, ByteRange range,
                      bool has_checksum) {
  Packed page{};
  page.representation = representation & 15u;
  page.elements = elements & kElementsMax;
  page.has_checksum = has_checksum;
  page.size = kLost;
  if (range.begin <= kBeginMax && range.size < kZeros) {
    page.begin = range.begin & kBeginMax;
    page.size = static_cast<std::uint32_t>(range.size);
    largest_page_ = std::max<std::uint64_t>(largest_page_, range.size);
    stored_bytes_ += range.size;
  }
  append(cluster, page);
}

Result<> ColumnPages::add_without_bytes(std::uint32_t cluster, Page::Kind kind, std::int64_t elements,
                                        std::int64_t in_page) {
  if (elements < 0 || elements > kWithoutBytesMax - elements_without_bytes_)
    return fail(ErrorKind::damaged, "column has no pages for " + std::to_string(elements) + " elements");
  elements_without_bytes_ += elements;
  in_page = std::min<std::int64_t>(in_page, kElementsMax);
  for (std::int64_t left = elements; left > 0; left -= in_page) {
    Packed page{};
    page.elements = static_cast<std::uint32_t>(std::min(left, in_page)) & kElementsMax;
    page.size = kind == Page::Kind::zeros ? kZeros : kLost;
    append(cluster, page);
  }
  return {};
}

void ColumnPages::close() {
  pages_.shrink_to_fit();
  marks_.shrink_to_fit();
}

Page ColumnPages::page(std::size_t index) const {
  const Mark& mark = marks_[index / kPagesBetweenMarks];
  Page page;
  page.first_element = mark.first_element;
  page.cluster = mark.cluster;
  std::size_t at = index / kPagesBetweenMarks * kPagesBetweenMarks;
  for (; at < index; ++at) {
    page.first_element += pages_[at].elements;
    page.cluster += static_cast<std::uint32_t>(pages_[at].cluster_step);
  }
  const Packed& packed = pages_[index];
  page.cluster += static_cast<std::uint32_t>(packed.cluster_step);
  page.kind = packed.size == kLost ? Page::Kind::lost : packed.size == kZeros ? Page::Kind::zeros : Page::Kind::stored;
  page.has_checksum = packed.has_checksum;
  page.representation = packed.representation;
  page.elements = packed.elements;
  if (page.kind == Page::Kind::stored) page.range = {packed.begin, packed.size};
  return page;
}

std::size_t ColumnPages::page_of(std::int64_t element) const {
  const auto behind = std::ranges::upper_bound(marks_, element, {}, &Mark::first_element);
  const std::size_t mark = behind == marks_.begin() ? 0 : static_cast<std::size_t>(behind - marks_.begin()) - 1;
  std::int64_t end = marks_[mark].first_element;
  std::size_t at = mark * kPagesBetweenMarks;
  for (; at + 1 < pages_.size(); ++at) {
    end += pages_[at].elements;
    if (end > element) break;
  }
  return at;
}

std::int64_t ColumnPages::first_of_cluster(std::uint32_t cluster) const {
  // The last mark whose preceding page is in an earlier cluster; the first page of the cluster comes after it.
  const auto behind = std::ranges::lower_bound(marks_, cluster, {}, &Mark::cluster);
  if (marks_.empty()) return 0;
  const std::size_t mark = behind == marks_.begin() ? 0 : static_cast<std::size_t>(behind - marks_.begin()) - 1;
  std::int64_t element = marks_[mark].first_element;
  std::uint32_t at_cluster = marks_[mark].cluster;
  for (std::size_t at = mark * kPagesBetweenMarks; at < pages_.size(); ++at) {
    at_cluster += static_cast<std::uint32_t>(pages_[at].cluster_step);
    if (at_cluster >= cluster) return element;
    element += pages_[at].elements;
  }
  return element;
}

std::size_t ColumnPages::memory() const { return heap_of_elements(pages_) + heap_of_elements(marks_); }

std::size_t PageTable::memory() const {
  std::size_t bytes = heap_of_elements(columns) + heap_of_elements(compression) + heap_of_elements(cluster_ends);
  for (const ColumnPages& column : columns) bytes += column.memory();
  return bytes;
}

PageTableBuilder::PageTableBuilder(std::span<const ColumnPlace> places, std::span<const std::uint64_t> per_entry)
    : places_(places), per_entry_(per_entry) {
  table_.columns.resize(per_entry.size());
  table_.compression.resize(per_entry.size());
}

Result<> PageTableBuilder::add_group(std::span<const std::byte> bytes, std::uint64_t header_checksum,
                                     const ClusterGroup& group) {
  TRY(Envelope envelope, open_envelope(bytes, EnvelopeType::page_list));
  Cursor& in = envelope.payload;
  const auto told = in.little<std::uint64_t>("RNTuple page list");
  if (told != header_checksum && !in.failed()) return of_another_header("page list", told, header_checksum);
  TRY(std::vector<Summary> clusters, read_summaries(in, group));
  for (const Summary& cluster : clusters) {
    if (cluster.first_entry != static_cast<std::uint64_t>(entries_))
      return fail(ErrorKind::damaged, "cluster " + std::to_string(cluster_) + " of the RNTuple begins at entry " +
                                          std::to_string(cluster.first_entry) + ", those before it end at " +
                                          std::to_string(entries_));
    TRY_VOID(add_cluster(cluster));
  }
  return {};
}

// Clusters written by several threads need not be in the order of their entries.
Result<std::vector<PageTableBuilder::Summary>> PageTableBuilder::read_summaries(Cursor& in,
                                                                                const ClusterGroup& group) const {
  constexpr const char* kWhat = "RNTuple page list";
  EnvelopeFrame summaries = take_list(in, kWhat);
  EnvelopeFrame locations = take_list(in, kWhat);
  std::vector<Summary> clusters;
  bool is_sharded = false;
  for (std::uint32_t i = 0; i < summaries.items && !summaries.body.failed(); ++i) {
    EnvelopeFrame record = take_record(summaries.body, kWhat);
    Summary cluster;
    cluster.first_entry = record.body.little<std::uint64_t>(kWhat);
    // The highest byte contains flags.
    const auto word = record.body.little<std::uint64_t>(kWhat);
    cluster.entries = word & ((std::uint64_t{1} << 56) - 1);
    is_sharded |= (word >> 56) & 1;
    EnvelopeFrame columns = take_list(locations.body, kWhat);
    cluster.columns = columns.body;
    cluster.column_count = columns.items;
    if (record.body.failed()) in.reject(kWhat);
    clusters.push_back(cluster);
  }
  if (summaries.body.failed() || locations.body.failed() || clusters.size() != group.clusters) in.reject(kWhat);
  TRY_VOID(in.finish());
  if (is_sharded)
    return fail(ErrorKind::unsupported, "clusters of the RNTuple are stored in shards, which is not supported");
  std::ranges::stable_sort(clusters, {}, &Summary::first_entry);
  return clusters;
}

Result<> PageTableBuilder::add_cluster(const Summary& cluster) {
  constexpr std::uint64_t kEntriesMax = std::uint64_t{1} << 56;
  if (cluster.entries > kEntriesMax || static_cast<std::uint64_t>(entries_) > kEntriesMax)
    return fail(ErrorKind::damaged, "cluster " + std::to_string(cluster_) + " of the RNTuple has " +
                                        std::to_string(cluster.entries) + " entries after " + std::to_string(entries_) +
                                        ", at most " + std::to_string(kEntriesMax));
  Cursor columns = cluster.columns;
  entries_behind_ = entries_ + static_cast<std::int64_t>(cluster.entries);
  // A cluster from before an extension of the schema has fewer columns.
  for (ColumnNumber number = 0; number < cluster.column_count && !columns.failed(); ++number) {
    EnvelopeFrame pages = take_list(columns, "RNTuple page list");
    if (number < places_.size()) TRY_VOID(add_pages(number, pages.body, pages.items));
  }
  TRY_VOID(columns.finish());
  table_.cluster_ends.push_back(entries_);
  entries_ = entries_behind_;
  ++cluster_;
  return {};
}

// Missing elements of a column belong to earlier clusters: either their page list was lost, or the column did not exist
// yet.
Result<> PageTableBuilder::fill_gap(ColumnPages& column, const ColumnPlace& place, std::int64_t first_element) const {
  const std::uint32_t before = std::max(cluster_, 1u) - 1;
  const std::int64_t zeros = std::min(first_element, place.zeros) - column.elements();
  const std::int64_t in_page = std::max(kZerosInPage, place.zeros / kZeroPagesMax);
  if (zeros > 0) TRY_VOID(column.add_without_bytes(before, Page::Kind::zeros, zeros, in_page));
  const std::int64_t lost = first_element - column.elements();
  return lost > 0 ? column.add_without_bytes(before, Page::Kind::lost, lost) : Result<>();
}

// Checks that the column does not continue past the existing entries.
Result<> PageTableBuilder::check_end(PageColumn column, std::int64_t first_element, std::int64_t elements) const {
  std::int64_t end = 0, end_max = 0;
  const bool is_beyond_all = __builtin_add_overflow(first_element, elements, &end);
  const bool is_unlimited =
      per_entry_[column] == 0 || __builtin_mul_overflow(per_entry_[column], entries_behind_, &end_max);
  if (!is_beyond_all && (is_unlimited || end <= end_max)) return {};
  return fail(ErrorKind::damaged, "a column has " + std::to_string(elements) + " elements from " +
                                      std::to_string(first_element) + " on, the entries of cluster " +
                                      std::to_string(cluster_) + " end at " + std::to_string(end_max));
}

Result<> PageTableBuilder::add_pages(ColumnNumber number, Cursor& in, std::uint32_t count) {
  constexpr const char* kWhat = "RNTuple page list";
  // The number of the first element follows the pages, which have no size of their own.
  Cursor behind = in;
  std::int64_t elements = 0;
  for (std::uint32_t i = 0; i < count && !behind.failed(); ++i) {
    elements += std::abs(std::int64_t{behind.little<std::int32_t>(kWhat)});
    take_locator(behind, kWhat);
  }
  const auto first_element = behind.little<std::int64_t>(kWhat);
  TRY_VOID(behind.finish());
  if (first_element < 0) return {};  // the pages belong to another representation
  const ColumnPlace& place = places_[number];
  ColumnPages& column = table_.columns[place.column];
  if (first_element < column.elements() && count > 0)
    return fail(ErrorKind::damaged, "column " + std::to_string(number) + " of the RNTuple has elements twice: " +
                                        std::to_string(first_element) + " after " + std::to_string(column.elements()));
  TRY_VOID(check_end(place.column, first_element, elements));
  TRY_VOID(fill_gap(column, place, first_element));
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto claimed = in.little<std::int32_t>(kWhat);
    const BlockLocator locator = take_locator(in, kWhat);
    const auto size = static_cast<std::uint32_t>(std::abs(std::int64_t{claimed}));
    if (size > kElementsMax)
      return fail(ErrorKind::damaged, "page " + std::to_string(i) + " of column " + std::to_string(number) +
                                          " of the RNTuple has " + std::to_string(size) + " elements, at most " +
                                          std::to_string(kElementsMax));
    const std::uint64_t unpacked = (std::uint64_t{size} * place.bits + 7) / 8;
    const bool is_somewhere = locator.is_known && can_hold(locator.range.size, unpacked);
    const ByteRange nowhere{UINT64_MAX, 0};
    column.add(cluster_, place.representation, size, is_somewhere ? locator.range : nowhere, claimed < 0);
  }
  const auto settings = behind.little<std::uint32_t>(kWhat);
  if (count > 0 && !behind.failed() && table_.compression[place.column] == 0)
    table_.compression[place.column] = settings;
  return {};
}

void PageTableBuilder::add_lost_group(const ClusterGroup& group, const std::string& why) {
  table_.warnings.push_back("entries from " + std::to_string(entries_) + " on are lost: " + why);
  constexpr std::uint64_t kEntriesMax = std::uint64_t{1} << 56;
  const std::uint64_t told = std::min(group.first_entry, kEntriesMax) + std::min(group.entries, kEntriesMax);
  // Some pages of the incomplete cluster may already be in the table.
  const std::int64_t end = std::max(static_cast<std::int64_t>(told), entries_behind_);
  if (end <= entries_) return;
  table_.cluster_ends.push_back(entries_);
  entries_ = entries_behind_ = end;
  ++cluster_;
}

Result<PageTable> PageTableBuilder::finish() {
  table_.cluster_ends.push_back(entries_);
  // A column that was added after the last cluster is in no page list.
  for (const ColumnPlace& place : places_) {
    std::int64_t wanted = 0;
    if (place.zeros > 0 && !__builtin_mul_overflow(per_entry_[place.column], entries_, &wanted))
      TRY_VOID(fill_gap(table_.columns[place.column], place, std::min(wanted, place.zeros)));
  }
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    ColumnPages& column = table_.columns[i];
    std::int64_t wanted = 0;
    if (__builtin_mul_overflow(per_entry_[i], entries_, &wanted))
      return fail(ErrorKind::damaged, "column " + std::to_string(i) + " of the RNTuple has " +
                                          std::to_string(per_entry_[i]) + " elements for each of " +
                                          std::to_string(entries_) + " entries");
    if (column.elements() < wanted)
      TRY_VOID(
          column.add_without_bytes(cluster_ == 0 ? 0 : cluster_ - 1, Page::Kind::lost, wanted - column.elements()));
    column.close();
  }
  return std::move(table_);
}

}  // namespace tfile
