// SPDX-License-Identifier: Apache-2.0
#include "object/row_table.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytes/cursor.h"
#include "bytes/swap.h"
#include "model/node_draft.h"
#include "streamer/info/object_frame.h"
#include "streamer/info/streamer_info_record.h"
#include "streamer/walk/object_reader.h"
#include "tfile/plot.h"

namespace tfile {
namespace {

// TTable::EColumnType. Of the types without a Dtype, TTable::Streamer stores pointers, and nothing of the others.
constexpr std::optional<Dtype> kColumnTypes[] = {{},        Dtype::f4, Dtype::i4, Dtype::i8, Dtype::i2,
                                                 Dtype::f8, Dtype::u4, Dtype::u8, {},        Dtype::u1,
                                                 Dtype::i1, {},        Dtype::b1};
constexpr std::uint32_t kPointerColumn = 11;

// A member of the structure, which lies at `begin` of each stored row.
struct RowMember {
  std::string name;
  Dtype dtype = Dtype::u1;
  std::vector<std::uint32_t> shape;
  std::size_t begin = 0, size = 0;
};

struct RowTable {
  std::vector<RowMember> members;
  std::size_t row_size = 0;
  std::uint64_t count = 0;
  std::span<const std::byte> rows;
  bool has_pointers = false;
  bool are_counted = false;  // old files: the number of its items is before each array, as an i4
};

constexpr std::uint64_t kRowMembersMax = 10'000, kRowSizeMax = 1 << 28;

// Reads the members before the rows: TDataSet, fN, fMaxIndex, fSize. Returns fMaxIndex.
std::uint64_t read_row_count(Cursor& in) {
  const Frame frame = read_frame(in);  // of TDataSet
  if (!frame.counted) in.reject("TTable: TDataSet");
  leave_frame(in, frame);
  const auto allocated = in.big<std::int32_t>("TTable: fN");
  const auto count = in.big<std::int64_t>("TTable: fMaxIndex");
  in.skip(sizeof(std::int64_t), "TTable: fSize");  // in memory, with padding
  if (count < 0 || count > allocated) in.reject("TTable: fMaxIndex");
  return in.failed() ? 0 : static_cast<std::uint64_t>(count);
}

// Places the member in the row. The number of its items is `size` / `type_size`, as these were in memory.
void add_row_member(Cursor& in, RowTable& table, RowMember member, std::uint32_t size, std::uint32_t type_size) {
  std::uint64_t count = 1;
  for (const std::uint32_t extent : member.shape) {
    if (extent == 0 || extent > kRowSizeMax / count) return in.reject("TTableDescriptor: fIndexArray");
    count *= extent;
  }
  if (type_size == 0 || count * type_size != size) return in.reject("TTableDescriptor: fSize");
  if (table.are_counted && !member.shape.empty()) table.row_size += sizeof(std::int32_t);
  member.begin = table.row_size;
  member.size = count * size_of(member.dtype);
  table.row_size += member.size;
  if (table.row_size > kRowSizeMax) return in.reject("TTableDescriptor: size of a row");
  table.members.push_back(std::move(member));
}

// A row of TTableDescriptor: tableDescriptor_st.
void read_row_member(Cursor& in, RowTable& table) {
  constexpr std::size_t kColumnNameSize = 32, kColumnDimensionsMax = 3;
  RowMember member;
  if (table.are_counted) in.skip(sizeof(std::int32_t), "TTableDescriptor: fColumnName");
  const auto name = in.take(kColumnNameSize, "TTableDescriptor: fColumnName");
  const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  member.name = text.substr(0, text.find('\0'));
  if (table.are_counted) in.skip(sizeof(std::int32_t), "TTableDescriptor: fIndexArray");
  for (std::size_t i = 0; i < kColumnDimensionsMax; ++i)
    member.shape.push_back(in.big<std::uint32_t>("TTableDescriptor: fIndexArray"));
  in.skip(sizeof(std::uint32_t), "TTableDescriptor: fOffset");
  const auto size = in.big<std::uint32_t>("TTableDescriptor: fSize");
  const auto type_size = in.big<std::uint32_t>("TTableDescriptor: fTypeSize");
  const auto dimensions = in.big<std::uint32_t>("TTableDescriptor: fDimensions");
  const auto type = in.big<std::uint32_t>("TTableDescriptor: fType");
  if (in.failed()) return;
  if (type >= std::size(kColumnTypes)) return in.reject("TTableDescriptor: fType");
  if (dimensions > kColumnDimensionsMax) return in.reject("TTableDescriptor: fDimensions");
  if (member.name.empty()) return in.reject("TTableDescriptor: fColumnName");
  table.has_pointers |= type == kPointerColumn;
  if (!kColumnTypes[type]) return;
  member.dtype = *kColumnTypes[type];
  member.shape.resize(dimensions);
  add_row_member(in, table, std::move(member), size, type_size);
}

void read_row_members(Cursor& in, RowTable& table) {
  read_frame(in);  // of TTableDescriptor
  const std::uint64_t count = read_row_count(in);
  if (count > kRowMembersMax) return in.reject("TTableDescriptor: fMaxIndex");
  // A name does not begin with NUL, but its length does.
  table.are_counted = in.left() > 0 && in.bytes()[in.position()] == std::byte{0};
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) read_row_member(in, table);
}

// TTable::Streamer: the description of the rows, as an object of its own since version 4, then the rows.
Result<RowTable> read_row_table(std::span<const std::byte> payload, std::uint32_t keylen) {
  constexpr std::uint16_t kInline = 3, kAsObject = 4;
  Cursor in(payload);
  RowTable table;
  const Frame frame = read_frame(in);
  if (frame.version != kInline && frame.version != kAsObject)
    return fail(ErrorKind::unsupported, "TTable: version " + std::to_string(frame.version));
  if (frame.version == kAsObject) {
    const ObjectTag tag = read_object_tag(in, keylen);
    if (tag.class_name != "TTableDescriptor") in.reject("TTable: its description");
    read_row_members(in, table);
    if (tag.counted && in.position() != tag.end) in.reject("TTable: its description");
  } else {
    read_row_members(in, table);
  }
  if (table.has_pointers) return fail(ErrorKind::unsupported, "TTable: its rows have pointers");
  table.count = read_row_count(in);
  if (table.count > 0 && table.row_size == 0) in.reject("TTable: rows");
  table.rows = in.take_items(table.count, table.row_size, "TTable: rows");
  if (in.left() > 0) in.reject("TTable: rows");
  return in.finish(std::move(table));
}

class RowTableObject final : public OneChunkEach<Object> {
 public:
  RowTableObject(const KeyInfo& key, std::shared_ptr<const StreamSet> payload)
      : payload_(std::move(payload)), keylen_(key.keylen) {
    name = key.name;
    title = key.title;
    class_name = key.class_name;
    kind = "object";
    parts[0].has_json = false;
    needs_descriptions = true;  // nothing else names the class
    nodes.emplace_back();
  }
  void show(const RowTable&);

