// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/basket_cut.h"

#include <algorithm>
#include <utility>

#include "bytes/appender.h"
#include "compression/frame.h"
#include "tree/record/basket.h"

namespace tfile {
namespace {

class Cutter {
 public:
  Cutter(const CutForm& form, const TreePlace& place) : form_(form), place_(place) {
    head_.branch_name = form.branch_name;
    head_.title = form.title;
    head_.keylen = basket_keylen(form.branch_name, form.title);
  }

  Result<Part> cut(std::span<const TakenEntries> baskets) {
    const auto has_offsets = [](const TakenEntries& basket) { return !basket.offsets.empty(); };
    with_offsets_ = form_.has_offsets || std::ranges::any_of(baskets, has_offsets);
    for (const TakenEntries& basket : baskets) {
      if (basket.taken.empty()) continue;  // one between those that entries are taken of
      TRY_VOID(basket.offsets.empty() ? take_sized(basket) : take_any(basket));
    }
    head_.entries = static_cast<std::int32_t>(entries_);
    head_.last = static_cast<std::int32_t>(head_.keylen + out_.size());
    if (out_.size() > kObjectSizeMax) return fail(ErrorKind::unsupported, "basket larger than 1 GiB");
    const std::size_t data_size = out_.size();
    if (with_offsets_) add_tail();
    return finished(data_size);
  }

 private:
  Result<> take_sized(const TakenEntries& basket) {
    const auto entries = static_cast<std::uint64_t>(basket.entries);
    if (entries == 0 || basket.data.size() % entries != 0)
      return fail(ErrorKind::damaged, "basket: " + std::to_string(basket.data.size()) + " bytes for " +
                                          std::to_string(entries) + " entries, without offsets");
    const std::size_t size = basket.data.size() / entries;
    if (entries_ > 0 && static_cast<std::size_t>(head_.entry_size) != size && !with_offsets_)
      return fail(ErrorKind::damaged, "basket: entries have " + std::to_string(size) + " bytes, in earlier baskets " +
                                          std::to_string(head_.entry_size));
    head_.entry_size = static_cast<std::int32_t>(size);
    for (const EntryRange& range : basket.taken) {
      const auto begin = static_cast<std::size_t>(range.begin) * size;
      if (with_offsets_) {
        for (std::int64_t entry = range.begin; entry < range.end; ++entry)
          note(basket, static_cast<std::size_t>(entry) * size, static_cast<std::size_t>(entry),
               static_cast<std::size_t>(entry - range.begin) * size);
      }
      append(basket, range, begin, static_cast<std::size_t>(range.end) * size);
    }
    return {};
  }

  Result<> take_any(const TakenEntries& basket) {
    for (const EntryRange& range : basket.taken) {
      const auto begin = static_cast<std::size_t>(basket.offsets[static_cast<std::size_t>(range.begin)]);
      for (std::int64_t entry = range.begin; entry < range.end; ++entry) {
        const auto i = static_cast<std::size_t>(entry);
        const auto at = static_cast<std::size_t>(basket.offsets[i]);
        note(basket, at, i, at - begin);
      }
      append(basket, range, begin, static_cast<std::size_t>(basket.offsets[static_cast<std::size_t>(range.end)]));
    }
    return {};
  }

  // Notes an entry that begins at `at` in the data of its basket, and will begin `behind` bytes from here.
  void note(const TakenEntries& basket, std::size_t at, std::size_t entry, std::size_t behind) {
    const auto begins = static_cast<std::uint32_t>(head_.keylen + out_.size() + behind);
    const auto began = static_cast<std::uint32_t>(basket.keylen + at) -
                       (basket.displacement.empty() ? 0 : static_cast<std::uint32_t>(basket.displacement[entry]));
    begins_.push_back(begins);
    if (!form_.has_places) return;
    began_.push_back(began);
    moved_ |= begins != began;
  }

  void append(const TakenEntries& basket, EntryRange range, std::size_t begin, std::size_t end) {
    out_.bytes(basket.data.subspan(begin, end - begin));
    entries_ += range.size();
  }

  void add_numbers(const std::vector<std::uint32_t>& numbers) {
    out_.big(static_cast<std::int32_t>(numbers.size() + 1));
    for (const std::uint32_t number : numbers) out_.big(number);
    out_.big(std::uint32_t{0});  // has no meaning; ROOT writes 0
  }

  void add_tail() {
    head_.entry_size = kOffsetCapacity;
    add_numbers(begins_);
    if (moved_) add_numbers(began_);
  }

  Result<Part> finished(std::size_t data_size) {
    const std::vector<std::byte> payload = out_.take();
    std::vector<std::byte> blocks;
    Part basket;
    TRY(basket.stored, packed_record({payload, data_size}, head_.keylen, place_.compression, blocks));
    write_head(head_, place_, payload.size(), basket.stored.span());
    basket.entries = entries_;
    basket.raw_bytes = static_cast<std::int64_t>(head_.keylen + payload.size());
    return basket;
  }

  const CutForm& form_;
  const TreePlace& place_;
  BasketHead head_;
  Appender out_;
  bool with_offsets_ = false;
  std::int64_t entries_ = 0;
  std::vector<std::uint32_t> begins_, began_;
  bool moved_ = false;
};

}  // namespace

Result<Part> cut_basket(const CutForm& form, const TreePlace& place, std::span<const TakenEntries> baskets) {
  return Cutter(form, place).cut(baskets);
}

Result<Part> recompress_basket(std::span<const std::byte> stored, const Compression& compression) {
  TRY(const BasketHeader header, read_basket_header(stored, stored.size()));
  const auto record = stored.subspan(header.keylen, header.nbytes - header.keylen);
  TRY(const Buffer payload, decompress(record, header.objlen));
  std::vector<std::byte> blocks;
  Part basket;
  TRY(basket.stored, packed_record({payload.span(), header.border()}, header.keylen, compression, blocks));
  std::ranges::copy(stored.first(header.keylen), basket.stored.data());
  // fNbytes, the only number of the head that changes with the compression.
  store_big(basket.stored.data(), static_cast<std::int32_t>(basket.stored.size()));
  basket.entries = header.entries;
  basket.raw_bytes = static_cast<std::int64_t>(header.keylen) + header.objlen;
  return basket;
}

}  // namespace tfile
