// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "tree/read/stream.h"

namespace tfile {

// The streams of a table by number. A stand-in is replaced once, from any thread, while other threads read.
class StreamSlots {
 public:
  StreamSlots() = default;
  explicit StreamSlots(std::vector<Stream> streams)
      : opened_(std::move(streams)), now_(std::make_unique<std::atomic<const Stream*>[]>(opened_.size())) {
    for (std::size_t i = 0; i < opened_.size(); ++i) now_[i].store(&opened_[i], std::memory_order_relaxed);
  }

  std::size_t size() const { return opened_.size(); }
  const Stream& operator[](std::size_t id) const { return *now_[id].load(std::memory_order_acquire); }

  // `stream` must live as long as this object.
  void replace(StreamId id, const Stream& stream) const { now_[id].store(&stream, std::memory_order_release); }

  // The streams that existed at opening.
  const std::vector<Stream>& opened() const { return opened_; }

 private:
  std::vector<Stream> opened_;
  std::unique_ptr<std::atomic<const Stream*>[]> now_;
};

}  // namespace tfile
