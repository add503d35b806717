// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <vector>

#include "error_log.h"
#include "temporary_directory.h"

namespace tfilefs {
namespace {

class LogFile : public testing::Test {
 protected:
  LogOptions options(Severity least = Severity::info) const {
    LogOptions options;
    options.to = LogOptions::To::file;
    options.least = least;
    options.file = directory_.path().string() + "/log";
    return options;
  }

  // Without the date.
  std::vector<std::string> lines() const {
    std::ifstream file(directory_.path().string() + "/log");
    std::vector<std::string> found;
    for (std::string line; std::getline(file, line);) found.push_back(line.substr(line.find(' ') + 1));
    return found;
  }

  const TemporaryDirectory directory_;
};

TEST_F(LogFile, ABurstIsALineAndANumber) {
  {
    Log log(options());
    for (int i = 0; i < 1000; ++i) log.add(Severity::error, "no");
    log.tell_numbers();
    log.add(Severity::info, "end");
  }
  EXPECT_EQ(lines(), (std::vector<std::string>{"error: no", "error: no [999 times more]", "info: end"}));
}

TEST_F(LogFile, WhatMattersLessIsNotWritten) {
  {
    Log log(options(Severity::warn));
    log.add(Severity::debug, "a"), log.add(Severity::info, "b"), log.add(Severity::warn, "c"),
        log.add(Severity::error, "d");
  }
  EXPECT_EQ(lines(), (std::vector<std::string>{"warn: c", "error: d"}));
}

TEST_F(LogFile, ALineThatComesBackAfterTheBurstIsWrittenAgain) {
  LogOptions brief = options();
  brief.burst = std::chrono::milliseconds(10);
  {
    Log log(brief);
    log.add(Severity::error, "no"), log.add(Severity::error, "no");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    log.add(Severity::error, "no");
  }
  EXPECT_EQ(lines(), (std::vector<std::string>{"error: no", "error: no [1 times more]", "error: no"}));
}

TEST_F(LogFile, MoreDifferentLinesThanCanWaitAreCounted) {
  LogOptions full = options();
  full.file = "/nowhere/log";  // lines are taken, and lost
  Log log(full);
  for (int i = 0; i < 100'000; ++i) log.add(Severity::error, std::to_string(i));
  log.close();
  log.add(Severity::error, "too late");
}

class JsonLog : public LogFile {
 protected:
  LogOptions json() const {
    LogOptions with = options();
    with.form = LogOptions::Form::json;
    with.mount = "/mnt/a\nb";
    with.source = "s\xff";
    return with;
  }
  std::vector<nlohmann::json> objects() const {
    std::ifstream file(directory_.path().string() + "/log");
    std::vector<nlohmann::json> found;
    for (std::string line; std::getline(file, line);) found.push_back(nlohmann::json::parse(line));
    return found;
  }
};

TEST_F(JsonLog, EachLineIsAnObject) {
  {
    Log log(json());
    log.add(Severity::error, LogEntry{"cannot \"be\" read", "/t/\x1b\xfe", EIO});
    log.add(Severity::info, "end");
  }
  const auto found = objects();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(
      std::regex_match(found[0]["time"].get<std::string>(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
  EXPECT_EQ(found[0]["level"], "error");
  EXPECT_EQ(found[0]["mount"], "/mnt/a\\x0ab");
  EXPECT_EQ(found[0]["source"], "s\\xff");
  EXPECT_EQ(found[0]["message"], "cannot \"be\" read");
  EXPECT_EQ(found[0]["path"], "/t/\\x1b\\xfe");
  EXPECT_EQ(found[0]["errno"], EIO);
  EXPECT_EQ(found[0].size(), 7u);
  EXPECT_EQ(found[1]["message"], "end");
  EXPECT_EQ(found[1].size(), 5u) << "no path, no errno";
}

TEST_F(JsonLog, ABurstIsAnObjectAndANumber) {
  {
    Log log(json());
    for (int i = 0; i < 10; ++i) log.add(Severity::error, LogEntry{"no", "/a"});
    log.add(Severity::error, LogEntry{"no", "/b"});
  }
  const auto found = objects();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[2]["message"], "no");
  EXPECT_EQ(found[2]["path"], "/a");
  EXPECT_EQ(found[2]["times_more"], 9);
}

TEST_F(JsonLog, ErrorsAreToldWithTheirPathAndNumber) {
  Log log(json());
  set_process_log(&log);
  ErrorLog errors;
  errors.add("/t/x", Error{ErrorKind::io, "read", 4096, EIO, "a.root"});
  set_process_log(nullptr);
  log.close();
  const auto found = objects();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["message"], "read (at byte 4096 of a.root)");
  EXPECT_EQ(found[0]["path"], "/t/x");
  EXPECT_EQ(found[0]["errno"], EIO);
}

TEST(ProcessLog, IsNoneUnlessSet) {
  tell_log(Severity::error, "to nobody");
  Log log({});
  set_process_log(&log);
  tell_log(Severity::error, "to nowhere");
  set_process_log(nullptr);
}

}  // namespace
}  // namespace tfilefs
