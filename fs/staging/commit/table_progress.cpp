// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/table_progress.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_set>

#include "staging/commit/column_items.h"
#include "staging/commit/variant_types.h"
#include "tfile/name.h"
#include "tfile/node.h"

namespace tfilefs {

using tfile::fail;
using tfile::FieldForm;
using tfile::InputColumn;
using tfile::Role;

namespace {

using StagedAt = std::map<std::string_view, StagedColumn*>;

// The state of one field.
struct Counted {
  std::int64_t entries = 0;               // complete ones
  std::int64_t offered = 0;               // entries of its outermost column
  std::vector<std::string> wrong, lacks;  // errors in its columns, and what is only missing so far
  std::vector<std::string> hopeless;      // errors that more bytes cannot remove
};

std::string count(std::int64_t n, const char* what) { return std::to_string(n) + " " + what; }

// One column of a field.
struct Level {
  const InputColumn* offered = nullptr;
  StagedColumn* staged = nullptr;  // null: nothing of it is staged
  std::uint32_t list =
      FieldForm::kEachEntry;         // the level between whose offsets its items are, or whose tags count them
  std::uint8_t tag = 0;              // of an alternative: its tag
  std::size_t alternatives = 0;      // of tags, which the level of the index follows
  std::int64_t items = 0;            // staged or committed; of offsets the number of lists
  std::int64_t committed_lists = 0;  // of offsets
  std::int64_t end = 0;              // of offsets: the last one
  std::vector<std::int64_t> ends;    // of tags: how many items each alternative has, by its tag less 1
  bool is_list() const { return offered->role == Role::offsets; }
};

// Finds where the committed lists end, and all of them. `below`: the column of their items.
Result<> find_ends(Level& list, const Level& below, const CommittedTable* committed) {
  StagedColumn& offsets = *list.staged;
  list.committed_lists = committed_items(offsets, *list.offered);
  if (below.staged) {
    offsets.committed_end = committed_items(*below.staged, *below.offered);
  } else if (offsets.base > 0 && committed) {
    TRY(offsets.committed_end, committed->items(below.offered->path));
  }
  list.end = offsets.committed_end;
  if (list.items > list.committed_lists) {
    TRY(list.end, list_begin(offsets, list.items));
    TRY(const std::int64_t first_end, list_begin(offsets, list.committed_lists + 1));
    if (first_end < offsets.committed_end)
      return fail(ErrorKind::invalid, list.offered->path + ": offsets decrease: " + std::to_string(first_end) +
                                          " after the committed " + std::to_string(offsets.committed_end));
  }
  return {};
}

// The number of lists that lie within the first `items` items of the column below.
Result<std::int64_t> lists_within(const Level& list, std::int64_t items) {
  if (!list.staged || list.end <= items) return list.items;
  std::int64_t within = list.committed_lists, beyond = list.items;
  while (beyond - within > 1) {
    const std::int64_t middle = within + (beyond - within) / 2;
    TRY(const std::int64_t end, list_begin(*list.staged, middle));
    (end <= items ? within : beyond) = middle;
  }
  return within;
}

// The number of variants that lie within the first `items` items of an alternative. `at`: the level of the tags.
Result<std::int64_t> variants_within(const std::vector<Level>& levels, std::size_t at, std::uint8_t tag,
                                     std::int64_t items) {
  const Level &tags = levels[at], &index = levels[at + 1];
  if (!tags.staged || !index.staged || tags.ends[tag - 1] <= items) return tags.items;
  return variants_within(*tags.staged, *index.staged, tag, items);
}

// The column that tells how many items of the lists, or of the alternative, are committed: a staged one if there is
// one.
Level& told_by(std::vector<Level>& levels, std::size_t list, std::uint8_t tag = 0) {
  const auto is_inside = [&](const Level& level) { return level.list == list && level.tag == tag; };
  const auto staged = std::ranges::find_if(levels, [&](const Level& l) { return is_inside(l) && l.staged; });
  return staged != levels.end() ? *staged : *std::ranges::find_if(levels, is_inside);
}

// Compares the columns inside a list with its offsets. Returns whether the list has its first offset.
Result<bool> count_list(std::vector<Level>& levels, std::size_t at, const CommittedTable* committed, Counted& counted) {
  Level& list = levels[at];
  const Level& told = told_by(levels, at);
  bool begun = true;
  if (list.staged) {
    TRY_VOID(find_ends(list, told, committed));
    // If it were committed without, the offset 0 would be added, and later bytes would come behind that.
    begun = list.staged->base > 0 || list.staged->size >= list.staged->header + sizeof(std::int64_t);
    if (!begun) counted.lacks.push_back(list.offered->path + ": the first offset, 0, is missing");
  } else {
    list.end = told.staged ? committed_items(*told.staged, *told.offered) : 0;
  }
  for (Level& below : levels) {
    if (below.list != at) continue;
    if (!below.staged) below.items = list.staged ? list.staged->committed_end : list.end;
    if (below.items == list.end) continue;
    counted.lacks.push_back(below.offered->path + ": " + count(below.items, "items, ") + list.offered->path +
                            " expects " + std::to_string(list.end));
  }
  return begun;
}

// The fault in the staged variants of an alternative, whose first item is number `begin`; empty: none.
std::string wrong_variant(const StagedColumn& tags, const VariantsSeen::Alternative& seen, std::int64_t begin) {
  if (seen.first != begin) return wrong_index(tags, seen.at, begin);
  return seen.wrong ? wrong_index(tags, *seen.wrong, seen.wanted) : "";
}

// Compares the columns of an alternative with the tags.
Result<> count_alternative(std::vector<Level>& levels, std::size_t at, std::uint8_t tag, const VariantsSeen& seen,
                           const CommittedTable* committed, Counted& counted) {
  const Level& tags = levels[at];
  const Level& told = told_by(levels, at, tag);
  const auto found = std::ranges::find(seen.alternatives, tag, &VariantsSeen::Alternative::tag);
  const bool is_held = found != seen.alternatives.end();
  std::int64_t begin = 0;
  if (told.staged) {
    begin = committed_items(*told.staged, *told.offered);
  } else if (is_held && tags.staged->base > 0 && committed) {
    TRY(begin, committed->items(told.offered->path));
  }
  std::string wrong = is_held ? wrong_variant(*tags.staged, *found, begin) : "";
  if (!wrong.empty()) counted.hopeless.push_back(std::move(wrong));
  const std::int64_t end = levels[at].ends.emplace_back(is_held ? found->next : begin);
  for (Level& below : levels) {
    if (below.list != at || below.tag != tag) continue;
    if (!below.staged) below.items = begin;
    if (below.items == end) continue;
    counted.lacks.push_back(below.offered->path + ": " + count(below.items, "items, ") + tags.offered->path +
                            " expects " + std::to_string(end));
  }
  return {};
}

// Compares the columns of all alternatives with the tags.
Result<> count_variants(std::vector<Level>& levels, std::size_t at, const CommittedTable* committed, Counted& counted) {
  const Level &tags = levels[at], &index = levels[at + 1];
  VariantsSeen seen;
  if (tags.staged && index.staged) {
    TRY(seen, look_at_variants(*tags.staged, *index.staged, tags.staged->variants));
  }
  for (const VariantsSeen::Alternative& alternative : seen.alternatives) {
    if (alternative.tag <= tags.alternatives) continue;
    counted.hopeless.push_back(tags.offered->path + ": variant " + std::to_string(alternative.at) + " has tag " +
                               std::to_string(static_cast<std::int8_t>(alternative.tag)) + ", of " +
                               count(static_cast<std::int64_t>(tags.alternatives), "alternatives"));
  }
  for (std::size_t tag = 1; tag <= tags.alternatives; ++tag)
    TRY_VOID(count_alternative(levels, at, static_cast<std::uint8_t>(tag), seen, committed, counted));
  return {};
}

// An entry is complete when all items of its lists are there, and of the alternatives that it holds.
Result<> count_levels(std::vector<Level>& levels, const CommittedTable* committed, Counted& counted) {
  bool all_begun = true;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].alternatives > 0) TRY_VOID(count_variants(levels, i, committed, counted));
    if (!levels[i].is_list()) continue;
    TRY(const bool begun, count_list(levels, i, committed, counted));
    all_begun = all_begun && begun;
  }
  for (const Level& level : levels) {
    const Level* at = &level;
    std::int64_t complete = level.items;
    for (; !level.is_list() && at->list != FieldForm::kEachEntry; at = &levels[at->list]) {
      TRY(complete, at->tag == 0 ? lists_within(levels[at->list], complete)
                                 : variants_within(levels, at->list, at->tag, complete));
    }
    // Without its first offset not even entries with empty lists can be written.
    const bool is_outermost = level.list == FieldForm::kEachEntry && (level.is_list() || level.alternatives > 0);
    const bool waits = !all_begun && is_outermost && level.staged;
    if (waits) complete = committed_items(*level.staged, *level.offered);
    if (!level.is_list() || waits) counted.entries = std::min(counted.entries, complete);
  }
  return {};
}

