// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plot/plot_scale.h"
#include "plot/tlatex.h"
#include "plot/tlatex_layout.h"
#include "query/pictures.h"
#include "view/csv.h"
#include "view/index_page.h"

namespace tfilefs {
namespace {

std::string tlatex(std::string_view text) {
  std::string svg;
  append_tlatex(svg, text, {});
  return svg;
}

// All pieces, in the order of the text.
std::vector<TextPiece> pieces_of(std::string_view text) {
  std::vector<TextPiece> all;
  for (const LetterRun& run : lay_out_tlatex(text).runs) all.insert(all.end(), run.pieces.begin(), run.pieces.end());
  return all;
}

// The text as read, one piece of letters after the other.
std::string letters(std::string_view text) {
  std::string all;
  for (const TextPiece& piece : pieces_of(text)) all += piece.escaped + "|";
  return all;
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++count;
  return count;
}

TEST(TLatex, SignsAndLevels) {
  EXPECT_EQ(letters("#mu#pi"), "μπ|");
  EXPECT_EQ(letters("#it{E} #font[42]{GeV}"), "E| GeV|");
  const auto momentum = pieces_of("p_{T}");
  ASSERT_EQ(momentum.size(), 2u);
  EXPECT_GT(momentum[1].y, 0);  // below the line, and smaller
  EXPECT_LT(momentum[1].size, momentum[0].size);
  EXPECT_LT(pieces_of("c^{2}")[1].y, 0);
}

// The widths of the font are not known: what goes on in a line has no place of its own.
TEST(TLatex, LettersFollowEachOther) {
  for (const char* text : {"10^{4}", "p_{T} [GeV/c^{2}]", "#nu_{#mu} #rightarrow #nu_{e}", "m_{#mu#mu}^{2} #bf{x} y",
                           "e^{x^{2}_{i}}", "1.5#times10^{-7}", "#it{E}_{T}^{miss}", "#lower[0.2]{a}#kern[0.1]{b}c",
                           "#scale[0.8]{a^{b}}c", "{a}_{b}{c}", "_{a}^{b}x", "#int f(x)"}) {
    EXPECT_TRUE(lay_out_tlatex(text).is_one_run()) << text;
    const std::string svg = tlatex(text);
    EXPECT_EQ(count_of(svg, "<text "), 1u) << svg;
    EXPECT_EQ(count_of(svg, " x=\"") + count_of(svg, " y=\""), 2u) << "of the run alone: " << svg;
    std::string centred;
    append_tlatex(centred, text, {100, 50, 16, "", TextAnchor::middle});
    EXPECT_NE(centred.find(R"( x="100" y="50" text-anchor="middle")"), centred.npos) << centred;
  }
}

// Each is set toward what has a place of its own.
TEST(TLatex, LettersBesideAFractionKeepToIt) {
  const TextLayout layout = lay_out_tlatex("a = #frac{b}{c} + d_{e} #sqrt{f}");
  ASSERT_EQ(layout.runs.size(), 5u);
  const auto& [before, upper, lower, between, inner] =
      std::tie(layout.runs[0], layout.runs[1], layout.runs[2], layout.runs[3], layout.runs[4]);
  EXPECT_TRUE(before.bound_right && !before.bound_left);
  EXPECT_TRUE(between.bound_right && between.bound_left);
  for (const LetterRun* part : {&upper, &lower, &inner}) EXPECT_TRUE(part->bound_left && part->bound_right);
  EXPECT_GE(layout.strokes[0].points[0].first, before.x + before.width);
  EXPECT_GE(between.x, layout.strokes[0].points[1].first);
  EXPECT_GE(inner.x, between.x + between.width);
}

// Fonts from those that are somewhat narrower than Arial up to DejaVu Sans: what is behind begins where both end.
TEST(TLatex, NothingOverlapsAPowerOverAnIndex) {
  for (const char* text : {"X_{i}^{j}k", "E^{miss}_{T}k", "E_{T}^{miss}k", "a_{b}k", "a^{b}k"}) {
    const auto pieces = pieces_of(text);
    for (const double share : {0.85, 0.87, 0.95, 1.0}) {  // of the widths that are given
      double at = 0, reached = 0;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        at += pieces[i].dx;
        if (i + 1 == pieces.size() || i == 1) {
          EXPECT_GE(at, reached - 0.011) << text << ' ' << share;
        }
        at += text_width(pieces[i].escaped) * pieces[i].size * share;
        reached = std::max(reached, at);
      }
    }
  }
}

// The boxes of two strokes, with their round ends.
double gap_between(const TextStroke& left, const TextStroke& right) {
  double end = -1e9, begin = 1e9;
  for (const auto& [x, y] : left.points) end = std::max(end, x + left.width / 2);
  for (const auto& [x, y] : right.points) begin = std::min(begin, x - right.width / 2);
  return begin - end;
}
// From a stroke to the room of letters to its right, and from those to a stroke to their right.
double gap_behind(const TextStroke& stroke, const LetterRun& run) {
  return gap_between(stroke, {{{run.x + std::min(run.pieces.at(0).dx, 0.0), 0}}, 0});
}
double gap_before(const LetterRun& run, const TextStroke& stroke) {
  return gap_between({{{run.x + run.width, 0}}, 0}, stroke);
}

TEST(TLatex, AnArrowTouchesNothingBesideIt) {
  for (const char* text : {"#vec{p}_{T}^{miss}", "#vec{p}^{2}", "#vec{p}q"}) {
    const TextLayout layout = lay_out_tlatex(text);
    ASSERT_EQ(layout.strokes.size(), 2u) << text;
    for (const TextStroke& stroke : layout.strokes) {
      for (std::size_t i = 1; i < layout.runs.size(); ++i) {
        EXPECT_GE(gap_behind(stroke, layout.runs[i]), 0.07) << text;
      }
    }
  }
  const TextLayout pair = lay_out_tlatex("#vec{E}#vec{B}");
  ASSERT_EQ(pair.strokes.size(), 4u);
  EXPECT_GE(gap_between(pair.strokes[0], pair.strokes[2]), 0.07);
  const TextLayout small = lay_out_tlatex("e^{i#vec{k}#vec{x}}");
  ASSERT_EQ(small.strokes.size(), 4u);
  EXPECT_GE(gap_between(small.strokes[0], small.strokes[2]), 0.07 * 0.68);
}

TEST(TLatex, AMinusIsNoPartOfABar) {
  for (const auto& [text, size] :
       {std::pair("-#frac{1}{2}", 1.0), {"10^{-#frac{1}{2}}", 0.68}, {"#sqrt{-#frac{1}{2}}", 1.0}}) {
    const TextLayout layout = lay_out_tlatex(text);
    const TextStroke& bar = layout.strokes.at(0);
    const auto minus =
        std::ranges::find_if(layout.runs, [](const LetterRun& run) { return run.pieces[0].escaped == "-"; });
    ASSERT_NE(minus, layout.runs.end()) << text;
    EXPECT_GE(gap_before(*minus, bar), 0.08 * size) << text;
  }
  const TextLayout behind = lay_out_tlatex("#frac{1}{2}-x");
  EXPECT_GE(gap_behind(behind.strokes.at(0), behind.runs.at(2)), 0.08);
  const TextLayout two = lay_out_tlatex("#frac{1}{2}#frac{1}{2}");
  EXPECT_GE(gap_between(two.strokes.at(0), two.strokes.at(1)), 0.15);
  const TextLayout charge = lay_out_tlatex("#bar{p}^{-}");
  EXPECT_GE(gap_behind(charge.strokes.at(0), charge.runs.at(1)), 0.05);
  const TextLayout bars = lay_out_tlatex("#bar{p}#bar{p}");
  EXPECT_GE(gap_between(bars.strokes.at(0), bars.strokes.at(1)), 0.05);
}

// The minus of the power below the bar of its fraction, and above the index.
TEST(TLatex, APowerInADenominatorIsBelowTheBar) {
  const TextLayout layout = lay_out_tlatex("#frac{d#sigma}{dp_{T}^{-1}}");
  const TextStroke& bar = layout.strokes.at(0);
  const auto& pieces = layout.runs.at(1).pieces;
  const auto power = std::ranges::find(pieces, "-1", &TextPiece::escaped);
  const auto index = std::ranges::find(pieces, "T", &TextPiece::escaped);
  ASSERT_TRUE(power != pieces.end() && index != pieces.end());
  constexpr double kHigh = 0.74, kMinus = 0.25;  // of letters above their base line
  EXPECT_GE(power->y - kHigh * power->size - (bar.points[0].second + bar.width / 2), 0.04);
  EXPECT_GE(index->y - kHigh * index->size - (power->y - kMinus * power->size), 0.1);
}

// Each letter of a power above each of the index, by the room that letters have.
TEST(TLatex, AFractionAsAPowerStandsOverTheIndex) {
  for (const char* text : {"X^{#frac{c}{d}}_{#frac{e}{f}}", "X^{#frac{c}{d}}_{i}", "X^{2}_{#frac{e}{f}}",
                           "(#frac{a}{b})^{#frac{c}{d}}_{#frac{e}{f}}"}) {
    const TextLayout layout = lay_out_tlatex(text);
    constexpr double kHigh = 0.74, kDeep = 0.21;
    double lowest = -1e9, highest = 1e9;
    for (const LetterRun& run : layout.runs) {
      for (const TextPiece& piece : run.pieces) {
        const std::string& letter = piece.escaped;
        if (letter == "c" || letter == "d" || letter == "2") lowest = std::max(lowest, piece.y + kDeep * piece.size);
        if (letter == "e" || letter == "f" || letter == "i") highest = std::min(highest, piece.y - kHigh * piece.size);
      }
    }
    EXPECT_GE(highest, lowest - 0.02) << text;
  }
}

TEST(TLatex, UnderscoresAndHatsWithoutBracesAreLetters) {
  for (const char* name : {"HLT_Mu50", "jet_pt", "a^b", "_", "^", "x_", "p_T", "#p_x"})
    EXPECT_EQ(letters(name), std::string(name) + "|");
  EXPECT_EQ(letters("#eta_jet"), "η_jet|");
  EXPECT_EQ(letters("frac{1}{2}"), "frac{1}{2}|");
}

TEST(TLatex, PowersAndIndicesStandOverEachOther) {
  const auto mass = pieces_of("m_{#mu#mu}^{2}/GeV");
  ASSERT_EQ(mass.size(), 4u);
  EXPECT_EQ(mass[1].escaped, "2") << "the narrower one first";
  EXPECT_LT(mass[2].dx, -0.2) << "back to the base";
  EXPECT_LT(mass[1].y * mass[2].y, 0);
  EXPECT_EQ(letters("e^{x_{i}^{2}}"), letters("e^{x^{2}_{i}}"));
  const auto sum = pieces_of("#sum_{i=0}^{n}x");
  EXPECT_LT(sum[1].y, -1);  // above the sign, whatever comes first
  EXPECT_GT(sum[2].y, 0.5);
}

TEST(TLatex, BoundsOfAnIntegralStandOverAndUnderItsSign) {
  EXPECT_EQ(letters("#int_{0}^{1}xdx"), "∫|1|0|xdx|");
  const TextLayout integral = lay_out_tlatex("#int_{0}^{1}xdx");
  ASSERT_EQ(integral.runs.size(), 4u);
  EXPECT_LT(integral.runs[1].pieces[0].y, -1);
  EXPECT_GT(integral.runs[2].pieces[0].y, 0.5);
  EXPECT_GT(integral.runs[3].x, integral.runs[0].x);
  EXPECT_EQ(letters("#intL dt"), "∫|L dt|");
}

TEST(TLatex, FractionsLinesAndRoots) {
  const TextLayout fraction = lay_out_tlatex("#frac{d#sigma}{dx}");
  ASSERT_EQ(fraction.runs.size(), 2u);
  EXPECT_LT(fraction.runs[0].pieces[0].y, fraction.strokes.at(0).points[0].second);
  EXPECT_GT(fraction.runs[1].pieces[0].y, fraction.strokes.at(0).points[0].second);
  EXPECT_EQ(letters("#frac{#frac{a}{b}}{#frac{c}{d}}"), "a|b|c|d|");
  const TextLayout lines = lay_out_tlatex("#splitline{21 April}{14:02}");
  EXPECT_EQ(lines.runs.at(0).x, lines.runs.at(1).x);
  EXPECT_LT(lines.runs[0].pieces[0].y + 0.5, lines.runs[1].pieces[0].y);
  const TextLayout root = lay_out_tlatex("#sqrt[3]{s}");
  EXPECT_EQ(root.runs.size(), 2u);
  EXPECT_EQ(root.strokes.size(), 1u);
  for (const char* accent : {"#bar{p}", "#hat{p}", "#vec{p}", "#tilde{p}", "#dot{p}", "#slash{p}", "#overline{p}"}) {
    EXPECT_EQ(letters(accent), "p|") << accent;
    EXPECT_FALSE(lay_out_tlatex(accent).strokes.empty()) << accent;
  }
  EXPECT_EQ(letters("#LTx#GT"), "⟨x⟩|");
  EXPECT_EQ(letters("#left(#frac{1}{2}#right)^{2}"), "1|2|2|");
}

// Every command of TLatex that takes braces.
TEST(TLatex, BracesOfCommandsAreNotShown) {
  for (const std::string command : {"frac{a}",
                                    "splitline{a}",
                                    "sqrt",
                                    "sqrt[3]",
                                    "bar",
                                    "vec",
                                    "dot",
                                    "hat",
                                    "ddot",
                                    "acute",
                                    "grave",
                                    "check",
                                    "tilde",
                                    "slash",
                                    "strike",
                                    "overline",
                                    "underline",
                                    "it",
                                    "bf",
                                    "mbox",
                                    "hbox",
                                    "url",
                                    "url[http://a.b/c]",
                                    "font[12]",
                                    "color[2]",
                                    "scale[0.5]",
                                    "kern[-0.3]",
                                    "lower[0.4]",
                                    "[]",
                                    "()",
                                    "||",
                                    "{}"}) {
    std::string shown = letters("x#" + command + "{b}y");
    EXPECT_EQ(shown.find_first_of("{}[]#"), std::string::npos) << command << ": " << shown;
    EXPECT_NE(shown.find('b'), std::string::npos) << command;
  }
  EXPECT_EQ(lay_out_tlatex("#strike{abc}").strokes.size(), 1u);
  EXPECT_EQ(letters("#corner#voidn#arctop"), "¬℘⎛|");
}

// In the title of what TTree::Draw makes, "x {cut}", they are the cut's.
TEST(TLatex, OtherBracesAre) {
  EXPECT_EQ(letters("energy {energy>50}"), "energy {energy&gt;50}|");
  EXPECT_EQ(letters("{a}b}{c"), "{a}b}{c|");
  EXPECT_EQ(letters("#alpha{} x"), "α{} x|");
  EXPECT_EQ(letters("#unknown{abc}"), "#unknown{abc}|");
  const auto powers = pieces_of("x_{1} {y^{2}}");
  EXPECT_EQ(powers.back().escaped, "}");
  EXPECT_EQ(powers.back().size, powers.front().size);
}

TEST(TLatex, NothingGetsOutOfTheText) {
  EXPECT_EQ(letters("</text><script>\"&\""), "&lt;/text&gt;&lt;script&gt;&quot;&amp;&quot;|");
  EXPECT_EQ(letters(std::string("a\0b\x01\xff", 5)), "a\uFFFDb\uFFFD\uFFFD|");
  EXPECT_EQ(letters("#"), "#|");
  EXPECT_EQ(letters("#unknown"), "#unknown|");
  EXPECT_EQ(letters("{{{{"), "{{{{|");
  EXPECT_EQ(letters("a}b"), "a}b|");
  EXPECT_EQ(tlatex("#color[2]{<}").find("<<"), std::string::npos);
  for (const char* part :
       {"^", "^{", "_{", "#frac{", "#sqrt{", "#left(", "#bar{", "{", "#splitline{", "x^{y_{", "#[]{"}) {
    std::string many;
    while (many.size() < 100'000) many += part;
    EXPECT_LT(tlatex(many).size(), 300'000u) << part;
  }
}

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> all;
  for (const Tick& tick : ticks) all.push_back(tick.label);
  return all;
}

TEST(AxisTicks, RoundNumbers) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(ticks(-4, 4, 5)), (Labels{"-4", "-2", "0", "2", "4"}));
  EXPECT_EQ(labels(ticks(0.1, 0.52, 5)), (Labels{"0.1", "0.2", "0.3", "0.4", "0.5"}));
  EXPECT_EQ(labels(ticks(0, 3e7, 3)), (Labels{"0", "1#times10^{7}", "2#times10^{7}", "3#times10^{7}"}));
}

