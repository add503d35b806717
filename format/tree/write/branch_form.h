// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "streamer/layout/packing.h"
#include "tfile/writer.h"

namespace tfile {

// A number in a branch, in ROOT's terms: a leaf, or the innermost item of a vector.
struct LeafForm {
  std::string name;
  Dtype dtype = Dtype::u1;
  std::vector<std::uint32_t> shape;
  std::optional<Packing> packing = {};  // as a tree that is there stores them, if not as they are
  std::size_t count() const;            // numbers in one item
  std::size_t bytes() const { return count() * size_of(dtype); }
  std::size_t stored_bytes() const { return count() * (packing ? packing->stored_size() : size_of(dtype)); }
};

// "[2][3]", as titles of leaves have it.
std::string dimensions(const LeafForm&);

// The properties of a branch that are needed to write it: its entries and its columns. The columns are in the order in
// which TableWriter::encode takes them.
struct WrittenBranch {
  enum class Kind : std::uint8_t {
    numbers,  // one or more leaves, one after the other; one column each
    counted,  // one leaf, as many as a leaf of another branch says; columns: that counter, offsets, values
    vectors,  // `depth` lists, one in the other, of numbers or texts; columns: offsets of each depth, then values, or
              // offsets and chars
    text,     // one text per entry; columns: offsets, chars
    records,  // lists of records: how many an entry has, and a branch of each member below; columns: offsets
    items,    // numbers, a member of such records; columns: offsets of the records, values
    object,   // records that are in no list: a branch of each member below, which is numbers, vectors or text; columns:
              // those of the members
  };
  Kind kind = Kind::numbers;
  std::string name, title;
  std::string basket_title;  // in the keys of its baskets: the tree's name, or a title of equal length to existing ones
  std::vector<LeafForm> leaves;  // numbers: all; counted, vectors: one, the item (of texts: u1)
  std::string counter;           // counted: name of the counting leaf
  Dtype counter_dtype = Dtype::i4;
  std::uint32_t depth = 0;      // vectors; of a member of a list of records, these are the first level
  bool of_texts = false;        // vectors
  bool is_leaf_text = false;    // text: a TLeafC, which has no byte for an empty text
  bool is_counter = false;      // numbers: it counts others
  bool stores_offsets = false;  // numbers: its baskets have offsets of entries, which nobody needs

  std::string class_name;               // records, objects and their members: the class of the records
  bool is_map = false;                  // the same: they are the pairs of a map of texts, or of one that was there
  std::uint32_t class_checksum = 0;     // of its description
  std::vector<WrittenBranch> members;   // records: items, or vectors that are a member; objects
  std::optional<std::uint32_t> number;  // of a member, in its class
  bool of_object = false;               // of a member: it is none of records in lists
  std::vector<std::uint32_t> inputs;    // of a member: its columns among those of the field

  bool has_class() const { return kind == Kind::records || kind == Kind::object; }  // one that the file describes
  bool is_in_list() const { return number && !of_object; }                          // a member of records in lists
  // TBranchElement
  bool is_element() const {
    return kind >= Kind::records || of_object || kind == Kind::vectors || (kind == Kind::text && !is_leaf_text);
  }
  // Whether its baskets have offsets of entries.
  bool has_offsets() const { return kind != Kind::numbers || stores_offsets; }
  std::size_t entry_size() const;  // numbers: bytes of an entry
};

// The fields that offered columns form in a tree. Errors: as offered_form(). `not_held`: is told what a tree does not
// hold, and the form is that of the rest. Pure.
Result<WriteSchema> tree_form(std::span<const InputColumn>, std::vector<NotHeld>* not_held = nullptr);

// Finds the counters of lists of arrays, as find_counters().
void find_list_counters(std::span<InputColumn>, const OfferedEntries&);

// The branch for a field. `form` has indices of `columns`, which tree_form() has accepted.
WrittenBranch written_branch(const FieldForm& form, std::span<const InputColumn> columns);

// The name of a field in the mount, which leaves out the dot at the end of the name of a branch of an object.
std::string_view field_name(std::string_view branch_name);

// The C++ class of a branch of kind vectors, text, records or object, or of a member, as ROOT spells it:
// "vector<vector<float> >", "string", "short".
std::string class_of(const WrittenBranch&);

// The code of a member in StreamerInfo: of one number, of an array, or of an object.
std::int32_t element_type_of(const WrittenBranch& member);

// ROOT's letter for a leaf of that type ('F'), and the class with this letter in upper case ("TLeafF").
char leaf_letter(Dtype);
std::string leaf_class(Dtype);

// The classes of the branch and its leaves, with their bases.
std::vector<std::string> classes_of(const WrittenBranch&);

// Whether a column can be the counter of a list (TLeaf::fLeafCount): a branch of its own, of one integer per entry.
bool can_count(const InputColumn&);

// The column that counts the items of a field's lists. It is a field of its own, too; a part of the lists is checked
// against it. Nothing if their number is not a leaf.
std::optional<std::uint32_t> counter_of(const FieldForm&);

}  // namespace tfile
