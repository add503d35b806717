// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>

#include "tfile/json_text.h"
#include "view/tlatex_layout.h"

namespace tfilefs {
namespace {

using tfile::utf8_length;

// Thousandths of an em, from the space to the tilde.
constexpr std::array<std::uint16_t, 95> kAscii = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

// From capital alpha (U+0391) to small omega.
constexpr std::array<std::uint16_t, 57> kGreek = {
    667, 667, 551, 668, 667, 611, 722, 778, 278, 667, 668, 833, 722, 650, 778, 722, 667, 667, 618,
    611, 667, 798, 667, 835, 748, 278, 667, 578, 446, 556, 222, 547, 578, 575, 500, 557, 446, 441,
    556, 556, 222, 500, 500, 576, 500, 448, 556, 690, 569, 482, 617, 395, 547, 648, 525, 713, 781};
constexpr std::uint32_t kGreekFirst = 0x391;

constexpr double kOther = 0.58, kWide = 1;  // accented letters and signs; arrows, and the scripts of East Asia
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
