// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string>

#include "compression/codec.h"
#include "tfile/writer.h"

namespace tfile {
namespace {

using Algorithm = Compression::Algorithm;

struct NamedAlgorithm {
  std::string_view name;
  Algorithm algorithm;
  int default_level;  // ROOT's default, ROOT::RCompressionSetting::EDefaults
};

constexpr NamedAlgorithm kAlgorithms[] = {{"none", Algorithm::none, 0},
                                          {name_of(Codec::zlib), Algorithm::zlib, 1},
                                          {name_of(Codec::lzma), Algorithm::lzma, 7},
                                          {name_of(Codec::lz4), Algorithm::lz4, 4},
                                          {name_of(Codec::zstd), Algorithm::zstd, 5}};

tl::unexpected<Error> no_compression(std::string_view text) {
  return fail(ErrorKind::invalid, "compression '" + std::string(text) +
                                      "': expected none, or zlib, lzma, lz4 or zstd, followed by :1 to :9");
}

// Names in files: ROOT's numbers that nothing writes any more are among them.
std::string_view name_of_number(std::int32_t algorithm) {
  constexpr std::int32_t kGlobal = 0, kOldDeflate = 3;  // ROOT's default, zlib; deflate without header and checksum
  if (algorithm == kGlobal) return name_of(Codec::zlib);
  if (algorithm == kOldDeflate) return name_of(Codec::old_deflate);
  const auto* found = std::ranges::find_if(kAlgorithms, [&](const NamedAlgorithm& known) {
    return static_cast<std::int32_t>(known.algorithm) == algorithm;
  });
  return found == std::end(kAlgorithms) ? "unknown" : found->name;
}

}  // namespace

Result<Compression> parse_compression(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const auto* found = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms),
                                   [&](const NamedAlgorithm& known) { return known.name == name; });
  if (found == std::end(kAlgorithms)) return no_compression(text);
  Compression compression{found->algorithm, found->default_level};
  if (name.size() == text.size()) return compression;
  const std::string_view level = text.substr(name.size() + 1);
  const auto [end, error] = std::from_chars(level.data(), level.data() + level.size(), compression.level);
  const int level_min = compression.algorithm == Algorithm::none ? 0 : 1;
  const int level_max = compression.algorithm == Algorithm::none ? 0 : 9;
  if (error != std::errc() || end != level.data() + level.size() || compression.level < level_min ||
      compression.level > level_max) {
    return no_compression(text);
  }
  return compression;
}

std::string compression_text(std::int32_t settings) {
  if (settings <= 0 || settings % 100 == 0) return "none";
  return std::string(name_of_number(settings / 100)) + ":" + std::to_string(settings % 100);
}

Compression compression_of(std::int32_t settings) {
  if (settings == 0) return {Algorithm::none, 0};
  const int level = settings > 0 ? settings % 100 : 1;
  if (level == 0) return {Algorithm::none, 0};
  const auto* found = std::ranges::find_if(kAlgorithms, [&](const NamedAlgorithm& known) {
    return known.algorithm != Algorithm::none && static_cast<std::int32_t>(known.algorithm) == settings / 100;
  });
  return {found == std::end(kAlgorithms) ? Algorithm::zlib : found->algorithm, std::min(level, 9)};
}

}  // namespace tfile