  std::size_t stream_count() const override { return columns.empty() ? 0 : columns.back().stream + 1; }
  StreamShape shape(StreamId) const override {
    return {.chunks = 1,
            .slots = columns.size() / stream_count(),
            .stored_bytes = payload_->shape(0).stored_bytes / stream_count()};
  }
  Result<Locator> locate(ChunkKey) const override { return payload_->locate({}); }
  std::uint64_t decoded_size(ChunkKey) const override {
    return payload_->decoded_size({}) + row_size_ * static_cast<std::uint64_t>(entries);
  }
  std::vector<std::int64_t> lengths(StreamId stream) const override {
    return std::vector<std::int64_t>(shape(stream).slots, entries);
  }
  Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored, std::span<const std::shared_ptr<const Chunk>>,
                       std::span<const std::int64_t>) const override;

  // The descriptions of the class and its bases are not how the bytes are.
  std::string descriptions(std::span<const std::byte>) const override {
    const std::vector<std::byte> bytes = encode_streamer_infos({}, 0, class_name);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  Result<std::shared_ptr<const PiecedText>> json(std::span<const std::byte>, const std::stop_token&) const override {
    return none();
  }
  Result<std::shared_ptr<const PiecedText>> table(std::span<const std::byte>, std::size_t,
                                                  const std::function<std::string(std::string_view)>&,
                                                  const std::stop_token&) const override {
    return std::shared_ptr<const PiecedText>();
  }
  Result<Plot> plot(std::span<const std::byte>, std::size_t, Effort&) const override { return none(); }
  Result<Spreadsheet> spreadsheet(std::span<const std::byte>, std::size_t, Effort&) const override { return none(); }
  Result<std::string> text(std::span<const std::byte>, std::size_t) const override { return none(); }

 private:
  static tl::unexpected<Error> none() { return fail(ErrorKind::invalid, "a TTable has only arrays"); }

  const std::shared_ptr<const StreamSet> payload_;
  const std::uint32_t keylen_;
  std::uint64_t row_size_ = 0;
};

// Large arrays get one stream each, so that a reader of one does not need memory for all.
void RowTableObject::show(const RowTable& table) {
  constexpr std::uint64_t kTogetherBytes = 16 << 20;
  entries = static_cast<std::int64_t>(table.count);
  row_size_ = table.row_size;
  const bool together = table.rows.size() <= kTogetherBytes;
  NodeDraft root;
  for (const RowMember& member : table.members) {
    const auto id = static_cast<ColumnId>(columns.size());
    Column& column = columns.emplace_back();
    column.dtype = member.dtype;
    column.shape = member.shape;
    column.class_name = class_name;
    column.stream = together ? 0 : id;
    column.slot = together ? id : 0;
    NodeDraft& leaf = root.children.emplace_back();
    leaf.name = member.name;
    leaf.kind = NodeKind::number;
    leaf.column = id;
  }
  place_nodes(root, 0, "", nodes, columns, [](const NodeDraft&, NodeId, const std::string&) {});
}

Result<Chunk> RowTableObject::decode(ChunkKey key, std::span<const std::byte> stored,
                                     std::span<const std::shared_ptr<const Chunk>>,
                                     std::span<const std::int64_t>) const {
  TRY(const Chunk payload, payload_->decode({}, stored, {}, {}));
  TRY(const RowTable table, read_row_table(payload.arrays[0], keylen_));
  constexpr const char* kOther = "the object has changed since it was opened";
  if (table.members.size() != columns.size() || table.count != static_cast<std::uint64_t>(entries))
    return fail(ErrorKind::stale, kOther);
  Chunk chunk;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].stream != key.stream) continue;
    const RowMember& member = table.members[i];
    if (member.size != columns[i].item_size()) return fail(ErrorKind::stale, kOther);
    Buffer buffer(table.count * member.size);
    std::byte* to = buffer.data();
    for (std::uint64_t row = 0; row < table.count; ++row, to += member.size)
      std::ranges::copy(table.rows.subspan(row * table.row_size + member.begin, member.size), to);
    swap_items(buffer.span(), size_of(member.dtype));
    chunk.owned.push_back(std::move(buffer));
  }
  for (const Buffer& buffer : chunk.owned) chunk.arrays.push_back(buffer.span());
  return chunk;
}

}  // namespace

std::shared_ptr<const Object> open_row_table(const StreamerInfos& infos, const KeyInfo& key,
                                             std::shared_ptr<const StreamSet> payload_streams,
                                             std::span<const std::byte> payload) {
  const std::string_view name = key.class_name;
  const bool is_one = name == "TTable" || name == "TGenericTable" || derives_from(infos, name, "TTable");
  // Those of STAR are called so. A file need not describe classes with a streamer of their own.
  if (name == "TTableDescriptor" || (!is_one && !name.starts_with("St_"))) return nullptr;
  const auto table = read_row_table(payload, key.keylen);
  if (!table && !is_one) return nullptr;
  auto object = std::make_shared<RowTableObject>(key, std::move(payload_streams));
  if (table)
    object->show(*table);
  else
    object->warnings.push_back(table.error().text);
  return object;
}

}  // namespace tfile
