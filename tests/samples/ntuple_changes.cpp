// SPDX-License-Identifier: Apache-2.0
// Schemas that grow while entries are filled, columns whose representation changes from cluster to cluster, and
// projected fields.
#include "ntuple_samples.h"

namespace changes {

namespace {

using C = ROOT::ENTupleColumnType;
using Names = std::map<std::string, std::string>;

constexpr long kWithin = 30;    // an entry inside a cluster
constexpr long kAtStart = 100;  // the first entry of a cluster

Field late(Field field, long added) {
  field.added = added;
  field.stored = [added](long number) { return number >= added; };
  return field;
}

// A projection of an old field: it has values from the first entry on.
Field late_view(Field field, long added) {
  field.added = added;
  return field;
}

template <class Size>
Field count_of(const std::string& name, const std::string& of) {
  using Cardinality = ROOT::RNTupleCardinality<Size>;
  return projection<Cardinality, std::vector<Point>>(
      name, Names{{name, of}}, [](const std::vector<Point>& points) { return Cardinality(Size(points.size())); });
}

void add_late_kinds(Table& table, const std::string& when, long added) {
  using Either = std::variant<std::int32_t, std::string, std::vector<float>>;
  auto& of = table.fields;
  const auto add = [&](Field field) -> Field& { return of.emplace_back(late(std::move(field), added)); };
  add(field<std::int32_t>(when + "_int")), add(field<double>(when + "_double")), add(field<bool>(when + "_bool"));
  add(field<std::string>(when + "_string")), add(field<std::vector<float>>(when + "_vector"));
  add(field<std::vector<std::string>>(when + "_vector_string"));
  add(field<std::vector<std::vector<std::int16_t>>>(when + "_vector2")),
      add(field<std::vector<bool>>(when + "_vector_bool"));
  add(field<Derived>(when + "_class")), add(field<std::vector<Jet>>(when + "_vector_class"));
  add(field<std::array<float, 3>>(when + "_array")), add(field<std::array<std::string, 2>>(when + "_array_string"));
  add(field<std::map<std::string, float>>(when + "_map")), add(field<std::set<std::int32_t>>(when + "_set"));
  add(field<std::optional<float>>(when + "_optional")), add(field<std::bitset<13>>(when + "_bitset"));
  add(field<std::pair<std::int32_t, std::string>>(when + "_pair")), add(field<Wind>(when + "_enum"));
  add(field<Either>(when + "_variant")).absent = "null";
  add(field<std::vector<Either>>(when + "_vector_variant"));
  add(field<std::vector<Point>>(when + "_points"));
  add(count_of<std::uint32_t>(when + "_n_points", when + "_points"));
  of.push_back(late_view(count_of<std::uint64_t>(when + "_n_old", "old_points"), added));
  const std::string x = when + "_old_x";
  of.push_back(late_view(
      projection<std::vector<float>, std::vector<Point>>(x, Names{{x, "old_points"}, {x + "._0", "old_points._0.x"}},
                                                         [](const std::vector<Point>& points) {
                                                           std::vector<float> all;
                                                           for (const Point& point : points) all.push_back(point.x);
                                                           return all;
                                                         }),
      added));
}

std::vector<Table> late_tables() {
  Table table =
      table_of(170, {60, kAtStart, -140}, field<std::int32_t>("old"), field<std::vector<Point>>("old_points"));
  add_late_kinds(table, "within", kWithin);
  add_late_kinds(table, "at_start", kAtStart);
  return {table};
}

void write_late(const std::string& file, int compression) {
  const Table table = late_tables()[0];
  auto writer = ROOT::RNTupleWriter::Recreate(bare_model(table), table.path, file, small_pages(compression));
  Filler filler(table);
  fill_table(*writer, table, filler, [&](long entry) {
    if (entry != kWithin && entry != kAtStart) return;
    auto updater = writer->CreateModelUpdater();
    updater->BeginUpdate();
    for (const Field& field : table.fields)
      if (field.added == entry && !field.source) updater->AddField(field.create());
    for (const Field& field : table.fields)
      if (field.added == entry && field.source) updater->AddProjectedField(field.create(), field.source).ThrowOnError();
    updater->CommitUpdate();
    filler.schema_changed();
  });
}

using Representations = ROOT::RFieldBase::RColumnRepresentations::Selection_t;

// The representations that the columns of a field, or of its sub-fields, use in turn.
const std::map<std::string, Representations> kInTurns = {
    {"double", {{C::kReal64}, {C::kReal32}, {C::kSplitReal64}, {C::kReal16}}},
    {"float", {{C::kSplitReal32}, {C::kReal16}}},
    {"int", {{C::kSplitInt32}, {C::kInt32}}},
    {"int64", {{C::kInt64}, {C::kSplitInt64}}},
    {"string", {{C::kSplitIndex64, C::kChar}, {C::kIndex32, C::kChar}, {C::kIndex64, C::kChar}}},
    {"vector", {{C::kSplitIndex64}, {C::kIndex32}, {C::kSplitIndex32}}},
    {"vector._0", {{C::kReal32}, {C::kSplitReal32}}},
    {"strings", {{C::kIndex64}, {C::kSplitIndex32}}},
    {"strings._0", {{C::kIndex32, C::kChar}, {C::kSplitIndex64, C::kChar}}},
    {"optional", {{C::kSplitIndex32}, {C::kIndex64}}},
    {"point.x", {{C::kSplitReal32}, {C::kReal32}}},
};

void set_representations(ROOT::RFieldBase& field) {
  const auto known = kInTurns.find(field.GetQualifiedFieldName());
  if (known != kInTurns.end()) field.SetColumnRepresentatives(known->second);
  for (auto& below : field) {
    const auto known = kInTurns.find(below.GetQualifiedFieldName());
    if (known != kInTurns.end()) below.SetColumnRepresentatives(known->second);
  }
}

// A number that all representations can hold.
template <class T>
Field short_real(const std::string& name) {
  return field<T>(name, [name](T& value, long number) { value = T(long(dice_of(name, number)() % 4001) - 2000) / 2; });
}

std::vector<Table> representation_tables() {
  Table table = table_of(150, {40, 41, -80, 100, 120}, short_real<double>("double"), short_real<float>("float"),
                         field<std::int32_t>("int"), field<std::int64_t>("int64"), field<std::string>("string"),
                         field<std::vector<float>>("vector"), field<std::vector<std::string>>("strings"),
                         field<std::optional<float>>("optional"), field<Point>("point"), field<std::int32_t>("steady"));
  for (Field& field : table.fields)
    field.create = [create = field.create] {
      auto made = create();
      set_representations(*made);
      return made;
    };
  return {table};
}

void write_representations(const std::string& file, int compression) {
  const Table table = representation_tables()[0];
  auto writer = ROOT::RNTupleWriter::Recreate(bare_model(table), table.path, file, small_pages(compression));
  Filler filler(table);
  unsigned cluster = 0;
  fill_table(*writer, table, filler, [&](long entry) {
    for (const long end : table.cluster_ends) {
      if (std::abs(end) != entry) continue;
      cluster++;
      for (const auto& [name, representations] : kInTurns) {
        auto& field = const_cast<ROOT::RFieldBase&>(writer->GetModel().GetConstField(name));
        ROOT::Internal::RFieldRepresentationModifier::SetPrimaryColumnRepresentation(
            field, std::uint16_t(cluster % representations.size()));
      }
    }
  });
}

// One member of each item.
template <class T, class Item>
std::function<std::vector<T>(const std::vector<Item>&)> each(T Item::*member) {
  return [member](const std::vector<Item>& items) {
    std::vector<T> all;
    for (const Item& item : items) all.push_back(item.*member);
    return all;
  };
}

std::vector<Table> projection_tables() {
  using Jets = std::vector<Jet>;
  using Hits = std::vector<std::vector<std::int32_t>>;
  using Cardinality = ROOT::RNTupleCardinality<std::uint32_t>;
  Table table = table_of(100, {40, -70}, field<Jets>("jets"), field<std::vector<Point>>("points"), field<Jet>("jet"),
                         field<float>("plain"), field<std::string>("text"));
  auto& of = table.fields;
  of.push_back(count_of<std::uint32_t>("n_points32", "points"));
  of.push_back(count_of<std::uint64_t>("n_points64", "points"));
  of.push_back(projection<std::vector<float>, std::vector<Point>>("x", {{"x", "points"}, {"x._0", "points._0.x"}},
                                                                  each(&Point::x)));
  of.push_back(projection<ROOT::RVec<std::int32_t>, std::vector<Point>>(
      "n", {{"n", "points"}, {"n._0", "points._0.n"}}, [](const std::vector<Point>& points) {
        const auto all = each(&Point::n)(points);
        return ROOT::RVec<std::int32_t>(all.begin(), all.end());
      }));
  of.push_back(projection<std::vector<std::string>, Jets>("names", {{"names", "jets"}, {"names._0", "jets._0.name"}},
                                                          each(&Jet::name)));
  of.push_back(projection<Hits, Jets>(
      "hits", {{"hits", "jets"}, {"hits._0", "jets._0.hits"}, {"hits._0._0", "jets._0.hits._0"}}, each(&Jet::hits)));
  of.push_back(projection<std::vector<Point>, Jets>(
      "axes",
      {{"axes", "jets"}, {"axes._0", "jets._0.axis"}, {"axes._0.x", "jets._0.axis.x"}, {"axes._0.n", "jets._0.axis.n"}},
      each(&Jet::axis)));
  of.push_back(projection<std::vector<Cardinality>, Jets>(
      "n_hits", {{"n_hits", "jets"}, {"n_hits._0", "jets._0.hits"}}, [](const Jets& jets) {
        std::vector<Cardinality> all;
        for (const Jet& jet : jets) all.push_back(Cardinality(std::uint32_t(jet.hits.size())));
        return all;
      }));
  of.push_back(projection<float, Jet>("pt", {{"pt", "jet.pt"}}, [](const Jet& jet) { return jet.pt; }));
  of.push_back(projection<Point, Jet>("axis",
                                      {{"axis", "jet.axis"}, {"axis.x", "jet.axis.x"}, {"axis.n", "jet.axis.n"}},
                                      [](const Jet& jet) { return jet.axis; }));
  of.push_back(projection<std::vector<std::int32_t>, Jet>(
      "jet_hits", {{"jet_hits", "jet.hits"}, {"jet_hits._0", "jet.hits._0"}}, [](const Jet& jet) { return jet.hits; }));
  of.push_back(
      projection<float, float>("same_plain", {{"same_plain", "plain"}}, [](const float& value) { return value; }));
  of.push_back(projection<std::string, std::string>("same_text", {{"same_text", "text"}},
                                                    [](const std::string& text) { return text; }));
  return {table};
}

}  // namespace

const Sample late{late_tables, write_late};
const Sample representations{representation_tables, write_representations};
const Sample projections{projection_tables, [](const std::string& file, int compression) {
                           write_file(projection_tables()[0], file, small_pages(compression));
                         }};

}  // namespace changes
