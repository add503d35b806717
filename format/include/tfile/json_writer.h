// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfile {

// Writes JSON in the order of the calls, on one line unless line() says otherwise. Text is written as by
// append_json_string(). The caller keeps to the grammar: in an object, a key before each value.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }

  // The next key, value or closing bracket begins a line, indented by so many spaces.
  JsonWriter& line(std::size_t indent = 0);
  JsonWriter& key(std::string_view name);

  JsonWriter& text(std::string_view value);
  template <std::integral T>
  JsonWriter& number(T value) {
    return raw(std::to_string(value));
  }
  JsonWriter& seconds(double value);  // six digits behind the point
  JsonWriter& flag(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  JsonWriter& raw(std::string_view json);  // a value that is JSON already
  std::string& value();                    // for a value that the caller appends to what was written

  JsonWriter& member(std::string_view name, std::string_view value) { return key(name).text(value); }
  template <std::integral T>
  JsonWriter& member(std::string_view name, T value) {
    return key(name).number(value);
  }
  JsonWriter& member_or_null(std::string_view name, std::optional<std::int64_t> value) {
    return value ? member(name, *value) : key(name).null();
  }

  // Makes room for a text of so many bytes at once, so that a long one is not copied while it grows. Room that is not
  // written to costs addresses, no memory.
  JsonWriter& reserve(std::size_t bytes) {
    text_.reserve(bytes);
    return *this;
  }

  // The text written since the last call.
  std::string take() { return std::move(text_); }
  std::size_t size() const { return text_.size(); }

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  void item();  // writes the separator from the item before
  void break_line();

  std::string text_;
  std::optional<std::size_t> line_;
  bool is_first_ = true, has_key_ = false;
};

}  // namespace tfile
