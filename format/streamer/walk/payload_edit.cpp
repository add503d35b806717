// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/payload_edit.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "bytes/cursor.h"
#include "bytes/endian.h"
#include "streamer/info/object_frame.h"
#include "streamer/walk/null_visitor.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

constexpr std::size_t kWord = sizeof(std::uint32_t);
constexpr std::uint32_t kKeyObject = 1;  // a reference to the object of the key, which does not count from anywhere
constexpr std::size_t kNowhere = SIZE_MAX;

}  // namespace

// Notes where frames and pointer slots are. Items that are stored member by member are told in another order.
class PayloadPlaces::Finder final : public NullVisitor {
 public:
  explicit Finder(PayloadPlaces& to) : to_(to) {}
  std::vector<std::size_t> slots;
  std::string unknown;  // why it may not have seen all of them

  void slot(std::size_t position) override { slots.push_back(position); }
  void frame(std::size_t begin, std::size_t end) override { to_.frames_.push_back({begin, end}); }
  void unread(std::string_view reason) override { unknown = reason; }
  void described_by(const StreamerInfo& info) override {
    if (known_.insert(&info).second) to_.infos_.push_back(&info);
  }

 private:
  PayloadPlaces& to_;
  std::unordered_set<const StreamerInfo*> known_;
};

Result<PayloadPlaces> PayloadPlaces::read(const StreamerInfos& infos, std::string_view class_name,
                                          std::span<const std::byte> payload, std::uint32_t keylen) {
  PayloadPlaces made;
  made.payload_ = payload;
  made.keylen_ = keylen;
  Finder finder(made);
  TRY_VOID(visit_object(infos, class_name, payload, keylen, finder));
  if (!finder.unknown.empty()) return fail(ErrorKind::unsupported, finder.unknown);
  std::ranges::sort(finder.slots);
  finder.slots.erase(std::unique(finder.slots.begin(), finder.slots.end()), finder.slots.end());
  TRY_VOID(made.read_slots(finder.slots));
  std::ranges::sort(made.frames_, {}, &Frame::begin);
  return made;
}

Result<> PayloadPlaces::read_slots(std::span<const std::size_t> positions) {
  for (const std::size_t position : positions) {
    Cursor in(payload_);
    in.seek(position, "pointer");
    const ObjectTag tag = read_object_tag(in, keylen_);
    if (in.failed()) return tl::unexpected(in.error());
    Slot slot;
    slot.begin = position;
    slot.tag = position + (tag.counted ? kWord : 0);
    slot.end = in.position();
    slot.identity = tag.identity;
    if (tag.kind == ObjectTag::Kind::reference) slot.kind = Slot::Kind::reference;
    if (tag.kind == ObjectTag::Kind::object) {
      slot.kind = Slot::Kind::object;
      slot.class_name = tag.class_name;
    }
    if (tag.counted) frames_.push_back({position, tag.end});
    slots_.push_back(slot);
  }
  return {};
}

std::size_t PayloadPlaces::end_of_slot(std::size_t begin) const {
  const auto slot = std::ranges::lower_bound(slots_, begin, {}, &Slot::begin);
  if (slot == slots_.end() || slot->begin != begin) return 0;
  if (slot->tag == begin) return slot->end;
  const auto frame = std::ranges::lower_bound(frames_, begin, {}, &Frame::begin);
  return frame->end;
}

namespace {

// Writes parts of payloads, with all byte counts, tags and references as they are at their new places.
class PayloadWriter {
 public:
  PayloadWriter(const PayloadPlaces& whole, std::size_t about);
  Result<> run(std::span<const PayloadChange> changes);
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  struct Open {
    std::size_t begin, end;  // in the payload that it is of
    std::size_t at;          // in this one
  };

  // At a byte of the payload that is copied.
  Result<> unfit(std::size_t at) const;
  bool is_whole() const { return open_.empty() && bytes_.size() < kByteCountBit; }
  void put(std::uint32_t word);
  void put(std::span<const std::byte> more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }
  std::uint32_t tag_here() const { return static_cast<std::uint32_t>(bytes_.size() + kTagOffset) + whole_.keylen(); }

  Result<> add(const PayloadPart& part);

  // Ends the frames that end there, and begin at `within` or behind.
  Result<> close(std::size_t end, std::size_t within);

  // The bytes from `at` to `end`. Frames that end at `end` stay open.
  Result<> copy(const PayloadPlaces& from, std::size_t at, std::size_t end);
  Result<> copy_tag(const PayloadPlaces& from, const PayloadPlaces::Slot& slot);

