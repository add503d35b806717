// SPDX-License-Identifier: Apache-2.0
#include "tree/write/branch_form.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "streamer/info/streamer_info.h"
#include "tfile/name.h"
#include "tree/write/record_class.h"

namespace tfile {
namespace {

using Kind = WrittenBranch::Kind;

struct RootType {
  char letter;              // in the title of a branch; in upper case, the end of the name of the leaf's class
  std::string_view c_name;  // as template argument of vector
  std::int32_t code;        // in StreamerInfo
};

// In the order of Dtype.
constexpr std::array<RootType, 11> kRootTypes{{{'O', "bool", element_type::kBool},
                                               {'B', "char", element_type::kChar},
                                               {'b', "unsigned char", element_type::kUChar},
                                               {'S', "short", element_type::kShort},
                                               {'s', "unsigned short", element_type::kUShort},
                                               {'I', "int", element_type::kInt},
                                               {'i', "unsigned int", element_type::kUInt},
                                               {'L', "Long64_t", element_type::kLong64},
                                               {'l', "ULong64_t", element_type::kULong64},
                                               {'F', "float", element_type::kFloat},
                                               {'D', "double", element_type::kDouble}}};
static_assert(static_cast<std::size_t>(Dtype::f8) + 1 == kRootTypes.size());

// ROOT has dictionaries for maps to this type, and not to the other of 64 bits.
constexpr RootType kMapsLong{'L', "long", element_type::kLong};

const RootType& root_type(Dtype dtype) { return kRootTypes[static_cast<std::size_t>(dtype)]; }

const RootType& root_type(const WrittenBranch& branch) {
  const Dtype dtype = branch.leaves[0].dtype;
  return branch.is_map && dtype == Dtype::i8 ? kMapsLong : root_type(dtype);
}

// ROOT's name of a column of numbers, without its path.
std::string own_name(const InputColumn& column) {
  const auto typed = parse_typed_name(column.path.substr(column.path.rfind('/') + 1));
  return typed ? unescape_name(typed->stem) : std::string();
}

LeafForm leaf_of(const InputColumn& column, std::string name) {
  return {std::move(name), column.dtype, column.shape, {}};
}

// The branch of the member that begins with column `first` of a list of records.
WrittenBranch member_of(const FieldForm& form, std::uint32_t first, std::span<const InputColumn> columns) {
  WrittenBranch member;
  std::uint32_t last = first;
  member.inputs = {0, first};
  while (last + 1 < form.columns.size() && form.lists[last + 1] != 0) member.inputs.push_back(++last);
  const InputColumn& items = columns[form.columns[last]];
  const bool is_number = first == last;
  member.leaves = {leaf_of(items, member_name(columns[form.columns[first]], is_number))};
  member.kind = is_number ? Kind::items : Kind::vectors;
  member.of_texts = !is_number && items.role == Role::chars;
  member.depth = last - first + (member.of_texts ? 0 : 1);
  return member;
}

// The branch of the member of an object whose columns are those from `first` to `last`.
WrittenBranch object_member_of(const FieldForm& form, std::uint32_t first, std::uint32_t last,
                               std::span<const InputColumn> columns) {
  WrittenBranch member;
  for (std::uint32_t i = first; i <= last; ++i) member.inputs.push_back(i);
  const InputColumn& items = columns[form.columns[last]];
  const bool is_number = first == last;
  member.leaves = {leaf_of(items, member_name(columns[form.columns[first]], is_number))};
  member.of_object = true;
  const bool ends_in_text = !is_number && items.role == Role::chars;
  member.depth = last - first - (ends_in_text ? 1 : 0);
  if (ends_in_text && member.depth == 0) member.kind = Kind::text;
  if (member.depth > 0) member.kind = Kind::vectors;
  member.of_texts = ends_in_text && member.depth > 0;
  // As ROOT has it.
  member.stores_offsets = member.kind == Kind::numbers && !items.shape.empty();
  return member;
}

// ROOT puts the name of a branch that ends in a dot before those of the members.
void add_object_members(const FieldForm& form, std::span<const InputColumn> columns, WrittenBranch& object) {
  object.kind = Kind::object;
  object.name += '.';
  for (std::uint32_t first = 0, last = 0; first < form.columns.size(); first = ++last) {
    while (last + 1 < form.columns.size() && form.lists[last + 1] != FieldForm::kEachEntry) ++last;
    object.members.push_back(object_member_of(form, first, last, columns));
  }
  name_members(object, record_class_name(object));
}

// Whether the columns are those of a list of records: its offsets are the first.
bool is_list(const FieldForm& form, std::span<const InputColumn> columns) {
  const InputColumn& first = columns[form.columns.front()];
  return first.role == Role::offsets && std::ranges::count(first.path, '/') == 1;
}

void add_members(const FieldForm& form, std::span<const InputColumn> columns, WrittenBranch& records) {
  records.kind = Kind::records;
  for (std::uint32_t i = 1; i < form.columns.size(); ++i) {
    if (form.lists[i] == 0) records.members.push_back(member_of(form, i, columns));
  }
  // The form of a map of texts has its key first.
  if (records.members[0].of_texts && records.members[0].leaves[0].name == "key") make_map(records);
  name_members(records, records.is_map ? pair_class_name(records) : record_class_name(records));
}

}  // namespace

std::string dimensions(const LeafForm& leaf) {
  std::string text;
  for (const std::uint32_t extent : leaf.shape) text += "[" + std::to_string(extent) + "]";
  return text;
}

std::size_t LeafForm::count() const {
  std::size_t product = 1;
  for (const std::uint32_t extent : shape) product *= extent;
  return product;
}

std::size_t WrittenBranch::entry_size() const {
  std::size_t size = 0;
  for (const LeafForm& leaf : leaves) size += leaf.stored_bytes();
  return size;
}

char leaf_letter(Dtype dtype) { return root_type(dtype).letter; }

std::string leaf_class(Dtype dtype) {
  return std::string("TLeaf") + static_cast<char>(std::toupper(root_type(dtype).letter));
}

std::string_view field_name(std::string_view branch_name) {
  if (branch_name.ends_with('.')) branch_name.remove_suffix(1);
  return branch_name;
}

std::string class_of(const WrittenBranch& branch) {
  if (branch.kind == Kind::text) return "string";
  if (branch.kind == Kind::records && branch.is_map)
    return "map" + branch.class_name.substr(branch.class_name.find('<'));
  if (branch.kind == Kind::records) return "vector<" + branch.class_name + ">";
  if (branch.kind == Kind::object) return branch.class_name;
  std::string name(branch.of_texts ? "string" : root_type(branch).c_name);
  const std::uint32_t depth = branch.depth - (branch.is_in_list() ? 1 : 0);
  for (std::uint32_t i = 0; i < depth; ++i) name = "vector<" + name + (name.ends_with('>') ? " >" : ">");
  return name;
}

std::int32_t element_type_of(const WrittenBranch& member) {
  if (member.kind != Kind::items && member.kind != Kind::numbers) return element_type::kStl;
  const LeafForm& leaf = member.leaves[0];
  return root_type(member).code + (leaf.shape.empty() ? 0 : element_type::kOffsetArray);
}

std::vector<std::string> classes_of(const WrittenBranch& branch) {
  if (branch.is_element()) return {"TBranch", "TLeaf", "TBranchElement", "TLeafElement"};
  std::vector<std::string> classes = {"TBranch", "TLeaf"};
  if (branch.is_leaf_text) classes.push_back("TLeafC");
  for (const LeafForm& leaf : branch.leaves) classes.push_back(leaf_class(leaf.dtype));
  return classes;
}

WrittenBranch written_branch(const FieldForm& form, std::span<const InputColumn> columns) {
  WrittenBranch branch;
  branch.name = form.name;
  branch.title = form.title;
  const InputColumn& last = columns[form.columns.back()];
  switch (form.kind) {
    case FieldForm::Kind::number:
      branch.leaves = {leaf_of(last, form.name)};
      break;
    case FieldForm::Kind::record:
      for (const std::uint32_t member : form.columns)
        branch.leaves.push_back(leaf_of(columns[member], own_name(columns[member])));
      break;
    case FieldForm::Kind::text:
      branch.kind = Kind::text;
      break;
    case FieldForm::Kind::list:
      branch.leaves = {leaf_of(last, form.name)};
      if (const auto counter = counter_of(form)) {
        branch.kind = Kind::counted;
        branch.counter = own_name(columns[*counter]);
        branch.counter_dtype = columns[*counter].dtype;
        break;
      }
      branch.kind = Kind::vectors;
      branch.of_texts = last.role == Role::chars;
      branch.depth = static_cast<std::uint32_t>(form.columns.size()) - (branch.of_texts ? 2 : 1);
      break;
    case FieldForm::Kind::nested:
      is_list(form, columns) ? add_members(form, columns, branch) : add_object_members(form, columns, branch);
      break;
  }
  return branch;
}

}  // namespace tfile
