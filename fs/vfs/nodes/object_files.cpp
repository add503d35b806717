// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/object_files.h"

#include <algorithm>
#include <utility>

#include "exec/answering.h"
#include "exec/in_place.h"
#include "on_behalf.h"
#include "query/pictures.h"
#include "tfile/pieced_text.h"
#include "tfile/plot.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "view/csv.h"
#include "view/made_text.h"
#include "view/pieced_content.h"
#include "view/plain_text.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::DirectoryListing;
using tfile::Object;
using Payload = std::span<const std::byte>;
using ObjectFilesPtr = std::shared_ptr<const ObjectFiles>;

bool is_plot(ViewKind shown_as) { return shown_as >= ViewKind::plot && shown_as <= ViewKind::plot_log_xyz; }

TextOfPayload maker(std::shared_ptr<const Object> object, std::size_t part, ViewKind shown_as) {
  if (is_plot(shown_as)) {
    return [object = std::move(object), part, shown_as](Payload payload,
                                                        const std::stop_token& stop) -> Result<std::string> {
      tfile::Effort effort(stop);
      TRY(tfile::Plot plot, object->plot(payload, part, effort));
      const unsigned axes = static_cast<unsigned>(shown_as) - static_cast<unsigned>(ViewKind::plot);
      plot.set_log((axes & 1) != 0, (axes & 2) != 0, (axes & 4) != 0);
      return plot_svg(plot);
    };
  }
  switch (shown_as) {
    case ViewKind::spreadsheet:
      return [object = std::move(object), part](Payload payload, const std::stop_token& stop) -> Result<std::string> {
        tfile::Effort effort(stop);
        TRY(const tfile::Spreadsheet sheet, object->spreadsheet(payload, part, effort));
        return csv_text(sheet);
      };
    case ViewKind::object_streamer_info:
      return [object = std::move(object)](Payload payload, const auto&) -> Result<std::string> {
        return object->descriptions(payload);
      };
    default:
      return [object = std::move(object), part](Payload payload, const auto&) { return object->text(payload, part); };
  }
}

using PiecedPtr = std::shared_ptr<const tfile::PiecedText>;

// The text in pieces; nullptr if it is made as a whole.
Result<PiecedPtr> pieces_of(const Object& object, std::size_t part, ViewKind shown_as, Payload payload,
                            const std::stop_token& stop) {
  if (shown_as == ViewKind::object_json) return object.json(payload, stop);
  const auto quoted = [](std::string_view text) {
    std::string field;
    append_csv_start(field, text);
    append_csv(field, text);
    return field + '"';
  };
  return object.table(payload, part, quoted, stop);
}

// The streams of an object that is not in memory.
class NoPayload final : public tfile::OneChunkEach<tfile::StreamSet> {
 public:
  explicit NoPayload(std::uint64_t stored) : stored_(stored) {}
  std::size_t stream_count() const override { return 1; }
  tfile::StreamShape shape(tfile::StreamId) const override { return {.slots = 1, .stored_bytes = stored_}; }
  Result<tfile::Locator> locate(tfile::ChunkKey) const override { return tfile::Locator{}; }
  std::uint64_t decoded_size(tfile::ChunkKey) const override { return kBlocks; }
  std::vector<std::int64_t> lengths(tfile::StreamId) const override { return {0}; }
  Result<tfile::Chunk> decode(tfile::ChunkKey, std::span<const std::byte>,
                              std::span<const std::shared_ptr<const tfile::Chunk>>,
                              std::span<const std::int64_t>) const override {
    return tfile::Chunk();
  }
  // One of a payload at a time is decompressed.
  static constexpr std::uint64_t kBlocks = 2 * tfile::File::kLargeObject;

 private:
  const std::uint64_t stored_;
};

