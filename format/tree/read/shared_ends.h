// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "tfile/buffer.h"

namespace tfile {

// Ends of lists that branches of one table have in common: the forty columns of a collection have the same lists, and
// share one array of ends as long as a chunk with it is in memory. Any thread.
class SharedEnds {
 public:
  struct Range {
    std::int64_t first = 0, count = 0;  // which of a column's ends
    std::int64_t base = 0;              // item with which their lists begin
    auto operator<=>(const Range&) const = default;
  };

  // The last that were kept there, if a chunk still has them; else null. Another branch may have others.
  std::shared_ptr<const Buffer> at(const Range&) const;
  void keep(const Range&, const std::shared_ptr<const Buffer>&);

 private:
  mutable std::mutex mutex_;
  std::map<Range, std::weak_ptr<const Buffer>> ends_;
  std::size_t look_at_ = 1024;  // so many, and those without a chunk are dropped
};

}  // namespace tfile
