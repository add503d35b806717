// SPDX-License-Identifier: Apache-2.0
#include "query/vector_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "tfile/number_type.h"

namespace tfilefs {

using tfile::Dtype;
using tfile::Operator;

namespace {

// As a processor converts: what is beyond the type, or no number, is the least one; beyond that without a sign 0.
std::int64_t bits_of(double value) {
  constexpr double kBeyond = 0x1p63;
  return value >= -kBeyond && value < kBeyond ? static_cast<std::int64_t>(value) : INT64_MIN;
}
std::uint64_t unsigned_bits_of(double value) {
  constexpr double kHalf = 0x1p63;
  if (value >= 2 * kHalf) return 0;
  if (value >= kHalf) return static_cast<std::uint64_t>(value);
  return static_cast<std::uint64_t>(bits_of(value));
}

double remainder_of(double a, double b) {
  const std::int64_t divisor = bits_of(b);
  // For the least number, -1 is no divisor in C++.
  return divisor == 0 || divisor == -1 ? 0 : static_cast<double>(bits_of(a) % divisor);
}

double shifted(double a, double by, bool to_the_left) {
  const std::uint64_t bits = unsigned_bits_of(a), count = unsigned_bits_of(by);
  if (count > 63) return 0;
  return static_cast<double>(to_the_left ? bits << count : bits >> count);
}

double one_if(bool truth) { return truth ? 1.0 : 0.0; }

// Calls `loop` with what computes the operator.
template <class Loop>
void with_operator(Operator op, Loop loop) {
  switch (op) {
    case Operator::power:
      return loop([](double a, double b) { return std::pow(a, b); });
    case Operator::multiply:
      return loop([](double a, double b) { return a * b; });
    case Operator::divide:
      return loop([](double a, double b) { return b == 0 ? 0 : a / b; });
    case Operator::remainder:
      return loop(remainder_of);
    case Operator::add:
      return loop([](double a, double b) { return a + b; });
    case Operator::subtract:
      return loop([](double a, double b) { return a - b; });
    case Operator::shift_left:
      return loop([](double a, double b) { return shifted(a, b, true); });
    case Operator::shift_right:
      return loop([](double a, double b) { return shifted(a, b, false); });
    case Operator::bits_and:
      return loop([](double a, double b) { return static_cast<double>(unsigned_bits_of(a) & unsigned_bits_of(b)); });
    case Operator::bits_or:
      return loop([](double a, double b) { return static_cast<double>(unsigned_bits_of(a) | unsigned_bits_of(b)); });
    default:
      return;
  }
}

// The same of those that give a truth value.
template <class Loop>
void with_truth(Operator op, Loop loop) {
  switch (op) {
    case Operator::less:
      return loop([](double a, double b) { return one_if(a < b); });
    case Operator::greater:
      return loop([](double a, double b) { return one_if(a > b); });
    case Operator::less_equal:
      return loop([](double a, double b) { return one_if(a <= b); });
    case Operator::greater_equal:
      return loop([](double a, double b) { return one_if(a >= b); });
    case Operator::equal:
      return loop([](double a, double b) { return one_if(a == b); });
    case Operator::unequal:
      return loop([](double a, double b) { return one_if(a != b); });
    case Operator::both:
      return loop([](double a, double b) { return one_if((a != 0) & (b != 0)); });
    case Operator::either:
      return loop([](double a, double b) { return one_if((a != 0) | (b != 0)); });
    default:
      return with_operator(op, loop);
  }
}

template <class T>
T number_at(const std::byte* from, std::int64_t place) {
  T value;
  std::memcpy(&value, from + static_cast<std::ptrdiff_t>(sizeof(T)) * place, sizeof value);
  return value;
}

template <class F>
void for_each_number(std::span<double> numbers, F function) {
  for (double& each : numbers) each = function(each);
}
// A function without state as one that can be pointed to.
template <class F>
void loop_of(std::span<double> numbers) {
  for_each_number(numbers, F());
}
template <class F>
constexpr ForEachNumber pointer_to(F) {
  return loop_of<F>;
}

constexpr double kArgumentMax = 700;  // of TTreeFormula's exp

// The functions that TTreeFormula calls without a namespace.
const std::pair<std::string_view, ForEachNumber> kLoops[] = {
    {"sqrt", pointer_to([](double x) { return std::sqrt(std::abs(x)); })},
    {"abs", pointer_to([](double x) { return std::abs(x); })},
    {"sq", pointer_to([](double x) { return x * x; })},
    {"sign", pointer_to([](double x) { return x < 0 ? -1.0 : 1.0; })},
    {"int", pointer_to([](double x) { return static_cast<double>(bits_of(x)); })},
    {"log", pointer_to([](double x) { return x > 0 ? std::log(x) : 0; })},
    {"log10", pointer_to([](double x) { return x > 0 ? std::log10(x) : 0; })},
    {"exp", pointer_to([](double x) { return x < -kArgumentMax ? 0 : std::exp(x > kArgumentMax ? kArgumentMax : x); })},
    {"acos", pointer_to([](double x) { return std::abs(x) > 1 ? 0 : std::acos(x); })},
    {"asin", pointer_to([](double x) { return std::abs(x) > 1 ? 0 : std::asin(x); })},
    {"acosh", pointer_to([](double x) { return x < 1 ? 0 : std::acosh(x); })},
    {"atanh", pointer_to([](double x) { return std::abs(x) > 1 ? 0 : std::atanh(x); })},
    {"fabs", pointer_to([](double x) { return std::abs(x); })},
    {"TMath::Abs", pointer_to([](double x) { return std::abs(x); })},
    {"TMath::Sqrt", pointer_to([](double x) { return std::sqrt(x); })},
    {"TMath::Sq", pointer_to([](double x) { return x * x; })}};

}  // namespace

bool is_computed(Operator op) {
  bool found = false;
  with_truth(op, [&](auto) { found = true; });
  return found;
}

void compute(Operator op, std::span<double> a, std::span<const double> b) {
  with_truth(op, [&](auto function) {
    double* const to = a.data();
    const double* const with = b.data();
    for (std::size_t i = 0; i < a.size(); ++i) to[i] = function(to[i], with[i]);
  });
}
void compute(Operator op, std::span<double> a, double b) {
  with_truth(op, [&](auto function) { for_each_number(a, [&](double x) { return function(x, b); }); });
}

void negate(std::span<double> a) {
  for_each_number(a, [](double x) { return -1 * x; });
}
void negate_truth(std::span<double> a) {
  for_each_number(a, [](double x) { return one_if(x == 0); });
}

void choose(std::span<double> a, std::span<const double> b, std::span<const double> c) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] != 0 ? b[i] : c[i];
}

