// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

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

TEST(ProcessLog, IsNoneUnlessSet) {
  tell_log(Severity::error, "to nobody");
  Log log({});
  set_process_log(&log);
  tell_log(Severity::error, "to nowhere");
  set_process_log(nullptr);
}

}  // namespace
}  // namespace tfilefs