// Bytes reserved before the size of a text is known, as measured with histograms of some million bins. The minimum
// covers the names of members, which are longer than small objects. Table: per number, its line in a string that
// doubles when it is full and is copied at the end. Plot: per number, its bin in about five arrays; its text has no
// more marks than a screen has points.
constexpr std::uint64_t kPerByte = 8, kTextMin = 64 << 10;
// Descriptions are those of the classes, of which an object of numbers has few, however long it is.
constexpr std::uint64_t kDescriptionsMax = 4 << 20;
constexpr std::uint64_t kTablePerNumber = 256, kPlotPerNumber = 40, kPlotTextMax = 16 << 20;

std::uint64_t making_size(const Object::Part& part, std::uint64_t payload, ViewKind shown_as) {
  if (shown_as == ViewKind::spreadsheet && part.numbers > 0) return kTextMin + part.numbers * kTablePerNumber;
  if (is_plot(shown_as) && part.drawn > 0)
    return kTextMin + part.drawn * kPlotPerNumber + std::min(part.drawn * kTablePerNumber, part.plots * kPlotTextMax);
  const std::uint64_t text = payload * kPerByte;
  return kTextMin + (shown_as == ViewKind::object_streamer_info ? std::min(text, kDescriptionsMax) : text);
}

// A user who lists a directory opens all objects and asks for the sizes of their files, and reads few of them.
constexpr ReadUse kLookedAt{.passing = true};

// A text has the type of bytes.
const tfile::Column& text_column() {
  static const tfile::Column column;
  return column;
}

}  // namespace

ObjectFiles::ObjectFiles(std::shared_ptr<const Object> object, std::shared_ptr<const tfile::StreamSet> payload,
                         std::shared_ptr<CachedStreams> cached, std::shared_ptr<CachedStreams> blocks,
                         ClusterCache& cache)
    : object_(std::move(object)),
      payload_(std::move(payload)),
      cached_(std::move(cached)),
      blocks_(std::move(blocks)),
      cache_(cache) {}

std::optional<std::size_t> ObjectFiles::part_at(tfile::NodeId node) const {
  for (std::size_t i = 0; i < object_->parts.size(); ++i) {
    if (object_->parts[i].node == node) return i;
  }
  return std::nullopt;
}

std::vector<ObjectFiles::Name> ObjectFiles::names(tfile::NodeId node) const {
  const auto number = part_at(node);
  if (!number) return {};
  const Object::Part& part = object_->parts[*number];
  std::vector<Name> names;
  if (*number == 0 && part.has_json) names.push_back({kObjectJsonName, ViewKind::object_json, false});
  if (*number == 0 && object_->needs_descriptions)
    names.push_back({kObjectInfoName, ViewKind::object_streamer_info, false});
  if (part.has_plot) names.push_back({kPlotName, ViewKind::plot, true});
  if (part.has_spreadsheet) names.push_back({kSpreadsheetName, ViewKind::spreadsheet, true});
  if (part.has_text) names.push_back({kObjectTextName, ViewKind::object_text, true});
  return names;
}

std::optional<ViewKind> ObjectFiles::find(tfile::NodeId node, std::string_view name) const {
  for (const Name& known : names(node)) {
    if (known.name == name) return known.shown_as;
    const auto axes = known.shown_as == ViewKind::plot ? parse_log_plot(name) : std::nullopt;
    if (axes)
      return static_cast<ViewKind>(static_cast<unsigned>(ViewKind::plot) + axes->x + 2u * axes->y + 4u * axes->z);
  }
  return std::nullopt;
}

Once<std::shared_ptr<Content>> ObjectFiles::once(tfile::NodeId node, ViewKind shown_as) const {
  const Lock lock(mutex_);
  return contents_[{node, shown_as}];
}

std::optional<std::uint64_t> ObjectFiles::known_size(tfile::NodeId node, ViewKind shown_as) const {
  Once<std::shared_ptr<Content>> once;
  {
    const Lock lock(mutex_);
    const auto found = contents_.find({node, shown_as});
    if (found == contents_.end()) return std::nullopt;
    once = found->second;
  }
  const auto made = once.peek();
  return made ? std::optional((*made)->size()) : std::nullopt;
}