TEST(AxisTicks, PowersOfTen) {
  const auto labelled = [](double low, double high) {
    std::vector<std::string> all;
    for (const Tick& tick : log_ticks(low, high)) {
      if (!tick.label.empty()) all.push_back(tick.label);
    }
    return all;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labelled(0.5, 20'000), (Labels{"1", "10", "100", "1000", "10^{4}"}));
  EXPECT_EQ(labelled(3, 60), (Labels{"5", "10", "20", "50"}));
  EXPECT_LE(log_ticks(1e-300, 1e300).size(), 700u);
  EXPECT_TRUE(log_ticks(5e-324, std::numeric_limits<double>::max()).size() > 2);
}

TEST(AxisTicks, WhateverTheNumbers) {
  constexpr double kMax = std::numeric_limits<double>::max();
  for (const auto& [low, high] :
       {std::pair(0.0, 5e-324), {1.0, std::nextafter(1.0, 2)}, {-kMax / 4, kMax / 4}, {1e300, 1.1e300}})
    EXPECT_LE(ticks(low, high, 8).size(), 17u);
  EXPECT_LE(time_ticks(-1e18, 1e18, 0, 7).size(), 15u);
}

TEST(AxisTicks, TimesAreRoundInUtc) {
  // 2020-01-01 00:00 to 04:00, counted from 1995-01-01.
  const double offset = 788918400, begin = 1577836800 - offset;
  EXPECT_EQ(labels(time_ticks(begin, begin + 4 * 3600, offset, 5)),
            (std::vector<std::string>{"00:00", "01:00", "02:00", "03:00", "04:00"}));
}

tfile::PlotBins bins(std::vector<double> values) {
  tfile::PlotBins made;
  for (std::size_t i = 0; i <= values.size(); ++i) made.x.edges.push_back(static_cast<double>(i));
  made.values = std::move(values);
  return made;
}

std::string drawn(tfile::PlotBins layer, std::string title = "") {
  tfile::Plot plot;
  plot.title = std::move(title);
  plot.layers.emplace_back(std::move(layer));
  return plot_svg(plot);
}

TEST(PlotSvg, StepsOfAHistogram) {
  const std::string svg = drawn(bins({1, 3, 2}), "a < b");
  EXPECT_NE(svg.find("a &lt; b"), svg.npos);
  EXPECT_NE(svg.find("<path class=\"line\""), svg.npos);
  EXPECT_NE(svg.find("<path class=\"fill\""), svg.npos);
}

TEST(PlotSvg, ErrorsAreBoxesOrABand) {
  using Counts = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
  tfile::PlotBins layer = bins({1, 3, 2});
  layer.errors = {0.5, 0.5, std::nan("")};
  layer.has_steps = false;
  layer.has_boxes = true;
  const auto parts = [](const tfile::PlotBins& of) {
    std::string path = drawn(of);
    path.erase(0, path.find("<path class=\"fill\""));
    path.erase(path.find("/>"));
    return Counts(std::ranges::count(path, 'M'), std::ranges::count(path, 'L'));
  };
  EXPECT_EQ(parts(layer), Counts(2, 6)) << "none where there is no error";
  layer.has_boxes = false;
  layer.is_band = true;
  EXPECT_EQ(parts(layer), Counts(1, 3));
  layer.is_smooth = true;
  EXPECT_EQ(parts(layer), Counts(1, 3 + 2 * 7));
  layer.errors.assign(3, std::nan(""));
  EXPECT_EQ(drawn(layer).find("\"Z"), std::string::npos);
}

TEST(PlotSvg, OfMillionsOfBinsStaysSmall) {
  std::vector<double> values(1'000'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  EXPECT_LT(drawn(bins(values)).size(), 1'000'000u);
  tfile::PlotBins map = bins(std::vector<double>(1000, 1));
  map.dimensions = 2;
  map.y.edges = map.x.edges;
  for (std::size_t i = 0; i < 1'000'000; ++i) map.values.push_back(std::sin(static_cast<double>(i)));
  map.values.erase(map.values.begin(), map.values.begin() + 1000);
  EXPECT_LT(drawn(map).size(), 8'000'000u);
}

TEST(PlotSvg, NumbersThatAreNoneHarmNothing) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double value : {kInf, -kInf, std::nan(""), 1e308, -1e308, 5e-324}) {
    tfile::PlotBins layer = bins({value, 1, value});
    layer.errors = {value, value, 1};
    const std::string svg = drawn(layer);
    EXPECT_EQ(svg.find("nan"), svg.npos) << value;
    EXPECT_EQ(svg.find("inf"), svg.npos) << value;
    tfile::PlotPoints points;
    points.xs = {value, 1, 2};
    points.ys = {1, value, 2};
    tfile::Plot plot;
    plot.layers.emplace_back(points);
    EXPECT_EQ(plot_svg(plot).find("nan"), std::string::npos);
  }
}

TEST(PlotSvg, LogarithmicAxesHaveNoPlaceForZero) {
  tfile::Plot plot;
  plot.layers.emplace_back(bins({0, 1, 1000, -5, std::nan("")}));
  plot.set_log(true, true, true);
  const std::string svg = plot_svg(plot);
  EXPECT_NE(svg.find(">1000<"), svg.npos);
  for (const char* none : {"nan", "inf", "e+"}) EXPECT_EQ(svg.find(none), svg.npos) << none;
}

TEST(PlotSvg, EmptyCellsOfSignedMapsHaveTheColourOfZero) {
  const auto cells = [](std::vector<double> values) {
    tfile::PlotBins map;
    map.dimensions = 2;
    map.x.edges = map.y.edges = {0, 1, 2};
    map.values = std::move(values);
    const std::string svg = drawn(map);
    const std::string inside = svg.substr(0, svg.find("class=\"frame\""));
    std::size_t count = 0;
    for (auto at = inside.find("fill=\"#", inside.find("crispEdges")); at != inside.npos;
         at = inside.find("fill=\"#", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(cells({0, 0, 0, 0}), 0u);
  EXPECT_EQ(cells({0, 1, 2, 3}), 3u);
  EXPECT_EQ(cells({0, -1, 2, 3}), 4u);
  EXPECT_EQ(cells({std::nan(""), -1, 2, 3}), 3u);
}

TEST(PlotSvg, LabelsOfBinsAreNotCut) {
  tfile::PlotBins layer = bins({1, 2, 3});
  layer.x.labels = {"short",
                    "a label of a bin that is quite long, as cut flows have them: p_{T} > 25 GeV & |#eta| < 2.4", "x"};
  const std::string svg = drawn(layer);
  EXPECT_NE(svg.find("as cut flows have them: p"), svg.npos);
  EXPECT_EQ(svg.find("\u2026"), svg.npos);
  // The label makes the page higher.
  EXPECT_EQ(svg.find("viewBox=\"0 0 960 640\""), svg.npos);
}

TEST(PlotSvg, FunctionsOverAHistogramDoNotMoveItsAxes) {
  tfile::Plot plot;
  plot.layers.emplace_back(bins({1, 2, 3}));
  const std::string without = plot_svg(plot);
  tfile::PlotPoints curve;
  curve.xs = {0, 1, 2, 3};
  curve.ys = {0, 2, 1000, 2};
  curve.is_line = true;
  curve.has_marks = false;
  curve.look.line = 0xE02020;
  plot.layers.emplace_back(curve);
  const std::string with = plot_svg(plot);
  EXPECT_NE(with.find("stroke:#e02020"), with.npos);
  EXPECT_EQ(with.find(">500<"), with.npos);
  EXPECT_GT(with.size(), without.size());
}

TEST(PlotSvg, PadsAreDrawnAtTheirPlaces) {
  tfile::Plot canvas;
  for (int i = 0; i < 4; ++i) {
    tfile::Plot pad;
    pad.layers.emplace_back(bins({1, 2, 3}));
    pad.title = "pad " + std::to_string(i);
    canvas.pads.push_back({i % 2 * 0.5, i / 2 * 0.5, i % 2 * 0.5 + 0.5, i / 2 * 0.5 + 0.5, std::move(pad)});
  }
  tfile::Plot deep;
  for (int i = 0; i < 100; ++i) {
    tfile::Plot outer;
    outer.pads.push_back({0, 0, 1, 1, std::move(deep)});
    deep = std::move(outer);
  }
  canvas.pads.push_back({0, 0, 1, 1, std::move(deep)});
  const std::string svg = plot_svg(canvas);
  for (int i = 0; i < 4; ++i) EXPECT_NE(svg.find("pad " + std::to_string(i)), svg.npos);
  EXPECT_NE(svg.find("translate(480 320)"), svg.npos);
  EXPECT_LT(svg.size(), 100'000u);
}

TEST(PlotSvg, NothingToDraw) {
  EXPECT_NE(plot_svg({}).find("</svg>"), std::string::npos);
  EXPECT_NE(drawn(bins({})).find("</svg>"), std::string::npos);
  EXPECT_NE(drawn(bins({0, 0})).find("</svg>"), std::string::npos);
}

TEST(IndexPage, NamesAreEscaped) {
  const IndexedPlot plots[] = {{"a b", "x\"><script>&#", "<title>", "TH1F"}, {"a b", "javascript:1", "", "TH1F"}};
  IndexPage made("/<dir>", std::size(plots));
  for (const IndexedPlot& plot : plots) made.add(plot);
  const std::string page = made.take("");
  EXPECT_EQ(page.find("<script"), page.rfind("<script")) << "that of the search";
  EXPECT_NE(page.find("src=\"./a%20b/x%22%3E%3Cscript%3E%26%23/plot.svg\""), page.npos);
  EXPECT_NE(page.find("&lt;title&gt;"), page.npos);
  for (const char* begin : {"src=\"javascript", "href=\"javascript"}) EXPECT_EQ(page.find(begin), page.npos);
}

TEST(IndexPage, EachDirectoryHasAGroup) {
  EXPECT_NE(IndexPage("", 0).take("").find("<p>Nothing to show.</p>"), std::string::npos);
  IndexPage made("/", 3);
  for (const char* directory : {"", "a", "a"}) made.add({directory, "x", "", "TH1F"});
  const std::string page = made.take("and more");
  EXPECT_EQ(page.find("<h2>a</h2>"), page.rfind("<h2>a</h2>"));
  const auto count = [&page](std::string_view of) {
    std::size_t found = 0;
    for (std::size_t at = page.find(of); at != page.npos; at = page.find(of, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<section>"), 2u);
  EXPECT_EQ(count("<details open>"), 1u);
  EXPECT_EQ(count("</details>"), 1u);
  EXPECT_EQ(count("</section>"), 2u);
  EXPECT_EQ(count("<figure>"), 3u);
  EXPECT_NE(page.find("<p>and more</p>"), page.npos);
}

TEST(Csv, TextIsQuoted) {
  tfile::Spreadsheet sheet{{"x"}, {{1, 2}}, {"label"}, {{"a,\"b\"", "=1+1"}}};
  EXPECT_EQ(csv_text(sheet), "x,label\n1,\"a,\"\"b\"\"\"\n2,\"'=1+1\"\n");
}

TEST(Csv, NumbersReadBackEqual) {
  EXPECT_EQ(csv_text({{"x", "y"}, {{0.1, 2}, {1e300, -0.5}}, {}, {}}), "x,y\n0.1,1e+300\n2,-0.5\n");
}

}  // namespace
}  // namespace tfilefs
