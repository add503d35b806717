// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "ntuple/write/length_field.h"
#include "ntuple/write/ntuple_form.h"
#include "tfile/writer.h"
#include "tree/write/branch_form.h"

namespace tfile {

Result<WriteSchema> offered_form(std::span<const InputColumn> columns, TableFormat format) {
  return format == TableFormat::tree ? tree_form(columns) : ntuple_form(columns);
}

std::vector<NotHeld> not_held(std::span<const InputColumn> columns, TableFormat format) {
  std::vector<NotHeld> found;
  const auto form = format == TableFormat::tree ? tree_form(columns, &found) : ntuple_form(columns, &found);
  return form ? found : std::vector<NotHeld>();
}

std::string nearest_name(std::string_view name, TableFormat format, bool is_member) {
  if (name.empty()) return "_";
  const auto is_refused = [&](char c) {
    if (c == '[' || c == ']' || c == '\0') return true;
    if (format == TableFormat::tree) return c == '.' && is_member;
    return c == '.' || c == '/' || c == '\\' || c == ' ' || std::iscntrl(static_cast<unsigned char>(c)) != 0;
  };
  std::string taken(name);
  std::ranges::replace_if(taken, is_refused, '_');
  if (taken.back() == '.') taken.back() = '_';
  return taken;
}

void find_counters(std::span<InputColumn> columns, const OfferedEntries& entries, TableFormat format) {
  if (format == TableFormat::tree) find_list_counters(columns, entries);
}

void find_projections(std::span<InputColumn> columns, const OfferedEntries& entries, TableFormat format) {
  if (format == TableFormat::rntuple) find_list_lengths(columns, entries);
}

}  // namespace tfile
