// SPDX-License-Identifier: Apache-2.0
#include "plot/plot_look.h"

namespace tfile {
namespace {

// ROOT's default colours for lines and marks: black, and since ROOT 6 a dark blue (kBlue + 2).
constexpr std::int64_t kBlack = 1, kDarkBlue = 602;
constexpr std::int64_t kWhite = 0, kWhiteToo = 10;

}  // namespace

PlotLook look_of(const ObjectMembers& members, const PlotScene& scene) {
  PlotLook look;
  const auto chosen = [&](const char* member) -> std::optional<std::uint32_t> {
    const std::int64_t number = members.integer(member, -1);
    if (number < 0 || (!scene.is_shared && (number == kBlack || number == kDarkBlue))) return std::nullopt;
    return scene.palette.colour(number);
  };
  look.line = chosen("fLineColor");
  look.mark = chosen("fMarkerColor");
  // If only the line has a colour, its marks have the same one, and vice versa.
  if (!scene.is_shared && !look.mark) look.mark = look.line;
  if (!scene.is_shared && !look.line) look.line = look.mark;
  const std::int64_t fill = members.integer("fFillColor", kWhite), style = members.integer("fFillStyle", 0);
  constexpr std::int64_t kHatched = 3000, kTransparent = 4000;  // TAttFill's numbers of styles
  if (fill != kWhite && fill != kWhiteToo && style != 0 && style != kTransparent)
    look.fill = scene.palette.colour(fill);
  look.is_hatched = style >= kHatched && style < kTransparent;
  const std::int64_t line = members.integer("fLineStyle", 1);
  look.is_dotted = line == 3;
  look.is_dashed = line == 2 || line > 3;
  return look;
}

}  // namespace tfile
