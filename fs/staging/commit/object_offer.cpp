// SPDX-License-Identifier: Apache-2.0
#include "staging/commit/object_offer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "staging/overlay/staged_object.h"
#include "staging/overlay/staged_tree.h"
#include "tfile/name.h"
#include "tfile/node.h"

namespace tfilefs {

using tfile::fail;
using tfile::OfferedHistogram;

namespace {

constexpr std::uint64_t kObjectMax = 0x3FFFFFFF;      // bytes: ROOT counts them in 30 bits
constexpr std::uint64_t kDescriptionsMax = 32 << 20;  // as of a file's own
constexpr std::uint64_t kJsonBegin = 64 << 10;        // in which the class stands

const StagedColumn* find(const StagedObject& object, std::string_view path) {
  const auto found = std::ranges::find(object.files, path, &StagedColumn::path);
  return found == object.files.end() ? nullptr : &*found;
}

Result<std::vector<std::byte>> bytes_of(const StagedColumn* file, std::uint64_t most) {
  if (file == nullptr) return std::vector<std::byte>();
  const std::uint64_t size = file->size - std::min(file->size, file->header);
  if (size > most) return fail(ErrorKind::unsupported, file->path + ": more than " + std::to_string(most) + " bytes");
  std::vector<std::byte> bytes(size);
  TRY(const std::size_t got, file->bytes->read(file->header, bytes));
  if (got != size) return fail(ErrorKind::io, file->path + ": ends too early");
  return bytes;
}

// Looks for "_typename" in the outermost object of a JSON text, of which there may be only the beginning.
class ClassOfJson final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::string class_name;

  bool key(string_t& name) override {
    is_next_ = depth_ == 1 && name == "_typename";
    return true;
  }
  bool string(string_t& text) override {
    if (is_next_) class_name = text;
    return !is_next_ && depth_ > 0;
  }
  bool start_object(std::size_t) override { return ++depth_ == 1; }
  bool end_object() override { return false; }
  bool start_array(std::size_t) override { return false; }
  bool end_array() override { return false; }
  bool null() override { return depth_ > 0; }
  bool boolean(bool) override { return depth_ > 0; }
  bool number_integer(number_integer_t) override { return depth_ > 0; }
  bool number_unsigned(number_unsigned_t) override { return depth_ > 0; }
  bool number_float(number_float_t, const string_t&) override { return depth_ > 0; }
  bool binary(binary_t&) override { return false; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  int depth_ = 0;
  bool is_next_ = false;
};

Result<std::string> class_in_json(const StagedColumn* json) {
  if (json == nullptr) return std::string();
  StagedColumn begin = *json;
  begin.size = std::min(begin.size, kJsonBegin);
  TRY(const std::vector<std::byte> bytes, bytes_of(&begin, kJsonBegin));
  ClassOfJson found;
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  (void)nlohmann::json::sax_parse(text, text + bytes.size(), &found);
  return found.class_name;
}

Result<tfile::NewObject> copied_object(const StagedObject& object, std::string name) {
  tfile::OfferedObject offered;
  offered.name = std::move(name);
  offered.class_name = object.class_name;
  if (!object.title.empty()) offered.title = object.title;
  TRY(offered.descriptions, bytes_of(find(object, kObjectStreamerInfo), kDescriptionsMax));
  if (offered.class_name.empty() && offered.descriptions.empty()) {
    TRY(offered.class_name, class_in_json(find(object, kObjectJson)));
  }
  TRY(offered.payload, bytes_of(find(object, kObjectBytes), kObjectMax));
  return tfile::new_object(std::move(offered));
}

// The arrays of a histogram by their names without type.
class Arrays {
 public:
  explicit Arrays(const StagedObject& object) : files_(object.files) {
    for (StagedColumn& file : files_) read_npy_header(file);
  }

  // One of `name.TYPE`; nothing if there is none.
  Result<std::optional<OfferedHistogram::Numbers>> take_edges(std::string_view name) {
    TRY(auto grid, take_grid(name));
    if (!grid) return std::nullopt;
    if (!grid->shape.empty()) return fail(ErrorKind::invalid, std::string(name) + ": edges must be one number each");
    return static_cast<OfferedHistogram::Numbers&&>(*grid);
  }

  Result<std::optional<OfferedHistogram::Grid>> take_grid(std::string_view name) {
    for (const StagedColumn& file : files_) {
      if (!file.unreadable.empty()) return fail(ErrorKind::invalid, file.unreadable);
      const auto [above, last] = split_path(file.path);
      const auto typed = tfile::parse_typed_name(last);
      if (!typed || joined_path(above, std::string(typed->stem)) != name) continue;
      taken_.insert(&file);
      OfferedHistogram::Grid numbers;
      numbers.shape.assign(typed->shape.begin(), typed->shape.end());
      numbers.dtype = typed->dtype;
      TRY(numbers.bytes, bytes_of(&file, kObjectMax));
      if (numbers.bytes.size() % tfile::size_of(numbers.dtype) != 0)
        return fail(ErrorKind::invalid, file.path + ": ends in the middle of a number");
      return numbers;
    }
    return std::nullopt;
  }

  // Refuses what would be lost: staged files go with the commit. Those that describe the object are made anew; a name
  // that begins with a dot is that of a copy which was broken off.
  Result<> check_all_taken() const {
    for (const StagedColumn& file : files_) {
      const std::string name = split_path(file.path).second;
      if (taken_.contains(&file) || is_object_file(file.path) || name.starts_with('.')) continue;
      return fail(ErrorKind::invalid, file.path + ": not an array of this histogram, or a second one of that name");
    }
    return {};
  }

 private:
  std::vector<StagedColumn> files_;
  std::set<const StagedColumn*> taken_;
};

Result<tfile::NewObject> histogram(const StagedObject& object, std::string name) {
  Arrays arrays(object);
  OfferedHistogram offered;
  offered.name = std::move(name);
  offered.title = object.title;
  offered.class_name = object.class_name;
  for (const char* edges : {"xedges", "yedges", "zedges"}) {
    TRY(auto of_axis, arrays.take_edges(edges));
    if (!of_axis) break;
    offered.edges.push_back(*std::move(of_axis));
  }
  TRY(offered.values, arrays.take_grid("values"));
  TRY(offered.variances, arrays.take_grid("variances"));
  TRY(offered.flow_values, arrays.take_grid("flow/values"));
  TRY(offered.flow_variances, arrays.take_grid("flow/variances"));
  TRY_VOID(arrays.check_all_taken());
  return tfile::new_histogram(offered);
}

}  // namespace

Result<tfile::NewObject> offered_object(const StagedObject& object) {
  for (const StagedColumn& file : object.files) {
    if (file.is_open) return fail(ErrorKind::busy, file.path + ": open for writing");
  }
  std::string name = tfile::unescape_name(split_path(object.path).second);
  if (find(object, kObjectBytes) != nullptr) return copied_object(object, std::move(name));
  return histogram(object, std::move(name));
}

}  // namespace tfilefs
