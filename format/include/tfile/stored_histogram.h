// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tfile/result.h"

namespace tfile {

// A histogram or profile of ROOT's own classes as its key stores it, to which others can be added. For one thread at a
// time.
class StoredHistogram {
 public:
  virtual ~StoredHistogram() = default;

  // Adds what the other one holds, as TH1::Merge does for histograms of the same axes: contents, squares of weights,
  // entries, moments. Titles, fits and everything else stay. If one of them keeps no moments (its contents were set),
  // the sum keeps none: ROOT then takes them from the bins. Errors: unsupported (another class, other axes or labels,
  // fills that are not in the bins yet, contents that are averages).
  virtual Result<> add(const StoredHistogram& other) = 0;

  // The decompressed bytes of its key, whose length may have changed.
  virtual std::span<const std::byte> payload() const = 0;
};

// Whether File::histogram() opens keys of this class. Looks at its name alone.
bool is_stored_histogram(std::string_view class_name);

}  // namespace tfile
