// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "plot/plot_look.h"

namespace tfile {
namespace {

// ROOT's colours, 0xRRGGBB, by number: the first fifty, and the parts of the colour wheel. Each part surrounds a named
// number (kYellow is 400) and begins ten below it.
constexpr std::uint32_t kFirst[] = {
    0xffffff, 0x000000, 0xff0000, 0x00ff00, 0x0000ff, 0xffff00, 0xff00ff, 0x00ffff, 0x59d454, 0x5954d9, 0xffffff,
    0xc0b6ac, 0x4d4d4d, 0x666666, 0x808080, 0x999999, 0xb2b2b2, 0xcccccc, 0xe5e5e5, 0xf2f2f2, 0xccc7ab, 0xccc7ab,
    0xc2bfa8, 0xbab5a3, 0xb2a696, 0xb8a39c, 0xad998c, 0x9c8f82, 0x876657, 0xb0cfc7, 0x85c2a3, 0x8aa8a1, 0x829e8c,
    0xadbdc7, 0x7a8f99, 0x758a91, 0x698296, 0x6e7a85, 0x7d99d1, 0x80809c, 0xaba6bf, 0xd4cf87, 0xdeba87, 0xbd9e82,
    0xc7997d, 0xbf8278, 0xcf5e61, 0xab8f94, 0xa6787a, 0x946970, 0xd45954};
constexpr std::uint32_t kFrom390[] = {0xffffcc, 0xffff99, 0xcccc99, 0xffff66, 0xcccc66, 0x999966, 0xffff33, 0xcccc33,
                                      0x999933, 0x666633, 0xffff00, 0xcccc00, 0x999900, 0x666600, 0x333300, 0x000000,
                                      0xccffcc, 0x99ff99, 0x99cc99, 0x66ff66, 0x66cc66, 0x669966, 0x33ff33, 0x33cc33,
                                      0x339933, 0x336633, 0x00ff00, 0x00cc00, 0x009900, 0x006600, 0x003300, 0x000000,
                                      0xccffff, 0x99ffff, 0x99cccc, 0x66ffff, 0x66cccc, 0x669999, 0x33ffff, 0x33cccc,
                                      0x339999, 0x336666, 0x00ffff, 0x00cccc, 0x009999, 0x006666, 0x003333};
constexpr std::uint32_t kFrom590[] = {0xccccff, 0x9999ff, 0x9999cc, 0x6666ff, 0x6666cc, 0x666699, 0x3333ff, 0x3333cc,
                                      0x333399, 0x333366, 0x0000ff, 0x0000cc, 0x000099, 0x000066, 0x000033, 0x000000,
                                      0xffccff, 0xff99ff, 0xcc99cc, 0xff66ff, 0xcc66cc, 0x996699, 0xff33ff, 0xcc33cc,
                                      0x993399, 0x663366, 0xff00ff, 0xcc00cc, 0x990099, 0x660066, 0x330033, 0x000000,
                                      0xffcccc, 0xff9999, 0xcc9999, 0xff6666, 0xcc6666, 0x996666, 0xff3333, 0xcc3333,
                                      0x993333, 0x663333, 0xff0000, 0xcc0000, 0x990000, 0x660000, 0x330000};
constexpr std::uint32_t kFrom791[] = {0xffcc99, 0xcc9966, 0x996633, 0x996600, 0xcc9933, 0xffcc66, 0xff9900, 0xffcc33,
                                      0xcc9900, 0xffcc00, 0xff9933, 0xcc6600, 0x663300, 0x993300, 0xcc6633, 0xff9966,
                                      0xff6600, 0xff6633, 0xcc3300, 0xff3300, 0x99ff33, 0x66cc00, 0x336600, 0x339900,
                                      0x66cc33, 0x99ff66, 0x66ff00, 0x66ff33, 0x33cc00, 0x33ff00, 0xccff99, 0x99cc66,
                                      0x669933, 0x669900, 0x99cc33, 0xccff66, 0x99ff00, 0xccff33, 0x99cc00, 0xccff00};
constexpr std::uint32_t kFrom831[] = {0x99ffcc, 0x66cc99, 0x339966, 0x009966, 0x33cc99, 0x66ffcc, 0x00ff66, 0x33ffcc,
                                      0x00cc99, 0x00ffcc, 0x33ff99, 0x00cc66, 0x006633, 0x009933, 0x33cc66, 0x66ff99,
                                      0x00ff99, 0x33ff66, 0x00cc33, 0x00ff33, 0x99ccff, 0x6699cc, 0x336699, 0x003399,
                                      0x3366cc, 0x6699ff, 0x0066ff, 0x3366ff, 0x0033cc, 0x0033ff, 0x3399ff, 0x0066cc,
                                      0x003366, 0x006699, 0x3399cc, 0x66ccff, 0x0099ff, 0x33ccff, 0x0099cc, 0x00ccff};
constexpr std::uint32_t kFrom871[] = {0xcc99ff, 0x9966cc, 0x663399, 0x660099, 0x9933cc, 0xcc66ff, 0x9900ff, 0xcc33ff,
                                      0x9900cc, 0xcc00ff, 0x9933ff, 0x6600cc, 0x330066, 0x330099, 0x6633cc, 0x9966ff,
                                      0x6600ff, 0x6633ff, 0x3300cc, 0x3300ff, 0xff3399, 0xcc0066, 0x660033, 0x990033,
                                      0xcc3366, 0xff6699, 0xff0066, 0xff3366, 0xcc0033, 0xff0033, 0xff99cc, 0xcc6699,
                                      0x993366, 0x990066, 0xcc3399, 0xff66cc, 0xff0099, 0xcc0099, 0xff33cc, 0xff0099};
constexpr std::uint32_t kFrom920[] = {0xcccccc, 0x999999, 0x666666, 0x333333};

struct Colours {
  std::int64_t first;
  std::span<const std::uint32_t> all;
};
constexpr Colours kColours[] = {{0, kFirst},     {390, kFrom390}, {590, kFrom590}, {791, kFrom791},
                                {831, kFrom831}, {871, kFrom871}, {920, kFrom920}};

constexpr std::size_t kListMax = 100'000;  // the most colours that a canvas can define

std::optional<std::uint32_t> mixed(const ObjectMembers& colour) {
  std::uint32_t rgb = 0;
  for (const char* part : {"fRed", "fGreen", "fBlue"}) {
    const auto value = colour.number(part);
    if (!value || !(*value >= 0 && *value <= 1)) return std::nullopt;
    rgb = rgb << 8 | static_cast<std::uint32_t>(std::lround(*value * 255));
  }
  return rgb;
}

}  // namespace

void Palette::add(const ObjectMembers& list) {
  const std::size_t count = list.item_count("arr");
  for (std::size_t i = 0; i < std::min(count, kListMax); ++i) {
    const ObjectMembers colour = list.at("arr." + std::to_string(i));
    const auto rgb = mixed(colour);
    const std::int64_t number = colour.integer("fNumber", -1);
    if (rgb && number > 0) own_[number] = *rgb;
  }
}

std::optional<std::uint32_t> Palette::colour(std::int64_t number) const {
  if (const auto own = own_.find(number); own != own_.end()) return own->second;
  for (const Colours& some : kColours) {
    if (number >= some.first && number - some.first < static_cast<std::int64_t>(some.all.size()))
      return some.all[static_cast<std::size_t>(number - some.first)];
  }
  return std::nullopt;
}

}  // namespace tfile
