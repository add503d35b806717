// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/cursor.h"
#include "ntuple/envelope.h"
#include "tfile/result.h"

namespace tfile {

// Fields and columns as header and footer of an RNTuple describe them ("Header Envelope", "Footer Envelope"). The
// numbers of fields and columns are their indices in these vectors.
using FieldId = std::uint32_t;
using ColumnNumber = std::uint32_t;  // of a column in the file; a ColumnId is that of a file in the mount

enum class FieldRole : std::uint16_t { leaf = 0, collection = 1, record = 2, variant = 3, streamer = 4 };

// Flags of the records of fields and of columns (RNTuple Binary Format Specification, "Field Description", "Column
// Description").
namespace field_flag {
inline constexpr std::uint16_t kIsRepetitive = 1, kIsProjected = 2, kHasChecksum = 4, kIsSoa = 8;
}
namespace column_flag {
inline constexpr std::uint16_t kIsDeferred = 1, kHasRange = 2;
}

struct FieldRecord {
  std::uint32_t type_version = 0;
  FieldId parent = 0;  // a top-level field is its own parent
  FieldRole role = FieldRole::leaf;
  std::string name, type_name, type_alias, description;
  std::optional<std::uint64_t> array_size;  // number of items for each item of the parent
  std::optional<FieldId> projected_from;
  std::optional<std::uint32_t> type_checksum;
  bool is_soa = false;  // a structure of arrays in memory; in the file a list of records like any other
};

struct ColumnRecord {
  std::uint16_t type = 0, bits = 0;
  FieldId field = 0;
  std::uint16_t representation = 0;
  std::int64_t first_element = 0;  // of a deferred column: earlier elements are zero. Negative: also suppressed
  double min = 0, max = 0;         // of a column with a range
};

// A column of a projected field: it shows the column of another field.
struct AliasRecord {
  ColumnNumber column = 0;
  FieldId field = 0;
};

struct SchemaRecords {
  std::vector<FieldRecord> fields;
  std::vector<ColumnRecord> columns;
  std::vector<AliasRecord> aliases;
  std::string streamer_infos;  // a TList of TStreamerInfo, for streamer fields; empty if there is none
};

struct HeaderRecords {
  std::string name, description, writer;
  std::uint64_t checksum = 0;
};

// The clusters of one page list.
struct ClusterGroup {
  std::uint64_t first_entry = 0, entries = 0;
  std::uint32_t clusters = 0;
  EnvelopeLink page_list;
};

// Another RNTuple, which describes ranges of entries of this one. Its anchor has no key in a directory.
struct AttributeSet {
  std::uint16_t schema_major = 0, schema_minor = 0;
  std::uint32_t anchor_length = 0;
  BlockLocator anchor;
  std::string name;
};

struct FooterRecords {
  std::vector<ClusterGroup> groups;
  std::vector<AttributeSet> attribute_sets;
};

// Reads a decompressed header, which has the first fields and columns of `schema`. Errors: damaged; unsupported (a
// feature flag).
Result<HeaderRecords> read_header_envelope(std::span<const std::byte> bytes, SchemaRecords& schema);

// Reads a decompressed footer, whose fields and columns follow those of the header. Errors: as above; damaged if it
// belongs to another header, or if the schema refers to parents, fields or columns that do not exist.
Result<FooterRecords> read_footer_envelope(std::span<const std::byte> bytes, std::uint64_t header_checksum,
                                           SchemaRecords& schema);

}  // namespace tfile
