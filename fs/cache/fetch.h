// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cache/budget.h"
#include "cache/fetch_plan.h"
#include "exec/executors.h"
#include "tfile/buffer.h"

namespace tfilefs {

// Bytes of one range. The last unit that decodes from them frees them, and gives them back to the budget.
struct Fetched {
  Budget::Reservation memory;
  tfile::Buffer bytes;
};

// Ranges that were read together.
struct FetchedPart {
  std::span<const FetchRange> ranges;
  std::vector<std::shared_ptr<Fetched>> bytes;  // one for each range; none where there was no memory
  std::uint64_t calls = 0, read_ns = 0;
};

// Gets what is fetched, on any thread: each range of the plan is part of one take().
class FetchSink {
 public:
  virtual ~FetchSink() = default;
  // The bytes of a wish were not read. Comes before its part.
  virtual void fail(std::size_t id, const Error&) = 0;
  virtual void take(const FetchedPart&) = 0;
};

struct FetchOrder {
  std::span<const FetchRange> plan;  // all of one origin; valid as long as the sink
  Urgency urgency = Urgency::awaited;
  bool in_place = false;  // a local source is read on this thread
};

// Reads a plan. As many requests are under way as the source is best asked at once: those of a server are started, and
// those of a local file run on threads, by which IoPools::promote() finds them under the sink. `memory`: the bytes of
// the plan. Throws if there is no memory to begin; then the sink gets nothing.
void fetch(Executors&, const FetchOrder&, Budget::Reservation memory, std::shared_ptr<FetchSink>);

}  // namespace tfilefs
