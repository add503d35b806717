// SPDX-License-Identifier: Apache-2.0
#include "tfile/json_writer.h"

#include <array>
#include <charconv>
#include <utility>

#include "tfile/json_text.h"

namespace tfile {

JsonWriter& JsonWriter::line(std::size_t indent) {
  line_ = indent;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  item();
  append_json_string(text_, name);
  text_ += ": ";
  has_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  item();
  append_json_string(text_, value);
  return *this;
}

JsonWriter& JsonWriter::seconds(double value) {
  std::array<char, 400> digits;  // the largest double has 309 before the point
  const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed, 6).ptr;
  return raw({digits.begin(), end});
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  value() += json;
  return *this;
}

std::string& JsonWriter::value() {
  item();
  return text_;
}

JsonWriter& JsonWriter::begin(char bracket) {
  item();
  text_ += bracket;
  is_first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  break_line();
  text_ += bracket;
  is_first_ = false;
  return *this;
}

void JsonWriter::item() {
  if (std::exchange(has_key_, false)) {
    if (line_) text_.pop_back();  // the space behind the key
    return break_line();
  }
  if (!std::exchange(is_first_, false)) text_ += line_ ? "," : ", ";
  break_line();
}

void JsonWriter::break_line() {
  if (!line_) return;
  text_ += '\n';
  text_.append(*std::exchange(line_, std::nullopt), ' ');
}

}  // namespace tfile
