// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tfile/table.h"
#include "view/text_form.h"

namespace tfilefs {

// A part of a column in memory.
struct ColumnWindow {
  std::int64_t begin = 0, end = 0;  // items
  std::vector<std::byte> bytes;
};

// Writes a node as text, item by item, from windows of its columns. It stops if a window is missing, and goes on from
// there. Its position is a short stack of plain numbers, so it can begin at any position where it has been before:
// memory grows neither with the column nor with the longest entry. Pure; not thread-safe.
class TextMachine {
 public:
  struct Plan {
    std::shared_ptr<const tfile::Table> table;
    std::vector<TextForm> forms;
    std::vector<std::int64_t> counts;  // how many of each form there are: entries, or items of a list
    TextStyle style = TextStyle::plain;
    std::optional<std::int64_t> lines = {};  // how many entries are written; nothing: all
  };
  struct Step {
    std::uint32_t form = 0;
    std::uint8_t phase = 0;
    std::int64_t next = 0, end = 0;  // entry, item, byte or field, depending on the form
    std::int64_t index = 0;          // of record and string: which one; of variant: which one of the alternative
  };
  using Position = std::vector<Step>;
  static constexpr std::uint32_t kLines = ~std::uint32_t{0};  // the form of a position's first step

  struct Need {
    tfile::ColumnId column = 0;
    std::int64_t first = 0, count = 0;  // items
  };
  enum class Stop : std::uint8_t { finished, enough, needs, damaged };

  // At the first entry.
  explicit TextMachine(std::shared_ptr<const Plan>);

  const Position& position() const { return stack_; }
  void go_to(Position position) { stack_ = std::move(position); }

  // Appends text until `to` has `size_enough` bytes or a little more.
  Stop run(std::string& to, std::size_t size_enough);
  const Need& need() const { return need_; }
  const std::string& damage() const { return *damage_; }  // where it has stopped
  ColumnWindow& window(tfile::ColumnId column) { return windows_[slots_[column - first_column_]]; }
  std::size_t window_count() const { return windows_.size(); }

 private:
  const std::byte* items(tfile::ColumnId, std::int64_t first, std::int64_t count);
  bool range(const TextForm&, std::int64_t index, std::int64_t& begin, std::int64_t& end);
  bool begin_value(std::uint32_t form, std::int64_t index, std::string& to);
  bool begin_optional(std::uint32_t form, std::int64_t index, std::string& to);
  bool begin_variant(std::uint32_t form, std::int64_t index, std::string& to);
  bool write_date(const TextForm&, std::int64_t index, std::string& to);
  bool write_number(const TextForm&, std::int64_t index, std::string& to);
  void write_missing(std::string& to) const;
  void write_names(std::string& to) const;
  bool has_parentheses(const Step& variant) const;
  void write_separator(const TextForm& record, std::int64_t field, std::string& to) const;
  void write_bytes(const TextForm&, std::string_view bytes, bool is_first, std::string& to) const;
  bool is_json() const {
    const TextStyle style = plan_->style;
    if (style == TextStyle::csv_cells) return opens_cell_ || is_in_cell();
    return style == TextStyle::json || style == TextStyle::json_array;
  }
  bool is_csv() const { return plan_->style == TextStyle::csv || (plan_->style == TextStyle::csv_cells && !is_json()); }
  bool is_in_cell() const;
  bool begin_cell(std::uint32_t form, std::int64_t index, std::string& to);
  // The text before and after a list, a record and a string.
  void write_open(const TextForm&, std::string& to) const;
  void write_close(const TextForm&, std::string& to) const;
  bool advance(std::string& to, std::size_t size_enough);
  bool advance_lines(std::string& to);
  bool advance_list(std::string& to);
  bool advance_record(std::string& to);
  bool advance_variant(std::string& to);
  bool advance_bytes(std::string& to, std::size_t size_enough);

  const std::shared_ptr<const Plan> plan_;
  // The columns of one node are neighbours: what is kept of them must not grow with the table.
  tfile::ColumnId first_column_ = 0;
  std::vector<std::uint32_t> slots_;  // column, from the first on -> window
  std::vector<ColumnWindow> windows_;
  Position stack_;  // stack_[0] counts the lines
  Need need_;
  std::optional<std::string> damage_;
  bool opens_cell_ = false;  // begin_value is called for JSON in a cell
};

}  // namespace tfilefs
