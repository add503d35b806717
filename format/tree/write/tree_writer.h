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

// What the keys of a tree and of its baskets say.
struct TreePlace {
  std::uint64_t directory_seek = 0;  // fSeekPdir of its baskets: of the file's root directory, wherever the tree lies
  std::string name, title;           // of the tree
  Compression compression;
  std::uint32_t datime = 0;  // TDatime in the keys of its baskets
};

// The record of a tree, as it grows. See TableWriter for threads.
class TreeWriter : public TableWriter {
 public:
  static std::unique_ptr<TreeWriter> create(TreePlace);

  // From the record that is there: the decompressed payload of a key of class `class_name`, and that key's length. What
  // of it is not understood stays as it is; so does its title. The name is `place`'s. `source`: the file, to look at
  // keys of its baskets. Blocks. Errors: damaged, unsupported (objects in the record that the file does not describe),
  // io.
  static Result<std::unique_ptr<TreeWriter>> open(TreePlace place, std::span<const std::byte> payload,
                                                  std::uint32_t keylen, const std::string& class_name,
                                                  const StreamerInfos& infos, const Source& source);

  // The payload, decompressed, for a key of `keylen` bytes. Errors: invalid (branches whose entries differ from the
  // others': a cluster was not ended), unsupported (it would not fit into the 1 GiB of an object).
  virtual Result<std::vector<std::byte>> record(std::uint32_t keylen) const = 0;

  // The key's class: "TTree", or what was there.
  virtual const std::string& class_name() const = 0;

  // The classes that the file's StreamerInfo must describe for what was written here.
  virtual std::vector<std::string> classes() const = 0;

  // What the key is renamed to.
  virtual void rename(std::string name) = 0;
};

}  // namespace tfile
