// SPDX-License-Identifier: Apache-2.0
#include "view/plot_svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "view/axis_ticks.h"
#include "view/tlatex.h"

namespace tfilefs {
namespace {

std::string tlatex(std::string_view text) {
  std::string svg;
  append_tlatex(svg, text);
  return svg;
}

TEST(TLatex, SignsAndLevels) {
  EXPECT_EQ(tlatex("#mu#pi"), "μπ");
  EXPECT_EQ(tlatex("p_{T}"), "p<tspan dy=\".35em\" font-size=\"72%\">T</tspan>");
  EXPECT_EQ(tlatex("c^{2}x"), "c<tspan dy=\"-.35em\" font-size=\"72%\">2</tspan><tspan dy=\".25em\">x</tspan>");
  EXPECT_EQ(tlatex("#it{E} #font[42]{GeV}"), "E GeV");
}

TEST(TLatex, NothingGetsOutOfTheText) {
  EXPECT_EQ(tlatex("</text><script>\"&\""), "&lt;/text&gt;&lt;script&gt;&quot;&amp;&quot;");
  EXPECT_EQ(tlatex(std::string("a\0b\x01\xff", 5)), "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(tlatex("#"), "#");
  EXPECT_EQ(tlatex("#unknown"), "#unknown");
  EXPECT_EQ(tlatex("{{{{"), "");
  EXPECT_LT(tlatex(std::string(100'000, '^')).size(), 100'000u);
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

TEST(PlotSvg, NothingToDraw) {
  EXPECT_NE(plot_svg({}).find("</svg>"), std::string::npos);
  EXPECT_NE(drawn(bins({})).find("</svg>"), std::string::npos);
  EXPECT_NE(drawn(bins({0, 0})).find("</svg>"), std::string::npos);
}

TEST(Csv, NumbersReadBackEqual) {
  EXPECT_EQ(csv_text({{"x", "y"}, {{0.1, 2}, {1e300, -0.5}}}), "x,y\n0.1,1e+300\n2,-0.5\n");
}

}  // namespace
}  // namespace tfilefs
