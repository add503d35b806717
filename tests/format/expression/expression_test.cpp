// SPDX-License-Identifier: Apache-2.0
#include "tfile/expression.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tfile {
namespace {

using Kind = ExpressionNode::Kind;

constexpr ExpressionForm kForm{100, 1000};

// What stands in brackets belongs to the name or operator before it.
std::string shown(const std::vector<ExpressionNode>& nodes, std::size_t i) {
  constexpr const char* kMarks[] = {"", "", "$", "", "()", "[]", "each", "", "\""};
  const ExpressionNode& node = nodes[i];
  std::string operands;
  std::size_t end = i;
  for (std::uint32_t n = 0; n < node.operands; ++n) {
    operands = shown(nodes, end - 1) + (operands.empty() ? "" : " ") + operands;
    end -= nodes[end - 1].size;
  }
  EXPECT_EQ(end + node.size, i + 1);
  const std::string text = std::string(node.text) + kMarks[static_cast<std::size_t>(node.kind)];
  return operands.empty() ? text : text + "{" + operands + "}";
}
std::string parsed(std::string_view text, const ExpressionForm& form = kForm) {
  const auto nodes = parse_expression(text, form);
  if (!nodes) {
    EXPECT_EQ(nodes.error().kind, ErrorKind::unsupported);
    return nodes.error().text;
  }
  EXPECT_EQ(nodes->back().size, nodes->size());
  return shown(*nodes, nodes->size() - 1);
}

TEST(Expression, OperatorsBindAsInCpp) {
  EXPECT_EQ(parsed("a||b&&c|d&e==f<g<<h+i*j"), "||{a &&{b |{c &{d =={e <{f <<{g +{h *{i j}}}}}}}}}");
  EXPECT_EQ(parsed("a-b-c"), "-{-{a b} c}");
  EXPECT_EQ(parsed("(a-(b-c))*d"), "*{-{a -{b c}} d}");
  EXPECT_EQ(parsed("a>=b!=c<=d"), "!={>={a b} <={c d}}");
  EXPECT_EQ(parsed("a ? b : c ? d : e"), "?{a b ?{c d e}}");
  EXPECT_EQ(parsed("a||b ? c : d"), "?{||{a b} c d}");
  EXPECT_EQ(parsed("!a&&~b>>+c"), "&&{!{a} >>{~{b} +{c}}}");
}

TEST(Expression, ThePowerIsThatOfTFormula) {
  EXPECT_EQ(parsed("-a^b**-c"), "-{^{a **{b -{c}}}}");
  EXPECT_EQ(parsed("a*b^c"), "*{a ^{b c}}");
}

TEST(Expression, ColumnsOfTables) {
  EXPECT_EQ(parsed("muons.pt[0] > 20e3 && Length$(muons.pt)>1"), "&&{>{muons.pt[]{0} 20e3} >{Length$(){muons.pt} 1}}");
  EXPECT_EQ(parsed("Sum$(pt[Iteration$][]*(eta<2.5))"), "Sum$(){*{pt[]{Iteration$ each} <{eta 2.5}}}");
  EXPECT_EQ(parsed("@muons.size()-tracks[i+1].p4.Pt()"), "-{@muons.size() .p4.Pt(){tracks[]{+{i 1}}}}");
  EXPECT_EQ(parsed("f(a, b)[1]"), "byte 8, [: not part of an expression");
  EXPECT_EQ(parsed("hits[2].x[1].y"), ".y{.x[]{hits[]{2} 1}}");
  EXPECT_EQ(parsed("MinIf$(a, b)"), "MinIf$(){a b}");
}

TEST(Expression, NamesNumbersAndParameters) {
  EXPECT_EQ(parsed("::TMath::Pi()*[Mean value]+[0]"), "+{*{::TMath::Pi() Mean value$} 0$}");
  EXPECT_EQ(parsed("0x1e+5-1.5e-3*.5"), "-{+{0x1e 5} *{1.5e-3 .5}}");
  EXPECT_EQ(parsed("a?b::c:d"), "?{a b::c d}");
  EXPECT_EQ(parsed("a:b+1", {100, 1000, true}), "+{a:b 1}");
  EXPECT_EQ(parsed("1e+"), "1e+");  // is no number, as what evaluates it finds
}

TEST(Expression, Texts) {
  ExpressionForm form = kForm;
  form.has_texts = true;
  EXPECT_EQ(parsed("name==\"a b\"||f(\"\")", form), "||{=={name a b\"} f(){\"}}");
  EXPECT_EQ(parsed("name==\"a", form), "byte 7, \": expected '\"' at its end");
  EXPECT_EQ(parsed("\"a\""), "byte 1, \": expected a number, a name or a parenthesis");
}

TEST(Expression, QuotedNames) {
  ExpressionForm form = kForm;
  form.has_quotes = true;
  EXPECT_EQ(parsed("`a b`*`1st`[0].`x+y`", form), "*{`a b` .`x+y`{`1st`[]{0}}}");
  EXPECT_EQ(parsed("muons.`p t`>@`a``b`.size()", form), ">{muons.`p t` @`a``b`.size()}");
  EXPECT_EQ(parsed("x+`a", form), "byte 3, `: expected '`' at its end");
  EXPECT_EQ(parsed("`a```", form), "`a```");
  EXPECT_EQ(parsed("`a`"), "byte 1, `: expected a number, a name or a parenthesis");
  for (const char* name : {"a b", "1st", "x+y", "a`b", "`", "x[3]", "a@b"}) {
    EXPECT_NE(quoted_name(name), name);
    EXPECT_EQ(unquoted_name(quoted_name(name)), name);
    EXPECT_EQ(parsed(quoted_name(name), form), quoted_name(name));
  }
  for (const char* name : {"x", "event.pt", "_1", "Entry$"}) EXPECT_EQ(quoted_name(name), name);
  EXPECT_EQ(unquoted_name("a.`b c`.d"), "a.b c.d");
}

TEST(Expression, SeveralWithColonsBetween) {
  const auto several = parse_expressions("a ? b : c : x::y:f(z)", kForm);
  ASSERT_TRUE(several);
  ASSERT_EQ(several->size(), 3u);
  EXPECT_EQ(shown((*several)[0], (*several)[0].size() - 1), "?{a b c}");
  EXPECT_EQ(shown((*several)[1], (*several)[1].size() - 1), "x::y");
  EXPECT_EQ((*several)[2].back().at, 17u);
  const auto wrong = parse_expressions("a:b:", kForm);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().offset, 4);
}

