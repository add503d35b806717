// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <stop_token>
#include <tuple>

#include "fs/view/array_table.h"
#include "view/text_machine.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::Role;

Result<std::shared_ptr<Content>> text_of(TableRig& rig, tfile::NodeId node) {
  Answer<std::shared_ptr<Content>> answer;
  text_content(rig.streams, rig.table, node, answer.reply());
  return answer.wait();
}

std::string whole_text(std::shared_ptr<ArrayTable> table, tfile::NodeId node) {
  TableRig rig(std::move(table));
  const auto content = text_of(rig, node);
  if (!content) return "error: " + content.error().text;
  return content_bytes(**content, 0, (*content)->size());
}

std::string whole_table_text(std::shared_ptr<ArrayTable> table, TextStyle style) {
  TableRig rig(std::move(table));
  Answer<std::shared_ptr<Content>> answer;
  table_text_content(rig.streams, rig.table, style, answer.reply());
  const auto content = answer.wait();
  if (!content) return "error: " + content.error().text;
  return content_bytes(**content, 0, (*content)->size());
}

TEST(Text, NumbersAreTheShortestThatReadBack) {
  auto table = std::make_shared<ArrayTable>();
  const auto f4 = table->column<float>(
      0, "a.f4", Role::values,
      {0.1f, 1.0f, -2.5e30f, 1e-45f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::quiet_NaN()});
  const auto f8 = table->column<double>(0, "b.f8", Role::values, {0.1, 1.0 / 3});
  const auto i1 = table->column<std::int8_t>(0, "c.i1", Role::values, {-128, 65});
  const auto u8 = table->column<std::uint64_t>(0, "d.u8", Role::values, {~std::uint64_t{0}});
  EXPECT_EQ(whole_text(table, f4), "0.1\n1\n-2.5e+30\n1e-45\ninf\nnan\n");
  EXPECT_EQ(whole_text(table, f8), "0.1\n0.3333333333333333\n");
  EXPECT_EQ(whole_text(table, i1), "-128\n65\n");
  EXPECT_EQ(whole_text(table, u8), "18446744073709551615\n");
}

TEST(Text, BooleansAndFixedShapes) {
  auto table = std::make_shared<ArrayTable>();
  const auto b1 = table->column<char>(0, "e.b1", Role::values, {0, 1, 1, 0});
  const auto shape = table->column<float>(0, "p.f4x2x2", Role::values, {1, 2, 3, 4, 5, 6, 7, 8}, {2, 2});
  EXPECT_EQ(whole_text(table, b1), "0\n1\n1\n0\n");
  EXPECT_EQ(whole_text(table, shape), "1 2 3 4\n5 6 7 8\n");
}

TEST(Text, ListsAndListsOfLists) {
  auto table = std::make_shared<ArrayTable>();
  const auto list = table->directory(0, "list");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 2, 2, 5});
  table->column<std::int32_t>(list, "values.i4", Role::values, {1, 2, 3, 4, 5});
  const auto nested = table->directory(0, "nested");
  table->column<std::int64_t>(nested, "offsets.i8", Role::offsets, {0, 3, 3});
  const auto values = table->directory(nested, "values");
  table->column<std::int64_t>(values, "offsets.i8", Role::offsets, {0, 1, 1, 3});
  table->column<float>(values, "values.f4", Role::values, {1.5, 2, 3});
  EXPECT_EQ(whole_text(table, list), "1 2\n\n3 4 5\n");
  EXPECT_EQ(whole_text(table, nested), "[1.5] [] [2 3]\n\n");
}

TEST(Text, StringsAloneAndInLists) {
  auto table = std::make_shared<ArrayTable>();
  const auto string =
      table->string(0, "s", {"plain", "", "a\tb\nc\\", "\x1b[31m \x7f \xc2\x9b \xc3\xa9 \xff", "\"q\""});
  const auto list = table->directory(0, "list");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 2, 3});
  table->string(list, "values", {"a b", "", "say \"x\"\n"});
  EXPECT_EQ(whole_text(table, string), "plain\n\na\\tb\\nc\\\\\n\\x1b[31m \\x7f \\xc2\\x9b \xc3\xa9 \xff\n\"q\"\n");
  EXPECT_EQ(whole_text(table, list), "\"a b\" \"\"\n\"say \\\"x\\\"\\n\"\n");
}

