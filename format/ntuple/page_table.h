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

// The places of all pages of an RNTuple, for all clusters and columns: sixteen bytes per page.

// One column of a field; the corresponding columns of its representations count as one. In each cluster, one of the
// representations has the pages.
using PageColumn = std::uint32_t;

struct Page {
  enum class Kind : std::uint8_t {
    stored,
    zeros,  // of a column that was added later: nothing is stored
    lost,   // the number of elements is known, but not the place; or the bytes cannot hold that many elements
  };
  Kind kind = Kind::stored;
  bool has_checksum = false;  // eight bytes after the range
  std::uint8_t representation = 0;
  std::uint32_t cluster = 0;
  std::uint32_t elements = 0;
  std::int64_t first_element = 0;
  ByteRange range;
};

// The pages of one column, in the order of its elements. Pages are appended; nothing changes after `close`.
class ColumnPages {
 public:
  // Appends a page. If its range is beyond the largest address or size, the page is lost.
  void add(std::uint32_t cluster, std::uint8_t representation, std::uint32_t elements, ByteRange range,
           bool has_checksum);
  // Appends pages without stored bytes, with `in_page` elements each, or as many as a page can have. Errors: damaged
  // (more elements than any file has).
  Result<> add_without_bytes(std::uint32_t cluster, Page::Kind kind, std::int64_t elements,
                             std::int64_t in_page = INT64_MAX);
  void close();

  std::size_t size() const { return pages_.size(); }
  std::int64_t elements() const { return elements_; }
  std::uint64_t stored_bytes() const { return stored_bytes_; }
  std::uint64_t largest_page() const { return largest_page_; }  // in bytes, without the checksum
  Page page(std::size_t index) const;
  // The page with this element, which must exist.
  std::size_t page_of(std::int64_t element) const;
  // Calls `see(number of elements)` for all pages in order.
  template <class See>
  void each_count(See see) const {
    for (const Packed& page : pages_) see(page.elements);
  }
  // The first element of a cluster.
  std::int64_t first_of_cluster(std::uint32_t cluster) const;
  std::size_t memory() const;

 private:
  // The cluster is stored as the step from that of the preceding page.
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
    std::uint32_t cluster = 0;  // of the preceding page
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
  std::vector<std::uint32_t> compression;  // by PageColumn: the settings of its first pages; 0 if it has none
  std::vector<std::int64_t> cluster_ends;  // the first entry of each cluster, then the number of all entries
  std::vector<std::string> warnings;
  std::size_t memory() const;
};

// The PageColumn and the representation of a column in the file.
struct ColumnPlace {
  PageColumn column = 0;
  std::uint8_t representation = 0;
  std::uint16_t bits = 0;  // per element
  std::int64_t zeros = 0;  // of a deferred column: elements before its first page
};

// Collects the contents of page lists, one cluster group after the other, in the order of their entries.
class PageTableBuilder {
 public:
  // `places`: of the columns in the file, by number. `per_entry`: by PageColumn, the elements per entry; 0: unknown.
  // Both must outlive this object.
  PageTableBuilder(std::span<const ColumnPlace> places, std::span<const std::uint64_t> per_entry);

  // Adds a decompressed page list. Errors: damaged (the part before the damage was added); unsupported (sharded
  // clusters).
  Result<> add_group(std::span<const std::byte> bytes, std::uint64_t header_checksum, const ClusterGroup&);
  // Adds a group whose page list cannot be read (to its end). Its remaining entries become one cluster of lost pages.
  void add_lost_group(const ClusterGroup&, const std::string& why);

  // Completes columns that have too few elements for their entries with lost pages.
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
  std::int64_t entries_behind_ = 0;  // the end of the cluster whose pages are being added; else entries_
  std::uint32_t cluster_ = 0;
};

}  // namespace tfile
