// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/container/file_image.h"

namespace tfile::test {

// A basket, by the description of the format alone (docs/format.md, "Baskets").
struct BasketImage {
  std::string branch = "x", tree = "t";
  bool big = true;  // addresses of 8 bytes
  std::uint16_t version = 3;
  std::int32_t entries = 0, nev_buf_size = 4;
  std::uint8_t io_bits = 0, flag = 0;
  std::vector<std::byte> data;
  std::vector<std::int32_t> tail;    // whole words after the data
  std::optional<std::int32_t> last;  // replaces the correct value

  std::int32_t keylen() const {
    return static_cast<std::int32_t>(18 + (big ? 16 : 8) + 8 + 1 + branch.size() + 1 + tree.size() + 19 +
                                     (io_bits != 0 ? 1 : 0));
  }
  std::int32_t border() const { return static_cast<std::int32_t>(data.size()); }

  void put_header(Bytes& out, std::int32_t nbytes, std::int32_t objlen) const {
    out.put(nbytes);
    out.put(static_cast<std::int16_t>(big ? 1004 : 4));
    out.put(objlen);
    out.put(std::uint32_t{0x41CCEB89});
    out.put(static_cast<std::int16_t>(keylen()));
    out.put(std::int16_t{0});
    for (const int seek : {1234, 100}) {
      if (big) {
        out.put(std::int64_t{seek});
      } else {
        out.put(std::int32_t{seek});
      }
    }
    out.put_string("TBasket");
    out.put_string(branch);
    out.put_string(tree);
    out.put(version);
    out.put(std::int32_t{32000});
    out.put(io_bits != 0 ? -nev_buf_size : nev_buf_size);
    if (io_bits != 0) out.put(io_bits);
    out.put(entries);
    out.put(last.value_or(keylen() + border()));
    out.put(flag);
  }
  std::vector<std::byte> payload() const {
    Bytes out;
    out.all() = data;
    for (const std::int32_t word : tail) out.put(word);
    return out.all();
  }
  // The record as in the file, uncompressed.
  std::vector<std::byte> record() const {
    const std::vector<std::byte> content = payload();
    Bytes out;
    const auto size = static_cast<std::int32_t>(content.size());
    put_header(out, keylen() + size, size);
    out.all().insert(out.all().end(), content.begin(), content.end());
    return out.all();
  }
};

inline std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(i * 7));
  return bytes;
}

}  // namespace tfile::test
