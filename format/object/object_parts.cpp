// SPDX-License-Identifier: Apache-2.0
#include "object/object_parts.h"

#include <algorithm>

#include "object/canvas_plot.h"
#include "object/object_arrays.h"
#include "object/object_plot.h"
#include "streamer/object_reader.h"
#include "tfile/name.h"

namespace tfile {
namespace {

constexpr std::size_t kPartsMax = 1000, kItemsMax = 10'000;
constexpr int kDepthMax = 8;

// Where the items of an object that holds some are.
std::string_view list_of(const StreamerInfos& infos, std::string_view class_name) {
  if (is_pad(infos, class_name)) return "fPrimitives.arr";
  if (is_stack(infos, class_name)) return "fHists.arr";
  if (is_multigraph(infos, class_name)) return "fGraphs.arr";
  for (const std::string_view list : {"TList", "TObjArray"}) {
    if (derives_from(infos, class_name, list)) return "arr";
  }
  return {};
}

class Finder {
 public:
  explicit Finder(const StreamerInfos& infos) : infos_(infos) {}

  void find(const ObjectMembers& members, std::string_view class_name, const std::string& path, int depth) {
    const std::string_view list = list_of(infos_, class_name);
    if (list.empty() || depth >= kDepthMax) return;
    // What the mount adds to a directory of an object comes before what is called the same.
    std::vector<std::string_view> names = {"object.bin", "object.json", "plot.svg",
                                           "table.csv",  "text.txt",    ".schema.json"};
    const std::size_t own = names.size();
    std::vector<ObjectMembers> found;
    const std::size_t count = std::min(members.item_count(list), kItemsMax);
    for (std::size_t i = 0; i < count && parts_.size() + found.size() < kPartsMax && looked_++ < kItemsMax; ++i) {
      ObjectMembers part = members.at(std::string(list) + "." + std::to_string(i));
      if (!is_shown(part)) continue;
      names.push_back(part.text(part.has("fName") ? "fName" : "name"));  // the latter of collections
      if (names.back().empty()) names.back() = part.class_name("");
      found.push_back(std::move(part));
    }
    const std::vector<std::string> shown = directory_names(names);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string place = path.empty() ? shown[own + i] : path + "/" + shown[own + i];
      const std::string inner(found[i].class_name(""));
      parts_.push_back({place, inner, found[i]});
      find(found[i], inner, place, depth + 1);
    }
  }
  std::vector<ObjectPart> take() { return std::move(parts_); }

 private:
  bool is_shown(const ObjectMembers& part) const {
    const std::string_view class_name = part.class_name("");
    if (class_name.empty()) return false;
    if (kind_of_object(infos_, class_name).family != ObjectFamily::other || is_drawable(infos_, part)) return true;
    const std::string_view list = list_of(infos_, class_name);
    return !list.empty() && part.item_count(list) > 0 && part.text("name") != "ListOfColors";
  }

  const StreamerInfos& infos_;
  std::vector<ObjectPart> parts_;
  std::size_t looked_ = 0;
};

}  // namespace

std::vector<ObjectPart> object_parts(const StreamerInfos& infos, std::string_view class_name,
                                     const ObjectMembers& members) {
  Finder finder(infos);
  finder.find(members, class_name, "", 0);
  return finder.take();
}

}  // namespace tfile
