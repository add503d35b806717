// SPDX-License-Identifier: Apache-2.0
#include "tree/record/record_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "streamer/info/own_class.h"
#include "tree/record/record_outline.h"

namespace tfile {
namespace {

using Kind = RecordStep::Kind;
using Field = RecordField;

// The depth of branches in branches, and of leaves in leaves; real trees stay below 20.
constexpr int kDepthMax = 128;

// If every branch of a large tree were damaged, there would be thousands of equal warnings.
constexpr std::size_t kWarningsMax = 100;

template <class T>
T narrowed(std::int64_t value) {
  return static_cast<T>(value);
}

std::int64_t to_integer(double value) {
  // Old versions store counts as floating-point numbers. The bound is close to 2^63.
  if (!(std::abs(value) < 9.2e18)) return 0;
  return static_cast<std::int64_t>(value);
}

std::int64_t read_number(Cursor& in, int type) {
  using namespace element_type;
  if (type == kFloat) return to_integer(static_cast<double>(in.big<float>("member")));
  if (type == kDouble) return to_integer(in.big<double>("member"));
  if (type == kUInt) return in.big<std::uint32_t>("member");
  if (type == kUShort) return in.big<std::uint16_t>("member");
  if (type == kUChar || type == kBool) return in.u1("member");
  const auto bytes = in.take(number_size(type), "member");
  return bytes.empty() ? 0 : number_at(bytes);
}

Cursor inside(const Cursor& in, const ObjectTag& tag) {
  Cursor inner(tag.counted ? in.bytes().first(tag.end) : in.bytes());
  inner.seek(in.position(), "object");
  return inner;
}

void set_tree_number(Field field, std::int64_t value, TreeRecord& record) {
  if (field == Field::entries) record.entries = value;
  if (field == Field::tot_bytes) record.tot_bytes = value;
  if (field == Field::zip_bytes) record.zip_bytes = value;
  if (field == Field::auto_flush) record.auto_flush = value;
}

void set_leaf_number(Field field, std::int64_t value, LeafRecord& leaf) {
  if (field == Field::len) leaf.len = narrowed<std::int32_t>(value);
  if (field == Field::len_type) leaf.len_type = narrowed<std::int32_t>(value);
  if (field == Field::offset) leaf.offset = narrowed<std::int32_t>(value);
  if (field == Field::is_range) leaf.is_range = value != 0;
  if (field == Field::is_unsigned) leaf.is_unsigned = value != 0;
  if (field == Field::id) leaf.element_id = narrowed<std::int32_t>(value);
  if (field == Field::type) leaf.element_type = narrowed<std::int32_t>(value);
}

// The numbers of a branch that have 32 bits; null for any other.
std::int32_t* narrow_number(Field field, BranchRecord& branch) {
  switch (field) {
    case Field::compress:
      return &branch.compress;
    case Field::basket_size:
      return &branch.basket_size;
    case Field::entry_offset_len:
      return &branch.entry_offset_len;
    case Field::split_level:
      return &branch.split_level;
    case Field::class_version:
      return &branch.class_version;
    case Field::id:
      return &branch.id;
    case Field::type:
      return &branch.type;
    case Field::streamer_type:
      return &branch.streamer_type;
    case Field::maximum:
      return &branch.maximum;
    default:
      return nullptr;
  }
}

}  // namespace

RecordReader::RecordReader(std::span<const std::byte> payload, std::uint32_t keylen, const StreamerInfos& infos)
    : payload_(payload), keylen_(keylen), plans_(infos) {
  // A branch with its leaf takes at least 400 bytes.
  met_.reserve(2 * (payload.size() / 400));
}

Result<> RecordReader::read(const std::string& class_name) {
  tree.class_name = class_name;
  Cursor in(payload_);
  Target target;
  target.kind = RecordKind::tree;
  target.tree = &tree;
  if (plans_.kind_of(class_name) != RecordKind::tree) {
    return fail(ErrorKind::unsupported, "class " + class_name + " is not described in the file");
  }
  read_object(in, class_name, target);
  if (branch_ref_) take({RecordKind::branch, *branch_ref_}, Field::branches, target);
  if (branches_read_) {
    if (in.failed()) warn("tree record: " + in.error().text);
    return {};
  }
  if (!unknown_.empty()) return fail(ErrorKind::unsupported, unknown_ + " is not described in the file");
  TRY_VOID(in.finish());
  return fail(ErrorKind::damaged,
              "tree record of " + std::to_string(payload_.size()) + " bytes has no list of branches");
}

// Reads the frame and members of an object, or of one of its bases.
void RecordReader::read_object(Cursor& in, std::string_view class_name, Target& target) {
  if (class_name == "TBranchClones") return read_clones_branch(in, target);
  const Frame frame = read_frame(in);
  if (in.failed()) return;
  // ROOT describes TBranch only from version 6 on.
  if (class_name == "TBranch" && frame.version < 6) {
    read_oldest_branch(in, frame.version, target);
  } else if (const RecordPlan* plan = plans_.find(class_name, frame.version, frame.checksum)) {
    run(in, *plan, frame, target);
  } else {
    const std::string what = std::string(class_name) + " of version " + std::to_string(frame.version);
    if (target.kind == RecordKind::tree && unknown_.empty()) unknown_ = what;
    warn(what + " is not described in the file");
    if (!frame.counted) return in.reject("object of unknown layout");
  }
  leave_frame(in, frame);
}

void RecordReader::run(Cursor& in, const RecordPlan& plan, const Frame& frame, Target& target) {
  std::array<std::int64_t, kRecordCountersMax> counts{};
  // Without a byte count, all members must be read to find the end.
  const std::size_t steps = frame.counted ? plan.useful : plan.steps.size();
  for (std::size_t i = 0; i < steps && !in.failed(); ++i) {
    const RecordStep& step = plan.steps[i];
    if (step.kind == Kind::stop && !frame.counted) in.reject("member of unknown layout");
    if (step.kind == Kind::stop) return;
    run_step(in, step, counts, target);
  }
}

void RecordReader::run_step(Cursor& in, const RecordStep& step, std::span<std::int64_t> counts, Target& target) {
  switch (step.kind) {
    case Kind::skip:
      return in.skip(step.bytes, "members");
    case Kind::count:
      counts[step.slot] = read_number(in, step.type);
      return set_number(step.field, counts[step.slot], target);
    case Kind::number:
      return set_number(step.field, read_number(in, step.type), target);
    case Kind::string:
      return set_string(step.field, in.string("member"), target);
    case Kind::tobject:
      read_tobject(in);
      return;
    case Kind::tnamed:
      return set_named(read_tnamed(in), target);
    case Kind::base:
      if (plans_.kind_of(step.class_name) == target.kind) return read_object(in, step.class_name, target);
      return skip_object(in, step.class_name);
    case Kind::features:
      return read_features(in, target);
    case Kind::object:
      return skip_object(in, step.class_name);
    case Kind::tobjarray:
      return read_list(in, step.field, target);
    case Kind::tarray:
      read_array(in, step.dtype);
      return;
    case Kind::pointer:
      return read_pointer(in, step.field, target);
    case Kind::numbers:
      return read_numbers(in, step, counts[step.slot], target);
    case Kind::stop:
      return;
  }
}

// Skips an object in place.
void RecordReader::skip_object(Cursor& in, std::string_view class_name) {
  const Frame frame = read_frame(in);
  if (frame.counted) return leave_frame(in, frame);
  const RecordPlan* plan = plans_.find(class_name, frame.version, frame.checksum);
  if (!plan || depth_ >= kDepthMax) return in.reject("object of unknown layout");
  Target nobody;
  ++depth_;
  run(in, *plan, frame, nobody);
  --depth_;
}

void RecordReader::read_features(Cursor& in, Target& target) {
  const Frame frame = read_frame(in);
  const std::uint8_t bits = in.u1("TIOFeatures: fIOBits");
  if (target.branch) target.branch->io_bits = bits;
  leave_frame(in, frame);
}

// Reads a TObjArray in place.
void RecordReader::read_list(Cursor& in, Field field, Target& target) {
  const Frame frame = read_frame(in);
  static const OwnClass& array = *own_class("TObjArray");
  const std::uint32_t count = read_collection_head(in, array, frame.version).count;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    if (field == Field::baskets && target.arrays) {
      EmbeddedBasket basket;
      basket.entries = 0;
      read_slot(in, &basket);
      basket.index = i;
      if (basket.entries > 0) target.arrays->embedded.push_back(std::move(basket));
    } else {
      take(read_slot(in), field, target);
    }
  }
  leave_frame(in, frame);
  if (field == Field::branches && target.tree) branches_read_ = !in.failed() || !tree.top.empty();
}

