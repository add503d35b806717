// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/container/file_image.h"

namespace tfile::test {

// Writes RNTuples by the specification alone (RNTuple Binary Format Specification 1.0), including those that ROOT
// cannot write.

// Appends little-endian bytes.
class LittleBytes {
 public:
  template <class T>
  LittleBytes& put(T value) {
    return put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  LittleBytes& put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    return put_bytes(std::as_bytes(std::span(text)));
  }
  LittleBytes& put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  LittleBytes& put(const LittleBytes& other) { return put_bytes(other.bytes_); }
  template <class T>
  void patch(std::size_t position, T value) {
    std::memcpy(bytes_.data() + position, &value, sizeof value);
  }
  std::size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& all() const { return bytes_; }
  std::vector<std::byte>& all() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// The numbers of a page.
template <class T>
std::vector<std::byte> page_of(std::initializer_list<T> numbers) {
  const auto bytes = std::as_bytes(std::span(numbers.begin(), numbers.size()));
  return {bytes.begin(), bytes.end()};
}

// Frames ("Frames").
inline LittleBytes record_frame(const LittleBytes& body) {
  return LittleBytes().put(static_cast<std::int64_t>(8 + body.size())).put(body);
}
// `behind` follows the items and is included in the size: for an inner list of pages.
inline LittleBytes list_frame(const std::vector<LittleBytes>& items, const LittleBytes& behind = {}) {
  LittleBytes body;
  for (const LittleBytes& item : items) body.put(item);
  body.put(behind);
  LittleBytes frame;
  frame.put(-static_cast<std::int64_t>(12 + body.size())).put(static_cast<std::uint32_t>(items.size()));
  return frame.put(body);
}

// Envelopes ("Envelopes").
inline LittleBytes envelope(std::uint16_t type, const LittleBytes& payload) {
  LittleBytes bytes;
  bytes.put(std::uint64_t{type} | (payload.size() + 16) << 16).put(payload);
  return bytes.put(std::uint64_t{XXH3_64bits(bytes.all().data(), bytes.size())});
}

// Locators ("Locators and Envelope Links").
enum class LocatorKind { standard, large, unknown };
inline LittleBytes locator(std::uint64_t begin, std::uint64_t size, LocatorKind kind = LocatorKind::standard) {
  LittleBytes bytes;
  if (kind == LocatorKind::standard) return bytes.put(static_cast<std::int32_t>(size)).put(begin);
  const bool is_large = kind == LocatorKind::large;
  const std::int32_t type = is_large ? 1 : 0x7d, own_size = is_large ? 20 : 13;
  bytes.put(-(own_size | type << 24));
  if (is_large) return bytes.put(size).put(begin);
  return bytes.put(begin).put(std::uint8_t{7});
}

struct FieldImage {
  std::string name = {}, type_name = {};
  std::optional<std::uint32_t> parent = {};  // none: a top-level field
  std::uint16_t role = 0;
  std::optional<std::uint64_t> array_size = {};
  std::optional<std::uint32_t> projected_from = {};
  LittleBytes of_later_versions = {};
};
struct ColumnImage {
  std::uint16_t type = 0, bits = 0;
  std::uint32_t field = 0;
  std::uint16_t representation = 0;
  std::optional<std::int64_t> first_element = {};
  std::optional<std::pair<double, double>> range = {};
  LittleBytes of_later_versions = {};
};
struct AliasImage {
  std::uint32_t column = 0, field = 0;
};
struct SchemaImage {
  std::vector<FieldImage> fields;
  std::vector<ColumnImage> columns;
  std::vector<AliasImage> aliases;
  std::string streamer_infos;  // a TList of TStreamerInfo, as in the type information
};

struct PageImage {
  std::int32_t elements = 0;
  std::vector<std::byte> bytes = {};
  bool with_checksum = true, with_wrong_checksum = false;
  LocatorKind locator = LocatorKind::standard;
  // The place in the page list, instead of the real place of its bytes.
  std::optional<ByteRange> claimed = {};
};
struct ColumnPagesImage {
  std::int64_t first_element = 0;
  std::vector<PageImage> pages = {};
  bool is_suppressed = false;
};
struct ClusterImage {
  std::uint64_t first_entry = 0, entries = 0;
  std::uint8_t flags = 0;
  std::vector<ColumnPagesImage> columns = {};
  LittleBytes of_later_versions = {};
};
struct GroupImage {
  std::vector<ClusterImage> clusters = {};
  LocatorKind locator = LocatorKind::standard;
  bool is_of_another_header = false;
  std::optional<std::uint64_t> claimed_first = {}, claimed_entries = {};
  std::optional<std::uint32_t> claimed_clusters = {};
  LittleBytes of_later_versions = {};
};
struct AttributeSetImage {
  std::string name = {};
  std::uint16_t schema_major = 1;
  std::optional<ByteRange> anchor = {};  // none: the anchor of the table itself
};

struct EnvelopeImage {
  std::uint64_t begin = 0, size = 0, length = 0, checksum = 0;
};

// A file of one RNTuple, "t". Tests fill and change its parts, which are vectors, before it is written.
class NtupleImage {
 public:
  static constexpr std::uint32_t kAnchorSize = 78;
  using Change = std::function<void(LittleBytes& payload)>;

