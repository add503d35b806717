// SPDX-License-Identifier: Apache-2.0
#include "array/arrow_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "array/arrow.h"

namespace tfilefs {
namespace {

class Memory final : public ColumnSource {
 public:
  explicit Memory(std::string bytes_) : bytes(std::move(bytes_)) {}
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset >= bytes.size()) return 0;
    const std::size_t size = std::min<std::size_t>(into.size(), bytes.size() - offset);
    std::memcpy(into.data(), bytes.data() + offset, size);
    return size;
  }
  std::optional<Slices> pin(std::uint64_t, std::size_t) const override { return std::nullopt; }
  const std::string bytes;
};

// Three rows: x = 1 2 3, flags = 1 0 1, text = "a" "" "bcd", lists = [5] [] [6 7], pairs of i2, a record of one u1.
class Example {
 public:
  Example() {
    using Kind = ArrowField::Kind;
    ArrowField lists = field("lists", Kind::list), pairs = field("pairs", Kind::fixed_list),
               record = field("record", Kind::record);
    lists.children.push_back(field("item", Kind::number, tfile::Dtype::i4));
    pairs.list_size = 2;
    pairs.children.push_back(field("item", Kind::number, tfile::Dtype::i2));
    record.children.push_back(field("a", Kind::number, tfile::Dtype::u1));
    fields_ = {field("x", Kind::number, tfile::Dtype::f8),
               field("flags", Kind::boolean),
               field("text", Kind::string),
               lists,
               pairs,
               record};
    add<double>({1, 2, 3}, 3);
    add<std::uint8_t>({5}, 3);
    add<std::int64_t>({0, 1, 1, 4}, 3);
    add_buffer("abcd");
    add<std::int64_t>({0, 1, 1, 3}, 3);
    add<std::int32_t>({5, 6, 7}, 3);
    node(3);
    add<std::int16_t>({1, 2, 3, 4, 5, 6}, 6);
    node(3);
    add<std::uint8_t>({7, 8, 9}, 3);
  }

  std::string file() const {
    const ArrowHead head = arrow_head(fields_, 3, nodes_, buffers_, std::ssize(body_));
    return head.bytes + body_ + arrow_tail(fields_, head, std::ssize(body_));
  }

 private:
  static ArrowField field(std::string name, ArrowField::Kind kind, tfile::Dtype dtype = tfile::Dtype::u1) {
    ArrowField made;
    made.name = std::move(name);
    made.kind = kind;
    made.dtype = dtype;
    return made;
  }
  void node(std::int64_t length) {
    nodes_.push_back({length, 0});
    add_buffer("");
  }
  void add_buffer(std::string_view bytes) {
    buffers_.push_back({std::ssize(body_), std::ssize(bytes)});
    body_ += bytes;
    body_.resize((body_.size() + kArrowAlignment - 1) / kArrowAlignment * kArrowAlignment);
  }
  template <class T>
  void add(const std::vector<T>& values, std::int64_t length) {
    node(length);
    add_buffer({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }

  std::vector<ArrowField> fields_;
  std::vector<ArrowNode> nodes_;
  std::vector<ArrowBuffer> buffers_;
  std::string body_;
};

Result<std::map<std::string, std::string>> read(std::string bytes) {
  const auto file = std::make_shared<const Memory>(std::move(bytes));
  const auto memory = [](std::size_t size) -> Result<std::shared_ptr<std::byte>> {
    return std::shared_ptr<std::byte>(new std::byte[size], std::default_delete<std::byte[]>());
  };
  TRY(const auto columns, arrow_columns(file, file->bytes.size(), memory));
  std::map<std::string, std::string> all;
  for (const ArrowColumn& column : columns) {
    std::string& into = all[column.path];
    into.resize(column.size);
    TRY(const std::size_t got, column.bytes->read(0, std::as_writable_bytes(std::span(into))));
    EXPECT_EQ(got, column.size) << column.path;
  }
  return all;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(ArrowColumns, AreWhatTheFileHolds) {
  const auto columns = read(Example().file());
  ASSERT_TRUE(columns) << columns.error().text;
  const std::map<std::string, std::string> expected = {
      {"x.f8", bytes_of<double>({1, 2, 3})},
      {"flags.b1", bytes_of<std::uint8_t>({1, 0, 1})},
      {"text/offsets.i8", bytes_of<std::int64_t>({0, 1, 1, 4})},
      {"text/chars.u1", "abcd"},
      {"lists/offsets.i8", bytes_of<std::int64_t>({0, 1, 1, 3})},
      {"lists/values.i4", bytes_of<std::int32_t>({5, 6, 7})},
      {"pairs.i2x2", bytes_of<std::int16_t>({1, 2, 3, 4, 5, 6})},
      {"record/a.u1", bytes_of<std::uint8_t>({7, 8, 9})},
  };
  EXPECT_EQ(*columns, expected);
}

TEST(ArrowColumns, ACutFileIsNone) {
  const std::string whole = Example().file();
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read(whole.substr(0, size))) << size;
  EXPECT_TRUE(*is_whole_arrow(Memory(whole), whole.size()));
  EXPECT_FALSE(*is_whole_arrow(Memory(whole), whole.size() - 1));
}

// Whatever the bytes are, the file is refused, or read within its bounds and in little time.
TEST(ArrowColumns, DamagedFilesAreRefusedOrRead) {
  const std::string whole = Example().file();
  std::mt19937 random(testing::UnitTest::GetInstance()->random_seed());
  const auto below = [&](std::size_t n) { return random() % n; };
  constexpr unsigned char kOdd[] = {0, 1, 4, 8, 0x7f, 0x80, 0xfe, 0xff};
  int refused = 0;
  constexpr int kFiles = 20000;
  for (int i = 0; i < kFiles; ++i) {
    std::string bytes = whole;
    for (std::size_t n = 1 + below(5); n > 0; --n)
      bytes[below(bytes.size())] = static_cast<char>(below(2) ? kOdd[below(std::size(kOdd))] : below(256));
    refused += !read(bytes);
  }
  EXPECT_GT(refused, kFiles / 100);
  EXPECT_LT(refused, kFiles);
}

}  // namespace
}  // namespace tfilefs
