// SPDX-License-Identifier: Apache-2.0
#include "class_object.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "large_arrays.h"
#include "object/cell_table.h"
#include "object/histogram_table.h"
#include "object/object_arrays.h"
#include "object/object_plots.h"
#include "object/object_table.h"
#include "object/row_table.h"
#include "object_parts.h"
#include "streamer/info/streamer_info_record.h"
#include "streamer/walk/described_classes.h"
#include "streamer/walk/json_pieces.h"
#include "tfile/plot.h"

namespace tfile {
namespace {

// Arrays of ordinary objects share a stream, so that the payload is decompressed once. Large arrays get one stream
// each, so that a reader of one array does not need memory for all.
constexpr std::uint64_t kTogetherMax = 16 << 20;

class ClassObject final : public OneChunkEach<Object> {
 public:
  ClassObject(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key, std::shared_ptr<const StreamSet> payload);
  // `in_memory`: bytes of the payload that are there.
  void look(std::span<const std::byte> payload, std::uint64_t in_memory);

  std::size_t stream_count() const override { return streams_.size(); }
  StreamShape shape(StreamId stream) const override;
  Result<Locator> locate(ChunkKey key) const override {
    return streams_[key.stream].is_kept ? Locator{} : payload_->locate({});
  }
  std::uint64_t decoded_size(ChunkKey key) const override;
  std::vector<std::int64_t> lengths(StreamId stream) const override { return streams_[stream].lengths; }
  Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored, std::span<const std::shared_ptr<const Chunk>>,
                       std::span<const std::int64_t>) const override;

  // Keeps a large object: all of the other functions use this, whatever payload they are given.
  void keep(std::shared_ptr<const PayloadBytes> payload, std::uint64_t in_memory);
  Result<std::shared_ptr<const PiecedText>> json(std::span<const std::byte> payload,
                                                 const std::stop_token& stop) const override;
  Result<std::shared_ptr<const PiecedText>> table(std::span<const std::byte> payload, std::size_t part,
                                                  const QuotedField& quoted,
                                                  const std::stop_token& stop) const override;
  std::string descriptions(std::span<const std::byte> payload) const override;
  Result<Plot> plot(std::span<const std::byte> payload, std::size_t part, Effort& effort) const override;
  Result<Spreadsheet> spreadsheet(std::span<const std::byte> payload, std::size_t part, Effort& effort) const override;
  Result<std::string> text(std::span<const std::byte> payload, std::size_t part) const override;

 private:
  std::span<const std::byte> bytes_of(std::span<const std::byte> payload) const;
  // Opens from a payload that is in memory again.
  OpenedHistogram opener() const;

  // Those that the file has, and that are not what every writer knows.
  std::vector<const StreamerInfo*> described(const ObjectClasses& classes) const;
  Result<ObjectMembers> read_members(std::span<const std::byte> payload) const;
  Result<ObjectMembers> part_members(std::span<const std::byte> payload, std::size_t part) const;
  Part part_at(NodeId node, const std::string& path, const ObjectMembers& members);
  void add_part(std::size_t part, const std::string& below, const ObjectKind&, const std::vector<ObjectArray>&);
  void add_column(const ObjectArray&, const std::string& path, std::uint32_t slot);
  void count_drawn(const std::vector<ObjectPart>&, std::uint64_t payload_size);
  NodeId directory(const std::string& path);
  NodeId add_node(NodeId parent, std::string name);

