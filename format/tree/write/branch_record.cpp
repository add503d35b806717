// SPDX-License-Identifier: Apache-2.0
#include "tree/write/branch_record.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

#include "tree/write/record_class.h"

namespace tfile {
namespace {

using Kind = WrittenBranch::Kind;

// Versions and values of ROOT 6.40.
constexpr std::uint16_t kBranchVersion = 13, kBranchElementVersion = 10, kLeafVersion = 2, kLeafOfTypeVersion = 1;
constexpr std::uint16_t kFillColor = 0, kFillStyle = 1001;
constexpr std::uint32_t kDoNotUseBufferMap = 1 << 22, kIsFolder = 1 << 20;  // TBranch's bits
constexpr std::int32_t kSplitLevel = 99;        // of a branch of an object, as TTree::Branch makes it
constexpr std::int32_t kEntryOffsetLen = 1000;  // TTree's default; other than 0 means that baskets have entry offsets
constexpr std::int32_t kSlotsMin = 10;

// TClass::GetCheckSum of a class without members.
std::uint32_t memberless_checksum(std::string_view class_name) {
  std::uint32_t sum = 0;
  for (const char c : class_name) sum = sum * 3 + static_cast<unsigned char>(c);
  return sum;
}

constexpr std::uint16_t kVectorClassVersion = 6, kStringClassVersion = 2;
constexpr std::uint32_t kBranchAny = 1 << 17;          // TBranch's bit of an object that is no TObject
constexpr std::uint32_t kStringChecksum = 0x6E6F1604;  // std::string has members

std::string leaf_title(const WrittenBranch& branch, const LeafForm& leaf) {
  return leaf.name + (branch.kind == Kind::counted ? "[" + branch.counter + "]" : "") + dimensions(leaf);
}

// "x[hits_]": ROOT's title of a member's leaf has no dimensions.
std::string member_title(const WrittenBranch& member) { return member.leaves[0].name + "[" + member.counter + "]"; }

// "x/F", "pt[n]/F", "a/F:b[2]/I"; for an object its name.
std::string root_title(const WrittenBranch& branch) {
  if (branch.is_in_list()) return member_title(branch);
  if (branch.kind == Kind::records) return records_leaf_name(branch);
  if (branch.is_element()) return branch.name;
  if (branch.kind == Kind::text) return branch.name + "/C";
  std::string title;
  for (const LeafForm& leaf : branch.leaves) {
    if (!title.empty()) title += ":";
    title += leaf_title(branch, leaf) + "/" + leaf_letter(leaf.dtype);
  }
  return title;
}

bool is_unsigned(Dtype dtype) {
  return dtype == Dtype::u1 || dtype == Dtype::u2 || dtype == Dtype::u4 || dtype == Dtype::u8;
}

template <class T>
void write_range(ObjectAppender& out, std::int64_t largest) {
  out.big(T{});
  out.big(static_cast<T>(largest));
}

// Writes fMinimum and fMaximum in the type of the leaf.
void write_range(ObjectAppender& out, Dtype dtype, std::int64_t largest) {
  switch (size_of(dtype)) {
    case 1:
      return write_range<std::int8_t>(out, largest);
    case 2:
      return write_range<std::int16_t>(out, largest);
    case 4:
      return write_range<std::int32_t>(out, largest);  // for a float both are 0, which has the same bytes
    default:
      return write_range<std::int64_t>(out, largest);
  }
}

struct LeafFields {
  std::string_view name, title;
  std::int32_t len = 1, len_type = 0, offset = 0;
  bool is_range = false, is_unsigned = false;
  std::int32_t id = kWholeObject, type = -1;  // fID and fType of a TLeafElement
};

void write_records_leaf(ObjectAppender& out, const std::string& name, LeafPlaces& places);

// Writes fLeafCount of a member: a reference to the leaf of the records, which the first of them has in this place.
void write_leaf_of_records(ObjectAppender& out, const std::string& name, LeafPlaces& places) {
  if (const auto known = places.counters.find(name); known != places.counters.end()) {
    out.reference(known->second);
  } else {
    write_records_leaf(out, name, places);
  }
}

struct LeafCount {
  const std::size_t* counter = nullptr;     // the leaf
  const std::string* of_records = nullptr;  // or its name, if it is that of records
};

void write_leaf_base(ObjectAppender& out, const LeafFields& leaf, LeafCount count, LeafPlaces& places) {
  const std::size_t frame = out.open(kLeafVersion);
  out.tnamed(leaf.name, leaf.title, 0);
  out.big(leaf.len);
  out.big(leaf.len_type);
  out.big(leaf.offset);
  out.u1(leaf.is_range);
  out.u1(leaf.is_unsigned);
  if (count.of_records) {
    write_leaf_of_records(out, *count.of_records, places);
  } else if (count.counter) {
    out.reference(*count.counter);
  } else {
    out.null_pointer();
  }
  out.close(frame);
}

// `of_records`: of a member of records in lists, the name of their leaf.
std::size_t write_element_leaf(ObjectAppender& out, const LeafFields& leaf, const std::string* of_records,
                               LeafPlaces& places) {
  const std::size_t object = out.open_pointer("TLeafElement");
  const std::size_t frame = out.open(kLeafOfTypeVersion);
  write_leaf_base(out, leaf, {nullptr, of_records}, places);
  out.big(leaf.id);
  out.big(leaf.type);
  out.close(frame);
  out.close(object);
  places.all.push_back(object);
  return object;
}

void write_records_leaf(ObjectAppender& out, const std::string& name, LeafPlaces& places) {
  places.counters.insert_or_assign(name, write_element_leaf(out, {name, name}, nullptr, places));
}

LeafFields member_leaf_fields(const WrittenBranch& member, std::string_view name, std::string_view title,
                              bool is_number) {
  LeafFields fields{name, title};
  fields.id = static_cast<std::int32_t>(*member.number);
  fields.type = element_type_of(member);
  if (!is_number) return fields;
  fields.len = static_cast<std::int32_t>(member.leaves[0].count());
  fields.len_type = static_cast<std::int32_t>(size_of(member.leaves[0].dtype));
  fields.is_unsigned = is_unsigned(member.leaves[0].dtype);
  return fields;
}

void write_member_leaf(ObjectAppender& out, const WrittenBranch& member, LeafPlaces& places) {
  const std::string records = member.counter.substr(0, member.counter.size() - 1);
  const std::string name = records + "." + member.leaves[0].name, title = member_title(member);
  write_element_leaf(out, member_leaf_fields(member, name, title, member.kind == Kind::items), &member.counter, places);
}

// "b.x", with the title "b.x[3]".
void write_object_member_leaf(ObjectAppender& out, const WrittenBranch& member, LeafPlaces& places) {
  const std::string name = member.name.substr(0, member.name.size() - dimensions(member.leaves[0]).size());
  write_element_leaf(out, member_leaf_fields(member, name, member.name, member.kind == Kind::numbers), nullptr, places);
}

void write_leaf(ObjectAppender& out, const WrittenBranch& branch, const LeafForm& leaf, std::int32_t offset,
                const BranchBaskets& baskets, LeafPlaces& places) {
  const std::size_t object = out.open_pointer(leaf_class(leaf.dtype));
  const std::size_t frame = out.open(kLeafOfTypeVersion);
  const std::string title = leaf_title(branch, leaf);
  LeafFields fields{leaf.name, title};
  fields.len = static_cast<std::int32_t>(leaf.count());
  fields.len_type = static_cast<std::int32_t>(size_of(leaf.dtype));
  fields.offset = offset;
  fields.is_range = branch.is_counter;
  fields.is_unsigned = is_unsigned(leaf.dtype);
  const auto counter = branch.kind == Kind::counted ? places.counters.find(branch.counter) : places.counters.end();
  write_leaf_base(out, fields, {counter == places.counters.end() ? nullptr : &counter->second}, places);
  write_range(out, leaf.dtype, branch.is_counter ? baskets.largest : 0);
  out.close(frame);
  out.close(object);
  places.all.push_back(object);
  if (branch.is_counter) places.counters.insert_or_assign(branch.name, object);
}

void write_text_leaf(ObjectAppender& out, const WrittenBranch& branch, const BranchBaskets& baskets,
                     LeafPlaces& places) {
  const std::size_t object = out.open_pointer("TLeafC");
  const std::size_t frame = out.open(kLeafOfTypeVersion);
  LeafFields fields{branch.name, branch.name};
  fields.len = static_cast<std::int32_t>(baskets.largest + 1);
  fields.len_type = 1;
  write_leaf_base(out, fields, {}, places);
  write_range<std::int32_t>(out, baskets.largest + 1);
  out.close(frame);
  out.close(object);
  places.all.push_back(object);
}

void write_leaves(ObjectAppender& out, const WrittenBranch& branch, const BranchBaskets& baskets, LeafPlaces& places) {
  const bool one = branch.kind != Kind::numbers;
  const std::size_t list = out.open_array(one ? 1 : static_cast<std::int32_t>(branch.leaves.size()));
  if (branch.kind == Kind::records) {
    write_leaf_of_records(out, records_leaf_name(branch), places);
  } else if (branch.is_in_list()) {
    write_member_leaf(out, branch, places);
  } else if (branch.of_object) {
    write_object_member_leaf(out, branch, places);
  } else if (branch.is_element()) {
    LeafFields fields{branch.name, branch.name};
    if (branch.kind == Kind::object) fields.id = kSplitObject;
    write_element_leaf(out, fields, nullptr, places);
  } else if (branch.kind == Kind::text) {
    write_text_leaf(out, branch, baskets, places);
  } else {
    std::int32_t offset = 0;
    for (const LeafForm& leaf : branch.leaves) {
      write_leaf(out, branch, leaf, offset, baskets, places);
      offset += static_cast<std::int32_t>(leaf.bytes());
    }
  }
  out.close(list);
}

std::uint32_t bits_of(const WrittenBranch& branch) {
  const bool is_folder = branch.is_element() && branch.kind != Kind::object && !branch.of_object;
  return kDoNotUseBufferMap | (is_folder ? kIsFolder : 0) | (branch.has_class() ? kBranchAny : 0);
}

std::int32_t split_level(const WrittenBranch& branch) {
  if (branch.of_object) return branch.kind == Kind::numbers ? kSplitLevel - 1 : 0;
  return branch.has_class() || (branch.kind == Kind::vectors && !branch.number) ? kSplitLevel : 0;
}

// The source of a branch's record, and where the branch around it is, if it has one.
struct BranchSource {
  const WrittenBranch& branch;
  const BranchBaskets& baskets;
  int compression = 0;
  std::optional<std::size_t> records;
};

void write_element(ObjectAppender& out, const BranchSource& source, LeafPlaces& places);

// `object`: where the branch is.
void write_members(ObjectAppender& out, const BranchSource& source, std::size_t object, LeafPlaces& places) {
  const std::vector<WrittenBranch>& members = source.branch.members;
  const std::size_t list = out.open_array(static_cast<std::int32_t>(members.size()));
  std::optional<std::size_t> records;
  if (source.branch.kind == Kind::records) records = object;
  for (std::size_t i = 0; i < members.size(); ++i)
    write_element(out, {members[i], source.baskets.members[i], source.compression, records}, places);
  out.close(list);
}

void write_tbranch(ObjectAppender& out, const BranchSource& source, std::size_t object, LeafPlaces& places) {
  const auto& [branch, counted, compression, records] = source;
  BranchBaskets none;  // as a split object has; its members have the baskets
  none.basket_size = counted.basket_size;
  const BranchBaskets& baskets = branch.kind == Kind::object ? none : counted;
  const std::size_t frame = out.open(kBranchVersion);
  out.tnamed(branch.name, branch.title.empty() ? root_title(branch) : branch.title, bits_of(branch));
  const std::size_t fill = out.open(kAttFillVersion);
  out.big(kFillColor);
  out.big(kFillStyle);
  out.close(fill);
  out.big(static_cast<std::int32_t>(compression));          // fCompress
  out.big(baskets.basket_size);                             // fBasketSize
  out.big(branch.has_offsets() ? kEntryOffsetLen : 0);      // fEntryOffsetLen
  out.big(static_cast<std::int32_t>(baskets.seek.size()));  // fWriteBasket
  out.big(baskets.entries);                                 // fEntryNumber
  const std::size_t features = out.open_unversioned(kIoFeaturesChecksum);
  out.u1(0);  // fIOBits
  out.close(features);
  out.big(std::int32_t{0});                    // fOffset
  out.big(basket_slots(baskets.seek.size()));  // fMaxBaskets
  out.big(split_level(branch));                // fSplitLevel
  out.big(counted.entries);                    // fEntries
  out.big(std::int64_t{0});                    // fFirstEntry
  out.big(baskets.tot_bytes);
  out.big(baskets.zip_bytes);
  write_members(out, source, object, places);
  write_leaves(out, branch, baskets, places);
  const std::size_t slots =
      out.open_array(static_cast<std::int32_t>(baskets.seek.size() + 1));  // fBaskets: all on disk
  out.zeros(4 * (baskets.seek.size() + 1));
  out.close(slots);
  write_basket_bytes(out, baskets);
  write_basket_entries(out, baskets);
  write_basket_seeks(out, baskets);
  out.string("");  // fFileName
  out.close(frame);
}

void write_element_of_records(ObjectAppender& out, const BranchSource& source, std::uint32_t checksum) {
  const WrittenBranch& branch = source.branch;
  const bool is_member = branch.number.has_value();
  out.string(is_member ? branch.class_name : class_of(branch));
  out.string(is_member ? branch.class_name : "");  // fParentName
  out.string(is_member ? "" : branch.class_name);  // fClonesName
  out.big(is_member ? checksum : branch.is_map ? map_checksum(branch) : memberless_checksum(class_of(branch)));
  out.big(is_member ? std::uint16_t{1} : kVectorClassVersion);
  out.big(is_member ? static_cast<std::int32_t>(*branch.number) : -1);         // fID
  out.big(is_member ? kStlMemberNode : kStlNode);                              // fType
  out.big(is_member ? element_type_of(branch) : -1);                           // fStreamerType
  out.big(is_member ? 0 : static_cast<std::int32_t>(source.baskets.largest));  // fMaximum
}

// A split object, or a member of it.
void write_element_of_class(ObjectAppender& out, const WrittenBranch& branch) {
  out.string(branch.class_name);
  out.string(branch.of_object ? branch.class_name : "");  // fParentName
  out.string("");                                         // fClonesName
  out.big(branch.class_checksum);
  out.big(std::uint16_t{1});                                                             // fClassVersion
  out.big(branch.of_object ? static_cast<std::int32_t>(*branch.number) : kSplitObject);  // fID
  out.big(std::int32_t{0});                                                              // fType
  out.big(branch.of_object ? element_type_of(branch) : -1);                              // fStreamerType
  out.big(std::int32_t{0});                                                              // fMaximum
}

void write_element_of_object(ObjectAppender& out, const WrittenBranch& branch) {
  const bool is_text = branch.kind == Kind::text;
  const std::string class_name = class_of(branch);
  out.string(class_name);
  out.string("");  // fParentName
  out.string("");  // fClonesName
  out.big(is_text ? kStringChecksum : memberless_checksum(class_name));
  out.big(is_text ? kStringClassVersion : kVectorClassVersion);
  out.big(kWholeObject);                    // fID
  out.big(std::int32_t{is_text ? -1 : 0});  // fType: std::string has a streamer of its own
  out.big(std::int32_t{-1});                // fStreamerType
  out.big(std::int32_t{0});                 // fMaximum
}

void write_element(ObjectAppender& out, const BranchSource& source, LeafPlaces& places) {
  const WrittenBranch& branch = source.branch;
  const std::size_t object = out.open_pointer("TBranchElement");
  const std::size_t frame = out.open(kBranchElementVersion);
  write_tbranch(out, source, object, places);
  if (branch.class_name.empty()) {
    write_element_of_object(out, branch);
  } else if (branch.kind == Kind::object || branch.of_object) {
    write_element_of_class(out, branch);
  } else {
    write_element_of_records(out, source, branch.class_checksum);
  }
  if (source.records) {
    out.reference(*source.records);  // fBranchCount
  } else {
    out.null_pointer();
  }
  out.null_pointer();  // fBranchCount2
  out.close(frame);
  out.close(object);
}

}  // namespace

void BranchBaskets::add(std::uint64_t address, std::uint32_t size, std::int64_t basket_entries,
                        std::int64_t raw_bytes) {
  seek.push_back(address);
  nbytes.push_back(size);
  first_entry.push_back(entries);
  entries += basket_entries;
  tot_bytes += raw_bytes;
  zip_bytes += size;
}

std::int64_t BranchBaskets::all_tot_bytes() const {
  return std::accumulate(members.begin(), members.end(), tot_bytes,
                         [](std::int64_t sum, const BranchBaskets& one) { return sum + one.tot_bytes; });
}

std::int64_t BranchBaskets::all_zip_bytes() const {
  return std::accumulate(members.begin(), members.end(), zip_bytes,
                         [](std::int64_t sum, const BranchBaskets& one) { return sum + one.zip_bytes; });
}

std::int32_t basket_slots(std::size_t baskets) { return std::max(kSlotsMin, static_cast<std::int32_t>(baskets) + 1); }

void write_branch(ObjectAppender& out, const WrittenBranch& branch, const BranchBaskets& baskets, int compression,
                  LeafPlaces& leaves) {
  if (branch.is_element()) return write_element(out, {branch, baskets, compression, {}}, leaves);
  const std::size_t object = out.open_pointer("TBranch");
  write_tbranch(out, {branch, baskets, compression, {}}, object, leaves);
  out.close(object);
}

void write_basket_bytes(ObjectAppender& out, const BranchBaskets& baskets) {
  out.u1(1);
  for (const std::uint32_t bytes : baskets.nbytes) out.big(bytes);
  out.zeros(4 * (static_cast<std::size_t>(basket_slots(baskets.seek.size())) - baskets.seek.size()));
}

void write_basket_entries(ObjectAppender& out, const BranchBaskets& baskets, bool wide) {
  out.u1(1);
  for (const std::int64_t entry : baskets.first_entry) out.address(static_cast<std::uint64_t>(entry), wide);
  out.address(static_cast<std::uint64_t>(baskets.entries), wide);
  const auto slots = static_cast<std::size_t>(basket_slots(baskets.seek.size()));
  out.zeros((wide ? 8 : 4) * (slots - baskets.seek.size() - 1));
}

void write_basket_seeks(ObjectAppender& out, const BranchBaskets& baskets, bool wide) {
  out.u1(1);
  for (const std::uint64_t seek : baskets.seek) out.address(seek, wide);
  const auto slots = static_cast<std::size_t>(basket_slots(baskets.seek.size()));
  out.zeros((wide ? 8 : 4) * (slots - baskets.seek.size()));
}

}  // namespace tfile
