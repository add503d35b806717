// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "content.h"
#include "http/byte_ranges.h"
#include "reply.h"
#include "vfs/held.h"

namespace tfilefs {

// A file that is sent.
struct ServedFile {
  FileSystem& fs;
  HeldInode inode;
  HeldHandle handle;
};

// What a response consists of: texts, and ranges of one file.
class ResponseBody {
 public:
  ResponseBody() = default;
  explicit ResponseBody(std::string text) { add(std::move(text)); }
  explicit ResponseBody(std::shared_ptr<const ServedFile> file) : file_(std::move(file)) {}

  void add(std::string text);
  // Of the file.
  void add(const FileSpan&);

  std::uint64_t size() const { return parts_.empty() ? 0 : parts_.back().end; }
  // At least one byte from `position` on, below size(), and at most `most`; or an error. As FileSystem::read: one that
  // finds the file at its end is `stale`.
  void read(std::uint64_t position, std::size_t most, Reply<Slices>) const;

 private:
  struct Part {
    std::uint64_t begin = 0, end = 0;         // in the body
    std::shared_ptr<const std::string> text;  // null: of the file, from `offset` on
    std::uint64_t offset = 0;
  };
  std::shared_ptr<const ServedFile> file_;
  std::vector<Part> parts_;  // none is empty
};

// A body with several ranges of a file (multipart/byteranges, RFC 9110, 14.6). `size`, `type`: of the file. `boundary`:
// what separates them.
ResponseBody body_of_ranges(std::shared_ptr<const ServedFile>, const std::vector<FileSpan>&, std::uint64_t size,
                            std::string_view type, std::string_view boundary);

// "bytes 0-99/1234"
std::string content_range(const FileSpan&, std::uint64_t size);

}  // namespace tfilefs
