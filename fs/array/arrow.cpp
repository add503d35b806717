// SPDX-License-Identifier: Apache-2.0
#include "array/arrow.h"

#include <arrow_generated.h>

#include "array/arrow_frame.h"

namespace tfilefs {

namespace ipc = arrow_ipc;

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using FieldKind = ArrowField::Kind;

constexpr std::int64_t kPage = 4096;  // of memory: a body of whole pages begins at one, so that a read error in it
                                      // leaves the head readable

class Builder {
 public:
  Offset<ipc::Schema> schema(std::span<const ArrowField> fields) {
    const auto all = children(fields);
    return ipc::CreateSchema(fbb_, ipc::ByteOrder::little, all);
  }

  Offset<ipc::Batch> batch(std::int64_t rows, std::span<const ArrowNode> nodes, std::span<const ArrowBuffer> buffers) {
    std::vector<ipc::Node> all_nodes;
    for (const ArrowNode& node : nodes) all_nodes.emplace_back(node.length, node.nulls);
    std::vector<ipc::Buffer> all_buffers;
    for (const ArrowBuffer& buffer : buffers) all_buffers.emplace_back(buffer.offset, buffer.size);
    return ipc::CreateBatchDirect(fbb_, rows, &all_nodes, &all_buffers);
  }

  void message(ipc::Header kind, Offset<void> header, std::int64_t body_size) {
    fbb_.Finish(ipc::CreateMessage(fbb_, ipc::Version::v5, kind, header, body_size));
  }

  void footer(Offset<ipc::Schema> schema, const ipc::Block& block) {
    const std::vector<ipc::Block> none, blocks{block};
    fbb_.Finish(ipc::CreateFooterDirect(fbb_, ipc::Version::v5, schema, &none, &blocks));
  }

  std::string_view bytes() const { return {reinterpret_cast<const char*>(fbb_.GetBufferPointer()), fbb_.GetSize()}; }

 private:
  struct TypeTable {
    ipc::Type kind;
    Offset<void> table;
  };

  Offset<flatbuffers::Vector<Offset<ipc::Field>>> children(std::span<const ArrowField> fields) {
    std::vector<Offset<ipc::Field>> offsets;
    for (const ArrowField& child : fields) offsets.push_back(field(child));
    return fbb_.CreateVector(offsets);
  }

  Offset<ipc::Field> field(const ArrowField& field) {
    const auto name = fbb_.CreateString(field.name);
    const auto below = children(field.children);
    const TypeTable type = type_of(field);
    return ipc::CreateField(fbb_, name, field.nullable, type.kind, type.table, 0, below);
  }

  TypeTable number(tfile::Dtype dtype) {
    const auto size = static_cast<std::int32_t>(tfile::size_of(dtype));
    const char kind = tfile::type_suffix(dtype)[0];
    if (kind != 'f') return {ipc::Type::Integer, ipc::CreateInteger(fbb_, size * 8, kind == 'i').Union()};
    const auto precision = size == 4 ? ipc::Precision::single : ipc::Precision::double_;
    return {ipc::Type::Floating, ipc::CreateFloating(fbb_, precision).Union()};
  }

  TypeTable type_of(const ArrowField& field) {
    switch (field.kind) {
      case FieldKind::number:
        return number(field.dtype);
      case FieldKind::boolean:
        return {ipc::Type::Boolean, ipc::CreateBoolean(fbb_).Union()};
      case FieldKind::string:
        return {ipc::Type::LargeText, ipc::CreateLargeText(fbb_).Union()};
      case FieldKind::binary:
        return {ipc::Type::LargeBinary, ipc::CreateLargeBinary(fbb_).Union()};
      case FieldKind::list:
        return {ipc::Type::LargeList, ipc::CreateLargeList(fbb_).Union()};
      case FieldKind::fixed_list:
        return {ipc::Type::FixedList, ipc::CreateFixedList(fbb_, field.list_size).Union()};
      case FieldKind::record:
        break;
      case FieldKind::seconds:
        return {ipc::Type::Timestamp, ipc::CreateTimestamp(fbb_, ipc::TimeUnit::seconds).Union()};
      case FieldKind::nanoseconds:
        return {ipc::Type::Timestamp, ipc::CreateTimestampDirect(fbb_, ipc::TimeUnit::nanoseconds, "UTC").Union()};
    }
    return {ipc::Type::Record, ipc::CreateRecord(fbb_).Union()};
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
  schema.message(ipc::Header::Schema, schema.schema(fields).Union(), 0);
  append_message(head.bytes, schema.bytes(), 8);
  head.batch_offset = std::ssize(head.bytes);
  Builder batch;
  batch.message(ipc::Header::Batch, batch.batch(rows, nodes, buffers).Union(), body_size);
  append_message(head.bytes, batch.bytes(), body_size % kPage == 0 ? std::uint64_t{kPage} : kArrowAlignment);
  head.batch_message_size = static_cast<std::int32_t>(std::ssize(head.bytes) - head.batch_offset);
  return head;
}

std::string arrow_tail(std::span<const ArrowField> fields, const ArrowHead& head, std::int64_t body_size) {
  std::string tail;
  append_little(tail, kArrowContinuation);
  append_little(tail, 0);
  Builder footer;
  footer.footer(footer.schema(fields), {head.batch_offset, head.batch_message_size, body_size});
  tail += footer.bytes();
  append_little(tail, static_cast<std::uint32_t>(footer.bytes().size()));
  tail.append(kArrowMagic);
  return tail;
}

}  // namespace tfilefs
