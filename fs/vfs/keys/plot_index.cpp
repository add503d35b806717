// SPDX-License-Identifier: Apache-2.0
#include "vfs/keys/plot_index.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "vfs/names/key_names.h"
#include "view/index_page.h"

namespace tfilefs {
namespace {

// A page with more plots would be useless, and too much for a browser.
constexpr std::size_t kPlotsMax = 5'000, kDirectoriesMax = 1'000, kPlotsDeepMax = 30, kTitleMax = 200;

}  // namespace

// The walk through one file.
class PlotWalk::OfFile {
 public:
  OfFile(PlotWalk& walk, const tfile::File& file) : walk_(walk), file_(file) {}

  void visit(const tfile::DirectoryListing& listing, const std::string& path, std::vector<std::uint64_t>& above) {
    const KeyNames names = names_of_keys(listing.keys);
    for (const std::uint32_t i : names.newest) {
      const tfile::KeyInfo& key = listing.keys[i];
      const bool is_table = key.kind == tfile::KeyKind::table;
      if (!is_table && (key.kind != tfile::KeyKind::object || !is_drawn(key.class_name))) continue;
      if (walk_.plots_.size() >= kPlotsMax) {
        walk_.left_out_ = true;
        break;
      }
      IndexedPlot& plot = walk_.plots_.emplace_back(
          IndexedPlot{path, names.shown[i], std::string(key.title.substr(0, kTitleMax)), std::string(key.class_name)});
      if (is_table) {
        plot.picture.clear();
        plot.page = "/index.html";
      }
    }
    above.push_back(listing.seek);
    for (const std::uint32_t i : names.newest) {
      if (listing.keys[i].kind == tfile::KeyKind::directory)
        enter(listing.keys[i], path.empty() ? names.shown[i] : path + "/" + names.shown[i], above);
    }
    above.pop_back();
  }

 private:
  // A directory that cannot be read, or that contains itself, shows no plots here; the error is seen when it is
  // entered.
  void enter(const tfile::KeyInfo& key, const std::string& path, std::vector<std::uint64_t>& above) {
    if (walk_.is_full() || ++walk_.directories_ > kDirectoriesMax || above.size() >= kPlotsDeepMax) {
      walk_.left_out_ = true;
      return;
    }
    const auto inner = file_.directory(key);
    if (!inner || std::find(above.begin(), above.end(), (*inner)->seek) != above.end()) return;
    visit(**inner, path, above);
  }

  bool is_drawn(std::string_view class_name) {
    const auto known = classes_.find(class_name);
    if (known != classes_.end()) return known->second;
    return classes_.emplace(std::string(class_name), file_.may_be_drawn(class_name)).first->second;
  }

  PlotWalk& walk_;
  const tfile::File& file_;
  std::map<std::string, bool, std::less<>> classes_;
};

PlotWalk::PlotWalk() = default;
PlotWalk::~PlotWalk() = default;

bool PlotWalk::is_full() const { return plots_.size() >= kPlotsMax; }

void PlotWalk::add(const tfile::File& file, const tfile::DirectoryListing& listing, const std::string& path,
                   const std::vector<std::uint64_t>& ancestors) {
  std::vector<std::uint64_t> above = ancestors;
  OfFile(*this, file).visit(listing, path, above);
}

std::string PlotWalk::page(const std::string& heading) const {
  IndexPage page(heading, plots_.size());
  for (const IndexedPlot& plot : plots_) page.add(plot);
  return page.take(left_out_ ? "There is more on the pages of the subdirectories." : "");
}

std::string plot_index(const tfile::File& file, const tfile::DirectoryListing& listing, const std::string& heading,
                       const std::vector<std::uint64_t>& ancestors) {
  PlotWalk walk;
  walk.add(file, listing, "", ancestors);
  return walk.page(heading);
}

}  // namespace tfilefs
