// SPDX-License-Identifier: Apache-2.0
#include "array/arrow_columns.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "array/arrow_metadata.h"
#include "array/arrow_pieces.h"
#include "tfile/beyond_end.h"
#include "tfile/member_names.h"
#include "tfile/name.h"
#include "tfile/node.h"

namespace tfilefs {

using tfile::Dtype;
using tfile::fail;
using tfile::fail_beyond_end;
using Field = ArrowSourceField;
using Kind = ArrowSourceField::Kind;

namespace {

// Metadata of all batches together: that of ten thousand columns in four hundred batches takes this much.
constexpr std::uint64_t kMetadataMax = 256 << 20;
// Bytes of the values of one dictionary.
constexpr std::uint64_t kDictionaryMax = 256 << 20;
// Keeps a number of items times the size of one far from its limit.
constexpr std::uint64_t kItemsMax = std::uint64_t{1} << 56;

// A column, batch after batch.
class PiecedColumn final : public ColumnSource {
 public:
  explicit PiecedColumn(std::shared_ptr<ArrowBuffers> buffers) : buffers_(std::move(buffers)) {}

  void add(ArrowPiecePtr piece) {
    if (piece->size() == 0) return;
    begins_.push_back(size_);
    size_ += piece->size();
    pieces_.push_back(std::move(piece));
  }
  std::uint64_t size() const { return size_; }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    std::size_t done = 0;
    for (std::size_t i = piece_at(offset); i < pieces_.size() && done < into.size(); ++i) {
      const std::uint64_t within = offset + done - begins_[i];
      const std::size_t size = std::min<std::uint64_t>(into.size() - done, pieces_[i]->size() - within);
      TRY_VOID(pieces_[i]->read(*buffers_, within, into.subspan(done, size)));
      done += size;
    }
    return done;
  }

  std::optional<Slices> pin(std::uint64_t offset, std::size_t size) const override {
    const std::size_t i = piece_at(offset);
    if (i == pieces_.size() || offset - begins_[i] + size > pieces_[i]->size()) return std::nullopt;
    return pieces_[i]->pin(*buffers_, offset - begins_[i], size);
  }

 private:
  std::size_t piece_at(std::uint64_t offset) const {
    if (offset >= size_) return pieces_.size();
    return static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), offset) - begins_.begin() - 1);
  }

  const std::shared_ptr<ArrowBuffers> buffers_;
  std::vector<ArrowPiecePtr> pieces_;
  std::vector<std::uint64_t> begins_;
  std::uint64_t size_ = 0;
};

// The columns that a field, and its children, feed.
struct Target {
  std::size_t offsets = 0, values = 0;  // numbers of columns
  std::vector<Target> children;
};

tl::unexpected<Error> cut_short(const Field& field, std::uint64_t there, std::uint64_t wanted, const char* what) {
  return fail(ErrorKind::damaged,
              field.name + ": " + std::to_string(there) + " " + what + ", expected " + std::to_string(wanted));
}

tl::unexpected<Error> too_many_items(const Field& field, std::uint64_t items) {
  return fail(ErrorKind::damaged,
              field.name + ": " + std::to_string(items) + " items, expected at most " + std::to_string(kItemsMax));
}

// Item `at` of some offsets is below the one before it.
tl::unexpected<Error> decreasing(const Field& field, std::uint64_t at, std::int64_t offset, std::int64_t before) {
  return fail(ErrorKind::damaged, field.name + ": offsets decrease: item " + std::to_string(at) + " is " +
                                      std::to_string(offset) + ", after " + std::to_string(before));
}

class ArrowInput {
 public:
  ArrowInput(std::shared_ptr<const ColumnSource> file, std::uint64_t size, ArrowMemory memory)
      : size_(size), buffers_(std::make_shared<ArrowBuffers>(std::move(file), std::move(memory))) {}
  Result<std::vector<ArrowColumn>> build();

 private:
  // ---- metadata of the file

  Result<std::vector<std::byte>> read_metadata(std::uint64_t offset, std::uint64_t size);
  Result<ArrowFooter> read_footer();

  // From here on the nodes and buffers of the next batch are taken one after the other.
  Result<> begin_batch(const ArrowBlock& block);

  // ---- columns

  std::size_t add_column(std::string path);