void ObjectFiles::count_json(Payload payload) const {
  if (!object_->parts[0].has_json) return;
  auto text = object_->json(payload, {});
  if (!text || !*text) return;
  once(0, ViewKind::object_json)
      .get([&](Reply<std::shared_ptr<Content>> made) { made(shown_in_pieces(*std::move(text))); },
           Reply<std::shared_ptr<Content>>([](const Result<std::shared_ptr<Content>>&) {}));
}

void ObjectFiles::content(tfile::NodeId node, ViewKind shown_as, Reply<std::shared_ptr<Content>> reply) const {
  const std::size_t part = part_at(node).value_or(0);
  const bool in_pieces = shown_as == ViewKind::object_json || shown_as == ViewKind::spreadsheet;
  once(node, shown_as)
      .get(
          [&](Reply<std::shared_ptr<Content>> made) {
            in_pieces ? made_in_pieces(part, shown_as, std::move(made)) : made_whole(part, shown_as, std::move(made));
          },
          std::move(reply));
}

void ObjectFiles::made_whole(std::size_t part, ViewKind shown_as, Reply<std::shared_ptr<Content>> made) const {
  const std::shared_ptr<const tfile::StreamSet> payload =
      object_->is_large ? std::make_shared<const NoPayload>(payload_->shape(0).stored_bytes) : payload_;
  const std::uint64_t in_memory = object_->is_large ? tfile::File::kKeptOfLarge : payload->decoded_size({});
  const std::uint64_t making = making_size(object_->parts[part], in_memory, shown_as);
  auto streams = cache_.attach(made_text(payload, maker(object_, part, shown_as), making, made.stop_token()));
  CachedStreams& attached = *streams;
  auto show = [streams = std::move(streams)](std::int64_t length) mutable {
    return column_content(std::move(streams), text_column(), length);
  };
  attached.length(0, 0, answer_with<std::int64_t>(std::move(made), std::move(show)));
}

// Its size is counted on a thread for such work, while the payload is held in the cache, or its blocks are reserved.
void ObjectFiles::made_in_pieces(std::size_t part, ViewKind shown_as, Reply<std::shared_ptr<Content>> made) const {
  auto count = [object = object_, part, shown_as, stop = made.stop_token()](Payload payload) {
    return pieces_of(*object, part, shown_as, payload, stop);
  };
  auto show = [self = shared_from_this(), part, shown_as](PiecedPtr text, Reply<std::shared_ptr<Content>> reply) {
    if (!text) return self->made_whole(part, shown_as, std::move(reply));
    reply(self->shown_in_pieces(std::move(text)));
  };
  Reply<PiecedPtr> counted = value_for<PiecedPtr>(std::move(made), std::move(show));
  if (object_->is_large)
    return answer_blocking_within(
        cache_, tfile::kLocalOrigin, NoPayload::kBlocks, [count] { return count({}); }, std::move(counted));
  auto count_in = [exec = &cache_.exec(), count](Slices slices, Reply<PiecedPtr> reply) {
    auto job = [count, slices = std::move(slices)] {
      return count(slices.pieces.empty() ? Payload() : slices.pieces[0]);
    };
    const auto answer = answering(std::move(job), std::move(reply));
    if (!exec->view_workers.run(answer, Urgency::awaited)) answer();
  };
  cached_->read(0, 0, 1, 0, payload_->decoded_size({}), kLookedAt,
                value_for<Slices>(std::move(counted), std::move(count_in)));
}

