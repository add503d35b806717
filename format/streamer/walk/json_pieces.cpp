// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/json_pieces.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "streamer/walk/number_text.h"
#include "tfile/effort.h"

namespace tfile {
namespace {

// A text of this size is one piece: readers ask for 128 KiB at a time, and no more is made than they will read.
constexpr std::uint64_t kShortMax = 1 << 20;
// Numbers of a piece: their text has up to 900 kB. Arrays that are shorter than the second are kept as text.
constexpr std::size_t kPieceNumbers = 32 << 10, kPieceArrayMin = 4 << 10;
// Text between arrays that is kept. A histogram has 5 kB.
constexpr std::size_t kKeptMax = 4 << 20;
// A walk makes a stretch of the text, so there are not many of them.
constexpr std::uint64_t kStretchesMax = 32;

constexpr const char* kAnotherText = "the text of the object has changed since its size was computed";

struct NumberForm {
  Dtype dtype = Dtype::u1;
  std::optional<Packing> packing;
  bool is_char = false;
  StoredNumbers of(std::span<const std::byte> bytes) const {
    return {bytes, dtype, packing ? &*packing : nullptr, is_char};
  }
};

Result<> put(std::string_view text, std::span<char> to) {
  if (text.size() != to.size()) return fail(ErrorKind::stale, kAnotherText);
  std::memcpy(to.data(), text.data(), text.size());
  return {};
}

// Counts the text of an object in memory.
class Count final : public JsonSink {
 public:
  Result<> text(std::string_view part) override {
    size += part.size();
    return {};
  }
  Result<> numbers(const StoredNumbers& run) override {
    size += size_of_numbers(run, 0, run.count());
    return {};
  }
};

// Counts what an outline keeps.
class KeptCount final : public JsonSink {
 public:
  Result<> text(std::string_view part) override { return add(part.size()); }
  Result<> numbers(const StoredNumbers& run) override {
    const std::size_t count = run.count();
    return add(count < kPieceArrayMin ? size_of_numbers(run, 0, count)
                                      : count / kPieceNumbers * kNumberSeparator.size());
  }

 private:
  Result<> add(std::uint64_t kept) {
    size += kept;
    if (size > kKeptMax) return fail(ErrorKind::unsupported, "object: too many values for a text");
    return {};
  }
};

// Counts the text, and notes its pieces until too much of it would have to be kept.
class Outline final : public JsonSink {
 public:
  Outline(const PayloadBytes& payload, const std::stop_token& stop) : payload_(payload), stop_(stop) {}

  Result<> text(std::string_view part) override {
    size += part.size();
    keep(part);
    return {};
  }
  Result<> numbers(const StoredNumbers& run) override {
    const ByteRange place = payload_.place_of(run.bytes);
    if (!reader_) reader_ = payload_.reader();
    const std::size_t width = run.stored_size(), count = run.count();
    for (std::size_t at = 0, many; at < count; at += many) {
      TRY_VOID(Effort(stop_).check());
      many = std::min(kPieceNumbers, count - at);
      const ByteRange range{place.begin + at * width, many * width};
      StoredNumbers some = run;
      TRY(some.bytes, reader_->read(range));
      if (at > 0) TRY_VOID(text(kNumberSeparator));
      TRY_VOID(some_numbers(some, range, count));
    }
    return {};
  }

  std::vector<PiecedText::Piece> pieces;
  std::vector<NumberForm> forms;  // of pieces that are not kept, by their number
  bool is_much() const { return kept_ > kKeptMax; }

 private:
  Result<> some_numbers(const StoredNumbers& some, ByteRange range, std::size_t of_all) {
    if (of_all < kPieceArrayMin) {
      std::string small;
      append_numbers(small, some, 0, some.count());
      return text(small);
    }
    const std::uint64_t bytes = size_of_numbers(some, 0, some.count());
    size += bytes;
    if (is_much()) return {};
    pieces.push_back({bytes, {}, {range}});
    forms.resize(pieces.size());
    forms.back() = {some.dtype, some.packing ? std::optional(*some.packing) : std::nullopt, some.is_char};
    return {};
  }
  void keep(std::string_view part) {
    if (part.empty() || is_much()) return;
    kept_ += part.size();
    if (is_much()) return pieces.clear();
    if (pieces.empty() || pieces.back().text.empty()) pieces.emplace_back();
    pieces.back().text += part;
    pieces.back().size += part.size();
  }