TEST(Expression, ErrorsSayWhere) {
  EXPECT_EQ(parsed("a+"), "the end: expected a number, a name or a parenthesis");
  EXPECT_EQ(parsed(""), "the end: expected a number, a name or a parenthesis");
  EXPECT_EQ(parsed("a + *b"), "byte 5, *: expected a number, a name or a parenthesis");
  EXPECT_EQ(parsed("(a"), "the end: expected ')'");
  EXPECT_EQ(parsed("f(a;b)"), "byte 4, ;: expected ',' or ')'");
  EXPECT_EQ(parsed("f(a,)"), "byte 5, ): expected a number, a name or a parenthesis");
  EXPECT_EQ(parsed("a[1"), "the end: expected ']'");
  EXPECT_EQ(parsed("[1"), "byte 2, 1: expected ']'");
  EXPECT_EQ(parsed("a?b"), "the end: expected ':'");
  EXPECT_EQ(parsed("a b"), "byte 3, b: not part of an expression");
  EXPECT_EQ(parsed("a)"), "byte 2, ): not part of an expression");
}

TEST(Expression, DepthAndSizeAreBounded) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "x" + std::string(depth, ')'); };
  EXPECT_EQ(parsed(nested(49)), "x");
  EXPECT_EQ(parsed(nested(50)), "byte 51, x: too deeply nested");
  for (const char* open : {"(", "-", "x^", "x?", "f(", "x[", "x?x:"}) {
    std::string text;
    while (text.size() < 1'000'000) text += open;
    EXPECT_TRUE(parsed(text, {514, 200'000}).ends_with("too deeply nested")) << open;
  }
  std::string sum = "1";
  for (int i = 1; i < 500; ++i) sum += "+1";
  EXPECT_TRUE(parse_expression(sum, kForm));
  EXPECT_TRUE(parsed(sum + "+1").ends_with("too long"));
}

TEST(Expression, AnyTextIsParsedOrRefused) {
  std::mt19937 random(5);
  const std::string letters = "ab10.()[]+-*/%^<>=!&|?:~@$, ";
  std::size_t taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n-- > 0;) text += letters[random() % letters.size()];
    const auto nodes = parse_expression(text, kForm);
    if (!nodes) continue;
    static_cast<void>(shown(*nodes, nodes->size() - 1));
    EXPECT_EQ(nodes->back().size, nodes->size()) << text;
    ++taken;
  }
  EXPECT_GT(taken, 1000u);
}

}  // namespace
}  // namespace tfile
