// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/dataset.h"

#include <linux/limits.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>

#include "tfile/local_file.h"

namespace tfilefs {
namespace {

using Json = nlohmann::ordered_json;  // samples and files stay in their order

// A million files; in memory it takes ten times as much. What is compressed may claim to be anything.
constexpr std::size_t kTextMax = 128 << 20;
// Deeper than anyone nests metadata; writing it takes stack.
constexpr int kJsonDepthMax = 100;
// The longest name of an attribute, behind "user.tfilefs.meta.".
constexpr std::size_t kKeyMax = XATTR_NAME_MAX - 18;

Result<std::string> text_of(const std::string& path) {
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), ::gzclose);
  if (!file && errno == 0) return tfile::fail(ErrorKind::io, path + ": out of memory");
  if (!file) return tfile::system_error(path, errno);
  std::string text;
  std::array<char, 1 << 16> part;
  int got = 0;
  while ((got = ::gzread(file.get(), part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(got));
    if (text.size() > kTextMax) return tfile::fail(ErrorKind::invalid, path + ": too large for a dataset");
  }
  if (got < 0) return tfile::fail(ErrorKind::io, path + ": cannot be read, or its compression is damaged");
  return text;
}

class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)), directory_(path_.substr(0, path_.rfind('/') + 1)) {}

  Result<Dataset> read();

 private:
  tl::unexpected<Error> wrong(const std::string& keys, const std::string& why) const;
  ChainName name_of(const std::string& file, const std::string& table) const;
  Result<> take_metadata(const std::string& keys, const Json& sample, DatasetSample& into) const;
  Result<> take_friends(const Json& friends, Dataset& into) const;
  Result<DatasetSample> spec_sample(const std::string& keys, const Json& sample) const;

  // "trees" and "files".
  Result<std::vector<ChainName>> spec_files(const std::string& keys, const Json& sample) const;

  // Whether it is what else is under "files": `{file: table, ...}`.
  static bool are_files(const Json& given);
  Result<DatasetSample> fileset(const std::string& keys, const Json& given) const;
  Result<ChainName> fileset_file(const std::string& keys, const std::string& file, const Json& value) const;

  const std::string path_, directory_;
};

Result<Dataset> Reader::read() {
  TRY(const std::string text, text_of(path_));
  Json json;
  bool is_deep = false;
  try {
    json = Json::parse(text, [&](int depth, Json::parse_event_t, const Json&) {
      is_deep = is_deep || depth > kJsonDepthMax;
      return !is_deep;
    });
  } catch (const Json::parse_error& error) {
    const std::size_t line =
        1 + static_cast<std::size_t>(std::count(
                text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size())), '\n'));
    return tfile::fail(ErrorKind::invalid, path_ + ": line " + std::to_string(line) + " is not valid JSON");
  }
  if (is_deep) return wrong("", "nested more than " + std::to_string(kJsonDepthMax) + " levels deep");
  if (!json.is_object() || json.empty()) return wrong("", "expected an object of samples");
  const bool is_spec = json.contains("samples") && json["samples"].is_object();
  Dataset dataset;
  for (const auto& [name, sample] : (is_spec ? json["samples"] : json).items()) {
    TRY(auto read, is_spec ? spec_sample("samples/" + name, sample) : fileset("" + name, sample));
    read.name = name;
    if (read.files.empty()) return wrong(name + "/files", "no files given");
    dataset.samples.push_back(std::move(read));
  }
  if (dataset.samples.empty()) return wrong("samples", "no samples given");
  if (is_spec) TRY_VOID(take_friends(json.value("friends", Json::object()), dataset));
  return dataset;
}

tl::unexpected<Error> Reader::wrong(const std::string& keys, const std::string& why) const {
  return tfile::fail(ErrorKind::invalid, path_ + (keys.empty() ? "" : ": " + keys) + ": " + why);
}

ChainName Reader::name_of(const std::string& file, const std::string& table) const {
  ChainName name = parse_chain_name(tfile::is_url(file) || file.starts_with('/') ? file : directory_ + file);
  if (!table.empty()) name.table = table;
  return name;
}

Result<> Reader::take_metadata(const std::string& keys, const Json& sample, DatasetSample& into) const {
  const Json metadata = sample.value("metadata", Json::object());
  if (metadata.is_null()) return {};
  if (!metadata.is_object()) return wrong(keys + "/metadata", "expected an object");
  into.metadata = metadata.dump(2) + "\n";
  for (const auto& [key, value] : metadata.items()) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const bool fits = key.size() <= kKeyMax && key.find('\0') == std::string::npos && text.size() <= XATTR_SIZE_MAX;
    if (fits) into.attributes.emplace_back(key, std::move(text));
  }
  return {};
}

