// SPDX-License-Identifier: Apache-2.0
#include "array/npy.h"

namespace tfilefs {
namespace {

constexpr std::size_t kAlignment = 64;  // as numpy.lib.format writes it, so that the items can be mapped
constexpr std::size_t kMagicSize = 8;   // "\x93NUMPY" and two bytes of version

void append_little(std::string& to, std::size_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

}  // namespace

std::string npy_header(tfile::Dtype dtype, const std::vector<std::uint32_t>& shape, std::int64_t length) {
  std::string dictionary = "{'descr': '" + tfile::numpy_dtype(dtype) + "', 'fortran_order': False, 'shape': (" +
                           std::to_string(length) + ",";
  for (std::size_t i = 0; i < shape.size(); ++i) dictionary += (i ? ", " : " ") + std::to_string(shape[i]);
  dictionary += "), }";
  // The padding ends in a newline, which counts.
  const bool version_1 = dictionary.size() + kAlignment < 0x10000;
  const std::size_t prefix = kMagicSize + (version_1 ? 2 : 4);
  const std::size_t total = (prefix + dictionary.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dictionary.append(total - prefix - dictionary.size() - 1, ' ');
  dictionary.push_back('\n');

  std::string header = "\x93NUMPY";
  header.push_back(version_1 ? 1 : 2);
  header.push_back(0);
  append_little(header, dictionary.size(), version_1 ? 2 : 4);
  return header + dictionary;
}

}  // namespace tfilefs
