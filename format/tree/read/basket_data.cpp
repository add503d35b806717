// SPDX-License-Identifier: Apache-2.0
#include "tree/read/basket_data.h"

#include <algorithm>

#include "tree/record/basket.h"

namespace tfile {

const EmbeddedBasket* embedded_basket(const BranchStorage& branch, std::uint32_t index) {
  if (branch.baskets.seek[index] != 0) return nullptr;
  const auto found = std::find_if(branch.embedded.begin(), branch.embedded.end(),
                                  [&](const EmbeddedBasket& basket) { return basket.index == index; });
  return found == branch.embedded.end() ? nullptr : &*found;
}

Error wrong_entries(std::int64_t told_by_basket, std::int64_t told_by_branch) {
  return Error{
      ErrorKind::damaged,
      "basket has " + std::to_string(told_by_basket) + " entries, the branch says " + std::to_string(told_by_branch),
      -1, 0};
}

Result<BasketData> embedded_data(const EmbeddedBasket& embedded, std::int64_t entries_told) {
  if (embedded.entries != entries_told) return tl::unexpected<Error>(wrong_entries(embedded.entries, entries_told));
  BasketData data;
  data.entries = entries_told;
  data.outside = embedded.data;
  data.size = embedded.data.size();
  data.offsets = embedded.offsets;
  data.keylen = embedded.keylen;
  return data;
}

Result<BasketData> stored_basket(std::span<const std::byte> stored, std::int64_t entries_told) {
  TRY(BasketContent content, read_basket(stored));
  if (content.header.entries != entries_told)
    return tl::unexpected<Error>(wrong_entries(content.header.entries, entries_told));
  BasketData data;
  data.entries = entries_told;
  data.size = content.header.border();
  if (content.payload.size() == 0) data.outside = content.bytes;
  data.payload = std::move(content.payload);
  data.offsets = std::move(content.offsets);
  data.displacement = std::move(content.displacement);
  data.keylen = content.header.keylen;
  return data;
}

}  // namespace tfile