// `T* member; //[count]`.
void RecordReader::read_numbers(Cursor& in, const RecordStep& step, std::int64_t count, Target& target) {
  const std::uint8_t flag = in.u1("array: flag");
  if (flag == 0) return;
  if (count < 0) return in.reject("array: size");
  // A flag of 2 is that of TBranch before version 10, for addresses of 8 bytes.
  const std::uint32_t width = step.field == Field::basket_seek && flag == 2 ? 8 : number_size(step.type);
  const auto raw = in.take_items(static_cast<std::uint64_t>(count), width, "array");
  const BasketArrays::Numbers numbers{raw, width};
  if (target.arrays && (width == 4 || width == 8)) {
    if (step.field == Field::basket_bytes) target.arrays->bytes = numbers;
    if (step.field == Field::basket_entry) target.arrays->entry = numbers;
    if (step.field == Field::basket_seek) target.arrays->seek = numbers;
  } else if (target.tree && width == 8) {
    auto* into = step.field == Field::cluster_range_end ? &target.tree->cluster_range_end
                 : step.field == Field::cluster_size    ? &target.tree->cluster_size
                                                        : nullptr;
    for (std::size_t i = 0; into && i < numbers.size(); ++i) into->push_back(numbers.at(i));
  }
}

// Reads the parts of a tree beside its branches. Damage in one stays there.
void RecordReader::read_beside(Cursor& in, Field field) {
  const ObjectTag tag = read_object_tag(in, keylen_);
  if (tag.kind != ObjectTag::Kind::object) return;
  if (!tag.counted) return in.reject("object of unknown length");
  Cursor inner = inside(in, tag);
  if (field == Field::friends && tag.class_name == "TList") tree.friends = read_friends(inner, keylen_);
  if (field == Field::aliases && tag.class_name == "TList") tree.aliases = read_aliases(inner, keylen_);
  if (field == Field::tree_index && tag.class_name == "TTreeIndex") {
    StoredIndex stored = read_stored_index(inner);
    stored_index = inner.finish(std::move(stored));
    tree.has_index = true;
  }
  if (inner.failed()) warn(std::string(tag.class_name) + ": " + inner.error().text);
  in.seek(tag.end, "object: end");
}

