// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/object_json.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "streamer/walk/number_text.h"
#include "streamer/walk/object_reader.h"
#include "tfile/effort.h"
#include "tfile/json_writer.h"

namespace tfile {
namespace {

// A number of one byte takes up to 30 bytes with its comma, and each member its name. The limit stops files whose long
// names would fill the memory.
constexpr std::size_t kTextPerByte = 64, kTextMin = 1 << 20;
// Text is given to the sink when so much has come together.
constexpr std::size_t kPassedOn = 64 << 10;
// Longer arrays are given to the sink as numbers.
constexpr std::size_t kArrayMin = 64;

// "map<int,string>" -> "pair<int,string>": ROOT's name for the items of a map.
std::string pair_type(std::string_view map) {
  for (const std::string_view prefix : {"multimap<", "map<"}) {
    if (map.starts_with(prefix)) return "pair<" + std::string(map.substr(prefix.size()));
  }
  return "TPair";
}

class ObjectJson final : public ObjectVisitor {
 public:
  ObjectJson(JsonSink& sink, std::uint64_t size_max, std::stop_token stop)
      : sink_(sink), size_max_(size_max), stop_(std::move(stop)) {}
  bool has_enough() const override { return too_long_ || !result_ || stop_.stop_requested(); }
  bool is_too_long() const { return too_long_; }
  Result<> finish() {
    pass_on();
    if (result_) result_ = sink_.text("\n");
    return result_;
  }

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
    if (!full()) append_numbers(json_.value(), one, 0, 1);
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
    if (json_.size() > kPassedOn) pass_on();
    too_long_ = too_long_ || sink_.size + json_.size() > size_max_;
    return has_enough();
  }
  void pass_on() {
    if (result_ && json_.size() > 0) result_ = sink_.text(json_.take());
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
    if (is_last) {
      append_run(all, std::min(count, all.count() - next), next);
    } else {
      for (std::size_t i = 0; i < count && !full(); ++i) append_array(all, shape.subspan(1), next);
    }
    json_.end_array();
  }
  void append_run(const StoredNumbers& all, std::size_t count, std::size_t& next) {
    if (count == 0) return;
    std::string& to = json_.value();
    const std::size_t first = std::exchange(next, next + count);
    if (count < kArrayMin) return append_numbers(to, all, first, count);
    pass_on();
    StoredNumbers run = all;
    run.bytes = all.bytes.subspan(first * all.stored_size(), count * all.stored_size());
    if (result_) result_ = sink_.numbers(run);
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

  JsonSink& sink_;
  const std::uint64_t size_max_;
  const std::stop_token stop_;
  JsonWriter json_;
  Result<> result_;
  bool too_long_ = false, chars_are_text_ = false;
  std::size_t indent_ = 0;
  std::uint32_t objects_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> places_;  // of objects that can be referred to
};

class WholeText final : public JsonSink {
 public:
  Result<> text(std::string_view part) override {
    all += part;
    size = all.size();
    return {};
  }
  Result<> numbers(const StoredNumbers& run) override {
    append_numbers(all, run, 0, run.count());
    size = all.size();
    return {};
  }
  std::string all;
};

}  // namespace

Result<> write_object_json(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
                           std::uint32_t keylen, JsonSink& sink, const std::stop_token& stop) {
  ObjectJson writer(sink, payload.size() * kTextPerByte + kTextMin, stop);
  const Result<> told = visit_object(infos, class_name, payload, keylen, writer);
  TRY_VOID(Effort(stop).check());
  if (writer.is_too_long())
    return fail(ErrorKind::unsupported, "object: its text is too large for its number of bytes");
  const Result<> finished = writer.finish();
  if (!finished) return finished;
  return told;
}

Result<std::string> object_json(const StreamerInfos& infos, std::string_view class_name,
                                std::span<const std::byte> payload, std::uint32_t keylen, const std::stop_token& stop) {
  WholeText sink;
  TRY_VOID(write_object_json(infos, class_name, payload, keylen, sink, stop));
  return std::move(sink.all);
}

}  // namespace tfile
