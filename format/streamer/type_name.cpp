// SPDX-License-Identifier: Apache-2.0
#include "streamer/type_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace tfile {
namespace {

// Real types nest a few levels; deeper text is made to exhaust the stack.
constexpr int kDepthMax = 32;

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

bool strip_prefix(std::string_view& s, std::string_view prefix) {
  if (!s.starts_with(prefix)) return false;
  s.remove_prefix(prefix.size());
  return true;
}

// "A<B,C<D,E> >" -> {"B", "C<D,E> "}; nothing when the brackets do not match.
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

// A template whose arguments matter here; `named_class` when it is none.
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
  if (depth > kDepthMax || text.empty()) return type;
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

TypeName parse_type_name(std::string_view text) { return parse(text, 0); }

std::optional<Dtype> fundamental_dtype(std::string_view name) {
  if (name.starts_with("std::")) name.remove_prefix(5);
  static const std::unordered_map<std::string_view, Dtype> kTypes = {{"bool", Dtype::b1},
                                                                     {"Bool_t", Dtype::b1},
                                                                     {"char", Dtype::i1},
                                                                     {"Char_t", Dtype::i1},
                                                                     {"signed char", Dtype::i1},
                                                                     {"int8_t", Dtype::i1},
                                                                     {"unsigned char", Dtype::u1},
                                                                     {"UChar_t", Dtype::u1},
                                                                     {"uint8_t", Dtype::u1},
                                                                     {"byte", Dtype::u1},
                                                                     {"Byte_t", Dtype::u1},
                                                                     {"short", Dtype::i2},
                                                                     {"Short_t", Dtype::i2},
                                                                     {"int16_t", Dtype::i2},
                                                                     {"short int", Dtype::i2},
                                                                     {"Version_t", Dtype::i2},
                                                                     {"unsigned short", Dtype::u2},
                                                                     {"UShort_t", Dtype::u2},
                                                                     {"uint16_t", Dtype::u2},
                                                                     {"short unsigned int", Dtype::u2},
                                                                     {"unsigned short int", Dtype::u2},
                                                                     {"int", Dtype::i4},
                                                                     {"Int_t", Dtype::i4},
                                                                     {"int32_t", Dtype::i4},
                                                                     {"signed int", Dtype::i4},
                                                                     {"signed", Dtype::i4},
                                                                     {"unsigned int", Dtype::u4},
                                                                     {"UInt_t", Dtype::u4},
                                                                     {"uint32_t", Dtype::u4},
                                                                     {"unsigned", Dtype::u4},
                                                                     // ROOT stores long in 8 bytes on every platform.
                                                                     {"long", Dtype::i8},
                                                                     {"Long_t", Dtype::i8},
                                                                     {"long int", Dtype::i8},
                                                                     {"Long64_t", Dtype::i8},
                                                                     {"long long", Dtype::i8},
                                                                     {"int64_t", Dtype::i8},
                                                                     {"long long int", Dtype::i8},
                                                                     {"ptrdiff_t", Dtype::i8},
                                                                     {"unsigned long", Dtype::u8},
                                                                     {"ULong_t", Dtype::u8},
                                                                     {"long unsigned int", Dtype::u8},
                                                                     {"unsigned long int", Dtype::u8},
                                                                     {"ULong64_t", Dtype::u8},
                                                                     {"unsigned long long", Dtype::u8},
                                                                     {"long long unsigned int", Dtype::u8},
                                                                     {"unsigned long long int", Dtype::u8},
                                                                     {"uint64_t", Dtype::u8},
                                                                     {"size_t", Dtype::u8},
                                                                     {"float", Dtype::f4},
                                                                     {"Float_t", Dtype::f4},
                                                                     {"Size_t", Dtype::f4},
                                                                     {"double", Dtype::f8},
                                                                     {"Double_t", Dtype::f8},
                                                                     {"Axis_t", Dtype::f8},
                                                                     {"Stat_t", Dtype::f8}};
  const auto found = kTypes.find(name);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

}  // namespace tfile
