// SPDX-License-Identifier: Apache-2.0
#include "tree/read/trial_baskets.h"

#include <algorithm>
#include <iterator>

#include "tree/read/basket_data.h"

namespace tfile {
namespace {

// Whether the error is a property of the bytes, and not of this attempt to read them.
bool is_damage(const Error& error) {
  return error.kind == ErrorKind::damaged || error.kind == ErrorKind::unsupported || error.kind == ErrorKind::invalid;
}

}  // namespace

void TrialBaskets::want(BranchIndex branch, std::uint32_t index, std::uint64_t bytes_max) {
  const std::uint64_t size = std::min<std::uint64_t>(storage_of_(branch).baskets.nbytes[index], bytes_max);
  const Place place{branch, index};
  if (embedded_basket(storage_of_(branch), index) || read_.contains(place)) return;
  std::uint64_t& wanted = wanted_[place];
  if (size <= wanted) return;
  wanted_bytes_ += size - wanted;
  wanted = size;
}

void TrialBaskets::read_wanted() {
  std::vector<Place> places;
  std::vector<WantedBytes> bytes;
  for (const auto& [place, size] : wanted_) {
    const BranchStorage& branch = storage_of_(place.first);
    const auto source = source_of_(branch);
    if (!source) {
      read_.emplace(place, tl::unexpected<Error>(source.error()));
    } else if (branch.baskets.nbytes[place.second] > kTrialBytesMax) {
      read_.emplace(place, fail(ErrorKind::unsupported, "basket is too large for a trial"));
    } else {
      places.push_back(place);
      bytes.push_back({*source, {branch.baskets.seek[place.second], size}});
    }
  }
  wanted_.clear();
  wanted_bytes_ = 0;
  std::vector<Buffer> memory = read_together(bytes);
  std::move(memory.begin(), memory.end(), std::back_inserter(memory_));
  for (std::size_t i = 0; i < places.size(); ++i) read_.emplace(places[i], std::move(bytes[i].bytes));
}

void TrialBaskets::begin() {
  missed_ = false;
  failure_.reset();
}

Result<std::span<const std::byte>> TrialBaskets::stored(BranchIndex branch, std::uint32_t index) {
  const auto found = read_.find({branch, index});
  if (found == read_.end()) {
    missed_ = true;
    want(branch, index);
    return fail(ErrorKind::invalid, "not read yet");
  }
  if (!found->second && !is_damage(found->second.error())) failure_ = found->second.error();
  return found->second;
}

Result<BasketData> TrialBaskets::data(BranchIndex branch, std::uint32_t index) {
  const BranchStorage& storage = storage_of_(branch);
  const BasketTable& baskets = storage.baskets;
  const std::int64_t n = (*baskets.entry)[index + 1] - (*baskets.entry)[index];
  if (const EmbeddedBasket* embedded = embedded_basket(storage, index)) return embedded_data(*embedded, n);
  TRY(const std::span<const std::byte> bytes, stored(branch, index));
  return stored_basket(bytes, n);
}

}  // namespace tfile