void RecordReader::read_pointer(Cursor& in, Field field, Target& target) {
  if (field == Field::friends || field == Field::aliases || field == Field::tree_index) return read_beside(in, field);
  if (field != Field::none) return take(read_slot(in), field, target);
  const ObjectTag tag = read_object_tag(in, keylen_);
  if (tag.kind != ObjectTag::Kind::object) return;
  if (!tag.counted) return in.reject("object of unknown length");
  in.seek(tag.end, "object: end");
}

// A pointer or a slot of a list: reads the object if it occurs here for the first time. `basket` receives a TBasket.
RecordReader::Met RecordReader::read_slot(Cursor& in, EmbeddedBasket* basket) {
  const ObjectTag tag = read_object_tag(in, keylen_);
  if (in.failed() || tag.kind == ObjectTag::Kind::null) return {};
  if (tag.kind == ObjectTag::Kind::reference) {
    const auto known = met_.find(tag.identity);
    return known == met_.end() ? Met{} : known->second;
  }
  if (depth_ >= kDepthMax) {
    in.reject("objects nested too deep");
    return {};
  }
  ++depth_;
  Cursor inner = inside(in, tag);
  const Met met = read_new_object(inner, tag, basket);
  --depth_;
  if (inner.failed()) {
    if (met.kind == RecordKind::branch) {
      warn("branch '" + branches[met.index].name + "': " + inner.error().text);
    } else {
      warn(std::string(tag.class_name) + ": " + inner.error().text);
    }
    if (!tag.counted) in.reject("object of unknown length");
  }
  in.seek(tag.counted ? tag.end : inner.position(), "object: end");
  return met;
}

