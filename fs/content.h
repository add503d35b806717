// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "reply.h"
#include "tfile/buffer.h"

namespace tfilefs {

// Bytes to answer a read with: pieces in order, and what keeps them alive until the answer has left.
struct Slices {
  std::vector<std::span<const std::byte>> pieces;
  std::vector<std::shared_ptr<const void>> pins;
  std::size_t size() const {
    std::size_t sum = 0;
    for (auto p : pieces) sum += p.size();
    return sum;
  }
  void add(std::span<const std::byte> piece, std::shared_ptr<const void> pin) {
    pieces.push_back(piece);
    pins.push_back(std::move(pin));
  }
  void add(const Slices& more) {
    pieces.insert(pieces.end(), more.pieces.begin(), more.pieces.end());
    pins.insert(pins.end(), more.pins.begin(), more.pins.end());
  }
};

inline Slices one_slice(std::span<const std::byte> piece, std::shared_ptr<const void> pin) {
  Slices slices;
  slices.add(piece, std::move(pin));
  return slices;
}
// `size` bytes of the buffer from `begin` on, or all behind it.
inline Slices one_slice(std::shared_ptr<const tfile::Buffer> buffer, std::uint64_t begin = 0,
                        std::uint64_t size = std::dynamic_extent) {
  const auto piece = buffer->span().subspan(begin, size);
  return one_slice(piece, std::move(buffer));
}

// Into `slices.size()` bytes.
inline void copy_slices(const Slices& slices, std::byte* to) {
  for (const auto piece : slices.pieces) to = std::copy(piece.begin(), piece.end(), to);
}

// Answers reads on an open regular file: column, view, control file, passed-through file. Thread-safe.
class Content {
 public:
  virtual ~Content() = default;

  // Exact; fixed for the life of this object where it cannot be written.
  virtual std::uint64_t size() const = 0;

  // Differs between two builds of a file from the same state of a source whose bytes may differ; 0 where they cannot.
  virtual std::uint64_t build_id() const { return 0; }

  // Roughly the bytes of memory that it holds while it lives, without what the cache holds and counts.
  virtual std::uint64_t memory() const { return 1 << 10; }

  // Exactly min(size, this->size() - offset) bytes (none beyond the end), or an error. Answers now, on this thread,
  // when the bytes are there, else later from another thread. Never waits for storage on the caller's thread.
  virtual void read(std::uint64_t offset, std::size_t size, Reply<Slices>) = 0;

  // Takes all of the bytes, or gives an error. They are copied before this returns. EBADF if not opened for writing.
  virtual void write(std::uint64_t, std::span<const std::byte>, Reply<std::size_t> reply) {
    reply(not_open_for_writing());
  }
  // The same behind the last byte, wherever that is: O_APPEND. `offset`: where the writer believes the end to be.
  virtual void append(std::uint64_t offset, std::span<const std::byte> bytes, Reply<std::size_t> reply) {
    write(offset, bytes, std::move(reply));
  }
  // As close(2) and fsync(2) ask: an error of earlier writes is reported, once; after sync() the bytes written are on
  // disk.
  virtual void flush(Reply<void> reply) { reply({}); }
  virtual void sync(Reply<void> reply) { reply({}); }
};

// Text or bytes that are complete before the file is opened.
class FixedContent : public Content {
 public:
  explicit FixedContent(std::string bytes, std::uint64_t build_id = 0)
      : bytes_(std::make_shared<const std::string>(std::move(bytes))), build_id_(build_id) {}
  std::uint64_t size() const override { return bytes_->size(); }
  std::uint64_t build_id() const override { return build_id_; }
  std::uint64_t memory() const override { return bytes_->size(); }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    Slices slices;
    if (offset < bytes_->size()) {
      const auto all = std::as_bytes(std::span(*bytes_));
      slices.add(all.subspan(offset, std::min<std::size_t>(size, all.size() - offset)), bytes_);
    }
    reply(std::move(slices));
  }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::uint64_t build_id_;
};

}  // namespace tfilefs
