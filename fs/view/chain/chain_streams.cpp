// SPDX-License-Identifier: Apache-2.0
#include "view/chain/chain_streams.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "exec/when_all.h"
#include "on_behalf.h"
#include "once.h"
#include "tfile/buffer.h"
#include "view/chain/computed_items.h"

namespace tfilefs {
namespace {

using Kind = ItemSource::Kind;

constexpr std::uint64_t kEndSize = sizeof(std::int64_t);

// So many bytes of a column ahead of its reader, files are opened: twice what a request carries at most. Requests of
// one reader may come so far out of order.
constexpr std::uint64_t kAhead = 2 << 20, kOutOfOrder = 1 << 20;
// The kernel, which reads ahead for readers that go on, asks for as much; at random it asks for pages.
constexpr std::uint64_t kReadAheadMin = 64 << 10;
constexpr std::size_t kFilesAhead = 32;  // more would not be opened at the same time

// Of a column that is read at random, what a file brings is kept if it is no larger: with a thousand files, the next
// read would have to open the file anew. Of one that is read in order, only what is little beside the opening.
constexpr std::uint64_t kKeptPart = 256 << 10, kKeptInOrder = 32 << 10;

// The columns of one of the files.
struct FileStreams {
  std::shared_ptr<ChainFiles> files;
  std::size_t file = 0;
  std::shared_ptr<CachedStreams> streams;
};

// Exactly those bytes, of streams that do not go before they have come.
void read_kept(const FileStreams& from, const ColumnRange& range, ReadUse use, Reply<Slices> reply) {
  const std::stop_token stop = reply.stop_token();
  auto told = [from, reply = std::move(reply)](Result<Slices> slices) mutable {
    if (!slices) return reply(tl::unexpected<Error>(met_in(*from.files, from.file, std::move(slices).error())));
    reply(std::move(slices));
  };
  read_whole(*from.streams, range, use, Reply<Slices>(std::move(told), stop));
}

tfile::Buffer in_one_piece(const Slices& slices) {
  tfile::Buffer buffer(slices.size(), tfile::Use::passing);
  copy_slices(slices, buffer.data());
  return buffer;
}

}  // namespace

ChainStreams::ChainStreams(ClusterCache& cache, std::shared_ptr<const ChainTable> table,
                           std::shared_ptr<ChainFiles> files, Files about)
    : cache_(cache),
      table_(std::move(table)),
      files_(std::move(files)),
      about_(std::move(about)),
      counts_(std::make_shared<ChainCounts>(table_, files_)) {}

ChainStreams::~ChainStreams() { cache_.file_parts().forget(this); }

void ChainStreams::run_view_job(std::function<void()> job) {
  cache_.exec().view_workers.run(std::move(job), Urgency::awaited);
}

std::optional<std::int64_t> ChainStreams::known_length(tfile::StreamId id, std::uint32_t) const {
  const StartsPtr starts = counts_->known(table_->chained(id).count);
  if (!starts) return std::nullopt;
  return starts->back() + (table_->columns[id].role == tfile::Role::offsets ? 1 : 0);
}

void ChainStreams::length(tfile::StreamId id, std::uint32_t slot, Reply<std::int64_t> reply) {
  const std::stop_token stop = reply.stop_token();
  auto told = [self = shared_from_this(), id, slot, reply = std::move(reply)](Result<StartsPtr> starts) mutable {
    if (!starts) return reply(tl::unexpected<Error>(starts.error()));
    reply(*self->known_length(id, slot));
  };
  counts_->want(table_->chained(id).count, Reply<StartsPtr>(std::move(told), stop));
}

// That the length is cheap for all files is known only when they are asked.
void ChainStreams::cheap_length(tfile::StreamId id, std::uint32_t slot, Reply<std::optional<std::int64_t>> reply) {
  reply(known_length(id, slot));
}

void ChainStreams::with_counts(std::vector<CountId> ids, Reply<void> reply) {
  want_counts(
      std::move(ids), [counts = counts_](CountId id) { return counts->known(id) != nullptr; },
      [counts = counts_](CountId id, Reply<StartsPtr> starts) { counts->want(id, std::move(starts)); },
      std::move(reply));
}

void ChainStreams::read(tfile::StreamId id, std::uint32_t, std::size_t item_size, std::uint64_t offset,
                        std::size_t size, ReadUse use, Reply<Slices> reply) {
  if (id >= table_->columns.size() || item_size == 0) return reply(tfile::fail(ErrorKind::invalid, "no such column"));
  const ChainColumn& chained = table_->chained(id);
  std::vector<CountId> needed = chained.held;
  needed.push_back(chained.count);
  const Request request{id, offset, offset + size, use};
  const std::stop_token stop = reply.stop_token();
  auto go_on = [self = shared_from_this(), request, reply = std::move(reply)](Result<void> known) mutable {
    if (!known) return reply(tl::unexpected<Error>(known.error()));
    self->read_known(request, std::move(reply));
  };
  with_counts(std::move(needed), Reply<void>(std::move(go_on), stop));
}

// Each file brings its items; of an offsets column, an end for each of its lists. The 0 before the first is its own
// part.
std::vector<ChainStreams::Part> ChainStreams::parts_of(const Request& request, const StartsPtr& starts) const {
  const tfile::Column& column = table_->columns[request.column];
  const std::uint64_t item_size = column.item_size(), ahead = column.role == tfile::Role::offsets ? kEndSize : 0;
  const auto begin_of = [&](std::size_t file) {
    return ahead + static_cast<std::uint64_t>((*starts)[file]) * item_size;
  };
  std::vector<Part> parts;
  const std::uint64_t end = std::min(request.end, begin_of(starts->size() - 1));
  if (request.begin >= end) return parts;
  const auto item = static_cast<std::int64_t>((std::max(request.begin, ahead) - ahead) / item_size);
  auto file = static_cast<std::size_t>(std::upper_bound(starts->begin(), starts->end(), item) - starts->begin()) - 1;
  for (; file + 1 < starts->size() && begin_of(file) < end; ++file) {
    const std::uint64_t from = std::max(request.begin, begin_of(file)), until = std::min(end, begin_of(file + 1));
    if (from < until)
      parts.push_back({file, from - begin_of(file), until - begin_of(file), begin_of(file + 1) - begin_of(file)});
  }
  return parts;
}

void ChainStreams::read_known(const Request& asked, Reply<Slices> reply) {
  Request request = asked;
  const StartsPtr starts = counts_->known(table_->chained(request.column).count);
  request.in_order = note_reader(request);
  if (request.in_order && cache_.looks_ahead()) look_ahead(request, starts);
  std::vector<Part> parts = parts_of(request, starts);
  const bool has_zero = table_->columns[request.column].role == tfile::Role::offsets && request.begin < kEndSize &&
                        request.begin < request.end;
  if (parts.size() == 1 && !has_zero) return read_part(request, parts[0], std::move(reply));
  const std::uint64_t zeros = has_zero ? std::min(request.end, kEndSize) - request.begin : 0;
  std::uint64_t size = zeros;
  for (const Part& part : parts) size += part.end - part.begin;
  auto buffer = std::make_shared<tfile::Buffer>(size);
  std::memset(buffer->data(), 0, zeros);
  const std::size_t count = parts.size();
  // Put together in a buffer: no part holds chunks in memory while another waits for some.
  auto read = [self = shared_from_this(), request, parts = std::move(parts), to = buffer->data() + zeros](
                  std::size_t i, const Slices&, Reply<void> told) mutable {
    auto copy = [into = to](const Slices& slices) { copy_slices(slices, into); };
    to += parts[i].end - parts[i].begin;
    self->read_part(request, parts[i], answer_with<Slices>(std::move(told), std::move(copy)));
  };
  when_all(count, count, one_slice(std::move(buffer)), std::move(read), std::move(reply));
}

// Whether the request goes on where one before it ended.
bool ChainStreams::note_reader(const Request& request) {
  const Lock lock(mutex_);
  Reader& reader = readers_[request.column];
  const std::uint64_t distance = request.begin > reader.end ? request.begin - reader.end : reader.end - request.begin;
  const bool is_large = request.end - request.begin >= kReadAheadMin;
  const bool goes_on = request.begin == reader.end || (distance <= kOutOfOrder && is_large);
  reader.end = request.end;
  if (!goes_on) reader.expected = 0;
  return goes_on;
}

// The files that a reader comes to next are opened before it is there, and its column in them is loaded.
void ChainStreams::look_ahead(const Request& request, const StartsPtr& starts) {
  Request next = request;
  next.begin = request.end;
  next.end = request.end + kAhead;
  std::vector<Part> parts = parts_of(next, starts);
  if (!parts.empty() && parts[0].begin != 0) parts.erase(parts.begin());  // of the file that is being read
  {
    const Lock lock(mutex_);
    Reader& reader = readers_[request.column];
    std::erase_if(parts, [&](const Part& part) { return part.file < reader.expected; });
    parts.resize(std::min(parts.size(), kFilesAhead));
    if (!parts.empty()) reader.expected = parts.back().file + 1;
  }
  for (const Part& part : parts) read_part(next, part, Reply<Slices>([](const Result<Slices>&) {}));
}

void ChainStreams::read_part(const Request& request, const Part& part, Reply<Slices> reply) {
  const ItemSource source = table_->item_source(request.column, part.file);
  switch (source.kind) {
    case Kind::same:
    case Kind::widened:
    case Kind::ends:
    case Kind::index:
      if (part.whole > (request.in_order ? kKeptInOrder : kKeptPart))
        return read_file(request, part, source, std::move(reply));
      return read_kept_part(request, part, source, std::move(reply));
    case Kind::nothing:
      return reply(tfile::fail(ErrorKind::damaged, "file " + std::to_string(part.file) + " does not have these items"));
    default:
      return reply(made_items(source, wanted(request, part), {}, {}));
  }
}

void ChainStreams::read_kept_part(const Request& request, const Part& part, const ItemSource& source,
                                  Reply<Slices> reply) {
  const auto of_part = [part](PiecePtr bytes) {
    const auto piece = std::as_bytes(std::span(*bytes)).subspan(part.begin, part.end - part.begin);
    return one_slice(piece, std::move(bytes));
  };
  const std::size_t key = request.column * table_->files().size() + part.file;
  PiecePtr known = files_->is_stale(part.file) ? nullptr : cache_.file_parts().find(this, key);
  if (known) return reply(of_part(std::move(known)));
  Part all = part;
  all.begin = 0;
  all.end = part.whole;
  const std::stop_token stop = reply.stop_token();
  auto keep = [self = shared_from_this(), request, part, source, key, of_part,
               reply = std::move(reply)](Result<Slices> slices) mutable {
    if (!slices && is_lasting(slices.error()))  // what is wrong may lie elsewhere
      return self->read_file(request, part, source, std::move(reply));
    if (!slices) return reply(tl::unexpected<Error>(slices.error()));
    auto bytes = std::make_shared<std::string>(slices->size(), '\0');
    copy_slices(*slices, std::as_writable_bytes(std::span(*bytes)).data());
    *slices = {};
    self->cache_.file_parts().keep(self.get(), key, bytes);
    reply(of_part(std::move(bytes)));
  };
  read_file(request, all, source, Reply<Slices>(std::move(keep), stop));
}

void ChainStreams::read_file(const Request& request, const Part& part, const ItemSource& source, Reply<Slices> reply) {
  const std::stop_token stop = reply.stop_token();
  auto opened = [self = shared_from_this(), request, part, source,
                 reply = std::move(reply)](Result<StreamsPtr> streams) mutable {
    if (!streams) return reply(tl::unexpected<Error>(streams.error()));
    if (source.kind == Kind::same)
      return read_kept(
          {self->files_, part.file, *streams},
          {source.column.stream, source.column.slot, source.column.item_size, part.begin, part.end - part.begin},
          request.use, std::move(reply));
    self->read_inputs(request, part, source, *streams, std::move(reply));
  };
  files_->streams(part.file, Reply<StreamsPtr>(std::move(opened), stop));
}

ItemsWanted ChainStreams::wanted(const Request& request, const Part& part) const {
  ItemsWanted wanted{&table_->columns[request.column], part.begin, part.end, part.file, {}};
  for (const CountId id : table_->chained(request.column).held)
    wanted.before.push_back((*counts_->known(id))[part.file]);
  return wanted;
}

// The numbers of a column that cover the part; the first `ahead` of the column are not counted.
ColumnRange ChainStreams::input(const Request& request, const Part& part, const FileColumn& column,
                                std::uint64_t ahead) const {
  const std::size_t size = size_of(column.dtype);
  const NumberRange numbers = numbers_covering(part.begin, part.end, size_of(table_->columns[request.column].dtype));
  return {column.stream, column.slot, column.item_size, (numbers.first + ahead) * size, numbers.count * size};
}

void ChainStreams::read_inputs(const Request& request, const Part& part, const ItemSource& source,
                               const StreamsPtr& streams, Reply<Slices> reply) {
  const std::stop_token stop = reply.stop_token();
  const ColumnRange first = input(request, part, source.column, source.kind == Kind::ends ? 1 : 0);
  auto make = [self = shared_from_this(), request, part, source, streams,
               reply = std::move(reply)](Result<Slices> numbers) mutable {
    if (!numbers) return reply(tl::unexpected<Error>(numbers.error()));
    const auto bytes = std::make_shared<const tfile::Buffer>(in_one_piece(*numbers));
    *numbers = {};
    if (source.kind != Kind::index) return reply(made_items(source, self->wanted(request, part), bytes->span(), {}));
    const std::stop_token waits = reply.stop_token();
    auto with_tags = [self, request, part, source, bytes, reply = std::move(reply)](Result<Slices> tags) mutable {
      if (!tags) return reply(tl::unexpected<Error>(tags.error()));
      const tfile::Buffer second = in_one_piece(*tags);
      reply(made_items(source, self->wanted(request, part), bytes->span(), second.span()));
    };
    read_kept({self->files_, part.file, streams}, self->input(request, part, source.tags, 0), request.use,
              Reply<Slices>(std::move(with_tags), waits));
  };
  read_kept({files_, part.file, streams}, first, request.use, Reply<Slices>(std::move(make), stop));
}

}  // namespace tfilefs