Result<> Reader::take_friends(const Json& friends, Dataset& into) const {
  if (friends.is_null()) return {};
  if (!friends.is_object()) return wrong("friends", "expected an object");
  for (const auto& [alias, each] : friends.items()) {
    const std::string keys = "friends/" + alias;
    if (!each.is_object()) return wrong(keys, "expected an object");
    TRY(auto files, spec_files(keys, each));
    if (files.empty()) return wrong(keys + "/files", "no files given");
    into.friends.push_back({alias, std::move(files)});
  }
  return {};
}

Result<DatasetSample> Reader::spec_sample(const std::string& keys, const Json& sample) const {
  if (!sample.is_object()) return wrong(keys, "expected an object");
  DatasetSample made;
  TRY(made.files, spec_files(keys, sample));
  TRY_VOID(take_metadata(keys, sample, made));
  return made;
}

Result<std::vector<ChainName>> Reader::spec_files(const std::string& keys, const Json& sample) const {
  std::vector<ChainName> made;
  const Json trees = sample.value("trees", Json::array()), files = sample.value("files", Json::array());
  const auto are_texts = [](const Json& list) {
    return list.is_array() && std::ranges::all_of(list, [](const Json& each) { return each.is_string(); });
  };
  if (!are_texts(files)) return wrong(keys + "/files", "expected a list of names");
  if (!are_texts(trees) || (trees.size() > 1 && trees.size() != files.size()))
    return wrong(keys + "/trees", "expected one name, or one for each file");
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Json& tree = trees.empty() ? Json("") : trees[trees.size() == 1 ? 0 : i];
    made.push_back(name_of(files[i].get<std::string>(), tree.get<std::string>()));
  }
  return made;
}

bool Reader::are_files(const Json& given) {
  const auto is_file = [](const Json& each) {
    return each.is_string() || (each.is_object() && each.contains("object_path"));
  };
  return given.is_object() && !given.empty() && std::ranges::all_of(given, is_file) && !given.contains("files") &&
         !given.contains("treename");
}

Result<DatasetSample> Reader::fileset(const std::string& keys, const Json& given) const {
  DatasetSample made;
  const Json sample = given.is_array() || are_files(given) ? Json{{"files", given}} : given;
  if (!sample.is_object()) return wrong(keys, "expected an object");
  const std::string table =
      sample.contains("treename") && sample["treename"].is_string() ? sample["treename"].get<std::string>() : "";
  const Json files = sample.value("files", Json());
  if (!files.is_array() && !files.is_object()) return wrong(keys + "/files", "expected a list or an object");
  for (const auto& [key, value] : files.items()) {
    const std::string at = keys + "/files/" + key;
    if (files.is_array() && !value.is_string()) return wrong(at, "expected a name");
    if (files.is_array()) {
      made.files.push_back(name_of(value.get<std::string>(), table));
      continue;
    }
    TRY(auto name, fileset_file(at, key, value));
    made.files.push_back(std::move(name));
  }
  TRY_VOID(take_metadata(keys, sample, made));
  return made;
}

Result<ChainName> Reader::fileset_file(const std::string& keys, const std::string& file, const Json& value) const {
  if (value.is_string()) return name_of(file, value.get<std::string>());
  if (value.is_null()) return name_of(file, "");
  if (!value.is_object() || !value.contains("object_path") || !value["object_path"].is_string())
    return wrong(keys + "/object_path", "expected the name of a table");
  ChainName name = name_of(file, value["object_path"].get<std::string>());
  if (value.contains("num_entries") && value["num_entries"].is_number_integer()) {
    name.entries = value["num_entries"].get<std::int64_t>();
    if (*name.entries < 0) return wrong(keys + "/num_entries", "expected a number of entries");
  }
  if (value.contains("uuid") && value["uuid"].is_string()) name.uuid = value["uuid"].get<std::string>();
  return name;
}

}  // namespace

bool is_dataset(const std::string& name) {
  return name.starts_with('@') && (name.ends_with(".json") || name.ends_with(".json.gz"));
}

Result<Dataset> read_dataset(const std::string& path) {
  try {
    return Reader(path).read();
  } catch (const Json::exception& error) {  // a number that fits no type, and the like
    return tfile::fail(ErrorKind::invalid, path + ": " + error.what());
  }
}

}  // namespace tfilefs
