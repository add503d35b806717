// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// A text that is made from the payload of an object, a piece at a time. Its sizes are known before; of what it says,
// only short parts between long ones are kept. Const and thread-safe.
class PiecedText {
 public:
  struct Piece {
    std::uint64_t size = 0;          // of the text, never 0
    std::string text;                // if it is kept; else make() makes it...
    std::vector<ByteRange> payload;  // ...of these bytes of the payload
  };
  virtual ~PiecedText() = default;

  std::vector<Piece> pieces;
  std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (const Piece& piece : pieces) sum += piece.size;
    return sum;
  }

  // Makes a piece that is not kept, of its ranges of the payload, one behind the other; `to` has its size. Errors:
  // damaged, io (of the storage), stale (the payload is another one). May block.
  virtual Result<> make(std::size_t piece, std::span<const std::byte> payload, std::span<char> to) const = 0;
};

}  // namespace tfile