TEST(Text, RecordsAloneAndInLists) {
  auto table = std::make_shared<ArrayTable>();
  const auto record = table->directory(0, "r");
  table->column<std::int32_t>(record, "x.i4", Role::values, {1, 2});
  const auto inside = table->directory(record, "in");
  table->column<std::int32_t>(inside, "y.i4", Role::values, {3, 4});
  table->string(inside, "s", {"u v", "w"});
  const auto shorter = table->directory(record, "l");
  table->column<std::int64_t>(shorter, "offsets.i8", Role::offsets, {0, 2});
  table->column<std::int32_t>(shorter, "values.i4", Role::values, {8, 9});
  const auto list = table->directory(0, "list");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 0, 2});
  const auto items = table->directory(list, "values");
  table->column<float>(items, "a.f4", Role::values, {1, 2});
  table->string(items, "n", {"p", "q"});
  EXPECT_EQ(whole_text(table, record), "1\t3\tu v\t8 9\n2\t4\tw\t\n");
  EXPECT_EQ(whole_text(table, list), "\n(1 \"p\") (2 \"q\")\n");
}

TEST(Text, OneOfSeveralClassesHasItsName) {
  auto table = std::make_shared<ArrayTable>();
  const auto one_of = [&](tfile::NodeId node, const std::vector<std::int8_t>& tags,
                          const std::vector<std::int64_t>& index) {
    table->column<std::int8_t>(node, "tags.i1", Role::tags, tags);
    table->nodes[node].alternatives = {"A", "B\n", "C"};
    table->column<std::int64_t>(node, "index.i8", Role::index, index);
    const auto a = table->directory(node, "A");
    table->column<std::int32_t>(a, "x.i4", Role::values, {1, 2});
    table->nodes[a].tag = 1;
    table->string(a, "s", {"u v", "w"});
    const auto b = table->directory(node, "B~0A");
    table->nodes[b].tag = 2;
    table->nodes[b].original_name = "B\n";
    table->column<std::int64_t>(b, "offsets.i8", Role::offsets, {0, 2});
    table->column<float>(b, "values.f4", Role::values, {1.5, 2});
  };
  const auto alone = table->directory(0, "alone");
  one_of(alone, {1, 0, 2, 3, 1}, {0, -1, 0, 0, 1});
  EXPECT_EQ(whole_text(table, alone), "A(1 \"u v\")\nnull\nB\\n([1.5 2])\nC()\nA(2 \"w\")\n");
  const auto list = table->directory(0, "list");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 2, 2, 3});
  one_of(table->directory(list, "values"), {2, 0, 1}, {0, -1, 1});
  EXPECT_EQ(whole_text(table, list), "B\\n([1.5 2]) null\n\nA(2 \"w\")\n");
  const auto record = table->directory(0, "record");
  table->column<float>(record, "f.f4", Role::values, {1, 2});
  one_of(table->directory(record, "p"), {1, 0}, {1, -1});
  EXPECT_EQ(whole_text(table, record), "1\tA(2 \"w\")\n2\tnull\n");
}

TEST(Text, AlternativesOfTheSameTypeAreToldByTheirTags) {
  auto table = std::make_shared<ArrayTable>();
  table->entries = 4;
  const auto node = table->directory(0, "v");
  table->column<std::int8_t>(node, "tags.i1", Role::tags, {2, 1, 3, 2});
  table->nodes[node].alternatives = {"int", "int", "int"};
  table->column<std::int64_t>(node, "index.i8", Role::index, {0, 0, 0, 1});
  table->nodes[table->column<std::int32_t>(node, "int.i4", Role::values, {1})].tag = 1;
  for (const std::uint32_t tag : {2, 3}) {
    const auto later = table->column<std::int32_t>(node, "int~" + std::to_string(tag) + ".i4", Role::values,
                                                   tag == 2 ? std::vector{-2, 22} : std::vector{3});
    table->nodes[later].tag = tag;
    table->nodes[later].original_name = "int";
  }
  EXPECT_EQ(whole_text(table, node), "int~2(-2)\nint(1)\nint~3(3)\nint~2(22)\n");
  EXPECT_EQ(whole_table_text(table, TextStyle::json), R"({"v":{"int~2":-2}})"
                                                      "\n"
                                                      R"({"v":{"int":1}})"
                                                      "\n"
                                                      R"({"v":{"int~3":3}})"
                                                      "\n"
                                                      R"({"v":{"int~2":22}})"
                                                      "\n");
}

