// SPDX-License-Identifier: Apache-2.0
#include "object_parts.h"

#include <algorithm>

#include "object/held_items.h"
#include "object/object_arrays.h"
#include "object/object_plots.h"
#include "object/object_table.h"
#include "streamer/walk/object_reader.h"
#include "tfile/name.h"

namespace tfile {
namespace {

constexpr std::size_t kPartsMax = 1000, kLookedMax = 10'000;
constexpr int kPartDepthMax = 8;

class Finder {
 public:
  explicit Finder(const StreamerInfos& infos) : infos_(infos) {}

  void find(const ObjectMembers& members, const std::string& path, int depth) {
    const auto items = held_items(infos_, members);
    if (!items || depth >= kPartDepthMax) return;
    // Files that the mount adds to the directory of an object take precedence over parts of the same name.
    std::vector<std::string_view> names = {"object.bin", "object.json", "plot.svg",
                                           "table.csv",  "text.txt",    ".schema.json"};
    const std::size_t own = names.size();
    std::vector<ObjectMembers> found;
    const std::size_t count = std::min(items->count, kLookedMax);
    for (std::size_t i = 0; i < count && parts_.size() + found.size() < kPartsMax && looked_++ < kLookedMax; ++i) {
      ObjectMembers part = members.at(items->path(i));
      if (!is_shown(part)) continue;
      names.push_back(part.text(part.has("fName") ? "fName" : "name"));  // collections have "name"
      if (names.back().empty()) names.back() = part.class_name("");
      found.push_back(std::move(part));
    }
    const std::vector<std::string> shown = directory_names(names);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string place = path.empty() ? shown[own + i] : path + "/" + shown[own + i];
      const std::string inner(found[i].class_name(""));
      parts_.push_back({place, inner, found[i]});
      const std::size_t before = parts_.size();
      find(found[i], place, depth + 1);
      if (parts_.size() == before && !has_files(found[i])) parts_.pop_back();
    }
  }
  std::vector<ObjectPart> take() { return std::move(parts_); }

 private:
  bool is_shown(const ObjectMembers& part) const {
    const std::string_view class_name = part.class_name("");
    if (class_name.empty()) return false;
    if (is_array_or_plot(part)) return true;
    const auto items = held_items(infos_, part);
    return items && items->count > 0 && part.text("name") != "ListOfColors";
  }

  bool is_array_or_plot(const ObjectMembers& part) const {
    return can_tabulate(kind_of_object(infos_, part.class_name("")), infos_, part) || is_drawable(infos_, part);
  }
  // Whether a part without parts of its own has any files.
  bool has_files(const ObjectMembers& part) const {
    return is_array_or_plot(part) || object_text(infos_, part.class_name(""), part);
  }

  const StreamerInfos& infos_;
  std::vector<ObjectPart> parts_;
  std::size_t looked_ = 0;
};

}  // namespace

std::vector<ObjectPart> object_parts(const StreamerInfos& infos, const ObjectMembers& members) {
  Finder finder(infos);
  finder.find(members, "", 0);
  return finder.take();
}

}  // namespace tfile
