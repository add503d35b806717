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
// with its last owner, when its chunks are claimed or that will take longer; who waits for it goes on then, on that
// thread. Thread-safe.
class LoadPlan {
 public:
  LoadPlan(tfile::StreamId begin, tfile::StreamId end, tfile::EntryRange entries)
      : begin_(begin), end_(end), entries_(entries) {}
  ~LoadPlan();

  // Whether chunks of the stream with some of the entries will be loaded by it.
  bool covers(tfile::StreamId, tfile::EntryRange) const;
  void wait(Reply<bool> then);

 private:
  const tfile::StreamId begin_, end_;
  const tfile::EntryRange entries_;
  Mutex mutex_;
  std::vector<Reply<bool>> waiting_ GUARDED_BY(mutex_);
};

// Those of one stream set. Who misses a chunk that is about to be claimed would fetch it by itself, and read by read
// what the plan reads in one piece. Thread-safe.
class PlansUnderWay {
 public:
  std::shared_ptr<LoadPlan> begin(tfile::StreamId begin, tfile::StreamId end, tfile::EntryRange);
  // Null if there is none.
  std::shared_ptr<LoadPlan> covering(tfile::StreamId, tfile::EntryRange) const;

 private:
  mutable Mutex mutex_;
  std::vector<std::weak_ptr<LoadPlan>> plans_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
