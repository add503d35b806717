// SPDX-License-Identifier: Apache-2.0
#include "view/chain/chain_streams.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "on_behalf.h"
#include "once.h"

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

// A file's part of a column that is read at random is kept if it is no larger: with a thousand files, the next
// read would have to open the file anew. Of one that is read in order, only what is little beside the opening.
constexpr std::uint64_t kKeptPart = 256 << 10, kKeptInOrder = 32 << 10;

// The 0 before the ends of all lists is no file's.
constexpr std::size_t kNoFile = SIZE_MAX;
constexpr std::array<std::byte, kEndSize> kZero{};

// A reply for what is read of these streams, one of the files, which is answered with what `make` makes of it. They do
// not go before it has come.
template <class T, class Make>
Reply<T> of_file(std::shared_ptr<ChainFiles> files, std::size_t file, std::shared_ptr<CachedStreams> streams,
                 Reply<Slices> reply, Make make) {
  auto take = [files = std::move(files), file, streams = std::move(streams), make = std::move(make)](
                  Result<T> read, Reply<Slices> done) {
    if (!read) return done(tl::unexpected<Error>(met_in(*files, file, std::move(read).error())));
    done(make(*std::move(read)));
  };
  return on_behalf_of<T>(std::move(reply), std::move(take));
}

}  // namespace

ChainStreams::ChainStreams(ClusterCache& cache, std::shared_ptr<const ChainTable> table,
                           std::shared_ptr<ChainFiles> files, Files about)
    : ComposedStreams(cache, table),
      table_(std::move(table)),
      files_(std::move(files)),
      about_(std::move(about)),
      counts_(std::make_shared<ChainCounts>(table_, files_)) {}

ChainStreams::~ChainStreams() { cache_.file_parts().forget(this); }

std::int64_t ChainStreams::items_known(CountId id) const {
  const StartsPtr starts = counts_->known(id);
  return starts ? starts->back() : -1;
}

// Each file brings its items; of an offsets column, an end for each of its lists.
std::vector<ChainStreams::Part> ChainStreams::parts_of(const Request& request, const StartsPtr& starts) const {
  const tfile::Column& column = table_->columns[request.column];
  const std::uint64_t item_size = column.item_size(), ahead = column.role == tfile::Role::offsets ? kEndSize : 0;
  const auto begin_of = [&](std::size_t file) {
    return ahead + static_cast<std::uint64_t>((*starts)[file]) * item_size;
  };
  std::vector<Part> parts;
  const std::uint64_t end = std::min(request.end, begin_of(starts->size() - 1));
  if (request.begin >= end) return parts;
  if (request.begin < ahead) parts.push_back({kNoFile, request.begin, std::min(end, ahead) - request.begin, ahead});
  const auto item = static_cast<std::int64_t>((std::max(request.begin, ahead) - ahead) / item_size);
  auto file = static_cast<std::size_t>(std::upper_bound(starts->begin(), starts->end(), item) - starts->begin()) - 1;
  for (; file + 1 < starts->size() && begin_of(file) < end; ++file) {
    const std::uint64_t from = std::max(request.begin, begin_of(file)), until = std::min(end, begin_of(file + 1));
    if (from < until) parts.push_back({file, from - begin_of(file), until - from, begin_of(file + 1) - begin_of(file)});
  }
  return parts;
}

void ChainStreams::read_known(const Request& asked, Reply<Slices> reply) {
  const StartsPtr starts = counts_->known(table_->chained(asked.column).count);
  const PartRequest request{asked, note_reader(asked)};
  if (request.in_order && cache_.looks_ahead()) look_ahead(request, starts);
  std::vector<Part> parts = parts_of(request, starts);
  if (parts.size() == 1) return read_part(request, parts[0], std::move(reply));
  auto read = [self = self(), request](const Part& part, std::byte* to, Reply<void> done) {
    self->read_part(request, part, copied_to(to, std::move(done)));
  };
  put_together(std::move(parts), std::move(read), std::move(reply));
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
void ChainStreams::look_ahead(const PartRequest& request, const StartsPtr& starts) {
  PartRequest next = request;
  next.begin = request.end;
  next.end = request.end + kAhead;
  std::vector<Part> parts = parts_of(next, starts);
  if (!parts.empty() && (parts[0].begin != 0 || parts[0].file == kNoFile))
    parts.erase(parts.begin());  // of the file that is being read
  {
    const Lock lock(mutex_);
    Reader& reader = readers_[request.column];
    std::erase_if(parts, [&](const Part& part) { return part.file < reader.expected; });
    parts.resize(std::min(parts.size(), kFilesAhead));
    if (!parts.empty()) reader.expected = parts.back().file + 1;
  }
  for (const Part& part : parts) read_part(next, part, Reply<Slices>([](const Result<Slices>&) {}));
}

void ChainStreams::read_part(const PartRequest& request, const Part& part, Reply<Slices> reply) {
  if (part.file == kNoFile) return reply(one_slice(std::span(kZero).subspan(part.begin, part.size), nullptr));
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
      return reply(tfile::fail(ErrorKind::damaged, "file " + std::to_string(part.file) + " has no items, expected " +
                                                       std::to_string(part.whole) + " bytes"));
    default:
      return reply(computed_items(source, wanted(request, part), {}));
  }
}

