// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/colours.h"
#include "object/object_members.h"
#include "streamer/info/streamer_info.h"
#include "tfile/effort.h"
#include "tfile/plot.h"

namespace tfile {

// What may still be drawn of what one object holds: a file can name the same part again and again.
struct PlotBudget {
  std::size_t items = 5'000, cells = 5'000'000;
  bool take(std::size_t some_items, std::size_t some_cells) {
    if (some_items > items || some_cells > cells) return false;
    items -= some_items;
    cells -= some_cells;
    return true;
  }
};

// What an object is drawn with, and where.
struct PlotScene {
  const StreamerInfos& infos;
  PlotBudget& budget;
  Effort& effort;
  Palette palette = {};
  int depth = 0;            // of what holds others in what holds others
  bool is_shared = false;   // with others in one frame: colours that ROOT gives to everything are told, too
  std::string option = {};  // that it was drawn with, in small letters
};

// The colours and the style of an object, by its fLineColor and its kin.
PlotLook look_of(const ObjectMembers&, const PlotScene&);

}  // namespace tfile
