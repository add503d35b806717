// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ntuple/envelope.h"
#include "ntuple/schema_records.h"
#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// The object of a key of class ROOT::RNTuple, with the places of header and footer ("Anchor schema").
struct Anchor {
  std::uint16_t epoch = 0, major = 0, minor = 0, patch = 0;
  EnvelopeLink header, footer;
  // Larger blocks are split over several records (ntuple/blob_source.h).
  std::uint64_t max_key_size = 0;
};

// Reads the decompressed payload of the key. Errors: damaged (cut short, or a wrong checksum).
Result<Anchor> read_anchor(std::span<const std::byte> payload);

// "1.0.2.0"
std::string version_text(const Anchor&);

// The version in the payload of a key of class ROOT::Experimental::RNTuple (before 1.0), for messages.
std::string trial_version(std::span<const std::byte> payload);

// The metadata of an RNTuple, without its page lists.
struct Description {
  HeaderRecords header;
  FooterRecords footer;  // groups in the order of their entries
  SchemaRecords schema;
};

// Whether the storage failed and may work the next time. All other errors come from damaged or unknown data.
bool is_of_storage(const Error&);

// Reads header and footer. Errors: unsupported (another epoch, an unknown feature); damaged; io. Blocks.
Result<Description> read_description(const Source& source, const Anchor&);

// The ranges of header and footer, and of the page lists, which are what read_description() reads. Nothing for what
// is split over several records, damaged or unknown.
std::vector<ByteRange> schema_ranges(const Anchor&);
std::vector<ByteRange> page_list_ranges(const Source&, const Anchor&);

// The attribute sets of a key's RNTuple, as keys of tables that are in no directory. `anchor`: the decompressed payload
// of the key. A set with an unknown schema has a `reason`. Errors: as above. Blocks.
Result<DirectoryListing> list_attribute_sets(std::shared_ptr<const Source>, const KeyInfo& key,
                                             std::span<const std::byte> anchor);

}  // namespace tfile