// All members of a record must have as many entries.
void count_members(const std::vector<Level>& levels, Counted& counted) {
  for (const Level& level : levels) {
    if (level.list != FieldForm::kEachEntry || level.items == counted.offered) continue;
    counted.wrong.push_back(level.offered->path + ": " + count(level.items, "entries, its neighbours have ") +
                            std::to_string(counted.offered));
    counted.entries = std::min(counted.entries, level.items);
  }
}

// The entries of one field, and the errors in its columns. `before`: its committed entries.
Counted count_field(const FieldForm& field, const std::vector<InputColumn>& offered, const StagedAt& staged,
                    std::int64_t before, const CommittedTable* committed) {
  Counted counted;
  std::vector<Level> levels;
  const auto skipped = static_cast<std::uint32_t>(field.encoded.size() - field.columns.size());
  for (const std::uint32_t column : field.columns) {
    const std::uint32_t list = field.lists[skipped + levels.size()];
    Level& level = levels.emplace_back();
    level.offered = &offered[column];
    level.list = list == FieldForm::kEachEntry ? list : list - skipped;
    const tfile::VariantPart part = variant_part(field.variants, skipped + levels.size() - 1);
    level.tag = part.tag;
    level.alternatives = part.alternatives;
    level.items = before;
    const auto at = staged.find(level.offered->path);
    if (at == staged.end()) continue;
    level.staged = at->second;
    level.items = entries_of(*level.staged, *level.offered);
    const std::uint64_t payload = level.staged->size - std::min(level.staged->size, level.staged->header);
    if (payload % item_size(*level.offered) != 0)
      counted.wrong.push_back(level.offered->path + ": ends in the middle of an item");
  }
  counted.entries = counted.offered = levels[0].items;
  count_members(levels, counted);
  if (auto done = count_levels(levels, committed, counted); !done) counted.wrong.push_back(done.error().text);
  return counted;
}

