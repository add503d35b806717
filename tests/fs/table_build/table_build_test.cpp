// SPDX-License-Identifier: Apache-2.0
#include "table_build/table_build.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "descriptor.h"

namespace tfilefs {
namespace {

using tfile::EntryRange;
using tfile::Part;

constexpr std::int64_t kPartEntries = 4;

// Entries that it refuses: those of a field.
struct Refused {
  std::size_t field = SIZE_MAX;
  std::int64_t entry = 0;
};

// Writes down what is added.
class Recorder final : public tfile::TableWriter {
 public:
  explicit Recorder(std::size_t fields, Refused refused = {}) : fields_(fields), refused_(refused) {}
  tfile::TableFormat format() const override { return tfile::TableFormat::rntuple; }
  std::int64_t committed_entries() const override { return 0; }
  const tfile::CommittedForm& committed_form() const override { return form_; }
  Result<> add_fields(std::span<const tfile::InputColumn>, const tfile::WriteSchema&) override { return {}; }
  Result<> drop_field(std::string_view) override { return {}; }
  Result<Part> encode(std::size_t field, const tfile::OfferedPart& offered) const override {
    if (field == refused_.field && offered.entries.begin <= refused_.entry && refused_.entry < offered.entries.end)
      return tfile::fail(ErrorKind::invalid, "refused");
    Part part;
    part.entries = offered.entries.size();
    part.stored = tfile::Buffer(offered.columns[0].size(), tfile::Use::passing);
    std::ranges::copy(offered.columns[0], part.stored.data());
    return part;
  }
  void add_sample(std::size_t field, const Part& part) override { samples.emplace_back(field, part.entries); }
  tfile::ClusterSizes cluster_sizes(std::uint64_t) const override {
    std::vector<std::int64_t> parts(fields_, kPartEntries);
    parts[0] *= 2;
    return {10, std::move(parts)};
  }
  std::optional<std::int64_t> end_of_cluster(std::int64_t) const override { return std::nullopt; }
  void leave_out_stored(Part&) override {}
  void add_part(std::size_t field, Part& part, std::uint64_t) override {
    std::int32_t first = 0;
    std::memcpy(&first, part.stored.data(), sizeof first);
    added.push_back(std::to_string(field) + ":" + std::to_string(first) + "+" + std::to_string(part.entries));
  }
  void end_cluster(std::int64_t entries, std::int64_t) override { added.push_back("|" + std::to_string(entries)); }

  std::vector<std::pair<std::size_t, std::int64_t>> samples;
  std::vector<std::string> added;

 private:
  const std::size_t fields_;
  const Refused refused_;
  const tfile::CommittedForm form_;
};

// Each entry is its number.
Result<FieldItems> numbers(EntryRange entries) {
  FieldItems made;
  made.entries = entries;
  made.memory.emplace_back(static_cast<std::size_t>(entries.size()) * sizeof(std::int32_t), tfile::Use::passing);
  for (std::int64_t i = 0; i < entries.size(); ++i) {
    const auto number = static_cast<std::int32_t>(entries.begin + i);
    std::memcpy(made.memory[0].data() + i * static_cast<std::int64_t>(sizeof number), &number, sizeof number);
  }
  made.columns.push_back(made.memory[0].span());
  made.bytes = made.memory[0].size();
  return made;
}

struct Building {
  Building(std::size_t count, bool by_field, Refused which = {}) : writer(count, which), fields(count) {
    build.source.open = [](std::size_t, std::int64_t) -> ReadItems { return numbers; };
    build.source.sample_bytes = 100;
    build.source.by_field = by_field;
    build.source.under_way_max = 3;
  }
  // Clusters of ten entries.
  Result<std::int64_t> write(EntryRange entries) {
    TRY_VOID(size_clusters(build, entries));
    return write_clusters(build, entries, 10, [&](std::int64_t at) { return std::min(at + 10, entries.end); });
  }

