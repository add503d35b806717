// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ntuple/schema_records.h"
#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// Where the pages of an RNTuple are, all clusters and columns: sixteen bytes a page.

// The columns that a field has in each of its representations are one here: in every cluster one of the
// representations has the pages.
using PageColumn = std::uint32_t;

struct Page {
  enum class Kind : std::uint8_t {
    stored,
    zeros,  // of a column that was added later: nothing is stored
    lost,   // the page list says how many elements there are, or those around it do, and not where; or they are more
            // than its bytes can hold
  };
  Kind kind = Kind::stored;
  bool has_checksum = false;  // eight bytes behind the range
  std::uint8_t representation = 0;
  std::uint32_t cluster = 0;
  std::uint32_t elements = 0;
  std::int64_t first_element = 0;
  ByteRange range;
};

// The pages of one column, in the order of its elements. What is given is appended; nothing changes after `close`.
class ColumnPages {
 public:
  // Of a page that is none of the three kinds, because it lies further than an address or size can say, `range` is
  // not kept: it is lost.
  void add(std::uint32_t cluster, std::uint8_t representation, std::uint32_t elements, ByteRange range,
           bool has_checksum);
  // Elements without a page, `in_page` to each that stands for them, or as many as a page can have. Errors: damaged
  // (more than any file has).
  Result<> add_without_bytes(std::uint32_t cluster, Page::Kind kind, std::int64_t elements,
                             std::int64_t in_page = INT64_MAX);
  void close();

  std::size_t size() const { return pages_.size(); }
  std::int64_t elements() const { return elements_; }
  std::uint64_t stored_bytes() const { return stored_bytes_; }
  std::uint64_t largest_page() const { return largest_page_; }  // bytes, without a checksum
  Page page(std::size_t index) const;
  // The page with this element; there is one.
  std::size_t page_of(std::int64_t element) const;
  // Calls `see(elements of the page)` for all pages in their order.
  template <class See>
  void each_count(See see) const {
    for (const Packed& page : pages_) see(page.elements);
  }
  // The element with which a cluster begins.
  std::int64_t first_of_cluster(std::uint32_t cluster) const;
  std::size_t memory() const;

 private:
  // A cluster is told as the step from that of the page before.
  struct Packed {
    std::uint64_t begin : 48;
    std::uint64_t cluster_step : 12;
    std::uint64_t representation : 4;
    std::uint32_t size;
    std::uint32_t elements : 31;
    std::uint32_t has_checksum : 1;
  };
  static_assert(sizeof(Packed) == 16);
  struct Mark {
    std::int64_t first_element = 0;
    std::uint32_t cluster = 0;  // of the page before
  };
  void append(std::uint32_t cluster, Packed);

  std::vector<Packed> pages_;
  std::vector<Mark> marks_;  // before every kPagesBetweenMarks-th page
  std::int64_t elements_ = 0, elements_without_bytes_ = 0;
  std::uint64_t stored_bytes_ = 0, largest_page_ = 0;
  std::uint32_t last_cluster_ = 0;
};

struct PageTable {
  std::vector<ColumnPages> columns;        // by PageColumn
  std::vector<std::uint32_t> compression;  // by PageColumn: the settings of its first pages; 0 where there are none
  std::vector<std::int64_t> cluster_ends;  // the first entry of each cluster, then the number of all
  std::vector<std::string> warnings;
  std::size_t memory() const;
};

// Which PageColumn and representation each column on disk is.
struct ColumnPlace {
  PageColumn column = 0;
  std::uint8_t representation = 0;
  std::uint16_t bits = 0;  // of an element
  std::int64_t zeros = 0;  // elements before its first page, of a deferred column
};

// Adds what page lists tell, one cluster group after the other, in the order of their entries.
class PageTableBuilder {
 public:
  // `places`: of the columns on disk, by their number. `per_entry`: by PageColumn, the elements of each entry; 0 where
  // nobody knows. Both are kept.
  PageTableBuilder(std::span<const ColumnPlace> places, std::span<const std::uint64_t> per_entry);

  // A decompressed page list. Errors: damaged (what it tells before the damage was taken); unsupported (clusters in
  // shards).
  Result<> add_group(std::span<const std::byte> bytes, std::uint64_t header_checksum, const ClusterGroup&);
  // A group whose page list cannot be read, or not to its end: its other entries are one cluster, with lost pages.
  void add_lost_group(const ClusterGroup&, const std::string& why);

  // Columns that have less than their elements for each entry are filled up with lost pages.
  Result<PageTable> finish();

 private:
  struct Summary {
    std::uint64_t first_entry = 0, entries = 0;
    Cursor columns;  // its list of columns
    std::uint32_t column_count = 0;
  };
  Result<std::vector<Summary>> read_summaries(Cursor& in, const ClusterGroup&) const;
  Result<> add_cluster(const Summary&);
  Result<> add_pages(ColumnNumber, Cursor& pages, std::uint32_t count);
  Result<> fill_gap(ColumnPages&, const ColumnPlace&, std::int64_t first_element) const;
  Result<> check_end(PageColumn, std::int64_t first_element, std::int64_t elements) const;

  const std::span<const ColumnPlace> places_;
  const std::span<const std::uint64_t> per_entry_;
  PageTable table_;
  std::int64_t entries_ = 0;
  std::int64_t entries_behind_ = 0;  // the end of the cluster whose pages are added; entries_ where there is none
  std::uint32_t cluster_ = 0;
};

}  // namespace tfile
