// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>

#include "plot/tlatex_layout.h"
#include "tfile/json_text.h"

namespace tfilefs {
namespace {

using tfile::utf8_length;

// Thousandths of an em, from the space to the tilde.
constexpr std::array<std::uint16_t, 95> kAscii = {
    318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361,  318, 337, 637, 637, 637,
    637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 556, 1015, 685, 687, 722, 771, 667,
    611, 778, 752, 295, 500, 667, 558, 863, 749, 788, 667, 788, 722, 667,  611, 732, 685, 989, 686,
    667, 686, 391, 337, 391, 838, 556, 500, 613, 635, 550, 635, 616, 353,  635, 634, 278, 278, 580,
    278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592,  525, 637, 337, 637, 838};

// From capital alpha (U+0391) to small omega.
constexpr std::array<std::uint16_t, 57> kGreek = {
    685, 687, 558, 685, 667, 686, 752, 788, 295, 667, 685, 863, 749, 650, 788, 752, 667, 667, 632,
    611, 667, 798, 686, 835, 765, 295, 667, 660, 541, 634, 339, 579, 660, 639, 592, 612, 541, 544,
    634, 612, 339, 590, 592, 637, 559, 558, 612, 690, 635, 587, 634, 603, 579, 660, 578, 713, 838};
constexpr std::uint32_t kGreekFirst = 0x391;

constexpr double kOther = 0.66, kWide = 1;  // accented letters and signs; arrows, and the scripts of East Asia
constexpr std::uint32_t kArrows = 0x2190, kArrowsEnd = 0x2200, kEastAsia = 0x2E80;

double width_of(std::uint32_t point) {
  if (point >= ' ' && point - ' ' < kAscii.size()) return kAscii[point - ' '] / 1000.0;
  if (point >= kGreekFirst && point - kGreekFirst < kGreek.size()) return kGreek[point - kGreekFirst] / 1000.0;
  if ((point >= kArrows && point < kArrowsEnd) || point >= kEastAsia) return kWide;
  return kOther;
}

}  // namespace

double text_width(std::string_view text) {
  double width = 0;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    std::uint32_t point = length < 2 ? lead : lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
    width += length == 0 ? kOther : width_of(point);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return width;
}

}  // namespace tfilefs
