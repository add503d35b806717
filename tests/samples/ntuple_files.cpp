// SPDX-License-Identifier: Apache-2.0
// Placement of tables in files: attribute sets, blobs of several keys, clusters of parallel writers, merging,
// directories.
#include <TFile.h>
#include <TFileMerger.h>

#include <ROOT/RNTupleAttrWriting.hxx>
#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <cstdio>
#include <memory>
#include <numeric>

#include "ntuple_samples.h"

namespace files {
namespace {

Table few_kinds(long entries, std::vector<long> cluster_ends) {
  return table_of(entries, std::move(cluster_ends), field<std::int32_t>("int"), field<double>("double"),
                  field<bool>("bool"), field<std::string>("string"), field<std::vector<float>>("vector"),
                  field<std::vector<Jet>>("jets"), field<std::array<std::int16_t, 3>>("array"));
}

// The numbers from `first` on.
Table numbered(Table table, long first) {
  table.order.resize(std::size_t(table.entries));
  std::iota(table.order.begin(), table.order.end(), first);
  return table;
}

// A range of the main table's entries, and its attributes. Sets store ranges in the order of their ends.
struct Range {
  long start, end;
};
const std::vector<Range> kRuns = {{0, 30}, {30, 31}, {31, 100}};
const std::vector<Range> kNotes = {{10, 20}, {5, 50}, {60, 60}, {60, 90}};

Field bound(const std::string& name, const std::vector<Range>& ranges, long (*of)(const Range&)) {
  return field<std::uint64_t>(name,
                              [=](std::uint64_t& value, long n) { value = std::uint64_t(of(ranges[std::size_t(n)])); });
}

Table attribute_set(const std::string& name, const std::vector<Range>& ranges) {
  Table table =
      table_of(long(ranges.size()), {}, bound("_rangeStart", ranges, [](const Range& of) { return of.start; }),
               bound("_rangeLen", ranges, [](const Range& of) { return of.end - of.start; }));
  table.attributes = name;
  return table;
}

std::vector<Table> attribute_tables() {
  Table runs = attribute_set("Runs", kRuns), notes = attribute_set("Notes", kNotes);
  runs.fields.push_back(field<std::int32_t>("_userData.run"));
  runs.fields.push_back(field<std::vector<float>>("_userData.weights"));
  notes.fields.push_back(field<std::string>("_userData.text"));
  return {few_kinds(100, {40, -70}), runs, notes};
}

// The user's part of a set's schema: the field `_userData.run` is `run` for the writer.
std::unique_ptr<ROOT::RNTupleModel> user_model(const Table& set) {
  auto model = ROOT::RNTupleModel::CreateBare();
  for (const Field& field : set.fields) {
    if (!field.name.starts_with("_userData.")) continue;
    model->AddField(ROOT::RFieldBase::Create(field.name.substr(10), field.type).Unwrap());
  }
  return model;
}

template <class Set>
void commit_range(Set& set, const Table& table, long n, ROOT::Experimental::RNTupleAttrPendingRange range) {
  auto entry = set->CreateEntry();
  std::vector<std::shared_ptr<void>> values;
  for (const Field& field : table.fields) {
    if (!field.name.starts_with("_userData.")) continue;
    values.push_back(field.object());
    field.fill(values.back().get(), n);
    entry->template BindRawPtr<void>(field.name.substr(10), values.back().get());
  }
  set->CommitRange(std::move(range), *entry);
}

template <class Set>
void at_entry(Set& set, const Table& table, const std::vector<Range>& ranges, long entry,
              std::map<long, ROOT::Experimental::RNTupleAttrPendingRange>& open) {
  for (std::size_t n = 0; n < ranges.size(); n++) {
    if (ranges[n].start == entry) open[long(n)] = set->BeginRange();
    if (ranges[n].end == entry) commit_range(set, table, long(n), std::move(open[long(n)]));
  }
}

void write_attributes(const std::string& name, int compression) {
  const auto tables = attribute_tables();
  TFile file(name.c_str(), "RECREATE", "", compression);
  {
    auto writer = ROOT::RNTupleWriter::Append(bare_model(tables[0]), tables[0].path, file, small_pages(compression));
    auto runs = writer->CreateAttributeSet(user_model(tables[1]), tables[1].attributes);
    auto notes = writer->CreateAttributeSet(user_model(tables[2]), tables[2].attributes);
    std::map<long, ROOT::Experimental::RNTupleAttrPendingRange> open_runs, open_notes;
    const auto at = [&](long entry) {
      at_entry(runs, tables[1], kRuns, entry, open_runs);
      at_entry(notes, tables[2], kNotes, entry, open_notes);
    };
    Filler filler(tables[0]);
    fill_table(*writer, tables[0], filler, at);
    at(tables[0].entries);
  }
  file.Write();
}

std::vector<Table> soa_tables() {
  Field points = created<PointSoA>("points", [] { return ROOT::RFieldBase::Create("points", "PointSoA").Unwrap(); });
  return {table_of(100, {40, -70}, field<std::int32_t>("int"), points)};
}

// A page, and the header with its many names, are larger than a key may be.
constexpr std::size_t kKeySizeMax = 4 << 10, kLongPage = 16 << 10;

std::vector<Table> small_key_tables() {
  Table table = table_of(4000, {3000});
  table.fields.push_back(field<std::int64_t>("number"));
  table.fields.push_back(field<double>("more", [](double& value, long number) { value = double(number) / 7; }));
  for (int i = 0; i < 60; i++) {
    Field constant =
        field<std::uint8_t>(std::string(150, 'n') + std::to_string(i), [](std::uint8_t& value, long) { value = 7; });
    table.fields.push_back(constant);
  }
  return {table};
}

void write_small_keys(const std::string& file, int compression) {
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(std::uint32_t(compression));
  options.SetMaxUnzippedPageSize(kLongPage);
  options.SetInitialUnzippedPageSize(256);
  ROOT::Internal::RNTupleWriteOptionsManip::SetMaxKeySize(options, kKeySizeMax);
  write_file(small_key_tables()[0], file, options);
}

// Two contexts take turns; each cluster is from one of them.
struct Turn {
  int context;
  long numbers;
};
const std::vector<Turn> kTurns = {{1, 30}, {0, 40}, {0, 1}, {1, 20}, {0, 25}};
constexpr long kSecondContext = 1000;  // its first number

std::vector<Table> parallel_tables() {
  long next[] = {0, kSecondContext};
  Table table = few_kinds(0, {});
  for (const Turn& turn : kTurns)
    for (long i = 0; i < turn.numbers; i++) table.order.push_back(next[turn.context]++);
  table.entries = long(table.order.size());
  return {table};
}

void write_parallel(const std::string& file, int compression) {
  const Table table = parallel_tables()[0];
  auto writer = ROOT::RNTupleParallelWriter::Recreate(bare_model(table), table.path, file, small_pages(compression));
  // Both are open all the time. The second one has its first entries before the first one ends a cluster.
  const std::shared_ptr<ROOT::RNTupleFillContext> contexts[] = {writer->CreateFillContext(),
                                                                writer->CreateFillContext()};
  Filler fillers[] = {Filler(table), Filler(table)};
  auto number = table.order.begin();
  for (const Turn& turn : kTurns) {
    for (long i = 0; i < turn.numbers; i++) fillers[turn.context].fill(*contexts[turn.context], *number++);
    contexts[turn.context]->FlushCluster();
  }
}

// Three files: the first and third have `first`; the second has `second`, with other encodings.
constexpr long kSecondPart = 50, kThirdPart = 90, kAllParts = 130;

bool in_second_part(long number) { return kSecondPart <= number && number < kThirdPart; }

Table common_fields(long entries) {
  return table_of(entries, {20}, field<std::int32_t>("int"), field<std::string>("string"),
                  field<std::vector<Jet>>("jets"));
}

void add_first(Table& table) {
  for (Field made : {field<float>("first"), field<std::vector<std::string>>("first_strings")}) {
    made.stored = [](long number) { return !in_second_part(number); };
    table.fields.push_back(made);
  }
}

void add_second(Table& table) {
  for (Field made : {field<double>("second"), field<std::vector<Point>>("second_points"),
                     field<std::string>("second_text"), field<std::array<float, 2>>("second_array")}) {
    made.stored = in_second_part;
    table.fields.push_back(made);
  }
}

void merge(const std::string& file, const std::vector<Table>& parts, const char* mode, int compression) {
  const int codecs[] = {compression, 0, 404};
  TFileMerger merger(false, false);
  merger.OutputFile(file.c_str(), "RECREATE", compression);
  merger.SetMergeOptions(TString(mode));
  for (std::size_t i = 0; i < parts.size(); i++) {
    const std::string part = file + "." + std::to_string(i);
    write_file(parts[i], part, small_pages(codecs[i]));
    merger.AddFile(part.c_str());
  }
  if (!merger.Merge()) throw std::runtime_error("files are not merged");
  for (std::size_t i = 0; i < parts.size(); i++) std::remove((file + "." + std::to_string(i)).c_str());
}

std::vector<Table> merged_tables() {
  Table table = common_fields(kAllParts);
  add_first(table), add_second(table);
  return {table};
}

void write_merged(const std::string& file, int compression) {
  Table first = common_fields(kSecondPart), second = common_fields(kThirdPart - kSecondPart),
        third = common_fields(kAllParts - kThirdPart);
  add_first(first), add_second(second), add_first(third);
  merge(file, {first, numbered(second, kSecondPart), numbered(third, kThirdPart)}, "rntuple.MergingMode=Union",
        compression);
}

// Like hadd without options: fields that the first file does not have are dropped.
void write_filtered(const std::string& file, int compression) {
  Table second = common_fields(kThirdPart - kSecondPart);
  add_second(second);
  merge(file, {common_fields(kSecondPart), numbered(second, kSecondPart)}, "", compression);
}

std::vector<Table> directory_tables() {
  std::vector<Table> tables;
  long first = 0;
  for (const char* path : {"nt;1", "nt;2", "other", "a/nt", "a/b/deep"}) {
    tables.push_back(numbered(few_kinds(50, {20}), first));
    tables.back().path = path;
    first += 1000;
  }
  return tables;
}

void write_directories(const std::string& name, int compression) {
  TFile file(name.c_str(), "RECREATE", "", compression);
  for (const Table& table : directory_tables()) {
    const auto slash = table.path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : table.path.substr(0, slash);
    TDirectory& directory = folder.empty() ? file : *file.mkdir(folder.c_str(), "", true);
    write_into(directory, table, small_pages(compression));
  }
  file.Write();
}

std::vector<Table> unchecked_tables() { return {few_kinds(100, {40, -70})}; }

void write_unchecked(const std::string& file, int compression) {
  auto options = small_pages(compression);
  options.SetEnablePageChecksums(false);
  write_file(unchecked_tables()[0], file, options);
}

// No entries; an extension after the last entry; one before the first; no fields.
std::vector<Table> empty_tables() {
  Table none = few_kinds(0, {}), extended = few_kinds(20, {}), only_extension = table_of(20, {}),
        fieldless = table_of(20, {});
  none.path = "none", extended.path = "extended", only_extension.path = "only_extension", fieldless.path = "fieldless";
  extended.fields.push_back(field<std::vector<Jet>>("after"));
  extended.fields.push_back(field<std::int32_t>("after_int"));
  for (std::size_t i = extended.fields.size() - 2; i < extended.fields.size(); i++) {
    extended.fields[i].added = extended.entries;
    extended.fields[i].stored = [](long) { return false; };
  }
  only_extension.fields = few_kinds(0, {}).fields;
  return {none, extended, only_extension, fieldless};
}

void extend(ROOT::RNTupleWriter& writer, const std::vector<Field>& fields) {
  auto updater = writer.CreateModelUpdater();
  updater->BeginUpdate();
  for (const Field& field : fields) updater->AddField(field.create());
  updater->CommitUpdate();
}

void write_empty(const std::string& name, int compression) {
  TFile file(name.c_str(), "RECREATE", "", compression);
  for (const Table& table : empty_tables()) {
    const bool nothing_yet = table.path == "only_extension";
    auto model = nothing_yet ? ROOT::RNTupleModel::CreateBare() : bare_model(table);
    auto writer = ROOT::RNTupleWriter::Append(std::move(model), table.path, file, small_pages(compression));
    if (nothing_yet) extend(*writer, table.fields);
    Filler filler(table);
    fill_table(*writer, table, filler);
    std::vector<Field> after;
    for (const Field& field : table.fields)
      if (field.added > 0) after.push_back(field);
    if (!after.empty()) extend(*writer, after);
  }
  file.Write();
}

}  // namespace

const Sample attributes{attribute_tables, write_attributes};
const Sample soa{soa_tables, [](const std::string& file, int compression) {
                   write_file(soa_tables()[0], file, small_pages(compression));
                 }};
const Sample small_keys{small_key_tables, write_small_keys};
const Sample parallel{parallel_tables, write_parallel};
const Sample merged{merged_tables, write_merged};
const Sample filtered{[] { return std::vector<Table>{common_fields(kThirdPart)}; }, write_filtered};
const Sample directories{directory_tables, write_directories};
const Sample no_checksums{unchecked_tables, write_unchecked};
const Sample empty{empty_tables, write_empty};

}  // namespace files
