// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "tfile/buffer.h"
#include "tfile/mutex.h"

namespace tfile {

// Ends of lists that branches of one table have in common. The forty columns of a collection have the same lists, and
// share one array of ends while a chunk with it is in memory. For any thread.
class SharedEnds {
 public:
  struct Range {
    std::int64_t first = 0, count = 0;  // the range in a column of ends
    std::int64_t base = 0;              // the item at which these lists begin
    auto operator<=>(const Range&) const = default;
  };

  // The array last kept for that range, if a chunk still holds it; else nullptr. It may belong to a branch with other
  // ends.
  std::shared_ptr<const Buffer> at(const Range&) const;
  void keep(const Range&, const std::shared_ptr<const Buffer>&);

 private:
  mutable Mutex mutex_{"SharedEnds::mutex_"};
  std::map<Range, std::weak_ptr<const Buffer>> ends_ GUARDED_BY(mutex_);
  std::size_t look_at_ GUARDED_BY(mutex_) = 1024;  // at this size, those without a chunk are dropped
};

}  // namespace tfile
