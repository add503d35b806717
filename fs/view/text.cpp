// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>

#include "exec/answering.h"
#include "exec/for_each.h"
#include "exec/when_all.h"
#include "on_behalf.h"
#include "tfile/beyond_end.h"
#include "view/column_lengths.h"
#include "view/column_pieces.h"
#include "view/json_array.h"
#include "view/text_machine.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using Plan = TextMachine::Plan;
using Position = TextMachine::Position;

constexpr std::size_t kPieceSize = 256 << 10;    // text between two remembered positions: a few ms to write again
constexpr std::size_t kWindowsMemory = 1 << 20;  // of the columns' windows together
constexpr std::size_t kWindowMin = 4096, kWindowMax = 128 << 10;

// One run of the machine, from a position until a piece of text is complete. Each step runs on a thread that may be
// busy for a while; between steps the run waits for columns, and holds no thread.
class TextRun : public std::enable_shared_from_this<TextRun> {
 public:
  struct Piece {
    std::string text;
    Position next;          // where the text that follows begins
    bool finished = false;  // there is no further text
  };
  TextRun(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const Plan> plan);

  void go_to(Position position) { machine_.go_to(std::move(position)); }

  // Writes the next piece. One at a time. Given up between two windows when the reply's stop token waits no longer.
  void next(Reply<Piece> reply);

 private:
  void go_on(TextMachine::Stop stop, Reply<void> reply);
  void fetch(Reply<void> reply);

  // Whether the bytes read are those that the machine needs.
  bool fill(const TextMachine::Need& need, std::size_t item_size, const Slices& slices);

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const Plan> plan_;
  TextMachine machine_;
  Piece piece_;
  bool is_whole_ = false;
};

TextRun::TextRun(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const Plan> plan)
    : streams_(std::move(streams)), plan_(std::move(plan)), machine_(plan_) {}

void TextRun::next(Reply<Piece> reply) {
  piece_ = {};
  is_whole_ = false;
  auto write = [self = shared_from_this()](Reply<void> answer) {
    auto job = [self]() -> Result<TextMachine::Stop> { return self->machine_.run(self->piece_.text, kPieceSize); };
    auto go_on = [self](TextMachine::Stop stop, Reply<void> done) { self->go_on(stop, std::move(done)); };
    self->streams_->run_view_job(
        answering(std::move(job), value_for<TextMachine::Stop>(std::move(answer), std::move(go_on))));
  };
  while_more([self = shared_from_this()] { return !self->is_whole_; }, 1, std::move(write),
             answer_with<void>(std::move(reply), [self = shared_from_this()] { return std::move(self->piece_); }));
}

void TextRun::go_on(TextMachine::Stop stop, Reply<void> reply) {
  if (stop == TextMachine::Stop::needs) return fetch(std::move(reply));
  if (stop == TextMachine::Stop::damaged) return reply(tfile::fail(ErrorKind::damaged, machine_.damage()));
  piece_.finished = stop == TextMachine::Stop::finished;
  piece_.next = machine_.position();
  is_whole_ = true;
  reply({});
}

void TextRun::fetch(Reply<void> reply) {
  const TextMachine::Need need = machine_.need();
  const tfile::Column& column = plan_->table->columns[need.column];
  const std::size_t item_size = column.item_size();
  const std::size_t window_size = std::clamp(kWindowsMemory / machine_.window_count(), kWindowMin, kWindowMax);
  const std::size_t bytes = std::max(window_size / item_size, static_cast<std::size_t>(need.count)) * item_size;
  auto take = [self = shared_from_this(), need, item_size](const Slices& slices) -> Result<void> {
    if (self->fill(need, item_size, slices)) return {};
    return tfile::fail(ErrorKind::damaged, "column ends at item " +
                                               std::to_string(self->machine_.window(need.column).end) +
                                               ", its lists end at " + std::to_string(need.first + need.count));
  };
  streams_->read(column.stream, column.slot, item_size, static_cast<std::uint64_t>(need.first) * item_size, bytes,
                 answer_with<Slices>(std::move(reply), std::move(take)));
}

bool TextRun::fill(const TextMachine::Need& need, std::size_t item_size, const Slices& slices) {
  ColumnWindow& window = machine_.window(need.column);
  window.bytes.clear();
  for (const auto piece : slices.pieces) window.bytes.insert(window.bytes.end(), piece.begin(), piece.end());
  window.begin = need.first;
  window.end = need.first + static_cast<std::int64_t>(window.bytes.size() / item_size);
  return window.end >= need.first + need.count;
}

