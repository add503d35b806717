// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tfile/range.h"

namespace tfilefs {

// A table that is divided among files.
struct SplitTable {
  std::string path;
  std::int64_t entries = 0;                // that are kept
  std::uint64_t bytes = 0;                 // of all of them, about
  std::vector<std::int64_t> cluster_ends;  // numbers of entries, ascending
};

// Shares out the entries of all tables, so that each file has about as many bytes as it may. Every file has
// the same part of each table; tables of equally many entries are divided at the same ones. The sizes of files that
// were written correct the estimate for the next. Pure.
class SplitPlan {
 public:
  SplitPlan(std::vector<SplitTable>, std::uint64_t file_bytes);
  SplitPlan(const SplitPlan&) = delete;
  SplitPlan& operator=(const SplitPlan&) = delete;

  bool is_done() const { return done_ >= 1; }
  // How many files there will be, about. Before the first one.
  std::size_t files_about() const { return static_cast<std::size_t>(1 / step_) + 1; }
  // The numbers of the entries that the next file has of each table, by path.
  std::map<std::string, tfile::EntryRange> next() const;
  // Takes note that the next file has so many bytes. False if it is too large: then next() gives fewer entries, and it
  // is to be written again.
  bool take(std::uint64_t bytes);

 private:
  void set_step(double);
  std::int64_t end_in(const SplitTable&) const;

  const std::vector<SplitTable> tables_;
  const double file_bytes_;
  const SplitTable* lead_ = nullptr;  // of most bytes; null: no table has entries
  double done_ = 0;                   // part of its entries that is in files
  double step_ = 1;                   // part of them for the next file
  bool is_second_trial_ = false;
  std::map<std::string, std::int64_t> begins_;  // of the next file, by path
};

}  // namespace tfilefs
