// SPDX-License-Identifier: Apache-2.0
#include "array/arrow.h"

#include <flatbuffers/flatbuffers.h>

#include <cstring>

#include "array/arrow_numbers.h"

namespace tfilefs {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::uoffset_t;
using FieldKind = ArrowField::Kind;

// Numbers of fields and members as in Arrow's Schema.fbs, Message.fbs and File.fbs.
constexpr std::int16_t kVersion5 = 4;
using Type = ArrowType;
using Header = ArrowHeader;

struct NodeStruct {
  std::int64_t length, nulls;
};
struct BufferStruct {
  std::int64_t offset, length;
};
struct BlockStruct {
  std::int64_t offset;
  std::int32_t metadata_size, padding;
  std::int64_t body_size;
};

constexpr std::int64_t kPage = 4096;  // of memory: a body of whole pages begins at one, so that a read error in it
                                      // leaves the head readable

// The offset of field number `field` in a table.
constexpr flatbuffers::voffset_t at(int field) { return static_cast<flatbuffers::voffset_t>(4 + 2 * field); }

class Builder {
 public:
  Offset<void> schema(std::span<const ArrowField> fields) {
    const auto all = children(fields);
    const auto start = fbb_.StartTable();
    fbb_.AddElement<std::int16_t>(at(0), 0, 0);  // little-endian
    fbb_.AddOffset(at(1), all);
    return fbb_.EndTable(start);
  }

  Offset<void> batch(std::int64_t rows, std::span<const ArrowNode> nodes, std::span<const ArrowBuffer> buffers) {
    std::vector<NodeStruct> all_nodes;
    for (const ArrowNode& node : nodes) all_nodes.push_back({node.length, node.nulls});
    std::vector<BufferStruct> all_buffers;
    for (const ArrowBuffer& buffer : buffers) all_buffers.push_back({buffer.offset, buffer.size});
    const auto node_vector = structs(all_nodes);
    const auto buffer_vector = structs(all_buffers);
    const auto start = fbb_.StartTable();
    fbb_.AddElement<std::int64_t>(at(0), rows, 0);
    fbb_.AddOffset(at(1), node_vector);
    fbb_.AddOffset(at(2), buffer_vector);
    return fbb_.EndTable(start);
  }

  void message(Header kind, Offset<void> header, std::int64_t body_size) {
    const auto start = fbb_.StartTable();
    fbb_.AddElement<std::int64_t>(at(3), body_size, 0);
    fbb_.AddOffset(at(2), header);
    fbb_.AddElement<std::int16_t>(at(0), kVersion5, 0);
    fbb_.AddElement<std::uint8_t>(at(1), static_cast<std::uint8_t>(kind), 0);
    fbb_.Finish(Offset<void>(fbb_.EndTable(start)));
  }

  void footer(Offset<void> schema, const BlockStruct& block) {
    const auto blocks = structs(std::vector{block});
    const auto none = structs(std::vector<BlockStruct>{});
    const auto start = fbb_.StartTable();
    fbb_.AddOffset(at(1), schema);
    fbb_.AddOffset(at(2), none);
    fbb_.AddOffset(at(3), blocks);
    fbb_.AddElement<std::int16_t>(at(0), kVersion5, 0);
    fbb_.Finish(Offset<void>(fbb_.EndTable(start)));
  }

  std::string_view bytes() const { return {reinterpret_cast<const char*>(fbb_.GetBufferPointer()), fbb_.GetSize()}; }

 private:
  template <class T>
  Offset<void> structs(const std::vector<T>& items) {
    fbb_.StartVector(items.size() * sizeof(T) / 8, 8);  // all of them are made of 8-byte words
    if (!items.empty()) fbb_.PushBytes(reinterpret_cast<const std::uint8_t*>(items.data()), items.size() * sizeof(T));
    return fbb_.EndVector(items.size());
  }

  Offset<void> children(std::span<const ArrowField> fields) {
    std::vector<Offset<void>> offsets;
    for (const ArrowField& child : fields) offsets.push_back(field(child));
    return fbb_.CreateVector(offsets).Union();
  }

  Offset<void> field(const ArrowField& field) {
    const auto name = fbb_.CreateString(field.name);
    const auto below = children(field.children);
    const auto type = type_table(field);
    const auto start = fbb_.StartTable();
    fbb_.AddOffset(at(0), name);
    fbb_.AddOffset(at(3), type);
    fbb_.AddOffset(at(5), below);
    fbb_.AddElement<std::uint8_t>(at(1), field.nullable, 0);
    fbb_.AddElement<std::uint8_t>(at(2), static_cast<std::uint8_t>(type_of(field)), 0);
    return fbb_.EndTable(start);
  }