// What a CSV reader makes of a text: the cells of each line.
std::vector<std::vector<std::string>> cells_of(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& cell = lines.back().back();
    if (text[i] == '"' && is_quoted && i + 1 < text.size() && text[i + 1] == '"')
      cell += text[i++];
    else if (text[i] == '"')
      is_quoted = !is_quoted;
    else if (text[i] == ',' && !is_quoted)
      lines.back().emplace_back();
    else if (text[i] == '\n' && !is_quoted)
      lines.emplace_back(1, "");
    else if (text[i] != '\r' || is_quoted)
      cell += text[i];
  }
  lines.pop_back();
  return lines;
}

TEST(Text, ListsAreJsonInOneCell) {
  auto table = std::make_shared<ArrayTable>();
  table->entries = 3;
  const auto texts = table->directory(0, "texts");
  table->column<std::int64_t>(texts, "offsets.i8", Role::offsets, {0, 2, 2, 3});
  const auto text = table->directory(texts, "values");
  table->column<std::int64_t>(text, "offsets.i8", Role::offsets, {0, 3, 4, 6});
  table->column<std::uint8_t>(text, "chars.u1", Role::chars, {'a', '"', ',', '=', 'b', 'c'});
  const auto hits = table->directory(0, "hits");
  table->column<std::int64_t>(hits, "offsets.i8", Role::offsets, {0, 1, 2, 2});
  const auto hit = table->directory(hits, "values");
  table->column<std::int32_t>(hit, "x.i4", Role::values, {1, 2});
  table->column<std::int32_t>(hit, "y.i4", Role::values, {-1, -2});
  table->column<std::int32_t>(0, "n.i4", Role::values, {7, 8, 9});
  const std::vector<std::vector<std::string>> expected{{"texts", "hits", "n"},
                                                       {R"(["a\",","="])", R"([{"x":1,"y":-1}])", "7"},
                                                       {"[]", R"([{"x":2,"y":-2}])", "8"},
                                                       {R"(["bc"])", "[]", "9"}};
  EXPECT_EQ(cells_of(whole_table_text(table, TextStyle::csv_cells)), expected);
  EXPECT_EQ(whole_table_text(table, TextStyle::csv), "\"n\"\r\n7\r\n8\r\n9\r\n");
}

TEST(Text, ClassesWithoutMembersAreThereWithoutColumns) {
  auto table = std::make_shared<ArrayTable>();
  table->entries = 2;
  const auto nothing = table->directory(0, "nothing");
  const auto list = table->directory(0, "list");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 2, 3});
  table->directory(list, "values");
  const auto maybe = table->directory(0, "maybe");
  table->column<std::int64_t>(maybe, "offsets.i8", Role::offsets, {0, 1, 1});
  table->nodes[maybe].kind = tfile::NodeKind::optional;
  table->directory(table->directory(maybe, "values"), "inside");
  EXPECT_EQ(whole_text(table, list), "() ()\n()\n");
  EXPECT_EQ(whole_text(table, maybe), "(())\nnull\n");
  EXPECT_TRUE(whole_text(table, nothing).starts_with("error: "));
  EXPECT_EQ(whole_table_text(table, TextStyle::json), R"({"nothing":{},"list":[{},{}],"maybe":{"inside":{}}})"
                                                      "\n"
                                                      R"({"nothing":{},"list":[{}],"maybe":null})"
                                                      "\n");
  const auto many = table->directory(0, "many");
  table->column<std::int64_t>(many, "offsets.i8", Role::offsets, {0, 1, std::int64_t{1} << 60});
  table->directory(many, "values");
  EXPECT_TRUE(whole_text(table, many).starts_with("error: "));
}

