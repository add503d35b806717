// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tfile/range.h"
#include "tfile/request.h"
#include "tfile/source.h"

namespace tfilefs {

// Bytes that are needed; `id` is the caller's.
struct FetchWish {
  const tfile::Source* source = nullptr;
  tfile::ByteRange range;
  std::size_t id = 0;
};

// One read that serves the wishes, all of which lie inside `range`.
struct FetchRange {
  const tfile::Source* source = nullptr;
  tfile::ByteRange range;
  std::vector<FetchWish> wishes;
};

using LimitsOf = std::function<tfile::JoinLimits(const tfile::Source&)>;

// Sorts by source and address and merges neighbours. Overlapping wishes share their bytes. A plan of more bytes than
// `plan_max`, most of them gaps, reads no gaps at all: between thousands of small wishes the gaps that are free may be
// the whole file. Pure.
std::vector<FetchRange> plan_fetch(std::vector<FetchWish> wishes, const LimitsOf&, std::uint64_t plan_max = UINT64_MAX);

// Splits a plan into the requests that read it, each of one source and as large as that allows. Pure.
std::vector<std::span<const FetchRange>> requests_of(std::span<const FetchRange> plan);

// Bytes that the plan reads.
std::uint64_t planned_bytes(std::span<const FetchRange>);

// The number of calls that read sorted ranges: a source reads adjoining ranges in one call.
std::uint64_t read_calls(std::span<const FetchRange>);

}  // namespace tfilefs
