// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace tfilefs {

// A plot on a page of plots.
struct IndexedPlot {
  std::string directory;  // relative to the directory of the page, as in the mount; empty: the same
  std::string name;       // of the object's directory, as in the mount
  std::string title, class_name;
  std::string picture = "/plot.svg";  // behind the name; empty: there is none
  std::string numbers = {};           // behind the name: a file of what the picture shows; or empty
};

// A page of HTML that shows plots as images, which a browser loads as they come into view: a section per directory.
// `heading`: of the page. `more`: why plots are missing, or empty. All text is escaped.
std::string index_page(const std::string& heading, std::span<const IndexedPlot> plots, const std::string& more);

}  // namespace tfilefs
