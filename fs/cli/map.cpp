// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/source_report.h"
#include "root_file.h"
#include "view/view.h"

namespace tfilefs {
namespace {

Result<std::vector<tfile::Record>> map_of(const std::string& source) {
  TRY(const auto file, open_root_file(source));
  return file->record_map();
}

const char* kind_of(const tfile::Record& record) {
  switch (record.kind) {
    case tfile::Record::Kind::header:
      return "header";
    case tfile::Record::Kind::record:
      return "record";
    case tfile::Record::Kind::gap:
      return "gap";
    case tfile::Record::Kind::trailing:
      break;
  }
  return "after the end";
}

void add_json(const OneSource& source, const std::vector<tfile::Record>& records, nlohmann::ordered_json& to) {
  for (const tfile::Record& record : records) {
    nlohmann::ordered_json& item = to.emplace_back(
        nlohmann::ordered_json{{"kind", kind_of(record)}, {"byte", record.begin}, {"size", record.size}});
    if (record.kind == tfile::Record::Kind::record) {
      item["class"] = record.class_name;
      item["name"] = record.name;
      item["title"] = record.title;
      item["cycle"] = record.cycle;
      item["unpacked"] = std::uint64_t{record.objlen} + record.keylen;
      item["time"] = tfile::unix_time(record.datime);
    }
    if (source.is_of_several) item["source"] = source.shown;
  }
}

// `json`: where the records are added; null: they are printed.
int show_map(const OneSource& source, nlohmann::ordered_json* json) {
  const auto records = map_of(source.name);
  if (!records) {
    Error error = records.error();
    if (!error.text.starts_with(source.shown)) error.text = source.shown + ": " + error.text;
    return complain(error);
  }
  if (json) {
    add_json(source, *records, *json);
    return kExitOk;
  }
  print_title(source);
  const std::string text = map_text(*records);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kExitOk;
}

}  // namespace

int run_map(int argc, char** argv) { return report_on_sources("map", argc, argv, show_map); }

}  // namespace tfilefs