  // As the mount shows columns, or members of a record.
  static std::vector<std::string> shown_names(const std::vector<Field>& fields, bool are_members);
  Result<std::vector<Target>> targets_of(const std::vector<Field>& fields, const std::string& directory);
  Result<Target> target_of(const Field& field, const std::string& path);
  std::size_t add_offsets(const std::string& path);

  // Lists of fixed size around numbers become the shape of the column.
  Result<Target> number_target(const Field& field, const std::string& path);

  // ---- dictionaries

  static void find_dictionaries(const std::vector<Field>& fields, std::map<std::int64_t, const Field*>& into);
  Result<> read_dictionaries(const ArrowFooter& footer);
  Result<ArrowDictionaryValues> read_dictionary(const Field& field);
  Result<ArrowDictionaryValues> read_values(ArrowDictionaryValues values, const ArrowPiece& piece);

  // ---- arrays of a batch, in the order of its nodes and buffers

  Result<std::uint64_t> next_node(const Field& field);
  Result<> next_validity(const Field& field);
  Result<ArrowBufferAt> next_buffer(const Field& field);

  struct TextArray {
    ArrowBufferAt offsets, chars;
    std::int64_t first = 0;  // the first offset of the stretch
    std::uint64_t size = 0;  // from there to the last
  };

  // The range of items that the offsets of a stretch lead to. All offsets are checked, so that the error is reported by
  // the close of the file.
  Result<> read_ends(const Field& field, const ArrowBufferAt& offsets, ArrowStretch stretch, std::int64_t& first,
                     std::uint64_t& size);

  // `before`: the offset before item `at`, which is the first of the piece.
  template <class Offset>
  static tl::unexpected<Error> first_decrease(const Field& field, std::span<const Offset> piece, std::uint64_t at,
                                              Offset before) {
    for (const Offset offset : piece) {
      if (offset < before) return decreasing(field, at, offset, before);
      before = offset;
      ++at;
    }
    return decreasing(field, at, before, before);
  }

  template <class Offset>
  Result<> read_ends_of(const Field& field, const ArrowBufferAt& offsets, ArrowStretch stretch, std::int64_t& first,
                        std::uint64_t& size) {
    constexpr std::uint64_t kAtOnce = 8192;  // fits in the cache of a core
    if (stretch.end() >= offsets.size / sizeof(Offset))
      return cut_short(field, offsets.size / sizeof(Offset), stretch.end() + 1, "offsets");
    std::vector<Offset> piece(std::min(kAtOnce, stretch.count + 1));

    Offset last = 0;  // of the piece before; no offset is below 0
    for (std::uint64_t at = stretch.begin; at <= stretch.end(); at += piece.size()) {
      piece.resize(std::min<std::uint64_t>(piece.size(), stretch.end() + 1 - at));
      TRY_VOID(buffers_->read(offsets, at * sizeof(Offset), std::as_writable_bytes(std::span(piece))));

      bool goes_down = piece[0] < last;
      for (std::size_t i = 1; i < piece.size(); ++i) goes_down |= piece[i] < piece[i - 1];
      if (goes_down) return first_decrease<Offset>(field, piece, at, last);
      if (at == stretch.begin) first = piece[0];
      last = piece.back();
    }
    size = static_cast<std::uint64_t>(last - first);
    return {};
  }
  Result<TextArray> next_texts(const Field& field, ArrowStretch stretch);
  Result<std::shared_ptr<const ArrowTexts>> next_views(const Field& field, ArrowStretch stretch);

  // Items of a column in the batches so far; for an offsets column, the items of its lists. The items of the next batch
  // begin there.
  static std::int64_t items(const PiecedColumn& column, std::uint64_t item_size);
  void add_texts(const Target& target, std::shared_ptr<const ArrowTexts> texts, std::uint64_t size);
  Result<> place(const Field& field, const Target& target, ArrowStretch stretch);
  Result<> place_numbers(const Field& field, const Target& target, ArrowStretch stretch);
  Result<> place_list(const Field& field, const Target& target, ArrowStretch stretch);
  Result<> place_indices(const Field& field, const Target& target, ArrowStretch stretch);

