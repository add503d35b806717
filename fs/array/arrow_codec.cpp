// SPDX-License-Identifier: Apache-2.0
#include <lz4frame.h>
#include <zstd.h>

#include <cstring>

#include "array/arrow_buffers.h"

namespace tfilefs {

using tfile::ErrorKind;
using tfile::fail;
using tfile::Result;

namespace {

Result<> decompress_lz4(std::span<const std::byte> from, std::span<std::byte> into) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
    return no_memory("no memory to decompress");
  std::size_t done = 0, left = 1;
  while (!from.empty() && left != 0) {
    std::size_t read = from.size(), written = into.size() - done;
    left = LZ4F_decompress(context, into.data() + done, &written, from.data(), &read, nullptr);
    if (LZ4F_isError(left) || (read == 0 && written == 0)) break;
    from = from.subspan(read);
    done += written;
  }
  LZ4F_freeDecompressionContext(context);
  if (left != 0 || done != into.size())
    return fail(ErrorKind::damaged, "Arrow: LZ4 buffer decompresses to " + std::to_string(done) +
                                        (left != 0 ? " bytes and more" : " bytes") + ", expected " +
                                        std::to_string(into.size()));
  return {};
}

}  // namespace

Result<> decompress_arrow(ArrowCodec codec, std::span<const std::byte> from, std::span<std::byte> into) {
  switch (codec) {
    case ArrowCodec::none:
      if (from.size() != into.size()) break;
      std::memcpy(into.data(), from.data(), from.size());
      return {};
    case ArrowCodec::lz4:
      return decompress_lz4(from, into);
    case ArrowCodec::zstd:
      if (ZSTD_decompress(into.data(), into.size(), from.data(), from.size()) != into.size()) break;
      return {};
  }
  return fail(ErrorKind::damaged, "Arrow: buffer of " + std::to_string(from.size()) + " bytes does not decompress to " +
                                      std::to_string(into.size()));
}

}  // namespace tfilefs
