// SPDX-License-Identifier: Apache-2.0
#include "tree/read/table_memory.h"

#include <unordered_set>

#include "model/heap.h"

namespace tfile {
namespace {

std::size_t memory_of(const Node& node) {
  return sizeof node + heap_of(node.name) + heap_of(node.original_name) + heap_of(node.branch_name) +
         heap_of(node.alternatives) + heap_of_elements(node.children);
}

std::size_t memory_of(const Column& column) {
  return sizeof column + heap_of(column.path) + heap_of(column.name) + heap_of_elements(column.shape) +
         heap_of_elements(column.lists) + heap_of(column.branch) + heap_of(column.field) + heap_of(column.title) +
         heap_of(column.class_name) + heap_of(column.compression) + heap_of(column.reason);
}

std::size_t memory_of(const Program& program) {
  return sizeof program + kBlockOverhead + heap_of_elements(program.ops) + heap_of_elements(program.slots) +
         heap_of_elements(program.packings) + heap_of_elements(program.pointers) + heap_of_elements(program.clones) +
         heap_of(program.unknown);
}

std::size_t memory_of(const Stream& stream) {
  return sizeof stream + heap_of_elements(stream.lengths) + (stream.program ? memory_of(*stream.program) : 0);
}

}  // namespace

std::size_t memory_of(const Table& table) {
  std::size_t bytes = sizeof table + heap_of(table.name) + heap_of(table.title) + heap_of_elements(table.clusters) +
                      heap_of_elements(table.unresolved) + heap_of_elements(table.may_be_unwritten) +
                      heap_of(table.reason) + heap_of(table.warnings);
  for (const Node& node : table.nodes) bytes += memory_of(node);
  for (const Column& column : table.columns) bytes += memory_of(column);
  return bytes;
}

std::size_t memory_of(std::span<const Stream> streams) {
  std::size_t bytes = 0;
  for (const Stream& stream : streams) bytes += memory_of(stream);
  return bytes;
}

std::size_t memory_of(std::span<const BranchStorage> branches) {
  std::size_t bytes = 0;
  std::unordered_set<const void*> boundaries;
  for (const BranchStorage& branch : branches) {
    const BasketTable& baskets = branch.baskets;
    bytes += sizeof branch + heap_of(branch.name) + heap_of(branch.file_name) + heap_of_elements(baskets.seek) +
             heap_of_elements(baskets.nbytes) + heap_of_elements(branch.embedded);
    for (const EmbeddedBasket& basket : branch.embedded)
      bytes += heap_of_elements(basket.data) + heap_of_elements(basket.offsets);
    if (baskets.entry && boundaries.insert(baskets.entry.get()).second)
      bytes += sizeof *baskets.entry + 2 * kBlockOverhead + heap_of_elements(*baskets.entry);
  }
  return bytes;
}

std::size_t memory_of(const TreeRecord& tree) {
  std::size_t bytes = sizeof tree + heap_of(tree.name) + heap_of(tree.title) + heap_of_elements(tree.branches) +
                      heap_of_elements(tree.top) + heap_of_elements(tree.leaves);
  for (const BranchRecord& branch : tree.branches)
    bytes += heap_of(branch.name) + heap_of(branch.class_name) + heap_of(branch.title) +
             heap_of_elements(branch.children) + heap_of_elements(branch.leaves) + heap_of(branch.element_class) +
             heap_of(branch.parent_class) + heap_of(branch.clones_class);
  for (const LeafRecord& leaf : tree.leaves)
    bytes += heap_of(leaf.class_name) + heap_of(leaf.name) + heap_of(leaf.title);
  return bytes;
}

}  // namespace tfile