  const std::uint64_t size_;
  const std::shared_ptr<ArrowBuffers> buffers_;
  std::uint64_t metadata_ = 0;  // bytes of metadata read so far
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<PiecedColumn>> columns_;
  std::map<std::size_t, std::int64_t> list_items_;  // by offsets column: items of its lists in the batches so far
  std::map<std::int64_t, std::shared_ptr<const ArrowDictionaryValues>> dictionaries_;
  ArrowBatch batch_;
  std::uint64_t body_ = 0, body_size_ = 0;
  std::size_t node_ = 0, buffer_ = 0, view_ = 0;
};

Result<std::vector<ArrowColumn>> ArrowInput::build() {
  TRY(const ArrowFooter footer, read_footer());
  TRY(const std::vector<Target> targets, targets_of(footer.fields, ""));
  TRY_VOID(read_dictionaries(footer));
  for (const ArrowBlock& block : footer.batches) {
    TRY_VOID(begin_batch(block));
    if (batch_.dictionary)
      return fail(ErrorKind::damaged,
                  "Arrow: dictionary " + std::to_string(*batch_.dictionary) + " where a record batch was expected",
                  static_cast<std::int64_t>(block.offset));
    for (std::size_t i = 0; i < footer.fields.size(); ++i)
      TRY_VOID(place(footer.fields[i], targets[i], {0, static_cast<std::uint64_t>(batch_.rows)}));
  }
  std::vector<ArrowColumn> made;
  for (std::size_t i = 0; i < columns_.size(); ++i) made.push_back({paths_[i], columns_[i]->size(), columns_[i]});
  return made;
}

Result<std::vector<std::byte>> ArrowInput::read_metadata(std::uint64_t offset, std::uint64_t size) {
  if (offset > size_ || size > size_ - offset) return fail_beyond_end("Arrow: message: ", {offset, size}, size_);
  metadata_ += size;
  if (metadata_ > kMetadataMax) return fail(ErrorKind::unsupported, "Arrow: more than 256 MiB of metadata");
  std::vector<std::byte> bytes(size);
  TRY_VOID(buffers_->read_file(offset, bytes));
  return bytes;
}

Result<ArrowFooter> ArrowInput::read_footer() {
  std::array<std::byte, kArrowEndSize> end;
  if (size_ < kArrowBeginSize + kArrowEndSize)
    return fail(ErrorKind::damaged, "Arrow: file of " + std::to_string(size_) + " bytes, expected at least " +
                                        std::to_string(kArrowBeginSize + kArrowEndSize));
  TRY_VOID(buffers_->read_file(size_ - kArrowEndSize, end));
  const auto size = arrow_footer_size(end);
  if (!size || *size > size_ - kArrowEndSize)
    return fail(ErrorKind::damaged,
                "Arrow: " + (size ? "footer of " + std::to_string(*size) + " bytes" : std::string("no footer")) +
                    " at the end of " + std::to_string(size_) + " bytes");
  TRY(const auto bytes, read_metadata(size_ - kArrowEndSize - *size, *size));
  return parse_arrow_footer(bytes);
}

Result<> ArrowInput::begin_batch(const ArrowBlock& block) {
  TRY(const auto message, read_metadata(block.offset, block.metadata_size));
  body_ = block.offset + block.metadata_size;
  if (block.body_size > size_ - body_) return fail_beyond_end("Arrow: batch: ", {body_, block.body_size}, size_);
  TRY(batch_, parse_arrow_batch(message));
  body_size_ = block.body_size;
  node_ = buffer_ = view_ = 0;
  return {};
}

std::size_t ArrowInput::add_column(std::string path) {
  paths_.push_back(std::move(path));
  columns_.push_back(std::make_shared<PiecedColumn>(buffers_));
  return columns_.size() - 1;
}

std::vector<std::string> ArrowInput::shown_names(const std::vector<Field>& fields, bool are_members) {
  std::vector<std::string_view> names;
  std::vector<std::string> suffixes, shown;
  for (const Field& field : fields) {
    const bool is_number = field.kind == Kind::number && !field.dictionary;
    names.push_back(field.name);
    suffixes.push_back(is_number ? tfile::typed_suffix(field.dtype, {}) : std::string());
  }
  const std::vector<bool> escaped = tfile::escaped_members(names, suffixes);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool is_escaped = are_members && escaped[i];
    shown.push_back(is_escaped ? tfile::member_component(names[i], suffixes[i]) : tfile::escape_name(names[i]));
  }
  return shown;
}

