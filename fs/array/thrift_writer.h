// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tfilefs {

// Writes structs in Thrift's compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md): fields in ascending order of
// their numbers, structs and lists opened and closed.
class ThriftWriter {
 public:
  enum class Type : std::uint8_t { yes = 1, no = 2, i16 = 4, i32 = 5, i64 = 6, binary = 8, list = 9, structure = 12 };

  void field(int number, bool value) { head(number, value ? Type::yes : Type::no); }
  void field(int number, std::int32_t value) {
    head(number, Type::i32);
    integer(value);
  }
  void field(int number, std::int64_t value) {
    head(number, Type::i64);
    integer(value);
  }
  void field(int number, std::string_view value) {
    head(number, Type::binary);
    item(value);
  }
  void begin_list(int number, Type of, std::size_t size) {
    head(number, Type::list);
    const auto type = static_cast<std::uint8_t>(of);
    if (size < 15) {
      byte(static_cast<std::uint8_t>(size << 4 | type));
    } else {
      byte(static_cast<std::uint8_t>(0xf0 | type));
      varint(size);
    }
  }
  void item(std::int32_t value) { integer(value); }
  void item(std::string_view value) {
    varint(value.size());
    bytes_ += value;
  }
  // As a field, as the item of a list, or (last is 0 then as well) as the outermost struct.
  void begin_struct(int number) {
    head(number, Type::structure);
    begin_struct();
  }
  void begin_struct() { last_.push_back(0); }
  void end_struct() {
    byte(0);
    last_.pop_back();
  }

  std::string take() { return std::move(bytes_); }

 private:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  // Small numbers of either sign become small unsigned numbers.
  void integer(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void head(int number, Type type) {
    const int step = number - last_.back();
    if (step > 0 && step < 16) {
      byte(static_cast<std::uint8_t>(step << 4 | static_cast<int>(type)));
    } else {
      byte(static_cast<std::uint8_t>(type));
      integer(number);
    }
    last_.back() = number;
  }

  std::string bytes_;
  std::vector<int> last_;  // number of the last field, for each open struct
};

}  // namespace tfilefs