RecordReader::Met RecordReader::read_new_object(Cursor& in, const ObjectTag& tag, EmbeddedBasket* basket) {
  if (basket && tag.class_name == "TBasket") {
    *basket = read_embedded_basket(in);
    return {};
  }
  Met met{plans_.kind_of(tag.class_name), 0};
  if (met.kind == RecordKind::branch) {
    met.index = static_cast<std::uint32_t>(branches.size());
    branches.emplace_back().class_name = tag.class_name;
    met_[tag.identity] = met;
    read_branch(in, met.index, tag.class_name);
  } else if (met.kind == RecordKind::leaf) {
    met.index = static_cast<std::uint32_t>(leaves.size());
    leaves.emplace_back().class_name = tag.class_name;
    owner.emplace_back();
    met_[tag.identity] = met;
    Target target;
    target.kind = RecordKind::leaf;
    target.index = met.index;
    target.leaf = &leaves.back();
    read_object(in, tag.class_name, target);
  } else {
    met.kind = RecordKind::other;
    if (!tag.counted) in.reject("object of unknown length");
  }
  return met;
}

void RecordReader::read_branch(Cursor& in, BranchIndex index, std::string_view class_name) {
  BasketArrays arrays;
  Target target;
  target.kind = RecordKind::branch;
  target.index = index;
  target.branch = &branches[index];
  target.arrays = &arrays;
  open_.resize(branches.size(), 0);
  placed_.resize(branches.size(), 0);
  open_[index] = 1;
  read_object(in, class_name, target);
  open_[index] = 0;
  if (!tables_.build(std::move(arrays), *target.branch)) {
    warn("branch '" + target.branch->name + "': the entries of its baskets are not in order");
  }
}

// Reads a TBranch from before version 6, which no StreamerInfo describes.
void RecordReader::read_oldest_branch(Cursor& in, std::uint16_t version, Target& target) {
  using namespace element_type;
  Target nobody;
  Target& branch = target.branch ? target : nobody;
  RecordStep named;
  named.kind = Kind::tnamed;
  run_step(in, named, {}, branch);
  std::int64_t max_baskets = 0;
  const auto number = [&](Field field, int type) {
    const std::int64_t value = read_number(in, type);
    if (field == Field::max_baskets) max_baskets = value;
    set_number(field, value, branch);
  };
  number(Field::compress, kInt);
  number(Field::basket_size, kInt);
  number(Field::entry_offset_len, kInt);
  number(Field::max_baskets, kInt);
  number(Field::write_basket, kInt);
  number(Field::entry_number, kInt);
  number(Field::entries, kDouble);
  number(Field::tot_bytes, kDouble);
  number(Field::zip_bytes, kDouble);
  number(Field::offset, kInt);
  read_list(in, Field::branches, branch);
  read_list(in, Field::leaves, branch);
  read_list(in, Field::baskets, branch);
  const auto array = [&](std::int64_t size) {
    return BasketArrays::Numbers{
        in.take_items(size < 0 ? 0 : static_cast<std::uint64_t>(size), sizeof(std::int32_t), "basket array"), 4};
  };
  BasketArrays unused;
  BasketArrays& arrays = branch.arrays ? *branch.arrays : unused;
  arrays.entry = array(in.big<std::int32_t>("fBasketEntry: size"));
  if (version > 4) arrays.bytes = array(in.big<std::int32_t>("fBasketBytes: size"));
  if (version > 1) {
    in.skip(sizeof(std::int32_t), "fBasketSeek: size");
    arrays.seek = array(max_baskets);
  }
  if (version > 2) set_string(Field::file_name, in.string("fFileName"), branch);
}