  const PayloadPlaces& whole_;
  std::vector<std::byte> bytes_;
  std::vector<Open> open_;
  std::map<std::pair<const PayloadPlaces*, std::uint32_t>, std::uint32_t> identities_;
  std::map<std::string_view, std::uint32_t> classes_;
};

PayloadWriter::PayloadWriter(const PayloadPlaces& whole, std::size_t about) : whole_(whole) {
  bytes_.reserve(about);
  identities_[{&whole, kKeyObject}] = kKeyObject;
}

Result<> PayloadWriter::run(std::span<const PayloadChange> changes) {
  std::size_t at = 0;
  for (const PayloadChange& change : changes) {
    if (change.begin < at || change.end < change.begin || change.end > whole_.payload().size())
      return fail(ErrorKind::invalid, "invalid changes of a payload");
    TRY_VOID(copy(whole_, at, change.begin));
    TRY_VOID(close(change.begin, change.end > change.begin ? 0 : change.within));
    for (const PayloadPart& part : change.parts) TRY_VOID(add(part));
    at = change.end;
  }
  TRY_VOID(copy(whole_, at, whole_.payload().size()));
  TRY_VOID(close(whole_.payload().size(), 0));
  return is_whole() ? Result<>() : unfit(whole_.payload().size());
}

Result<> PayloadWriter::unfit(std::size_t at) const {
  return fail(
      ErrorKind::damaged,
      "object: byte counts are not nested: at byte " + std::to_string(at) + ", in " +
          (open_.empty() ? "none" : std::to_string(open_.back().begin) + " to " + std::to_string(open_.back().end)));
}

void PayloadWriter::put(std::uint32_t word) {
  bytes_.resize(bytes_.size() + kWord);
  store_big(bytes_.data() + bytes_.size() - kWord, word);
}

Result<> PayloadWriter::add(const PayloadPart& part) {
  if (bytes_.size() + part.bytes.size() >= kByteCountBit)
    return fail(ErrorKind::unsupported, "the result would exceed 1 GiB");
  if (part.places == nullptr) return put(part.bytes), Result<>();
  const std::vector<Open> around = std::exchange(open_, {});
  const auto begin = static_cast<std::size_t>(part.bytes.data() - part.places->payload().data());
  TRY_VOID(copy(*part.places, begin, begin + part.bytes.size()));
  TRY_VOID(close(begin + part.bytes.size(), 0));
  if (!open_.empty()) return unfit(begin + part.bytes.size());
  open_ = around;
  return {};
}

Result<> PayloadWriter::close(std::size_t end, std::size_t within) {
  while (!open_.empty() && open_.back().end <= end && (open_.back().end < end || open_.back().begin >= within)) {
    const std::size_t size = bytes_.size() - open_.back().at - kWord;
    if (open_.back().end < end || size >= kByteCountBit) return unfit(end);
    store_big(bytes_.data() + open_.back().at, kByteCountBit | static_cast<std::uint32_t>(size));
    open_.pop_back();
  }
  return {};
}

Result<> PayloadWriter::copy(const PayloadPlaces& from, std::size_t at, std::size_t end) {
  auto frame = std::ranges::lower_bound(from.frames(), at, {}, &PayloadPlaces::Frame::begin);
  auto slot = std::ranges::lower_bound(from.slots(), at, {}, &PayloadPlaces::Slot::begin);
  while (at < end) {
    const std::size_t next_frame = frame == from.frames().end() ? kNowhere : frame->begin;
    const std::size_t next_tag = slot == from.slots().end() ? kNowhere : slot->tag;
    const std::size_t next_end = open_.empty() ? kNowhere : open_.back().end;
    const std::size_t next = std::min({end, next_frame, next_tag, std::max(next_end, at)});
    if (next < at) return unfit(at);
    put(from.payload().subspan(at, next - at));
    at = next;
    if (at == end) break;
    if (next_end <= at) {
      TRY_VOID(close(at, 0));
    } else if (at == next_frame) {
      if (frame->end > next_end || frame->end < at + kWord) return unfit(at);
      open_.push_back({at, frame->end, bytes_.size()});
      put(std::uint32_t{0});
      at += kWord;
      ++frame;
    } else if (at == next_tag) {
      TRY_VOID(copy_tag(from, *slot));
      at = slot->end;
      ++slot;
    }
  }
  return at == end ? Result<>() : unfit(at);
}

Result<> PayloadWriter::copy_tag(const PayloadPlaces& from, const PayloadPlaces::Slot& slot) {
  using Kind = PayloadPlaces::Slot::Kind;
  if (slot.kind == Kind::null) return put(std::uint32_t{0}), Result<>();
  if (slot.kind == Kind::reference) {
    const auto known = identities_.find({&from, slot.identity});
    if (known == identities_.end())
      return fail(ErrorKind::unsupported, "an object in it refers to one that does not exist");
    return put(known->second), Result<>();
  }
  // Without byte counts, tags count objects, not bytes.
  if (slot.tag == slot.begin) return fail(ErrorKind::unsupported, "an object in it has no byte count");
  // An object counts from the word in front of its tag.
  identities_[{&from, slot.identity}] = tag_here() - static_cast<std::uint32_t>(kWord);
  const auto [known, is_new] = classes_.try_emplace(slot.class_name, tag_here());
  if (!is_new) return put(kClassBit | known->second), Result<>();
  put(kNewClass);
  put(std::as_bytes(std::span(slot.class_name)));
  bytes_.push_back(std::byte{0});
  return {};
}

}  // namespace

Result<std::vector<std::byte>> change_payload(const PayloadPlaces& whole, std::span<const PayloadChange> changes) {
  std::size_t size = whole.payload().size();
  for (const PayloadChange& change : changes) {
    for (const PayloadPart& part : change.parts) size += part.bytes.size();
  }
  if (size >= kByteCountBit) return fail(ErrorKind::unsupported, "the result would exceed 1 GiB");
  PayloadWriter writer(whole, size);
  TRY_VOID(writer.run(changes));
  return writer.take();
}

Result<std::vector<std::byte>> move_references(const StreamerInfos& infos, std::string_view class_name,
                                               std::span<const std::byte> payload, std::uint32_t keylen,
                                               std::uint32_t new_keylen) {
  TRY(const PayloadPlaces places, PayloadPlaces::read(infos, class_name, payload, keylen));
  std::vector<std::byte> moved(payload.begin(), payload.end());
  for (const PayloadPlaces::Slot& slot : places.slots()) {
    const auto tag = load_big<std::uint32_t>(moved.data() + slot.tag);
    if (tag <= kKeyObject || tag == kNewClass) continue;
    store_big(moved.data() + slot.tag, (tag & kClassBit) | ((tag & ~kClassBit) - keylen + new_keylen));
  }
  return moved;
}

}  // namespace tfile
