// SPDX-License-Identifier: Apache-2.0
#include "tree/read/branch_layout.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "streamer/info/element_form.h"

namespace tfile {
namespace {

// TBranchElement::fID of an object, not of one of its members.
constexpr std::int32_t kWholeObject = -1, kSplitObject = -2;
constexpr std::uint32_t kNumberListPrefix = 10;  // byte count 4, version 2, size 4

// The lengths of slots that hold one item per entry, from the outer levels of the shape.
void known_lengths(const Shape& shape, std::vector<Stream::Length>& lengths) {
  switch (shape.kind) {
    case Shape::Kind::number:
      lengths[shape.slot] = Stream::Length::entries;
      break;
    case Shape::Kind::variant:
      lengths[shape.slot] = lengths[shape.slot + 1] = Stream::Length::entries;
      break;
    case Shape::Kind::list:
    case Shape::Kind::string:
    case Shape::Kind::raw:
      lengths[shape.slot] = Stream::Length::entries_and_one;
      break;
    case Shape::Kind::record:
      for (const Shape& part : shape.parts) known_lengths(part, lengths);
      break;
  }
}

// A program that only copies numbers is faster as a flat stream.
bool as_flat(const Program& program, Stream& stream) {
  if (program.main.end - program.main.begin != 1) return false;
  const Op* op = &program.ops[program.main.begin];
  if (op->kind == Op::Kind::rest && !op->with_slot && op->block.end - op->block.begin == 1)
    op = &program.ops[op->block.begin];
  if (op->kind != Op::Kind::numbers || program.slots.size() != 1) return false;
  stream.is_boolean = program.slots[op->slot].kind == Slot::Kind::boolean;
  stream.kind = Stream::Kind::flat;
  stream.number_size = op->item_size;
  stream.item_size = op->item_size * op->count;
  return true;
}

bool as_jagged(const Program& program, Stream& stream, Shape& shape) {
  if (program.main.end - program.main.begin != 1) return false;
  const Op& op = program.ops[program.main.begin];
  if (op.kind != Op::Kind::rest || !op.with_slot || op.block.end - op.block.begin != 1) return false;
  const Op& item = program.ops[op.block.begin];
  if (item.kind != Op::Kind::numbers) return false;
  stream.is_boolean = program.slots[item.slot].kind == Slot::Kind::boolean;
  stream.kind = Stream::Kind::jagged;
  stream.number_size = item.item_size;
  stream.item_size = item.item_size * item.count;
  stream.lengths = {Stream::Length::entries_and_one, Stream::Length::unknown};
  shape.slot = 0;
  shape.parts[0].slot = 1;
  return true;
}

// A single collection of numbers: the number of items follows from the size of the data.
void as_number_list(const Program& program, Stream& stream) {
  if (program.main.end - program.main.begin != 1 || program.slots.size() != 3) return;
  const Op& op = program.ops[program.main.begin];
  if (op.kind != Op::Kind::stl || op.block.end - op.block.begin != 1) return;
  const Op& list = program.ops[op.block.begin];
  if (list.kind != Op::Kind::list || list.block.end - list.block.begin != 1) return;
  const Op& item = program.ops[list.block.begin];
  if (item.kind != Op::Kind::numbers) return;
  stream.list_prefix = kNumberListPrefix;
  stream.item_size = item.item_size * item.count;
}

// An array of packed numbers, counted by another leaf.
void as_packed_list(const Program& program, Stream& stream) {
  if (program.main.end - program.main.begin != 1) return;
  const Op& op = program.ops[program.main.begin];
  if (op.kind != Op::Kind::rest || !op.with_slot || op.block.end - op.block.begin != 1) return;
  const Op& item = program.ops[op.block.begin];
  if (item.kind != Op::Kind::packed) return;
  stream.packed_item_size = item.count * static_cast<std::uint32_t>(program.packings[item.packing].stored_size());
}

BranchLayout finish(BranchIndex branch, LayoutCompiler& compiler, Result<Shape> shape, bool one_an_entry) {
  if (!shape) return raw_layout(branch, shape.error().text);
  BranchLayout layout;
  layout.shape = *std::move(shape);
  layout.stream.branch = branch;
  Program program = compiler.finish();
  layout.stream.lengths.assign(program.slots.size(), Stream::Length::unknown);
  if (one_an_entry) known_lengths(layout.shape, layout.stream.lengths);
  if (as_flat(program, layout.stream) || as_jagged(program, layout.stream, layout.shape)) return layout;
  as_number_list(program, layout.stream);
  as_packed_list(program, layout.stream);
  layout.stream.kind = Stream::Kind::program;
  layout.stream.program = std::make_unique<const Program>(std::move(program));
  return layout;
}

// "a[n][3][2]" -> {3, 2}: the fixed dimensions. If their product is not `len`, {len} instead (nothing for 1).
std::vector<std::uint32_t> leaf_shape(const LeafRecord& leaf) {
  std::vector<std::uint32_t> shape;
  std::uint64_t product = 1;
  std::string_view title = leaf.title;
  for (auto open = title.find('['); open != title.npos; open = title.find('[', open + 1)) {
    std::uint32_t n = 0;
    const auto close = title.find(']', open);
    if (close == title.npos) break;
    const auto [end, error] = std::from_chars(title.data() + open + 1, title.data() + close, n);
    if (error != std::errc() || end != title.data() + close || n == 0 || n > kArrayMax) continue;
    shape.push_back(n);
    if ((product *= n) > kArrayMax) break;
  }
  const auto length = static_cast<std::uint64_t>(std::max(leaf.len, 1));
  if (product == length) return shape;
  return length == 1 ? std::vector<std::uint32_t>() : std::vector<std::uint32_t>{static_cast<std::uint32_t>(length)};
}

std::optional<Dtype> leaf_dtype(const LeafRecord& leaf) {
  if (leaf.class_name.size() != 6) return std::nullopt;
  const bool u = leaf.is_unsigned;
  switch (leaf.class_name.back()) {
    case 'O':
      return Dtype::b1;
    case 'B':
      return u ? Dtype::u1 : Dtype::i1;
    case 'S':
      return u ? Dtype::u2 : Dtype::i2;
    case 'I':
      return u ? Dtype::u4 : Dtype::i4;
    case 'L':
    case 'G':
      return u ? Dtype::u8 : Dtype::i8;
    case 'F':
      return Dtype::f4;
    case 'D':
      return Dtype::f8;
    default:
      return std::nullopt;
  }
}

// The range of a packed leaf follows the type, separate from the dimensions: "m[2][3]/d[0,10,12]". The titles of leaves
// of version 1 are only this part: "d[0,10,12]".
std::string_view range_of(const LeafRecord& leaf) {
  const std::string_view title = leaf.title;
  const std::string_view type = leaf.class_name == "TLeafD32" ? "/d[" : "/f[";
  if (title.starts_with(type.substr(1))) return title;
  const auto range = title.find(type);
  return range == title.npos ? std::string_view() : title.substr(range);
}

}  // namespace

std::optional<Packing> leaf_packing(const LeafRecord& leaf) {
  if (leaf.class_name == "TLeafF16") return parse_packing(range_of(leaf), false);
  if (leaf.class_name == "TLeafD32") return parse_packing(range_of(leaf), true);
  return std::nullopt;
}

namespace {

// One value (of the fixed shape) of a leaf.
Result<Shape> leaf_value(LayoutCompiler& compiler, const LeafRecord& leaf) {
  if (leaf.len > 0 && static_cast<std::uint64_t>(leaf.len) > kArrayMax)
    return fail(ErrorKind::damaged, "leaf " + leaf.name + " has " + std::to_string(leaf.len) + " items, at most " +
                                        std::to_string(kArrayMax));
  if (const auto dtype = leaf_dtype(leaf)) return compiler.numbers(*dtype, leaf_shape(leaf));
  if (const auto packing = leaf_packing(leaf)) return compiler.packed(*packing, leaf_shape(leaf));
  if (leaf.class_name == "TLeafC") return compiler.string(Op::Kind::leaf_string);
  return fail(ErrorKind::unsupported, "leaves of class " + leaf.class_name + " are not supported");
}

// A leaf with fLeafCount: as many values as the counter says. If it is the last in its branch, the end of the entry
// decides; else the counter must be in the same branch, before it.
Result<Shape> counted_leaf(LayoutCompiler& compiler, const TreeRecord& tree, const BranchRecord& branch,
                           std::size_t index) {
  const LeafRecord& leaf = tree.leaves[branch.leaves[index]];
  Op op;
  if (index + 1 == branch.leaves.size()) {
    op.kind = Op::Kind::rest;
    compiler.need_entry_ends();
  } else {
    const auto reg = compiler.counter(tree.leaves[*leaf.count].name);
    if (!reg || tree.leaves[*leaf.count].branch != leaf.branch)
      return fail(ErrorKind::unsupported, "one branch has several arrays counted by leaves of other branches");
    op.kind = Op::Kind::counted_list;
    op.reg = reg->reg;
  }
  return compiler.list(op, [&] { return leaf_value(compiler, leaf); });
}

// The leaves that count others of the branch. (ROOT 3 marks with fIsRange only the first leaf of a name in the tree, so
// a second branch "n/I:x[n]/F:y[n]/F" has a counter without the mark.)
std::set<LeafIndex> counters_of(const TreeRecord& tree, const BranchRecord& branch) {
  std::set<LeafIndex> counters;
  for (const LeafIndex leaf : branch.leaves) {
    if (tree.leaves[leaf].count) counters.insert(*tree.leaves[leaf].count);
  }
  return counters;
}

BranchLayout leaves_layout(const TreeRecord& tree, BranchIndex index, bool in_list) {
  const BranchRecord& branch = tree.branches[index];
  const StreamerInfos no_classes;
  LayoutCompiler compiler(no_classes);
  const bool alone = branch.leaves.size() == 1;
  const std::set<LeafIndex> counters = counters_of(tree, branch);
  Shape record;
  for (std::size_t i = 0; i < branch.leaves.size(); ++i) {
    const LeafRecord& leaf = tree.leaves[branch.leaves[i]];
    Result<Shape> shape = [&]() -> Result<Shape> {
      if (in_list) {
        if (!alone) return fail(ErrorKind::unsupported, "several leaves in a branch of a split collection");
        return compiler.of_items(Op::Kind::rest, [&] { return leaf_value(compiler, leaf); });
      }
      if (leaf.count) return counted_leaf(compiler, tree, branch, i);
      auto value = leaf_value(compiler, leaf);
      if (value && counters.contains(branch.leaves[i])) compiler.remember_counter(leaf.name);
      return value;
    }();
    if (!shape) return raw_layout(index, shape.error().text);
    shape->name = leaf.name;
    if (alone) {
      BranchLayout layout = finish(index, compiler, *std::move(shape), !in_list);
      if (branch.children.empty() || !layout.reason.empty()) return layout;
      record.parts.push_back(std::move(layout.shape));  // branches stand beside it
      layout.shape = std::move(record);
      return layout;
    }
    record.parts.push_back(*std::move(shape));
  }
  return finish(index, compiler, std::move(record), !in_list);
}

// TBranchObject: the name of the object's class, then the object with its header.
BranchLayout object_layout(const BranchRecord& branch, BranchIndex index, const StreamerInfos& infos,
                           const Classes& classes) {
  LayoutCompiler compiler(infos, classes.found, classes.guess);
  compiler.add({.kind = Op::Kind::skip_c_string});
  auto shape = compiler.object(branch.element_class);
  return finish(index, compiler, std::move(shape), true);
}

// The whole object of an unsplit branch: the members of the class, without a header.
Result<Shape> whole_object(LayoutCompiler& compiler, const BranchRecord& branch, const StreamerInfos& infos) {
  const TypeName type = parse_type_name(branch.element_class);
  if (type.kind == TypeName::Kind::std_string) return compiler.string();
  if (type.kind == TypeName::Kind::pair && branch.type >= 0) {
    if (const auto* info = find_class(infos, type.text, branch.class_version, branch.checksum))
      return compiler.members(*info);
  }
  if (type.kind != TypeName::Kind::named_class) return compiler.value(type, ValueIn::member);
  if (type.text == "TString" || type.text.starts_with("TArray")) return compiler.object(type.text);
  const StreamerInfo* info = find_class(infos, type.text, branch.class_version, branch.checksum);
  if (has_own_streamer(type.text)) return compiler.object(type.text, info);
  if (!info) return fail(ErrorKind::unsupported, "the file does not describe class " + branch.element_class);
  if (const auto collection = collection_of_its_own(*info)) return compiler.value(*collection, ValueIn::member);
  // fType -1: the Streamer of the class wrote the object, with its header.
  return branch.type < 0 ? compiler.object(type.text, info) : compiler.members(*info);
}

// The branch of one member; fID gives its streamer element.
Result<Shape> one_member(LayoutCompiler& compiler, const BranchRecord& branch, const StreamerInfos& infos,
                         bool in_list) {
  const StreamerInfo* info = find_class(infos, branch.element_class, branch.class_version, branch.checksum);
  if (!info) return fail(ErrorKind::unsupported, "the file does not describe class " + branch.element_class);
  if (static_cast<std::size_t>(branch.id) >= info->elements.size())
    return fail(ErrorKind::unsupported,
                "class " + branch.element_class + " has no member " + std::to_string(branch.id));
  const StreamerElement& element = info->elements[static_cast<std::size_t>(branch.id)];
  if (in_list) return compiler.element_of_items(element, Op::Kind::rest);
  // Old streamer infos say bool although the branch was written as unsigned char. Both take one byte; the branch is
  // right.
  if (element.type == element_type::kBool && branch.streamer_type == element_type::kUChar)
    return compiler.numbers(Dtype::u1, {});
  const ElementForm::Kind form = form_of(element).kind;
  if (form == ElementForm::Kind::counted) return compiler.counted_member(element);
  if (form == ElementForm::Kind::loop) return compiler.loop(element, true);
  return compiler.element(element);
}

// A split object leaves its data to the branches below it. There are none if its class has only bases without members:
// the branch itself then holds the headers of these bases.
std::optional<BranchLayout> headers_of_bases(const BranchRecord& branch, BranchIndex index, const StreamerInfos& infos,
                                             const Classes& classes) {
  if (branch.id != kSplitObject || branch.type != 0 || !branch.children.empty()) return std::nullopt;
  LayoutCompiler compiler(infos, classes.found, classes.guess);
  Result<Shape> shape = whole_object(compiler, branch, infos);
  if (!shape || shape->has_columns()) return std::nullopt;
  return finish(index, compiler, std::move(shape), true);
}

BranchLayout element_layout(const TreeRecord& tree, BranchIndex index, const StreamerInfos& infos, bool in_list,
                            const Classes& classes) {
  const BranchRecord& branch = tree.branches[index];
  if (!in_list) {
    if (auto layout = headers_of_bases(branch, index, infos, classes)) return *std::move(layout);
  }
  LayoutCompiler compiler(infos, classes.found, classes.guess);
  Result<Shape> shape = branch.id == kWholeObject && !in_list ? whole_object(compiler, branch, infos)
                        : branch.id >= 0                      ? one_member(compiler, branch, infos, in_list)
                                                              : Shape();  // all its data are in branches below it
  BranchLayout layout = finish(index, compiler, std::move(shape), !in_list);
  if (layout.stream.program && layout.stream.program->item_counts >= 0) {
    if (!branch.count2) return raw_layout(index, "the branch that counts its arrays is unknown");
    layout.stream.item_counter_branch = branch.count2;
  }
  return layout;
}

}  // namespace

BranchLayout raw_layout(BranchIndex branch, std::string reason) {
  BranchLayout layout;
  layout.stream.branch = branch;
  layout.stream.kind = Stream::Kind::raw;
  layout.stream.lengths = {Stream::Length::entries_and_one, Stream::Length::unknown};
  layout.reason = std::move(reason);
  return layout;
}

bool has_unknown_items(const Stream& stream) {
  if (stream.kind != Stream::Kind::program) return false;
  return std::ranges::any_of(stream.program->clones, [](const ClonesChoice& c) { return c.class_name.empty(); });
}

bool asks_for_classes(const Stream& stream) {
  if (has_unknown_items(stream)) return true;
  if (stream.kind != Stream::Kind::program) return false;
  return std::ranges::any_of(stream.program->pointers, [](const PointerChoices& p) { return p.other >= 0; });
}

BranchLayout branch_layout(const TreeRecord& tree, BranchIndex index, const StreamerInfos& infos, bool in_list,
                           const Classes& classes) {
  const BranchRecord& branch = tree.branches[index];
  if (branch.class_name == "TBranchObject") return object_layout(branch, index, infos, classes);
  if (branch.class_name == "TBranchElement") return element_layout(tree, index, infos, in_list, classes);
  if (branch.leaves.empty()) return raw_layout(index, "the branch has no leaves");
  return leaves_layout(tree, index, in_list);
}

BranchLayout collection_counts(BranchIndex index) {
  const StreamerInfos no_classes;
  LayoutCompiler compiler(no_classes);
  auto shape = compiler.list({.kind = Op::Kind::counts}, []() -> Result<Shape> { return Shape(); });
  return finish(index, compiler, std::move(shape), true);
}

}  // namespace tfile
