// SPDX-License-Identifier: Apache-2.0
#include "view/columnar_form.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "mutex.h"
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

void note_no_dates(TableForm& form, const std::map<ColumnId, std::int64_t>& no_dates) {
  if (form.date == tfile::DateKind::datime && no_dates.contains(form.values)) form.no_dates = no_dates.at(form.values);
  for (TableForm& field : form.fields) note_no_dates(field, no_dates);
}

void show_as_bytes(TableForm& form, const std::vector<bool>& binary) {
  if (form.kind == TableForm::Kind::string && binary[form.values]) form.kind = TableForm::Kind::bytes;
  for (TableForm& field : form.fields) show_as_bytes(field, binary);
}

// Looks at the first chunk of each column of characters, and at all of each column of TDatimes.
class Looking : public std::enable_shared_from_this<Looking> {
 public:
  Looking(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, SoundLengths sound,
          Reply<ColumnarForm> reply)
      : streams_(std::move(streams)),
        table_(std::move(table)),
        sound_(std::move(sound)),
        reply_(std::move(reply)),
        binary_(table_->columns.size(), false) {}

  void start(StringsAs strings) {
    std::vector<ColumnId> looked_at;
    for (ColumnId id = 0; id < table_->columns.size(); ++id) {
      if (table_->columns[id].role != Role::chars) continue;
      if (strings == StringsAs::binary) note(id);
      if (strings == StringsAs::seen && sound_.lengths[id].value_or(0) > 0) looked_at.push_back(id);
    }
    std::vector<ColumnId> dates;
    for (const tfile::Node& node : table_->nodes)
      if (node.column && date_of_numbers(node, table_->columns[*node.column]) != tfile::DateKind::none)
        dates.push_back(*node.column);
    left_ = looked_at.size() + dates.size() + 1;
    for (const ColumnId id : looked_at) look(id);
    for (const ColumnId id : dates) count(id);
    one_is_seen();
  }

 private:
  void look(ColumnId id) {
    const Column& column = table_->columns[id];
    if (column.lists.size() != 1) return look(id, kSeenInLists);
    const std::int64_t entries = table_->chunk_entries({column.stream, 0}).size();
    if (entries >= sound_.lengths[column.lists[0]].value_or(0)) return look(id, kSeenMax);
    read(column.lists[0], entries, 1, [this, self = shared_from_this(), id](const Result<Slices>& slices) {
      std::int64_t end = kSeenMax;
      if (const std::string bytes = slices ? bytes_of(*slices) : ""; bytes.size() == sizeof end)
        std::memcpy(&end, bytes.data(), sizeof end);
      look(id, std::clamp<std::int64_t>(end, 0, kSeenMax));
    });
  }

  void look(ColumnId id, std::int64_t count) {
    const std::int64_t length = *sound_.lengths[id];
    const std::int64_t seen = std::min(count, length);
    read(id, 0, seen, [this, self = shared_from_this(), id, is_cut = seen < length](const Result<Slices>& slices) {
      if (slices && !is_utf8(bytes_of(*slices), is_cut)) note(id);
      one_is_seen();
    });
  }

  void count(ColumnId id) {
    auto take = [this, self = shared_from_this(), id](const Result<std::int64_t>& found) {
      {
        const Lock lock(mutex_);
        if (found)
          no_dates_[id] = *found;
        else
          error_ = found.error();
      }
      one_is_seen();
    };
    const std::int64_t length = sound_.lengths[id].value_or(0);
    count_no_dates(streams_, table_, id, length, Reply<std::int64_t>(std::move(take), reply_.stop_token()));
  }

  template <class Then>
  void read(ColumnId id, std::int64_t first, std::int64_t count, Then then) {
    const Column& column = table_->columns[id];
    const std::size_t size = column.item_size();
    streams_->read(column.stream, column.slot, size, static_cast<std::uint64_t>(first) * size,
                   static_cast<std::size_t>(count) * size, std::move(then));
  }

  void note(ColumnId id) {
    const Lock lock(mutex_);
    binary_[id] = true;
  }

  // There may be thousands of columns: not on the thread of the asking request.
  void one_is_seen() {
    if (--left_ > 0) return;
    streams_->run_view_job([self = shared_from_this()] { self->answer(); });
  }

  void answer() {
    if (reply_.stop_token().stop_requested()) return reply_(given_up());
    ColumnarForm made{table_form(*table_, sound_.left_out), sound_.lengths};
    {
      const Lock lock(mutex_);
      if (error_) return reply_(tl::unexpected<Error>(*error_));
      note_no_dates(made.form, no_dates_);
      show_as_bytes(made.form, binary_);
    }
    reply_(std::move(made));
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const tfile::Table> table_;
  const SoundLengths sound_;
  Reply<ColumnarForm> reply_;
  std::atomic<std::size_t> left_ = 0;

  Mutex mutex_{"Looking::mutex_"};
  std::vector<bool> binary_ GUARDED_BY(mutex_);  // by column
  std::map<ColumnId, std::int64_t> no_dates_ GUARDED_BY(mutex_);
  std::optional<Error> error_ GUARDED_BY(mutex_);  // of counting them
};

}  // namespace

void columnar_form(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<const tfile::Table>& table,
                   StringsAs strings, Reply<ColumnarForm> reply) {
  auto shared = std::make_shared<Reply<ColumnarForm>>(std::move(reply));
  auto look = [streams, table, strings, shared](Result<SoundLengths> sound) {
    if (!sound) return (*shared)(tl::unexpected<Error>(sound.error()));
    std::make_shared<Looking>(streams, table, *std::move(sound), std::move(*shared))->start(strings);
  };
  sound_lengths(streams, table, Reply<SoundLengths>(std::move(look), shared->stop_token()));
}

}  // namespace tfilefs
