// SPDX-License-Identifier: Apache-2.0
#include "large_arrays.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "object/object_arrays.h"
#include "streamer/walk/null_visitor.h"
#include "streamer/walk/object_reader.h"
#include "tfile/file.h"

namespace tfile {
namespace {

class ContentsFinder final : public NullVisitor {
 public:
  ContentsFinder(const StreamerInfos& infos, SparsePayload& payload) : infos_(infos), payload_(payload) {}

  std::uint64_t let_go() const { return let_go_; }
  bool has_enough() const override {
    return reached_ - let_go_ > File::kKeptOfLarge || payload_.is_full() || payload_.failure();
  }

  void begin_object(std::string_view class_name, std::uint32_t) override {
    const ObjectFamily family = family_of(class_name);
    // Both histograms of an efficiency are read as a whole.
    const bool is_whole = family == ObjectFamily::efficiency || (!levels_.empty() && levels_.back().is_whole);
    levels_.push_back({.is_whole = is_whole, .is_histogram = has_contents(family) && !is_whole, .are_contents = false});
  }
  void begin_pair(std::string_view) override { begin_object("", 0); }
  void end_object() override {
    if (!levels_.empty()) levels_.pop_back();
  }
  void member(std::string_view name) override {
    static constexpr std::array<std::string_view, 4> kContents = {"fArray", "fSumw2", "fBinEntries", "fBinSumw2"};
    if (!levels_.empty()) levels_.back().are_contents = std::ranges::find(kContents, name) != kContents.end();
  }
  void numbers(const StoredNumbers& all, std::span<const std::uint32_t>) override {
    const bool are_contents = !levels_.empty() && levels_.back().is_histogram && levels_.back().are_contents;
    const ByteRange place = payload_.place_of(all.bytes);
    if (!are_contents || place.size < kLongArray || place.begin < reached_) return keep(place);
    reach(place.end());
    let_go_ += place.size;
    payload_.let_go(place);
  }
  void text(std::string_view value) override { keep(payload_.place_of(std::as_bytes(std::span(value)))); }
  void slot(std::size_t position) override { reach(position); }
  void frame(std::size_t begin, std::size_t) override { reach(begin); }

 private:
  struct Level {
    bool is_whole, is_histogram, are_contents;
  };
  ObjectFamily family_of(std::string_view class_name) {
    const auto [known, is_new] = families_.try_emplace(class_name);
    if (is_new) known->second = kind_of_object(infos_, class_name).family;
    return known->second;
  }
  void reach(std::uint64_t position) { reached_ = std::max(reached_, position); }
  // A walk wants the beginning alone of a value that is long.
  void keep(ByteRange place) {
    if (place.size < kLongArray) return;
    reach(place.end());
    for (std::uint64_t at = place.begin; at < place.end() && !has_enough(); at += kLongArray) payload_.want(at);
  }

  const StreamerInfos& infos_;
  SparsePayload& payload_;
  std::vector<Level> levels_;
  std::map<std::string_view, ObjectFamily> families_;
  std::uint64_t reached_ = 0, let_go_ = 0;  // of the payload; what is told behind it was told before
};

}  // namespace

Result<std::optional<std::uint64_t>> let_go_of_contents(const StreamerInfos& infos, std::string_view class_name,
                                                        SparsePayload& payload, std::uint32_t keylen) {
  using Kept = std::optional<std::uint64_t>;
  ContentsFinder finder(infos, payload);
  const PayloadBytes& bytes = payload;
  const Result<> walked = visit_object(infos, class_name, bytes, keylen, finder);
  if (payload.failure()) return tl::unexpected<Error>(*payload.failure());
  if (finder.has_enough()) return Kept();
  if (!walked) return tl::unexpected<Error>(walked.error());
  const std::uint64_t kept = bytes.span().size() - finder.let_go();
  return finder.let_go() > 0 && kept <= File::kKeptOfLarge ? Kept(kept) : Kept();
}

}  // namespace tfile
