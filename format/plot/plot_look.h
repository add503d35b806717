// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "bytes/payload_bytes.h"
#include "object/object_members.h"
#include "object/object_plots.h"
#include "streamer/info/streamer_info.h"
#include "tfile/effort.h"
#include "tfile/plot.h"

namespace tfile {

// The colours of ROOT's colour numbers: the predefined ones, and those saved with a canvas.
class Palette {
 public:
  // `list`: a TObjArray of TColor.
  void add(const ObjectMembers& list);
  // 0xRRGGBB; nullopt for a number without a colour.
  std::optional<std::uint32_t> colour(std::int64_t number) const;

 private:
  std::map<std::int64_t, std::uint32_t> own_;
};

// The part of one object's drawing that is still allowed: a file can refer to the same part many times.
struct PlotBudget {
  std::size_t items = 5'000, cells = kDrawnTogether;
  bool take(std::size_t some_items, std::size_t some_cells) {
    if (some_items > items || some_cells > cells) return false;
    items -= some_items;
    cells -= some_cells;
    return true;
  }
};

// The context in which an object is drawn.
struct PlotScene {
  const StreamerInfos& infos;
  const PayloadBytes& payload;  // to which the members belong
  PlotBudget& budget;
  Effort& effort;
  Palette palette = {};
  int depth = 0;            // of containers in containers
  bool is_shared = false;   // drawn with others in one frame: ROOT's default colours are shown, too
  std::string option = {};  // drawing option, in lower case
};

// The colours and the style of an object, from its fLineColor and similar members.
PlotLook look_of(const ObjectMembers&, const PlotScene&);

}  // namespace tfile
