// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "query/histogram_axis.h"
#include "tfile/expression.h"
#include "tfile/node.h"

namespace tfilefs {

// Loops over the numbers of a block, of which compilers make vectors. All compute as TTreeFormula does, in double:
// 1/2 is 0.5, x/0 is 0, and bits are those of 64-bit integers. Pure.

// Whether queries have an operator of two operands.
bool is_computed(tfile::Operator);
// a = a op b. The spans have the same size.
void compute(tfile::Operator, std::span<double> a, std::span<const double> b);
void compute(tfile::Operator, std::span<double> a, double b);
void negate(std::span<double>);
void negate_truth(std::span<double>);
// a = a != 0 ? b : c
void choose(std::span<double> a, std::span<const double> b, std::span<const double> c);

// Little-endian numbers, one after the other, as doubles.
void load_numbers(tfile::Dtype, const std::byte* from, std::span<double> to);
// The numbers at these places behind `from`; 0 for a place below 0.
void gather_numbers(tfile::Dtype, const std::byte* from, std::span<const std::int64_t> places, std::span<double> to);

// HistogramAxis::bin_of() of each.
void find_bins(const HistogramAxis&, std::span<const double>, std::int32_t* bins);

// A function of one number for each of many.
using ForEachNumber = void (*)(std::span<double>);

// That is one whose loop is a vector's, or that TTreeFormula defines in its own way (sqrt(-4) is 2, log(0) is 0); null
// for others.
ForEachNumber loop_of_function(std::string_view name);

}  // namespace tfilefs
