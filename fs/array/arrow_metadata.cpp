// SPDX-License-Identifier: Apache-2.0
#include "array/arrow_metadata.h"

#include <string_view>

#include "array/arrow_numbers.h"
#include "array/flat_table.h"

namespace tfilefs {

using tfile::Dtype;
using tfile::ErrorKind;
using tfile::fail;
using tfile::Result;
using Kind = ArrowSourceField::Kind;

namespace {

using Type = ArrowType;
using Header = ArrowHeader;

// Lists nest up to eight deep in a tree, each with a field of its own, with records beside them.
constexpr int kDepthMax = 16;
// Most fields that one footer may describe: offsets may lead to the same field again and again.
constexpr std::size_t kFieldsMax = 1 << 18;

tl::unexpected<tfile::Error> damaged(const std::string& what, const std::string& found) {
  return fail(ErrorKind::damaged, "Arrow: " + what + ": " + found);
}

tl::unexpected<tfile::Error> damaged(const std::string& what, const FlatBytes& bytes) {
  return damaged(what, bytes.failure());
}

std::optional<Dtype> integer(std::int32_t bits, bool is_signed) {
  switch (bits) {
    case 8:
      return is_signed ? Dtype::i1 : Dtype::u1;
    case 16:
      return is_signed ? Dtype::i2 : Dtype::u2;
    case 32:
      return is_signed ? Dtype::i4 : Dtype::u4;
    case 64:
      return is_signed ? Dtype::i8 : Dtype::u8;
    default:
      return std::nullopt;
  }
}

std::optional<Dtype> integer(const FlatTable& type) {
  return integer(type.number<std::int32_t>(0, 0), type.number<std::uint8_t>(1, 0) != 0);
}

std::optional<Dtype> number_of(Type kind, const FlatTable& type) {
  switch (kind) {
    case Type::integer:
      return integer(type);
    case Type::floating: {
      const auto precision = type.number<std::int16_t>(0, 0);
      return precision == 1 ? std::optional(Dtype::f4) : precision == 2 ? std::optional(Dtype::f8) : std::nullopt;
    }
    case Type::date:
      return type.number<std::int16_t>(0, 1) == 0 ? Dtype::i4 : Dtype::i8;  // days, milliseconds
    case Type::time:
      return integer(type.number<std::int32_t>(1, 32), true);
    case Type::timestamp:
    case Type::duration:
      return Dtype::i8;
    default:
      return std::nullopt;
  }
}

class SchemaReader {
 public:
  explicit SchemaReader(FlatBytes& bytes) : bytes_(bytes) {}

  Result<std::vector<ArrowSourceField>> fields(const FlatTables& described, int depth) {
    std::vector<ArrowSourceField> all;
    if (depth > kDepthMax)
      return fail(ErrorKind::unsupported, "Arrow: types are nested deeper than " + std::to_string(kDepthMax));
    for (std::size_t i = 0; i < described.size() && !bytes_.failed(); ++i) {
      if (++count_ > kFieldsMax) return fail(ErrorKind::unsupported, "Arrow: more fields than a table can have");
      TRY(auto one, field(described[i], depth));
      all.push_back(std::move(one));
    }
    if (bytes_.failed()) return damaged("schema", bytes_);
    return all;
  }

 private:
  Result<ArrowSourceField> field(const FlatTable& described, int depth) {
    ArrowSourceField made;
    made.name = described.text(0);
    const auto kind = static_cast<Type>(described.number<std::uint8_t>(2, 0));
    const FlatTable type = described.table(3);
    TRY(made.children, fields(described.tables(5), depth + 1));
    if (const FlatTable dictionary = described.table(4)) {
      const FlatTable index = dictionary.table(1);
      const auto dtype = index ? integer(index) : std::optional(Dtype::i4);
      if (!dtype) return damaged("dictionary", std::to_string(index.number<std::int32_t>(0, 0)) + " bits of an index");
      made.dictionary = {dictionary.number<std::int64_t>(0, 0), *dtype};
    }
    TRY(const std::size_t children, set_kind(made, kind, type));
    if (made.children.size() != children)
      return damaged("schema", made.name + " has " + std::to_string(made.children.size()) + " children, expected " +
                                   std::to_string(children));
    return made;
  }

  // Returns how many children a field of that type has.
  static Result<std::size_t> set_kind(ArrowSourceField& made, Type kind, const FlatTable& type) {
    switch (kind) {
      case Type::boolean:
        made.kind = Kind::boolean;
        break;
      case Type::utf8:
      case Type::large_utf8:
        made.kind = Kind::text;
        made.wide = kind == Type::large_utf8;
        break;
      case Type::utf8_view:
        made.kind = Kind::text_view;
        break;
      case Type::list:
      case Type::large_list:
        made.kind = Kind::list;
        made.wide = kind == Type::large_list;
        return 1;
      case Type::fixed_list: {
        made.kind = Kind::fixed_list;
        const auto size = type.number<std::int32_t>(0, 0);
        if (size < 1) return fail(ErrorKind::unsupported, made.name + ": fixed-size lists of size 0");
        made.list_size = static_cast<std::uint32_t>(size);
        return 1;
      }
      case Type::record:
        made.kind = Kind::record;
        return made.children.size();
      default: {
        const auto dtype = number_of(kind, type);
        if (!dtype) return fail(ErrorKind::unsupported, made.name + ": unsupported Arrow type");
        made.dtype = *dtype;
      }
    }
    return 0;
  }