  std::uint16_t epoch = 1, major = 0, minor = 2, patch = 0;
  std::uint64_t max_key_size = 1 << 30;
  std::vector<std::uint64_t> header_flags = {0}, footer_flags = {0};
  SchemaImage schema, extension;
  std::vector<GroupImage> groups;
  std::vector<AttributeSetImage> attribute_sets;
  bool has_attribute_sets = true;  // not before version 1.0.1.0
  bool is_of_another_header = false;
  LittleBytes behind_header, behind_footer, behind_page_lists;  // added by later versions
  Change change_header, change_footer, change_page_list;        // called before lengths and checksums are computed
  // Changes the envelopes as the anchor describes them.
  std::function<void(EnvelopeImage& header, EnvelopeImage& footer)> change_anchor;

  // Writes the file. Its parts may be read afterwards, too.
  std::vector<std::byte> finish() {
    FileImage file;
    const auto anchor = file.add_object(file.root, "ROOT::RNTuple", "t", std::string(kAnchorSize, '\0'));
    const auto anchor_at = static_cast<std::uint64_t>(anchor.seek + anchor.keylen);
    LittleBytes payload = header_payload();
    if (change_header) change_header(payload);
    header = add_envelope(file, envelope(1, payload));
    std::vector<LittleBytes> group_records;
    for (const GroupImage& group : groups) group_records.push_back(add_group(file, group));
    payload = footer_payload(group_records, anchor_at);
    if (change_footer) change_footer(payload);
    footer = add_envelope(file, envelope(2, payload));
    if (change_anchor) change_anchor(header, footer);
    const Bytes object = anchor_object();
    std::copy(object.all().begin(), object.all().end(),
              file.bytes().all().begin() + static_cast<std::ptrdiff_t>(anchor_at));
    return file.finish();
  }

  EnvelopeImage header, footer;
  std::vector<EnvelopeImage> page_lists;
  std::vector<std::uint64_t> pages;  // addresses

 private:
  static std::uint64_t add_blob(FileImage& file, const std::vector<std::byte>& bytes) {
    const auto key = file.add_record({"RBlob", "", "", 1, 0, 100, 0, 0, 0}, bytes);
    return static_cast<std::uint64_t>(key.seek + key.keylen);
  }
  static EnvelopeImage add_envelope(FileImage& file, const LittleBytes& bytes) {
    return {add_blob(file, bytes.all()), bytes.size(), bytes.size(),
            load_little<std::uint64_t>(bytes.all().data() + bytes.size() - 8)};
  }

  static LittleBytes field_record(const FieldImage& field, std::uint32_t id) {
    LittleBytes body;
    body.put(std::uint32_t{0}).put(std::uint32_t{0}).put(field.parent.value_or(id)).put(field.role);
    body.put(static_cast<std::uint16_t>((field.array_size ? 1 : 0) | (field.projected_from ? 2 : 0)));
    body.put_text(field.name).put_text(field.type_name).put_text("").put_text("");
    if (field.array_size) body.put(*field.array_size);
    if (field.projected_from) body.put(*field.projected_from);
    return record_frame(body.put(field.of_later_versions));
  }
  static LittleBytes column_record(const ColumnImage& column) {
    LittleBytes body;
    body.put(column.type).put(column.bits).put(column.field);
    body.put(static_cast<std::uint16_t>((column.first_element ? 1 : 0) | (column.range ? 2 : 0)));
    body.put(column.representation);
    if (column.first_element) body.put(*column.first_element);
    if (column.range) body.put(column.range->first).put(column.range->second);
    return record_frame(body.put(column.of_later_versions));
  }
  static LittleBytes schema_description(const SchemaImage& schema, std::size_t first_field) {
    std::vector<LittleBytes> fields, columns, aliases;
    for (const FieldImage& field : schema.fields)
      fields.push_back(field_record(field, static_cast<std::uint32_t>(first_field + fields.size())));
    for (const ColumnImage& column : schema.columns) columns.push_back(column_record(column));
    for (const AliasImage& alias : schema.aliases)
      aliases.push_back(record_frame(LittleBytes().put(alias.column).put(alias.field)));
    std::vector<LittleBytes> types;
    LittleBytes type;
    type.put(std::uint32_t{0}).put(std::uint32_t{0}).put_text("").put_text(schema.streamer_infos);
    if (!schema.streamer_infos.empty()) types.push_back(record_frame(type));
    LittleBytes all = list_frame(fields);
    return all.put(list_frame(columns)).put(list_frame(aliases)).put(list_frame(types));
  }

