// SPDX-License-Identifier: Apache-2.0
#include "container/payload.h"

#include <utility>

#include "compression/frame.h"
#include "container/key.h"
#include "container/key_payload.h"
#include "tfile/beyond_end.h"

namespace tfile {
namespace {

// ROOT compresses the payload of a key from this size on; smaller payloads hardly shrink.
constexpr std::size_t kCompressedSizeMin = 257;

// The largest object that ROOT can read: a byte count has 30 bits.
constexpr std::size_t kPayloadSizeMax = (1u << 30) - 2;

// `record`: all bytes of the record.
Result<Buffer> unpack(const KeyPayload& payload, std::span<const std::byte> record) {
  const auto at = static_cast<std::int64_t>(payload.record.begin);
  if (record.size() != payload.record.size) return fail(ErrorKind::invalid, "key: the record is incomplete", at);
  if (!payload.is_bare) TRY_VOID(check_told(payload, record));
  auto content = decompress(record.subspan(payload.keylen), payload.size);
  if (!content && content.error().offset < 0) content.error().offset = at;
  return content;
}

class PayloadStreams final : public OneChunkEach<StreamSet> {
 public:
  PayloadStreams(std::shared_ptr<const Source> source, KeyPayload payload)
      : source_(std::move(source)), payload_(std::move(payload)) {}

  std::size_t stream_count() const override { return 1; }
  StreamShape shape(StreamId) const override {
    return {.chunks = payload_.size == 0 ? 0u : 1u, .slots = 1, .stored_bytes = payload_.record.size};
  }
  Result<Locator> locate(ChunkKey) const override { return Locator{source_.get(), payload_.record, {}}; }
  std::uint64_t decoded_size(ChunkKey) const override { return payload_.size; }
  std::vector<std::int64_t> lengths(StreamId) const override { return {static_cast<std::int64_t>(payload_.size)}; }
  Result<Chunk> decode(ChunkKey, std::span<const std::byte> stored, std::span<const std::shared_ptr<const Chunk>>,
                       std::span<const std::int64_t>) const override {
    TRY(Buffer content, unpack(payload_, stored));
    Chunk chunk;
    chunk.owned.push_back(std::move(content));
    chunk.arrays.push_back(chunk.owned.back().span());
    return chunk;
  }

 private:
  const std::shared_ptr<const Source> source_;
  const KeyPayload payload_;
};

}  // namespace

Result<std::shared_ptr<const StreamSet>> payload_streams(std::shared_ptr<const Source> source, const KeyInfo& key) {
  TRY(KeyPayload payload, payload_of(*source, key));
  return std::make_shared<const PayloadStreams>(std::move(source), std::move(payload));
}

Result<RecordContent> read_record(const Source& source, ByteRange record, std::uint64_t size_max) {
  const auto at = static_cast<std::int64_t>(record.begin);
  if (is_beyond_end(record, source.size())) return fail_beyond_end("record: ", record, source.size());
  Buffer bytes(record.size);
  TRY_VOID(read_range(source, record, bytes.span()));
  Cursor in(bytes.span(), at);
  const KeyHeader key = read_key(in);
  if (in.failed() || !is_record(key) || static_cast<std::uint64_t>(key.nbytes) > record.size) {
    return fail(ErrorKind::damaged,
                "record: does not start with a key: " + sizes_of(key) + " in " + std::to_string(record.size) + " bytes",
                at);
  }
  const KeyInfo info = info_of_record(key, record.begin);
  TRY(const KeyPayload payload, payload_of(source, info));
  if (std::max<std::uint64_t>(info.objlen, info.nbytes) > size_max)
    return fail(ErrorKind::unsupported, "record: larger than " + std::to_string(size_max) + " bytes", at);
  TRY(Buffer content, unpack(payload, bytes.span().first(payload.record.size)));
  return RecordContent{info.keylen, std::move(content)};
}

Result<Buffer> read_payload(const Source& source, const KeyInfo& key) {
  TRY(const KeyPayload payload, payload_of(source, key));
  Buffer record(payload.record.size);
  TRY_VOID(read_range(source, payload.record, record.span()));
  return unpack(payload, record.span());
}

Result<std::vector<std::byte>> stored_payload(std::span<const std::byte> payload, const Compression& compression) {
  if (payload.size() > kPayloadSizeMax)
    return fail(ErrorKind::unsupported,
                "its record has " + std::to_string(payload.size()) + " bytes, more than the 1 GiB of an object");
  std::vector<std::byte> stored;
  bool compressed = false;
  if (payload.size() >= kCompressedSizeMin) {
    TRY(compressed, compress(payload, payload.size(), compression, stored));
  }
  if (!compressed) stored.assign(payload.begin(), payload.end());
  return stored;
}

}  // namespace tfile