// A piece that is made of part of the payload needs no more of it in memory than the blocks that have it.
std::shared_ptr<Content> ObjectFiles::shown_in_pieces(PiecedPtr text) const {
  const auto needs_much = [](const tfile::PiecedText::Piece& piece) {
    return std::ranges::any_of(piece.payload, [](tfile::ByteRange r) { return r.size > tfile::File::kLargeObject; });
  };
  const bool in_blocks = blocks_ && std::ranges::none_of(text->pieces, needs_much);
  return pieced_content(in_blocks ? blocks_ : cached_, std::move(text));
}

namespace {

// A payload of up to so many bytes is read and decompressed by the thread that opens the object.
constexpr std::size_t kInPlaceMax = 1 << 20;

// The payload is in memory as a whole while it is opened.
void load_whole(ClusterCache& cache, std::shared_ptr<const tfile::File> file,
                std::shared_ptr<const DirectoryListing> listing, std::uint32_t key, Reply<ObjectFilesPtr> reply) {
  using StreamsPtr = std::shared_ptr<CachedStreams>;
  using StreamSetPtr = std::shared_ptr<const tfile::StreamSet>;
  auto open = [&cache, file, listing, key](StreamSetPtr payload, Reply<ObjectFilesPtr> answer) mutable {
    StreamsPtr streams = cache.attach(payload);
    CachedStreams& attached = *streams;
    // The whole payload at once: it is one chunk.
    const std::size_t size = payload->decoded_size({});
    auto look = [&cache, file, listing, key, streams = std::move(streams), payload](
                    Slices slices, Reply<ObjectFilesPtr> done) mutable {
      auto job = [&cache, file, listing, key, payload = std::move(payload), streams = std::move(streams),
                  slices = std::move(slices)]() -> Result<ObjectFilesPtr> {
        const Payload bytes = slices.pieces.empty() ? Payload() : slices.pieces[0];
        TRY(auto object, file->object(listing->keys[key], bytes));
        std::shared_ptr<CachedStreams> blocks;
        if (tfile::File::is_large(listing->keys[key])) {
          TRY(auto large, file->large_payload(listing->keys[key]));
          blocks = cache.attach(std::move(large));
        }
        auto files = std::make_shared<const ObjectFiles>(std::move(object), payload, streams, std::move(blocks), cache);
        if (bytes.size() <= kInPlaceMax) files->count_json(bytes);
        return files;
      };
      if (InPlace::end()) return done(result_of(job));
      answer_blocking(cache, std::move(job), std::move(done));
    };
    std::optional<InPlace> here;
    if (size <= kInPlaceMax) here.emplace();
    attached.read(0, 0, 1, 0, size, kLookedAt, value_for<Slices>(std::move(answer), std::move(look)));
  };
  answer_blocking(
      cache, [file, listing, key] { return file->payload(listing->keys[key]); },
      value_for<StreamSetPtr>(std::move(reply), std::move(open)));
}

}  // namespace

void load_object(ClusterCache& cache, std::shared_ptr<const tfile::File> file,
                 std::shared_ptr<const DirectoryListing> listing, std::uint32_t key, Reply<ObjectFilesPtr> reply) {
  if (!tfile::File::is_large(listing->keys[key])) return load_whole(cache, file, listing, key, std::move(reply));
  auto job = [&cache, file, listing, key]() -> Result<ObjectFilesPtr> {
    TRY(auto object, file->large_object(listing->keys[key]));
    if (!object) return ObjectFilesPtr();
    TRY(auto payload, file->large_payload(listing->keys[key]));
    auto streams = cache.attach(payload);
    return std::make_shared<const ObjectFiles>(std::move(object), std::move(payload), streams, streams, cache);
  };
  auto look = [&cache, file, listing, key](ObjectFilesPtr object, Reply<ObjectFilesPtr> done) {
    if (object) return done(std::move(object));
    load_whole(cache, file, listing, key, std::move(done));
  };
  answer_blocking_within(cache, tfile::kLocalOrigin, NoPayload::kBlocks, std::move(job),
                         value_for<ObjectFilesPtr>(std::move(reply), std::move(look)));
}

}  // namespace tfilefs
