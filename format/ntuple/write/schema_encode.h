// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ntuple/schema_records.h"
#include "ntuple/write/envelope_encode.h"

namespace tfile {

// The lists of a header, or of a footer's extension.
struct SchemaLists {
  ListItems fields, columns, aliases, type_information;
  void add(const FieldRecord&);
  void add(const ColumnRecord&);
  void add(const AliasRecord&);
  void add_streamer_infos(std::string_view);  // SchemaRecords::streamer_infos
};

// Takes the four lists; those that are missing are empty.
SchemaLists take_schema_lists(Cursor&, const char* what);

// Both give whole envelopes, for read_header_envelope and read_footer_envelope.
std::vector<std::byte> encode_header(std::string_view name, std::string_view description, const SchemaLists&);

// `tail`: what follows the cluster groups, as the former footer had it.
std::vector<std::byte> encode_footer(std::uint64_t header_checksum, const SchemaLists& extension,
                                     std::span<const ClusterGroup> groups, std::span<const std::byte> tail);

// A footer as far as a new one repeats it.
struct FooterPieces {
  SchemaLists extension;
  std::vector<std::byte> tail;
};
// `bytes`: a footer that read_footer_envelope has accepted.
Result<FooterPieces> take_apart(std::span<const std::byte> footer);

}  // namespace tfile
