// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "content.h"
#include "http/byte_ranges.h"
#include "http/text_source.h"
#include "reply.h"
#include "vfs/held.h"

namespace tfilefs {

// A file that is sent.
struct ServedFile {
  FileSystem& fs;
  HeldInode inode;
  HeldHandle handle;
};

// The content of a response: texts, and ranges of one file; or a text that is made while it is sent, whose size is
// not known before its end.
class ResponseBody {
 public:
  ResponseBody() = default;
  // `begin`: what was made of it already.
  ResponseBody(std::shared_ptr<TextSource>, std::string begin);
  explicit ResponseBody(std::string text) { add(std::move(text)); }
  explicit ResponseBody(std::shared_ptr<const ServedFile> file) : file_(std::move(file)) {}

  void add(std::string text);
  // Adds a range of the file.
  void add(const FileSpan&);

  bool has_size() const { return made_ == nullptr; }
  std::uint64_t size() const { return parts_.empty() ? 0 : parts_.back().end; }
  // The place of the first bytes of the file, if there are any.
  std::optional<std::uint64_t> begin_of_file() const;
  // At least one byte from `position` on, below size(), and at most `most`; or an error. As FileSystem::read: one that
  // finds the file at its end is `stale`. Without a size: what comes next, whatever `position` is, and nothing at the
  // end; one call at a time.
  void read(std::uint64_t position, std::size_t most, Reply<Slices>) const;

 private:
  struct Part {
    std::uint64_t begin = 0, end = 0;         // in the body
    std::shared_ptr<const std::string> text;  // null: of the file, from `offset` on
    std::uint64_t offset = 0;
  };
  // A text that is made, and the piece of it that is being sent.
  struct MadeText {
    std::shared_ptr<TextSource> source;
    std::shared_ptr<const std::string> piece;
    std::size_t sent = 0;
    Slices take(std::size_t most);
  };
  void read_made(std::size_t most, Reply<Slices>) const;

  std::shared_ptr<MadeText> made_;
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
