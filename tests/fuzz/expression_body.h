// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "fuzz/stream_body.h"
#include "tfile/expression.h"

namespace tfile::fuzz {

// Parses the text as expressions with colons between them. Each node must say how many nodes it and its operands are,
// and its text must be of the text that was parsed. An error must be somewhere in it.
inline void expression_body(std::string_view text) {
  constexpr ExpressionForm kForm{100, 2000, false, true, true};
  const auto all = parse_expressions(text, kForm);
  if (!all) {
    const std::int64_t at = all.error().offset;
    require(at >= 0 && at <= static_cast<std::int64_t>(text.size()), "an error is in the text");
    return;
  }
  std::size_t count = 0;
  for (const std::vector<ExpressionNode>& nodes : *all) {
    require(!nodes.empty() && nodes.back().size == nodes.size(), "the last node is the whole");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const ExpressionNode& node = nodes[i];
      std::size_t size = 1;
      for (std::uint32_t operand = 0; operand < node.operands; ++operand) {
        require(size <= i, "operands come before what takes them");
        size += nodes[i - size].size;
      }
      require(node.size == size, "a node knows its size");
      require(node.at + node.text.size() <= text.size(), "the text of a node is of the whole");
      require(text.substr(node.at, node.text.size()) == node.text || node.kind == ExpressionNode::Kind::each,
              "the text of a node is where it says");
    }
    count += nodes.size();
  }
  require(count <= kForm.nodes_max, "there are no more nodes than are allowed");
}

}  // namespace tfile::fuzz
