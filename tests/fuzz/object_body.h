// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bytes/cursor.h"
#include "class_object.h"
#include "fuzz/stream_body.h"
#include "tfile/plot.h"

namespace tfile::fuzz {

// The payload of an object, stored uncompressed.
class PlainPayload final : public OneChunkEach<StreamSet> {
 public:
  explicit PlainPayload(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::size_t stream_count() const override { return 1; }
  StreamShape shape(StreamId) const override { return {.chunks = 1, .slots = 1, .stored_bytes = bytes_.size()}; }
  Result<Locator> locate(ChunkKey) const override { return Locator{nullptr, {}, bytes_}; }
  std::uint64_t decoded_size(ChunkKey) const override { return bytes_.size(); }
  std::vector<std::int64_t> lengths(StreamId) const override { return {static_cast<std::int64_t>(bytes_.size())}; }
  Result<Chunk> decode(ChunkKey, std::span<const std::byte>, std::span<const ChunkPointer>,
                       std::span<const std::int64_t>) const override {
    Chunk chunk;
    chunk.arrays.push_back(bytes_);
    return chunk;
  }

 private:
  const std::span<const std::byte> bytes_;
};

// Makes all pieces of a text; each says of what.
inline void make_all(const PiecedText& text, std::span<const std::byte> payload) {
  for (std::size_t i = 0; i < text.pieces.size(); ++i) {
    const PiecedText::Piece& piece = text.pieces[i];
    require(piece.size > 0 && (piece.text.empty() || piece.text.size() == piece.size), "a piece has its size");
    if (!piece.text.empty()) continue;
    std::vector<std::byte> ranges;
    for (const ByteRange& range : piece.payload) {
      require(range.end() <= payload.size(), "a piece is made of the payload");
      const auto bytes = payload.subspan(range.begin, range.size);
      ranges.insert(ranges.end(), bytes.begin(), bytes.end());
    }
    std::string made(piece.size, ' ');
    require(text.make(i, ranges, made).has_value(), "what was counted can be made");
  }
}

// Reads the bytes as: a class name; fKeylen and length of a StreamerInfo record, and that record; fKeylen and payload
// of an object of the class. Then makes everything that can be made of the object.
inline void object_body(std::span<const std::byte> bytes) {
  Cursor in(bytes);
  const std::string class_name(in.string("class"));
  const std::uint8_t record_keylen = in.u1("fKeylen");
  const auto record = in.take(in.big<std::uint16_t>("size"), "record");
  const std::uint8_t keylen = in.u1("fKeylen");
  if (in.failed()) return;
  const auto payload = in.take(in.left(), "payload");
  std::vector<std::string> warnings;
  const auto infos = std::make_shared<const StreamerInfos>(StreamerInfos::read(record, record_keylen, warnings));
  KeyInfo key;
  key.class_name = class_name;
  key.keylen = keylen;
  const auto object = open_object(infos, key, std::make_shared<const PlainPayload>(payload), payload);
  walk_table(*object);
  if (const auto json = object->json(payload, {})) make_all(**json, payload);
  const auto quoted = [](std::string_view text) { return '"' + std::string(text) + '"'; };
  for (std::size_t part = 0; part < object->parts.size(); ++part)
    if (const auto table = object->table(payload, part, quoted, {}); table && *table) make_all(**table, payload);
  tfile::Effort effort;
  for (std::size_t i = 0; i < object->parts.size(); ++i) {
    const Object::Part& part = object->parts[i];
    require(part.node < object->nodes.size(), "a part stands at a node");
    if (part.has_plot) static_cast<void>(object->plot(payload, i, effort));
    if (part.has_spreadsheet) {
      if (const auto sheet = object->spreadsheet(payload, i, effort)) {
        for (const auto& column : sheet->columns)
          require(column.size() == sheet->columns[0].size(), "columns of equal length");
        for (const auto& column : sheet->texts)
          require(column.size() == sheet->columns[0].size(), "texts of equal length");
      }
    }
    if (part.has_text) require(object->text(payload, i).has_value(), "text that was promised");
  }
}

}  // namespace tfile::fuzz