// The begin of each piece. Behind the last piece, the line of an entry without any values is repeated: a table may
// claim any number of such entries.
struct TextIndex {
  std::vector<std::uint64_t> offsets;  // one more than there are pieces
  std::vector<Position> positions;
  std::string blank;  // the line of such an entry
  std::uint64_t blanks = 0;
};

constexpr std::uint64_t kTextMax = std::uint64_t{1} << 62;  // below what a file's size may be

std::set<tfile::ColumnId> columns_of(const Plan& plan) {
  std::set<tfile::ColumnId> columns;
  for (const TextForm& form : plan.forms)
    for (const tfile::ColumnId column : form.columns()) columns.insert(column);
  return columns;
}

// Whether the text may be measured: fails if a basket that it needs is known to be lost, without reading any. Otherwise
// a caller would wait for all the text before that basket, only to get an error.
Result<> check_baskets(const CachedStreams& streams, const Plan& plan) {
  std::set<tfile::StreamId> needed;
  for (const tfile::ColumnId column : columns_of(plan)) needed.insert(plan.table->columns[column].stream);
  const tfile::StreamSet& set = streams.streams();
  for (const tfile::StreamId stream : needed)
    for (std::uint32_t chunk = 0, count = static_cast<std::uint32_t>(set.chunk_count(stream)); chunk < count; ++chunk) {
      // The text of a table ends with the table.
      if (plan.style != TextStyle::plain && set.chunk_entries({stream, chunk}).begin >= plan.counts[0]) break;
      TRY(const tfile::Locator at, set.locate({stream, chunk}));
      if (at.source && at.range.end() > at.source->size())
        return tfile::fail_beyond_end("basket: ", at.range, at.source->size());
    }
  return {};
}

// A text is written once to measure it. Pages of an RNTuple may share their bytes, so a file of some kilobytes can
// claim any number of numbers. For any file kNumbersOfAnyFile are allowed, some seconds of work, and kNumbersPerByte
// for each of its bytes, four times what zlib can make of a byte.
constexpr std::uint64_t kNumbersOfAnyFile = 1 << 27, kNumbersPerByte = 1 << 12;

Result<> check_size(const CachedStreams& streams, const Plan& plan) {
  const tfile::StreamSet& set = streams.streams();
  const std::set<tfile::ColumnId> columns = columns_of(plan);
  const std::uint64_t bytes = std::min(source_bytes(streams, *plan.table, columns), kTextMax / kNumbersPerByte);
  const std::uint64_t most = std::max(kNumbersOfAnyFile, bytes * kNumbersPerByte);
  std::uint64_t numbers = 0;
  for (const tfile::ColumnId id : columns) {
    const tfile::Column& column = plan.table->columns[id];
    const std::int64_t items = set.lengths(column.stream)[column.slot];
    if (items <= 0) continue;  // known only from the stored bytes
    const std::uint64_t in_item = column.item_size() / size_of(column.dtype);
    if (static_cast<std::uint64_t>(items) > (most - numbers) / std::max<std::uint64_t>(1, in_item))
      return no_such_view("claims far more numbers than its file has bytes for");
    numbers += static_cast<std::uint64_t>(items) * in_item;
  }
  return {};
}

class TextContent : public Content, public std::enable_shared_from_this<TextContent> {
 public:
  TextContent(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const Plan> plan, TextIndex index)
      : streams_(std::move(streams)), plan_(std::move(plan)), index_(std::move(index)) {}
  ~TextContent() override { streams_->pieces().forget(this); }

