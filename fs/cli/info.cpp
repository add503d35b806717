// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bytes_text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/key_walk.h"
#include "cli/source_report.h"
#include "printable.h"
#include "root_file.h"

namespace tfilefs {
namespace {

struct ToldTable {
  std::string path, kind, reason;
  std::int64_t entries = 0;
  std::size_t columns = 0;  // directories and files in it
  std::uint64_t stored = 0;
};

// A file as a screen shows it.
struct ToldFile {
  std::string name, title, version;
  std::uint64_t size = 0;
  bool recovered = false;
  std::size_t directories = 0;
  std::vector<ToldTable> tables;
  std::map<std::string, std::size_t> objects;  // by class
  std::map<std::string, std::size_t> codecs;   // by name, of how many columns
  std::vector<std::string> wrong;              // what could not be read
};

// "6.32/02". Files beyond 2 GB have a million more.
std::string version_text_of(std::int32_t version) {
  constexpr int kLarge = 1'000'000;
  const int number = version >= kLarge ? version - kLarge : version;
  char text[32];
  std::snprintf(text, sizeof text, "%d.%02d/%02d", number / 10'000, number / 100 % 100, number % 100);
  return text;
}

class FactsOfFile {
 public:
  explicit FactsOfFile(const tfile::File& file) : file_(file) {}

  ToldFile all(const OneSource& source) {
    facts_.name = source.shown;
    facts_.title = file_.header().title;
    facts_.version = version_text_of(file_.header().version);
    facts_.size = file_.source().size();
    facts_.recovered = file_.recovered();
    auto wrong = walk_keys(file_, [this](const auto& key, const std::string& path) { add_key(key, path); });
    std::ranges::move(wrong, std::back_inserter(facts_.wrong));
    return std::move(facts_);
  }

 private:
  void add_key(const tfile::KeyInfo& key, const std::string& path) {
    if (key.kind == tfile::KeyKind::table) return add_table(key, path);
    if (key.kind == tfile::KeyKind::object)
      ++facts_.objects[std::string(key.class_name)];
    else
      ++facts_.directories;
  }

  void add_table(const tfile::KeyInfo& key, const std::string& path) {
    const auto table = file_.unresolved_table(key);
    if (!table) return facts_.wrong.push_back(path + ": " + table.error().text);
    ToldTable& told = facts_.tables.emplace_back();
    told.path = path;
    told.kind = std::string(key.class_name);
    told.reason = (*table)->reason;
    told.entries = (*table)->entries;
    told.columns = (*table)->nodes.empty() ? 0 : (*table)->nodes[0].children.size();
    for (tfile::StreamId stream = 0; stream < (*table)->stream_count(); ++stream)
      told.stored += (*table)->shape(stream).stored_bytes;
    for (const tfile::Column& column : (*table)->columns) ++facts_.codecs[column.compression];
  }

  const tfile::File& file_;
  ToldFile facts_;
};

// Names with their numbers, the largest first.
std::vector<std::pair<std::string, std::size_t>> largest_first(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::size_t>::second);
  return sorted;
}

// "zlib:1", "zlib:1, zstd:5": most used first.
std::string codecs_text(const std::map<std::string, std::size_t>& codecs) {
  std::string text;
  for (const auto& [name, count] : largest_first(codecs))
    if (!name.empty()) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

// One screen: no file has more lines.
constexpr std::size_t kTablesShown = 8, kClassesShown = 6;

std::string more_than(std::size_t count, std::size_t shown) {
  return count > shown ? "  and " + std::to_string(count - shown) + " more\n" : "";
}

std::string tables_text(const std::vector<ToldTable>& tables) {
  std::string text;
  std::size_t width = 0;
  for (std::size_t i = 0; i < tables.size() && i < kTablesShown; ++i)
    width = std::max(width, printable(tables[i].path).size());
  for (std::size_t i = 0; i < tables.size() && i < kTablesShown; ++i) {
    const ToldTable& table = tables[i];
    std::string name = printable(table.path);
    name.resize(std::max(width, name.size()), ' ');
    text += "  " + name + "  " + printable(table.kind) + ", ";
    text += table.reason.empty() ? std::to_string(table.entries) + " entries, " + std::to_string(table.columns) +
                                       " columns, " + bytes_text(static_cast<double>(table.stored))
                                 : printable(table.reason);
    text += "\n";
  }
  return text + more_than(tables.size(), kTablesShown);
}

std::string objects_text(const std::map<std::string, std::size_t>& objects) {
  const auto sorted = largest_first(objects);
  std::string text;
  for (std::size_t i = 0; i < sorted.size() && i < kClassesShown; ++i)
    text += "  " + std::to_string(sorted[i].second) + " " + printable(sorted[i].first) + "\n";
  return text + more_than(sorted.size(), kClassesShown);
}

std::string next_text(const ToldFile& facts) {
  const std::string file = printable(facts.name);
  const std::string table = facts.tables.empty() ? "" : printable(facts.tables.front().path);
  std::string text = "next:\n  tfilefs ls " + file + (table.empty() ? "" : "/" + table) + "\n";
  if (!table.empty()) text += "  tfilefs cat " + file + "/" + table + ".csv | head\n";
  text += "  tfilefs browse " + file + "\n  tfilefs " + file + " mnt\n";
  return text;
}

void print_facts(const ToldFile& facts) {
  std::string text = printable(facts.name) + ": " + bytes_text(static_cast<double>(facts.size)) +
                     ", written with ROOT " + facts.version;
  const std::string codecs = codecs_text(facts.codecs);
  if (!codecs.empty()) text += codecs == "none" ? ", not compressed" : ", " + codecs;
  text += "\n";
  if (facts.recovered) text += "was not closed: its keys were recovered\n";
  if (facts.directories > 0) text += std::to_string(facts.directories) + " directories\n";
  if (!facts.tables.empty()) text += "tables:\n" + tables_text(facts.tables);
  if (!facts.objects.empty()) text += "objects:\n" + objects_text(facts.objects);
  if (facts.tables.empty() && facts.objects.empty()) text += "nothing is in it\n";
  std::fputs((text + next_text(facts)).c_str(), stdout);
}

nlohmann::ordered_json facts_json(const ToldFile& facts) {
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  for (const ToldTable& table : facts.tables) {
    tables.push_back({{"table", table.path},
                      {"class", table.kind},
                      {"entries", table.entries},
                      {"columns", table.columns},
                      {"stored", table.stored}});
    if (!table.reason.empty()) tables.back()["reason"] = table.reason;
  }
  return {{"file", facts.name},          {"size", facts.size},           {"title", facts.title},
          {"version", facts.version},    {"recovered", facts.recovered}, {"directories", facts.directories},
          {"tables", std::move(tables)}, {"objects", facts.objects},     {"compression", facts.codecs}};
}

// `json`: where the facts are added; null: they are printed.
int show_info(const OneSource& source, nlohmann::ordered_json* json) {
  static bool is_first = true;
  const auto file = open_root_file(source.name);
  if (!file) return complain(file.error());
  const ToldFile facts = FactsOfFile(**file).all(source);
  if (json) {
    json->push_back(facts_json(facts));
  } else {
    if (!std::exchange(is_first, false)) std::fputs("\n", stdout);
    print_facts(facts);
  }
  for (const std::string& line : facts.wrong) complain(Error{ErrorKind::damaged, source.shown + "/" + line});
  return facts.wrong.empty() ? kExitOk : kExitFailure;
}

}  // namespace

int run_info(int argc, char** argv) { return report_on_sources("info", argc, argv, show_info); }

}  // namespace tfilefs
