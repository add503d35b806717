// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "tfile/writer.h"

namespace tfilefs {

struct WriteOptions {
  tfile::Compression compression;
  std::uint64_t cluster_bytes = 30'000'000;  // compressed, of the first cluster of a table: ROOT's own default
  std::chrono::milliseconds commit{5000};    // of quiet before a table that is whole is committed
};

}  // namespace tfilefs
