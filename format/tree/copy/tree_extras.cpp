// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/tree_extras.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "bytes/endian.h"
#include "container/payload.h"
#include "streamer/info/streamer_info_record.h"

namespace tfile {
namespace {

constexpr std::uint32_t kNull = 4;  // the size of a null pointer

// The bytes of a stretch without what depends on its place: counts of bytes, and numbers that lead to a name or object.
std::string text_of(std::span<const std::byte> payload, const RecordOutline& outline, Stretch stretch) {
  if (stretch.size() <= kNull) return {};
  std::string text;
  std::uint32_t at = stretch.begin;
  const auto take_up_to = [&](std::uint32_t end) {
    if (end > at) text.append(reinterpret_cast<const char*>(payload.data()) + at, end - at);
    at = std::max(at, end);
  };
  auto mark = std::ranges::lower_bound(outline.marks, stretch.begin, {}, &RecordMark::at);
  for (; mark != outline.marks.end() && mark->at < stretch.end; ++mark) {
    take_up_to(mark->at);
    const bool is_tag = mark->kind == RecordMark::Kind::class_tag;
    if (is_tag) text.append(mark->class_name).push_back('\0');
    at = is_tag ? mark->other : mark->at + static_cast<std::uint32_t>(sizeof(std::uint32_t));
  }
  take_up_to(stretch.end);
  return text;
}

double weight_in(std::span<const std::byte> payload, const MemberPlace& place) {
  if (place.bytes.size() != sizeof(double)) return 1;  // none in trees before ROOT 3
  return std::bit_cast<double>(load_big<std::uint64_t>(payload.data() + place.bytes.begin));
}

std::string shown_weight(double weight) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.begin(), text.end(), weight).ptr};
}

}  // namespace

TreeExtras extras_in(std::span<const std::byte> payload, const RecordOutline& outline) {
  const auto has = [&](TreeMember member) { return outline[member].bytes.size() > kNull; };
  TreeExtras extras;
  extras.aliases = text_of(payload, outline, outline[TreeMember::aliases].bytes);
  extras.user_info = text_of(payload, outline, outline[TreeMember::user_info].bytes);
  extras.weight = weight_in(payload, outline[TreeMember::weight]);
  extras.has_index = has(TreeMember::tree_index);
  extras.has_friends = has(TreeMember::friends);
  return extras;
}

Result<TreeExtras> tree_extras(const File& file, const KeyInfo& tree) {
  TRY(const StreamerInfoRecord infos, read_streamer_info_record(file.source(), file.header()));
  TRY(const RecordContent record, read_record(file.source(), {tree.seek, tree.nbytes}));
  const std::span<const std::byte> payload = record.payload.span();
  TRY(const RecordOutline outline, outline_members(payload, record.keylen, std::string(tree.class_name), *infos.infos));
  return extras_in(payload, outline);
}

std::vector<std::string> names_of(const TreeExtras& extras) {
  std::vector<std::string> names;
  if (!extras.aliases.empty()) names.emplace_back("its aliases");
  if (!extras.user_info.empty()) names.emplace_back("its user info");
  if (extras.weight != 1) names.push_back("its weight of " + shown_weight(extras.weight));
  if (extras.has_index) names.emplace_back("its index of entries");
  if (extras.has_friends) names.emplace_back("its friends");
  return names;
}

std::vector<std::string> names_of_other(const TreeExtras& first, const TreeExtras& other) {
  std::vector<std::string> names;
  if (!other.aliases.empty() && other.aliases != first.aliases)
    names.emplace_back("aliases of a later file, which differ from those of the first");
  if (!other.user_info.empty() && other.user_info != first.user_info)
    names.emplace_back("user info of a later file, which differs from that of the first");
  if (other.weight != first.weight)
    names.push_back("the weight of a later file, " + shown_weight(other.weight) +
                    ": its entries have the weight of the first, " + shown_weight(first.weight));
  return names;
}

}  // namespace tfile
