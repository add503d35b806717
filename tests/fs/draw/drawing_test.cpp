// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "draw/drawing_file.h"
#include "draw/terminal_plot.h"
#include "temporary_directory.h"

namespace tfilefs {
namespace {

Drawing one_axis() {
  DrawnHistogram histogram({{4, 0, 4}}, false);
  DrawnValues values(1);
  values.numbers[0] = {0.5, 1.5, 1.5, 1.5, 1.5, 3.5, 9};
  values.weights.assign(7, 1);
  histogram.fill(values);
  return {std::move(histogram), {"x"}, "x {y>0}"};
}

Drawing two_axes(bool is_profile) {
  DrawnHistogram histogram(
      is_profile ? std::vector<HistogramAxis>{{2, 0, 2}} : std::vector<HistogramAxis>{{2, 0, 2}, {3, 0, 3}},
      is_profile);
  DrawnValues values(2);
  values.numbers = {{0.5, 1.5, 1.5}, {0.5, 2.5, 2.5}};
  values.weights = {1, 1, 2};
  histogram.fill(values);
  return {std::move(histogram), {"x", "y"}, "y:x"};
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(TerminalPlot, BarsAreBlocks) {
  const std::string plot = terminal_plot(one_axis(), 80, false);
  EXPECT_TRUE(plot.starts_with("x {y>0}\n       4 ┤"));
  EXPECT_NE(plot.find("█"), std::string::npos);
  EXPECT_NE(plot.find("entries 7\nx: mean 1.66667, deviation 0.897527, above 1\n"), std::string::npos);
  EXPECT_EQ(lines_of(plot), 19u);
}

TEST(TerminalPlot, FitsAnyWidthAndShowsMaps) {
  for (const std::size_t columns : {0u, 20u, 80u, 200u}) {
    for (const bool is_log : {false, true}) {
      EXPECT_GT(lines_of(terminal_plot(one_axis(), columns, is_log)), 10u);
      EXPECT_NE(terminal_plot(two_axes(false), columns, is_log).find("█"), std::string::npos);
      EXPECT_NE(terminal_plot(two_axes(true), columns, is_log).find("sum of weights 4"), std::string::npos);
    }
  }
}

TEST(TerminalPlot, NamesCannotControlTheTerminal) {
  Drawing drawing = one_axis();
  drawing.title = "x\x1b[31m";
  EXPECT_EQ(terminal_plot(drawing, 80, false).find('\x1b'), std::string::npos);
}

TEST(DrawingFile, FormsFollowFromTheName) {
  EXPECT_EQ(*drawing_form("a/b.svg"), DrawingForm::svg);
  EXPECT_EQ(*drawing_form("b.root"), DrawingForm::root);
  EXPECT_FALSE(drawing_form("b.png"));
}

TEST(DrawingFile, TablesHaveALineForEachBin) {
  EXPECT_EQ(*drawing_bytes(one_axis(), DrawingForm::csv, false),
            "x_low,x_high,value,error\n0,1,1,1\n1,2,4,2\n2,3,0,0\n3,4,1,1\n");
  const std::string map = *drawing_bytes(two_axes(false), DrawingForm::csv, false);
  EXPECT_EQ(lines_of(map), 7u);
  EXPECT_TRUE(map.starts_with("x_low,x_high,y_low,y_high,value,error\n0,1,0,1,1,1\n"));
  EXPECT_EQ(*drawing_bytes(two_axes(true), DrawingForm::csv, false),
            "x_low,x_high,value,error,effective_entries\n0,1,0.5,0,1\n1,2,2.5,0,1.8\n");
}

// "wx": the sum of weight times x. 9 is beyond the axis.
TEST(DrawingFile, ObjectsHaveTheStatisticsOfTheValues) {
  const std::string json = *drawing_bytes(one_axis(), DrawingForm::json, false);
  for (const char* member : {"\"fEntries\": 7,", "\"fTsumw\": 6,", "\"fTsumwx\": 10,", "\"fTsumwx2\": 21.5,"})
    EXPECT_NE(json.find(member), std::string::npos) << member << json;
}

TEST(DrawingFile, FormersAreThereUntilTheNewOneIs) {
  const TemporaryDirectory directory;
  const std::string path = directory.path().string() + "/a.csv", link = directory.path().string() + "/b.csv";
  const auto write = [](const std::string& to, DrawingForm form, std::string_view bytes) -> Result<> {
    TRY(const FilePlace place, drawing_place(to, form));
    return write_drawing(place, form, bytes);
  };
  ASSERT_TRUE(write(path, DrawingForm::csv, "one"));
  std::filesystem::create_symlink("a.csv", link);
  ASSERT_TRUE(write(link, DrawingForm::csv, "two"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(std::filesystem::file_size(path), 3u);
  EXPECT_EQ(write(directory.path().string() + "/c/a.csv", DrawingForm::csv, "x").error().kind, ErrorKind::not_found);
  EXPECT_EQ(write(directory.path().string(), DrawingForm::csv, "x").error().kind, ErrorKind::invalid);
  const std::string root = directory.path().string() + "/a.root";
  ASSERT_TRUE(write(root, DrawingForm::root, "root"));
  EXPECT_EQ(write(root, DrawingForm::root, "other").error().text, root + ": already exists");
}

TEST(DrawingFile, PicturesAndObjects) {
  for (const DrawingForm form : {DrawingForm::svg, DrawingForm::json, DrawingForm::root}) {
    EXPECT_TRUE(drawing_bytes(one_axis(), form, true));
    EXPECT_TRUE(drawing_bytes(two_axes(false), form, false));
  }
  EXPECT_TRUE(drawing_bytes(one_axis(), DrawingForm::json, false)->starts_with("{\n  \"_typename\": \"TH1D\""));
  EXPECT_TRUE(drawing_bytes(one_axis(), DrawingForm::root, false)->starts_with("root"));
  EXPECT_TRUE(drawing_bytes(two_axes(true), DrawingForm::svg, false));
  EXPECT_TRUE(drawing_bytes(two_axes(true), DrawingForm::root, false)->starts_with("root"));
  EXPECT_TRUE(drawing_bytes(two_axes(true), DrawingForm::json, false)->starts_with("{\n  \"_typename\": \"TProfile\""));
}

}  // namespace
}  // namespace tfilefs