Result<std::vector<Target>> ArrowInput::targets_of(const std::vector<Field>& fields, const std::string& directory) {
  std::vector<Target> targets;
  std::set<std::string> names;
  const std::vector<std::string> shown = shown_names(fields, !directory.empty());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    const std::string& name = shown[i];
    if (!names.insert(name).second) return fail(ErrorKind::invalid, field.name + ": duplicate field name");
    TRY(auto target, target_of(field, directory.empty() ? name : directory + "/" + name));
    targets.push_back(std::move(target));
  }
  return targets;
}

Result<Target> ArrowInput::target_of(const Field& field, const std::string& path) {
  Target target;
  switch (field.kind) {
    case Kind::text:
    case Kind::text_view:
      target.offsets = add_offsets(path);
      target.values = add_column(path + "/chars.u1");
      break;
    case Kind::list: {
      target.offsets = add_offsets(path);
      TRY(auto item, target_of(field.children[0], path + "/values"));
      target.children.push_back(std::move(item));
      break;
    }
    case Kind::record: {
      if (field.dictionary)
        return fail(ErrorKind::unsupported, field.name + ": dictionaries of records are not supported");
      TRY(target.children, targets_of(field.children, path));
      break;
    }
    default: {
      TRY(target, number_target(field, path));
    }
  }
  if (field.dictionary && field.kind == Kind::list)
    return fail(ErrorKind::unsupported, field.name + ": dictionaries of lists are not supported");
  return target;
}

std::size_t ArrowInput::add_offsets(const std::string& path) {
  const std::size_t id = add_column(path + "/offsets.i8");
  columns_[id]->add(arrow_first_offset());
  return id;
}

Result<Target> ArrowInput::number_target(const Field& field, const std::string& path) {
  std::vector<std::uint32_t> shape;
  const Field* innermost = &field;
  for (; innermost->kind == Kind::fixed_list; innermost = &innermost->children[0]) {
    if (innermost->dictionary)
      return fail(ErrorKind::unsupported, field.name + ": dictionaries of lists are not supported");
    shape.push_back(innermost->list_size);
  }
  const bool is_number = innermost->kind == Kind::number || innermost->kind == Kind::boolean;
  if (!is_number)
    return fail(ErrorKind::unsupported,
                field.name + ": fixed-size lists of other items than numbers are not supported");
  if (innermost->dictionary && innermost->kind == Kind::boolean)
    return fail(ErrorKind::unsupported, field.name + ": dictionaries of booleans are not supported");
  const Dtype dtype = innermost->kind == Kind::boolean ? Dtype::b1 : innermost->dtype;
  Target target;
  target.values = add_column(path + tfile::typed_suffix(dtype, shape));
  Target* at = &target;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    at->children.push_back({0, target.values, {}});
    at = &at->children[0];
  }
  return target;
}

void ArrowInput::find_dictionaries(const std::vector<Field>& fields, std::map<std::int64_t, const Field*>& into) {
  for (const Field& field : fields) {
    if (field.dictionary) into.emplace(field.dictionary->id, &field);
    find_dictionaries(field.children, into);
  }
}

Result<> ArrowInput::read_dictionaries(const ArrowFooter& footer) {
  std::map<std::int64_t, const Field*> fields;
  find_dictionaries(footer.fields, fields);
  for (const ArrowBlock& block : footer.dictionaries) {
    TRY_VOID(begin_batch(block));
    if (!batch_.dictionary)
      return fail(ErrorKind::damaged,
                  "Arrow: batch of " + std::to_string(batch_.rows) + " rows where a dictionary was expected",
                  static_cast<std::int64_t>(block.offset));
    const auto field = fields.find(*batch_.dictionary);
    if (field == fields.end()) continue;
    if (dictionaries_.contains(field->first))
      return fail(ErrorKind::unsupported, field->second->name + ": delta dictionaries are not supported");
    TRY(auto values, read_dictionary(*field->second));
    dictionaries_[field->first] = std::make_shared<const ArrowDictionaryValues>(std::move(values));
  }
  return {};
}

