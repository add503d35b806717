// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mutex.h"
#include "reply.h"
#include "tfile/node.h"
#include "tfile/range.h"

namespace tfilefs {

// A load ahead that is still being planned, which takes some tens of milliseconds for ten thousand columns. It ends
// with its last owner: when its chunks are claimed, or when that will take longer. The reads that wait for it then go
// on, on that thread. Thread-safe.
class LoadPlan {
 public:
  LoadPlan(tfile::StreamId begin, tfile::StreamId end, tfile::EntryRange entries)
      : begin_(begin), end_(end), entries_(entries) {}
  ~LoadPlan();

  // Whether the load will include chunks of the stream with some of the entries.
  bool covers(tfile::StreamId, tfile::EntryRange) const;
  void wait(Reply<bool> then);

 private:
  const tfile::StreamId begin_, end_;
  const tfile::EntryRange entries_;
  Mutex mutex_{"LoadPlan::mutex_"};
  std::vector<Reply<bool>> waiting_ GUARDED_BY(mutex_);
};

// The plans of one stream set. A read that misses a chunk which is about to be claimed waits for the plan: otherwise
// each read would fetch by itself a part of the bytes that the plan reads at once. Thread-safe.
class PlansUnderWay {
 public:
  std::shared_ptr<LoadPlan> begin(tfile::StreamId begin, tfile::StreamId end, tfile::EntryRange);
  // Null if there is none.
  std::shared_ptr<LoadPlan> covering(tfile::StreamId, tfile::EntryRange) const;

 private:
  mutable Mutex mutex_{"PlansUnderWay::mutex_"};
  std::vector<std::weak_ptr<LoadPlan>> plans_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
