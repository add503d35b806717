// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/file.h"
#include "tfile/result.h"

namespace tfile {

// The class whose streamer wrote the bytes of each entry of a raw column, and what they lack to be as it writes them.
// An RNTuple keeps them as they are: the column is offered with the role raw, and its directory with the class
// (InputColumn::classes). The others of a table need not know that.
struct StreamedClass {
  std::string name;  // as RNTuples name types: "std::vector<Packed>"
  std::int32_t version = 0;
  std::uint32_t checksum = 0;
  // Byte count and version in front of each: a class writes them, a collection does not.
  enum class Header : std::uint8_t { right, lacks, has_superfluous } header = Header::right;
  bool may_refer = false;  // references between its objects do not count from its own first byte
  friend bool operator==(const StreamedClass&, const StreamedClass&) = default;
};

// The classes of a tree's branches, by Column::branch; those that the file describes, and that are in no split
// collection. Whether a branch is shown raw is not looked at. Blocks. Errors: damaged, unsupported, io.
Result<std::map<std::string, StreamedClass>> streamed_branches(const File&, const KeyInfo& tree);

class KnownDescriptions;

// The descriptions that files have of their classes. Bytes of objects name a class by its version, so two files fit in
// one only where each version has the same members in both.
class ClassesOfFiles {
 public:
  ClassesOfFiles();
  // Takes the descriptions of one more file. Returns the classes that it describes otherwise than those before, under
  // the same version. Blocks. Errors: unsupported, io.
  Result<std::vector<std::string>> take(const File&);

 private:
  std::shared_ptr<KnownDescriptions> known_;
};

// Whether an object of this type may have one of these classes in it, by what the file describes: as a member, or
// through pointers and collections of ROOT, which hold any class. Blocks. Errors: unsupported, io.
Result<bool> may_hold(const File&, const std::string& type, const std::vector<std::string>& classes);

// Makes of the raw bytes of entries what the streamer of their class writes. `before`: how many entries of the cluster
// come before these. Replaces the two columns; `memory` then has their bytes. Errors: unsupported (objects that may
// refer to each other).
Result<> complete_streamed(const StreamedClass&, std::int64_t before, std::span<const std::byte>& offsets,
                           std::span<const std::byte>& bytes, std::vector<Buffer>& memory);

}  // namespace tfile