Result<ArrowDictionaryValues> ArrowInput::read_dictionary(const Field& field) {
  ArrowDictionaryValues values;
  TRY(const std::uint64_t length, next_node(field));
  TRY_VOID(next_validity(field));
  values.count = static_cast<std::uint64_t>(batch_.rows);
  if (values.count > length) return cut_short(field, length, values.count, "items in the dictionary");
  const ArrowStretch all{0, values.count};
  if (field.kind == Kind::number) {
    values.item_size = tfile::size_of(field.dtype);
    TRY(const ArrowBufferAt numbers, next_buffer(field));
    if (values.count > numbers.size / values.item_size)
      return cut_short(field, numbers.size / values.item_size, values.count, "numbers in the dictionary");
    return read_values(std::move(values), *arrow_bytes(numbers, 0, values.count * values.item_size));
  }
  if (field.kind == Kind::text_view) {
    TRY(const auto texts, next_views(field, all));
    TRY(values.offsets, texts->offsets(*buffers_));
    const auto size = static_cast<std::uint64_t>(values.offsets.back());
    return read_values(std::move(values), *arrow_text_chars(texts, size));
  }
  TRY(const TextArray texts, next_texts(field, all));
  values.offsets.assign(values.count + 1, 0);
  const auto behind = std::as_writable_bytes(std::span(values.offsets)).subspan(sizeof(std::int64_t));
  TRY_VOID(arrow_offsets(texts.offsets, field.wide, all, texts.first, 0)->read(*buffers_, 0, behind));
  const auto below = std::is_sorted_until(values.offsets.begin(), values.offsets.end());
  if (below != values.offsets.end())
    return decreasing(field, static_cast<std::uint64_t>(below - values.offsets.begin()), *below, *(below - 1));
  if (static_cast<std::uint64_t>(values.offsets.back()) != texts.size)
    return cut_short(field, static_cast<std::uint64_t>(values.offsets.back()), texts.size,
                     "characters in the dictionary");
  return read_values(std::move(values), *arrow_bytes(texts.chars, static_cast<std::uint64_t>(texts.first), texts.size));
}

Result<ArrowDictionaryValues> ArrowInput::read_values(ArrowDictionaryValues values, const ArrowPiece& piece) {
  if (piece.size() > kDictionaryMax) return fail(ErrorKind::unsupported, "Arrow: dictionary larger than 256 MiB");
  values.bytes.resize(piece.size());
  TRY_VOID(piece.read(*buffers_, 0, values.bytes));
  return values;
}

Result<std::uint64_t> ArrowInput::next_node(const Field& field) {
  if (node_ == batch_.nodes.size()) return cut_short(field, node_, node_ + 1, "fields in the record batch");
  const ArrowNode& node = batch_.nodes[node_++];
  if (node.nulls != 0) return fail(ErrorKind::invalid, field.name + ": has nulls, which columns cannot have");
  const auto length = static_cast<std::uint64_t>(node.length);
  if (length > kItemsMax) return too_many_items(field, length);
  return length;
}

Result<> ArrowInput::next_validity(const Field& field) {
  if (buffer_ == batch_.buffers.size()) return cut_short(field, buffer_, buffer_ + 1, "buffers in the record batch");
  ++buffer_;
  return {};
}

Result<ArrowBufferAt> ArrowInput::next_buffer(const Field& field) {
  if (buffer_ == batch_.buffers.size()) return cut_short(field, buffer_, buffer_ + 1, "buffers in the record batch");
  const ArrowBuffer& stored = batch_.buffers[buffer_++];
  const auto offset = static_cast<std::uint64_t>(stored.offset), size = static_cast<std::uint64_t>(stored.size);
  if (offset > body_size_ || size > body_size_ - offset)
    return cut_short(field, body_size_, offset + size, "bytes in the body of the record batch");
  ArrowBufferAt buffer{body_ + offset, size, size, ArrowCodec::none};
  if (batch_.codec == ArrowCodec::none || size == 0) return buffer;
  // The uncompressed length stands in front; -1: the buffer is not compressed.
  std::int64_t length = 0;
  if (size < sizeof length) return cut_short(field, size, sizeof length, "bytes of a compressed buffer");
  TRY_VOID(buffers_->read_file(buffer.offset, std::as_writable_bytes(std::span(&length, 1))));
  buffer.offset += sizeof length;
  buffer.stored = buffer.size = size - sizeof length;
  if (length == -1) return buffer;
  if (length < 0 || static_cast<std::uint64_t>(length) > kArrowMadeMax)
    return fail(ErrorKind::unsupported, field.name + ": compressed buffer larger than 1 GiB");
  buffer.size = static_cast<std::uint64_t>(length);
  buffer.codec = batch_.codec;
  return buffer;
}

