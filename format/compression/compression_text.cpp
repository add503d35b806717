// SPDX-License-Identifier: Apache-2.0
#include "compression/compression_text.h"

#include <algorithm>
#include <charconv>
#include <string>

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
                                          {"zlib", Algorithm::zlib, 1},
                                          {"lzma", Algorithm::lzma, 7},
                                          {"lz4", Algorithm::lz4, 4},
                                          {"zstd", Algorithm::zstd, 5}};

tl::unexpected<Error> no_compression(std::string_view text) {
  return fail(ErrorKind::invalid, "compression '" + std::string(text) +
                                      "': it is none, or zlib, lzma, lz4 or zstd, with :1 to :9 behind it");
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
  static constexpr std::string_view kAlgorithms[] = {"zlib", "zlib", "lzma", "cs", "lz4", "zstd"};
  if (settings <= 0 || settings % 100 == 0) return "none";
  const auto algorithm = static_cast<std::size_t>(settings / 100);
  const std::string_view name = algorithm < std::size(kAlgorithms) ? kAlgorithms[algorithm] : "unknown";
  return std::string(name) + ":" + std::to_string(settings % 100);
}

}  // namespace tfile
