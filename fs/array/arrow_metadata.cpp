// SPDX-License-Identifier: Apache-2.0
#include "array/arrow_metadata.h"

#include <arrow_generated.h>

#include <cstring>
#include <string_view>

#include "array/arrow_frame.h"

namespace tfilefs {

using tfile::Dtype;
using tfile::ErrorKind;
using tfile::fail;
using tfile::Result;
using Kind = ArrowSourceField::Kind;

namespace ipc = arrow_ipc;

namespace {

// Lists nest up to eight deep in a tree, each with a field of its own, with records beside them.
constexpr int kDepthMax = 16;
// Most fields that one footer may describe: offsets may lead to the same field again and again.
constexpr std::size_t kFieldsMax = 1 << 18;
// A field is a table, with one for its type and one for its dictionary's; those around them, and a few deeper than what
// is refused by its name.
constexpr flatbuffers::uoffset_t kTablesMax = 4 * kFieldsMax, kTablesDeepMax = 8 * kDepthMax;

tl::unexpected<tfile::Error> damaged(const std::string& what, const std::string& found) {
  return fail(ErrorKind::damaged, "Arrow: " + what + ": " + found);
}

// 0 where there are not so many bytes.
std::uint32_t little_u4(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  if (bytes.size() >= sizeof(value)) std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// The bytes at a place in memory where words of eight may begin.
class Words {
 public:
  explicit Words(std::span<const std::byte> bytes) : words_(bytes.size() / 8 + 1), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(words_)).begin());
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)).first(size_); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

// A table of Arrow's messages and footers. Its bytes are checked as a whole, before any is followed. `what`: for
// the error.
template <class Table>
Result<const Table*> checked(std::span<const std::byte> bytes, const char* what) {
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return damaged(what, std::to_string(bytes.size()) + " bytes, expected fewer than 2 GiB");
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), kTablesDeepMax,
                                 kTablesMax);
  if (!verifier.VerifyBuffer<Table>(nullptr))
    return damaged(what, std::to_string(bytes.size()) + " bytes, expected tables that lie within them");
  return flatbuffers::GetRoot<Table>(bytes.data());
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

std::optional<Dtype> integer(const ipc::Integer& type) { return integer(type.bits(), type.is_signed()); }

// Times are signed integers.
std::optional<Dtype> number_of(const ipc::Field& field) {
  if (const auto* type = field.type_as_Integer()) return integer(*type);
  if (const auto* type = field.type_as_Time()) return integer(type->bits(), true);
  if (const auto* type = field.type_as_Date()) return type->unit() == ipc::DateUnit::days ? Dtype::i4 : Dtype::i8;
  if (field.type_as_Timestamp() || field.type_as_Duration()) return Dtype::i8;
  if (const auto* type = field.type_as_Floating()) {
    if (type->precision() == ipc::Precision::single) return Dtype::f4;
    if (type->precision() == ipc::Precision::double_) return Dtype::f8;
  }
  return std::nullopt;
}

using Fields = flatbuffers::Vector<flatbuffers::Offset<ipc::Field>>;

// The fields of a schema that was checked.
class SchemaReader {
 public:
  Result<std::vector<ArrowSourceField>> fields(const Fields* described, int depth) {
    std::vector<ArrowSourceField> all;
    if (!described) return all;
    if (depth > kDepthMax)
      return fail(ErrorKind::unsupported, "Arrow: types are nested deeper than " + std::to_string(kDepthMax));
    for (const ipc::Field* each : *described) {
      if (++count_ > kFieldsMax) return fail(ErrorKind::unsupported, "Arrow: more fields than a table can have");
      TRY(auto one, field(*each, depth));
      all.push_back(std::move(one));
    }
    return all;
  }

 private:
  Result<ArrowSourceField> field(const ipc::Field& described, int depth) {
    ArrowSourceField made;
    if (described.name()) made.name = described.name()->string_view();
    TRY(made.children, fields(described.children(), depth + 1));
    if (const ipc::Dictionary* dictionary = described.dictionary()) {
      const auto dtype = dictionary->index() ? integer(*dictionary->index()) : std::optional(Dtype::i4);
      if (!dtype)
        return damaged("dictionary",
                       std::to_string(dictionary->index()->bits()) + " bits of an index, expected 8 to 64");
      made.dictionary = {dictionary->id(), *dtype};
    }
    TRY(const std::size_t children, set_kind(made, described));
    if (made.children.size() != children)
      return damaged("schema", made.name + " has " + std::to_string(made.children.size()) + " children, expected " +
                                   std::to_string(children));
    return made;
  }

  // Returns how many children a field of that type has.
  static Result<std::size_t> set_kind(ArrowSourceField& made, const ipc::Field& described) {
    switch (described.type_type()) {
      case ipc::Type::Boolean:
        made.kind = Kind::boolean;
        break;
      case ipc::Type::Text:
      case ipc::Type::LargeText:
        made.kind = Kind::text;
        made.wide = described.type_type() == ipc::Type::LargeText;
        break;
      case ipc::Type::TextView:
        made.kind = Kind::text_view;
        break;
      case ipc::Type::List:
      case ipc::Type::LargeList:
        made.kind = Kind::list;
        made.wide = described.type_type() == ipc::Type::LargeList;
        return 1;
      case ipc::Type::FixedList: {
        made.kind = Kind::fixed_list;
        const ipc::FixedList* type = described.type_as_FixedList();
        if (!type || type->size() < 1) return fail(ErrorKind::unsupported, made.name + ": fixed-size lists of size 0");
        made.list_size = static_cast<std::uint32_t>(type->size());
        return 1;
      }
      case ipc::Type::Record:
        made.kind = Kind::record;
        return made.children.size();
      default: {
        const auto dtype = number_of(described);
        if (!dtype) return fail(ErrorKind::unsupported, made.name + ": unsupported Arrow type");
        made.dtype = *dtype;
      }
    }
    return 0;
  }

