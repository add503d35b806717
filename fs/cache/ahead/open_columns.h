// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tfile/node.h"

namespace tfilefs {

// The streams whose columns programs have opened and not read yet. A program that opens twenty columns and then reads
// the first of them will read the others, too. Pure.
class OpenColumns {
 public:
  void open(tfile::StreamId stream) {
    if (files_[stream]++ == 0) unread_.insert(stream);
  }
  void close(tfile::StreamId stream) {
    const auto place = files_.find(stream);
    if (place == files_.end() || --place->second > 0) return;
    files_.erase(place);
    unread_.erase(stream);
  }
  void read(tfile::StreamId stream) { unread_.erase(stream); }

  // Those that are open and unread, each once. None if there are more than `most`: a program that opens a whole table
  // need not want all of it.
  std::vector<tfile::StreamId> take_unread(std::size_t most) {
    if (unread_.size() > most) return {};
    const std::set<tfile::StreamId> unread = std::exchange(unread_, {});
    return {unread.begin(), unread.end()};
  }

 private:
  std::unordered_map<tfile::StreamId, std::size_t> files_;  // how many of each are open
  std::set<tfile::StreamId> unread_;
};

}  // namespace tfilefs
