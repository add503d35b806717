// SPDX-License-Identifier: Apache-2.0
#include "tree/record/friend_records.h"

#include <string_view>

#include "bytes/endian.h"
#include "streamer/info/object_frame.h"
#include "streamer/info/own_class.h"

namespace tfile {
namespace {

// In version 1 of TTreeIndex, a value is that of the major expression above these bits of that of the minor one.
constexpr int kOldMinorBits = 31;

// More friends and aliases than programs add, and few enough to compare their names.
constexpr std::size_t kListedMax = 1000;

FriendName read_friend(Cursor& in) {
  const Frame frame = read_frame(in);
  const NamedText named = read_tnamed(in);
  FriendName made{std::string(named.name), std::string(in.string("TFriendElement: fTreeName")),
                  std::string(named.title)};
  leave_frame(in, frame);
  return made;
}

// The objects of a class in a TList, each read by `read`.
template <class Read>
auto read_list(Cursor& in, std::uint32_t keylen, std::string_view class_name, Read read) {
  static const OwnClass& list = *own_class("TList");
  const Frame frame = read_frame(in);
  const std::uint32_t count = read_collection_head(in, list, frame.version).count;
  std::vector<decltype(read(in))> found;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    const ObjectTag tag = read_object_tag(in, keylen);
    if (tag.kind == ObjectTag::Kind::object && !tag.counted) in.reject("list: object of unknown length");
    if (tag.kind == ObjectTag::Kind::object && !in.failed()) {
      if (tag.class_name == class_name && found.size() < kListedMax) found.push_back(read(in));
      in.seek(tag.end, "list: end of an object");
    }
    if (list.has_options(frame.version)) in.string("TList: option");
  }
  if (in.failed()) return decltype(found)();
  leave_frame(in, frame);
  return found;
}

std::vector<std::int64_t> numbers_of(std::span<const std::byte> stored) {
  std::vector<std::int64_t> numbers(stored.size() / sizeof(std::int64_t));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = load_big<std::int64_t>(stored.data() + i * sizeof(std::int64_t));
  return numbers;
}

}  // namespace

std::vector<FriendName> read_friends(Cursor& in, std::uint32_t keylen) {
  return read_list(in, keylen, "TFriendElement", read_friend);
}

std::vector<TableAlias> read_aliases(Cursor& in, std::uint32_t keylen) {
  return read_list(in, keylen, "TNamed", [](Cursor& from) {
    const NamedText named = read_tnamed(from);
    return TableAlias{std::string(named.name), std::string(named.title)};
  });
}

StoredIndex read_stored_index(Cursor& in) {
  const Frame frame = read_frame(in);
  const Frame base = read_frame(in);  // TVirtualIndex, which is a TNamed
  read_tnamed(in);
  leave_frame(in, base);
  StoredIndex index;
  index.major_name = in.string("TTreeIndex: fMajorName");
  index.minor_name = in.string("TTreeIndex: fMinorName");
  const auto count = in.big<std::int64_t>("TTreeIndex: fN");
  if (count < 0) in.reject("TTreeIndex: fN");
  const auto numbers = [&](const char* what) {
    return in.take_items(in.failed() ? 0 : static_cast<std::uint64_t>(count), sizeof(std::int64_t), what);
  };
  index.major = numbers("TTreeIndex: fIndexValues");
  if (frame.version > 1) index.minor = numbers("TTreeIndex: fIndexValuesMinor");
  index.entry = numbers("TTreeIndex: fIndex");
  leave_frame(in, frame);
  return index;
}

EntryIndex entry_index_of(const StoredIndex& stored) {
  EntryIndex index{stored.major_name, stored.minor_name, numbers_of(stored.major), numbers_of(stored.minor),
                   numbers_of(stored.entry)};
  if (!index.minor.empty() || index.major.empty()) return index;
  index.minor.reserve(index.major.size());
  for (std::int64_t& major : index.major) {
    index.minor.push_back(major & ((std::int64_t{1} << kOldMinorBits) - 1));
    major >>= kOldMinorBits;
  }
  return index;
}

}  // namespace tfile
