// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/writer.h"

namespace tfile {

// A number of a branch as ROOT has it: a leaf's, or the innermost item of a vector.
struct LeafForm {
  std::string name;
  Dtype dtype = Dtype::u1;
  std::vector<std::uint32_t> shape;
  std::size_t count() const;  // numbers in the shape
  std::size_t bytes() const { return count() * size_of(dtype); }
};

// All that writing a branch needs to know of it: what its entries are, and what its columns are. The columns come in
// the order in which TableWriter::encode takes them.
struct WrittenBranch {
  enum class Kind : std::uint8_t {
    numbers,  // one leaf or more, one after the other; a column each
    counted,  // one leaf, as many as a leaf of another branch says; columns: that counter, offsets, values
    vectors,  // `depth` lists, one in the other, of numbers or texts; columns: offsets of each depth, then values, or
              // offsets and chars
    text,     // a text an entry; columns: offsets, chars
  };
  Kind kind = Kind::numbers;
  std::string name, title;
  std::string basket_title;      // of its baskets' keys: the tree's name, or what makes them as long as those there
  std::vector<LeafForm> leaves;  // numbers: all; counted, vectors: one, the item (of texts: u1)
  std::string counter;           // counted: name of the leaf that counts
  Dtype counter_dtype = Dtype::i4;
  std::uint32_t depth = 0;    // vectors
  bool of_texts = false;      // vectors
  bool is_leaf_text = false;  // text: a TLeafC, whose empty texts have no byte
  bool is_counter = false;    // numbers: it counts others

  bool is_element() const { return kind == Kind::vectors || (kind == Kind::text && !is_leaf_text); }  // TBranchElement
  bool has_offsets() const { return kind != Kind::numbers; }  // whether its baskets have a table of entries
  std::size_t entry_size() const;                             // numbers: bytes of an entry
};

// The branch that a field becomes. `form` indexes into `columns`, which are what offered_form accepted.
WrittenBranch written_branch(const FieldForm& form, std::span<const OfferedColumn> columns);

// The C++ class of a branch of kind vectors or text, as ROOT spells it: "vector<vector<float> >", "string".
std::string class_of(const WrittenBranch&);

// ROOT's letter for a leaf of that type ('F'), and the class that is named by it in upper case ("TLeafF").
char leaf_letter(Dtype);
std::string leaf_class(Dtype);

// The classes of the branch and its leaves, with their bases.
std::vector<std::string> classes_of(const WrittenBranch&);

}  // namespace tfile
