// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/object_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytes/endian.h"
#include "streamer/walk/object_reader.h"
#include "tfile/effort.h"

namespace tfile {
namespace {

// A number of one byte takes up to 30 bytes with its comma, and each member its name. The limit stops files whose long
// names would fill the memory.
constexpr std::size_t kTextPerByte = 64, kTextMin = 1 << 20;
// A longer text is of no use to a reader; larger objects are available as arrays and bytes.
constexpr std::size_t kTextMax = 1 << 30;

// The size of the UTF-8 character at the beginning of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (length == 3 && ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F))) return 0;
  if (length == 4 && ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F))) return 0;
  return length;
}

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  while (!text.empty()) {
    const char c = text[0];
    const std::size_t length = utf8_length(text);
    if (length > 1) {
      to += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    text.remove_prefix(1);
    if (length == 1 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) {
      to += c;
      continue;
    }
    switch (c) {
      case '"':
        to += "\\\"";
        break;
      case '\\':
        to += "\\\\";
        break;
      case '\n':
        to += "\\n";
        break;
      case '\t':
        to += "\\t";
        break;
      case '\r':
        to += "\\r";
        break;
      default: {
        // A byte that is not UTF-8 becomes the surrogate as which Python reads such bytes.
        std::array<char, 8> escape;
        const unsigned code = (length == 0 ? 0xDC00u : 0u) | static_cast<unsigned char>(c);
        std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
        to += escape.data();
      }
    }
  }
  to += '"';
}

template <class T>
void append_integer(std::string& to, T value) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), value);
  to.append(digits.begin(), end);
}

// Like ROOT: whole numbers without exponent, others with 7 or 15 digits without trailing zeros. JSON has neither
// infinity nor NaN. ROOT's reader takes null for NaN, and a number too large for a double for infinity.
template <class T>
void append_real(std::string& to, T value) {
  constexpr bool kIsFloat = sizeof(T) == sizeof(float);
  constexpr double kPlainMax = kIsFloat ? 1e15 : 1e25;
  if (std::isnan(value)) {
    to += "null";
    return;
  }
  if (std::isinf(value)) {
    to += value < 0 ? "-2e308" : "2e308";
    return;
  }
  std::array<char, 64> digits;
  if (value == std::nearbyint(value) && std::abs(value) < static_cast<T>(kPlainMax)) {
    to.append(digits.data(), static_cast<std::size_t>(
                                 std::snprintf(digits.data(), digits.size(), "%1.0f", static_cast<double>(value))));
    return;
  }
  // %.7g and %.15g give the digits of ROOT's %e and %.14e, without trailing zeros.
  const int size = std::snprintf(digits.data(), digits.size(), kIsFloat ? "%.7g" : "%.15g", static_cast<double>(value));
  to.append(digits.data(), static_cast<std::size_t>(size));
}

template <class T>
T number_at(const StoredNumbers& numbers, std::size_t i) {
  if (!numbers.packing) return load_big<T>(numbers.bytes.data() + i * sizeof(T));
  std::array<std::byte, sizeof(double)> unpacked;
  const std::size_t size = numbers.packing->stored_size();
  unpack(*numbers.packing, numbers.bytes.subspan(i * size, size), unpacked.data());
  T value;
  std::memcpy(&value, unpacked.data(), sizeof value);
  return value;
}

void append_number(std::string& to, const StoredNumbers& numbers, std::size_t i) {
  switch (numbers.dtype) {
    case Dtype::b1:
      to += number_at<std::uint8_t>(numbers, i) ? "true" : "false";
      return;
    case Dtype::i1:
      return append_integer(to, int{number_at<std::int8_t>(numbers, i)});
    case Dtype::u1:
      return append_integer(to, int{number_at<std::uint8_t>(numbers, i)});
    case Dtype::i2:
      return append_integer(to, number_at<std::int16_t>(numbers, i));
    case Dtype::u2:
      return append_integer(to, number_at<std::uint16_t>(numbers, i));
    case Dtype::i4:
      return append_integer(to, number_at<std::int32_t>(numbers, i));
    case Dtype::u4:
      return append_integer(to, number_at<std::uint32_t>(numbers, i));
    case Dtype::i8:
      return append_integer(to, number_at<std::int64_t>(numbers, i));
    case Dtype::u8:
      return append_integer(to, number_at<std::uint64_t>(numbers, i));
    case Dtype::f4:
      return append_real(to, number_at<float>(numbers, i));
    case Dtype::f8:
      return append_real(to, number_at<double>(numbers, i));
  }
}

// "map<int,string>" -> "pair<int,string>": ROOT's name for the items of a map.
std::string pair_type(std::string_view map) {
  for (const std::string_view prefix : {"multimap<", "map<"}) {
    if (map.starts_with(prefix)) return "pair<" + std::string(map.substr(prefix.size()));
  }
  return "TPair";
}

class JsonWriter final : public ObjectVisitor {
 public:
  JsonWriter(std::size_t size_max, std::stop_token stop) : size_max_(size_max), stop_(std::move(stop)) {}
  bool has_enough() const override { return too_long_ || stop_.stop_requested(); }
  bool is_too_long() const { return too_long_; }
  std::string take() {
    text_ += '\n';
    return std::move(text_);
  }

