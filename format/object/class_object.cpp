// SPDX-License-Identifier: Apache-2.0
#include "object/class_object.h"

#include <map>
#include <utility>

#include "object/object_arrays.h"
#include "object/object_plot.h"
#include "object/object_text.h"
#include "streamer/object_json.h"

namespace tfile {
namespace {

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
  }

  std::size_t stream_count() const override { return columns.empty() ? 0 : 1; }
  std::size_t chunk_count(StreamId) const override { return columns.empty() ? 0 : 1; }
  std::size_t slot_count(StreamId) const override { return columns.size(); }
  EntryRange chunk_entries(ChunkKey) const override { return {0, 1}; }
  Result<Locator> locate(ChunkKey) const override { return payload_->locate({}); }
  std::uint64_t decoded_size(ChunkKey) const override { return payload_->decoded_size({}) + arrays_size_; }
  std::vector<ChunkKey> inputs(ChunkKey) const override { return {}; }
  ItemsFrom items_from(StreamId) const override { return ItemsFrom::metadata; }
  Result<Locator> header_locator(ChunkKey) const override { return Locator{}; }
  Result<std::vector<std::int64_t>> items(ChunkKey, std::span<const std::byte>,
                                          std::span<const std::shared_ptr<const Chunk>>) const override {
    return lengths_;
  }
  QuickLengths quick_lengths(StreamId) const override { return {.needs_header = false, .possible = true}; }
  Result<std::optional<std::vector<std::int64_t>>> lengths(StreamId, std::span<const std::byte>) const override {
    return std::optional(lengths_);
  }
  std::uint64_t stored_bytes(StreamId) const override { return payload_->stored_bytes(0); }
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
  void add_column(const ObjectArray&);
  NodeId directory(const std::string& path);
  NodeId add_node(NodeId parent, std::string name);

  const std::shared_ptr<const StreamerInfos> infos_;
  const std::shared_ptr<const StreamSet> payload_;
  const std::uint32_t keylen_;
  ObjectKind object_kind_;
  std::vector<std::int64_t> lengths_;
  std::uint64_t arrays_size_ = 0;
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
  column.slot = static_cast<std::uint32_t>(columns.size());
  const NodeId node =
      add_node(directory(slash == array.path.npos ? std::string() : array.path.substr(0, slash)), column.name);
  nodes[node].column = static_cast<ColumnId>(columns.size());
  lengths_.push_back(static_cast<std::int64_t>(array.length));
  arrays_size_ += array.length * column.item_size();
  columns.push_back(std::move(column));
}

Result<Chunk> ClassObject::decode(ChunkKey, std::span<const std::byte> stored,
                                  std::span<const std::shared_ptr<const Chunk>>, std::span<const std::int64_t>) const {
  TRY(const Chunk payload, payload_->decode({}, stored, {}, {}));
  TRY(const ObjectMembers members, read_members(payload.arrays[0]));
  TRY(const auto arrays, object_arrays(object_kind_, *infos_, members));
  Chunk chunk;
  for (const ObjectArray& array : arrays) {
    const std::size_t slot = chunk.owned.size();
    const std::string path = array.path + typed_suffix(array.dtype, array.shape);
    if (slot == columns.size() || columns[slot].path != path ||
        static_cast<std::int64_t>(array.length) != lengths_[slot])
      return fail(ErrorKind::stale, "the object is another than when it was opened");
    Buffer buffer(array.length * columns[slot].item_size());
    array.fill(buffer.data());
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
