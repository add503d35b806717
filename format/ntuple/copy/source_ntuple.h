// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ntuple/description.h"
#include "ntuple/write/schema_encode.h"
#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// An RNTuple of a file, as far as copying it needs it: its schema as bytes, and where its pages are.

struct SourcePage {
  std::uint32_t elements = 0;
  bool has_checksum = false;
  ByteRange range;  // without the checksum
};

// A cluster's part of one column of the file.
struct SourceColumn {
  bool is_suppressed = false;  // another representation has the elements
  std::int64_t first_element = 0;
  std::uint32_t settings = 0;  // of compression
  std::vector<SourcePage> pages;
};

struct SourceCluster {
  std::uint64_t first_entry = 0, entries = 0;
  std::vector<SourceColumn> columns;  // those with the first numbers
};

struct SourceNtuple {
  std::shared_ptr<const Source> file;
  // By address: pages that are split over several records (ntuple/blob_source.h). Each has a source of its own.
  std::map<std::uint64_t, std::shared_ptr<const Source>> split_pages;
  Anchor anchor;
  std::vector<std::byte> header;  // the whole envelope
  SchemaLists header_lists;
  FooterPieces footer;
  bool has_attribute_sets = false;
  SchemaRecords schema;
  std::vector<SourceCluster> clusters;  // in the order of their entries
  std::int64_t entries = 0;

  const Source* source_of(ByteRange page) const {
    const auto split = split_pages.find(page.begin);
    return split == split_pages.end() ? file.get() : split->second.get();
  }
};

// Blocks. Errors: unsupported (a format that is not known), damaged, io.
Result<SourceNtuple> read_source_ntuple(const File&, const KeyInfo&);

}  // namespace tfile
