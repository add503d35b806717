// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/length_field.h"
#include "ntuple/write/ntuple_form.h"
#include "tfile/writer.h"
#include "tree/write/branch_form.h"

namespace tfile {

Result<OfferedForm> offered_form(std::span<const OfferedColumn> columns, TableFormat format) {
  return format == TableFormat::tree ? tree_form(columns) : ntuple_form(columns);
}

void find_counters(std::span<OfferedColumn> columns, const OfferedEntries& entries, TableFormat format) {
  if (format == TableFormat::tree) find_list_counters(columns, entries);
}

void find_lengths(std::span<OfferedColumn> columns, const OfferedEntries& entries, TableFormat format) {
  if (format == TableFormat::rntuple) find_list_lengths(columns, entries);
}

}  // namespace tfile