void ChainStreams::read_kept_part(const PartRequest& request, const Part& part, const ItemSource& source,
                                  Reply<Slices> reply) {
  const auto of_part = [part](PiecePtr bytes) {
    const auto piece = std::as_bytes(std::span(*bytes)).subspan(part.begin, part.size);
    return one_slice(piece, std::move(bytes));
  };
  const std::size_t key = request.column * table_->files().size() + part.file;
  PiecePtr known = files_->is_stale(part.file) ? nullptr : cache_.file_parts().find(this, key);
  if (known) return reply(of_part(std::move(known)));
  auto keep = [self = self(), request, part, source, key, of_part](Result<Slices> slices, Reply<Slices> done) {
    if (!slices && is_lasting(slices.error()))  // what is wrong may lie elsewhere
      return self->read_file(request, part, source, std::move(done));
    if (!slices) return done(std::move(slices));
    auto bytes = std::make_shared<std::string>(slices->size(), '\0');
    copy_slices(*slices, std::as_writable_bytes(std::span(*bytes)).data());
    *slices = {};
    self->cache_.file_parts().keep(self.get(), key, bytes);
    done(of_part(std::move(bytes)));
  };
  read_file(request, {part.file, 0, part.whole, part.whole}, source,
            on_behalf_of<Slices>(std::move(reply), std::move(keep)));
}

void ChainStreams::read_file(const PartRequest& request, const Part& part, const ItemSource& source,
                             Reply<Slices> reply) {
  auto read = [self = self(), request, part, source](const std::shared_ptr<CachedStreams>& streams,
                                                     Reply<Slices> done) {
    if (source.kind == Kind::same)
      return read_whole(
          *streams, {source.column.stream, source.column.slot, source.column.item_size, part.begin, part.size},
          request.use, of_file<Slices>(self->files_, part.file, streams, std::move(done), std::identity()));
    auto make = [self, request, part, source](const Inputs& inputs) {
      return computed_items(source, self->wanted(request, part), inputs.bytes());
    };
    read_inputs(streams, self->inputs(request, part, source), request.use, {},
                of_file<Inputs>(self->files_, part.file, streams, std::move(done), std::move(make)));
  };
  files_->streams(part.file, value_for<std::shared_ptr<CachedStreams>>(std::move(reply), std::move(read)));
}

ItemsWanted ChainStreams::wanted(const Request& request, const Part& part) const {
  ItemsWanted wanted{&table_->columns[request.column], part.begin, part.begin + part.size, part.file, {}};
  for (const CountId id : table_->chained(request.column).held)
    wanted.before.push_back((*counts_->known(id))[part.file]);
  return wanted;
}

// The numbers that cover the part, of the columns that it is made of.
std::vector<ColumnRange> ChainStreams::inputs(const Request& request, const Part& part,
                                              const ItemSource& source) const {
  const NumberRange numbers =
      numbers_covering(part.begin, part.begin + part.size, size_of(table_->columns[request.column].dtype));
  const auto of_column = [&](const FileColumn& column, std::uint64_t ahead) {
    const std::size_t size = size_of(column.dtype);
    return ColumnRange{column.stream, column.slot, column.item_size, (numbers.first + ahead) * size,
                       numbers.count * size};
  };
  std::vector<ColumnRange> ranges{of_column(source.column, source.kind == Kind::ends ? 1 : 0)};
  if (source.kind == Kind::index) ranges.push_back(of_column(source.tags, 0));
  return ranges;
}

}  // namespace tfilefs
