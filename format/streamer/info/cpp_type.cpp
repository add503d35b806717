// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/cpp_type.h"

#include <algorithm>
#include <array>
#include <utility>

#include "streamer/info/basic_type.h"
#include "streamer/info/type_name.h"

namespace tfile {
namespace {

constexpr int kDepthMax = 32;

using Pair = std::pair<std::string_view, const char*>;
constexpr std::array<Pair, 25> kStd = {{{"vector", "vector"},
                                        {"list", "list"},
                                        {"deque", "deque"},
                                        {"set", "set"},
                                        {"multiset", "set"},
                                        {"map", "map"},
                                        {"multimap", "map"},
                                        {"unordered_set", "unordered_set"},
                                        {"unordered_multiset", "unordered_set"},
                                        {"unordered_map", "unordered_map"},
                                        {"unordered_multimap", "unordered_map"},
                                        {"forward_list", "forward_list"},
                                        {"pair", "utility"},
                                        {"string", "string"},
                                        {"basic_string", "string"},
                                        {"bitset", "bitset"},
                                        {"array", "array"},
                                        {"unique_ptr", "memory"},
                                        {"shared_ptr", "memory"},
                                        {"allocator", "memory"},
                                        {"default_delete", "memory"},
                                        {"atomic", "atomic"},
                                        {"less", "functional"},
                                        {"complex", "complex"},
                                        {"tuple", "tuple"}}};

// Classes declared in a header of another name; then families of classes, by the beginning of the name.
constexpr std::array<Pair, 24> kHeaders = {{{"TH1", "TH1.h"},
                                            {"TH1C", "TH1.h"},
                                            {"TH1S", "TH1.h"},
                                            {"TH1I", "TH1.h"},
                                            {"TH1L", "TH1.h"},
                                            {"TH1F", "TH1.h"},
                                            {"TH1D", "TH1.h"},
                                            {"TH2", "TH2.h"},
                                            {"TH2C", "TH2.h"},
                                            {"TH2S", "TH2.h"},
                                            {"TH2I", "TH2.h"},
                                            {"TH2L", "TH2.h"},
                                            {"TH2F", "TH2.h"},
                                            {"TH2D", "TH2.h"},
                                            {"TH3", "TH3.h"},
                                            {"TH3C", "TH3.h"},
                                            {"TH3S", "TH3.h"},
                                            {"TH3I", "TH3.h"},
                                            {"TH3L", "TH3.h"},
                                            {"TH3F", "TH3.h"},
                                            {"TH3D", "TH3.h"},
                                            {"TSpline3", "TSpline.h"},
                                            {"TSplinePoly3", "TSpline.h"},
                                            {"TSplinePoly", "TSpline.h"}}};
constexpr std::array kFamilies = {"TAtt",     "TArray",  "TBranch",   "TDirectory", "TGraph", "THash", "TLeaf", "TPave",
                                  "TProfile", "TRandom", "TStreamer", "TVirtual",   "TF1",    "Roo",   "THn"};
constexpr std::array kRootClasses = {"TObject",
                                     "TNamed",
                                     "TString",
                                     "TList",
                                     "TCollection",
                                     "TSeqCollection",
                                     "TObjArray",
                                     "TObjString",
                                     "TMap",
                                     "TClonesArray",
                                     "TOrdCollection",
                                     "TSortedList",
                                     "TRef",
                                     "TRefArray",
                                     "TRefTable",
                                     "TProcessID",
                                     "TUUID",
                                     "TDatime",
                                     "TTimeStamp",
                                     "TBits",
                                     "TUrl",
                                     "TMacro",
                                     "TParameter",
                                     "TAxis",
                                     "TF2",
                                     "TF3",
                                     "TFormula",
                                     "TEfficiency",
                                     "TSpline",
                                     "TMultiGraph",
                                     "THStack",
                                     "TScatter",
                                     "TLimit",
                                     "TLimitDataSource",
                                     "TConfidenceLevel",
                                     "TTree",
                                     "TNtuple",
                                     "TNtupleD",
                                     "TChain",
                                     "TKey",
                                     "TFile",
                                     "TBasket",
                                     "TFriendElement",
                                     "TTreeIndex",
                                     "TEntryList",
                                     "TEventList",
                                     "TCut",
                                     "TLorentzVector",
                                     "TVector2",
                                     "TVector3",
                                     "TRotation",
                                     "TLorentzRotation",
                                     "TMatrixTBase",
                                     "TMatrixT",
                                     "TMatrixTSym",
                                     "TMatrixTSparse",
                                     "TVectorT",
                                     "TCanvas",
                                     "TPad",
                                     "TFrame",
                                     "TLine",
                                     "TBox",
                                     "TText",
                                     "TLatex",
                                     "TLegend",
                                     "TLegendEntry",
                                     "TMarker",
                                     "TEllipse",
                                     "TArrow",
                                     "TArc",
                                     "TPolyLine",
                                     "TPolyMarker",
                                     "TGaxis",
                                     "TColor",
                                     "TStyle",
                                     "TExec",
                                     "TFolder",
                                     "TTask",
                                     "TParticle",
                                     "TParticlePDG",
                                     "TFitResult",
                                     "TPrincipal",
                                     "TComplex",
                                     "TGlobal",
                                     "TQObject",
                                     "TClass",
                                     "TDictionary",
                                     "TDataType",
                                     "TMethodCall",
                                     "TBuffer",
                                     "TFunction"};

std::string_view without_std(std::string_view name) {
  if (name.starts_with("std::")) name.remove_prefix(5);
  return name;
}

const Pair* find_std(std::string_view name) {
  const auto found =
      std::find_if(kStd.begin(), kStd.end(), [&](const Pair& known) { return known.first == without_std(name); });
  return found == kStd.end() ? nullptr : &*found;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Parses up to the ',' or '>' that ends an argument, or to the end.
  CppType type(int depth) {
    CppType type;
    take_suffix(type);  // blanks
    for (std::size_t start = at_; at_ <= text_.size(); ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : ',';
      if (c == '<' || c == ',' || c == '>' || c == '*' || c == '&' || c == '[') {
        name_part(type, text_.substr(start, at_ - start));
        break;
      }
    }
    if (at_ < text_.size() && text_[at_] == '<') arguments(type, depth);
    take_suffix(type);
    if (text_.substr(at_).starts_with("::") && depth < kDepthMax) {
      at_ += 2;
      type.inner.push_back(this->type(depth + 1));
      type.suffix = std::exchange(type.inner[0].suffix, {});
      type.is_const |= std::exchange(type.inner[0].is_const, false);
    }
    return type;
  }

 private:
  static void name_part(CppType& type, std::string_view name) {
    name = trim(name);
    for (bool more = true; more;) {
      more = false;
      for (const std::string_view word : {"const ", "struct ", "class ", "enum "}) {
        if (!name.starts_with(word)) continue;
        type.is_const |= word == "const ";
        name = trim(name.substr(word.size()));
        more = true;
      }
    }
    if (name.ends_with(" const")) {
      type.is_const = true;
      name = trim(name.substr(0, name.size() - 6));
    }
    type.name = name;
  }
  void arguments(CppType& type, int depth) {
    type.has_arguments = true;
    ++at_;
    while (at_ < text_.size() && depth < kDepthMax) {
      type.arguments.push_back(this->type(depth + 1));
      if (at_ < text_.size() && text_[at_++] == '>') return;
    }
  }
  // Takes the part after a name or its arguments.
  void take_suffix(CppType& type) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '*' || c == '&') {
        type.suffix += c;
      } else if (text_.substr(at_).starts_with("const") && !type.suffix.empty()) {
        at_ += 4;
      } else if (c != ' ') {
        return;
      }
      ++at_;
    }
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

// ROOT's names of fundamental types are synonyms of C++'s names.
static std::string_view plain_name(std::string_view name) {
  const BasicType* type = basic_type_of_root(name);
  return type ? type->cpp_name : name;
}

CppType parse_cpp_type(std::string_view text) { return Parser(trim(text)).type(0); }

std::string CppType::key() const {
  std::string out(is_of_std(name) ? without_std(name) : plain_name(name));
  if (has_arguments) {
    out += '<';
    for (std::size_t i = 0; i < arguments.size(); ++i) out += (i ? "," : "") + arguments[i].key() + arguments[i].suffix;
    out += '>';
  }
  for (const CppType& within : inner) out += "::" + within.key();
  return out;
}

std::string CppType::code() const {
  std::string out = is_const ? "const " : "";
  if (is_of_std(name)) {
    out += "::std::" + std::string(without_std(name));
  } else {
    out += (is_fundamental(name) ? "" : "::") + name;
  }
  if (has_arguments) {
    out += '<';
    for (std::size_t i = 0; i < arguments.size(); ++i) out += (i ? ", " : "") + arguments[i].code();
    out += '>';
  }
  for (const CppType& within : inner) out += "::" + within.key();
  return out + suffix;
}

bool is_fundamental(std::string_view name) {
  static constexpr std::array kMore = {"void",   "Double32_t", "Float16_t", "long double", "Option_t",
                                       "Text_t", "char",       "true",      "false"};
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name[0] == '-') return true;
  return fundamental_dtype(name) || std::find(kMore.begin(), kMore.end(), name) != kMore.end();
}

