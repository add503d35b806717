// SPDX-License-Identifier: Apache-2.0
#include "vfs/plot_index.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "vfs/key_names.h"
#include "view/index_page.h"

namespace tfilefs {
namespace {

// A page with more is of no use to anybody, and of no browser.
constexpr std::size_t kPlotsMax = 5'000, kDirectoriesMax = 1'000, kDepthMax = 30, kTitleMax = 200;

class Walk {
 public:
  explicit Walk(const tfile::File& file) : file_(file) {}

  void visit(const tfile::DirectoryListing& listing, const std::string& path, std::vector<std::uint64_t>& above) {
    const KeyNames names = names_of_keys(listing.keys);
    for (const std::uint32_t i : names.newest) {
      const tfile::KeyInfo& key = listing.keys[i];
      if (key.kind != tfile::KeyKind::object || !is_drawn(key.class_name)) continue;
      if (plots.size() >= kPlotsMax) {
        left_out = true;
        break;
      }
      plots.push_back({path, names.shown[i], std::string(key.title.substr(0, kTitleMax)), std::string(key.class_name)});
    }
    above.push_back(listing.seek);
    for (const std::uint32_t i : names.newest) {
      if (listing.keys[i].kind == tfile::KeyKind::directory)
        enter(listing.keys[i], path.empty() ? names.shown[i] : path + "/" + names.shown[i], above);
    }
    above.pop_back();
  }

  std::vector<IndexedPlot> plots;
  bool left_out = false;

 private:
  // One that cannot be read, or that holds itself, shows nothing here; who enters it is told why.
  void enter(const tfile::KeyInfo& key, const std::string& path, std::vector<std::uint64_t>& above) {
    if (plots.size() >= kPlotsMax || ++directories_ > kDirectoriesMax || above.size() >= kDepthMax) {
      left_out = true;
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

  const tfile::File& file_;
  std::size_t directories_ = 0;
  std::map<std::string, bool, std::less<>> classes_;
};

}  // namespace

std::string plot_index(const tfile::File& file, const tfile::DirectoryListing& listing, const std::string& path,
                       const std::vector<std::uint64_t>& ancestors) {
  Walk walk(file);
  std::vector<std::uint64_t> above = ancestors;
  walk.visit(listing, "", above);
  return index_page("/" + path, walk.plots,
                    walk.left_out ? "There is more: the pages of the directories below show it." : "");
}

}  // namespace tfilefs
