// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/payload_edit.h"

#include <string>

#include "bytes/endian.h"
#include "streamer/info/object_frame.h"
#include "streamer/walk/null_visitor.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);
// A frame begins with a byte count and a version; that of the first base follows at once.
constexpr std::size_t kFrameHead = kWord + sizeof(std::uint16_t);

// Notes where the pointer slots of an object are.
class SlotFinder final : public NullVisitor {
 public:
  std::vector<std::size_t> slots;
  std::string unknown;  // why it may not have seen all of them

  void slot(std::size_t position) override { slots.push_back(position); }
  void unread(std::string_view reason) override { unknown = reason; }
};

// A payload that grew by `size` bytes at a position.
class GrownPayload {
 public:
  GrownPayload(std::vector<std::byte>& bytes, std::size_t position, std::size_t size, std::uint32_t keylen)
      : bytes_(bytes), position_(position), size_(size), keylen_(keylen) {}

  // The frames around the position: that of the object, and those of its first bases.
  void correct_counts() {
    for (std::size_t at = 0; at + kFrameHead <= position_; at += kFrameHead) {
      const std::uint32_t count = word(at);
      if (!(count & kByteCountBit) || at + kWord + (count & ~kByteCountBit) < position_) return;
      put(at, count + static_cast<std::uint32_t>(size_));
    }
  }

  void correct_tag(std::size_t slot) {
    std::size_t at = slot < position_ ? slot : slot + size_;
    if ((word(at) & kByteCountBit) && word(at) != kNewClass) at += kWord;
    const std::uint32_t tag = word(at);
    if (tag == 0 || tag == kNewClass) return;
    const std::int64_t target = std::int64_t{tag & ~kClassBit} - kTagOffset - keylen_;
    if (target >= static_cast<std::int64_t>(position_)) put(at, tag + static_cast<std::uint32_t>(size_));
  }

 private:
  std::uint32_t word(std::size_t at) const { return load_big<std::uint32_t>(bytes_.data() + at); }
  void put(std::size_t at, std::uint32_t value) { store_big(bytes_.data() + at, value); }

  std::vector<std::byte>& bytes_;
  const std::size_t position_, size_;
  const std::uint32_t keylen_;
};

}  // namespace

Result<std::vector<std::byte>> insert_in_payload(const StreamerInfos& infos, std::string_view class_name,
                                                 std::span<const std::byte> payload, std::uint32_t keylen,
                                                 std::span<const Insertion> insertions) {
  SlotFinder finder;
  TRY_VOID(visit_object(infos, class_name, payload, keylen, finder));
  if (!finder.unknown.empty()) return fail(ErrorKind::unsupported, finder.unknown);
  std::vector<std::byte> grown(payload.begin(), payload.end());
  // From the last to the first, so that each position is still where it was.
  for (auto at = insertions.rbegin(); at != insertions.rend(); ++at) {
    const Insertion& each = *at;
    if (grown.size() + each.bytes.size() >= kByteCountBit) return fail(ErrorKind::unsupported, "it would have 1 GiB");
    grown.insert(grown.begin() + static_cast<std::ptrdiff_t>(each.position), each.bytes.begin(), each.bytes.end());
    GrownPayload whole(grown, each.position, each.bytes.size(), keylen);
    whole.correct_counts();
    for (std::size_t& slot : finder.slots) {
      whole.correct_tag(slot);
      if (slot >= each.position) slot += each.bytes.size();
    }
  }
  return grown;
}

Result<std::vector<std::byte>> move_references(const StreamerInfos& infos, std::string_view class_name,
                                               std::span<const std::byte> payload, std::uint32_t keylen,
                                               std::uint32_t new_keylen) {
  constexpr std::uint32_t kKeyObject = 1;  // a reference to the object of the key, which does not count from anywhere
  SlotFinder finder;
  TRY_VOID(visit_object(infos, class_name, payload, keylen, finder));
  if (!finder.unknown.empty()) return fail(ErrorKind::unsupported, finder.unknown);
  std::vector<std::byte> moved(payload.begin(), payload.end());
  for (std::size_t at : finder.slots) {
    std::uint32_t tag = load_big<std::uint32_t>(moved.data() + at);
    if ((tag & kByteCountBit) && tag != kNewClass) tag = load_big<std::uint32_t>(moved.data() + (at += kWord));
    if (tag <= kKeyObject || tag == kNewClass) continue;
    const std::uint32_t place = (tag & ~kClassBit) - keylen + new_keylen;
    store_big(moved.data() + at, (tag & kClassBit) | place);
  }
  return moved;
}

}  // namespace tfile
