// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tfile/file.h"

namespace tfilefs {

struct IndexedPlot;

// Collects plots and tables of ROOT files for one page, by the classes of keys: no object is read. Limited in their
// number, in directories and depth.
class PlotWalk {
 public:
  PlotWalk();
  ~PlotWalk();
  // Adds the plots in a directory of a file, and below. `path`: of that directory, relative to that of the page.
  // `ancestors`: addresses of the directories above. Blocks.
  void add(const tfile::File&, const tfile::DirectoryListing&, const std::string& path,
           const std::vector<std::uint64_t>& ancestors);
  // Whether a limit is reached.
  bool is_full() const;
  void leave_out() { left_out_ = true; }
  bool is_empty() const { return plots_.empty(); }
  // The page tells whether plots were left out.
  std::string page(const std::string& heading) const;

 private:
  class OfFile;
  std::vector<IndexedPlot> plots_;
  std::size_t directories_ = 0;
  bool left_out_ = false;
};

// The page of all plots and tables below a directory of a ROOT file. Blocks.
std::string plot_index(const tfile::File&, const tfile::DirectoryListing&, const std::string& heading,
                       const std::vector<std::uint64_t>& ancestors);

}  // namespace tfilefs
