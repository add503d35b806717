// SPDX-License-Identifier: Apache-2.0
#include "view/columnar_form.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "exec/answering.h"
#include "exec/when_all.h"
#include "on_behalf.h"
#include "tfile/json_text.h"
#include "view/date_columns.h"

namespace tfilefs {
namespace {

using tfile::Role;
using tfile::utf8_length;

// Bytes of the first chunk that are looked at; ROOT's baskets have 32 kB by default. kSeenInLists is for strings in
// lists, whose place in the chunk is not known.
constexpr std::int64_t kSeenMax = 1 << 20, kSeenInLists = 64 << 10;

std::string bytes_of(const Slices& slices) {
  std::string bytes;
  for (const auto piece : slices.pieces) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return bytes;
}

// `is_cut`: the last character may go on behind the text.
bool is_utf8(std::string_view text, bool is_cut) {
  constexpr std::size_t kCharacterMax = 4;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return is_cut && text.size() < kCharacterMax;
    text.remove_prefix(length);
  }
  return true;
}

// By column. Several are noted at the same time, so each has a byte of its own.
using Binary = std::vector<char>;

struct Seen {
  Binary binary;                                      // characters that are no UTF-8
  std::vector<std::optional<std::int64_t>> no_dates;  // by column of TDatimes
};

void note_no_dates(TableForm& form, const std::vector<std::optional<std::int64_t>>& no_dates) {
  if (form.date == tfile::DateKind::datime && no_dates[form.values]) form.no_dates = *no_dates[form.values];
  for (TableForm& field : form.fields) note_no_dates(field, no_dates);
}

void show_as_bytes(TableForm& form, const Binary& binary) {
  if (form.kind == TableForm::Kind::string && binary[form.values] != 0) form.kind = TableForm::Kind::bytes;
  for (TableForm& field : form.fields) show_as_bytes(field, binary);
}

// Looks at the first chunk of a column of characters, and at all of a column of TDatimes.
class Looking {
 public:
  Looking(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, SoundLengths sound)
      : streams_(std::move(streams)), table_(std::move(table)), sound_(std::move(sound)) {}

  std::vector<ColumnId> columns(StringsAs strings) const {
    std::vector<ColumnId> found;
    for (ColumnId id = 0; strings == StringsAs::seen && id < table_->columns.size(); ++id)
      if (table_->columns[id].role == Role::chars && sound_.lengths[id].value_or(0) > 0) found.push_back(id);
    for (const tfile::Node& node : table_->nodes)
      if (node.column && date_of_numbers(node, table_->columns[*node.column]) != tfile::DateKind::none)
        found.push_back(*node.column);
    return found;
  }

  Seen unseen(StringsAs strings) const {
    Seen seen{Binary(table_->columns.size()), {}};
    seen.no_dates.resize(table_->columns.size());
    for (ColumnId id = 0; strings == StringsAs::binary && id < table_->columns.size(); ++id)
      seen.binary[id] = table_->columns[id].role == Role::chars ? 1 : 0;
    return seen;
  }

  void look(ColumnId id, Seen& seen, Reply<void> reply) const {
    const Column& column = table_->columns[id];
    if (column.role == Role::chars) return look_at_characters(id, seen.binary[id], std::move(reply));
    auto note = [&none = seen.no_dates[id]](std::int64_t found) { none = found; };
    count_no_dates(streams_, table_, id, sound_.lengths[id].value_or(0),
                   answer_with<std::int64_t>(std::move(reply), std::move(note)));
  }

  ColumnarForm form(const Seen& seen) const {
    ColumnarForm made{table_form(*table_, sound_.left_out), sound_.lengths};
    note_no_dates(made.form, seen.no_dates);
    show_as_bytes(made.form, seen.binary);
    return made;
  }

 private:
  void look_at_characters(ColumnId id, char& is_binary, Reply<void> reply) const {
    const Column& column = table_->columns[id];
    if (column.lists.size() != 1) return look_at_first(id, kSeenInLists, is_binary, std::move(reply));
    const std::int64_t entries = table_->chunk_entries({column.stream, 0}).size();
    if (entries >= sound_.lengths[column.lists[0]].value_or(0))
      return look_at_first(id, kSeenMax, is_binary, std::move(reply));
    auto with_end = [this, id, &is_binary](const std::string& bytes, Reply<void> done) {
      std::int64_t end = kSeenMax;
      if (bytes.size() == sizeof end) std::memcpy(&end, bytes.data(), sizeof end);
      look_at_first(id, std::clamp<std::int64_t>(end, 0, kSeenMax), is_binary, std::move(done));
    };
    read(column.lists[0], entries, 1, value_for<std::string>(std::move(reply), std::move(with_end)));
  }

  void look_at_first(ColumnId id, std::int64_t count, char& is_binary, Reply<void> reply) const {
    const std::int64_t length = *sound_.lengths[id];
    const std::int64_t seen = std::min(count, length);
    auto note = [&is_binary, is_cut = seen < length](const std::string& bytes) {
      if (!is_utf8(bytes, is_cut)) is_binary = 1;
    };
    read(id, 0, seen, answer_with<std::string>(std::move(reply), std::move(note)));
  }

  // The bytes of these items; none where they cannot be read.
  void read(ColumnId id, std::int64_t first, std::int64_t count, Reply<std::string> reply) const {
    const Column& column = table_->columns[id];
    const std::size_t size = column.item_size();
    auto take = [](Result<Slices> slices, Reply<std::string> done) {
      done(slices ? bytes_of(*std::exchange(slices, Slices())) : std::string());
    };
    streams_->read(column.stream, column.slot, size, static_cast<std::uint64_t>(first) * size,
                   static_cast<std::size_t>(count) * size, on_behalf_of<Slices>(std::move(reply), std::move(take)));
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const tfile::Table> table_;
  const SoundLengths sound_;
};

void look_at_all(const std::shared_ptr<const Looking>& looking, const std::shared_ptr<CachedStreams>& streams,
                 StringsAs strings, Reply<ColumnarForm> reply) {
  std::vector<ColumnId> columns = looking->columns(strings);
  const std::size_t count = columns.size();
  auto look = [looking, columns = std::move(columns)](std::size_t i, Seen& seen, Reply<void> done) {
    looking->look(columns[i], seen, std::move(done));
  };
  // There may be thousands of columns: not on the thread of the asking request.
  auto make = [looking, streams](Seen seen, Reply<ColumnarForm> done) {
    auto job = [looking, seen = std::move(seen)]() -> Result<ColumnarForm> { return looking->form(seen); };
    streams->run_view_job(answering(std::move(job), std::move(done)));
  };
  when_all(count, count, looking->unseen(strings), std::move(look), value_for<Seen>(std::move(reply), std::move(make)));
}

}  // namespace

void columnar_form(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<const tfile::Table>& table,
                   StringsAs strings, Reply<ColumnarForm> reply) {
  auto look = [streams, table, strings](SoundLengths sound, Reply<ColumnarForm> done) {
    look_at_all(std::make_shared<const Looking>(streams, table, std::move(sound)), streams, strings, std::move(done));
  };
  sound_lengths(streams, table, value_for<SoundLengths>(std::move(reply), std::move(look)));
}

}  // namespace tfilefs