FieldProgress times_of(const FieldForm& field, const std::vector<InputColumn>& offered, const StagedAt& staged,
                       std::int64_t entries) {
  FieldProgress progress;
  progress.entries = entries;
  for (const std::uint32_t i : field.encoded) {
    const auto at = staged.find(offered[i].path);
    if (at == staged.end()) continue;
    const StagedColumn& column = *at->second;
    const bool first = progress.first_write == FieldProgress::Time{};
    progress.first_write = first ? column.first_write : std::min(progress.first_write, column.first_write);
    progress.last_write = std::max(progress.last_write, column.last_write);
  }
  return progress;
}

std::string_view top_of(std::string_view path) { return path.substr(0, path.find('/')); }

// Whether the next commit removes the field: its column, or the directory of its columns, was removed.
bool is_removed(const StagedTable& table, const FieldForm& field, const std::vector<InputColumn>& offered) {
  const std::string_view top = top_of(offered[field.columns.back()].path);
  return std::find(table.removed.begin(), table.removed.end(), top) != table.removed.end();
}

// The columns of a table, and those that make new fields.
struct Gathered {
  StagedAt staged;
  std::vector<InputColumn> added;
  struct Wrong {
    std::string reason;
    bool is_news = true;  // not reported yet, and not about a name that a program will soon change
  };
  std::vector<Wrong> wrong;
  std::vector<std::string> open;
};

