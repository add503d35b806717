// SPDX-License-Identifier: Apache-2.0
#include "object/class_object.h"

#include <algorithm>
#include <map>
#include <utility>

#include "object/object_arrays.h"
#include "object/object_plot.h"
#include "object/object_text.h"
#include "streamer/object_json.h"

namespace tfile {
namespace {

// Arrays of ordinary objects are made together, of a payload that is decompressed once; those of large ones each by
// itself, so that who reads one does not need memory for all.
constexpr std::uint64_t kTogetherMax = 16 << 20;

class ClassObject final : public Object {
 public:
  ClassObject(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key, std::shared_ptr<const StreamSet> payload)
      : infos_(std::move(infos)), payload_(std::move(payload)), keylen_(key.keylen) {
    name = key.name;
    title = key.title;
    class_name = key.class_name;
    kind = "object";
    nodes.emplace_back();
    object_kind_ = kind_of_object(*infos_, class_name);
  }

  void look(std::span<const std::byte> payload) {
    auto members = read_members(payload);
    if (!members) {
      warnings.push_back(members.error().text);
      return;
    }
    has_plot = can_plot(object_kind_, *infos_, class_name);
    has_spreadsheet = can_tabulate(object_kind_, *infos_, class_name);
    has_text = object_text(*infos_, class_name, *members).has_value();
    auto arrays = object_arrays(object_kind_, *infos_, *members);
    if (!arrays) return warnings.push_back(arrays.error().text);
    for (const ObjectArray& array : *arrays) add_column(array);
    place_columns();
  }

  std::size_t stream_count() const override { return streams_.size(); }
  std::size_t chunk_count(StreamId) const override { return streams_.empty() ? 0 : 1; }
  std::size_t slot_count(StreamId stream) const override { return streams_[stream].lengths.size(); }
  EntryRange chunk_entries(ChunkKey) const override { return {0, 1}; }
  Result<Locator> locate(ChunkKey) const override { return payload_->locate({}); }
  std::uint64_t decoded_size(ChunkKey key) const override {
    return payload_->decoded_size({}) + streams_[key.stream].bytes + streams_[key.stream].working;
  }
  std::vector<ChunkKey> inputs(ChunkKey) const override { return {}; }
  ItemsFrom items_from(StreamId) const override { return ItemsFrom::metadata; }
  Result<Locator> header_locator(ChunkKey) const override { return Locator{}; }
  Result<std::vector<std::int64_t>> items(ChunkKey key, std::span<const std::byte>,
                                          std::span<const std::shared_ptr<const Chunk>>) const override {
    return streams_[key.stream].lengths;
  }
  QuickLengths quick_lengths(StreamId) const override { return {.needs_header = false, .possible = true}; }
  Result<std::optional<std::vector<std::int64_t>>> lengths(StreamId stream, std::span<const std::byte>) const override {
    return std::optional(streams_[stream].lengths);
  }
  std::uint64_t stored_bytes(StreamId) const override { return payload_->stored_bytes(0) / streams_.size(); }
  Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored, std::span<const std::shared_ptr<const Chunk>>,
                       std::span<const std::int64_t>) const override;

  Result<std::string> json(std::span<const std::byte> payload) const override {
    return object_json(*infos_, class_name, payload, keylen_);
  }
  Result<Plot> plot(std::span<const std::byte> payload, Effort& effort) const override {
    TRY(const ObjectMembers members, read_members(payload));
    return object_plot(object_kind_, *infos_, class_name, members, effort);
  }
  Result<Spreadsheet> spreadsheet(std::span<const std::byte> payload, Effort& effort) const override {
    TRY(const ObjectMembers members, read_members(payload));
    return object_spreadsheet(object_kind_, *infos_, class_name, members, effort);
  }
  Result<std::string> text(std::span<const std::byte> payload) const override {
    TRY(const ObjectMembers members, read_members(payload));
    auto found = object_text(*infos_, class_name, members);
    if (!found) return fail(ErrorKind::invalid, "the object holds no text");
    return *std::move(found);
  }

 private:
  Result<ObjectMembers> read_members(std::span<const std::byte> payload) const {
    return ObjectMembers::read(*infos_, class_name, payload, keylen_);
  }
  // What is made of the payload in one go: of all arrays, or of one of them.
  struct Made {
    std::size_t first = 0;  // of the columns
    std::vector<std::int64_t> lengths;
    std::uint64_t bytes = 0, working = 0;
  };

