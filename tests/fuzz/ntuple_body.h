// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xxhash.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bytes/cursor.h"
#include "format/source/memory_source.h"
#include "fuzz/stream_body.h"
#include "ntuple/envelope.h"
#include "ntuple/ntuple_table.h"

namespace tfile::fuzz {

// An RNTuple of given envelopes, and a file for its pages. Lengths, addresses and checksums that are checked first are
// made right. Input: the payloads of header, footer and the page list of the first cluster group, each preceded by its
// length (u4, little-endian); then the bytes of the file, with pages where the page lists place them.
class NtupleOfBytes {
 public:
  explicit NtupleOfBytes(std::span<const std::byte> input) {
    Cursor in(input);
    for (Bytes* payload : {&header_, &footer_, &page_list_}) {
      const auto size = std::min<std::size_t>(in.little<std::uint32_t>("length"), in.left());
      const auto taken = in.take(size, "payload");
      payload->assign(taken.begin(), taken.end());
    }
    const auto rest = in.take(in.left(), "file");
    file_.assign(rest.begin(), rest.end());
    const Place header = add(1, header_);
    put(page_list_, 0, header.checksum);
    const Place page_list = add(3, page_list_);
    put(footer_, kChecksumAt, header.checksum);
    point_first_group_at(page_list);
    const Place footer = add(2, footer_);
    make_anchor(header, footer);
  }

  std::shared_ptr<const Source> source() const { return std::make_shared<const test::MemorySource>(file_); }
  std::span<const std::byte> anchor() const { return anchor_; }

 private:
  using Bytes = std::vector<std::byte>;
  struct Place {
    std::uint64_t begin = 0, size = 0, checksum = 0;
  };
  static constexpr std::size_t kChecksumAt = 8;  // after one word of feature flags

  template <class T>
  static void append(Bytes& to, T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    to.insert(to.end(), bytes.begin(), bytes.end());
  }
  template <class T>
  static void append_big(Bytes& to, T value) {
    append(to, byte_swap(value));
  }
  template <class T>
  static void put(Bytes& to, std::size_t at, T value) {
    if (to.size() >= sizeof value && at <= to.size() - sizeof value) std::memcpy(to.data() + at, &value, sizeof value);
  }

  Place add(std::uint16_t type, const Bytes& payload) {
    Bytes envelope;
    append(envelope, std::uint64_t{type} | (payload.size() + 16) << 16);
    envelope.insert(envelope.end(), payload.begin(), payload.end());
    const Place place{file_.size(), envelope.size() + 8, XXH3_64bits(envelope.data(), envelope.size())};
    append(envelope, place.checksum);
    file_.insert(file_.end(), envelope.begin(), envelope.end());
    return place;
  }

  // The group's record follows the extension of the schema: two numbers of entries, the number of clusters, the length,
  // a plain locator.
  void point_first_group_at(const Place& list) {
    Cursor in(footer_);
    in.skip(kChecksumAt + 8, "footer");
    take_record(in, "extension");
    const std::size_t list_head = 12, record_head = 8, link = 8 + 8 + 4;
    const std::size_t at = in.position() + list_head + record_head + link;
    if (in.failed()) return;
    put(footer_, at, std::uint64_t{list.size});
    put(footer_, at + 8, static_cast<std::int32_t>(list.size));
    put(footer_, at + 12, std::uint64_t{list.begin});
  }

  void make_anchor(const Place& header, const Place& footer) {
    Bytes members;
    for (const std::uint16_t part : {std::uint16_t{1}, std::uint16_t{0}, std::uint16_t{2}, std::uint16_t{0}})
      append_big(members, part);
    for (const Place& place : {header, footer})
      for (const std::uint64_t number : {place.begin, place.size, place.size}) append_big(members, number);
    append_big(members, std::uint64_t{1} << 30);
    anchor_.assign(6, std::byte{0});
    anchor_.insert(anchor_.end(), members.begin(), members.end());
    append_big(anchor_, std::uint64_t{XXH3_64bits(members.data(), members.size())});
  }

  Bytes header_, footer_, page_list_, file_, anchor_;
};

// Opens the table and decodes its chunks. Returns whether it has any columns.
inline bool ntuple_body(std::span<const std::byte> input) {
  const NtupleOfBytes made(input);
  const auto source = made.source();
  KeyInfo key;
  key.name = "t";
  key.class_name = "ROOT::RNTuple";
  key.kind = KeyKind::table;
  const auto table = open_ntuple(source, source, key, made.anchor());
  require(table.has_value(), "a table is opened from memory, if only with a reason");
  walk_table(**table);
  // The metadata can take no more memory than the size of the file allows.
  require((*table)->memory() < (64 << 20) + 64 * input.size(), "a table takes little memory");
  require(each_block(source, made.anchor(), [](const NtupleBlock&) {}).has_value(), "all blocks can be told");
  return !(*table)->columns.empty();
}

}  // namespace tfile::fuzz