  std::size_t count_ = 0;
};

// The items of a vector that was checked: they lie within the bytes, but perhaps where none of their type may begin.
template <class T, class Vector>
std::vector<T> items_of(const Vector* found) {
  std::vector<T> items(found ? found->size() : 0);
  if (!items.empty()) std::memcpy(items.data(), found->Data(), items.size() * sizeof(T));
  return items;
}

Result<std::vector<ArrowBlock>> blocks_of(const flatbuffers::Vector<const ipc::Block*>* found) {
  std::vector<ArrowBlock> blocks;
  for (const ipc::Block& block : items_of<ipc::Block>(found)) {
    if (block.offset() < 0 || block.metadata_size() < 0 || block.body_size() < 0)
      return damaged("footer", "block at " + std::to_string(block.offset()) + " with " +
                                   std::to_string(block.metadata_size()) + " and " + std::to_string(block.body_size()) +
                                   " bytes");
    blocks.push_back({static_cast<std::uint64_t>(block.offset()), static_cast<std::uint64_t>(block.metadata_size()),
                      static_cast<std::uint64_t>(block.body_size())});
  }
  return blocks;
}

tl::unexpected<tfile::Error> negative(std::int64_t first, std::int64_t second) {
  return damaged("record batch", "negative number " + std::to_string(first < 0 ? first : second));
}

// Without a check of whether its bytes are there.
Result<> read_batch(const ipc::Batch& header, ArrowBatch& made) {
  made.rows = header.rows();
  if (made.rows < 0) return damaged("record batch", std::to_string(made.rows) + " rows");
  for (const ipc::Node& node : items_of<ipc::Node>(header.nodes())) {
    if (node.length() < 0 || node.nulls() < 0) return negative(node.length(), node.nulls());
    made.nodes.push_back({node.length(), node.nulls()});
  }
  for (const ipc::Buffer& buffer : items_of<ipc::Buffer>(header.buffers())) {
    if (buffer.offset() < 0 || buffer.size() < 0) return negative(buffer.offset(), buffer.size());
    made.buffers.push_back({buffer.offset(), buffer.size()});
  }
  if (const ipc::Compression* compression = header.compression()) {
    const bool is_known = compression->codec() == ipc::Codec::lz4_frame || compression->codec() == ipc::Codec::zstd;
    if (!is_known || compression->of() != ipc::Compressed::buffers)
      return fail(ErrorKind::unsupported, "Arrow: unknown compression");
    made.codec = compression->codec() == ipc::Codec::zstd ? ArrowCodec::zstd : ArrowCodec::lz4;
  }
  made.view_buffers = items_of<std::int64_t>(header.view_buffers());
  return {};
}

}  // namespace

Result<ArrowFooter> parse_arrow_footer(std::span<const std::byte> footer) {
  const Words words(footer);
  TRY(const ipc::Footer* root, checked<ipc::Footer>(words.bytes(), "footer"));
  const ipc::Schema* schema = root->schema();
  if (!schema) return damaged("footer", std::to_string(footer.size()) + " bytes, expected a schema");
  if (schema->byte_order() != ipc::ByteOrder::little)
    return fail(ErrorKind::unsupported, "Arrow: big-endian data is not supported");
  ArrowFooter made;
  TRY(made.fields, SchemaReader().fields(schema->fields(), 0));
  TRY(made.dictionaries, blocks_of(root->dictionaries()));
  TRY(made.batches, blocks_of(root->batches()));
  return made;
}

Result<ArrowBatch> parse_arrow_batch(std::span<const std::byte> message) {
  // Before format version 0.15 the length had no continuation marker in front.
  const std::size_t frame = little_u4(message) == kArrowContinuation ? 8 : 4;
  if (message.size() < frame)
    return damaged("message", std::to_string(message.size()) + " bytes, expected at least " + std::to_string(frame));
  const Words words(message.subspan(frame));
  TRY(const ipc::Message* root, checked<ipc::Message>(words.bytes(), "message"));
  ArrowBatch made;
  const ipc::Batch* batch = root->header_as_Batch();
  if (const ipc::DictionaryBatch* dictionary = root->header_as_DictionaryBatch()) {
    made.dictionary = dictionary->id();
    if (dictionary->is_delta()) return fail(ErrorKind::unsupported, "Arrow: delta dictionaries are not supported");
    batch = dictionary->values();
  }
  if (!batch)
    return damaged("message", "kind " + std::to_string(static_cast<int>(root->header_type())) +
                                  ", expected a record batch or a dictionary");
  TRY_VOID(read_batch(*batch, made));
  return made;
}

bool begins_as_arrow(std::span<const std::byte> begin) {
  return std::string_view(reinterpret_cast<const char*>(begin.data()), begin.size()).starts_with(kArrowMagic);
}

std::optional<std::uint32_t> arrow_footer_size(std::span<const std::byte> end) {
  const std::string_view text(reinterpret_cast<const char*>(end.data()), end.size());
  if (end.size() != kArrowEndSize || !text.ends_with(kArrowMagic)) return std::nullopt;
  return little_u4(end);
}

}  // namespace tfilefs