Result<> ArrowInput::read_ends(const Field& field, const ArrowBufferAt& offsets, ArrowStretch stretch,
                               std::int64_t& first, std::uint64_t& size) {
  if (stretch.count == 0) return {};
  return field.wide ? read_ends_of<std::int64_t>(field, offsets, stretch, first, size)
                    : read_ends_of<std::int32_t>(field, offsets, stretch, first, size);
}

Result<ArrowInput::TextArray> ArrowInput::next_texts(const Field& field, ArrowStretch stretch) {
  TextArray texts;
  TRY(texts.offsets, next_buffer(field));
  TRY(texts.chars, next_buffer(field));
  TRY_VOID(read_ends(field, texts.offsets, stretch, texts.first, texts.size));
  const std::uint64_t end = static_cast<std::uint64_t>(texts.first) + texts.size;
  if (end > texts.chars.size) return cut_short(field, texts.chars.size, end, "characters");
  return texts;
}

Result<std::shared_ptr<const ArrowTexts>> ArrowInput::next_views(const Field& field, ArrowStretch stretch) {
  constexpr std::uint64_t kViewSize = 16;
  TRY(const ArrowBufferAt views, next_buffer(field));
  if (stretch.count > 0 && stretch.end() > views.size / kViewSize)
    return cut_short(field, views.size / kViewSize, stretch.end(), "views");
  if (view_ == batch_.view_buffers.size())
    return cut_short(field, view_, view_ + 1, "counts of buffers in the record batch");
  std::vector<ArrowBufferAt> data;
  for (std::int64_t left = batch_.view_buffers[view_++]; left > 0; --left) {
    TRY(const ArrowBufferAt one, next_buffer(field));
    data.push_back(one);
  }
  return arrow_text_views(views, std::move(data), stretch);
}

std::int64_t ArrowInput::items(const PiecedColumn& column, std::uint64_t item_size) {
  return static_cast<std::int64_t>(column.size() / item_size);
}

void ArrowInput::add_texts(const Target& target, std::shared_ptr<const ArrowTexts> texts, std::uint64_t size) {
  columns_[target.offsets]->add(arrow_text_offsets(texts, items(*columns_[target.values], 1)));
  columns_[target.values]->add(arrow_text_chars(std::move(texts), size));
}

Result<> ArrowInput::place(const Field& field, const Target& target, ArrowStretch stretch) {
  TRY(const std::uint64_t length, next_node(field));
  if (stretch.begin > length || stretch.count > length - stretch.begin)
    return cut_short(field, length, stretch.end(), "items");
  TRY_VOID(next_validity(field));
  if (field.dictionary) return place_indices(field, target, stretch);
  switch (field.kind) {
    case Kind::number:
    case Kind::boolean:
      return place_numbers(field, target, stretch);
    case Kind::text: {
      TRY(const TextArray texts, next_texts(field, stretch));
      PiecedColumn& chars = *columns_[target.values];
      columns_[target.offsets]->add(arrow_offsets(texts.offsets, field.wide, stretch, texts.first, items(chars, 1)));
      chars.add(arrow_bytes(texts.chars, static_cast<std::uint64_t>(texts.first), texts.size));
      return {};
    }
    case Kind::text_view: {
      TRY(auto texts, next_views(field, stretch));
      TRY(const auto offsets, texts->offsets(*buffers_));
      add_texts(target, std::move(texts), static_cast<std::uint64_t>(offsets.back()));
      return {};
    }
    case Kind::list:
      return place_list(field, target, stretch);
    case Kind::fixed_list: {
      ArrowStretch below;
      if (__builtin_mul_overflow(stretch.begin, std::uint64_t{field.list_size}, &below.begin) ||
          __builtin_mul_overflow(stretch.count, std::uint64_t{field.list_size}, &below.count))
        return fail(ErrorKind::damaged, field.name + ": " + std::to_string(stretch.end()) + " lists of " +
                                            std::to_string(field.list_size) + " items each");
      return place(field.children[0], target.children[0], below);
    }
    case Kind::record:
      for (std::size_t i = 0; i < field.children.size(); ++i)
        TRY_VOID(place(field.children[i], target.children[i], stretch));
      return {};
  }
  return {};
}

