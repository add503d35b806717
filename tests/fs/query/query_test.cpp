// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fs/view/array_table.h"
#include "query/passing_entries.h"
#include "query/query_scan.h"

namespace tfilefs {
namespace {

using tfile::NodeId;
using tfile::Role;

// Five entries: numbers, lists of 2, 0, 3, 1 and 2 items, lists of lists, an array, texts.
std::shared_ptr<ArrayTable> sample() {
  auto table = std::make_shared<ArrayTable>();
  table->entries = 5;
  table->column<float>(0, "x.f4", Role::values, {1, -2, 3, 4, 5});
  table->column<std::int32_t>(0, "n.i4", Role::values, {2, 0, 3, 1, 2});
  table->column<std::int64_t>(0, "big.i8", Role::values, {7, 8, 9, 10, 11});
  table->column<std::int16_t>(0, "a.i2x2", Role::values, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {2});
  const NodeId pt = table->directory(0, "pt");
  table->column<std::int64_t>(pt, "offsets.i8", Role::offsets, {0, 2, 2, 5, 6, 8});
  table->column<double>(pt, "values.f8", Role::values, {10, 20, 30, 40, 50, 60, 70, 80});
  const NodeId other = table->directory(0, "other");  // of other lengths
  table->column<std::int64_t>(other, "offsets.i8", Role::offsets, {0, 1, 2, 4, 6, 6});
  table->column<double>(other, "values.f8", Role::values, {1, 2, 3, 4, 5, 6});
  const NodeId outer = table->directory(0, "deep");
  table->column<std::int64_t>(outer, "offsets.i8", Role::offsets, {0, 2, 2, 3, 3, 4});
  const NodeId inner = table->directory(outer, "values");
  table->column<std::int64_t>(inner, "offsets.i8", Role::offsets, {0, 1, 3, 3, 4});
  table->column<double>(inner, "values.f8", Role::values, {1, 2, 3, 4});
  const NodeId event = table->directory(0, "event");
  table->nodes[event].kind = tfile::NodeKind::record;
  table->column<double>(event, "weight.f8", Role::values, {.5, 1, 1.5, 2, 2.5});
  table->string(0, "name", {"one", "two", "three", "two", ""});
  return table;
}

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

using Definitions = std::vector<std::pair<std::string, std::string>>;

// "1 2 / 3": the numbers of each entry, of the last expression; or the first line of the error.
std::string values_together(const std::vector<std::string>& expressions, const Definitions& definitions = {},
                            std::shared_ptr<ArrayTable> table = sample()) {
  TableRig rig(std::move(table));
  const QueryScope scope{TableNames(*rig.table), definitions};
  const auto query = Query::bind(expressions, scope);
  if (!query) return query.error().text.substr(0, query.error().text.find('\n'));
  std::string text;
  std::int64_t next = 0;
  const QuerySource source{*rig.table, *rig.streams};
  const tfile::EntryRange all{0, rig.table->entries};
  const auto done = evaluate_unit(source, *query, all, {}, [&](const QueryBlock& block, tfile::EntryRange range) {
    for (std::size_t i = 0; i < block.iterations(); ++i) {
      const std::int64_t entry = range.begin + block.entries()[i];
      for (; next < entry; ++next) text += "/";
      text += (text.empty() || text.back() == '/' ? "" : " ") + shown(block.values(expressions.size() - 1)[i]);
    }
    return Result<>();
  });
  if (!done) return done.error().text;
  return text;
}
std::string values(const std::string& expression, const Definitions& definitions = {},
                   std::shared_ptr<ArrayTable> table = sample()) {
  return values_together({expression}, definitions, std::move(table));
}

TEST(Query, NumbersOfEntries) {
  EXPECT_EQ(values("x"), "1/-2/3/4/5");
  EXPECT_EQ(values("2*x+big/2"), "5.5/0/10.5/13/15.5");
  EXPECT_EQ(values("x>0 && n!=1"), "1/0/1/0/1");
  EXPECT_EQ(values("-x^2"), "-1/-4/-9/-16/-25");
  EXPECT_EQ(values("n%2 ? x : -x"), "-1/2/3/4/-5");
  EXPECT_EQ(values("n<<1|1"), "5/1/7/3/5");
  EXPECT_EQ(values("Entry$*10+Entries$"), "5/15/25/35/45");
  EXPECT_EQ(values("event.weight"), values("weight"));
}

// What TTreeFormula does in its own way.
TEST(Query, NumbersAreThoseOfTTreeFormula) {
  EXPECT_EQ(values("1/2"), "0.5/0.5/0.5/0.5/0.5");
  EXPECT_EQ(values("x/n"), "0.5/0/1/4/2.5");
  EXPECT_EQ(values("sqrt(-4*x*x)"), "2/4/6/8/10");
  EXPECT_EQ(values("log(x-1)"), "0/0/0.693147/1.09861/1.38629");
  EXPECT_EQ(values("TMath::Sqrt(x*x) + TMath::Pi()*0"), "1/2/3/4/5");
  EXPECT_EQ(values("min(x,3)+max(x,3)+pow(x,2)"), "5/5/15/23/33");
  EXPECT_EQ(values("017+0x10"), "33/33/33/33/33");
  EXPECT_EQ(values("int(x/2)"), "0/-1/1/2/2");
}

TEST(Query, ListsGoItemByItem) {
  EXPECT_EQ(values("pt"), "10 20//30 40 50/60/70 80");
  EXPECT_EQ(values("pt*x"), "10 20//90 120 150/240/350 400");
  EXPECT_EQ(values("pt+other"), "11//33 44/65");  // the shortest
  EXPECT_EQ(values("pt[0]"), "10//30/60/70");
  EXPECT_EQ(values("pt[1]+n"), "22//43//82");
  EXPECT_EQ(values("pt-pt[0]"), "0 10//0 10 20/0/0 10");
  EXPECT_EQ(values("pt[n-1]"), "20/nan/50/60/80");
  EXPECT_EQ(values("1+(pt[n-1]>0)"), "2/nan/2/2/2");
  EXPECT_EQ(values("Sum$(pt[n-1])"), "20/nan/50/60/80");
  EXPECT_EQ(values("n>0 ? pt[n-1] : -1"), "20/-1/50/60/80");
  EXPECT_EQ(values("n==0 ? -1 : pt[n-1]"), "20/-1/50/60/80");
  EXPECT_EQ(values("n>2 ? pt[2.5] : -1"), "-1/-1/50/-1/-1");
  EXPECT_EQ(values("n==0 || pt[n-1]>50"), "0/1/0/1/1");
  EXPECT_EQ(values("n>0 && pt[n-1]>50"), "0/0/0/1/1");
  EXPECT_EQ(values("pt[n-1]>50 && n>0"), "0/nan/0/1/1");
  EXPECT_EQ(values("pt*(n>2 ? pt[n] : 1)"), "10 20//nan nan nan/60/70 80");
  EXPECT_EQ(values("pt>40 || pt[Iteration$+1]>0"), "1 nan//1 1 1/1/1 1");
  EXPECT_EQ(values("Alt$(x,pt[n])+Alt$(pt[n-1],-1)"), "21/nan/53/64/85");
  EXPECT_EQ(values("pt[Iteration$]+0*pt"), "10 20//30 40 50/60/70 80");
  EXPECT_EQ(values("a"), "1 2/3 4/5 6/7 8/9 10");
  EXPECT_EQ(values("a[1]"), "2/4/6/8/10");
  EXPECT_EQ(values("a[2]"), "index 2 is beyond the 2 elements of a");
  EXPECT_EQ(values("a*pt"), "10 40//150 240/420/630 800");
  EXPECT_EQ(values("Iteration$*100+Length$+0*pt"), "2 102//3 103 203/1/2 102");
}

TEST(Query, ListsOfLists) {
  EXPECT_EQ(values("deep"), "1 2 3////4");
  EXPECT_EQ(values("deep[1]"), "2 3");
  EXPECT_EQ(values("deep[0]"), "1////4");
  EXPECT_EQ(values("deep[][1]"), "3");
  EXPECT_EQ(values("deep[1][1]"), "3");
  EXPECT_EQ(values("deep+pt"), "11 22 23////74");
  EXPECT_EQ(values("Length$(deep)"), "3/0/0/0/1");
  EXPECT_EQ(values("@deep.size()"), "2/0/1/0/1");
}

// Five entries, of which some columns have three, and some none.
std::shared_ptr<ArrayTable> uneven_sample() {
  auto table = std::make_shared<ArrayTable>();
  table->entries = 5;
  table->column<float>(0, "x.f4", Role::values, {1, 2, 3, 4, 5});
  table->column<float>(0, "s.f4", Role::values, {1, 2, 3});
  table->column<float>(0, "none.f4", Role::values, {});
  table->column<std::int16_t>(0, "a.i2x2", Role::values, {1, 2, 3, 4, 5, 6}, {2});
  const NodeId v = table->directory(0, "v");
  table->column<std::int64_t>(v, "offsets.i8", Role::offsets, {0, 2, 2, 3});
  table->column<double>(v, "values.f8", Role::values, {10, 20, 30});
  const NodeId nowhere = table->directory(0, "nowhere");
  table->column<std::int64_t>(nowhere, "offsets.i8", Role::offsets, {});
  table->column<double>(nowhere, "values.f8", Role::values, {});
  table->string(0, "name", {"one", "two"});
  return table;
}

TEST(Query, ColumnsThatAreShorterEnd) {
  const auto found = [](const std::string& expression) { return values(expression, {}, uneven_sample()); };
  EXPECT_EQ(found("s"), "1/2/3");
  EXPECT_EQ(found("x+s"), "2/4/6");
  EXPECT_EQ(found("none+x"), "");
  EXPECT_EQ(found("a"), "1 2/3 4/5 6");
  EXPECT_EQ(found("a[1]+x"), "3/6/9");
  EXPECT_EQ(found("a[x-1]"), "1/4/nan");
  EXPECT_EQ(found("v"), "10 20//30");
  EXPECT_EQ(found("v+x"), "11 21//33");
  EXPECT_EQ(found("nowhere"), "");
  EXPECT_EQ(found("Sum$(v)"), "30/0/30/0/0");
  EXPECT_EQ(found("Length$(v)+Length$(nowhere)"), "2/0/1/0/0");
  EXPECT_EQ(found("Sum$(s)+x"), "2/4/6/4/5");
  EXPECT_EQ(found("Alt$(s,-1)"), "1/2/3/-1/-1");
  EXPECT_EQ(found("Alt$(none,x)"), "1/2/3/4/5");
  EXPECT_EQ(found("x*(name==\"two\")"), "0/2");
  EXPECT_EQ(found("Entry$"), "0/1/2/3/4");
}

TEST(Query, SumsOfEntries) {
  EXPECT_EQ(values("Sum$(pt)"), "30/0/120/60/150");
  EXPECT_EQ(values("Sum$(pt*(pt>20))"), "0/0/120/60/150");
  EXPECT_EQ(values("Min$(pt)+Max$(pt)"), "30/0/80/120/150");
  EXPECT_EQ(values("MinIf$(pt,pt>10)"), "20/0/30/60/70");
  EXPECT_EQ(values("MaxIf$(pt,pt<50)"), "20/0/40/0/0");
  EXPECT_EQ(values("Length$(pt)"), "2/0/3/1/2");
  EXPECT_EQ(values("pt/Sum$(pt)"), "0.333333 0.666667//0.25 0.333333 0.416667/1/0.466667 0.533333");
  EXPECT_EQ(values("Alt$(pt[1],-1)"), "20/-1/40/-1/80");
  EXPECT_EQ(values("pt+Alt$(other,0)"), "11 20//33 44 50/65/70 80");
  EXPECT_EQ(values("Sum$(Sum$(pt)*other)"), "30/0/840/660/0");
}

// Alone it has one iteration, so beside lists it has its first number in all of them.
TEST(Query, NumbersWithoutAListAreThoseOfTheEntry) {
  EXPECT_EQ(values_together({"pt", "Alt$(other,0)"}), "1 1//3 3 3/5/0 0");
  EXPECT_EQ(values_together({"pt", "Alt$(pt[1],-1)+n"}), "22 22//43 43 43/0/82 82");
  EXPECT_EQ(values_together({"pt", "Alt$(pt,0)*(name!=\"three\")"}), "10 10//0 0 0/60/70 70");
  EXPECT_EQ(values_together({"pt", "Alt$(other,0)+Iteration$"}), "1 1//3 5 2/5/0 1");
  EXPECT_EQ(values_together({"pt", "Alt$(other,0)*a[1]"}), "2 0//18 24 0/40/0 0");
  EXPECT_EQ(values_together({"pt", "Sum$(Alt$(other,0)+0*pt)"}), "1 1//7 7 7/5/0 0");
}

TEST(Query, Texts) {
  EXPECT_EQ(values("name==\"two\""), "0/1/0/1/0");
  EXPECT_EQ(values("name!=\"two\" && x>1"), "0/0/1/0/1");
  EXPECT_EQ(values("strstr(name,\"o\")"), "1/1/0/1/0");
  EXPECT_EQ(values("name==name"), "1/1/1/1/1");
  EXPECT_EQ(values("pt*(name==\"three\")"), "0 0//30 40 50/0/0 0");
}

TEST(Query, Definitions) {
  EXPECT_EQ(values("twice+1", {{"twice", "2*x"}}), "3/-3/7/9/11");
  EXPECT_EQ(values("b", {{"a2", "x*x"}, {"b", "a2+pt"}}), "11 21//39 49 59/76/95 105");
  EXPECT_EQ(values("x", {{"x", "x*10"}}), "10/-20/30/40/50");
  EXPECT_EQ(values("p", {{"p", "q"}, {"q", "p"}}), "in the definition of q: p is defined by itself");
  EXPECT_EQ(values("x", {{"x", "n+1"}, {"n", "x+1"}}), "in the definition of n: x is defined by itself");
  EXPECT_EQ(values("p", {{"p", "1+"}}), "in the definition of p: the end: expected a number, a name or a parenthesis");
}

// Branches may have any name.
TEST(Query, NamesInQuotes) {
  const auto odd = [] {
    auto table = std::make_shared<ArrayTable>();
    table->entries = 2;
    for (const char* name : {"a b", "1st", "x+y", "x", "d[2]", "pi", "a@b", "t`k"})
      table->column<std::int32_t>(0, std::string(name) + ".i4", Role::values, {7, static_cast<std::int32_t>(name[0])});
    const NodeId list = table->directory(0, "my list");
    table->column<std::int64_t>(list, "offsets.i8", Role::offsets, {0, 2, 3});
    table->column<double>(list, "values.f8", Role::values, {1, 2, 3});
    return table;
  };
  const auto found = [&](const std::string& expression) { return values(expression, {{"y", "`a b`"}}, odd()); };
  EXPECT_EQ(found("`a b`"), "7/97");
  EXPECT_EQ(found("`x+y`+`1st`-x"), "7/49");
  EXPECT_EQ(found("`d[2]`"), "7/100");
  EXPECT_EQ(found("`pi`+`a@b`-y"), "7/112");
  EXPECT_EQ(found("`t``k`"), "7/116");
  EXPECT_EQ(found("`my list`[0]+Sum$(`my list`)"), "4/6");
  EXPECT_EQ(found("@`my list`.size()"), "2/1");
  EXPECT_EQ(found("`a c`"), "there is no `a c`; did you mean `a b`?");
  EXPECT_EQ(found("lst"), "there is no lst; did you mean `1st`?");
  EXPECT_EQ(found("x+`a b"), "expected '`' at its end");
}

TEST(Query, NamesAreWords) {
  for (const char* name : {"x", "_x1", "Muon_pt"}) EXPECT_TRUE(is_query_name(name)) << name;
  for (const char* other : {"", "1x", "d*2", "v[0]", "x y", "a.b"}) EXPECT_FALSE(is_query_name(other)) << other;
}

TEST(ScanThreads, UnitsFitIntoTheirCache) {
  constexpr std::uint64_t kLeast = 64 << 20;
  for (const unsigned threads : {1u, 2u, 16u, 100u}) {
    for (const std::uint64_t memory : {kLeast, 4 * kLeast, 100 * kLeast}) {
      ScanThreads scan(threads, memory);
      EXPECT_LE(scan.units_at_once() * scan.unit_bytes(), memory / 4 * 3);
      EXPECT_GE(scan.unit_bytes(), 1u << 20);
      EXPECT_GE(scan.units_at_once(), 3u);
    }
  }
}

TEST(QueryUnits, AreMadeOneByOne) {
  TableRig rig(sample());
  rig.table->entries = std::int64_t{1} << 55;
  QueryUnits units(*rig.table, {10, rig.table->entries});
  std::int64_t at = 10;
  for (int i = 0; i < 100; ++i) {
    const auto unit = units.next();
    ASSERT_TRUE(unit);
    EXPECT_EQ(unit->begin, at);
    at = unit->end;
  }
  QueryUnits few(*rig.table, {1, 4});
  EXPECT_EQ(few.next(), (tfile::EntryRange{1, 4}));
  EXPECT_EQ(few.share(), 1);
  EXPECT_FALSE(few.next());
}

// More entries than a block has, with lists of any lengths.
TEST(Query, ListsOfManyEntries) {
  std::mt19937 random(5);
  const auto table = std::make_shared<ArrayTable>();
  std::vector<std::int64_t> ends{0}, other_ends{0};
  std::vector<double> sums, firsts, together;
  std::vector<float> pt, other;
  for (table->entries = 0; table->entries < 5000; ++table->entries) {
    const auto add = [&](std::vector<std::int64_t>& to, std::vector<float>& numbers) {
      to.push_back(to.back() + static_cast<std::int64_t>(random() % 9 < 7 ? random() % 3 : random() % 12));
      while (static_cast<std::int64_t>(numbers.size()) < to.back())
        numbers.push_back(static_cast<float>(random() % 100));
      return std::span(numbers).subspan(static_cast<std::size_t>(to[to.size() - 2]));
    };
    const auto own = add(ends, pt), beside = add(other_ends, other);
    sums.push_back(std::accumulate(own.begin(), own.end(), 0.0));
    if (own.size() > 1) firsts.push_back(own[1]);
    for (std::size_t i = 0; i < std::min(own.size(), beside.size()); ++i) together.push_back(own[i] - beside[i]);
  }
  const auto list = [&](const char* name, std::vector<std::int64_t> offsets, std::vector<float> numbers) {
    const NodeId node = table->directory(0, name);
    table->column<std::int64_t>(node, "offsets.i8", Role::offsets, std::move(offsets));
    table->column<float>(node, "values.f4", Role::values, std::move(numbers));
  };
  list("pt", ends, pt);
  list("other", other_ends, other);
  TableRig rig(table);
  const QuerySource source{*rig.table, *rig.streams};
  const auto expect = [&](const std::string& expression, const std::vector<double>& expected) {
    const auto query = Query::bind(std::vector{expression}, QueryScope{TableNames(*rig.table)});
    ASSERT_TRUE(query);
    std::vector<double> found;
    ASSERT_TRUE(evaluate_unit(source, *query, {0, 5000}, {}, [&](const QueryBlock& block, tfile::EntryRange) {
      found.insert(found.end(), block.values(0).begin(), block.values(0).end());
      return Result<>();
    }));
    EXPECT_EQ(found, expected) << expression;
  };
  expect("Sum$(pt)", sums);
  expect("pt", {pt.begin(), pt.end()});
  expect("pt[1]", firsts);
  expect("pt-other", together);
}

TEST(Query, ErrorsSayWhereAndWhatIsLikeIt) {
  const auto error = [](const std::string& expression) {
    TableRig rig(sample());
    const auto query = Query::bind(expression, {}, QueryScope{TableNames(*rig.table)});
    return query ? "" : query.error().text;
  };
  EXPECT_EQ(error("2*(x+weigh)"), "there is no weigh; did you mean weight?\n  2*(x+weigh)\n       ^\n");
  EXPECT_EQ(error("x+"), "expected a number, a name or a parenthesis\n  x+\n    ^\n");
  EXPECT_EQ(error("sqrtt(x)").substr(0, 70), "unknown function, or wrong number of arguments; did you mean sqrt?\n  s");
  EXPECT_EQ(error("x:y").substr(0, 10), "there is n");
  EXPECT_EQ(error("x[0]").substr(0, 12), "x is no list");
  EXPECT_EQ(error("name+1").substr(0, 14), "name is a text");
  EXPECT_EQ(error("name==1").substr(0, 18), "a text is compared");
  EXPECT_EQ(error("event"), "event is a record: name one of its columns\n  event\n  ^\n");
}

TEST(Query, EntriesPassByAnyIteration) {
  TableRig rig(sample());
  const auto query = Query::bind(std::vector<std::string>{"pt>20"}, QueryScope{TableNames(*rig.table)});
  ASSERT_TRUE(query);
  std::vector<std::uint64_t> bits;
  const QuerySource source{*rig.table, *rig.streams};
  ASSERT_TRUE(evaluate_unit(source, *query, {0, 5}, {}, [&](const QueryBlock& block, tfile::EntryRange) {
    bits = block.passing(0);
    return Result<>();
  }));
  EXPECT_EQ(bits, std::vector<std::uint64_t>{0b11100});
}

// In a cut, an index that is none of the list is 0: NaN would pass.
TEST(Query, CutsWithoutANumberDoNotPass) {
  TableRig rig(sample());
  for (const auto& [cut, passing] : {std::pair("pt[n-1]>20", 0b11100), {"!(pt[n-1]>20)", 0b1}, {"x+(pt[n]>0)", 0}}) {
    const auto query = Query::bind_cut(cut, QueryScope{TableNames(*rig.table)});
    ASSERT_TRUE(query);
    std::vector<std::uint64_t> bits;
    const QuerySource source{*rig.table, *rig.streams};
    ASSERT_TRUE(evaluate_unit(source, *query, {0, 5}, {}, [&](const QueryBlock& block, tfile::EntryRange) {
      bits = block.passing(0);
      return Result<>();
    }));
    EXPECT_EQ(bits, std::vector{static_cast<std::uint64_t>(passing)}) << cut;
  }
}

TEST(Query, WorkIsGivenUp) {
  TableRig rig(sample());
  const auto query = Query::bind(std::vector<std::string>{"x"}, QueryScope{TableNames(*rig.table)});
  std::stop_source stop;
  stop.request_stop();
  const QuerySource source{*rig.table, *rig.streams};
  const auto done = evaluate_unit(source, *query, {0, 5}, stop.get_token(),
                                  [](const QueryBlock&, tfile::EntryRange) { return Result<>(); });
  EXPECT_EQ(done.error().system_errno, ECANCELED);
}

// Three entries: one of many items, in a list and as the only list of a list of lists.
std::shared_ptr<ArrayTable> with_long_entry(std::size_t size) {
  auto table = std::make_shared<ArrayTable>(1'000);
  table->entries = 3;
  table->column<std::int32_t>(0, "n.i4", Role::values, {2, static_cast<std::int32_t>(size), 3});
  std::vector<float> numbers(size + 5);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7 % 101) - 40;
  const auto end = static_cast<std::int64_t>(size);
  const auto list = [&](NodeId in, const char* name, std::vector<std::int64_t> ends) {
    const NodeId node = table->directory(in, name);
    table->column<std::int64_t>(node, "offsets.i8", Role::offsets, std::move(ends));
    table->column<float>(node, "values.f4", Role::values, numbers);
  };
  list(0, "w", {0, 2, end + 2, end + 5});
  list(0, "v", {1, 3, end / 3, end / 3 + 1});
  const NodeId deep = table->directory(0, "deep");
  table->column<std::int64_t>(deep, "offsets.i8", Role::offsets, {0, 1, 2, 3});
  list(deep, "values", {0, 2, end + 2, end + 5});
  return table;
}

// What `take` gets of all entries.
Result<std::vector<double>> evaluated(const TableRig& rig, const std::string& expression, const QuerySource& source,
                                      std::size_t* largest) {
  const auto query = Query::bind(std::vector{expression}, QueryScope{TableNames(*rig.table)});
  if (!query) return tl::unexpected<Error>(query.error());
  std::vector<double> found;
  const tfile::EntryRange all{0, rig.table->entries};
  TRY_VOID(evaluate_unit(source, *query, all, {}, [&](const QueryBlock& block, tfile::EntryRange) -> Result<> {
    *largest = std::max(*largest, block.iterations());
    found.insert(found.end(), block.values(0).begin(), block.values(0).end());
    return {};
  }));
  return found;
}

TEST(Query, LongEntriesAreEvaluatedInPieces) {
  constexpr std::size_t kSize = 80'000;
  TableRig rig(with_long_entry(kSize));
  const QuerySource source{*rig.table, *rig.streams, true};
  const std::vector<std::string> expressions = {"LIST",
                                                "LIST*2+Iteration$",
                                                "n+Length$*0+LIST",
                                                "Sum$(LIST)",
                                                "Sum$(LIST)+Sum$(LIST*LIST)",
                                                "Max$(LIST*Iteration$)-Min$(LIST-Iteration$)",
                                                "MinIf$(LIST,Iteration$>n-9)+MaxIf$(LIST,LIST<Iteration$-n)",
                                                "LIST/Sum$(LIST>Max$(LIST)/2)",
                                                "Sum$(LIST*(Length$-Iteration$)+Sum$(LIST))",
                                                "Length$(LIST)+Length$(LIST*2)",
                                                "Alt$(v,7)+LIST",
                                                "Sum$(Alt$(v,LIST)*LIST)",
                                                "Alt$(LIST,-1)+n",
                                                "LIST>0 ? LIST+Sum$(v) : sqrt(n)",
                                                "pow(LIST,2)+TMath::Gaus(LIST,n,3,0)"};
  for (const std::string& each : expressions) {
    const auto of = [&](const std::string& name, std::size_t* largest) {
      std::string text = each;
      for (std::size_t at = 0; (at = text.find("LIST")) != text.npos;) text.replace(at, 4, name);
      return evaluated(rig, text, source, largest);
    };
    std::size_t whole = 0, largest = 0;
    const auto expected = of("deep", &whole), found = of("w", &largest);
    ASSERT_TRUE(expected) << expected.error().text;
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_LT(largest, kSize / 5);
    const bool is_same = std::ranges::equal(
        *found, *expected, [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
    EXPECT_TRUE(is_same) << each << ": " << found->size() << " of " << expected->size();
  }
  std::size_t largest = 0;
  const auto backwards = evaluated(rig, "w-w[n-1-Iteration$]", source, &largest);
  ASSERT_TRUE(backwards) << backwards.error().text;
  EXPECT_EQ(std::accumulate(backwards->begin(), backwards->end(), 0.0), 0);
  EXPECT_LT(largest, kSize / 5);
}

TEST(Query, MemoryOfAnEntryIsBounded) {
  TableRig rig(with_long_entry(300'000));
  rig.table->name = "t";
  const auto budget = std::make_shared<Budget>(16 << 20);
  const QuerySource source{*rig.table, *rig.streams, true, kSharedUnitBytesMax, BlockMemory::of(budget)};
  const auto error = [&](const std::string& expression) {
    std::size_t largest = 0;
    const auto made = evaluated(rig, expression, source, &largest);
    return made ? Error{} : made.error();
  };
  std::string sums = "0";
  for (int i = 0; i < 100; ++i) sums += "+Sum$(w)";
  EXPECT_EQ(error(sums).text, "");
  EXPECT_EQ(error("deep").text, "t, entry 1: too large: more than 8 MB needed at once");
  EXPECT_TRUE(is_refusal(error("deep")));
  EXPECT_EQ(budget->used(), 0u);
}

TEST(Query, WorkInALongEntryIsGivenUp) {
  TableRig rig(with_long_entry(80'000));
  const QuerySource source{*rig.table, *rig.streams, true};
  const auto query = Query::bind(std::vector<std::string>{"w"}, QueryScope{TableNames(*rig.table)});
  std::stop_source stop;
  std::size_t pieces = 0;
  const auto done = evaluate_unit(source, *query, {1, 2}, stop.get_token(), [&](const QueryBlock&, tfile::EntryRange) {
    stop.request_stop();
    ++pieces;
    return Result<>();
  });
  EXPECT_EQ(done.error().system_errno, ECANCELED);
  EXPECT_EQ(pieces, 1u);
}

TEST(Query, LongEntriesPassByAnyPiece) {
  TableRig rig(with_long_entry(80'000));
  const auto query = Query::bind_cut("w>-100 && Iteration$==70000", QueryScope{TableNames(*rig.table)});
  ASSERT_TRUE(query);
  const QuerySource source{*rig.table, *rig.streams, true};
  ScanThreads threads(1, 64 << 20);
  std::vector<std::int64_t> found;
  ASSERT_TRUE(scan_passing(source, *query, {{0, 3}}, threads, [&](const PassingEntries& passing) -> Result<> {
    for (std::int64_t i = 0; i < passing.block.size(); ++i) {
      if (passing.bits[static_cast<std::size_t>(i / 64)] >> i % 64 & 1) found.push_back(passing.block.begin + i);
    }
    return {};
  }));
  EXPECT_EQ(found, std::vector<std::int64_t>{1});
}

TEST(Query, AnyTextIsBoundOrRefused) {
  TableRig rig(sample());
  const QueryScope scope{TableNames(*rig.table), {{"d", "pt*x"}}};
  const QuerySource source{*rig.table, *rig.streams};
  const std::vector<std::string> words = {"x",        "pt",      "other", "deep",  "name", "a", "d",   "Sum$(",
                                          "Alt$(",    "MaxIf$(", "(",     ")",     "[",    "]", "[]",  ",",
                                          "+",        "-",       "*",     "/",     "==",   "<", "&&",  "?",
                                          ":",        "\"one\"", "`x`",   "`a b`", "0",    "1", "2.5", "Iteration$",
                                          "Length$(", "sqrt(",   "!",     "%",     "<<"};
  std::mt19937 random(7);
  std::size_t taken = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (std::size_t n = 1 + random() % 9; n-- > 0;) text += words[random() % words.size()];
    const auto query = Query::bind(text, {}, scope);
    if (!query) continue;
    ++taken;
    if (taken % 4 != 0) continue;
    EXPECT_TRUE(evaluate_unit(source, *query, {0, 5}, {}, [](const QueryBlock&, tfile::EntryRange) {
      return Result<>();
    })) << text;
  }
  EXPECT_GT(taken, 300u);
}

// Each is bound and evaluated, or refused.
TEST(Query, MonstersEnd) {
  auto table = std::make_shared<ArrayTable>();
  table->entries = 1;
  constexpr std::size_t kSide = 3000;
  table->column<std::uint8_t>(0, "large.u1x3000x3000", Role::values, std::vector<std::uint8_t>(kSide * kSide),
                              {kSide, kSide});
  for (int i = 0; i < 12'000; ++i)
    table->column<std::int32_t>(0, "column_" + std::to_string(i) + ".i4", Role::values, {i});
  const auto repeated = [](const std::string& text, std::size_t times) {
    std::string all;
    while (times-- > 0) all += text;
    return all;
  };
  const auto found = [&](const std::string& expression) { return values(expression, {}, table); };
  std::string sum = "column_0";
  for (int i = 1; i < 3000; ++i) sum += "+column_" + std::to_string(4 * i);
  EXPECT_EQ(found(sum), shown(4.0 * 3000 * 2999 / 2));
  EXPECT_EQ(found(repeated("column_11999+", 7600) + "1"), "too long");
  EXPECT_EQ(found(std::string(90'000, 'x')), "there is no " + std::string(100, 'x') + "...");
  EXPECT_TRUE(found("column_12000").ends_with("did you mean column_1000?"));
  EXPECT_TRUE(found(std::string(90'000, 'f') + "(1)").starts_with("unknown function"));
  EXPECT_TRUE(found("`" + std::string(90'000, 'x')).starts_with("expected '`'"));
  EXPECT_TRUE(found("large").ends_with("entry 0: too large: more than 64 MB needed at once"));
  EXPECT_TRUE(found("Sum$(large)").ends_with("entry 0: too large: more than 64 MB needed at once"));
  EXPECT_EQ(found("Sum$(large[0])"), "0");
  EXPECT_TRUE(found(repeated("Sum$(", 90) + "large[0]" + repeated(")", 90)).ends_with("0"));
  EXPECT_TRUE(found(repeated("large[0][", 150) + "0" + repeated("]", 150)).ends_with("too deeply nested"));
  EXPECT_EQ(found("2^2^2^2^2^2^2"), "inf");
  EXPECT_EQ(found("1e400"), "not a number");
  EXPECT_EQ(found("large[1e300][0]+0"), "nan");
}

TEST(Query, BindingIsGivenUp) {
  TableRig rig(sample());
  std::stop_source stop;
  stop.request_stop();
  const auto query = Query::bind_cut("x>0", QueryScope{TableNames(*rig.table), {}, true, stop.get_token()});
  ASSERT_FALSE(query);
  EXPECT_TRUE(is_cancelled(query.error()));
}

TEST(Query, DepthAndLengthAreBounded) {
  const auto failed = [](const std::string& text) { return values(text).ends_with("too deeply nested"); };
  EXPECT_TRUE(failed(std::string(100'000, '(')));
  EXPECT_TRUE(failed(std::string(90'000, '-') + "x"));
  Definitions doubling{{"d0", "x"}};
  for (int i = 1; i < 30; ++i) {
    const std::string before = "d" + std::to_string(i - 1);
    doubling.emplace_back("d" + std::to_string(i), before + "+" + before);
  }
  EXPECT_TRUE(values("d29", doubling).ends_with("too long"));
}

}  // namespace
}  // namespace tfilefs
