// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tfilefs {

// A plot on a page of plots.
struct IndexedPlot {
  std::string directory;  // relative to the directory of the page, as in the mount; empty: the same
  std::string name;       // of the object's directory, as in the mount
  std::string title, class_name;
  std::string picture = "/plot.svg";  // behind the name; empty: there is none
  std::string numbers = {};           // behind the name: a file of what the picture shows; or empty
  std::string page = {};              // behind the name: a page of what is in it; or empty
};

// A page of HTML that shows plots as images, which a browser loads as they come into view: a group, which folds, for
// each run of plots of one directory, and a search. All text is escaped.
class IndexPage {
 public:
  // `plots`: how many will be added.
  IndexPage(const std::string& heading, std::size_t plots);
  void add(const IndexedPlot& plot);
  // The page; nothing is added after it. `more`: why plots are missing, or empty.
  std::string take(const std::string& more);

 private:
  void end_group();

  std::string page_;
  std::optional<std::string> directory_;  // of the group that is open
};

}  // namespace tfilefs
