// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/own_class.h"

#include <algorithm>
#include <charconv>

namespace tfile {
namespace {

using OwnKind = OwnClass::Kind;
using Items = OwnClass::Items;
using Field = OwnClass::Field;

constexpr OwnClass::HeadField kList[] = {{Field::tobject, 3}, {Field::name, 2}, {Field::size}};
constexpr OwnClass::HeadField kArray[] = {{Field::tobject, 3}, {Field::name, 2}, {Field::size}, {Field::lower_bound}};
constexpr OwnClass::HeadField kClones[] = {
    {Field::tobject, 3}, {Field::name, 2}, {Field::item_class}, {Field::size}, {Field::lower_bound}};
constexpr OwnClass::HeadField kRefs[] = {
    {Field::tobject}, {Field::name}, {Field::size}, {Field::lower_bound}, {Field::process_id}};

constexpr OwnClass::HeadField kLinked[] = {{Field::tobject}, {Field::size}};

constexpr OwnClass collection(std::string_view name, Items items, std::span<const OwnClass::HeadField> head) {
  return {name, OwnKind::collection, Dtype::u4, items, head};
}

constexpr OwnClass kOwnClasses[] = {
    {"TObject", OwnKind::tobject},
    {"TRef", OwnKind::tref},
    {"TString", OwnKind::tstring},
    {"TDatime", OwnKind::number, Dtype::u4},
    {"TQObject", OwnKind::nothing},
    {"TArrayC", OwnKind::array, Dtype::i1},
    {"TArrayS", OwnKind::array, Dtype::i2},
    {"TArrayI", OwnKind::array, Dtype::i4},
    {"TArrayL", OwnKind::array, Dtype::i8},
    {"TArrayL64", OwnKind::array, Dtype::i8},
    {"TArrayF", OwnKind::array, Dtype::f4},
    {"TArrayD", OwnKind::array, Dtype::f8},
    {"TArray", OwnKind::array, Dtype::u1},
    collection("TList", Items::optioned_pointers, kList),
    collection("THashList", Items::optioned_pointers, kList),
    collection("TSortedList", Items::optioned_pointers, kList),
    collection("TObjArray", Items::pointers, kArray),
    collection("TOrdCollection", Items::pointers, kList),
    collection("THashTable", Items::pointers, kList),
    collection("TCollection", Items::pointers, kList),
    collection("TSeqCollection", Items::pointers, kList),
    collection("TMap", Items::pairs, kList),
    collection("TClonesArray", Items::clones, kClones),
    collection("TRefArray", Items::numbers, kRefs),
    {"RooLinkedList", OwnKind::collection, Dtype::u4, Items::pointers, kLinked, 2},
    {"RooWorkspace::CodeRepo", OwnKind::code_repository},
};
constexpr OwnClass kSymmetricMatrix{"TMatrixTSym", OwnKind::symmetric_matrix};
// Classes with other hand-written streamers, which the table does not describe.
constexpr std::string_view kOthers[] = {"TProcessID", "TUUID",   "TFile",      "TDirectory", "TDirectoryFile",
                                        "TKey",       "TBasket", "TTree",      "TNtuple",    "TBranch",
                                        "TFormula",   "TCanvas", "RooRealVar", "RooRefArray"};

// ROOT ignores the sign of a TClonesArray's number of items, because of old files.
void read_count(Cursor& in, const OwnClass& own, CollectionHead& head) {
  head.count_at = in.position();
  head.count = in.big<std::uint32_t>("collection: size");
  if (head.count <= INT32_MAX) return;
  head.count = 0 - head.count;
  if (own.items != Items::clones) in.reject("collection: size");
}

}  // namespace

const OwnClass* own_class(std::string_view name) {
  const auto found = std::ranges::find(kOwnClasses, name, &OwnClass::name);
  if (found != std::end(kOwnClasses)) return &*found;
  return name.starts_with("TMatrixTSym<") ? &kSymmetricMatrix : nullptr;
}

bool has_own_streamer(std::string_view name, int version) {
  constexpr int kPlainFormula = 8;  // of ROOT 5
  if (name == "TFormula" && version == kPlainFormula) return false;
  const OwnClass* own = own_class(name);
  if (own) return own->kind >= OwnKind::tref;
  return name.starts_with("TMatrixTSparse<") || std::ranges::find(kOthers, name) != std::end(kOthers);
}

std::optional<Dtype> array_class_dtype(std::string_view name) {
  const OwnClass* own = own_class(name);
  return own && own->kind == OwnKind::array ? std::optional(own->dtype) : std::nullopt;
}

std::span<const std::byte> read_array(Cursor& in, Dtype dtype) {
  const auto count = in.big<std::int32_t>("TArray: fN");
  if (count < 0) in.reject("TArray: fN");
  return in.take_items(in.failed() ? 0 : static_cast<std::uint64_t>(count), size_of(dtype), "TArray");
}

ClonesItem ClonesItem::parsed(std::string_view text) {
  ClonesItem item{text.substr(0, text.find(';'))};
  const std::string_view version = text.substr(std::min(item.class_name.size() + 1, text.size()));
  std::from_chars(version.data(), version.data() + version.size(), item.version);
  return item;
}

CollectionHead read_collection_head(Cursor& in, const OwnClass& own, std::uint16_t version) {
  CollectionHead head;
  for (const OwnClass::HeadField& part : own.head) {
    if (version < part.since) continue;
    switch (part.field) {
      case Field::tobject:
        head.tobject = read_tobject(in);
        break;
      case Field::name:
        head.name = in.string("collection: fName");
        break;
      case Field::item_class:
        head.items = ClonesItem::parsed(in.string("TClonesArray: class"));
        break;
      case Field::size:
        read_count(in, own, head);
        break;
      case Field::lower_bound:
        in.skip(4, "collection: fLowerBound");
        break;
      case Field::process_id:
        head.process_id = in.take(2, "collection: fPID");
        break;
    }
  }
  if (in.failed()) head.count = 0;
  return head;
}

}  // namespace tfile
