// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/mount_table.h"
#include "printable.h"
#include "tfile/json_text.h"

namespace tfilefs {
namespace {

using tfile::with_readable_bytes;

using json = nlohmann::ordered_json;

// ---- the table

enum class Unit : std::uint8_t { number, bytes, seconds };
struct StatColumn {
  const char* title;
  const char* name;  // in stats.json
  Unit unit;
  bool is_mean = false;  // not a sum that grows: computed from bytes_read and read_calls
};
constexpr StatColumn kColumns[] = {
    {"asked", "bytes_asked", Unit::bytes},
    {"hits", "hits", Unit::number},
    {"misses", "misses", Unit::number},
    {"read", "bytes_read", Unit::bytes},
    {"calls", "read_calls", Unit::number},
    {"size", "read_size_mean", Unit::bytes, true},
    {"extra", "extra_bytes", Unit::bytes},
    {"decoded", "bytes_decoded", Unit::bytes},
    {"disk s", "disk_seconds", Unit::seconds},
    {"cpu s", "decode_seconds", Unit::seconds},
    {"wait s", "wait_seconds", Unit::seconds},
    {"ahead", "prefetched_chunks", Unit::number},
    {"unused", "prefetched_unused", Unit::number},
    {"evicted", "evictions", Unit::number},
};
using Numbers = std::array<double, std::size(kColumns)>;

struct Row {
  std::string name;
  Numbers numbers{};
};

// ---- stats.json

Result<json> read_stats(const std::string& mount_point) {
  std::ifstream file(mount_point + "/.tfilefs/stats.json");
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    const int number = errno;
    return tfile::fail(ErrorKind::io, mount_point + ": " + std::strerror(number), -1, number);
  }
  json stats = json::parse(with_readable_bytes(text.str()), nullptr, false);
  if (!stats.is_object() || !stats.contains("tfilefs"))
    return tfile::fail(ErrorKind::unsupported,
                       mount_point + ": its statistics are not in a format that this version can read");
  return stats;
}

double number_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

Row row_of(std::string name, const json& counts) {
  Row row{std::move(name)};
  for (std::size_t i = 0; i < row.numbers.size(); ++i) row.numbers[i] = number_of(counts, kColumns[i].name);
  return row;
}

std::vector<Row> rows_of(const json& stats, bool branches) {
  std::vector<Row> rows;
  for (const json& table : stats.value("tables", json::array())) {
    const std::string path = table.value("table", "");
    rows.push_back(row_of(path, table));
    if (!branches) continue;
    for (const json& branch : table.value("branches", json::array()))
      rows.push_back(row_of(path + ": " + branch.value("branch", ""), branch));
  }
  for (const char* name : {"objects", "forgotten"})
    if (stats.contains(name)) rows.push_back(row_of(std::string("(") + name + ")", stats[name]));
  return rows;
}

// The growth of each row per second.
std::vector<Row> rates(std::vector<Row> rows, const std::vector<Row>& before, double seconds) {
  std::map<std::string_view, const Numbers*> known;
  for (const Row& row : before) known[row.name] = &row.numbers;
  for (Row& row : rows) {
    const auto found = known.find(row.name);
    for (std::size_t i = 0; i < row.numbers.size(); ++i) {
      if (found != known.end()) row.numbers[i] = std::max(0.0, row.numbers[i] - (*found->second)[i]);
      row.numbers[i] /= seconds;
    }
    const auto value = [&](const char* name) {
      return row.numbers[static_cast<std::size_t>(
          std::find_if(std::begin(kColumns), std::end(kColumns), [&](auto& c) { return !std::strcmp(c.name, name); }) -
          std::begin(kColumns))];
    };
    for (std::size_t i = 0; i < row.numbers.size(); ++i)
      if (kColumns[i].is_mean) row.numbers[i] = value("read_calls") > 0 ? value("bytes_read") / value("read_calls") : 0;
  }
  return rows;
}

// ---- formatting

// Three digits and a suffix, as wide as a column.
std::string scaled(double value, double step, std::string_view suffixes) {
  std::size_t suffix = 0;
  for (; value >= 999.5 && suffix + 1 < suffixes.size(); ++suffix) value /= step;
  std::array<char, 32> text;
  const int decimals = value >= 99.95 || value == std::floor(value) ? 0 : 1;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return suffix == 0 ? text.data() : text.data() + std::string(1, suffixes[suffix]);
}

std::string shown(double value, Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return scaled(value, 1024, " KMGTP");
    case Unit::number:
      return scaled(value, 1000, " kMGTP");
    case Unit::seconds:
      break;
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), value < 100 ? "%.3f" : "%.0f", value);
  return text.data();
}

