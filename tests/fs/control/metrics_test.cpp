// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "control/stats.h"
#include "tfile/json_text.h"

namespace tfilefs {
namespace {

using namespace std::chrono_literals;
using tfile::with_readable_bytes;

const std::string kHostile = "/a\"b\\c\nd\xff{}\xc3\xa9";

CacheReport some_report() {
  CacheReport report;
  TableReport table;
  table.label = {kHostile, 7};
  table.is_distinct = true;
  table.counts[Count::hits] = 5;
  table.counts[Count::disk_ns] = 1'500'000'000;
  TableReport other;
  other.label.path = "/other";
  other.counts[Count::hits] = 10;
  report.reading.tables = {table, other};
  report.reading.objects[Count::hits] = 2;
  report.reading.forgotten[Count::hits] = 1;
  report.budget = 1000;
  return report;
}

MountReport some_mount() {
  MountReport mount;
  mount.errors = 3;
  mount.metadata = {{"tables", 100}, {"files", 20}};
  mount.sources.emplace_back().name = "https://host/a.root";
  RequestTimes times;
  for (const auto took : {10us, 11us, 11us, 100'000'000us}) times.add(RequestKind::read, took);
  mount.requests = times.report();
  return mount;
}

std::string some_page() {
  return metrics_text({"/mnt/\"a\"", "/data/a.root"}, some_report(), some_mount(), ProcessReport{.threads = 7});
}

const std::string kLabels = R"(mount="/mnt/\"a\"",source="/data/a.root")";

TEST(Metrics, EveryLineIsOneOfTheFormat) {
  const std::string text = some_page();
  const std::regex sample(
      R"re([a-z_]+\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\} [0-9]+(\.[0-9]+)?)re");
  const std::regex comment(R"re(# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram)))re");
  const std::regex of_histogram("_(bucket|sum|count)$");
  std::set<std::string> typed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(typed.insert(line.substr(7, line.rfind(' ') - 7)).second) << line;
    } else if (!line.starts_with("#")) {
      const std::string name = line.substr(0, line.find('{'));
      EXPECT_TRUE(typed.contains(name) || typed.contains(std::regex_replace(name, of_histogram, ""))) << line;
    }
    EXPECT_TRUE(std::regex_match(line, line.starts_with("#") ? comment : sample) || lines.peek() == EOF) << line;
  }
  EXPECT_EQ(text.back(), '\n');
}

TEST(Metrics, ThePageKeepsItsSizeWhileNumbersGrow) {
  const std::string text = some_page();
  EXPECT_EQ(text.size() % 4096, 0u);
  EXPECT_TRUE(text.ends_with(" \n"));
  const std::string digits = of_steady_size(std::string(4000, '1'));
  EXPECT_EQ(digits.size(), of_steady_size(std::string(4090, '1')).size());
  EXPECT_EQ(of_steady_size(std::string(4095, '1')), std::string(4095, '1') + "\n");
  EXPECT_EQ(of_steady_size(std::string(4096, '1')).size(), 8192u);
}

TEST(Metrics, EverySampleHasTheLabelsOfTheMount) {
  std::istringstream lines(some_page());
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.starts_with("#") || line.find("{" + kLabels) == line.find('{')) << line;
}

TEST(Metrics, NumbersAreThoseOfTheReport) {
  const std::string text = some_page();
  const auto has = [&](const std::string& name, const std::string& more, const std::string& value) {
    return text.find(name + "{" + kLabels + more + "} " + value + "\n") != std::string::npos;
  };
  const std::string label = R"(,table="/a\"b\\c\\x0ad\\xff{})"
                            "\xc3\xa9\"";
  EXPECT_TRUE(has("tfilefs_read_hits_total", label, "5")) << text;
  EXPECT_TRUE(has("tfilefs_source_read_seconds_total", label, "1.500000000"));
  EXPECT_TRUE(has("tfilefs_read_hits_total", ",table=\"objects\"", "2"));
  EXPECT_TRUE(has("tfilefs_read_hits_total", ",table=\"others\"", "11"));
  EXPECT_TRUE(has("tfilefs_metadata_bytes", ",kind=\"tables\"", "100"));
  EXPECT_TRUE(has("tfilefs_errors_total", "", "3"));
  EXPECT_TRUE(has("tfilefs_source_requests_total", ",url=\"https://host/a.root\"", "0"));
  EXPECT_TRUE(has("process_threads", "", "7"));
}

TEST(Metrics, TimesOfRequestsAreAHistogram) {
  const std::string text = some_page(), label = kLabels + ",operation=\"read\"";
  std::vector<std::string> buckets;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("tfilefs_operation_seconds_bucket{" + label)) buckets.push_back(line.substr(line.find("le=")));
  const std::vector<std::string> wanted = {
      R"(le="0.00001"} 1)", R"(le="0.00003"} 3)", R"(le="0.0001"} 3)", R"(le="0.0003"} 3)", R"(le="0.001"} 3)",
      R"(le="0.003"} 3)",   R"(le="0.01"} 3)",    R"(le="0.03"} 3)",   R"(le="0.1"} 3)",    R"(le="0.3"} 3)",
      R"(le="1"} 3)",       R"(le="3"} 3)",       R"(le="10"} 3)",     R"(le="60"} 3)",     R"(le="+Inf"} 4)"};
  EXPECT_EQ(buckets, wanted);
  EXPECT_NE(text.find("tfilefs_operation_seconds_sum{" + label + "} 100.000032000\n"), std::string::npos);
  EXPECT_NE(text.find("tfilefs_operation_seconds_count{" + label + "} 4\n"), std::string::npos);
  EXPECT_EQ(text.find("operation=\"write\""), std::string::npos);
}

TEST(Metrics, ThisProcessIsTold) {
  const auto process = own_process();
  ASSERT_TRUE(process);
  EXPECT_GT(process->resident_bytes, 1u << 20);
  EXPECT_GE(process->virtual_bytes, process->resident_bytes);
  EXPECT_GE(process->threads, 1u);
  EXPECT_GE(process->open_files, 3u);
  EXPECT_GE(process->open_files_max, process->open_files);
  EXPECT_LT(std::abs(process->start_seconds - static_cast<double>(std::time(nullptr))), 3600);
}

TEST(Stats, IsJsonWhoseSumsAgree) {
  const std::string text = stats_text(some_report(), some_mount());
  EXPECT_NE(text.find("\\udcff"), std::string::npos);
  const auto json = nlohmann::json::parse(with_readable_bytes(text));
  EXPECT_EQ(json["tfilefs"], 1);
  EXPECT_EQ(json["cache"]["hits"], 18);
  EXPECT_EQ(json["cache"]["budget"], 1000);
  EXPECT_EQ(json["tables"][0]["hits"], 5);
  EXPECT_EQ(json["tables"][0]["table"], "/a\"b\\c\nd\\xff{}\xc3\xa9");
  EXPECT_EQ(json["tables"][0]["disk_seconds"], 1.5);
  EXPECT_EQ(json["tables"][0]["loaded"], false);
  EXPECT_EQ(json["objects"]["hits"], 2);
  EXPECT_EQ(json["forgotten"]["hits"], 1);
  EXPECT_EQ(json["metadata"]["total"], 120);
}

}  // namespace
}  // namespace tfilefs