bool is_of_std(std::string_view name) { return find_std(name) != nullptr; }

const char* std_include(std::string_view name) {
  const Pair* found = find_std(name);
  return found ? found->second : nullptr;
}

bool is_of_root(std::string_view name) {
  if (name == "ROOT::TIOFeatures" || name == "ROOT::VecOps::RVec") return true;
  if (const auto scope = name.find("::"); scope != name.npos) return is_of_root(name.substr(0, scope));
  if (std::find(kRootClasses.begin(), kRootClasses.end(), name) != kRootClasses.end()) return true;
  if (std::any_of(kHeaders.begin(), kHeaders.end(), [&](const Pair& known) { return known.first == name; }))
    return true;
  return std::any_of(kFamilies.begin(), kFamilies.end(), [&](std::string_view family) {
    // "TAttLine", but not "TAttack".
    return name.starts_with(family) && (name.size() == family.size() || name[family.size()] < 'a' || family == "TF1");
  });
}

std::string root_include(std::string_view name) {
  if (name == "ROOT::VecOps::RVec") return "ROOT/RVec.hxx";
  if (name == "ROOT::TIOFeatures") return "ROOT/TIOFeatures.hxx";
  name = name.substr(0, name.find("::"));
  if (name.starts_with("TStreamer") && name != "TStreamerInfo") return "TStreamerElement.h";
  const auto found =
      std::find_if(kHeaders.begin(), kHeaders.end(), [&](const Pair& known) { return known.first == name; });
  return found != kHeaders.end() ? found->second : std::string(name) + ".h";
}

}  // namespace tfile
