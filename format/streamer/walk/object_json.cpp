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

#include "bytes/endian.h"
#include "streamer/walk/object_reader.h"
#include "tfile/effort.h"
#include "tfile/json_writer.h"

namespace tfile {
namespace {

// A number of one byte takes up to 30 bytes with its comma, and each member its name. The limit stops files whose long
// names would fill the memory.
constexpr std::size_t kTextPerByte = 64, kTextMin = 1 << 20;
// A longer text is of no use to a reader; larger objects are available as arrays and bytes.
constexpr std::size_t kTextMax = 1 << 30;

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

class ObjectJson final : public ObjectVisitor {
 public:
  ObjectJson(std::size_t size_max, std::stop_token stop) : size_max_(size_max), stop_(std::move(stop)) {}
  bool has_enough() const override { return too_long_ || stop_.stop_requested(); }
  bool is_too_long() const { return too_long_; }
  std::string take() { return json_.take() + '\n'; }

  void begin_object(std::string_view class_name, std::uint32_t identity) override {
    if (full()) return;
    if (identity != 0) places_[identity] = objects_;
    ++objects_;
    open();
    member("_typename");
    text(class_name);
  }
  void begin_pair(std::string_view type) override {
    if (full()) return;
    open();
    member("$pair");
    text(pair_type(type));
  }
  void end_object() override {
    if (full()) return;
    indent_ -= 2;
    json_.line(indent_).end_object();
  }
  void begin_list() override {
    if (!full()) json_.begin_array();
  }
  void end_list() override {
    if (!full()) json_.end_array();
  }
  void member(std::string_view name) override {
    if (!full()) json_.line(indent_).key(name);
  }
  void number(const StoredNumbers& one) override {
    if (!full()) append_number(json_.value(), one, 0);
  }
  void numbers(const StoredNumbers& all, std::span<const std::uint32_t> shape) override {
    if (full()) return;
    std::size_t next = 0;
    chars_are_text_ = is_text(all);
    append_array(all, shape, next);
  }
  void text(std::string_view value) override {
    if (!full()) json_.text(value);
  }
  void null() override {
    if (!full()) json_.null();
  }
  void reference(std::uint32_t identity) override {
    if (full()) return;
    const auto found = places_.find(identity);
    if (found == places_.end()) {
      json_.null();
    } else {
      json_.begin_object().member("$ref", found->second).end_object();
    }
  }
  void unread(std::string_view reason) override {
    if (!full()) json_.begin_object().member("$unread", reason).end_object();
  }

 private:
  // Nothing is written any more once this is true.
  bool full() {
    too_long_ = too_long_ || json_.size() > size_max_;
    return has_enough();
  }
  void open() {
    json_.begin_object();
    indent_ += 2;
  }
  void append_array(const StoredNumbers& all, std::span<const std::uint32_t> shape, std::size_t& next) {
    const bool is_last = shape.size() <= 1;
    const std::size_t count = shape.empty() ? all.count() : shape[0];
    if (is_last && chars_are_text_) return append_chars(all, count, next);
    json_.begin_array();
    for (std::size_t i = 0; i < count && !full(); ++i) {
      if (is_last)
        append_number(json_.value(), all, next++);
      else
        append_array(all, shape.subspan(1), next);
    }
    json_.end_array();
  }
  void append_chars(const StoredNumbers& all, std::size_t count, std::size_t& next) {
    std::string_view chars{reinterpret_cast<const char*>(all.bytes.data()) + next, count};
    next += count;
    json_.text(chars.substr(0, chars.find('\0')));
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
  JsonWriter json_;
  bool too_long_ = false, chars_are_text_ = false;
  std::size_t indent_ = 0;
  std::uint32_t objects_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> places_;  // of objects that can be referred to
};

}  // namespace

Result<std::string> object_json(const StreamerInfos& infos, std::string_view class_name,
                                std::span<const std::byte> payload, std::uint32_t keylen, const std::stop_token& stop) {
  ObjectJson writer(std::min(payload.size() * kTextPerByte + kTextMin, kTextMax), stop);
  const Result<> told = visit_object(infos, class_name, payload, keylen, writer);
  TRY_VOID(Effort(stop).check());
  if (!writer.is_too_long()) TRY_VOID(told);
  if (writer.is_too_long())
    return fail(ErrorKind::unsupported, "object: its text is out of proportion to its bytes, or beyond 1 GiB");
  return writer.take();
}

}  // namespace tfile
