// SPDX-License-Identifier: Apache-2.0
#include "tree/branch_form.h"

#include <array>
#include <cctype>

#include "tfile/name.h"

namespace tfile {
namespace {

using Kind = WrittenBranch::Kind;

struct RootType {
  char letter;              // in the title of a branch; in upper case the end of the leaf's class
  std::string_view c_name;  // as the argument of vector
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

std::string below(const std::string& name) { return name.substr(name.rfind('/') + 1); }

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

WrittenBranch written_branch(const BranchForm& form, std::span<const OfferedColumn> columns) {
  WrittenBranch branch;
  branch.name = form.name;
  branch.title = form.title;
  const OfferedColumn& last = columns[form.columns.back()];
  switch (form.kind) {
    case BranchForm::Kind::number:
      branch.leaves = {leaf_of(last, form.name)};
      break;
    case BranchForm::Kind::leaflist:
      for (const std::uint32_t member : form.columns) {
        const auto name = parse_typed_name(below(columns[member].path));
        branch.leaves.push_back(leaf_of(columns[member], name ? unescape_name(name->stem) : std::string()));
      }
      break;
    case BranchForm::Kind::counted_array:
      branch.kind = Kind::counted;
      branch.leaves = {leaf_of(last, form.name)};
      branch.counter = form.counter;
      branch.counter_dtype = columns[form.columns.front()].dtype;
      break;
    case BranchForm::Kind::text:
      branch.kind = Kind::text;
      break;
    case BranchForm::Kind::vector:
      branch.kind = Kind::vectors;
      branch.of_texts = last.role == Role::chars;
      branch.leaves = {leaf_of(last, form.name)};
      branch.depth = static_cast<std::uint32_t>(form.columns.size()) - (branch.of_texts ? 2 : 1);
      break;
  }
  return branch;
}

}  // namespace tfile
