// SPDX-License-Identifier: Apache-2.0
#include "tree/write/branch_form.h"

#include <array>
#include <cctype>

#include "tfile/name.h"

namespace tfile {
namespace {

using Kind = WrittenBranch::Kind;

struct RootType {
  char letter;              // in the title of a branch; in upper case, the end of the name of the leaf's class
  std::string_view c_name;  // as template argument of vector
};

// In the order of Dtype.
constexpr std::array<RootType, 11> kRootTypes{{{'O', "bool"},
                                               {'B', "char"},
                                               {'b', "unsigned char"},
                                               {'S', "short"},
                                               {'s', "unsigned short"},
                                               {'I', "int"},
                                               {'i', "unsigned int"},
                                               {'L', "Long64_t"},
                                               {'l', "ULong64_t"},
                                               {'F', "float"},
                                               {'D', "double"}}};
static_assert(static_cast<std::size_t>(Dtype::f8) + 1 == kRootTypes.size());

const RootType& root_type(Dtype dtype) { return kRootTypes[static_cast<std::size_t>(dtype)]; }

// ROOT's name of a column of numbers, without its path.
std::string own_name(const OfferedColumn& column) {
  const auto typed = parse_typed_name(column.path.substr(column.path.rfind('/') + 1));
  return typed ? unescape_name(typed->stem) : std::string();
}

LeafForm leaf_of(const OfferedColumn& column, std::string name) {
  return {std::move(name), column.dtype, column.shape};
}

}  // namespace

std::size_t LeafForm::count() const {
  std::size_t product = 1;
  for (const std::uint32_t extent : shape) product *= extent;
  return product;
}

std::size_t WrittenBranch::entry_size() const {
  std::size_t size = 0;
  for (const LeafForm& leaf : leaves) size += leaf.bytes();
  return size;
}

char leaf_letter(Dtype dtype) { return root_type(dtype).letter; }

std::string leaf_class(Dtype dtype) {
  return std::string("TLeaf") + static_cast<char>(std::toupper(root_type(dtype).letter));
}

std::string class_of(const WrittenBranch& branch) {
  if (branch.kind == Kind::text) return "string";
  std::string name(branch.of_texts ? "string" : root_type(branch.leaves[0].dtype).c_name);
  for (std::uint32_t i = 0; i < branch.depth; ++i) name = "vector<" + name + (name.ends_with('>') ? " >" : ">");
  return name;
}

std::vector<std::string> classes_of(const WrittenBranch& branch) {
  if (branch.is_element()) return {"TBranch", "TLeaf", "TBranchElement", "TLeafElement"};
  std::vector<std::string> classes = {"TBranch", "TLeaf"};
  if (branch.is_leaf_text) classes.push_back("TLeafC");
  for (const LeafForm& leaf : branch.leaves) classes.push_back(leaf_class(leaf.dtype));
  return classes;
}

WrittenBranch written_branch(const FieldForm& form, std::span<const OfferedColumn> columns) {
  WrittenBranch branch;
  branch.name = form.name;
  branch.title = form.title;
  const OfferedColumn& last = columns[form.columns.back()];
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
      break;  // tree_form() makes none
  }
  return branch;
}

}  // namespace tfile