  const PayloadBytes& payload_;
  const std::stop_token& stop_;
  std::unique_ptr<PayloadReader> reader_;
  std::size_t kept_ = 0;
};

// Numbers are made of their bytes.
class NumberPieces final : public PiecedText {
 public:
  explicit NumberPieces(Outline&& outline) : forms_(std::move(outline.forms)) { pieces = std::move(outline.pieces); }
  Result<> make(std::size_t piece, std::span<const std::byte> payload, std::span<char> to) const override {
    const StoredNumbers numbers = forms_[piece].of(payload);
    std::string text;
    text.reserve(to.size());
    append_numbers(text, numbers, 0, numbers.count());
    return put(text, to);
  }

 private:
  const std::vector<NumberForm> forms_;
};

// Keeps a stretch of the text.
class Stretch final : public JsonSink {
 public:
  Stretch(std::uint64_t begin, std::span<char> to) : begin_(begin), to_(to) {}
  bool is_full() const { return filled_ == to_.size(); }
  Result<> text(std::string_view part) override {
    const std::uint64_t skip = begin_ - std::min(begin_, size);  // of the text from here on
    size += part.size();
    if (skip >= part.size()) return {};
    part.remove_prefix(skip);
    part = part.substr(0, to_.size() - filled_);
    std::memcpy(to_.data() + filled_, part.data(), part.size());
    filled_ += part.size();
    if (is_full()) return fail(ErrorKind::invalid, "no more text is needed");
    return {};
  }
  Result<> numbers(const StoredNumbers& run) override {
    const std::size_t count = run.count();
    for (std::size_t at = 0, many; at < count; at += many) {
      many = std::min(kPieceNumbers, count - at);
      if (at > 0) TRY_VOID(text(kNumberSeparator));
      const std::uint64_t bytes = size_of_numbers(run, at, many);
      if (size + bytes <= begin_) {
        size += bytes;
        continue;
      }
      std::string some;
      append_numbers(some, run, at, many);
      TRY_VOID(text(some));
    }
    return {};
  }

 private:
  const std::uint64_t begin_;
  const std::span<char> to_;
  std::size_t filled_ = 0;
};

class Stretches final : public PiecedText {
 public:
  Stretches(std::shared_ptr<const StreamerInfos> infos, std::string class_name, std::size_t payload,
            std::uint32_t keylen, std::uint64_t size)
      : infos_(std::move(infos)), class_name_(std::move(class_name)), keylen_(keylen) {
    stretch_ = std::max(kShortMax, (size + kStretchesMax - 1) / kStretchesMax);
    for (std::uint64_t at = 0; at < size; at += stretch_)
      pieces.push_back({std::min(stretch_, size - at), {}, {{0, payload}}});
  }
  Result<> make(std::size_t piece, std::span<const std::byte> payload, std::span<char> to) const override {
    Stretch sink(piece * stretch_, to);
    const auto made = write_object_json(*infos_, class_name_, payload, keylen_, sink);
    if (sink.is_full()) return {};
    if (!made) return made;
    return fail(ErrorKind::stale, kAnotherText);
  }

 private:
  const std::shared_ptr<const StreamerInfos> infos_;
  const std::string class_name_;
  const std::uint32_t keylen_;
  std::uint64_t stretch_ = 0;
};

}  // namespace

Result<std::shared_ptr<const PiecedText>> json_pieces(std::shared_ptr<const StreamerInfos> infos,
                                                      std::string class_name, const PayloadBytes& payload,
                                                      std::uint32_t keylen, bool in_memory,
                                                      const std::stop_token& stop) {
  using Text = std::shared_ptr<const PiecedText>;
  Count count;
  if (in_memory) TRY_VOID(write_object_json(*infos, class_name, payload.span(), keylen, count, stop));
  if (!in_memory || count.size > kShortMax) {
    Outline outline(payload, stop);
    TRY_VOID(write_object_json(*infos, class_name, payload.span(), keylen, outline, stop));
    if (!outline.is_much()) return Text(std::make_shared<const NumberPieces>(std::move(outline)));
    if (!in_memory) return fail(ErrorKind::unsupported, "object: too many values for a text");
  }
  return Text(std::make_shared<const Stretches>(std::move(infos), std::move(class_name), payload.span().size(), keylen,
                                                count.size));
}

bool has_short_outline(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
                       std::uint32_t keylen) {
  KeptCount kept;
  return write_object_json(infos, class_name, payload, keylen, kept).has_value();
}

}  // namespace tfile
