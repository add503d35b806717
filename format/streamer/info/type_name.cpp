// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/type_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "streamer/info/basic_type.h"

namespace tfile {
namespace {

// Real types nest a few levels. Deeper text is an attempt to exhaust the stack.
constexpr int kNestingMax = 32;

bool strip_prefix(std::string_view& s, std::string_view prefix) {
  if (!s.starts_with(prefix)) return false;
  s.remove_prefix(prefix.size());
  return true;
}

// "A<B,C<D,E> >" -> {"B", "C<D,E> "}; nullopt if the brackets do not match.
std::optional<std::vector<std::string_view>> split_arguments(std::string_view inside) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '<' || inside[i] == '(') ++depth;
    if (inside[i] == '>' || inside[i] == ')') --depth;
    if (depth < 0) return std::nullopt;
    if (inside[i] == ',' && depth == 0) {
      parts.push_back(trim(inside.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (depth != 0) return std::nullopt;
  parts.push_back(trim(inside.substr(start)));
  return parts;
}

const std::array kSequences = {"vector",
                               "list",
                               "deque",
                               "set",
                               "multiset",
                               "unordered_set",
                               "forward_list",
                               "unordered_multiset",
                               "ROOT::VecOps::RVec",
                               "ROOT::RVec",
                               "RVec"};
const std::array kMaps = {"map", "multimap", "unordered_map", "unordered_multimap"};
const std::array kPointers = {"unique_ptr", "shared_ptr"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TypeName parse(std::string_view text, int depth);

// Parses a template whose arguments matter here; others become `named_class`.
TypeName parse_template(std::string_view name, const std::vector<std::string_view>& arguments, TypeName type,
                        int depth) {
  auto argument = [&](std::size_t i) { return parse(arguments[i], depth + 1); };
  if (contains(kSequences, name) && !arguments.empty()) {
    type.kind = TypeName::Kind::sequence;
    type.arguments = {argument(0)};
  } else if (contains(kMaps, name) && arguments.size() >= 2) {
    type.kind = TypeName::Kind::map;
    type.arguments = {argument(0), argument(1)};
  } else if (name == "pair" && arguments.size() == 2) {
    type.kind = TypeName::Kind::pair;
    type.arguments = {argument(0), argument(1)};
  } else if (contains(kPointers, name) && !arguments.empty()) {
    type.kind = TypeName::Kind::pointer;
    type.arguments = {argument(0)};
  } else if (name == "bitset" || (name == "array" && arguments.size() == 2)) {
    const std::string_view number = arguments.back();
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), type.length);
    if (error != std::errc() || type.length == 0) return type;
    type.kind = name == "bitset" ? TypeName::Kind::bitset : TypeName::Kind::array;
    if (name == "array") type.arguments = {argument(0)};
  } else if (name == "atomic" && arguments.size() == 1) {
    return argument(0);
  }
  return type;
}

TypeName parse(std::string_view text, int depth) {
  text = trim(text);
  while (strip_prefix(text, "const ") || strip_prefix(text, "std::") || strip_prefix(text, "struct ") ||
         strip_prefix(text, "class ") || strip_prefix(text, "enum "))
    text = trim(text);
  TypeName type;
  type.text = std::string(text);
  if (depth > kNestingMax || text.empty()) return type;
  if (text.ends_with(" const")) return parse(text.substr(0, text.size() - 6), depth + 1);
  if (text.back() == '*') {
    type.kind = TypeName::Kind::pointer;
    type.arguments = {parse(text.substr(0, text.size() - 1), depth + 1)};
    return type;
  }
  if (const auto number = fundamental_dtype(text)) {
    type.kind = TypeName::Kind::number;
    type.dtype = *number;
  } else if (text == "Double32_t") {
    type.kind = TypeName::Kind::double32;
  } else if (text == "Float16_t") {
    type.kind = TypeName::Kind::float16;
  } else if (text == "string" || text.starts_with("basic_string<char")) {
    type.kind = TypeName::Kind::std_string;
  } else if (text == "TString") {
    type.kind = TypeName::Kind::tstring;
  } else if (const auto open = text.find('<'); open != text.npos && text.back() == '>') {
    const auto arguments = split_arguments(text.substr(open + 1, text.size() - open - 2));
    if (arguments) return parse_template(trim(text.substr(0, open)), *arguments, std::move(type), depth);
  }
  return type;
}

}  // namespace

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

TypeName parse_type_name(std::string_view text) { return parse(text, 0); }

}  // namespace tfile