  Recorder writer;
  std::vector<BuiltField> fields;
  Descriptor memory{::memfd_create("written", MFD_CLOEXEC)};
  FileWrites file{memory.get()};
  ThreadPool pool{3};
  std::unique_ptr<tfile::FileWriter> places = *tfile::FileWriter::create("written.root", {});
  PartSink sink{*places, &file, pool, std::nullopt, nullptr};
  TableBuild build{writer, fields, sink, {}};
};

using Lines = std::vector<std::string>;

TEST(TableBuild, PutsPartsInTheOrderOfTheirEntries) {
  Building building(2, false);
  ASSERT_EQ(*building.write({0, 14}), 14);
  EXPECT_EQ(building.writer.added,
            (Lines{"0:0+8", "1:0+4", "1:4+4", "0:8+2", "1:8+2", "|10", "0:10+4", "1:10+4", "|14"}));
}

TEST(TableBuild, PutsAllPartsOfAFieldTogetherIfItIsReadByItself) {
  Building building(2, true);
  ASSERT_EQ(*building.write({0, 14}), 14);
  EXPECT_EQ(building.writer.added,
            (Lines{"0:0+8", "0:8+2", "1:0+4", "1:4+4", "1:8+2", "|10", "0:10+4", "1:10+4", "|14"}));
  EXPECT_EQ(building.build.stored, 2 * 14 * sizeof(std::int32_t));
}

TEST(TableBuild, LooksAtSamplesOfFieldsThatHaveNone) {
  Building building(3, false);
  building.fields[1].sampled = building.fields[2].dropped = true;
  EXPECT_EQ(*size_clusters(building.build, {0, 1000}), 10);
  ASSERT_EQ(building.writer.samples.size(), 1U);
  EXPECT_EQ(building.writer.samples[0], (std::pair<std::size_t, std::int64_t>(0, 25))) << "of 100 bytes";
  EXPECT_EQ(building.build.stored_each, sizeof(std::int32_t));
}

TEST(TableBuild, WritesOfAFieldWhatItHasNotYet) {
  Building building(2, false);
  building.fields[0].entries = 6;
  building.fields[0].sampled = building.fields[1].dropped = true;
  ASSERT_EQ(*building.write({0, 10}), 10);
  EXPECT_EQ(building.writer.added, (Lines{"0:6+4", "|10"}));
}

TEST(TableBuild, EndsWhereNoClusterEndsAnyMore) {
  Building building(1, false);
  EXPECT_EQ(*size_clusters(building.build, {0, 25}), 10);
  const auto whole = [](std::int64_t at) { return at + 10 <= 25 ? at + 10 : at; };
  EXPECT_EQ(*write_clusters(building.build, {0, 25}, 10, whole), 20);
  EXPECT_EQ(building.fields[0].entries, 20);
}

TEST(TableBuild, FailsWithEntriesThatCannotBeEncodedUnlessItIsAsked) {
  EXPECT_FALSE(Building(2, false, {1, 5}).write({0, 14}));
}

TEST(TableBuild, AddsNothingOnceEntriesAreRefused) {
  Building building(3, true, {1, 27});  // behind the sample
  Lines refused;
  building.build.source.refuse = [&](std::size_t field, EntryRange entries, const Error& error) {
    refused.push_back(std::to_string(field) + ":" + std::to_string(entries.begin) + " " + error.text);
    building.fields[0].dropped = building.fields[1].dropped = true;
  };
  ASSERT_TRUE(building.write({0, 40}));
  EXPECT_EQ(refused, Lines{"1:24 refused"});
  EXPECT_EQ(building.writer.added.back(), "|40");
  EXPECT_EQ(std::ranges::count(building.writer.added, "2:20+4"), 0);
  EXPECT_EQ(std::ranges::count(building.writer.added, "0:20+8"), 1) << "which was taken before";
}

}  // namespace
}  // namespace tfilefs
