// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tfile/json_writer.h"
#include "tfile/source.h"
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

  std::string text(const std::string& path, const std::vector<std::string>& codecs) const {
    tfile::JsonWriter json;
    json.begin_object().member("tfilefs", 1).line(1).member("path", path).line(1).key("file_size");
    if (file_size_)
      json.number(*file_size_);
    else
      json.null();
    json.line(1).member("baskets", count_).line(1).member("lost", lost_).line(1).member("stored", stored_);
    json.line(1).member("smallest", smallest_).line(1).member("largest", largest_);
    json.line(1).key("codecs").begin_array();
    for (const std::string& codec : codecs) json.text(codec);
    json.end_array();
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

// So many baskets, spread over all, are looked at for their codec.
constexpr std::size_t kCodecsAsked = 5;

// By which a basket is compressed; empty if that cannot be told.
std::string codec_of_basket(const tfile::Table& table, tfile::ChunkKey key) {
  const auto place = table.locate(key);
  if (!place || !place->source) return "";
  const auto size = std::min<std::uint64_t>(place->range.size, tfile::Table::kCodecBytesMax);
  std::vector<std::byte> begin(static_cast<std::size_t>(size));
  if (size == 0 || !tfile::read_range(*place->source, {place->range.begin, size}, begin)) return "";
  return std::string(table.codec_of(key, begin, place->range.size));
}

// Each once, in the order of the baskets.
std::vector<std::string> codecs_of(const tfile::Table& table, tfile::StreamId stream, std::size_t count) {
  std::vector<std::string> codecs;
  const std::size_t asked = std::min(count, kCodecsAsked);
  for (std::size_t i = 0; i < asked; ++i) {
    const std::size_t basket = asked < 2 ? 0 : i * (count - 1) / (asked - 1);
    const std::string codec = codec_of_basket(table, {stream, static_cast<std::uint32_t>(basket)});
    if (!codec.empty() && std::ranges::find(codecs, codec) == codecs.end()) codecs.push_back(codec);
  }
  return codecs;
}

}  // namespace

std::string baskets_text(const tfile::Table& table, const tfile::Column& column) {
  BasketList baskets;
  const std::size_t count = table.chunk_count(column.stream);
  for (std::size_t i = 0; i < count; ++i) baskets.add(table, {column.stream, static_cast<std::uint32_t>(i)});
  return baskets.text(column.path, codecs_of(table, column.stream, count));
}

}  // namespace tfilefs
