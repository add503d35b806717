// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tfile/source.h"

namespace tfile::test {

// A file in an array. Counts the bytes read, so that tests can measure the cost of a claimed size.
class MemorySource final : public Source {
 public:
  explicit MemorySource(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) { identity_.size = bytes_.size(); }

  const Identity& identity() const override { return identity_; }
  Result<Identity> identity_now() const override { return identity_; }
  const std::string& name() const override { return name_; }
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    ++calls_;
    if (ranges.size() > told.ranges_max) return fail(ErrorKind::invalid, "too many ranges");
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const auto [begin, size] = ranges[i];
      if (into[i].size() != size) return fail(ErrorKind::invalid, "a buffer of another size than its range");
      if (begin > bytes_.size() || size > bytes_.size() - begin) return fail(ErrorKind::damaged, "beyond the end");
      if (size != 0) std::memcpy(into[i].data(), bytes_.data() + begin, size);
      bytes_read_ += size;
    }
    return {};
  }
  Result<std::shared_ptr<const Source>> sibling(std::string_view) const override {
    return fail(ErrorKind::not_found, "a file in memory has no siblings");
  }
  SourceTraits traits() const override { return told; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::uint64_t calls() const { return calls_; }

  SourceTraits told;

 private:
  std::vector<std::byte> bytes_;
  Identity identity_;
  std::string name_ = "memory";
  mutable std::uint64_t bytes_read_ = 0, calls_ = 0;
};

}  // namespace tfile::test
