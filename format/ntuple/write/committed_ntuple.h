// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ntuple/description.h"
#include "ntuple/write/schema_encode.h"
#include "ntuple/write/stored_columns.h"
#include "tfile/source.h"
#include "tfile/writer.h"

namespace tfile {

// An RNTuple in a file, as far as writing needs it.
struct CommittedNtuple {
  Anchor anchor;
  std::string name, description;
  std::uint64_t header_checksum = 0;
  SchemaRecords schema;
  FooterPieces footer;
  std::vector<ClusterGroup> groups;
  std::vector<std::int64_t> cluster_ends;  // the first entry of each cluster, then the number of all entries
  std::vector<std::int64_t> elements;      // of each column of the file
  CommittedForm form;
  std::vector<StoredField> fields;                               // one for each of form.fields
  std::vector<std::pair<ColumnNumber, ByteRange>> newest_pages;  // some of each column, the last first
};

// `anchor`: the decompressed payload of the key. Blocks. Errors: unsupported (a format that is not known), damaged
// (also if some of its entries are lost), io.
Result<CommittedNtuple> read_committed_ntuple(std::shared_ptr<const Source>, std::span<const std::byte> anchor);

}  // namespace tfile