  void begin_object(std::string_view class_name, std::uint32_t identity) override {
    if (!begin_value()) return;
    if (identity != 0) places_[identity] = objects_;
    ++objects_;
    open('{', false);
    member("_typename");
    text(class_name);
  }
  void begin_pair(std::string_view type) override {
    if (!begin_value()) return;
    open('{', false);
    member("$pair");
    text(pair_type(type));
  }
  void end_object() override { close('}'); }
  void begin_list() override {
    if (begin_value()) open('[', true);
  }
  void end_list() override { close(']'); }
  void member(std::string_view name) override {
    if (full()) return;
    if (!first_) text_ += ',';
    first_ = false;
    text_ += '\n';
    text_.append(indent_, ' ');
    append_quoted(text_, name);
    text_ += ": ";
  }
  void number(const StoredNumbers& one) override {
    if (begin_value()) append_number(text_, one, 0);
  }
  void numbers(const StoredNumbers& all, std::span<const std::uint32_t> shape) override {
    if (!begin_value()) return;
    std::size_t next = 0;
    chars_are_text_ = is_text(all);
    append_array(all, shape, next);
  }
  void text(std::string_view value) override {
    if (begin_value()) append_quoted(text_, value);
  }
  void null() override {
    if (begin_value()) text_ += "null";
  }
  void reference(std::uint32_t identity) override {
    if (!begin_value()) return;
    const auto found = places_.find(identity);
    if (found == places_.end()) {
      text_ += "null";
      return;
    }
    text_ += "{\"$ref\": ";
    append_integer(text_, found->second);
    text_ += '}';
  }
  void unread(std::string_view reason) override {
    if (!begin_value()) return;
    text_ += "{\"$unread\": ";
    append_quoted(text_, reason);
    text_ += '}';
  }

 private:
  bool full() {
    too_long_ = too_long_ || text_.size() > size_max_;
    return has_enough();
  }
  // Writes the separator before a value in a list. False if there is no more room.
  bool begin_value() {
    if (full()) return false;
    if (in_list_) {
      if (!first_) text_ += ", ";
      first_ = false;
    }
    return true;
  }
  void open(char bracket, bool is_list) {
    text_ += bracket;
    in_lists_.push_back(in_list_);
    in_list_ = is_list;
    first_ = true;
    indent_ += is_list ? 0 : 2;
  }
  void close(char bracket) {
    if (full() || in_lists_.empty()) return;
    if (!in_list_) {
      indent_ -= 2;
      text_ += '\n';
      text_.append(indent_, ' ');
    }
    text_ += bracket;
    in_list_ = in_lists_.back();
    in_lists_.pop_back();
    first_ = false;
  }
  void append_array(const StoredNumbers& all, std::span<const std::uint32_t> shape, std::size_t& next) {
    const bool is_last = shape.size() <= 1;
    const std::size_t count = shape.empty() ? all.count() : shape[0];
    if (is_last && chars_are_text_) return append_chars(all, count, next);
    text_ += '[';
    for (std::size_t i = 0; i < count && !full(); ++i) {
      if (i != 0) text_ += ", ";
      if (is_last)
        append_number(text_, all, next++);
      else
        append_array(all, shape.subspan(1), next);
    }
    text_ += ']';
  }
  void append_chars(const StoredNumbers& all, std::size_t count, std::size_t& next) {
    std::string_view chars{reinterpret_cast<const char*>(all.bytes.data()) + next, count};
    next += count;
    append_quoted(text_, chars.substr(0, chars.find('\0')));
  }
  // ROOT shows an array of characters as text if it is printable and has only NULs after the first NUL.
  static bool is_text(const StoredNumbers& all) {
    if (!all.is_char) return false;
    const std::string_view chars{reinterpret_cast<const char*>(all.bytes.data()), all.bytes.size()};
    const std::size_t end = std::min(chars.find('\0'), chars.size());
    return std::all_of(chars.begin(), chars.begin() + static_cast<std::ptrdiff_t>(end),
                       [](char c) { return c >= 0x20 && c < 0x7f; }) &&
           chars.find_first_not_of('\0', end) == chars.npos;
  }

  const std::size_t size_max_;
  const std::stop_token stop_;
  std::string text_;
  std::vector<bool> in_lists_;
  bool in_list_ = false, first_ = true, too_long_ = false, chars_are_text_ = false;
  std::size_t indent_ = 0;
  std::uint32_t objects_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> places_;  // of objects that can be referred to
};

}  // namespace

Result<std::string> object_json(const StreamerInfos& infos, std::string_view class_name,
                                std::span<const std::byte> payload, std::uint32_t keylen, const std::stop_token& stop) {
  JsonWriter writer(std::min(payload.size() * kTextPerByte + kTextMin, kTextMax), stop);
  const Result<> told = visit_object(infos, class_name, payload, keylen, writer);
  TRY_VOID(Effort(stop).check());
  if (!writer.is_too_long()) TRY_VOID(told);
  if (writer.is_too_long())
    return fail(ErrorKind::unsupported, "object: its text is out of proportion to its bytes, or beyond 1 GiB");
  return writer.take();
}

}  // namespace tfile