constexpr int kWidth = 8;

void print_head(const std::string& mount_point, const json& stats) {
  const json cache = stats.value("cache", json::object()), mount = stats.value("mount", json::object());
  const json metadata = stats.value("metadata", json::object());
  std::printf("%s: version %s, process %.0f, %.0f s; budget %s of %s (peak %s), metadata %s; %.0f open, %.0f errors\n",
              printable(mount_point).c_str(), printable(stats.value("version", "?")).c_str(), number_of(stats, "pid"),
              number_of(stats, "uptime_seconds"), shown(number_of(cache, "budget_used"), Unit::bytes).c_str(),
              shown(number_of(cache, "budget"), Unit::bytes).c_str(),
              shown(number_of(cache, "budget_peak"), Unit::bytes).c_str(),
              shown(number_of(metadata, "total"), Unit::bytes).c_str(), number_of(mount, "handles"),
              number_of(mount, "errors"));
}

void print_row(const Row& row) {
  for (std::size_t i = 0; i < row.numbers.size(); ++i)
    std::printf("%*s", kWidth, shown(row.numbers[i], kColumns[i].unit).c_str());
  std::printf("  %s\n", printable(row.name).c_str());
}

void print_table(const std::vector<Row>& rows, const Row& all, bool a_second) {
  for (const StatColumn& column : kColumns) std::printf("%*s", kWidth, column.title);
  std::printf("  %s\n", a_second ? "each second" : "since the start");
  for (const Row& row : rows)
    if (std::any_of(row.numbers.begin(), row.numbers.end(), [](double n) { return n > 0; })) print_row(row);
  print_row(all);
}

struct Sample {
  json stats;
  std::vector<Row> rows;  // the last is the sum
  std::chrono::steady_clock::time_point time;
};

Result<Sample> sample(const std::string& mount_point, bool branches) {
  TRY(json stats, read_stats(mount_point));
  std::vector<Row> rows = rows_of(stats, branches);
  rows.push_back(row_of("all", stats.value("cache", json::object())));
  return Sample{std::move(stats), std::move(rows), std::chrono::steady_clock::now()};
}

void print_sample(const std::string& mount_point, const Sample& now, const Sample* before) {
  std::vector<Row> rows = now.rows;
  if (before) rows = rates(rows, before->rows, std::chrono::duration<double>(now.time - before->time).count());
  print_head(mount_point, now.stats);
  const Row all = std::move(rows.back());
  rows.pop_back();
  print_table(rows, all, before != nullptr);
}

// Runs until the user ends it, or the mount ends.
Result<> watch(const std::string& mount_point, bool branches, double seconds) {
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  TRY(Sample before, sample(mount_point, branches));
  print_sample(mount_point, before, nullptr);
  for (;;) {
    TRY_VOID(finish_output());
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    if (!is_tfilefs_mount(mount_point)) return tfile::fail(ErrorKind::not_found, mount_point + ": was unmounted");
    TRY(Sample now, sample(mount_point, branches));
    std::fputs(is_terminal ? "\033[H\033[J" : "\n", stdout);
    print_sample(mount_point, now, &before);
    before = std::move(now);
  }
}

}  // namespace

int run_stats(int argc, char** argv) {
  CommandLine command("stats");
  std::string mount_point;
  bool branches = false, is_json = false;
  double seconds = 0;
  command.take("MNT", mount_point);
  command.take("-b", branches);
  constexpr double kIntervalLeast = 0.1;
  command.take_seconds("-w", seconds, kIntervalLeast);
  command.take("--json", is_json);
  if (const auto code = command.parse(argc, argv)) return *code;

  if (is_json && seconds > 0) {
    complain({ErrorKind::invalid, "--json and --watch exclude each other"});
    return kExitUsage;
  }
  mount_point = absolute_path(mount_point);
  if (!is_tfilefs_mount(mount_point)) return complain(no_mount(mount_point, ": not a mount point of tfilefs"));
  if (seconds > 0) {
    const auto end = watch(mount_point, branches, seconds);
    return end ? kExitOk : complain(end.error());
  }
  const auto now = sample(mount_point, branches);
  if (!now) return complain(now.error());
  if (is_json) {
    print_json(now->stats);
  } else {
    print_sample(mount_point, *now, nullptr);
  }
  return kExitOk;
}

}  // namespace tfilefs
