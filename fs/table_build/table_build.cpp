// SPDX-License-Identifier: Apache-2.0
#include "table_build/table_build.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "exec/ordered_jobs.h"

namespace tfilefs {

using tfile::EntryRange;
using tfile::Part;

namespace {

constexpr std::int64_t kSampleEntriesMin = 16;  // from which the size of the sample is computed

using ReaderPtr = std::shared_ptr<const ReadItems>;

// Parts of a field, or why entries of it cannot be encoded.
struct EncodedParts {
  std::size_t field = 0;
  std::uint64_t bytes = 0;  // of columns
  std::vector<Part> parts;
  EntryRange entries;
  std::optional<Error> refused;
};

// Encodes parts, and gives them to `take` in the order in which they were started.
class PartJobs {
 public:
  PartJobs(TableBuild& build, std::function<Result<>(EncodedParts&)> take) : build_(build), take_(std::move(take)) {}

  // `parts`: of each its entries; one if the calling thread reads.
  Result<> start(std::size_t field, ReaderPtr read, std::vector<EntryRange> parts) {
    std::uint64_t size = 1;
    if (!build_.source.by_field) {
      TRY(FieldItems items, (*read)(parts.front()));
      size += items.bytes;
      const auto held = std::make_shared<FieldItems>(std::move(items));
      read = std::make_shared<const ReadItems>([held](EntryRange) -> Result<FieldItems> { return std::move(*held); });
    }
    auto encode_all = [this, field, read = std::move(read), parts = std::move(parts)]() -> Result<EncodedParts> {
      EncodedParts made;
      made.field = field;
      for (auto part = parts.begin(); part != parts.end() && !made.refused; ++part) {
        TRY(const FieldItems items, (*read)(*part));
        TRY_VOID(encode(items, made));
      }
      return made;
    };
    jobs_.start(build_.sink.coders, Urgency::ahead, std::move(encode_all), size);
    return jobs_.take_down_to(build_.source.under_way_max);
  }
  Result<> take_all() { return jobs_.take_down_to(0); }

 private:
  Result<> encode(const FieldItems& items, EncodedParts& into) const {
    auto part = encode_items(build_.writer, into.field, items);
    into.bytes += items.bytes;
    if (part) {
      into.parts.push_back(*std::move(part));
      return {};
    }
    if (!build_.source.refuse || !is_about_entries(part.error())) return tl::unexpected(std::move(part).error());
    into.entries = items.entries;
    into.refused = std::move(part).error();
    return {};
  }

  Result<> take(Result<EncodedParts> result) {
    TRY(EncodedParts encoded, std::move(result));
    if (!encoded.refused) return take_(encoded);
    build_.is_refused = true;
    build_.source.refuse(encoded.field, encoded.entries, *encoded.refused);
    return {};
  }

