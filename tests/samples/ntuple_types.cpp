// SPDX-License-Identifier: Apache-2.0
// Every type of a field.
#include "ntuple_samples.h"

namespace types {

// A record without a type has the layout of a struct of its fields; a collection without one has that of a vector.
struct Record {
  std::int32_t n = 0;
  double x = 0;
  std::string text;
};
template <class V>
void members(Record& of, V visit) {
  visit("n", of.n), visit("x", of.x), visit("text", of.text);
}

namespace {

std::unique_ptr<ROOT::RFieldBase> record_field(const std::string& name) {
  std::vector<std::unique_ptr<ROOT::RFieldBase>> parts;
  parts.push_back(std::make_unique<ROOT::RField<std::int32_t>>("n"));
  parts.push_back(std::make_unique<ROOT::RField<double>>("x"));
  parts.push_back(std::make_unique<ROOT::RField<std::string>>("text"));
  return std::make_unique<ROOT::RRecordField>(name, std::move(parts));
}

template <class T>
Field streamed(const std::string& name, const std::string& type) {
  return created<T>(name, [=] { return std::make_unique<ROOT::RStreamerField>(name, type); });
}

Field double32(const std::string& name) {
  Field made = created<double>(name, [name] { return ROOT::RFieldBase::Create(name, "Double32_t").Unwrap(); });
  made.keep = [](void* value) { *static_cast<double*>(value) = double(float(*static_cast<double*>(value))); };
  return made;
}

using Either = std::variant<std::int32_t, std::string, std::vector<float>>;
using OneOf = std::variant<Point, std::string, std::optional<float>, Jet>;
using Numbers = std::vector<std::int32_t>;

void add_plain(Table& table) {
  auto& of = table.fields;
  of.push_back(field<bool>("bool")), of.push_back(field<char>("char")), of.push_back(field<std::byte>("byte"));
  of.push_back(field<std::int8_t>("int8")), of.push_back(field<std::uint8_t>("uint8"));
  of.push_back(field<std::int16_t>("int16")), of.push_back(field<std::uint16_t>("uint16"));
  of.push_back(field<std::int32_t>("int32")), of.push_back(field<std::uint32_t>("uint32"));
  of.push_back(field<std::int64_t>("int64")), of.push_back(field<std::uint64_t>("uint64"));
  of.push_back(field<float>("float")), of.push_back(field<double>("double")), of.push_back(double32("double32"));
  of.push_back(field<std::string>("string")), of.push_back(field<Wind>("wind")), of.push_back(field<Size>("size"));
  of.push_back(field<std::atomic<std::int32_t>>("atomic"));
  of.push_back(field<std::bitset<8>>("bitset8")), of.push_back(field<std::bitset<13>>("bitset13"));
  of.push_back(field<std::bitset<64>>("bitset64")), of.push_back(field<std::bitset<100>>("bitset100"));
}

void add_collections(Table& table) {
  auto& of = table.fields;
  of.push_back(field<std::vector<float>>("vector")), of.push_back(field<std::vector<bool>>("vector_bool"));
  of.push_back(field<std::vector<std::string>>("vector_string"));
  of.push_back(field<std::vector<std::vector<std::vector<std::int16_t>>>>("vector3"));
  of.push_back(field<std::vector<std::bitset<13>>>("vector_bitset"));
  of.push_back(field<std::vector<Wind>>("vector_wind"));
  of.push_back(field<ROOT::RVec<double>>("rvec")), of.push_back(field<ROOT::RVec<ROOT::RVec<std::string>>>("rvec2"));
  of.push_back(field<std::set<std::int32_t>>("set")), of.push_back(field<std::multiset<std::string>>("multiset"));
  of.push_back(field<std::unordered_set<std::int32_t>>("unordered_set"));
  of.push_back(field<std::unordered_multiset<std::string>>("unordered_multiset"));
  of.push_back(field<std::map<std::string, float>>("map"));
  of.push_back(field<std::multimap<std::int16_t, std::string>>("multimap"));
  of.push_back(field<std::unordered_map<std::string, double>>("unordered_map"));
  of.push_back(field<std::unordered_multimap<std::int32_t, std::vector<float>>>("unordered_multimap"));
  of.push_back(field<std::array<float, 3>>("array")), of.push_back(field<std::array<bool, 5>>("array_bool"));
  of.push_back(field<std::array<std::vector<std::int32_t>, 2>>("array_vector"));
  of.push_back(field<std::array<std::string, 2>>("array_string"));
  of.push_back(field<std::array<std::array<std::int16_t, 3>, 2>>("array2"));
  of.push_back(field<std::vector<std::array<float, 2>>>("vector_array"));
  Field square = created<std::int16_t[2][3]>(
      "square", [] { return std::make_unique<ROOT::RField<std::int16_t[2][3]>>("square"); });
  square.object = [] { return std::make_shared<std::array<std::array<std::int16_t, 3>, 2>>(); };
  of.push_back(square);
}

void add_choices(Table& table) {
  auto& of = table.fields;
  of.push_back(field<std::optional<float>>("optional")),
      of.push_back(field<std::optional<std::string>>("optional_string"));
  of.push_back(field<std::optional<std::vector<Point>>>("optional_vector"));
  of.push_back(field<std::unique_ptr<double>>("unique_ptr")),
      of.push_back(field<std::unique_ptr<Jet>>("unique_ptr_class"));
  of.push_back(field<std::vector<std::optional<float>>>("vector_optional"));
  of.push_back(field<Either>("variant")), of.push_back(field<std::vector<Either>>("vector_variant"));
  of.push_back(field<std::array<Either, 2>>("array_variant"));
  of.push_back(field<std::variant<std::int32_t, std::int32_t>>("variant_same"));
  of.push_back(field<std::vector<std::variant<Numbers, Numbers, float>>>("variant_same_lists"));
  of.push_back(field<std::variant<float, Either>>("variant2"));
  of.push_back(field<std::optional<std::optional<std::int32_t>>>("optional2"));
  of.push_back(field<std::vector<std::optional<std::unique_ptr<std::string>>>>("vector_optional2"));
  of.push_back(field<std::optional<Either>>("optional_variant"));
  of.push_back(field<std::vector<std::optional<Either>>>("vector_optional_variant"));
  of.push_back(field<OneOf>("variant_class")), of.push_back(field<std::optional<OneOf>>("optional_variant_class"));
  of.push_back(field<std::pair<std::int32_t, std::string>>("pair"));
  of.push_back(field<std::tuple<float, std::vector<std::int16_t>, bool, Point>>("tuple"));
}

void add_classes(Table& table) {
  auto& of = table.fields;
  of.push_back(field<std::optional<Empty>>("optional_empty")), of.push_back(field<Empties>("empties"));
  of.push_back(field<std::pair<Empty, std::int32_t>>("pair_empty"));
  of.push_back(field<std::vector<Empties>>("vector_empties"));
  of.push_back(field<std::variant<Empty, Empties, std::int32_t>>("variant_empty"));
  of.push_back(field<Empty>("empty")), of.push_back(field<Point>("point")), of.push_back(field<Derived>("derived"));
  of.push_back(field<Box<std::int32_t>>("box")), of.push_back(field<Box<std::string>>("box_string"));
  of.push_back(field<Event>("event")), of.push_back(field<std::array<Point, 2>>("array_point"));
  of.push_back(field<std::vector<Empty>>("vector_empty")), of.push_back(field<std::vector<Jet>>("vector_jet"));
  of.push_back(field<std::vector<std::vector<Derived>>>("vector2_derived"));
  of.push_back(field<std::map<std::string, std::vector<Point>>>("map_vector_point"));
  of.push_back(field<TObject>("object")), of.push_back(field<Heir>("heir"));
  of.push_back(field<Bag<float>>("bag")), of.push_back(field<Bag<Point>>("bag_point"));
  of.push_back(created<Record>("record", [] { return record_field("record"); }));
  of.push_back(created<std::vector<Record>>(
      "records", [] { return ROOT::RVectorField::CreateUntyped("records", record_field("_0")); }));
  of.push_back(created<std::vector<float>>("untyped", [] {
    return ROOT::RVectorField::CreateUntyped("untyped", std::make_unique<ROOT::RField<float>>("_0"));
  }));
  of.push_back(streamed<Heir>("streamed_heir", "Heir")), of.push_back(streamed<Jet>("streamed_jet", "Jet"));
  of.push_back(created<Unsplit>("unsplit", [] { return ROOT::RFieldBase::Create("unsplit", "Unsplit").Unwrap(); }));
}

std::vector<Table> tables() {
  Table table = table_of(120, {50, -51, 100});
  add_plain(table), add_collections(table), add_choices(table), add_classes(table);
  return {table};
}

void write(const std::string& file, int compression) { write_file(tables()[0], file, small_pages(compression)); }

}  // namespace

const Sample every{tables, write};

}  // namespace types