Result<> ArrowInput::place_numbers(const Field& field, const Target& target, ArrowStretch stretch) {
  TRY(const ArrowBufferAt numbers, next_buffer(field));
  PiecedColumn& column = *columns_[target.values];
  if (field.kind == Kind::boolean) {
    if (stretch.count > 0 && (stretch.end() + 7) / 8 > numbers.size)
      return cut_short(field, numbers.size, (stretch.end() + 7) / 8, "bytes of bits");
    column.add(arrow_bits(numbers, stretch));
    return {};
  }
  const std::uint64_t size = tfile::size_of(field.dtype);
  if (stretch.count > 0 && stretch.end() > numbers.size / size)
    return cut_short(field, numbers.size / size, stretch.end(), "numbers");
  column.add(arrow_bytes(numbers, stretch.begin * size, stretch.count * size));
  return {};
}

Result<> ArrowInput::place_list(const Field& field, const Target& target, ArrowStretch stretch) {
  TRY(const ArrowBufferAt offsets, next_buffer(field));
  std::int64_t first = 0;
  std::uint64_t size = 0;
  TRY_VOID(read_ends(field, offsets, stretch, first, size));
  std::int64_t& base = list_items_[target.offsets];
  columns_[target.offsets]->add(arrow_offsets(offsets, field.wide, stretch, first, base));
  if (size > kItemsMax || static_cast<std::uint64_t>(base) > kItemsMax - size)
    return too_many_items(field, static_cast<std::uint64_t>(base) + size);
  base += static_cast<std::int64_t>(size);
  return place(field.children[0], target.children[0], {static_cast<std::uint64_t>(first), size});
}

Result<> ArrowInput::place_indices(const Field& field, const Target& target, ArrowStretch stretch) {
  TRY(const ArrowBufferAt indices, next_buffer(field));
  const auto values = dictionaries_.find(field.dictionary->id);
  if (values == dictionaries_.end())
    return fail(ErrorKind::damaged,
                field.name + ": the file has no dictionary " + std::to_string(field.dictionary->id));
  const Dtype dtype = field.dictionary->index;
  if (stretch.count > 0 && stretch.end() > indices.size / tfile::size_of(dtype))
    return cut_short(field, indices.size / tfile::size_of(dtype), stretch.end(), "indices");
  if (field.kind == Kind::number) {
    if (values->second->item_size != tfile::size_of(field.dtype))
      return fail(ErrorKind::damaged, field.name + ": its dictionary has items of " +
                                          std::to_string(values->second->item_size) + " bytes, expected " +
                                          std::to_string(tfile::size_of(field.dtype)));
    columns_[target.values]->add(arrow_looked_up(indices, dtype, stretch, values->second));
    return {};
  }
  if (values->second->offsets.empty())
    return fail(ErrorKind::damaged, field.name + ": its dictionary has " + std::to_string(values->second->count) +
                                        " numbers, expected texts");
  auto texts = arrow_text_indices(indices, dtype, stretch, values->second);
  TRY(const auto offsets, texts->offsets(*buffers_));
  add_texts(target, std::move(texts), static_cast<std::uint64_t>(offsets.back()));
  return {};
}

}  // namespace

Result<bool> is_whole_arrow(const ColumnSource& file, std::uint64_t size) {
  if (size < kArrowBeginSize + kArrowEndSize) return false;
  std::array<std::byte, kArrowBeginSize> begin;
  std::array<std::byte, kArrowEndSize> end;
  TRY(const std::size_t got, file.read(0, begin));
  TRY(const std::size_t got_end, file.read(size - end.size(), end));
  return got == begin.size() && got_end == end.size() && begins_as_arrow(begin) && arrow_footer_size(end).has_value();
}

Result<std::vector<ArrowColumn>> arrow_columns(const std::shared_ptr<const ColumnSource>& file, std::uint64_t size,
                                               ArrowMemory memory) {
  auto made = ArrowInput(file, size, std::move(memory)).build();
  if (!made && made.error().kind != ErrorKind::io) made.error().kind = ErrorKind::invalid;
  return made;
}

}  // namespace tfilefs