// TBranchClones has a hand-written streamer: the fields of an old TBranch, the branch of the counts, and the children.
void RecordReader::read_clones_branch(Cursor& in, Target& target) {
  using namespace element_type;
  const Frame frame = read_frame(in);
  RecordStep named;
  named.kind = Kind::tnamed;
  run_step(in, named, {}, target);
  in.skip(4, "fCompress");
  set_number(Field::basket_size, read_number(in, kInt), target);
  in.skip(4 + 4 + 4, "fEntryOffsetLen, fMaxBaskets, fWriteBasket");
  // fEntryNumber was an int and the next three were doubles, until all became 8-byte integers. The last of the four is
  // followed by fOffset, which is 0, and by a pointer with a byte count.
  const std::size_t numbers = in.position();
  const auto old_form = [&] {
    Cursor peek = in;
    peek.seek(numbers + 4 + 3 * 8 + 4, "TBranchClones");
    return (peek.big<std::uint32_t>("fBranchCount") >> 30) == 1;
  };
  const bool old = old_form();
  set_number(Field::entry_number, read_number(in, old ? kInt : kLong64), target);
  set_number(Field::entries, read_number(in, old ? kDouble : kLong64), target);
  set_number(Field::tot_bytes, read_number(in, old ? kDouble : kLong64), target);
  set_number(Field::zip_bytes, read_number(in, old ? kDouble : kLong64), target);
  in.skip(4, "fOffset");
  const Met count = read_slot(in);
  take(count, Field::branch_count, target);
  take(count, Field::branches, target);
  const std::string_view class_name = in.string("fClassName");
  if (target.branch) target.branch->clones_class = class_name;
  read_list(in, Field::branches, target);
  leave_frame(in, frame);
}

// Puts the object of a slot of `list`, or of a pointer of that name, into its place.
void RecordReader::take(const Met& met, Field list, Target& target) {
  if (met.kind == RecordKind::branch) {
    if (list == Field::branches) adopt_branch(met.index, target);
    if (list == Field::branch_ref) branch_ref_ = met.index;
    if (list == Field::branch_count && target.branch) target.branch->count = met.index;
    if (list == Field::branch_count2 && target.branch) target.branch->count2 = met.index;
  } else if (met.kind == RecordKind::leaf) {
    if (list == Field::leaves && target.branch) adopt_leaf(met.index, target);
    if (list == Field::leaf_count && target.leaf) target.leaf->count = met.index;
  }
}

// A branch belongs to the first list that contains it. A branch that is still being read cannot belong to a branch
// inside itself.
void RecordReader::adopt_branch(BranchIndex child, Target& target) {
  if (placed_[child] || open_[child]) return;
  placed_[child] = 1;
  if (target.tree) {
    tree.top.push_back(child);
  } else if (target.branch) {
    branches[child].parent = target.index;
    target.branch->children.push_back(child);
  }
}

void RecordReader::adopt_leaf(LeafIndex leaf, const Target& target) {
  if (owner[leaf]) return;
  owner[leaf] = target.index;
  target.branch->leaves.push_back(leaf);
}

// The numbers of a branch that have 64 bits; null for any other.
std::int64_t* RecordReader::wide_number(Field field, Target& target) {
  switch (field) {
    case Field::write_basket:
      return &target.arrays->write_basket;
    case Field::entry_number:
      return &target.arrays->entry_number;
    case Field::entries:
      return &target.branch->entries;
    case Field::first_entry:
      return &target.branch->first_entry;
    case Field::tot_bytes:
      return &target.branch->tot_bytes;
    case Field::zip_bytes:
      return &target.branch->zip_bytes;
    default:
      return nullptr;
  }
}

void RecordReader::set_number(Field field, std::int64_t value, Target& target) {
  if (field == Field::none) return;
  if (target.tree) {
    set_tree_number(field, value, *target.tree);
  } else if (target.branch) {
    if (field == Field::checksum) target.branch->checksum = narrowed<std::uint32_t>(value);
    if (std::int32_t* number = narrow_number(field, *target.branch)) *number = narrowed<std::int32_t>(value);
    if (std::int64_t* number = wide_number(field, target)) *number = value;
  } else if (target.leaf) {
    set_leaf_number(field, value, *target.leaf);
  }
}

void RecordReader::set_named(const NamedText& text, Target& target) {
  if (target.tree) target.tree->name = text.name, target.tree->title = text.title;
  if (target.branch) target.branch->name = text.name, target.branch->title = text.title;
  if (target.leaf) target.leaf->name = text.name, target.leaf->title = text.title;
}

void RecordReader::set_string(Field field, std::string_view text, Target& target) {
  if (!target.branch) return;
  if (field == Field::file_name) target.branch->file_name = text;
  if (field == Field::class_name) target.branch->element_class = text;
  if (field == Field::parent_name) target.branch->parent_class = text;
  if (field == Field::clones_name) target.branch->clones_class = text;
}

void RecordReader::warn(std::string text) {
  if (tree.warnings.size() < kWarningsMax) tree.warnings.push_back(std::move(text));
}

}  // namespace tfile
