// SPDX-License-Identifier: Apache-2.0
#include "object/summed_payload.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "bytes/appender.h"
#include "bytes/endian.h"
#include "streamer/info/known_descriptions.h"
#include "tfile/number_type.h"

namespace tfile {
namespace {

// The sum of two contents, as far as the type can hold it: integers stay away from the lowest value, as in ROOT.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    constexpr T kMax = std::numeric_limits<T>::max(), kMin = std::is_signed_v<T> ? static_cast<T>(-kMax) : T{0};
    T sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? kMax : kMin;
    return std::max(sum, kMin);
  } else {
    return a + b;
  }
}

template <class T>
void add_numbers(std::byte* to, std::span<const std::byte> from) {
  for (std::size_t at = 0; at < from.size(); at += sizeof(T))
    store_big(to + at, sum_of(load_big<T>(to + at), load_big<T>(from.data() + at)));
}

}  // namespace

Result<> SummedPayload::read() {
  TRY(members, ObjectMembers::read(*infos, class_name, payload, keylen));
  return {};
}

std::string_view SummedPayload::class_at(std::string_view path) const {
  return path.empty() ? std::string_view(class_name) : members.class_name(members.target(path));
}

std::span<std::byte> SummedPayload::bytes_of(const ObjectMembers& part, std::string_view name) {
  const StoredNumbers* const found = part.numbers(name);
  if (found == nullptr || found->bytes.empty()) return {};
  return std::span(payload).subspan(position_of(found->bytes), found->bytes.size());
}

std::size_t SummedPayload::position_of(std::span<const std::byte> bytes) const {
  return static_cast<std::size_t>(bytes.data() - payload.data());
}

void SummedPayload::add_doubles(const ObjectMembers& part, std::string_view name, std::span<const double> values) {
  const std::span<std::byte> to = bytes_of(part, name);
  for (std::size_t i = 0; i < std::min(values.size(), to.size() / sizeof(double)); ++i) {
    std::byte* const at = to.data() + i * sizeof(double);
    store_big(at, load_big<double>(at) + values[i]);
  }
}

void SummedPayload::set_double(const ObjectMembers& part, std::string_view name, double value) {
  const std::span<std::byte> number = bytes_of(part, name);
  if (number.size() == sizeof value) store_big(number.data(), value);
}

Result<> SummedPayload::take_descriptions(const SummedPayload& from, const PayloadPlaces& part) {
  KnownDescriptions known;
  known.take(infos);
  const std::vector<std::string> contradicted = known.contradicted_by(*from.infos);
  bool are_known = true;
  for (const StreamerInfo* info : part.infos()) {
    if (std::ranges::find(contradicted, info->class_name) != contradicted.end())
      return fail(ErrorKind::unsupported, "class " + info->class_name + " is described differently in the first file");
    are_known = are_known && infos->find(info->class_name, info->version) != nullptr;
  }
  if (are_known) return {};
  auto mine = PayloadPlaces::read(*from.infos, class_name, payload, keylen);
  if (!mine) return fail(ErrorKind::unsupported, "neither file describes all of its classes");
  infos = from.infos;
  return read();
}

void PayloadChanges::replace(std::span<const std::byte> old, std::vector<std::byte> bytes) {
  const std::size_t begin = payload_.position_of(old);
  bytes_.push_back(std::move(bytes));
  changes_.push_back({begin, begin + old.size(), {{bytes_.back()}}});
}

void PayloadChanges::append(std::span<const std::byte> behind, std::span<const std::byte> more) {
  const std::size_t end = payload_.position_of(behind) + behind.size();
  changes_.push_back({end, end, {{more}}});
}

void PayloadChanges::set_i4(std::span<const std::byte> old, std::int32_t value) {
  std::vector<std::byte> bytes(sizeof value);
  store_big(bytes.data(), value);
  replace(old, std::move(bytes));
}

void PayloadChanges::set_text(std::string_view old, std::string_view text) {
  const std::size_t length = Appender::string_size(old) - old.size();
  Appender bytes;
  bytes.string(text);
  replace({reinterpret_cast<const std::byte*>(old.data()) - length, length + old.size()}, bytes.take());
}

Result<> PayloadChanges::apply() {
  std::ranges::stable_sort(changes_, {}, &PayloadChange::begin);
  TRY(const PayloadPlaces places, payload_.places());
  TRY(payload_.payload, change_payload(places, changes_));
  return payload_.read();
}

Result<> add_members(SummedPayload& to, const std::string& path, const SummedPayload& from,
                     std::span<const char* const> names) {
  const ObjectMembers own = to.members.at(path), others = from.members.at(path);
  for (const char* const name : names) {
    const StoredNumbers* const other = others.numbers(name);
    const StoredNumbers* const mine = own.numbers(name);
    const std::size_t count = mine ? mine->count() : 0, other_count = other ? other->count() : 0;
    if (count != other_count) return fail(ErrorKind::unsupported, std::string(name) + ": only one of the two has it");
    if (count == 0) continue;
    if (mine->dtype != other->dtype || mine->packing || other->packing)
      return fail(ErrorKind::unsupported, "its contents are of a different type");
    add_stored(to.bytes_of(own, name), *other);
  }
  return {};
}

void add_stored(std::span<std::byte> to, const StoredNumbers& from) {
  if (from.dtype == Dtype::b1) return;
  with_number_type(from.dtype, [&]<class T>(T) { add_numbers<T>(to.data(), from.bytes); });
}

}  // namespace tfile
