// SPDX-License-Identifier: Apache-2.0
#include "ntuple/description.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "ntuple/blob_source.h"

namespace tfile {
namespace {

std::string_view kept(DirectoryListing& listing, std::string_view text) {
  if (text.empty()) return {};
  Buffer& buffer = listing.arena.emplace_back(text.size());
  std::memcpy(buffer.data(), text.data(), text.size());
  return {reinterpret_cast<const char*>(buffer.data()), text.size()};
}

// A schema of 10,000 fields has 1 MB, and compresses to a twentieth.
constexpr SizeClaim kSchemaClaim{8 << 20, 100};

// The version in which ROOT::Experimental::RNTupleAttrSetWriter writes `_rangeStart`, `_rangeLen` and `_userData`.
constexpr std::uint16_t kSchemaMajor = 1;

std::string why_not_read(const AttributeSet& set) {
  if (set.schema_major != kSchemaMajor)
    return "unsupported attribute set schema version " + std::to_string(set.schema_major) + "." +
           std::to_string(set.schema_minor);
  if (!set.anchor.is_known) return "its anchor has an unknown kind of locator";
  return set.anchor.range.size > UINT32_MAX ? "its anchor is too large" : "";
}

bool is_whole(const EnvelopeLink& link, std::uint64_t max_key_size) {
  return link.locator.is_known && !is_in_parts(link.locator.range.size, max_key_size);
}

}  // namespace

bool is_of_storage(const Error& error) {
  return error.kind != ErrorKind::damaged && error.kind != ErrorKind::unsupported;
}

Result<Description> read_description(const Source& source, const Anchor& anchor) {
  constexpr std::uint16_t kEpoch = 1;
  if (anchor.epoch != kEpoch)
    return fail(ErrorKind::unsupported, "unsupported RNTuple epoch " + std::to_string(anchor.epoch) + " (version " +
                                            version_text(anchor) + ")");
  Description found;
  TRY(const Buffer header, read_envelope_bytes(source, anchor.header, kSchemaClaim));
  TRY(found.header, read_header_envelope(header.span(), found.schema));
  TRY(const Buffer footer, read_envelope_bytes(source, anchor.footer, kSchemaClaim));
  TRY(found.footer, read_footer_envelope(footer.span(), found.header.checksum, found.schema));
  std::ranges::stable_sort(found.footer.groups, {}, &ClusterGroup::first_entry);
  return found;
}

std::vector<ByteRange> schema_ranges(const Anchor& anchor) {
  std::vector<ByteRange> ranges;
  for (const EnvelopeLink& link : {anchor.header, anchor.footer})
    if (is_whole(link, anchor.max_key_size)) ranges.push_back(link.locator.range);
  return ranges;
}

std::vector<ByteRange> page_list_ranges(const Source& source, const Anchor& anchor) {
  std::vector<ByteRange> ranges;
  if (schema_ranges(anchor).size() != 2) return ranges;
  const auto found = read_description(source, anchor);
  if (!found) return ranges;
  for (const ClusterGroup& group : found->footer.groups)
    if (is_whole(group.page_list, anchor.max_key_size)) ranges.push_back(group.page_list.locator.range);
  return ranges;
}

Result<DirectoryListing> list_attribute_sets(std::shared_ptr<const Source> source, const KeyInfo& key,
                                             std::span<const std::byte> payload) {
  TRY(const Anchor anchor, read_anchor(payload));
  TRY(const Description found, read_description(*source_of_blobs(std::move(source), anchor.max_key_size), anchor));
  DirectoryListing listing;
  for (const AttributeSet& set : found.footer.attribute_sets) {
    KeyInfo& made = listing.keys.emplace_back();
    made.name = kept(listing, set.name);
    made.class_name = "ROOT::RNTuple";
    made.reason = kept(listing, why_not_read(set));
    made.seek = set.anchor.range.begin;
    made.nbytes = static_cast<std::uint32_t>(set.anchor.range.size);
    made.objlen = set.anchor_length;
    made.is_bare = true;
    made.cycle = 1;
    made.datime = key.datime;
  }
  return listing;
}

}  // namespace tfile
