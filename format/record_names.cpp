// SPDX-License-Identifier: Apache-2.0
#include "record_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "container/payload.h"
#include "ntuple/ntuple_table.h"

namespace tfile {
namespace {

// A record may hold the pages of a whole cluster. At most this many of its columns are named.
constexpr std::size_t kColumnsNamed = 3;
// No program writes attribute sets of attribute sets, but a file may claim that its sets contain each other.
constexpr int kSetsDepthMax = 4;

// The content of one record, as far as it belongs to the current RNTuple.
struct Held {
  std::string name;  // of a record that is not a page
  std::vector<std::string> columns;
  std::string last_column;
  std::size_t column_count = 0;
};

class BlobNames {
 public:
  BlobNames(const File& file, std::vector<Record>& records) : file_(file), records_(records) {}

  // Walks the directories without recursion.
  Result<> name_all() {
    std::vector<std::shared_ptr<const DirectoryListing>> open = {file_.root()};
    while (!open.empty()) {
      const auto listing = std::move(open.back());
      open.pop_back();
      if (!seen_.insert(listing->seek).second) continue;
      for (const KeyInfo& key : listing->keys) {
        if (key.kind == KeyKind::directory) {
          if (auto below = file_.directory(key)) open.push_back(*std::move(below));
        } else if (is_ntuple(key.class_name)) {
          TRY_VOID(name_table(key, std::string(key.name), 0));
        }
      }
    }
    return {};
  }

 private:
  Result<> name_table(const KeyInfo& key, const std::string& table, int depth) {
    const auto anchor = read_payload(file_.source(), key);
    if (!anchor) return {};
    held_.clear();
    TRY_VOID(each_block(file_.shared_source(), anchor->span(), [&](const NtupleBlock& block) { note(block); }));
    for (const auto& [index, held] : held_) records_[index].name = table + ": " + text_of(held);
    const auto sets = file_.attribute_sets(key);
    if (!sets || depth >= kSetsDepthMax) return {};
    for (const KeyInfo& set : (*sets)->keys) {
      if (const auto at = record_of(set.seek)) records_[*at].name = table + ": anchor of " + std::string(set.name);
      // Visits each set once: sets that contain each other can be reached in as many ways as they can be ordered.
      if (sets_.insert(set.seek).second) TRY_VOID(name_table(set, table + ": " + std::string(set.name), depth + 1));
    }
    return {};
  }

  // The record that contains the byte at `address`.
  std::optional<std::size_t> record_of(std::uint64_t address) const {
    const auto behind = std::ranges::upper_bound(records_, address, {}, &Record::begin);
    if (behind == records_.begin()) return std::nullopt;
    const Record& record = *std::prev(behind);
    const bool is_in = record.kind == Record::Kind::record && address - record.begin < record.size;
    if (!is_in) return std::nullopt;
    return static_cast<std::size_t>(std::prev(behind) - records_.begin());
  }

  void note(const NtupleBlock& block) {
    const auto at = record_of(block.range.begin);
    if (!at || !records_[*at].name.empty() || records_[*at].class_name != "RBlob") return;
    Held& held = held_[*at];
    if (!block.is_page) {
      held.name = block.holds;
      return;
    }
    // Pages of a column come one after the other, so a change of name is a new column.
    if (held.column_count > 0 && held.last_column == block.holds) return;
    held.last_column = block.holds;
    ++held.column_count;
    if (held.columns.size() < kColumnsNamed) held.columns.emplace_back(block.holds);
  }

  static std::string text_of(const Held& held) {
    if (held.columns.empty()) return held.name;
    std::string text = held.name.empty() ? "" : held.name + ", ";
    text += "pages of ";
    for (std::size_t i = 0; i < held.columns.size(); ++i) text += (i == 0 ? "" : ", ") + held.columns[i];
    const std::size_t more = held.column_count - held.columns.size();
    return more == 0 ? text : text + " and " + std::to_string(more) + " more columns";
  }

  const File& file_;
  std::vector<Record>& records_;
  std::set<std::uint64_t> seen_;  // directories, by address
  std::set<std::uint64_t> sets_;  // attribute sets, likewise
  std::map<std::size_t, Held> held_;
};

}  // namespace

Result<> name_blobs(const File& file, std::vector<Record>& records) { return BlobNames(file, records).name_all(); }

}  // namespace tfile
