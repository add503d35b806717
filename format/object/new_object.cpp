// SPDX-License-Identifier: Apache-2.0
#include "tfile/new_object.h"

#include <algorithm>
#include <array>
#include <utility>

#include "bytes/appender.h"
#include "streamer/info/streamer_info_record.h"
#include "streamer/walk/described_classes.h"
#include "streamer/walk/null_visitor.h"
#include "streamer/walk/object_reader.h"
#include "streamer/walk/payload_edit.h"

namespace tfile {
namespace {

// The titles that ROOT gives the keys of objects without a title of their own: those of their classes.
constexpr std::pair<std::string_view, std::string_view> kClassTitles[] = {
    {"TObjString", "Collectable string class"},
    {"TList", "Doubly linked list"},
    {"THashList", "Doubly linked list with hashtable for lookup"},
    {"TObjArray", "An array of objects"},
    {"TMap", "A (key,value) map"},
    {"TClonesArray", "An array of clone objects"},
    {"TOrdCollection", "An ordered collection"},
    {"TSortedList", "A sorted list"},
    {"TBits", "Bit container"},
};

// Keys of these are not objects: their bytes refer to other records of their file.
bool is_part_of_file(const StreamerInfos& infos, std::string_view class_name) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "TTree", "TNtuple", "TNtupleD", "TChain", "TBranch",       "TDirectory",
      "TFile", "TKey",    "TBasket",  "RBlob",  "ROOT::RNTuple", "ROOT::Experimental::RNTuple"};
  return class_name == "TDirectoryFile" || std::ranges::any_of(kNames, [&](std::string_view name) {
           return class_name == name || derives_from(infos, class_name, name);
         });
}

// The result of a walk over the payload, if it is that of a key of some length.
enum class Found : std::uint8_t { damaged, undescribed, partly, whole };

Found look(const StreamerInfos& infos, const OfferedObject& object, std::uint32_t keylen) {
  if (fits_key(infos, object.class_name, object.payload, keylen)) return Found::whole;
  NullVisitor nothing;
  const auto walked = visit_object(infos, object.class_name, object.payload, keylen, nothing);
  if (walked) return Found::partly;
  return walked.error().kind == ErrorKind::unsupported ? Found::undescribed : Found::damaged;
}

// The length of the key of which the payload was: that of a key with these names, in either form, or another one if the
// object had other names. What no length explains is taken for the first, unless it is damaged.
Result<std::uint32_t> find_keylen(const StreamerInfos& infos, const OfferedObject& object, const std::string& title) {
  constexpr std::uint32_t kFixed = 26, kWide = 8, kLongest = 1100;
  constexpr std::uint64_t kWorkMax = 256 << 20;  // bytes that are looked at
  const auto natural = static_cast<std::uint32_t>(kFixed + Appender::string_size(object.class_name) +
                                                  Appender::string_size(object.name) + Appender::string_size(title));
  Found best = Found::damaged;
  std::uint32_t found = natural;
  const auto fits = [&](std::uint32_t keylen) {
    const Found here = look(infos, object, keylen);
    if (here > best) found = keylen;
    best = std::max(best, here);
    return here == Found::whole || here == Found::undescribed;
  };
  bool done = fits(natural) || fits(natural + kWide);
  const std::uint64_t tries = kWorkMax / (object.payload.size() + 1);
  for (std::uint32_t keylen = kFixed + 3; !done && keylen <= kLongest && keylen < tries; ++keylen) done = fits(keylen);
  if (best == Found::damaged) return fail(ErrorKind::invalid, "its bytes are not a valid " + object.class_name);
  return found;
}

// Finds the title of an object that has one: the first that is its own, not that of an object in it.
class TitleFinder final : public NullVisitor {
 public:
  std::string title;
  void begin_object(std::string_view, std::uint32_t) override { ++depth_; }
  void begin_pair(std::string_view) override { ++depth_; }
  void end_object() override { --depth_; }
  void member(std::string_view name) override { is_next_ = depth_ == 1 && name == "fTitle"; }
  void text(std::string_view text) override {
    if (!is_next_ || has_ended_) return;
    title = text;
    has_ended_ = true;
  }
  bool has_enough() const override { return has_ended_; }

 private:
  int depth_ = 0;
  bool is_next_ = false, has_ended_ = false;
};

// The title of a TNamed precedes all pointers, so that its key does not matter; that of a pad follows what is drawn.
std::string title_of(const StreamerInfos& infos, const OfferedObject& object, std::uint32_t keylen) {
  const auto* const known =
      std::ranges::find(kClassTitles, object.class_name, &std::pair<std::string_view, std::string_view>::first);
  if (known != std::end(kClassTitles)) return std::string(known->second);
  TitleFinder finder;
  const bool is_pad = object.class_name == "TCanvas" || object.class_name == "TPad";
  if (is_pad || derives_from(infos, object.class_name, "TNamed"))
    (void)visit_object(infos, object.class_name, object.payload, keylen, finder);
  return finder.title;
}

}  // namespace

Result<NewObject> new_object(OfferedObject offered) {
  std::vector<std::string> warnings;
  const auto infos = std::make_shared<const StreamerInfos>(StreamerInfos::read(offered.descriptions, 0, warnings));
  if (!warnings.empty()) return fail(ErrorKind::invalid, "object.streamerinfo: " + warnings.front());
  if (offered.class_name.empty() && !offered.descriptions.empty())
    offered.class_name = name_of_streamer_infos(offered.descriptions);
  if (offered.class_name.empty())
    return fail(ErrorKind::invalid,
                "object.bin without a class: copy object.json with it, or set user.tfilefs.class on its directory");
  if (is_part_of_file(*infos, offered.class_name))
    return fail(ErrorKind::unsupported,
                "a " + offered.class_name + " cannot be written as an object: it refers to parts of its own file");
  std::string title = offered.title ? *offered.title : title_of(*infos, offered, 0);
  TRY(const std::uint32_t keylen, find_keylen(*infos, offered, title));
  if (!offered.title) title = title_of(*infos, offered, keylen);
  const ObjectClasses walked = object_classes(*infos, offered.class_name, offered.payload, keylen);
  NewObject object;
  object.keylen = walked.has_references || !walked.is_whole ? keylen : 0;
  object.classes.assign(walked.names.begin(), walked.names.end());
  for (const StreamerInfo* info : walked.infos) object.classes.push_back(info->class_name);
  object.name = std::move(offered.name);
  object.class_name = std::move(offered.class_name);
  object.title = std::move(title);
  object.payload = std::move(offered.payload);
  object.infos = infos;
  return object;
}

Result<std::vector<std::byte>> payload_of_key(const NewObject& object, std::uint32_t keylen) {
  return move_references(*object.infos, object.class_name, object.payload, object.keylen, keylen);
}

}  // namespace tfile