  std::uint64_t size() const override { return index_.offsets.back() + index_.blanks * index_.blank.size(); }
  std::uint64_t memory() const override {
    std::uint64_t bytes = plan_->forms.size() * sizeof(TextForm) + index_.offsets.size() * sizeof index_.offsets[0];
    for (const Position& position : index_.positions) bytes += sizeof position + position.size() * sizeof position[0];
    return bytes;
  }

  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    const std::uint64_t end = std::min<std::uint64_t>(this->size(), offset + size);
    if (offset >= end) return reply(Slices());
    gather(offset, end, Slices(), std::move(reply));
  }

 private:
  // Adds piece after piece to the answer.
  void gather(std::uint64_t offset, std::uint64_t end, Slices slices, Reply<Slices> reply) {
    while (offset < std::min(end, index_.offsets.back())) {
      const std::size_t piece = piece_at(offset);
      const PiecePtr text = streams_->pieces().find(this, piece);
      if (!text) {
        auto go_on = [self = shared_from_this(), offset, end, slices = std::move(slices)](const PiecePtr& written,
                                                                                          Reply<Slices> done) mutable {
          const std::uint64_t next = self->take(written, offset, end, slices);
          self->gather(next, end, std::move(slices), std::move(done));
        };
        return write_again(piece, value_for<PiecePtr>(std::move(reply), std::move(go_on)));
      }
      offset = take(text, offset, end, slices);
    }
    if (offset < end) add_blanks(offset, end, slices);
    reply(std::move(slices));
  }

  void add_blanks(std::uint64_t offset, std::uint64_t end, Slices& slices) const {
    const std::string& line = index_.blank;
    auto text = std::make_shared<std::string>();
    std::size_t at = (offset - index_.offsets.back()) % line.size();
    while (text->size() < end - offset) {
      text->append(line, at, end - offset - text->size());
      at = 0;
    }
    const auto all = std::as_bytes(std::span(*text));
    slices.add(all, std::move(text));
  }

  std::size_t piece_at(std::uint64_t offset) const {
    return static_cast<std::size_t>(std::upper_bound(index_.offsets.begin(), index_.offsets.end(), offset) -
                                    index_.offsets.begin() - 1);
  }

  std::uint64_t take(const PiecePtr& text, std::uint64_t offset, std::uint64_t end, Slices& slices) const {
    const std::uint64_t begin = index_.offsets[piece_at(offset)];
    const std::size_t count = std::min<std::uint64_t>(text->size() - (offset - begin), end - offset);
    slices.add(std::as_bytes(std::span(*text)).subspan(offset - begin, count), text);
    return offset + count;
  }

  void write_again(std::size_t piece, Reply<PiecePtr> reply) {
    auto run = std::make_shared<TextRun>(streams_, plan_);
    run->go_to(index_.positions[piece]);
    const std::uint64_t size = index_.offsets[piece + 1] - index_.offsets[piece];
    auto check = [size](TextRun::Piece written) -> Result<PiecePtr> {
      if (written.text.size() != size)
        return tfile::fail(ErrorKind::stale, "text has changed since its size was measured");
      return std::make_shared<const std::string>(std::move(written.text));
    };
    Reply<PiecePtr> kept = keeping(streams_->pieces(), shared_from_this(), piece, std::move(reply));
    run->next(answer_with<TextRun::Piece>(std::move(kept), std::move(check)));
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const Plan> plan_;
  const TextIndex index_;
};

Result<std::shared_ptr<Content>> measured(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const Plan> plan,
                                          TextIndex index) {
  const std::int64_t entries = plan->counts[0], written = plan->lines.value_or(entries);
  if (entries > written) {
    TextMachine machine(plan);
    machine.go_to({{.form = TextMachine::kLines, .next = written, .end = written + 1}});
    machine.run(index.blank, std::numeric_limits<std::size_t>::max());
    index.blanks = static_cast<std::uint64_t>(entries - written);
    if (index.blanks > (kTextMax - index.offsets.back()) / index.blank.size())
      return tfile::fail(ErrorKind::unsupported, "text would exceed the maximum file size");
  }
  return std::make_shared<TextContent>(std::move(streams), std::move(plan), std::move(index));
}

// The pass that measures the text: it writes every piece, and keeps its size and its beginning.
void measure(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const Plan> plan,
             Reply<std::shared_ptr<Content>> reply) {
  auto index = std::make_shared<TextIndex>();
  index->offsets.push_back(0);
  index->positions.push_back(TextMachine(plan).position());
  auto write = [run = std::make_shared<TextRun>(streams, plan), index](Reply<void> done) {
    auto note = [index](TextRun::Piece piece) {
      index->offsets.push_back(index->offsets.back() + piece.text.size());
      if (!piece.finished) index->positions.push_back(std::move(piece.next));
    };
    run->next(answer_with<TextRun::Piece>(std::move(done), std::move(note)));
  };
  // A piece that is not the last is followed by a position.
  auto is_more = [index] { return index->positions.size() == index->offsets.size(); };
  auto finish = [streams = std::move(streams), plan = std::move(plan), index] {
    return measured(streams, plan, std::move(*index));
  };
  while_more(std::move(is_more), 1, std::move(write), answer_with<void>(std::move(reply), std::move(finish)));
}

// Records without columns in all lists of one kind: no stored byte limits their number, and each takes text.
constexpr std::int64_t kHollowMax = 1 << 24;

