// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/remote_listing.h"

namespace tfile {

// The names of a directory while a server tells them. A server may name anything.
class ListingDraft {
 public:
  // The meaning of a name that comes twice: the server errs, or servers have copies of one file.
  enum class Twice : std::uint8_t { error, copy };
  explicit ListingDraft(Twice twice = Twice::error) : twice_(twice) {}

  // A name that no file in a mount can have is left out, with a line that says so. Error: unsupported, if there are
  // more names than are taken.
  Result<> add(RemoteEntry);
  void leave_out(std::string_view name, std::string_view reason);

  // In order, and each name once. Of two with the same name the first is taken.
  RemoteListing finish() &&;

 private:
  // Some 50 MB of names of usual length. A directory of a grid's storage may have 100,000.
  static constexpr std::size_t kEntriesMax = 300'000;
  // Enough to see what they have in common.
  static constexpr std::size_t kLinesMax = 20;

  const Twice twice_;
  RemoteListing listing_;
  std::size_t left_out_ = 0;
};

}  // namespace tfile
