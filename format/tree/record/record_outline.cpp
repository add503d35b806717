// SPDX-License-Identifier: Apache-2.0
#include "tree/record/record_outline.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "bytes/cursor.h"
#include "streamer/info/own_class.h"
#include "streamer/info/type_name.h"
#include "streamer/layout/class_layout.h"
#include "streamer/layout/packing.h"
#include "streamer/walk/object_reader.h"
#include "tree/record/record_plan.h"

namespace tfile {
namespace {

using namespace element_type;

// The depth of branches in branches; real trees stay below 20.
constexpr int kOutlineDepthMax = 100;

constexpr std::pair<std::string_view, TreeMember> kTreeMembers[] = {
    {"fEntries", TreeMember::entries},
    {"fTotBytes", TreeMember::tot_bytes},
    {"fZipBytes", TreeMember::zip_bytes},
    {"fWeight", TreeMember::weight},
    {"fFlushedBytes", TreeMember::flushed_bytes},
    {"fAutoFlush", TreeMember::auto_flush},
    {"fNClusterRange", TreeMember::cluster_ranges},
    {"fClusterRangeEnd", TreeMember::cluster_range_end},
    {"fClusterSize", TreeMember::cluster_size},
    {"fAliases", TreeMember::aliases},
    {"fIndexValues", TreeMember::index_values},
    {"fIndex", TreeMember::index},
    {"fTreeIndex", TreeMember::tree_index},
    {"fFriends", TreeMember::friends},
    {"fUserInfo", TreeMember::user_info},
    {"fBranchRef", TreeMember::branch_ref},
};

constexpr std::pair<std::string_view, BranchMember> kBranchMembers[] = {
    {"fBasketSize", BranchMember::basket_size},   {"fEntryOffsetLen", BranchMember::entry_offset_len},
    {"fWriteBasket", BranchMember::write_basket}, {"fEntryNumber", BranchMember::entry_number},
    {"fMaxBaskets", BranchMember::max_baskets},   {"fEntries", BranchMember::entries},
    {"fTotBytes", BranchMember::tot_bytes},       {"fZipBytes", BranchMember::zip_bytes},
    {"fBasketBytes", BranchMember::basket_bytes}, {"fBasketEntry", BranchMember::basket_entry},
    {"fBasketSeek", BranchMember::basket_seek},
};

template <class Member, std::size_t kCount>
std::optional<Member> member_of(const std::pair<std::string_view, Member> (&members)[kCount], std::string_view name) {
  for (const auto& [known, member] : members) {
    if (known == name) return member;
  }
  return std::nullopt;
}

std::size_t packed_size(const StreamerElement& element) {
  return parse_packing(element.title, element.type == element_type::kDouble32).stored_size();
}

// Numbers or texts: none of their words depends on its place.
bool is_sequence_of_values(const TypeName& type) {
  using Kind = TypeName::Kind;
  return type.kind == Kind::sequence &&
         (type.arguments[0].kind == Kind::number || type.arguments[0].kind == Kind::std_string);
}

class Outliner {
 public:
  // `passes_over`: objects behind pointers that cannot be followed.
  Outliner(std::span<const std::byte> payload, std::uint32_t keylen, const StreamerInfos& infos, bool passes_over)
      : in_(payload), keylen_(keylen), infos_(infos), passes_over_(passes_over) {}
  Result<RecordOutline> run(const std::string& class_name);

 private:
  // The object whose members are being visited, including those of its bases.
  struct Object {
    enum class Kind : std::uint8_t { other, tree, branch, leaf } kind = Kind::other;
    std::size_t index = 0;  // of a branch in `top` or `below`, of a leaf
    bool is_top = false;
  };

  BranchPlace& branch(const Object& of) { return (of.is_top ? out_.top : out_.below)[of.index]; }
  std::uint32_t here() const { return static_cast<std::uint32_t>(in_.position()); }
  bool stopped() const { return in_.failed() || !unsupported_.empty(); }
  void give_up(std::string why);
  Frame frame();

  // An object in place: frame and members, or the form of its own streamer.
  void object(std::string_view class_name, Object& target);
  void framed(std::string_view class_name, const OwnClass* own, Object& target);