// How many entries a form has whose column is asked for its length: then an end is one more than there are.
void count_column(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<Plan>& plan, std::size_t number,
                  Reply<void> reply) {
  const TextForm& form = plan->forms[number];
  const bool has_ends = form.ends != TextForm::kNone, is_variant = form.kind == TextForm::Kind::variant;
  const tfile::Column& column = plan->table->columns[has_ends ? form.ends : is_variant ? form.tags : form.values];
  auto take = [streams, plan, number, has_ends](std::int64_t length, Reply<void> done) {
    std::int64_t& count = plan->counts[number];
    count = std::max<std::int64_t>(0, has_ends ? length - 1 : length);
    const tfile::ColumnId other = plan->forms[number].nanoseconds;
    if (other == TextForm::kNone) return done({});
    // A timestamp ends with the shorter of its columns.
    auto shorten = [&count](std::int64_t most) { count = std::clamp<std::int64_t>(most, 0, count); };
    const tfile::Column& nanoseconds = plan->table->columns[other];
    streams->length(nanoseconds.stream, nanoseconds.slot,
                    answer_with<std::int64_t>(std::move(done), std::move(shorten)));
  };
  streams->length(column.stream, column.slot, value_for<std::int64_t>(std::move(reply), std::move(take)));
}

void count_form(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<Plan>& plan, std::size_t number,
                Reply<void> reply) {
  const TextForm& form = plan->forms[number];
  std::int64_t& count = plan->counts[number];
  if (form.hollow) {
    count = kHollowMax;
  } else if (form.kind == TextForm::Kind::record) {
    for (const std::uint32_t field : form.fields)
      if (!plan->forms[field].hollow) count = std::max(count, plan->counts[field]);
  } else if (form.kind != TextForm::Kind::elsewhere) {
    return count_column(streams, plan, number, std::move(reply));
  }
  reply({});
}

// Finds out how many entries each form outside of lists has, asking for one after the other; a record has as many as
// its longest field. Fields come after their record, so from the last form to the first.
void count_forms(std::shared_ptr<CachedStreams> streams, std::shared_ptr<Plan> plan, Reply<void> reply) {
  const std::size_t count = plan->forms.size();
  plan->counts.assign(count, 0);
  auto count_one = [streams = std::move(streams), plan = std::move(plan), count](std::size_t i, Reply<void> done) {
    count_form(streams, plan, count - 1 - i, std::move(done));
  };
  for_each(count, std::move(count_one), std::move(reply));
}

// Once the entries are counted.
Result<> check_plan(const CachedStreams& streams, Plan& plan) {
  if (plan.style != TextStyle::plain) {
    const std::int64_t held = plan.forms[0].hollow ? 0 : plan.counts[0];
    // Then the first line would be one of those that are repeated, with a comma.
    if (plan.style == TextStyle::json_array && held <= 0 && plan.table->entries > 0)
      return no_such_view("no column has entries");
    plan.counts[0] = std::max<std::int64_t>(0, plan.table->entries);
    plan.lines = std::min(held, plan.counts[0]);
  }
  TRY_VOID(check_size(streams, plan));
  return check_baskets(streams, plan);
}

void write_as(Result<std::vector<TextForm>> forms, TextStyle style, std::shared_ptr<CachedStreams> streams,
              std::shared_ptr<const tfile::Table> table, Reply<std::shared_ptr<Content>> reply) {
  if (!forms) return reply(no_such_view(std::move(forms).error().text));
  auto plan = std::make_shared<Plan>(Plan{std::move(table), *std::move(forms), {}, style});
  auto measure_it = [streams, plan](Reply<std::shared_ptr<Content>> done) {
    if (auto sound = check_plan(*streams, *plan); !sound) return done(tl::unexpected<Error>(std::move(sound).error()));
    measure(streams, plan, std::move(done));
  };
  count_forms(streams, plan, value_for<void>(std::move(reply), std::move(measure_it)));
}

}  // namespace

bool has_text(const tfile::Table& table, tfile::NodeId node) { return text_forms(table, node).has_value(); }
bool has_csv(const tfile::Table& table) { return table_text_forms(table, TextStyle::csv).has_value(); }

void text_content(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, tfile::NodeId node,
                  Reply<std::shared_ptr<Content>> reply) {
  write_as(text_forms(*table, node), TextStyle::plain, std::move(streams), table, std::move(reply));
}

void table_text_content(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                        TextStyle style, Reply<std::shared_ptr<Content>> reply) {
  if (style == TextStyle::csv)  // CSV shows no lists
    return write_as(table_text_forms(*table, style), style, std::move(streams), table, std::move(reply));
  auto write = [streams, table, style](const SoundLengths& sound, Reply<std::shared_ptr<Content>> done) {
    Reply<std::shared_ptr<Content>> whole = style == TextStyle::json_array
                                                ? answer_with<std::shared_ptr<Content>>(std::move(done), json_array)
                                                : std::move(done);
    write_as(table_text_forms(*table, style, sound.left_out), style, streams, table, std::move(whole));
  };
  sound_lengths(streams, table, value_for<SoundLengths>(std::move(reply), std::move(write)));
}

}  // namespace tfilefs
