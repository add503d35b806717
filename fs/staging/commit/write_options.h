// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "tfile/writer.h"

namespace tfilefs {

struct WriteOptions {
  tfile::Compression compression;
  std::uint64_t cluster_bytes = 30'000'000;  // compressed, of the first cluster of a table: ROOT's own default
  std::chrono::milliseconds commit{5000};    // time without changes before a complete table is committed
};

}  // namespace tfilefs
