// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/object_reader.h"

#include <algorithm>
#include <vector>

#include "bytes/cursor.h"
#include "streamer/walk/object_walk.h"
#include "tfile/number_type.h"

namespace tfile {

void numbers_as_double(const StoredNumbers& numbers, double* to) {
  if (numbers.packing) {
    if (numbers.packing->to_double) return unpack(*numbers.packing, numbers.bytes, reinterpret_cast<std::byte*>(to));
    std::vector<float> narrow(numbers.count());
    unpack(*numbers.packing, numbers.bytes, reinterpret_cast<std::byte*>(narrow.data()));
    std::copy(narrow.begin(), narrow.end(), to);
    return;
  }
  const auto convert = [&]<class T>(T) {
    for (std::size_t i = 0; i < numbers.count(); ++i)
      to[i] = static_cast<double>(load_big<T>(numbers.bytes.data() + i * sizeof(T)));
  };
  with_number_type(numbers.dtype, convert);
}

namespace {

Result<> walk_object(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
                     std::uint32_t keylen, ObjectVisitor& visitor, const PayloadBytes* partly) {
  Cursor in(payload);
  ObjectWalk walk(infos, payload, keylen, visitor, partly);
  walk.key_object(in, class_name);
  if (!walk.refused().empty()) return fail(ErrorKind::unsupported, walk.refused());
  return in.finish();
}

}  // namespace

Result<> visit_object(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
                      std::uint32_t keylen, ObjectVisitor& visitor) {
  return walk_object(infos, class_name, payload, keylen, visitor, nullptr);
}

Result<> visit_object(const StreamerInfos& infos, std::string_view class_name, const PayloadBytes& payload,
                      std::uint32_t keylen, ObjectVisitor& visitor) {
  return walk_object(infos, class_name, payload.span(), keylen, visitor, &payload);
}

bool derives_from(const StreamerInfos& infos, std::string_view class_name, std::string_view base) {
  const StreamerInfo* info = infos.newest(class_name);
  std::string_view name = class_name;
  for (int depth = 0; depth < 20; ++depth) {  // no class has as many bases above each other
    if (name == base) return true;
    if (!info) return false;
    const auto first = std::find_if(info->elements.begin(), info->elements.end(), is_base);
    if (first == info->elements.end()) return false;
    name = first->name;
    info = infos.newest(name);
  }
  return false;
}

}  // namespace tfile
