// SPDX-License-Identifier: Apache-2.0
#include "object/held_items.h"

#include "streamer/walk/object_reader.h"

namespace tfile {

// Files do not describe TCanvas, which has a hand-written streamer.
bool is_pad(const StreamerInfos& infos, std::string_view class_name) {
  return class_name == "TCanvas" || derives_from(infos, class_name, "TPad") ||
         derives_from(infos, class_name, "TCanvas");
}
bool is_stack(const StreamerInfos& infos, std::string_view class_name) {
  return derives_from(infos, class_name, "THStack");
}
bool is_multigraph(const StreamerInfos& infos, std::string_view class_name) {
  return derives_from(infos, class_name, "TMultiGraph");
}

bool is_roo_plot(const StreamerInfos& infos, std::string_view class_name) {
  return derives_from(infos, class_name, "RooPlot");
}

std::optional<HeldItems> held_items(const StreamerInfos& infos, const ObjectMembers& members) {
  const std::string_view class_name = members.class_name("");
  HeldItems items;
  if (is_pad(infos, class_name)) {
    items.list = "fPrimitives";
  } else if (is_stack(infos, class_name)) {
    items.list = "fHists";
  } else if (is_multigraph(infos, class_name)) {
    items.list = "fGraphs";
  } else if (is_roo_plot(infos, class_name)) {
    items.list = "_items";  // a list class of its own before ROOT 6.28
    items.are_pairs = members.item_count("_items.arr") == 0;
  } else if (!derives_from(infos, class_name, "TList") && !derives_from(infos, class_name, "TObjArray")) {
    return std::nullopt;
  }
  items.count = members.item_count(items.all());
  return items;
}

}  // namespace tfile
