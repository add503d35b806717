// SPDX-License-Identifier: Apache-2.0
// Every pair of C++ type and column type that ROOT accepts; numbers of fewer bits.
#include <bit>
#include <cmath>

#include "ntuple_samples.h"

namespace encodings {
namespace {

using C = ROOT::ENTupleColumnType;
using Columns = ROOT::RFieldBase::ColumnRepresentation_t;

// The nearest number of half precision, ties to even.
double half(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double step = std::ldexp(1, std::max(std::ilogb(value), -14) - 10);
  const double nearest = std::nearbyint(value / step) * step;
  return std::abs(nearest) > 65504 ? std::copysign(INFINITY, value) : nearest;
}

template <class T>
T as_real(C column, T value) {
  if (column == C::kReal16) return T(half(value));
  if (column == C::kReal32 || column == C::kSplitReal32) return T(float(value));
  return value;
}

Field with_columns(Field field, Columns columns) {
  field.create = [create = field.create, columns] {
    auto made = create();
    made->SetColumnRepresentatives({columns});
    return made;
  };
  return field;
}

const char* name_of(C column) {
  switch (column) {
    case C::kReal16:
      return "Real16";
    case C::kReal32:
      return "Real32";
    case C::kReal64:
      return "Real64";
    case C::kSplitReal32:
      return "SplitReal32";
    case C::kSplitReal64:
      return "SplitReal64";
    case C::kIndex32:
      return "Index32";
    case C::kIndex64:
      return "Index64";
    case C::kSplitIndex32:
      return "SplitIndex32";
    case C::kSplitIndex64:
      return "SplitIndex64";
    default:
      return "";
  }
}

template <class T>
void add_integer(Table& table, const std::string& name, C plain, C split) {
  table.fields.push_back(with_columns(field<T>(name + "_plain"), {plain}));
  table.fields.push_back(with_columns(field<T>(name + "_split"), {split}));
}

template <class T>
void add_real(Table& table, const std::string& type, C column) {
  const std::string name = type + "_" + name_of(column);
  Field made = with_columns(field<T>(name), {column});
  made.keep = [column](void* value) { *static_cast<T*>(value) = as_real(column, *static_cast<T*>(value)); };
  table.fields.push_back(made);
}

template <class T>
void add_collection(Table& table, const std::string& type, std::vector<C> more = {}) {
  for (const C index : {C::kIndex32, C::kIndex64, C::kSplitIndex32, C::kSplitIndex64}) {
    Columns columns{index};
    columns.insert(columns.end(), more.begin(), more.end());
    table.fields.push_back(with_columns(field<T>(type + "_" + name_of(index)), columns));
  }
}

std::vector<Table> pair_tables() {
  // The 8-byte columns of the first cluster get pages of all sizes up to the largest.
  Table table = table_of(1000, {700, -701, 850});
  table.fields = {with_columns(field<bool>("bool"), {C::kBit}), with_columns(field<std::byte>("byte"), {C::kByte}),
                  with_columns(field<char>("char"), {C::kChar}), with_columns(field<std::int8_t>("int8"), {C::kInt8}),
                  with_columns(field<std::uint8_t>("uint8"), {C::kUInt8})};
  add_integer<std::int16_t>(table, "int16", C::kInt16, C::kSplitInt16);
  add_integer<std::uint16_t>(table, "uint16", C::kUInt16, C::kSplitUInt16);
  add_integer<std::int32_t>(table, "int32", C::kInt32, C::kSplitInt32);
  add_integer<std::uint32_t>(table, "uint32", C::kUInt32, C::kSplitUInt32);
  add_integer<std::int64_t>(table, "int64", C::kInt64, C::kSplitInt64);
  add_integer<std::uint64_t>(table, "uint64", C::kUInt64, C::kSplitUInt64);
  for (const C column : {C::kReal16, C::kReal32, C::kSplitReal32}) add_real<float>(table, "float", column);
  for (const C column : {C::kReal16, C::kReal32, C::kSplitReal32, C::kReal64, C::kSplitReal64})
    add_real<double>(table, "double", column);
  add_collection<std::string>(table, "string", {C::kChar});
  add_collection<std::vector<float>>(table, "vector");
  add_collection<std::optional<float>>(table, "optional");
  table.fields.push_back(with_columns(field<std::bitset<13>>("bitset"), {C::kBit}));
  table.fields.push_back(
      with_columns(field<std::variant<float, std::string, std::vector<std::int32_t>>>("variant"), {C::kSwitch}));
  return {table};
}

template <class T>
void add_truncated(Table& table, const std::string& type, unsigned bits) {
  const std::string name = type + "_truncated" + std::to_string(bits);
  Field made = field<T>(name);
  made.create = [name, bits] {
    auto real = std::make_unique<ROOT::RField<T>>(name);
    real->SetTruncated(bits);
    return real;
  };
  made.keep = [bits](void* value) {
    const auto whole = std::bit_cast<std::uint32_t>(float(*static_cast<T*>(value)));
    *static_cast<T*>(value) = T(std::bit_cast<float>(whole >> (32 - bits) << (32 - bits)));
  };
  table.fields.push_back(made);
}

// Values are on a step, or a quarter of a step beside one, so that every reader finds the same nearest step.
template <class T>
void add_quantized(Table& table, const std::string& type, unsigned bits) {
  const std::string name = type + "_quantized" + std::to_string(bits);
  const T low = T(bits % 3) - 2, high = T(bits) / 2 + 1;
  const std::uint64_t steps = (std::uint64_t(1) << bits) - 1;
  const double step = (double(high) - double(low)) / double(steps);
  const auto number_of_steps = [=](long number) {
    Dice dice = dice_of(name, number);
    const auto kind = dice() % 8;
    return kind == 0 ? 0 : kind == 1 ? steps : dice() % (steps + 1);
  };
  Field made = field<T>(name, [=](T& value, long number) {
    const std::uint64_t n = number_of_steps(number);
    const double beside = n == 0 || n == steps ? 0 : 0.25 * double(number % 3 - 1);
    value = std::min(high, std::max(low, T(low + step * (double(n) + beside))));
  });
  made.create = [=] {
    auto real = std::make_unique<ROOT::RField<T>>(name);
    real->SetQuantized(bits, {low, high});
    return real;
  };
  made.keep = [=](void* value) {
    T& number = *static_cast<T*>(value);
    number = T(double(low) + std::nearbyint((double(number) - double(low)) / step) * step);
  };
  made.tolerance = 4 * double(high) * double(std::numeric_limits<T>::epsilon());
  table.fields.push_back(made);
}

std::vector<Table> bit_tables() {
  Table table = table_of(400, {300, -301});
  for (unsigned bits = 10; bits <= 31; bits++)
    add_truncated<float>(table, "float", bits), add_truncated<double>(table, "double", bits);
  for (unsigned bits = 1; bits <= 32; bits++)
    add_quantized<float>(table, "float", bits), add_quantized<double>(table, "double", bits);
  return {table};
}

}  // namespace

const Sample pairs{pair_tables, [](const std::string& file, int compression) {
                     write_file(pair_tables()[0], file, small_pages(compression));
                   }};
const Sample bits{bit_tables, [](const std::string& file, int compression) {
                    write_file(bit_tables()[0], file, small_pages(compression));
                  }};

}  // namespace encodings
