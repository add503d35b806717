// SPDX-License-Identifier: Apache-2.0
#include "array/npy.h"

#include <algorithm>

#include "view/segments.h"
#include "view/view.h"

namespace tfilefs {

std::shared_ptr<Content> npy_content(std::shared_ptr<CachedStreams> streams, const tfile::Column& column,
                                     std::int64_t length) {
  const std::int64_t items = std::max<std::int64_t>(0, length);
  Segments segments;
  segments.add_bytes(npy_header(column.dtype, column.shape, items));
  segments.add_column(range_of_items(column, 0, items));
  return segment_content(std::move(streams), std::move(segments));
}

}  // namespace tfilefs
