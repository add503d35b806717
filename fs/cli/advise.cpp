// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/resource_limits.h"
#include "cli/source_report.h"
#include "printable.h"
#include "repack/advice.h"

namespace tfilefs {
namespace {

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes < 10'000'000 ? "%.2f MB" : "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

void print_advice(const OneSource& source, const TableAdvice& told) {
  const bool is_tree = told.kind == "ttree";
  const char* const parts = is_tree ? "baskets" : "pages";
  const char* const column = is_tree ? "branch" : "column";
  const char* const columns = is_tree ? "branches" : "columns";
  std::printf("%s: %s, %lld entries, %zu %s, %s\n", printable(told.path).c_str(), told.kind.c_str(),
              static_cast<long long>(told.entries), told.streams, columns, megabytes(told.stored).c_str());
  std::printf("  clusters      %zu, of %lld entries and %s\n", told.clusters,
              static_cast<long long>(told.entries) / static_cast<long long>(std::max<std::size_t>(1, told.clusters)),
              megabytes(told.stored / std::max<std::size_t>(1, told.clusters)).c_str());
  std::printf("  %-13s %zu: %.1f for each %s in a cluster, of %llu bytes\n", parts, told.chunks, told.chunks_each(),
              column, static_cast<unsigned long long>(told.stored / std::max<std::size_t>(1, told.chunks)));
  std::printf("  read in order %zu steps backward; of five %s %zu\n", told.steps_back, columns,
              told.steps_back_of_five);
  std::printf("  codec         %s\n", told.codec.c_str());
  if (told.keys) std::printf("  keys          %.1f %% of it\n", 100 * *told.keys);
  if (told.as_ntuple) {
    std::printf(
        "  as RNTuple    about %s (%.0f %%), zstd:5\n", megabytes(*told.as_ntuple).c_str(),
        100.0 * static_cast<double>(*told.as_ntuple) / static_cast<double>(std::max<std::uint64_t>(1, told.stored)));
  } else {
    std::printf("  as RNTuple    parts of it cannot be written\n");
  }
  if (told.command) {
    std::printf("  to do         tfilefs repack%s %s OUT.root\n", told.command->c_str(),
                printable(source.shown).c_str());
  } else {
    std::printf("  to do         nothing\n");
  }
}

nlohmann::ordered_json advice_json(const OneSource& source, const TableAdvice& told) {
  nlohmann::ordered_json item{{"source", source.shown}, {"table", told.path}};
  if (!told.reason.empty()) {
    item["reason"] = told.reason;
    return item;
  }
  item.update({{"kind", told.kind},
               {"entries", told.entries},
               {"streams", told.streams},
               {"clusters", told.clusters},
               {"chunks", told.chunks},
               {"stored", told.stored},
               {"steps_back", told.steps_back},
               {"steps_back_of_five", told.steps_back_of_five},
               {"compression", told.codec}});
  if (told.keys) item["keys"] = *told.keys;
  if (told.as_ntuple) item["as_rntuple"] = *told.as_ntuple;
  if (told.command) item["repack"] = *told.command;
  return item;
}

// `json`: where the tables are added; null: they are printed.
int advise_on(const OneSource& source, nlohmann::ordered_json* json) {
  const auto tables = advise(source.name, {}, usable_cores());
  if (!tables) return complain(tables.error());
  if (json) {
    for (const TableAdvice& table : *tables) json->push_back(advice_json(source, table));
    return kExitOk;
  }
  print_title(source);
  for (const TableAdvice& table : *tables) {
    if (table.reason.empty()) {
      print_advice(source, table);
    } else {
      std::printf("%s: %s\n", printable(table.path).c_str(), printable(table.reason).c_str());
    }
  }
  if (tables->empty()) std::printf("%s: no tables\n", printable(source.shown).c_str());
  return kExitOk;
}

}  // namespace

int run_advise(int argc, char** argv) { return report_on_sources("advise", argc, argv, advise_on); }

}  // namespace tfilefs