TEST(Text, TagsAndPositionsThatPointNowhereAreDamage) {
  for (const auto& [tag, index] : {std::pair{2, 0}, std::pair{-1, 0}, std::pair{1, -1}}) {
    auto table = std::make_shared<ArrayTable>();
    const auto node = table->directory(0, "p");
    table->column<std::int8_t>(node, "tags.i1", Role::tags, {static_cast<std::int8_t>(tag)});
    table->nodes[node].alternatives = {"A"};
    table->column<std::int64_t>(node, "index.i8", Role::index, {std::int64_t{index}});
    const auto a = table->directory(node, "A");
    table->nodes[a].tag = 1;
    table->column<std::int32_t>(a, "x.i4", Role::values, {1});
    EXPECT_TRUE(whole_text(table, node).starts_with("error: ")) << tag << ' ' << index;
  }
}

TEST(Text, UndecodedBytesAreHexadecimal) {
  auto table = std::make_shared<ArrayTable>();
  const auto raw = table->directory(0, "raw");
  table->column<std::int64_t>(raw, "offsets.i8", Role::offsets, {0, 2, 2, 3});
  table->column<std::uint8_t>(raw, "raw.u1", Role::raw, {0x00, 0xfe, 0x41});
  EXPECT_EQ(whole_text(table, raw), "00fe\n\n41\n");
}

TEST(Text, AnEmptyColumnIsAnEmptyText) {
  auto table = std::make_shared<ArrayTable>();
  const auto empty = table->column<float>(0, "a.f4", Role::values, {});
  EXPECT_EQ(whole_text(table, empty), "");
}

TEST(Text, EveryPieceOfALongTextIsTheSame) {
  auto table = std::make_shared<ArrayTable>(1000);
  const auto list = table->directory(0, "list");
  std::vector<std::int64_t> ends{0};
  std::vector<std::string> strings;
  std::string expected;
  std::mt19937 random(11);
  for (int entry = 0; entry < 3000; ++entry) {
    const int items = entry == 1500 ? 100'000 : static_cast<int>(random() % 30);  // one line is larger than a piece
    for (int i = 0; i < items; ++i) {
      strings.push_back(std::to_string(random() % 100'000));
      expected += (i ? " \"" : "\"") + strings.back() + '"';
    }
    expected += '\n';
    ends.push_back(std::ssize(strings));
  }
  table->column(list, "offsets.i8", Role::offsets, ends);
  table->string(list, "values", strings);
  TableRig rig(table, 200'000);
  const auto content = text_of(rig, list);
  ASSERT_TRUE(content) << content.error().text;
  ASSERT_EQ((*content)->size(), expected.size());
  EXPECT_EQ(content_bytes(**content, 0, expected.size() + 10), expected);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t offset = random() % expected.size();
    const std::size_t size = random() % 5000;
    ASSERT_EQ(content_bytes(**content, offset, size), expected.substr(offset, size));
  }
}

// Their lengths are available at once, one after the other.
TEST(Text, ATableOfManyColumnsTakesNoStack) {
  constexpr int kColumns = 50'000;
  auto table = std::make_shared<ArrayTable>();
  table->entries = 1;
  std::string expected = "{";
  for (int i = 0; i < kColumns; ++i) {
    const std::string name = "c" + std::to_string(i);
    table->column<std::int8_t>(0, name + ".i1", Role::values, {1});
    expected += (i > 0 ? ",\"" : "\"") + name + "\":1";
  }
  expected += "}\n";
  EXPECT_EQ(whole_table_text(table, TextStyle::json), expected);
}

TEST(Text, ManyReadersAtOnce) {
  auto table = std::make_shared<ArrayTable>(500);
  std::vector<std::int32_t> numbers;
  std::string expected;
  for (int i = 0; i < 200'000; ++i) {
    numbers.push_back(i * 7);
    expected += std::to_string(i * 7) + '\n';
  }
  const auto node = table->column(0, "x.i4", Role::values, numbers);
  TableRig rig(table);
  const auto content = text_of(rig, node);
  ASSERT_TRUE(content);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int t = 0; t < 4; ++t)
    readers.emplace_back([&, t] {
      for (std::size_t offset = static_cast<std::size_t>(t) * 1000; offset < expected.size(); offset += 128 << 10)
        wrong += content_bytes(**content, offset, 128 << 10) != expected.substr(offset, 128 << 10);
    });
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Text, WhatAnItemDoesNotHaveIsAQuestionMark) {
  auto table = std::make_shared<ArrayTable>();
  const auto list = table->directory(0, "list");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 1, 3});
  const auto items = table->directory(list, "values");
  table->column<std::int32_t>(items, "a.i4", Role::values, {1, 2, 3});
  table->column<std::int32_t>(items, "short.i4", Role::values, {7});
  const auto raw = table->directory(items, "raw");
  table->column<std::int64_t>(raw, "offsets.i8", Role::offsets, {0, 2, 3});  // counts entries, not items
  table->column<std::uint8_t>(raw, "raw.u1", Role::raw, {1, 2, 3});
  table->columns[3].lists = table->columns[4].lists = {3};
  EXPECT_EQ(whole_text(table, list), "(1 7 ?)\n(2 ? ?) (3 ? ?)\n");
  EXPECT_EQ(whole_text(table, raw), "0102\n03\n");
}