  // Classes whose bytes do not follow their description are not read. Those of trees follow it, in the versions that
  // are described.
  const StreamerInfo* described(std::string_view class_name, const Frame& head);
  void named(Object& target);

  // `array` receives the places of the slots. `of_tree`: they contain the tree's own branches.
  void slots(const OwnClass& own, const Frame& frame, ArrayPlace* array, bool of_tree = false);

  // A pointer slot. `is_top`: one of the tree's own branches.
  void slot(bool is_top = false);

  // Returns where the slot ends, with the object in it.
  std::uint64_t followed(bool is_top);

  // Objects of any classes, to which nothing else in the record refers. Where they cannot be followed, they are passed
  // over as a whole.
  void user_info();
  void reference(std::uint32_t at, std::uint32_t word);
  std::string_view class_tag();
  void pointed(std::string_view class_name, Stretch where, bool is_top);
  bool derives(std::string_view base, std::string_view class_name);
  void members(const StreamerInfo& info, Object& target);
  void member(const StreamerElement& element, Object& target,
              const std::vector<std::pair<std::string_view, std::int64_t>>& counts);
  void counted_numbers(const StreamerElement& element, std::uint32_t size,
                       const std::vector<std::pair<std::string_view, std::int64_t>>& counts);
  void array_member(const StreamerElement& element, Object& target);
  MemberPlace& place(TreeMember member) { return out_.tree[static_cast<std::size_t>(member)]; }
  void note(const StreamerElement& element, Stretch where, const Object& target,
            std::vector<std::pair<std::string_view, std::int64_t>>& counts);
  Cursor in_;
  std::uint32_t keylen_;
  const StreamerInfos& infos_;
  const bool passes_over_;
  RecordOutline out_;
  std::unordered_map<std::uint32_t, std::string_view> classes_;  // by the place where they were named
  std::map<std::pair<std::string, std::string>, bool> kinds_;
  std::string unsupported_;
  int depth_ = 0;
};

Result<RecordOutline> Outliner::run(const std::string& class_name) {
  Object tree;
  tree.kind = Object::Kind::tree;
  object(class_name, tree);
  if (!unsupported_.empty()) return fail(ErrorKind::unsupported, "tree record: " + unsupported_);
  if (in_.failed()) return tl::unexpected<Error>(in_.error());
  if (in_.left() != 0) return fail(ErrorKind::unsupported, "tree record: bytes after the tree");
  return std::move(out_);
}

void Outliner::give_up(std::string why) {
  if (unsupported_.empty()) unsupported_ = std::move(why);
}

Frame Outliner::frame() {
  const std::uint32_t at = here();
  const Frame read = read_frame(in_);
  if (!read.counted && !in_.failed()) give_up("object without a byte count");
  if (!stopped()) out_.marks.push_back({RecordMark::Kind::frame, at, static_cast<std::uint32_t>(read.end), {}});
  return read;
}

void Outliner::object(std::string_view class_name, Object& target) {
  if (stopped()) return;
  if (++depth_ > kOutlineDepthMax) give_up("objects are nested too deeply");
  const OwnClass* own = own_class(class_name);
  if (own && own->kind == OwnClass::Kind::tobject) {
    read_tobject(in_);
  } else if (own && own->kind == OwnClass::Kind::tstring) {
    in_.string("TString");
  } else if (own && own->kind == OwnClass::Kind::array) {
    read_array(in_, own->dtype);
  } else {
    framed(class_name, own, target);
  }
  --depth_;
}

void Outliner::framed(std::string_view class_name, const OwnClass* own, Object& target) {
  const Frame head = frame();
  if (stopped()) return;
  if (class_name == "TNamed") {
    named(target);
  } else if (class_name == "TTreeIndex") {
    // Names and numbers: none of its words depends on its place.
    in_.seek(head.end, "TTreeIndex");
  } else if (own && own->holds_pointers()) {
    slots(*own, head, nullptr);
  } else if (const StreamerInfo* info = described(class_name, head)) {
    members(*info, target);
  } else {
    return give_up("class " + std::string(class_name) + " of version " + std::to_string(head.version) +
                   " is not described");
  }
  if (!stopped() && in_.position() != head.end)
    give_up("class " + std::string(class_name) + " does not match its description");
}

const StreamerInfo* Outliner::described(std::string_view class_name, const Frame& head) {
  const bool is_of_trees =
      derives("TTree", class_name) || derives("TBranch", class_name) || derives("TLeaf", class_name);
  if (class_name == "TBranchClones" || (has_own_streamer(class_name) && !is_of_trees)) return nullptr;
  const StreamerInfo* info = head.version == 0 ? infos_.find_by_checksum(class_name, head.checksum) : nullptr;
  return info ? info : infos_.find(class_name, head.version);
}

void Outliner::named(Object& target) {
  read_tobject(in_);
  const std::uint32_t at = here();
  const std::string_view name = in_.string("TNamed: fName");
  if (target.kind == Object::Kind::tree) place(TreeMember::name) = {{at, here()}, kTString};
  if (target.kind == Object::Kind::branch) branch(target).name = name;
  if (target.kind == Object::Kind::leaf) out_.leaf_objects[target.index].name = name;
  in_.string("TNamed: fTitle");
}

void Outliner::slots(const OwnClass& own, const Frame& frame, ArrayPlace* array, bool of_tree) {
  const CollectionHead head = read_collection_head(in_, own, frame.version);
  for (std::uint32_t i = 0; i < head.count && !stopped(); ++i) {
    const std::uint32_t begin = here();
    if (of_tree) out_.top.emplace_back();
    slot(of_tree);
    if (array) array->slots.push_back({begin, here()});
    if (own.has_options(frame.version)) in_.string("TList: option");
  }
  if (!array) return;
  const auto count_at = static_cast<std::uint32_t>(head.count_at);
  array->count = {count_at, count_at + 4};
  array->end = here();
}

void Outliner::slot(bool is_top) {
  const int depth = depth_;
  const std::uint64_t end = followed(is_top);
  if (!passes_over_ || in_.failed() || unsupported_.empty()) return;
  unsupported_.clear();
  depth_ = depth;
  in_.seek(end, "object");
}

std::uint64_t Outliner::followed(bool is_top) {
  const std::uint32_t at = here();
  const auto word = in_.big<std::uint32_t>("pointer");
  if (in_.failed() || word == 0) return here();
  if (!(word & kByteCountBit)) {
    reference(at, word);
    return here();
  }
  const std::uint64_t end = std::uint64_t{at} + 4 + (word & ~kByteCountBit);
  if (end > in_.size()) {
    in_.reject("pointer: byte count");
    return end;
  }
  out_.marks.push_back({RecordMark::Kind::frame, at, static_cast<std::uint32_t>(end), {}});
  const std::string_view class_name = class_tag();
  if (stopped()) return end;
  if (class_name == "TBasket") {
    in_.seek(end, "basket");  // references inside it count from the basket's own key
  } else {
    pointed(class_name, {at, static_cast<std::uint32_t>(end)}, is_top);
  }
  if (!stopped() && in_.position() != end)
    give_up("class " + std::string(class_name) + " does not match its description");
  return end;
}

void Outliner::user_info() {
  const std::uint32_t at = here();
  const std::size_t marks = out_.marks.size(), branches = out_.below.size(), leaves = out_.leaf_objects.size();
  const int depth = depth_;
  slot();
  if (in_.failed() || unsupported_.empty()) return;
  const auto word = load_big<std::uint32_t>(in_.bytes().data() + at);
  if (!(word & kByteCountBit)) return;
  out_.lost_user_info = std::exchange(unsupported_, {});
  out_.marks.resize(marks);
  out_.below.resize(branches);
  out_.leaf_objects.resize(leaves);
  std::erase_if(classes_, [&](const auto& known) { return known.first >= at; });
  depth_ = depth;
  in_.seek(std::uint64_t{at} + sizeof word + (word & ~kByteCountBit), "fUserInfo");
}

void Outliner::reference(std::uint32_t at, std::uint32_t word) {
  if (word & kClassBit) return give_up("pointer of an old format");
  if (word == 1) return;  // the tree itself
  const std::int64_t target = std::int64_t{word} - kTagOffset - keylen_;
  if (target < 0 || target >= at) return give_up("invalid reference");
  out_.marks.push_back({RecordMark::Kind::reference, at, static_cast<std::uint32_t>(target), {}});
}

std::string_view Outliner::class_tag() {
  const std::uint32_t at = here();
  const auto word = in_.big<std::uint32_t>("class tag");
  std::string_view name;
  if (word == kNewClass) {
    name = in_.c_string("class name");
    classes_.emplace(at, name);
  } else {
    const std::int64_t target = std::int64_t{word & ~kClassBit} - kTagOffset - keylen_;
    const auto known = classes_.find(static_cast<std::uint32_t>(target));
    if (!(word & kClassBit) || known == classes_.end()) {
      give_up("invalid class tag");
      return {};
    }
    name = known->second;
  }
  if (!stopped()) out_.marks.push_back({RecordMark::Kind::class_tag, at, here(), name});
  return name;
}

void Outliner::pointed(std::string_view class_name, Stretch where, bool is_top) {
  Object target;
  if (derives("TBranch", class_name)) {
    target.kind = Object::Kind::branch;
    target.is_top = is_top;
    if (!is_top) out_.below.emplace_back();
    target.index = (is_top ? out_.top : out_.below).size() - 1;
    branch(target).slot = where;
  } else if (derives("TLeaf", class_name)) {
    target.kind = Object::Kind::leaf;
    target.index = out_.leaf_objects.size();
    out_.leaf_objects.push_back({where, {}, {}, {}});
  }
  object(class_name, target);
}

bool Outliner::derives(std::string_view base, std::string_view class_name) {
  const auto [known, is_new] = kinds_.try_emplace({std::string(base), std::string(class_name)}, false);
  if (is_new) known->second = derives_from(infos_, class_name, base);
  return known->second;
}

void Outliner::members(const StreamerInfo& info, Object& target) {
  std::vector<std::pair<std::string_view, std::int64_t>> counts;
  for (const StreamerElement& element : info.elements) {
    if (stopped()) return;
    const std::uint32_t at = here();
    member(element, target, counts);
    if (!stopped()) note(element, {at, here()}, target, counts);
  }
}

void Outliner::member(const StreamerElement& element, Object& target,
                      const std::vector<std::pair<std::string_view, std::int64_t>>& counts) {
  Object nobody;
  const int type = element.type;
  if (element.kind == ElementKind::base) return object(element.name, target);
  if (const std::uint32_t size = number_size(type)) return in_.skip(size, "member");
  if (type == kDouble32 || type == kFloat16) return in_.skip(packed_size(element), "member");
  if (const std::uint32_t size = type > kOffsetArray ? number_size(type - kOffsetArray) : 0) {
    in_.take_items(static_cast<std::uint64_t>(std::max(element.array_length, 0)), size, "array");
    return;
  }
  if (const std::uint32_t size = type > kOffsetPointer ? number_size(type - kOffsetPointer) : 0)
    return counted_numbers(element, size, counts);
  if (type == kTString) {
    in_.string("member");
  } else if (type == kTObject) {
    read_tobject(in_);
  } else if (type == kTNamed) {
    object("TNamed", nobody);
  } else if (element.type_name == "TObjArray" && (type == kObject || type == kAny)) {
    array_member(element, target);
  } else if (type == kObject || type == kAny) {
    object(element.type_name, nobody);
  } else if (type == kObjectp || type == kAnyp) {
    object(without_pointer(element.type_name), nobody);
  } else if (type == kObjectP || type == kAnyP) {
    const bool is_user_info = target.kind == Object::Kind::tree && element.name == "fUserInfo";
    is_user_info ? user_info() : slot();
  } else if (type == kStreamer && is_sequence_of_values(parse_type_name(element.type_name))) {
    const Frame head = frame();
    if (!stopped()) in_.seek(head.end, "collection");
  } else {
    give_up("member " + element.name + " of type " + element.type_name);
  }
}

void Outliner::counted_numbers(const StreamerElement& element, std::uint32_t size,
                               const std::vector<std::pair<std::string_view, std::int64_t>>& counts) {
  if (in_.u1("array: flag") == 0) return;
  const auto count = std::ranges::find(counts, std::string_view(element.count_name),
                                       &std::pair<std::string_view, std::int64_t>::first);
  if (count == counts.end() || count->second < 0) return give_up("array " + element.name + " without a counter");
  in_.take_items(static_cast<std::uint64_t>(count->second), size, "array");
}

void Outliner::array_member(const StreamerElement& element, Object& target) {
  const Frame head = frame();
  if (stopped()) return;
  const bool of_tree = target.kind == Object::Kind::tree, of_branch = target.kind == Object::Kind::branch;
  ArrayPlace array;
  slots(*own_class("TObjArray"), head, &array, of_tree && element.name == "fBranches");
  if (of_tree && element.name == "fBranches") out_.branches = std::move(array);
  if (of_tree && element.name == "fLeaves") out_.leaves = std::move(array);
  if (of_branch && element.name == "fBranches") branch(target).branch_slots = std::move(array.slots);
  if (of_branch && element.name == "fLeaves") branch(target).leaf_slots = std::move(array.slots);
  if (of_branch && element.name == "fBaskets") branch(target).baskets = std::move(array);
  if (!stopped() && in_.position() != head.end) give_up("array does not match its description");
}

void Outliner::note(const StreamerElement& element, Stretch where, const Object& target,
                    std::vector<std::pair<std::string_view, std::int64_t>>& counts) {
  const std::span<const std::byte> bytes = in_.bytes().subspan(where.begin, where.size());
  if (number_size(element.type) != 0 && element.type != kFloat && element.type != kDouble) {
    counts.emplace_back(element.name, number_at(bytes));
  }
  if (target.kind == Object::Kind::tree) {
    if (const auto known = member_of(kTreeMembers, element.name)) place(*known) = {where, element.type};
  } else if (target.kind == Object::Kind::branch) {
    BranchPlace& place = branch(target);
    if (const auto known = member_of(kBranchMembers, element.name))
      place.members[static_cast<std::size_t>(*known)] = {where, element.type};
    if (element.name == "fCompress") place.compress = {where, element.type};
    if (element.name == "fFileName") place.file_name = {where, element.type};
    if (element.name == "fMaximum") place.maximum = {where, element.type};
  } else if (target.kind == Object::Kind::leaf) {
    LeafPlace& leaf = out_.leaf_objects[target.index];
    if (element.name == "fMaximum") leaf.maximum = {where, element.type};
    if (element.name == "fLen") leaf.len = {where, element.type};
  }
}

}  // namespace

const RecordMark* reference_at(const RecordOutline& outline, std::uint32_t slot_begin) {
  const auto mark = std::ranges::lower_bound(outline.marks, slot_begin, {}, &RecordMark::at);
  const bool refers =
      mark != outline.marks.end() && mark->at == slot_begin && mark->kind == RecordMark::Kind::reference;
  return refers ? &*mark : nullptr;
}

const BranchPlace* branch_below(const RecordOutline& outline, Stretch slot) {
  const auto found =
      std::ranges::find_if(outline.below, [&](const BranchPlace& branch) { return branch.slot.begin == slot.begin; });
  return found == outline.below.end() ? nullptr : &*found;
}

std::int64_t number_at(std::span<const std::byte> bytes) {
  switch (bytes.size()) {
    case 1:
      return load_big<std::int8_t>(bytes.data());
    case 2:
      return load_big<std::int16_t>(bytes.data());
    case 4:
      return load_big<std::int32_t>(bytes.data());
    default:
      return load_big<std::int64_t>(bytes.data());
  }
}

Result<RecordOutline> outline_record(std::span<const std::byte> payload, std::uint32_t keylen,
                                     const std::string& class_name, const StreamerInfos& infos) {
  return Outliner(payload, keylen, infos, false).run(class_name);
}

Result<RecordOutline> outline_members(std::span<const std::byte> payload, std::uint32_t keylen,
                                      const std::string& class_name, const StreamerInfos& infos) {
  return Outliner(payload, keylen, infos, true).run(class_name);
}

}  // namespace tfile
