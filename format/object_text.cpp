// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "bytes/endian.h"
#include "object_parts.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

std::string line(std::string_view text) {
  std::string line(text);
  if (!line.ends_with('\n')) line += '\n';
  return line;
}

// The shortest digits that read back as the same number; whole numbers exactly.
std::string number_text(const StoredNumbers& number) {
  std::array<char, 32> digits;
  const auto written = [&](auto value) {
    const auto [end, error] = std::to_chars(digits.begin(), digits.end(), value);
    return std::string(digits.begin(), end);
  };
  if (number.dtype == Dtype::i8) return written(load_big<std::int64_t>(number.bytes.data()));
  if (number.dtype == Dtype::u8) return written(load_big<std::uint64_t>(number.bytes.data()));
  if (number.dtype == Dtype::f4 && !number.packing) return written(load_big<float>(number.bytes.data()));
  double value = 0;
  numbers_as_double(number, &value);
  return number.dtype == Dtype::b1 ? (value != 0 ? "true" : "false") : written(value);
}

// The items of a list at `path`, one per line, if they are text themselves.
std::optional<std::string> lines(const ObjectMembers& members, const std::string& path) {
  std::string all;
  for (std::size_t i = 0;; ++i) {
    const std::string item = members.target(path + std::to_string(i));
    const std::string_view class_name = members.class_name(item);
    if (class_name == "TObjString")
      all += line(members.text(item + ".fString"));
    else if (class_name == "TNamed")
      all += std::string(members.text(item + ".fName")) + '\t' + line(members.text(item + ".fTitle"));
    else if (class_name.empty() && members.has(item) && !members.numbers(item))
      all += line(members.text(item));
    else if (class_name.empty() && i > 0)
      return all;
    else
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> object_text(const StreamerInfos& infos, std::string_view class_name,
                                       const ObjectMembers& members) {
  if (class_name == "string" || class_name == "TString") return line(members.text(""));
  if (class_name == "TObjString") return line(members.text("fString"));
  if (class_name == "TNamed" || class_name == "TProcessID") return line(members.text("fTitle"));
  if (class_name.starts_with("TParameter<")) {
    const StoredNumbers* value = members.numbers("fVal");
    if (!value || value->count() != 1) return std::nullopt;
    return line(number_text(*value));
  }
  if (derives_from(infos, class_name, "TMacro")) return lines(members, "fLines.arr.").value_or("");
  if (class_name == "TList" || class_name == "THashList" || class_name == "TObjArray") return lines(members, "arr.");
  if (class_name.starts_with("vector<")) return lines(members, "");
  return std::nullopt;
}

}  // namespace tfile