// A name that programs give to files that they are still writing.
bool is_temporary(const std::string& path) { return path[path.rfind('/') + 1] == '.'; }

// The names below which the table has columns that stay.
std::unordered_set<std::string_view> closed_fields(const StagedTable& table, const tfile::CommittedForm& old) {
  std::unordered_set<std::string_view> names;
  for (const InputColumn& column : old.columns) {
    if (column.path.find('/') != column.path.npos) names.insert(top_of(column.path));
  }
  for (const std::string& removed : table.removed) names.erase(removed);
  return names;
}

Gathered gather(StagedTable& table, const tfile::CommittedForm& old) {
  Gathered gathered;
  for (const std::string& reason : table.refused) gathered.wrong.push_back({reason, false});
  std::unordered_set<std::string_view> known;
  for (const InputColumn& column : old.columns) known.insert(column.path);
  const std::unordered_set<std::string_view> closed = closed_fields(table, old);
  for (StagedColumn& column : table.columns) {
    gathered.staged.emplace(column.path, &column);
    if (!column.unreadable.empty()) {
      if (column.is_open && is_npy(column.path)) {  // its other rows may be still to come
        gathered.open.push_back(column.path + ": open for writing");
        continue;
      }
      gathered.wrong.push_back({column.unreadable});
      if (!is_offsets(column)) continue;
    }
    if (column.is_open) gathered.open.push_back(column.path + ": open for writing");
    // The committed part of a list without items may be zero bytes.
    if (column.base > 0 || known.contains(column.path)) {
      if (!old.reason.empty()) gathered.wrong.push_back({column.path + ": cannot append entries, " + old.reason});
      continue;
    }
    auto made = tfile::offered_column(column.path);
    if (made && closed.contains(top_of(column.path))) {
      gathered.wrong.push_back({reason_of_late(column.path)});
    } else if (made) {
      made->classes = classes_above(table, column.path);
      gathered.added.push_back(*std::move(made));
    } else {
      gathered.wrong.push_back({made.error().text, !is_temporary(column.path)});
    }
  }
  return gathered;
}

void find_counters(Gathered& columns, tfile::TableFormat format) {
  const auto staged = [&](std::uint32_t i) -> StagedColumn& { return *columns.staged.at(columns.added[i].path); };
  tfile::find_counters(columns.added, staged_entries(staged, columns.added), format);
  for (std::uint32_t i = 0; i < columns.added.size(); ++i) {
    if (!columns.added[i].counter.empty()) staged(i).counter = columns.added[i].counter;
  }
}

// Counts of all fields together.
struct Counts {
  std::vector<std::pair<std::string, std::int64_t>> offered;  // entries, by the field's name
  std::int64_t entries = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> wrong, lacks, hopeless;
  std::vector<FieldProgress> fields;

  void add(const FieldForm& field, const std::vector<InputColumn>& columns, const StagedAt& staged, std::int64_t before,
           const CommittedTable* committed) {
    Counted counted = count_field(field, columns, staged, before, committed);
    std::ranges::move(counted.wrong, std::back_inserter(wrong));
    std::ranges::move(counted.lacks, std::back_inserter(lacks));
    std::ranges::move(counted.hopeless, std::back_inserter(hopeless));
    offered.emplace_back(field.name, counted.offered);
    entries = std::min(entries, counted.entries);
    fields.push_back(times_of(field, columns, staged, counted.entries));
  }
};