  static bool is_floating(tfile::Dtype dtype) { return dtype == tfile::Dtype::f4 || dtype == tfile::Dtype::f8; }
  static bool is_signed(tfile::Dtype dtype) { return tfile::type_suffix(dtype)[0] == 'i'; }

  static Type type_of(const ArrowField& field) {
    switch (field.kind) {
      case FieldKind::number:
        return is_floating(field.dtype) ? Type::floating : Type::integer;
      case FieldKind::boolean:
        return Type::boolean;
      case FieldKind::string:
        return Type::large_utf8;
      case FieldKind::binary:
        return Type::large_binary;
      case FieldKind::list:
        return Type::large_list;
      case FieldKind::fixed_list:
        return Type::fixed_list;
      case FieldKind::record:
        return Type::record;
      case FieldKind::seconds:
      case FieldKind::nanoseconds:
        return Type::timestamp;
    }
    return Type::record;
  }

  Offset<void> type_table(const ArrowField& field) {
    const bool is_utc = field.kind == FieldKind::nanoseconds;
    const auto zone = is_utc ? fbb_.CreateString("UTC").Union() : Offset<void>();
    const auto start = fbb_.StartTable();
    const auto size = static_cast<std::int32_t>(tfile::size_of(field.dtype));
    if (type_of(field) == Type::floating) {
      fbb_.AddElement<std::int16_t>(at(0), size == 4 ? 1 : 2, 0);  // single, double
    } else if (type_of(field) == Type::integer) {
      fbb_.AddElement<std::int32_t>(at(0), size * 8, 0);
      fbb_.AddElement<std::uint8_t>(at(1), is_signed(field.dtype), 0);
    } else if (type_of(field) == Type::fixed_list) {
      fbb_.AddElement<std::int32_t>(at(0), field.list_size, 0);
    } else if (is_utc) {
      fbb_.AddElement<std::int16_t>(at(0), 3, 0);  // nanoseconds; seconds are the default, and no time zone
      fbb_.AddOffset(at(1), zone);
    }
    return fbb_.EndTable(start);
  }

  FlatBufferBuilder fbb_{16 << 10};
};

void append_little(std::string& to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

// Appends the frame of a message, the message, and zeros so that the next byte lies at a multiple of `alignment`.
void append_message(std::string& to, std::string_view message, std::size_t alignment) {
  const std::size_t unpadded = to.size() + 8 + message.size();
  const std::size_t padding = (alignment - unpadded % alignment) % alignment;
  append_little(to, kArrowContinuation);
  append_little(to, static_cast<std::uint32_t>(message.size() + padding));
  to += message;
  to.append(padding, '\0');
}

}  // namespace

ArrowHead arrow_head(std::span<const ArrowField> fields, std::int64_t rows, std::span<const ArrowNode> nodes,
                     std::span<const ArrowBuffer> buffers, std::int64_t body_size) {
  ArrowHead head;
  head.bytes.append(kArrowMagic);
  head.bytes.append(2, '\0');
  Builder schema;
  schema.message(Header::schema, schema.schema(fields), 0);
  append_message(head.bytes, schema.bytes(), 8);
  head.batch_offset = std::ssize(head.bytes);
  Builder batch;
  batch.message(Header::batch, batch.batch(rows, nodes, buffers), body_size);
  append_message(head.bytes, batch.bytes(), body_size % kPage == 0 ? std::uint64_t{kPage} : kArrowAlignment);
  head.batch_message_size = static_cast<std::int32_t>(std::ssize(head.bytes) - head.batch_offset);
  return head;
}

std::string arrow_tail(std::span<const ArrowField> fields, const ArrowHead& head, std::int64_t body_size) {
  std::string tail;
  append_little(tail, kArrowContinuation);
  append_little(tail, 0);
  Builder footer;
  footer.footer(footer.schema(fields), {head.batch_offset, head.batch_message_size, 0, body_size});
  tail += footer.bytes();
  append_little(tail, static_cast<std::uint32_t>(footer.bytes().size()));
  tail.append(kArrowMagic);
  return tail;
}

}  // namespace tfilefs