void load_numbers(Dtype dtype, const std::byte* from, std::span<double> to) {
  with_number_type(dtype, [&](auto type) {
    using T = decltype(type);
    double* const into = to.data();
    for (std::size_t i = 0; i < to.size(); ++i)
      into[i] = static_cast<double>(number_at<T>(from, static_cast<std::int64_t>(i)));
  });
}

void gather_numbers(Dtype dtype, const std::byte* from, std::span<const std::int64_t> places, std::span<double> to) {
  with_number_type(dtype, [&](auto type) {
    using T = decltype(type);
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = places[i] < 0 ? 0 : static_cast<double>(number_at<T>(from, places[i]));
  });
}

void find_bins(const HistogramAxis& axis, std::span<const double> numbers, std::int32_t* bins) {
  const double low = axis.low, high = axis.high, width = axis.width(), last = axis.bins;
  const HistogramAxis::Scale scale = axis.scale();
  const double* const from = numbers.data();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double x = from[i];
    double inside = x > low ? x : low;
    inside = inside < high ? inside : low;
    double below = scale.first * (inside - low) / (high - low) * scale.second;
    below = below < last ? below : last;
    below = static_cast<double>(static_cast<std::int32_t>(below));
    double bin = below + 1 + one_if(inside >= low + (below + 1) * width) - one_if(inside < low + below * width);
    bin = x < low ? 0 : bin;
    bin = x < high ? bin : last + 1;
    bins[i] = static_cast<std::int32_t>(bin);
  }
}

ForEachNumber loop_of_function(std::string_view name) {
  const auto* const found = std::ranges::find(kLoops, name, &std::pair<std::string_view, ForEachNumber>::first);
  return found == std::end(kLoops) ? nullptr : found->second;
}

}  // namespace tfilefs
