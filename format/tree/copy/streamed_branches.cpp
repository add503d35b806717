// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "container/key.h"
#include "container/payload.h"
#include "streamer/info/cpp_type.h"
#include "streamer/info/known_descriptions.h"
#include "streamer/info/streamer_info_record.h"
#include "tfile/streamed_class.h"
#include "tree/record/tree_record.h"

namespace tfile {
namespace {

constexpr std::int32_t kWholeObject = -1;

// TBranchElement::fType of collections whose items have branches of their own.
constexpr std::int32_t kClones = 3, kCollection = 4;

// "::std::vector<::A>" without the "::" in front of names.
std::string without_roots(const std::string& code) {
  std::string name;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool begins = i == 0 || code[i - 1] == '<' || code[i - 1] == ',' || code[i - 1] == ' ';
    if (begins && code.compare(i, 2, "::") == 0) {
      ++i;
    } else {
      name += code[i];
    }
  }
  return name;
}

class Streamed {
 public:
  Streamed(const TreeRecord& tree, const StreamerInfos& infos) : tree_(tree), infos_(infos) {}

  std::map<std::string, StreamedClass> run() {
    for (const BranchIndex top : tree_.top) add(top, "");
    return std::move(found_);
  }

 private:
  void add(BranchIndex index, const std::string& above) {
    const BranchRecord& branch = tree_.branches[index];
    const std::string path = above + (above.empty() ? "" : "/") + branch.name;
    if (auto streamed = class_of(branch)) found_.emplace(path, *std::move(streamed));
    if (branch.type == kClones || branch.type == kCollection) return;
    for (const BranchIndex child : branch.children) add(child, path);
  }

  std::optional<StreamedClass> class_of(const BranchRecord& branch) const {
    if (branch.class_name != "TBranchElement" || !branch.children.empty()) return std::nullopt;
    const StreamerInfo* info = described(branch);
    if (branch.id != kWholeObject) return info ? class_of_member(branch, *info) : std::nullopt;
    std::optional<StreamedClass> streamed = class_of_type(branch.element_class);
    // The Streamer of a class writes its header itself, and a collection in a branch has one.
    if (!streamed || branch.type < 0 || is_of_std(parse_cpp_type(branch.element_class).name)) return streamed;
    if (!info) return std::nullopt;
    streamed->version = info->version;
    streamed->checksum = info->checksum;
    streamed->header = StreamedClass::Header::lacks;
    return streamed;
  }

  std::optional<StreamedClass> class_of_member(const BranchRecord& branch, const StreamerInfo& info) const {
    if (branch.id < 0 || static_cast<std::size_t>(branch.id) >= info.elements.size()) return std::nullopt;
    const StreamerElement& element = info.elements[static_cast<std::size_t>(branch.id)];
    const bool is_object = element.type == element_type::kObject || element.type == element_type::kAny ||
                           element.type == element_type::kStl;
    return is_object && element.array_length <= 1 ? class_of_type(element.type_name) : std::nullopt;
  }

  std::optional<StreamedClass> class_of_type(const std::string& type_name) const {
    const CppType type = parse_cpp_type(type_name);
    if (!is_described(type)) return std::nullopt;
    StreamedClass streamed;
    streamed.name = without_roots(type.code());
    streamed.may_refer = true;
    if (is_of_std(type.name)) streamed.header = StreamedClass::Header::has_superfluous;
    if (const StreamerInfo* info = is_of_std(type.name) ? nullptr : infos_.newest(type.key())) {
      streamed.version = info->version;
      streamed.checksum = info->checksum;
    }
    return streamed;
  }

  const StreamerInfo* described(const BranchRecord& branch) const {
    if (branch.checksum != 0) {
      if (const auto* info = infos_.find_by_checksum(branch.element_class, branch.checksum)) return info;
    }
    return infos_.find(branch.element_class, branch.class_version);
  }

  // Whether the file describes all classes that the type names.
  bool is_described(const CppType& type) const {
    if (type.is_pointer() || !type.inner.empty()) return false;
    if (is_fundamental(type.name)) return true;
    if (!is_of_std(type.name)) return infos_.newest(type.key()) != nullptr;
    return std::ranges::all_of(type.arguments, [this](const CppType& each) { return is_described(each); });
  }

  const TreeRecord& tree_;
  const StreamerInfos& infos_;
  std::map<std::string, StreamedClass> found_;
};

}  // namespace

Result<std::map<std::string, StreamedClass>> streamed_branches(const File& file, const KeyInfo& key) {
  TRY(const StreamerInfoRecord infos, read_streamer_info_record(file.source(), file.header()));
  TRY(const RecordContent record, read_record(file.source(), {key.seek, key.nbytes}));
  TRY(const TreeRecord tree,
      read_tree(record.payload.span(), record.keylen, std::string(key.class_name), *infos.infos));
  return Streamed(tree, *infos.infos).run();
}

ClassesOfFiles::ClassesOfFiles() : known_(std::make_shared<KnownDescriptions>()) {}

Result<std::vector<std::string>> ClassesOfFiles::take(const File& file) {
  TRY(const StreamerInfoRecord infos, read_streamer_info_record(file.source(), file.header()));
  std::vector<std::string> contradicted = known_->contradicted_by(*infos.infos);
  known_->take(infos.infos);
  return contradicted;
}

Result<bool> may_hold(const File& file, const std::string& type, const std::vector<std::string>& classes) {
  if (classes.empty()) return false;
  TRY(const StreamerInfoRecord infos, read_streamer_info_record(file.source(), file.header()));
  return may_hold(*infos.infos, std::span(&type, 1), classes);
}

}  // namespace tfile