  LittleBytes header_payload() const {
    LittleBytes payload;
    for (const std::uint64_t word : header_flags) payload.put(word);
    payload.put_text("t").put_text("an image").put_text("by hand");
    return payload.put(schema_description(schema, 0)).put(behind_header);
  }
  LittleBytes footer_payload(const std::vector<LittleBytes>& group_records, std::uint64_t anchor_at) const {
    LittleBytes payload;
    for (const std::uint64_t word : footer_flags) payload.put(word);
    payload.put(header.checksum ^ (is_of_another_header ? 1 : 0));
    payload.put(record_frame(schema_description(extension, schema.fields.size())));
    payload.put(list_frame(group_records));
    if (!has_attribute_sets) return payload;
    std::vector<LittleBytes> sets;
    for (const AttributeSetImage& set : attribute_sets) {
      LittleBytes body;
      body.put(set.schema_major).put(std::uint16_t{0}).put(kAnchorSize);
      body.put(set.anchor ? locator(set.anchor->begin, set.anchor->size) : locator(anchor_at, kAnchorSize));
      sets.push_back(record_frame(body.put_text(set.name)));
    }
    return payload.put(list_frame(sets)).put(behind_footer);
  }

  // Writes the pages and the page list of a group; returns the group's record.
  LittleBytes add_group(FileImage& file, const GroupImage& group) {
    std::vector<LittleBytes> summaries, locations;
    for (const ClusterImage& cluster : group.clusters) {
      LittleBytes summary;
      summary.put(cluster.first_entry).put(cluster.entries | std::uint64_t{cluster.flags} << 56);
      summaries.push_back(record_frame(summary.put(cluster.of_later_versions)));
      std::vector<LittleBytes> columns;
      for (const ColumnPagesImage& column : cluster.columns) columns.push_back(add_pages(file, column));
      locations.push_back(list_frame(columns));
    }
    LittleBytes payload;
    payload.put(header.checksum ^ (group.is_of_another_header ? 1 : 0));
    payload.put(list_frame(summaries)).put(list_frame(locations)).put(behind_page_lists);
    if (change_page_list) change_page_list(payload);
    page_lists.push_back(add_envelope(file, envelope(3, payload)));
    return group_record(group, page_lists.back());
  }
  static LittleBytes group_record(const GroupImage& group, const EnvelopeImage& list) {
    std::uint64_t first = group.clusters.empty() ? 0 : UINT64_MAX, entries = 0;
    for (const ClusterImage& cluster : group.clusters) {
      first = std::min(first, cluster.first_entry);
      entries += cluster.entries;
    }
    LittleBytes body;
    body.put(group.claimed_first.value_or(first)).put(group.claimed_entries.value_or(entries));
    body.put(group.claimed_clusters.value_or(static_cast<std::uint32_t>(group.clusters.size())));
    body.put(list.length).put(locator(list.begin, list.size, group.locator));
    return record_frame(body.put(group.of_later_versions));
  }
  LittleBytes add_pages(FileImage& file, const ColumnPagesImage& column) {
    std::vector<LittleBytes> items;
    for (const PageImage& page : column.pages) {
      LittleBytes stored;
      stored.put_bytes(page.bytes);
      const std::uint64_t checksum = XXH3_64bits(page.bytes.data(), page.bytes.size());
      if (page.with_checksum) stored.put(checksum ^ (page.with_wrong_checksum ? 1 : 0));
      pages.push_back(add_blob(file, stored.all()));
      const ByteRange range = page.claimed.value_or(ByteRange{pages.back(), page.bytes.size()});
      LittleBytes item;
      // Negative if a checksum follows the page.
      item.put(page.with_checksum ? static_cast<std::int32_t>(0 - static_cast<std::uint32_t>(page.elements))
                                  : page.elements);
      items.push_back(item.put(locator(range.begin, range.size, page.locator)));
    }
    LittleBytes behind;
    if (column.is_suppressed) return list_frame(items, behind.put(INT64_MIN));
    return list_frame(items, behind.put(column.first_element).put(std::uint32_t{0}));
  }

  // Byte count and version of the class, the members, and their checksum: big-endian.
  Bytes anchor_object() const {
    Bytes members;
    for (const std::uint16_t part : {epoch, major, minor, patch}) members.put(part);
    for (const EnvelopeImage& of : {header, footer})
      for (const std::uint64_t number : {of.begin, of.size, of.length}) members.put(number);
    members.put(max_key_size);
    members.put(std::uint64_t{XXH3_64bits(members.all().data(), members.size())});
    Bytes object;
    object.put(static_cast<std::uint32_t>(0x40000000 | (members.size() - 8 + 2)));
    object.put(std::uint16_t{2});
    object.all().insert(object.all().end(), members.all().begin(), members.all().end());
    return object;
  }
};

}  // namespace tfile::test