TEST(Text, AFewBytesDoNotMakeAnEndlessText) {
  auto table = std::make_shared<ArrayTable>();
  const auto list = table->directory(0, "list");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, std::int64_t{1} << 60});
  const auto items = table->directory(list, "values");
  table->column<std::int32_t>(items, "a.i4", Role::values, {1});
  TableRig rig(table);
  const auto content = text_of(rig, list);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().kind, ErrorKind::damaged);
}

TEST(Text, ListsThatGoBackwardsAreDamage) {
  auto table = std::make_shared<ArrayTable>();
  const auto list = table->directory(0, "list");
  table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 4, 2});
  table->column<std::int32_t>(list, "values.i4", Role::values, {1, 2, 3, 4});
  const auto beyond = table->directory(0, "beyond");
  table->column<std::int64_t>(beyond, "offsets.i8", Role::offsets, {0, 9});
  table->column<std::int32_t>(beyond, "values.i4", Role::values, {1, 2});
  TableRig rig(table);
  for (const auto node : {list, beyond}) {
    const auto content = text_of(rig, node);
    ASSERT_FALSE(content);
    EXPECT_EQ(content.error().kind, ErrorKind::damaged);
  }
}

TEST(Text, EntriesOfWhichNothingIsThereTakeNoWork) {
  auto table = std::make_shared<ArrayTable>();
  table->column<std::int32_t>(0, "n.i4", Role::values, {1, 2});
  table->entries = 1'000'000'000'000;
  TableRig rig(table);
  for (const auto& [style, first, blank] :
       {std::tuple(TextStyle::csv, std::string("\"n\"\r\n1\r\n2\r\n"), std::string("\r\n")),
        std::tuple(TextStyle::json, std::string("{\"n\":1}\n{\"n\":2}\n"), std::string("{\"n\":null}\n"))}) {
    Answer<std::shared_ptr<Content>> answer;
    table_text_content(rig.streams, rig.table, style, answer.reply());
    const auto content = answer.wait().value();
    EXPECT_EQ(content->size(), first.size() + (1'000'000'000'000 - 2) * blank.size());
    EXPECT_EQ(content_bytes(*content, 0, first.size() + 2 * blank.size()), first + blank + blank);
    EXPECT_EQ(content_bytes(*content, content->size() - blank.size() - 1, blank.size() + 1), blank.back() + blank);
  }
}

TEST(Text, IsGivenUpWhenNobodyWaits) {
  auto table = std::make_shared<ArrayTable>();
  const auto n = table->column<std::int32_t>(0, "n.i4", Role::values, {1, 2});
  TableRig rig(table);
  std::stop_source stop;
  stop.request_stop();
  Answer<std::shared_ptr<Content>> answer;
  auto reply = answer.reply();
  reply.set_stop_token(stop.get_token());
  text_content(rig.streams, rig.table, n, std::move(reply));
  EXPECT_EQ(answer.wait().error().system_errno, ECANCELED);
}

}  // namespace
}  // namespace tfilefs
