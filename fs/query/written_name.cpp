// SPDX-License-Identifier: Apache-2.0
#include "query/written_name.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "query/query_program.h"

namespace tfilefs {
namespace {

using NameKind = tfile::ExpressionNode::Kind;

// The last of the operands that end before `end`, and where it begins.
ExpressionNodes operand_before(ExpressionNodes nodes, std::size_t end) {
  const std::size_t size = nodes[end - 1].size;
  return nodes.subspan(end - size, size);
}

// Whether it goes on with the name of its first operand.
bool goes_on(const tfile::ExpressionNode& node) {
  return node.kind != NameKind::number && node.operands > 0 && node.text.starts_with('.');
}

}  // namespace

std::vector<ExpressionNodes> operands_of(ExpressionNodes nodes) {
  std::vector<ExpressionNodes> operands(nodes.back().operands);
  std::size_t end = nodes.size() - 1;
  for (auto each = operands.rbegin(); each != operands.rend(); ++each) {
    *each = operand_before(nodes, end);
    end -= each->size();
  }
  return operands;
}

std::optional<WrittenName> written_name(ExpressionNodes nodes) {
  const tfile::ExpressionNode& node = nodes.back();
  const bool is_inside = node.text.starts_with('.');
  const bool may_be = node.kind == NameKind::name || node.kind == NameKind::index || node.kind == NameKind::member ||
                      (node.kind == NameKind::call && node.operands == (is_inside ? 1u : 0u));
  if (!may_be) return std::nullopt;
  const std::vector<ExpressionNodes> operands = operands_of(nodes);
  WrittenName made;
  made.at = node.at;
  if (is_inside) {
    auto before = written_name(operands[0]);
    if (!before) return std::nullopt;
    made = *std::move(before);
  }
  // In back-ticks it is a letter like others.
  const std::size_t object = node.text.find_last_of("@`");
  made.is_object = made.is_object || (object != node.text.npos && node.text[object] == '@');
  made.name += tfile::unquoted_name(node.text);
  made.indices.insert(made.indices.end(), operands.begin() + (is_inside ? 1 : 0), operands.end());
  return made;
}

std::string name_of_sized(std::string name) {
  constexpr std::string_view kSizes[] = {".size", ".GetEntries", ".GetEntriesFast", ".GetLast"};
  std::erase(name, '@');
  const auto* const end = std::ranges::find_if(kSizes, [&](std::string_view each) { return name.ends_with(each); });
  if (end == std::end(kSizes)) return "";
  name.resize(name.size() - end->size());
  return name;
}

std::vector<WrittenName> written_names(ExpressionNodes nodes) {
  std::vector<WrittenName> found;
  std::vector<bool> is_begin(nodes.size());  // of a longer name
  for (std::size_t end = nodes.size(); end > 0; --end) {
    const tfile::ExpressionNode& node = nodes[end - 1];
    const ExpressionNodes whole = operand_before(nodes, end);
    if (goes_on(node)) is_begin[end - whole.size() + operands_of(whole)[0].size() - 1] = true;
    if (is_begin[end - 1]) continue;
    if (auto name = written_name(whole)) found.push_back(*std::move(name));
  }
  return found;
}

}  // namespace tfilefs