  const std::shared_ptr<const StreamerInfos> infos_;
  const std::shared_ptr<const StreamSet> payload_;
  const std::uint32_t keylen_;
  std::shared_ptr<const PayloadBytes> large_;  // nullptr if the object is not large
  ObjectKind object_kind_;
  // The arrays that one stream makes from the payload: all arrays of one part, or one of them. Each part is read
  // separately from the others, which may be the same object many times.
  struct ArrayStream {
    std::size_t part = 0;
    std::size_t first = 0, all = 0;  // in the arrays of the part: the first one in this stream, and the number of all
    std::vector<std::string> paths;  // from object_arrays, with their types
    std::vector<std::int64_t> lengths;
    std::uint64_t bytes = 0, working = 0;
    bool is_kept = false;  // of a large object: it is made of what is in memory
  };
  std::vector<ArrayStream> streams_;
  std::map<std::string, NodeId> directories_;
};

ClassObject::ClassObject(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key,
                         std::shared_ptr<const StreamSet> payload)
    : infos_(std::move(infos)), payload_(std::move(payload)), keylen_(key.keylen) {
  name = key.name;
  title = key.title;
  class_name = key.class_name;
  kind = "object";
  nodes.emplace_back();
  object_kind_ = kind_of_object(*infos_, class_name);
}

void ClassObject::look(std::span<const std::byte> payload, std::uint64_t in_memory) {
  const ObjectClasses classes = object_classes(*infos_, class_name, payload, keylen_);
  needs_descriptions = !classes.names_itself || !described(classes).empty();
  auto members = read_members(payload);
  if (!members) {
    parts[0].has_json = members.error().kind != ErrorKind::unsupported;
    warnings.push_back(members.error().text);
    return;
  }
  parts[0] = part_at(0, "", *members);
  const std::vector<ObjectPart> held = object_parts(*infos_, *members);
  for (const ObjectPart& part : held) parts.push_back(part_at(directory(part.path), part.path, part.members));
  const auto arrays = object_arrays(object_kind_, *infos_, *members);
  if (!arrays) return warnings.push_back(arrays.error().text);
  add_part(0, "", object_kind_, *arrays);
  // If a part is damaged, only the arrays of that part are left out.
  for (std::size_t i = 0; i < held.size(); ++i) {
    const ObjectKind kind_of_part = kind_of_object(*infos_, held[i].class_name);
    const auto some = object_arrays(kind_of_part, *infos_, held[i].members);
    if (some) add_part(i + 1, held[i].path + "/", kind_of_part, *some);
  }
  count_drawn(held, in_memory);
}

StreamShape ClassObject::shape(StreamId stream) const {
  return {.chunks = 1,
          .slots = streams_[stream].paths.size(),
          .stored_bytes = payload_->shape(0).stored_bytes / streams_.size()};
}

std::uint64_t ClassObject::decoded_size(ChunkKey key) const {
  const ArrayStream& stream = streams_[key.stream];
  return (stream.is_kept ? 0 : payload_->decoded_size({})) + stream.bytes + stream.working;
}

void ClassObject::keep(std::shared_ptr<const PayloadBytes> payload, std::uint64_t in_memory) {
  large_ = std::move(payload);
  is_large = true;
  look(large_->span(), in_memory);
}

Result<std::shared_ptr<const PiecedText>> ClassObject::json(std::span<const std::byte> payload,
                                                            const std::stop_token& stop) const {
  const WholePayload whole(payload);
  const PayloadBytes& bytes = large_ ? *large_ : whole;
  return json_pieces(infos_, class_name, bytes, keylen_, !large_, stop);
}

Result<std::shared_ptr<const PiecedText>> ClassObject::table(std::span<const std::byte> payload, std::size_t part,
                                                             const QuotedField& quoted,
                                                             const std::stop_token& stop) const {
  using Text = std::shared_ptr<const PiecedText>;
  if (!parts[part].has_spreadsheet) return Text();
  TRY(const ObjectMembers members, part_members(bytes_of(payload), part));
  const ObjectKind of_part = part == 0 ? object_kind_ : kind_of_object(*infos_, members.class_name(""));
  if (of_part.family == ObjectFamily::dense || of_part.family == ObjectFamily::sparse)
    return cell_table(members, of_part, bytes_of(payload), large_, quoted, stop);
  if (large_)
    return has_contents(of_part.family) ? histogram_table({members, large_}, of_part, {}, quoted, stop) : Text();
  if (part != 0 || !has_histogram_table(of_part, members)) return Text();
  const auto whole = std::make_shared<const WholePayload>(payload);
  return histogram_table({members, whole}, of_part, opener(), quoted, stop);
}

std::string ClassObject::descriptions(std::span<const std::byte> payload) const {
  const auto infos = described(object_classes(*infos_, class_name, bytes_of(payload), keylen_));
  const std::vector<std::byte> bytes = encode_streamer_infos(infos, 0, class_name);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Plot> ClassObject::plot(std::span<const std::byte> payload, std::size_t part, Effort& effort) const {
  TRY(const ObjectMembers members, part_members(bytes_of(payload), part));
  const WholePayload whole(payload);
  return object_plot(*infos_, members, large_ ? *large_ : whole, parts[part].numbers, effort);
}

Result<Spreadsheet> ClassObject::spreadsheet(std::span<const std::byte> payload, std::size_t part,
                                             Effort& effort) const {
  TRY(const ObjectMembers members, part_members(bytes_of(payload), part));
  if (large_ && has_contents(kind_of_object(*infos_, members.class_name("")).family))
    return fail(ErrorKind::unsupported, "histogram: too large for a table in one piece");
  return object_spreadsheet(*infos_, members, effort);
}

Result<std::string> ClassObject::text(std::span<const std::byte> payload, std::size_t part) const {
  TRY(const ObjectMembers members, part_members(bytes_of(payload), part));
  auto found = object_text(*infos_, members.class_name(""), members);
  if (part == 0 && !found) found = object_text(*infos_, class_name, members);
  if (!found) return fail(ErrorKind::invalid, "the object has no text");
  return *std::move(found);
}

std::span<const std::byte> ClassObject::bytes_of(std::span<const std::byte> payload) const {
  return large_ ? large_->span() : payload;
}

OpenedHistogram ClassObject::opener() const {
  return [infos = infos_, class_name_ = class_name,
          keylen = keylen_](std::span<const std::byte> payload) -> Result<HistogramSource> {
    TRY(auto members, ObjectMembers::read(*infos, class_name_, payload, keylen));
    return HistogramSource{std::move(members), std::make_shared<const WholePayload>(payload)};
  };
}

std::vector<const StreamerInfo*> ClassObject::described(const ObjectClasses& classes) const {
  const std::vector<StreamerInfo>& builtin = builtin_streamer_infos();
  const auto is_of_file = [&](const StreamerInfo* info) {
    return std::less<>()(info, builtin.data()) || !std::less<>()(info, builtin.data() + builtin.size());
  };
  // Arrays have had one version ever, and every reader has code for it.
  const auto is_array = [](const StreamerInfo* info) {
    return info->class_name.starts_with("TArray") && info->version == 1;
  };
  std::vector<const StreamerInfo*> infos;
  for (const StreamerInfo* info : classes.infos) {
    if (is_of_file(info) && !is_standard(*info) && !is_array(info)) infos.push_back(info);
  }
  return infos;
}

Result<ObjectMembers> ClassObject::read_members(std::span<const std::byte> payload) const {
  return ObjectMembers::read(*infos_, class_name, payload, keylen_);
}

Result<ObjectMembers> ClassObject::part_members(std::span<const std::byte> payload, std::size_t part) const {
  TRY(ObjectMembers members, read_members(payload));
  if (part == 0) return members;
  std::vector<ObjectPart> all = object_parts(*infos_, members);
  if (part > all.size()) return fail(ErrorKind::stale, "the object has changed since it was opened");
  return std::move(all[part - 1].members);
}

ClassObject::Part ClassObject::part_at(NodeId node, const std::string& path, const ObjectMembers& members) {
  const std::string_view inner = node == 0 ? std::string_view(class_name) : members.class_name("");
  const auto drawable = check_drawable(*infos_, members);
  if (!drawable && is_drawable_class(*infos_, inner))
    warnings.push_back((path.empty() ? "" : path + ": ") + "no plot: " + drawable.error().text);
  const ObjectKind kind_of_part = kind_of_object(*infos_, inner);
  return {node,
          node == 0,
          drawable.has_value(),
          can_tabulate(kind_of_part, *infos_, members),
          object_text(*infos_, inner, members).has_value(),
          0,
          0,
          1};
}

void ClassObject::add_part(std::size_t part, const std::string& below, const ObjectKind& kind_of_part,
                           const std::vector<ObjectArray>& arrays) {
  std::uint64_t all = 0, longest = 0, apart = 0;
  for (const ObjectArray& array : arrays) {
    all += array.size();
    const std::uint64_t numbers = array.size() / size_of(array.dtype);
    longest = std::max(longest, numbers);
    if (array.is_drawn_apart) apart += numbers;
  }
  parts[part].numbers = longest + apart;
  const bool is_joined = has_contents(kind_of_part.family) && parts[part].numbers > kDrawnWhole;
  parts[part].drawn = is_joined ? kDrawnJoined : parts[part].numbers;
  const bool together = all <= (large_ ? kLongArray : kTogetherMax);
  const bool has_all_in_memory = large_ && together;  // contents take less than all arrays of them
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (i == 0 || !together) streams_.push_back({part, i, arrays.size(), {}, {}, 0, 0});
    ArrayStream& stream = streams_.back();
    add_column(arrays[i], below + arrays[i].path, static_cast<std::uint32_t>(stream.paths.size()));
    stream.paths.push_back(arrays[i].path + typed_suffix(arrays[i].dtype, arrays[i].shape));
    stream.lengths.push_back(static_cast<std::int64_t>(arrays[i].length));
    stream.bytes += arrays[i].size();
    stream.working = std::max(stream.working, arrays[i].working);
    stream.is_kept = has_all_in_memory || (large_ && arrays[i].is_of_axis);
  }
}

// An object that contains others is drawn with all of them. Curves and polygons have no arrays, so they are estimated:
// a usual part, a function of two variables, and the payload, which contains the corners of polygons.
void ClassObject::count_drawn(const std::vector<ObjectPart>& held, std::uint64_t payload_size) {
  constexpr std::uint64_t kPartNumbers = 1'000, kSurfaceNumbers = 250'000, kCornerBytes = 4;
  std::map<std::string_view, std::size_t> part_at{{"", 0}};
  for (std::size_t i = 0; i < held.size(); ++i) part_at[held[i].path] = i + 1;
  std::vector<std::uint64_t> numbers(parts.size());
  std::vector<std::size_t> inner(parts.size());
  // A part comes after the object that contains it.
  for (std::size_t i = held.size(); i > 0; --i) {
    const std::string_view path = held[i - 1].path;
    const auto slash = path.rfind('/');
    const std::size_t above = part_at.at(slash == path.npos ? std::string_view() : path.substr(0, slash));
    numbers[above] += numbers[i] + parts[i].drawn + kPartNumbers;
    inner[above] += inner[i] + 1;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (inner[i] == 0) continue;
    const std::uint64_t all = numbers[i] + kSurfaceNumbers + payload_size / kCornerBytes;
    parts[i].numbers = std::min<std::uint64_t>(all, kDrawnTogether);
    parts[i].drawn = parts[i].numbers;
    parts[i].plots = inner[i];
  }
}

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

void ClassObject::add_column(const ObjectArray& array, const std::string& path, std::uint32_t slot) {
  const auto slash = path.rfind('/');
  Column column;
  column.path = path + typed_suffix(array.dtype, array.shape);
  column.name = slash == path.npos ? column.path : column.path.substr(slash + 1);
  column.dtype = array.dtype;
  column.shape = array.shape;
  column.class_name = class_name;
  column.stream = static_cast<StreamId>(streams_.size() - 1);
  column.slot = slot;
  const NodeId node = add_node(directory(slash == path.npos ? std::string() : path.substr(0, slash)), column.name);
  nodes[node].column = static_cast<ColumnId>(columns.size());
  columns.push_back(std::move(column));
}

Result<Chunk> ClassObject::decode(ChunkKey key, std::span<const std::byte> stored,
                                  std::span<const std::shared_ptr<const Chunk>>, std::span<const std::int64_t>) const {
  const ArrayStream& stream = streams_[key.stream];
  Chunk payload;
  if (!stream.is_kept) {
    TRY(payload, payload_->decode({}, stored, {}, {}));
  }
  const auto bytes = stream.is_kept ? large_->span() : std::span<const std::byte>(payload.arrays[0]);
  TRY(const ObjectMembers members, part_members(bytes, stream.part));
  const ObjectKind kind_of_part = stream.part == 0 ? object_kind_ : kind_of_object(*infos_, members.class_name(""));
  TRY(const auto arrays, object_arrays(kind_of_part, *infos_, members));
  constexpr const char* kOther = "the object has changed since it was opened";
  if (arrays.size() != stream.all) return fail(ErrorKind::stale, kOther);
  Chunk chunk;
  for (std::size_t slot = 0; slot < stream.paths.size(); ++slot) {
    const ObjectArray& array = arrays[stream.first + slot];
    if (stream.paths[slot] != array.path + typed_suffix(array.dtype, array.shape) ||
        static_cast<std::int64_t>(array.length) != stream.lengths[slot])
      return fail(ErrorKind::stale, kOther);
    Buffer buffer(array.size());
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
  if (auto table = open_row_table(*infos, key, payload_streams, payload)) return table;
  auto object = std::make_shared<ClassObject>(std::move(infos), key, std::move(payload_streams));
  object->look(payload, payload.size());
  return object;
}

std::shared_ptr<const Object> open_large_object(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key,
                                                std::shared_ptr<const StreamSet> payload_streams,
                                                std::shared_ptr<const PayloadBytes> payload, std::uint64_t in_memory) {
  auto object = std::make_shared<ClassObject>(std::move(infos), key, std::move(payload_streams));
  object->keep(std::move(payload), in_memory);
  return object;
}

}  // namespace tfile
