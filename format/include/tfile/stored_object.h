// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <memory>
#include <span>

#include "tfile/file.h"
#include "tfile/result.h"

namespace tfile {

class StreamerInfos;

// An object as its key stores it, to which others can be added. For one thread at a time.
class StoredObject {
 public:
  virtual ~StoredObject() = default;

  // Adds what the other one holds, as ROOT's hadd does: contents, squares of weights, entries and moments of histograms
  // of the same axes, also in efficiencies, stacks and lists; values of parameters by their mode; points of graphs;
  // objects of lists that have nothing to add up. Titles, fits and everything else stay. If a histogram keeps no
  // moments (its contents were set), the sum keeps none: ROOT then takes them from the bins. An object that cannot be
  // added to, and is the same in both, stays. Then nothing has changed. Errors: unsupported (why it is not added; this
  // object is as it was), damaged.
  virtual Result<> add(const StoredObject& other) = 0;

  // Whether anything was added.
  virtual bool has_changed() const = 0;

  // The decompressed bytes of its key, whose length may have changed.
  virtual std::span<const std::byte> payload() const = 0;
};

// Opens the objects of a file.
class StoredObjects {
 public:
  // Blocks. Errors: unsupported (the descriptions of classes are damaged), io.
  static Result<StoredObjects> of(std::shared_ptr<const File>);

  // The object of a key of kind object. Blocks. Errors: damaged, io.
  Result<std::unique_ptr<StoredObject>> open(const KeyInfo&) const;

 private:
  std::shared_ptr<const File> file_;
  std::shared_ptr<const StreamerInfos> infos_;
};

}  // namespace tfile
