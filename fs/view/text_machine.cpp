// SPDX-License-Identifier: Apache-2.0
#include "view/text_machine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "tfile/date.h"
#include "tfile/json_text.h"
#include "tfile/number_type.h"
#include "view/plain_text.h"

namespace tfilefs {
namespace {

using tfile::Dtype;
using tfile::json_string;
using TextKind = TextForm::Kind;

constexpr std::size_t kCellDepth = 2;        // steps outside of a cell of CSV: the lines and the line
constexpr std::uint8_t kNames = 2;           // phase of stack_[0] before the line of names is written
constexpr std::int64_t kBytesAtOnce = 4096;  // of a string, between two checks of the limit

template <class T>
void append_as_text(std::string& to, const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  char text[32];
  if constexpr (std::is_floating_point_v<T>) {
    // The sign of nan has no meaning, and libraries differ in printing it.
    if (std::isnan(value)) {
      to += "nan";
      return;
    }
  }
  to.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void append_as_text(std::string& to, Dtype dtype, const std::byte* from) {
  if (dtype == Dtype::b1) return to.push_back(*from == std::byte{0} ? '0' : '1');
  tfile::with_number_type(dtype, [&]<class T>(T) { append_as_text<T>(to, from); });
}

void append_hex(std::string& to, std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  for (const char c : bytes) {
    to.push_back(kHex[static_cast<std::uint8_t>(c) >> 4]);
    to.push_back(kHex[static_cast<std::uint8_t>(c) & 0xf]);
  }
}

void append_quoted(std::string& to, std::string_view text) {
  for (std::size_t quote; (quote = text.find('"')) != text.npos; text.remove_prefix(quote + 1)) {
    append_plain(to, text.substr(0, quote));
    to += "\\\"";
  }
  append_plain(to, text);
}

// A number as JSON has it.
void append_json_number(std::string& to, Dtype dtype, const std::byte* from) {
  if (dtype == Dtype::b1) {
    to += *from == std::byte{0} ? "false" : "true";
    return;
  }
  const std::size_t before = to.size();
  append_as_text(to, dtype, from);
  const bool is_floating = dtype == Dtype::f4 || dtype == Dtype::f8;
  if (is_floating && to.find_first_of("ni", before) != to.npos) {  // nan, inf, -inf
    to.resize(before);
    to += "null";
  }
}

void append_json_numbers(std::string& to, Dtype dtype, std::span<const std::uint32_t> shape, const std::byte* from) {
  if (shape.empty()) return append_json_number(to, dtype, from);
  std::size_t step = size_of(dtype);
  for (const std::uint32_t extent : shape.subspan(1)) step *= extent;
  to.push_back('[');
  for (std::uint32_t i = 0; i < shape[0]; ++i) {
    if (i > 0) to.push_back(',');
    append_json_numbers(to, dtype, shape.subspan(1), from + i * step);
  }
  to.push_back(']');
}

// A part of a string, without its quotes.
void append_json_part(std::string& to, std::string_view text) {
  const std::string quoted = json_string(text);
  to.append(quoted, 1, quoted.size() - 2);
}

// The number of bytes at the end of a part that begin a character whose rest is in the next part.
std::size_t torn_bytes(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size() - 1); ++back) {
    const auto byte = static_cast<std::uint8_t>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

// Each quote behind `from` becomes two.
void double_quotes(std::string& text, std::size_t from) {
  for (std::size_t at = from; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
}

// Kinds that have a step of their own, and are no strings.
bool is_nested(TextKind kind) {
  return kind == TextKind::list || kind == TextKind::record || kind == TextKind::variant;
}

std::string misplaced_list(std::int64_t index, std::int64_t begin, std::int64_t end) {
  return "list " + std::to_string(index) + " has offsets " + std::to_string(begin) + " to " + std::to_string(end);
}

}  // namespace

TextMachine::TextMachine(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {
  std::vector<tfile::ColumnId> columns;
  for (const TextForm& form : plan_->forms)
    for (const tfile::ColumnId column : form.columns()) columns.push_back(column);
  windows_.resize(columns.size());
  if (!columns.empty()) {
    const auto [lowest, highest] = std::minmax_element(columns.begin(), columns.end());
    first_column_ = *lowest;
    slots_.resize(*highest - *lowest + 1);
  }
  for (std::uint32_t i = 0; i < columns.size(); ++i) slots_[columns[i] - first_column_] = i;
  stack_.push_back({.form = kLines, .next = 0, .end = plan_->lines.value_or(plan_->counts[0])});
  if (is_csv()) stack_[0].phase = kNames;
}

// The items if all are in the window; else null, and they become the need.
const std::byte* TextMachine::items(tfile::ColumnId column, std::int64_t first, std::int64_t count) {
  const ColumnWindow& window = this->window(column);
  if (first >= window.begin && first + count <= window.end)
    return window.bytes.data() +
           static_cast<std::size_t>(first - window.begin) * plan_->table->columns[column].item_size();
  need_ = {column, first, count};
  return nullptr;
}

bool TextMachine::range(const TextForm& form, std::int64_t index, std::int64_t& begin, std::int64_t& end) {
  const std::byte* ends = items(form.ends, index, 2);
  if (!ends) return false;
  std::memcpy(&begin, ends, sizeof begin);
  std::memcpy(&end, ends + sizeof begin, sizeof end);
  if (begin < 0 || end < begin) damage_ = misplaced_list(index, begin, end);
  // Otherwise a few bytes could ask for an endless text.
  if ((form.kind == TextKind::list || form.kind == TextKind::optional) && end > plan_->counts[form.fields[0]])
    damage_ = misplaced_list(index, begin, end) + " of " + std::to_string(plan_->counts[form.fields[0]]) + " items";
  return !damage_;
}

// JSON has dates as strings.
bool TextMachine::write_date(const TextForm& form, std::int64_t index, std::string& to) {
  const std::byte* item = items(form.values, index, 1);
  if (!item) return false;
  std::uint32_t datime = 0;
  std::int32_t seconds = 0, nanoseconds = 0;
  bool is_date = true;
  if (form.date == tfile::DateKind::datime) {
    std::memcpy(&datime, item, sizeof datime);
    is_date = tfile::datime_seconds(datime).has_value();
  } else {
    std::memcpy(&seconds, item, sizeof seconds);
    item = items(form.nanoseconds, index, 1);
    if (!item) return false;
    std::memcpy(&nanoseconds, item, sizeof nanoseconds);
  }
  if (is_json() && is_date) to.push_back('"');
  if (form.date == tfile::DateKind::datime)
    tfile::append_datime(to, datime);
  else
    tfile::append_timestamp(to, seconds, nanoseconds);
  if (is_json() && is_date) to.push_back('"');
  return true;
}

bool TextMachine::write_number(const TextForm& form, std::int64_t index, std::string& to) {
  if (form.date != tfile::DateKind::none) return write_date(form, index, to);
  const std::byte* item = items(form.values, index, 1);
  if (!item) return false;
  const tfile::Column& column = plan_->table->columns[form.values];
  if (is_json()) {
    append_json_numbers(to, column.dtype, column.shape, item);
    return true;
  }
  if (plan_->style == TextStyle::csv_cells && !column.shape.empty()) {
    to.push_back('"');
    append_json_numbers(to, column.dtype, column.shape, item);
    to.push_back('"');
    return true;
  }
  const std::size_t size = size_of(column.dtype);
  for (std::size_t at = 0; at < column.item_size(); at += size) {
    if (at > 0) to.push_back(' ');
    append_as_text(to, column.dtype, item + at);
  }
  return true;
}

void TextMachine::write_missing(std::string& to) const {
  if (is_json())
    to += "null";
  else if (plan_->style == TextStyle::plain)
    to.push_back('?');
}

void TextMachine::write_names(std::string& to) const {
  const char* separator = "";
  for (const std::uint32_t field : plan_->forms[0].fields) {
    to += separator;
    append_csv_start(to, plan_->forms[field].name);
    append_csv(to, plan_->forms[field].name);
    to.push_back('"');
    separator = ",";
  }
  to += "\r\n";
}

void TextMachine::write_separator(const TextForm& record, std::int64_t field, std::string& to) const {
  if (plan_->style == TextStyle::plain) {
    if (field > 0) to.push_back(record.inner ? ' ' : '\t');
    return;
  }
  if (field > 0) to.push_back(',');
  if (is_json()) to += plan_->forms[record.fields[static_cast<std::size_t>(field)]].name;
}

void TextMachine::write_open(const TextForm& form, std::string& to) const {
  switch (form.kind) {
    case TextKind::record:
      if (is_json() || form.inner) to.push_back(is_json() ? '{' : '(');
      return;
    case TextKind::list:
      if (is_json() || form.inner) to.push_back('[');
      return;
    case TextKind::string:
      if (is_json() || form.inner) to.push_back('"');
      return;
    default:
      if (is_json()) to.push_back('"');
  }
}

void TextMachine::write_close(const TextForm& form, std::string& to) const {
  switch (form.kind) {
    case TextKind::record:
      if (is_json() || form.inner) to.push_back(is_json() ? '}' : ')');
      return;
    case TextKind::list:
      if (is_json() || form.inner) to.push_back(']');
      return;
    case TextKind::string:
      if (form.inner || plan_->style != TextStyle::plain) to.push_back('"');
      return;
    default:
      if (is_json()) to.push_back('"');
  }
}

void TextMachine::write_bytes(const TextForm& form, std::string_view bytes, bool is_first, std::string& to) const {
  if (form.kind == TextKind::bytes) return append_hex(to, bytes);
  if (is_json()) return append_json_part(to, bytes);
  if (is_csv()) {
    if (is_first) append_csv_start(to, bytes);
    return append_csv(to, bytes);
  }
  if (form.inner)
    append_quoted(to, bytes);
  else
    append_plain(to, bytes);
}

// Writes the beginning of the value, and pushes the step that writes the rest. If a window is missing it does neither.
bool TextMachine::begin_value(std::uint32_t form_index, std::int64_t index, std::string& to) {
  const TextForm& form = plan_->forms[form_index];
  if (form.kind == TextKind::elsewhere || (!form.hollow && index >= plan_->counts[form_index])) {
    write_missing(to);
    return true;
  }
  if (form.kind == TextKind::number) return write_number(form, index, to);
  if (form.kind == TextKind::optional) return begin_optional(form_index, index, to);
  const bool is_cell = plan_->style == TextStyle::csv_cells && stack_.size() == kCellDepth;
  if (is_cell && !opens_cell_ && is_nested(form.kind)) return begin_cell(form_index, index, to);
  if (form.kind == TextKind::variant) return begin_variant(form_index, index, to);
  Step step{.form = form_index, .index = index};
  if (form.kind == TextKind::record) {
    step.end = std::ssize(form.fields);
  } else if (!range(form, index, step.next, step.end)) {
    return false;
  }
  write_open(form, to);
  stack_.push_back(step);
  return true;
}

// Whether the steps are those of JSON in a cell.
bool TextMachine::is_in_cell() const {
  return plan_->style == TextStyle::csv_cells && stack_.size() > kCellDepth &&
         is_nested(plan_->forms[stack_[kCellDepth].form].kind);
}

bool TextMachine::begin_cell(std::uint32_t form, std::int64_t index, std::string& to) {
  const std::size_t from = to.size();
  opens_cell_ = true;
  const bool has_begun = begin_value(form, index, to);
  opens_cell_ = false;
  double_quotes(to, from);
  to.insert(from, 1, '"');
  if (stack_.size() == kCellDepth) to.push_back('"');  // a value without a step
  return has_begun;
}

// The value takes its place: the option has no step of its own.
bool TextMachine::begin_optional(std::uint32_t form_index, std::int64_t index, std::string& to) {
  const TextForm& form = plan_->forms[form_index];
  std::int64_t begin = 0, end = 0;
  if (!range(form, index, begin, end)) return false;
  if (end - begin > 1) {
    damage_ = misplaced_list(index, begin, end) + ", expected 0 or 1";
    return false;
  }
  if (begin < end) return begin_value(form.fields[0], begin, to);
  if (!is_csv()) to += "null";
  return true;
}

// Its step has the tag as `next`; advance_variant finds the alternative.
bool TextMachine::begin_variant(std::uint32_t form_index, std::int64_t index, std::string& to) {
  const TextForm& form = plan_->forms[form_index];
  const std::byte* tag = items(form.tags, index, 1);
  if (!tag) return false;
  const auto alternative = std::to_integer<std::size_t>(*tag);
  if (alternative == 0) {
    to += "null";
    return true;
  }
  const std::byte* at = items(form.index, index, 1);
  if (!at) return false;
  Step step{.form = form_index, .next = static_cast<std::int64_t>(alternative)};
  std::memcpy(&step.index, at, sizeof step.index);
  if (alternative > form.fields.size() || step.index < 0) {
    damage_ = "variant " + std::to_string(index) + " has alternative " + std::to_string(alternative) + " of " +
              std::to_string(form.fields.size()) + ", at position " + std::to_string(step.index);
    return false;
  }
  if (is_json()) to.push_back('{');
  to += form.classes[alternative - 1];
  if (!has_parentheses(step)) to.push_back('(');
  stack_.push_back(step);
  return true;
}

// Whether the value of a variant is already enclosed: by the braces of JSON, or by those of the record in it.
bool TextMachine::has_parentheses(const Step& variant) const {
  if (is_json()) return true;
  const std::uint32_t held = plan_->forms[variant.form].fields[static_cast<std::size_t>(variant.next) - 1];
  if (held == TextForm::kUnseen || plan_->forms[held].kind != TextKind::record) return false;
  return plan_->forms[held].hollow || variant.index < plan_->counts[held];
}

bool TextMachine::advance_lines(std::string& to) {
  Step& lines = stack_[0];
  if (lines.phase == kNames) {
    write_names(to);
    lines.phase = 0;
    return true;
  }
  if (lines.phase == 0) {
    const std::size_t size_before = to.size();
    if (plan_->style == TextStyle::json_array && lines.next > 0) to.push_back(',');
    lines.phase = 1;
    if (begin_value(0, lines.next, to)) return true;
    to.resize(size_before);
    stack_[0].phase = 0;
    return false;
  }
  to += is_csv() ? "\r\n" : "\n";
  lines.phase = 0;
  ++lines.next;
  return true;
}

bool TextMachine::advance_list(std::string& to) {
  const std::size_t top = stack_.size() - 1;
  const Step step = stack_[top];
  const TextForm& form = plan_->forms[step.form];
  if (step.next == step.end) {
    write_close(form, to);
    stack_.pop_back();
    return true;
  }
  const std::size_t size_before = to.size();
  if (step.phase > 0) to.push_back(is_json() ? ',' : ' ');
  if (!begin_value(form.fields[0], step.next, to)) {
    to.resize(size_before);
    return false;
  }
  stack_[top].phase = 1;
  ++stack_[top].next;
  return true;
}

bool TextMachine::advance_record(std::string& to) {
  const std::size_t top = stack_.size() - 1;
  const Step step = stack_[top];
  const TextForm& form = plan_->forms[step.form];
  if (step.next == step.end) {
    write_close(form, to);
    stack_.pop_back();
    return true;
  }
  const std::uint32_t field = form.fields[static_cast<std::size_t>(step.next)];
  const std::size_t size_before = to.size();
  write_separator(form, step.next, to);
  const bool is_there = form.inner || plan_->style != TextStyle::plain || step.index < plan_->counts[field];
  if (is_there && !begin_value(field, step.index, to)) {
    to.resize(size_before);
    return false;
  }
  ++stack_[top].next;
  return true;
}

bool TextMachine::advance_variant(std::string& to) {
  const std::size_t top = stack_.size() - 1;
  const Step step = stack_[top];
  if (step.phase > 0) {
    if (is_json()) to.push_back('}');
    if (!has_parentheses(step)) to.push_back(')');
    stack_.pop_back();
    return true;
  }
  const std::uint32_t alternative = plan_->forms[step.form].fields[static_cast<std::size_t>(step.next) - 1];
  if (alternative == TextForm::kUnseen)
    to += is_json() ? "{}" : "";
  else if (!begin_value(alternative, step.index, to))
    return false;
  stack_[top].phase = 1;
  return true;
}

bool TextMachine::advance_bytes(std::string& to, std::size_t size_enough) {
  Step& step = stack_.back();
  const TextForm& form = plan_->forms[step.form];
  while (step.next < step.end && to.size() < size_enough) {
    std::int64_t count = std::min(step.end - step.next, kBytesAtOnce);
    const std::byte* bytes = items(form.values, step.next, count);
    if (!bytes) return false;
    std::string_view text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
    if (step.next + count < step.end) text.remove_suffix(torn_bytes(text));
    write_bytes(form, text, step.phase == 0, to);
    step.phase = 1;
    step.next += std::ssize(text);
  }
  if (step.next < step.end) return true;
  if (step.phase == 0 && is_csv()) append_csv_start(to, "");
  write_close(form, to);
  stack_.pop_back();
  return true;
}

bool TextMachine::advance(std::string& to, std::size_t size_enough) {
  if (stack_.back().form == kLines) return advance_lines(to);
  switch (plan_->forms[stack_.back().form].kind) {
    case TextKind::list:
      return advance_list(to);
    case TextKind::record:
      return advance_record(to);
    case TextKind::variant:
      return advance_variant(to);
    default:
      return advance_bytes(to, size_enough);
  }
}

TextMachine::Stop TextMachine::run(std::string& to, std::size_t size_enough) {
  while (to.size() < size_enough) {
    if (stack_.size() == 1 && stack_[0].phase == 0 && stack_[0].next >= stack_[0].end) return Stop::finished;
    const bool was_in_cell = is_in_cell();
    const std::size_t from = to.size();
    if (!advance(to, size_enough)) return damage_ ? Stop::damaged : Stop::needs;
    if (!was_in_cell) continue;
    double_quotes(to, from);
    if (stack_.size() == kCellDepth) to.push_back('"');
  }
  return Stop::enough;
}

}  // namespace tfilefs
