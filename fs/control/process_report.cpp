// SPDX-License-Identifier: Apache-2.0
#include "control/process_report.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace tfilefs {
namespace {

// The fields of /proc/self/stat behind the name, which may hold anything: [0] is the third of proc(5).
std::vector<std::string> own_stat() {
  std::string text;
  std::getline(std::ifstream("/proc/self/stat"), text, '\0');
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  return {std::istream_iterator<std::string>(fields), {}};
}

// When the machine was started, in seconds since the epoch.
double boot_time() {
  std::ifstream stat("/proc/stat");
  double time = 0;
  for (std::string word; stat >> word;)
    if (word == "btime" && stat >> time) break;
  return time;
}

std::uint64_t open_descriptors() {
  std::error_code error;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end; at.increment(error))
    ++count;
  return count > 0 ? count - 1 : 0;  // one is that of the listing
}

}  // namespace

std::optional<ProcessReport> own_process() {
  constexpr std::size_t kUser = 11, kSystem = 12, kThreads = 17, kStart = 19, kVirtual = 20, kResident = 21;
  const std::vector<std::string> stat = own_stat();
  if (stat.size() <= kResident) return std::nullopt;
  const auto number = [&](std::size_t field) { return std::strtoull(stat[field].c_str(), nullptr, 10); };
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  ProcessReport report;
  report.cpu_seconds = static_cast<double>(number(kUser) + number(kSystem)) / ticks;
  static const double boot = boot_time();
  report.start_seconds = boot + static_cast<double>(number(kStart)) / ticks;
  report.resident_bytes = number(kResident) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  report.virtual_bytes = number(kVirtual);
  report.threads = number(kThreads);
  report.open_files = open_descriptors();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) report.open_files_max = limit.rlim_cur;
  return report;
}

}  // namespace tfilefs
