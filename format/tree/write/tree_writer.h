// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/source.h"
#include "tfile/writer.h"

namespace tfile {

// The fields of the keys of a tree and its baskets.
struct TreePlace {
  std::uint64_t directory_seek = 0;  // fSeekPdir of its baskets: always the file's root directory
  std::string name, title;           // of the tree
  Compression compression;
  std::uint32_t datime = 0;  // TDatime in the keys of its baskets
};

// The record of a tree that grows. See TableWriter for rules about threads.
class TreeWriter : public TableWriter {
 public:
  static std::unique_ptr<TreeWriter> create(TreePlace);

  // Opens an existing record: the decompressed payload of a key of class `class_name`, and the length of that key.
  // Unknown parts of the record stay unchanged, and so does the title. The name is that in `place`. `source`: the file,
  // to look at keys of baskets. Blocks. Errors: damaged, unsupported (objects in the record that the file does not
  // describe), io.
  static Result<std::unique_ptr<TreeWriter>> open(TreePlace place, std::span<const std::byte> payload,
                                                  std::uint32_t keylen, const std::string& class_name,
                                                  const StreamerInfos& infos, const Source& source);

  // The decompressed payload for a key of `keylen` bytes. Errors: invalid (branches differ in their number of entries:
  // a cluster was not ended), unsupported (the record would exceed the 1 GiB of an object).
  virtual Result<std::vector<std::byte>> record(std::uint32_t keylen) const = 0;

  // The class of the key: "TTree", or that of the existing key.
  virtual const std::string& class_name() const = 0;

  // The classes that the file's StreamerInfo must describe for the data written here.
  virtual std::vector<std::string> classes() const = 0;

  // Sets the new name of the key.
  virtual void rename(std::string name) = 0;
};

}  // namespace tfile
