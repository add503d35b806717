// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/other_formats.h"

#include <algorithm>
#include <array>

#include "letter_case.h"

namespace tfilefs {
namespace {

// Names under which pandas, polars, NumPy, R and h5py write keep what these write.
constexpr auto kSuffixes =
    std::to_array<std::string_view>({".avro", ".csv", ".feather", ".h5", ".hdf5", ".jsonl", ".ndjson", ".npz", ".orc",
                                     ".parquet", ".pickle", ".pkl", ".rds", ".root", ".tsv", ".xlsx"});

}  // namespace

std::optional<std::string> taken_instead(std::string_view name, bool in_table) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || name.front() == '.') return std::nullopt;
  const std::string stem(name.substr(0, dot)), format = lower_case(name.substr(dot));
  if (std::ranges::find(kSuffixes, format) == kSuffixes.end()) return std::nullopt;
  if (in_table)
    return "a column cannot be made from " + format + ": write a file such as " + stem + ".f4, " + stem + ".i8 or " +
           stem + ".npy";
  return "a table cannot be made from " + format + ": write " + stem + ".arrow (Arrow IPC), or its columns as " + stem +
         "/COLUMN.f4 or " + stem + "/COLUMN.npy";
}

}  // namespace tfilefs