  TableBuild& build_;
  const std::function<Result<>(EncodedParts&)> take_;
  OrderedJobs<EncodedParts> jobs_{[this](Result<EncodedParts> result) { return take(std::move(result)); }};
};

// Reads so many of these entries that their columns have about the bytes of a sample.
Result<FieldItems> read_sample(const PartSource& source, std::size_t field, EntryRange entries) {
  const EntryRange first{entries.begin, std::min(entries.end, entries.begin + kSampleEntriesMin)};
  TRY(FieldItems items, source.open(field, entries.begin)(first));
  const auto bytes = static_cast<double>(std::max<std::uint64_t>(1, items.bytes));
  const auto wanted = static_cast<std::int64_t>(static_cast<double>(first.size()) * source.sample_bytes / bytes);
  const EntryRange sample{entries.begin, std::min(entries.end, entries.begin + wanted)};
  return sample.size() > first.size() ? source.open(field, entries.begin)(sample) : std::move(items);
}

// Entries of a field that become one part.
struct PartOfField {
  std::size_t field = 0;
  EntryRange entries;
};

std::vector<PartOfField> parts_of(const TableBuild& build, EntryRange cluster) {
  std::vector<PartOfField> parts;
  for (std::size_t i = 0; i < build.fields.size(); ++i) {
    if (build.fields[i].dropped) continue;
    const std::int64_t step = std::max<std::int64_t>(1, build.fields[i].part_entries);
    for (std::int64_t at = std::max(cluster.begin, build.fields[i].entries); at < cluster.end; at += step)
      parts.push_back({i, {at, std::min(at + step, cluster.end)}});
  }
  if (!build.source.by_field)
    std::ranges::stable_sort(parts, {}, [](const PartOfField& part) { return part.entries.begin; });
  return parts;
}

Result<> write_part(TableBuild& build, std::size_t field, Part& part) {
  if (build.is_refused) return {};
  build.writer.leave_out_stored(part);
  const std::uint64_t size = part.stored.size();
  const std::uint64_t address = size > 0 ? build.sink.places.place(size) : 0;
  build.writer.add_part(field, part, address);
  build.stored += size;
  return size > 0 ? build.sink.file->write(address, std::move(part.stored)) : Result<>();
}

Result<> write_cluster(TableBuild& build, EntryRange cluster) {
  PartJobs jobs(build, [&](EncodedParts& encoded) -> Result<> {
    for (Part& part : encoded.parts) TRY_VOID(write_part(build, encoded.field, part));
    if (build.sink.encoded) build.sink.encoded(encoded.bytes);
    return {};
  });
  const std::vector<PartOfField> parts = parts_of(build, cluster);
  std::vector<ReaderPtr> open(build.fields.size());
  for (auto part = parts.begin(); part != parts.end();) {
    const std::size_t field = part->field;
    if (!open[field]) open[field] = std::make_shared<const ReadItems>(build.source.open(field, cluster.begin));
    std::vector<EntryRange> together;
    do {
      together.push_back(part->entries);
    } while (++part != parts.end() && part->field == field && build.source.by_field);
    TRY_VOID(jobs.start(field, open[field], std::move(together)));
  }
  TRY_VOID(jobs.take_all());
  for (BuiltField& field : build.fields) field.entries = std::max(field.entries, cluster.end);
  return {};
}

}  // namespace

Result<std::int64_t> size_clusters(TableBuild& build, EntryRange entries) {
  PartJobs samples(build, [&](EncodedParts& sample) -> Result<> {
    const Part& part = sample.parts.front();
    build.stored_each += static_cast<double>(part.stored.size()) / static_cast<double>(part.entries);
    build.writer.add_sample(sample.field, part);
    build.fields[sample.field].sampled = true;
    return {};
  });
  for (std::size_t i = 0; i < build.fields.size(); ++i) {
    const BuiltField& field = build.fields[i];
    if (field.dropped || field.sampled || field.entries >= entries.end) continue;
    const auto read = [&build, i](EntryRange left) { return read_sample(build.source, i, left); };
    TRY_VOID(samples.start(i, std::make_shared<const ReadItems>(read),
                           {EntryRange{std::max(entries.begin, field.entries), entries.end}}));
  }
  TRY_VOID(samples.take_all());
  const std::uint64_t usual = tfile::usual_cluster_bytes(build.writer.format());
  const tfile::ClusterSizes sizes = build.writer.cluster_sizes(build.sink.cluster_bytes.value_or(usual));
  for (std::size_t i = 0; i < build.fields.size(); ++i) build.fields[i].part_entries = sizes.part_entries[i];
  return sizes.entries;
}

Result<std::int64_t> write_clusters(TableBuild& build, EntryRange entries, std::int64_t cluster_entries,
                                    const std::function<std::int64_t(std::int64_t)>& end_of) {
  std::int64_t at = entries.begin;
  while (at < entries.end) {
    const std::int64_t end = end_of(at);
    if (end == at) break;
    TRY_VOID(write_cluster(build, {at, end}));
    build.writer.end_cluster(end, cluster_entries);
    at = end;
  }
  return at;
}

Result<Part> encode_items(const tfile::TableWriter& writer, std::size_t field, const FieldItems& items) {
  if (items.refused) return tl::unexpected(*items.refused);
  return writer.encode(field, {items.entries, items.columns, items.cluster_begin, items.cluster_items});
}

bool is_about_entries(const Error& error) {
  return error.kind == ErrorKind::invalid || error.kind == ErrorKind::unsupported;
}

}  // namespace tfilefs
