// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tfile/source.h"

namespace tfile::test {

// A file in memory that records all reads, and fails when told to. For any thread.
class WatchedSource final : public Source {
 public:
  // Each byte has a value that depends on its place.
  explicit WatchedSource(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes_.push_back(byte_at(i));
    identity_.size = size;
  }
  explicit WatchedSource(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) { identity_.size = bytes_.size(); }
  static std::byte byte_at(std::uint64_t place) { return static_cast<std::byte>(place * 31 + place / 256); }

  void set_traits(SourceTraits traits) { traits_ = traits; }
  // Reads of this byte fail from now on, as those of a bad sector do; nullopt: none fails.
  void fail_at(std::optional<std::uint64_t> place) { failing_ = place; }
  std::vector<std::vector<ByteRange>> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  const Identity& identity() const override { return identity_; }
  Result<Identity> identity_now() const override { return identity_; }
  const std::string& name() const override { return name_; }
  SourceTraits traits() const override { return traits_; }
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    const std::lock_guard lock(mutex_);
    requests_.emplace_back(ranges.begin(), ranges.end());
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const auto [begin, size] = ranges[i];
      if (failing_ && begin <= *failing_ && *failing_ < begin + size) return fail(ErrorKind::io, "bad sector", -1, EIO);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(begin), size, into[i].begin());
    }
    return {};
  }
  Result<std::shared_ptr<const Source>> sibling(std::string_view) const override {
    return fail(ErrorKind::not_found, "a file in memory has no siblings");
  }

 private:
  std::vector<std::byte> bytes_;
  Identity identity_;
  std::string name_ = "memory";
  SourceTraits traits_;
  std::optional<std::uint64_t> failing_;
  mutable std::mutex mutex_;
  mutable std::vector<std::vector<ByteRange>> requests_;
};

}  // namespace tfile::test