// Decides what is complete, once all fields are counted. `before`: committed entries; `open`: lines about columns that
// a program is still writing.
void sum_up(Counts counts, std::int64_t before, std::vector<std::string> open, TableProgress& progress) {
  std::int64_t most = 0;
  for (const auto& [name, entries] : counts.offered) {
    most = std::max(most, entries);
    counts.entries = std::min(counts.entries, entries);
  }
  std::vector<std::string>& reasons = progress.reasons;
  std::ranges::copy(counts.hopeless, std::back_inserter(reasons));
  std::ranges::move(counts.hopeless, std::back_inserter(progress.hopeless));
  std::ranges::move(counts.wrong, std::back_inserter(reasons));
  progress.entries = counts.entries;
  progress.fields = std::move(counts.fields);
  progress.can_be_cut = reasons.empty() && progress.entries > before;
  std::ranges::move(open, std::back_inserter(reasons));
  std::ranges::move(counts.lacks, std::back_inserter(reasons));
  for (const auto& [name, entries] : counts.offered) {
    if (entries != most) reasons.push_back(name + ": " + count(entries, "entries of ") + std::to_string(most));
  }
  progress.whole = reasons.empty();
}

// Notes the faults of columns by themselves. `missing`: StagedTable::missing.
void note_wrong(const std::vector<Gathered::Wrong>& wrong, const std::vector<std::string>& missing,
                TableProgress& progress) {
  for (const Gathered::Wrong& one : wrong) {
    progress.reasons.push_back(one.reason);
    if (one.is_news) progress.hopeless.push_back(one.reason);
  }
  for (const std::string& path : missing) {
    const std::string whole = path.substr(0, path.find('/'));
    progress.reasons.push_back(path + ": removed, but " + whole + " can only be removed as a whole: rm -r " + whole +
                               ", then write it again");
  }
}

}  // namespace

TableProgress progress_of(StagedTable& table, const CommittedTable* committed) {
  static const tfile::CommittedForm kNothing;
  const tfile::CommittedForm& old = committed ? committed->form : kNothing;
  const std::int64_t before = committed ? committed->entries : 0;
  const tfile::TableFormat format = committed ? committed->format : table.format;
  const bool types_are_found = format == tfile::TableFormat::rntuple && find_variant_types(table);
  Gathered columns = gather(table, old);
  find_counters(columns, format);
  TableProgress progress;
  note_wrong(columns.wrong, table.missing, progress);
  auto form = tfile::offered_form(columns.added, format);
  if (!form) {
    progress.reasons.push_back(form.error().text);
    progress.hopeless.push_back(form.error().text);
    return progress;
  }
  std::ranges::move(form->incomplete, std::back_inserter(progress.reasons));

  Counts counts;
  for (const FieldForm& field : old.fields) {
    if (!is_removed(table, field, old.columns)) counts.add(field, old.columns, columns.staged, before, committed);
  }
  // Fields of types that are not written: columns added beside them must have as many entries.
  if (committed && !old.reason.empty()) counts.offered.emplace_back("the table", before);
  for (const FieldForm& field : form->fields) counts.add(field, columns.added, columns.staged, 0, committed);
  if (counts.offered.empty()) {
    // All its fields are removed; or it has a name, and its columns may still come: neither is an error.
    const bool is_named = table.forced && table.columns.empty();
    if (table.removed.empty() && !is_named) progress.reasons.push_back("no columns");
    progress.whole = !table.removed.empty() && progress.reasons.empty() && columns.open.empty();
    return progress;
  }
  sum_up(std::move(counts), before, std::move(columns.open), progress);
  // A new field must first have all the entries of the others.
  if (committed && !form->fields.empty()) progress.can_be_cut = false;
  if (types_are_found) progress.can_be_cut = false;  // other items may tell other types
  return progress;
}

}  // namespace tfilefs