  FlatBytes& bytes_;
  std::size_t count_ = 0;
};

Result<std::vector<ArrowBlock>> blocks_of(std::span<const std::byte> structs) {
  constexpr std::size_t kBlockSize = 24;
  std::vector<ArrowBlock> blocks;
  FlatBytes bytes(structs);
  for (std::size_t at = 0; at < structs.size(); at += kBlockSize) {
    const auto offset = bytes.load<std::int64_t>(at);
    const auto metadata = bytes.load<std::int32_t>(at + 8);
    const auto body = bytes.load<std::int64_t>(at + 16);
    if (offset < 0 || metadata < 0 || body < 0)
      return damaged("footer", "block at " + std::to_string(offset) + " with " + std::to_string(metadata) + " and " +
                                   std::to_string(body) + " bytes");
    blocks.push_back(
        {static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(metadata), static_cast<std::uint64_t>(body)});
  }
  return blocks;
}

// Pairs of numbers: {length, nulls} of nodes, {offset, size} of buffers.
template <class T>
Result<std::vector<T>> pairs(std::span<const std::byte> structs) {
  std::vector<T> all;
  FlatBytes bytes(structs);
  for (std::size_t at = 0; at < structs.size(); at += 16) {
    const auto first = bytes.load<std::int64_t>(at), second = bytes.load<std::int64_t>(at + 8);
    if (first < 0 || second < 0)
      return damaged("record batch", "negative number " + std::to_string(first < 0 ? first : second));
    all.push_back({first, second});
  }
  return all;
}

// Without a check of whether its bytes are there.
Result<> read_record_batch(const FlatTable& header, ArrowBatch& made) {
  made.rows = header.number<std::int64_t>(0, 0);
  TRY(made.nodes, pairs<ArrowNode>(header.structs(1, 16)));
  TRY(made.buffers, pairs<ArrowBuffer>(header.structs(2, 16)));
  if (const FlatTable compression = header.table(3)) {
    const auto codec = compression.number<std::uint8_t>(0, 0);
    if (codec > 1 || compression.number<std::uint8_t>(1, 0) != 0)
      return fail(ErrorKind::unsupported, "Arrow: unknown compression");
    made.codec = codec == 0 ? ArrowCodec::lz4 : ArrowCodec::zstd;
  }
  const auto counts = header.structs(4, sizeof(std::int64_t));
  FlatBytes count_bytes(counts);
  for (std::size_t at = 0; at < counts.size(); at += sizeof(std::int64_t))
    made.view_buffers.push_back(count_bytes.load<std::int64_t>(at));
  return {};
}

}  // namespace

Result<ArrowFooter> parse_arrow_footer(std::span<const std::byte> footer) {
  constexpr std::size_t kBlockSize = 24;
  FlatBytes bytes(footer);
  const FlatTable root = FlatTable::root(bytes);
  const FlatTable schema = root.table(1);
  if (!schema) return damaged("footer", std::to_string(footer.size()) + " bytes without a schema");
  if (schema.number<std::int16_t>(0, 0) != 0)
    return fail(ErrorKind::unsupported, "Arrow: big-endian data is not supported");
  ArrowFooter made;
  TRY(made.fields, SchemaReader(bytes).fields(schema.tables(1), 0));
  TRY(made.dictionaries, blocks_of(root.structs(2, kBlockSize)));
  TRY(made.batches, blocks_of(root.structs(3, kBlockSize)));
  if (bytes.failed()) return damaged("footer", bytes);
  return made;
}

Result<ArrowBatch> parse_arrow_batch(std::span<const std::byte> message) {
  FlatBytes framed(message);
  // Before format version 0.15 the length had no continuation marker in front.
  const std::size_t frame = framed.load<std::uint32_t>(0) == kArrowContinuation ? 8 : 4;
  if (framed.failed() || message.size() < frame)
    return damaged("message", std::to_string(message.size()) + " bytes, expected at least " + std::to_string(frame));
  FlatBytes bytes(message.subspan(frame));
  const FlatTable root = FlatTable::root(bytes);
  const auto kind = static_cast<Header>(root.number<std::uint8_t>(1, 0));
  const std::string found = bytes.failed() ? bytes.failure() : "kind " + std::to_string(static_cast<int>(kind));
  FlatTable header = root.table(2);
  ArrowBatch made;
  if (kind == Header::dictionary) {
    made.dictionary = header.number<std::int64_t>(0, 0);
    if (header.number<std::uint8_t>(2, 0) != 0)
      return fail(ErrorKind::unsupported, "Arrow: delta dictionaries are not supported");
    header = header.table(1);
  } else if (kind != Header::batch) {
    return damaged("message", found + ", expected a record batch or a dictionary");
  }
  if (!header) return damaged("message", found + " without a header");
  TRY_VOID(read_record_batch(header, made));
  if (bytes.failed()) return damaged("record batch", bytes);
  if (made.rows < 0) return damaged("record batch", std::to_string(made.rows) + " rows");
  return made;
}

bool begins_as_arrow(std::span<const std::byte> begin) {
  return std::string_view(reinterpret_cast<const char*>(begin.data()), begin.size()).starts_with(kArrowMagic);
}

std::optional<std::uint32_t> arrow_footer_size(std::span<const std::byte> end) {
  const std::string_view text(reinterpret_cast<const char*>(end.data()), end.size());
  if (end.size() != kArrowEndSize || !text.ends_with(kArrowMagic)) return std::nullopt;
  return FlatBytes(end).load<std::uint32_t>(0);
}

}  // namespace tfilefs
