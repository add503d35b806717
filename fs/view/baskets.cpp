// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tfile/json_writer.h"
#include "view/view.h"

namespace tfilefs {
namespace {

constexpr std::uint32_t kBasketsListedMax = 100'000;  // an RNTuple may claim more than its file has bytes

struct StoredBasket {
  std::int64_t first_entry = 0;
  std::optional<std::uint64_t> offset;  // nothing: it is in no place of its own
  std::uint64_t size = 0;
};

class BasketList {
 public:
  void add(const tfile::Table& table, tfile::ChunkKey key) {
    const tfile::EntryRange entries = table.chunk_entries(key);
    const auto place = table.locate(key);
    StoredBasket basket{entries.begin, {}, 0};
    if (!place) {
      ++lost_;
    } else if (place->source) {
      file_size_ = place->source->size();
      basket.offset = place->range.begin;
      basket.size = place->range.size;
    } else {
      basket.size = place->embedded.size();
    }
    if (place && entries.size() == 0 && basket.size == 0) return;  // of a column without entries
    ++count_;
    if (basket.size > 0) note_size(basket.size);
    if (listed_.size() < kBasketsListedMax) listed_.push_back(basket);
  }

  std::string text(const std::string& path) const {
    tfile::JsonWriter json;
    json.begin_object().member("tfilefs", 1).line(1).member("path", path).line(1).key("file_size");
    if (file_size_)
      json.number(*file_size_);
    else
      json.null();
    json.line(1).member("baskets", count_).line(1).member("lost", lost_).line(1).member("stored", stored_);
    json.line(1).member("smallest", smallest_).line(1).member("largest", largest_);
    write(json, "first_entries", [&](const StoredBasket& basket) { json.number(basket.first_entry); });
    write(json, "offsets", [&](const StoredBasket& basket) {
      if (basket.offset)
        json.number(*basket.offset);
      else
        json.null();
    });
    write(json, "sizes", [&](const StoredBasket& basket) { json.number(basket.size); });
    return json.line().end_object().take() + "\n";
  }

 private:
  void note_size(std::uint64_t size) {
    smallest_ = stored_ == 0 ? size : std::min(smallest_, size);
    largest_ = std::max(largest_, size);
    stored_ += size;
  }
  template <class Write>
  void write(tfile::JsonWriter& json, std::string_view name, Write one) const {
    json.line(1).key(name).begin_array();
    for (const StoredBasket& basket : listed_) one(basket);
    json.end_array();
  }

  std::vector<StoredBasket> listed_;
  std::optional<std::uint64_t> file_size_;
  std::uint64_t count_ = 0, lost_ = 0, stored_ = 0, smallest_ = 0, largest_ = 0;
};

}  // namespace

std::string baskets_text(const tfile::Table& table, const tfile::Column& column) {
  BasketList baskets;
  const std::size_t count = table.chunk_count(column.stream);
  for (std::size_t i = 0; i < count; ++i) baskets.add(table, {column.stream, static_cast<std::uint32_t>(i)});
  return baskets.text(column.path);
}

}  // namespace tfilefs