  void add_column(const ObjectArray&);
  void place_columns();
  NodeId directory(const std::string& path);
  NodeId add_node(NodeId parent, std::string name);

  const std::shared_ptr<const StreamerInfos> infos_;
  const std::shared_ptr<const StreamSet> payload_;
  const std::uint32_t keylen_;
  ObjectKind object_kind_;
  std::vector<Made> arrays_;  // of each column
  std::vector<Made> streams_;
  std::map<std::string, NodeId> directories_;
};

NodeId ClassObject::add_node(NodeId parent, std::string node_name) {
  const auto id = static_cast<NodeId>(nodes.size());
  nodes.emplace_back().name = std::move(node_name);
  nodes[parent].children.push_back(id);
  return id;
}

NodeId ClassObject::directory(const std::string& path) {
  if (path.empty()) return 0;
  if (const auto found = directories_.find(path); found != directories_.end()) return found->second;
  const auto slash = path.rfind('/');
  const NodeId above = directory(slash == path.npos ? std::string() : path.substr(0, slash));
  const NodeId id = add_node(above, slash == path.npos ? path : path.substr(slash + 1));
  directories_.emplace(path, id);
  return id;
}

void ClassObject::add_column(const ObjectArray& array) {
  const auto slash = array.path.rfind('/');
  Column column;
  column.path = array.path + typed_suffix(array.dtype, array.shape);
  column.name = slash == array.path.npos ? column.path : column.path.substr(slash + 1);
  column.dtype = array.dtype;
  column.shape = array.shape;
  column.class_name = class_name;
  const NodeId node =
      add_node(directory(slash == array.path.npos ? std::string() : array.path.substr(0, slash)), column.name);
  nodes[node].column = static_cast<ColumnId>(columns.size());
  numbers = std::max<std::uint64_t>(numbers, array.length * (column.item_size() / size_of(array.dtype)));
  arrays_.push_back(
      {columns.size(), {static_cast<std::int64_t>(array.length)}, array.length * column.item_size(), array.working});
  columns.push_back(std::move(column));
}

void ClassObject::place_columns() {
  std::uint64_t all = 0;
  for (const Made& array : arrays_) all += array.bytes;
  const bool together = all <= kTogetherMax;
  for (Made& array : arrays_) {
    if (streams_.empty() || !together) streams_.push_back({array.first, {}, 0, 0});
    Made& stream = streams_.back();
    columns[array.first].stream = static_cast<StreamId>(streams_.size() - 1);
    columns[array.first].slot = static_cast<std::uint32_t>(stream.lengths.size());
    stream.lengths.push_back(array.lengths[0]);
    stream.bytes += array.bytes;
    stream.working = std::max(stream.working, array.working);
  }
  arrays_.clear();
}

Result<Chunk> ClassObject::decode(ChunkKey key, std::span<const std::byte> stored,
                                  std::span<const std::shared_ptr<const Chunk>>, std::span<const std::int64_t>) const {
  TRY(const Chunk payload, payload_->decode({}, stored, {}, {}));
  TRY(const ObjectMembers members, read_members(payload.arrays[0]));
  TRY(const auto arrays, object_arrays(object_kind_, *infos_, members));
  const Made& made = streams_[key.stream];
  Chunk chunk;
  for (std::size_t slot = 0; slot < made.lengths.size(); ++slot) {
    const std::size_t at = made.first + slot;
    if (at >= arrays.size() || arrays.size() != columns.size() ||
        columns[at].path != arrays[at].path + typed_suffix(arrays[at].dtype, arrays[at].shape) ||
        static_cast<std::int64_t>(arrays[at].length) != made.lengths[slot])
      return fail(ErrorKind::stale, "the object is another than when it was opened");
    Buffer buffer(arrays[at].length * columns[at].item_size());
    arrays[at].fill(buffer.data());
    chunk.owned.push_back(std::move(buffer));
  }
  for (const Buffer& buffer : chunk.owned) chunk.arrays.push_back(buffer.span());
  return chunk;
}

}  // namespace

std::shared_ptr<const Object> open_object(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key,
                                          std::shared_ptr<const StreamSet> payload_streams,
                                          std::span<const std::byte> payload) {
  auto object = std::make_shared<ClassObject>(std::move(infos), key, std::move(payload_streams));
  object->look(payload);
  return object;
}

}  // namespace tfile
