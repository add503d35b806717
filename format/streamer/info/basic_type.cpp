// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/basic_type.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tfile {
namespace {

using namespace element_type;

constexpr BasicType kTypes[] = {
    {kBool, Dtype::b1, "Bool_t", "bool", "bool"},
    {kChar, Dtype::i1, "Char_t", "char", "char"},
    {kUChar, Dtype::u1, "UChar_t", "unsigned char", "unsigned char"},
    {kShort, Dtype::i2, "Short_t", "short", "short"},
    {kUShort, Dtype::u2, "UShort_t", "unsigned short", "unsigned short"},
    {kInt, Dtype::i4, "Int_t", "int", "int"},
    {kUInt, Dtype::u4, "UInt_t", "unsigned int", "unsigned int"},
    // ROOT stores long in 8 bytes on every platform.
    {kLong, Dtype::i8, "Long_t", "long", "long"},
    {kULong, Dtype::u8, "ULong_t", "unsigned long", "unsigned long"},
    {kLong64, Dtype::i8, "Long64_t", "long long", "Long64_t"},
    {kULong64, Dtype::u8, "ULong64_t", "unsigned long long", "ULong64_t"},
    {kFloat, Dtype::f4, "Float_t", "float", "float"},
    {kDouble, Dtype::f8, "Double_t", "double", "double"},
    {kFloat16, Dtype::f4, "Float16_t", "Float16_t", "Float16_t"},
    {kDouble32, Dtype::f8, "Double32_t", "Double32_t", "Double32_t"},
};

// Other names of the types that are stored unchanged.
constexpr std::pair<std::string_view, Dtype> kSpellings[] = {
    {"signed char", Dtype::i1},
    {"int8_t", Dtype::i1},
    {"uint8_t", Dtype::u1},
    {"byte", Dtype::u1},
    {"Byte_t", Dtype::u1},
    {"int16_t", Dtype::i2},
    {"short int", Dtype::i2},
    {"Version_t", Dtype::i2},
    {"uint16_t", Dtype::u2},
    {"short unsigned int", Dtype::u2},
    {"unsigned short int", Dtype::u2},
    {"int32_t", Dtype::i4},
    {"signed int", Dtype::i4},
    {"signed", Dtype::i4},
    {"uint32_t", Dtype::u4},
    {"unsigned", Dtype::u4},
    {"long int", Dtype::i8},
    {"int64_t", Dtype::i8},
    {"long long int", Dtype::i8},
    {"ptrdiff_t", Dtype::i8},
    {"long unsigned int", Dtype::u8},
    {"unsigned long int", Dtype::u8},
    {"uint64_t", Dtype::u8},
    {"long long unsigned int", Dtype::u8},
    {"size_t", Dtype::u8},
    {"unsigned long long int", Dtype::u8},
    {"Size_t", Dtype::f4},
    {"Axis_t", Dtype::f8},
    {"Stat_t", Dtype::f8},
};

constexpr std::optional<Dtype> dtype_of(int code) {
  if (code == kFloat16 || code == kDouble32) return std::nullopt;
  if (code == kLegacyChar) return Dtype::i1;
  if (code == kCounter) return Dtype::i4;  // an Int_t that counts a `//[n]` array
  const auto found = std::ranges::find(kTypes, code, &BasicType::code);
  if (found == std::end(kTypes)) return std::nullopt;
  return found->dtype;
}

// By code: the record of a wide tree asks a million times.
constexpr auto kDtypes = [] {
  std::array<std::optional<Dtype>, kOffsetArray> dtypes;
  for (int code = 0; code < kOffsetArray; ++code) dtypes[code] = dtype_of(code);
  return dtypes;
}();

std::unordered_map<std::string_view, Dtype> dtypes_by_name() {
  std::unordered_map<std::string_view, Dtype> dtypes(std::begin(kSpellings), std::end(kSpellings));
  for (const BasicType& type : kTypes) {
    if (!basic_dtype(type.code)) continue;
    for (const std::string_view name : {type.root_name, type.cpp_name}) dtypes.emplace(name, type.dtype);
  }
  return dtypes;
}

}  // namespace

const BasicType* basic_type_of_root(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name, &BasicType::root_name);
  return found == std::end(kTypes) ? nullptr : &*found;
}

std::optional<Dtype> fundamental_dtype(std::string_view name) {
  if (name.starts_with("std::")) name.remove_prefix(5);
  static const std::unordered_map<std::string_view, Dtype> dtypes = dtypes_by_name();
  const auto found = dtypes.find(name);
  if (found == dtypes.end()) return std::nullopt;
  return found->second;
}

std::optional<Dtype> basic_dtype(int code) { return code >= 0 && code < kOffsetArray ? kDtypes[code] : std::nullopt; }

std::optional<Dtype> member_dtype(int code, std::string_view type_name) {
  if (code == kCounter && fundamental_dtype(type_name) == Dtype::u4) return Dtype::u4;
  return basic_dtype(code);
}

std::uint32_t number_size(int code) {
  const auto dtype = basic_dtype(code);
  return dtype ? static_cast<std::uint32_t>(size_of(*dtype)) : 0;
}

}  // namespace tfile
