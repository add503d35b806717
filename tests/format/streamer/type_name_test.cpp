// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/type_name.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

using TypeKind = TypeName::Kind;

TEST(TypeName, NumbersUnderEachOfTheirNames) {
  const std::pair<const char*, Dtype> kNames[] = {
      {"bool", Dtype::b1},          {"Bool_t", Dtype::b1},       {"char", Dtype::i1},        {"signed char", Dtype::i1},
      {"unsigned char", Dtype::u1}, {"UChar_t", Dtype::u1},      {"std::byte", Dtype::u1},   {"short", Dtype::i2},
      {"UShort_t", Dtype::u2},      {"int", Dtype::i4},          {"Int_t", Dtype::i4},       {"unsigned", Dtype::u4},
      {"std::uint32_t", Dtype::u4}, {"long", Dtype::i8},         {"Long_t", Dtype::i8},      {"Long64_t", Dtype::i8},
      {"unsigned long", Dtype::u8}, {"long long", Dtype::i8},    {"size_t", Dtype::u8},      {"float", Dtype::f4},
      {"Float_t", Dtype::f4},       {"const double", Dtype::f8}, {"double const", Dtype::f8}};
  for (const auto& [name, dtype] : kNames) {
    const TypeName type = parse_type_name(name);
    EXPECT_EQ(type.kind, TypeKind::number) << name;
    EXPECT_EQ(type.dtype, dtype) << name;
  }
}

TEST(TypeName, PackedNumbersAndStrings) {
  EXPECT_EQ(parse_type_name("Double32_t").kind, TypeKind::double32);
  EXPECT_EQ(parse_type_name("Float16_t").kind, TypeKind::float16);
  EXPECT_EQ(parse_type_name("string").kind, TypeKind::std_string);
  EXPECT_EQ(parse_type_name("std::string").kind, TypeKind::std_string);
  EXPECT_EQ(parse_type_name("basic_string<char,char_traits<char> >").kind, TypeKind::std_string);
  EXPECT_EQ(parse_type_name("TString").kind, TypeKind::tstring);
}

TEST(TypeName, EveryCollectionIsASequence) {
  for (const char* name :
       {"vector<int>", "std::vector<int>", "list<int>", "deque<int>", "set<int>", "multiset<int>", "unordered_set<int>",
        "unordered_multiset<int>", "forward_list<int>", "ROOT::VecOps::RVec<int>", "ROOT::RVec<int>",
        "vector<int,allocator<int> >", "vector< int >", "std::vector<const int>"}) {
    const TypeName type = parse_type_name(name);
    ASSERT_EQ(type.kind, TypeKind::sequence) << name;
    ASSERT_EQ(type.arguments.size(), 1u) << name;
    EXPECT_EQ(type.arguments[0].dtype, Dtype::i4) << name;
  }
}

TEST(TypeName, MapsHaveKeyAndValue) {
  const TypeName type = parse_type_name("map<string,vector<pair<int,float> > >");
  ASSERT_EQ(type.kind, TypeKind::map);
  ASSERT_EQ(type.arguments.size(), 2u);
  EXPECT_EQ(type.arguments[0].kind, TypeKind::std_string);
  ASSERT_EQ(type.arguments[1].kind, TypeKind::sequence);
  const TypeName& pair = type.arguments[1].arguments[0];
  ASSERT_EQ(pair.kind, TypeKind::pair);
  EXPECT_EQ(pair.arguments[1].dtype, Dtype::f4);
  EXPECT_EQ(parse_type_name("std::unordered_multimap<int,long,std::hash<int> >").kind, TypeKind::map);
}

TEST(TypeName, LengthsOfBitsetsAndArrays) {
  const TypeName bits = parse_type_name("std::bitset<16>");
  EXPECT_EQ(bits.kind, TypeKind::bitset);
  EXPECT_EQ(bits.length, 16u);
  const TypeName array = parse_type_name("array<vector<short>,3ul>");
  ASSERT_EQ(array.kind, TypeKind::array);
  EXPECT_EQ(array.length, 3u);
  EXPECT_EQ(array.arguments[0].kind, TypeKind::sequence);
  for (const char* name :
       {"bitset<0>", "bitset<N>", "bitset<>", "array<int,0>", "array<int,99999999999999999999>", "array<int>"})
    EXPECT_EQ(parse_type_name(name).kind, TypeKind::named_class) << name;
}

TEST(TypeName, PointersOfEachSort) {
  for (const char* name : {"Track*", "Track *", "const Track*", "unique_ptr<Track>", "std::shared_ptr<Track>"}) {
    const TypeName type = parse_type_name(name);
    ASSERT_EQ(type.kind, TypeKind::pointer) << name;
    EXPECT_EQ(type.arguments[0].text, "Track") << name;
  }
}

TEST(TypeName, ClassesKeepTheirText) {
  EXPECT_EQ(parse_type_name("  DataVector<xAOD::Jet_v1> ").text, "DataVector<xAOD::Jet_v1>");
  EXPECT_EQ(parse_type_name("  DataVector<xAOD::Jet_v1> ").kind, TypeKind::named_class);
  EXPECT_EQ(parse_type_name("const struct Hit").text, "Hit");
  EXPECT_EQ(parse_type_name("class std::complex<double>").text, "complex<double>");
  EXPECT_EQ(parse_type_name("vector<ElementLink<DataVector<xAOD::Jet_v1> > >").arguments[0].text,
            "ElementLink<DataVector<xAOD::Jet_v1> >");
  EXPECT_EQ(parse_type_name("atomic<int>").kind, TypeKind::number);
}

TEST(TypeName, BracketsThatDoNotMatchMakeAClass) {
  for (const char* name : {"vector<int", "vector<int>>", "vector<pair<int,>>,float>", "map<int>", "pair<int>",
                           "pair<int,int,int>", "", "<", ">", "<>", "*", "vector<>x"})
    EXPECT_NE(parse_type_name(name).kind, TypeKind::sequence) << name;
  EXPECT_EQ(parse_type_name("map<int>").kind, TypeKind::named_class);
  EXPECT_EQ(parse_type_name("").kind, TypeKind::named_class);
}

std::size_t depth_of(const TypeName& type) { return type.arguments.empty() ? 1 : 1 + depth_of(type.arguments.front()); }

TEST(TypeName, NestingIsCutOff) {
  std::string text = "int";
  for (int i = 0; i < 10'000; ++i) text = "vector<" + text + ">";
  EXPECT_LT(depth_of(parse_type_name(text)), 40u);
  EXPECT_LT(depth_of(parse_type_name("T" + std::string(100'000, '*'))), 40u);
  std::string constant = "T";
  for (int i = 0; i < 10'000; ++i) constant += " const";
  EXPECT_EQ(parse_type_name(constant).kind, TypeKind::named_class);
}

}  // namespace
}  // namespace tfile
