// SPDX-License-Identifier: Apache-2.0
#include "tree/record/record_plan.h"

#include <algorithm>

namespace tfile {
namespace {

using Kind = RecordStep::Kind;
using Field = RecordField;

// Classes nest their bases two or three deep. More indicates a cycle.
constexpr int kBasesMax = 16;

struct FieldName {
  std::string_view member;
  Field field;
};

constexpr FieldName kTreeFields[] = {
    {"fEntries", Field::entries},
    {"fTotBytes", Field::tot_bytes},
    {"fZipBytes", Field::zip_bytes},
    {"fAutoFlush", Field::auto_flush},
    {"fClusterRangeEnd", Field::cluster_range_end},
    {"fClusterSize", Field::cluster_size},
    {"fBranches", Field::branches},
    {"fLeaves", Field::leaves},
    {"fTreeIndex", Field::tree_index},
    {"fFriends", Field::friends},
    {"fAliases", Field::aliases},
    {"fBranchRef", Field::branch_ref},
};

constexpr FieldName kBranchFields[] = {
    {"fCompress", Field::compress},
    {"fBasketSize", Field::basket_size},
    {"fEntryOffsetLen", Field::entry_offset_len},
    {"fWriteBasket", Field::write_basket},
    {"fEntryNumber", Field::entry_number},
    {"fIOFeatures", Field::io_features},
    {"fMaxBaskets", Field::max_baskets},
    {"fSplitLevel", Field::split_level},
    {"fEntries", Field::entries},
    {"fFirstEntry", Field::first_entry},
    {"fTotBytes", Field::tot_bytes},
    {"fZipBytes", Field::zip_bytes},
    {"fBranches", Field::branches},
    {"fLeaves", Field::leaves},
    {"fBaskets", Field::baskets},
    {"fBasketBytes", Field::basket_bytes},
    {"fBasketEntry", Field::basket_entry},
    {"fBasketSeek", Field::basket_seek},
    {"fFileName", Field::file_name},
    {"fClassName", Field::class_name},
    {"fParentName", Field::parent_name},
    {"fClonesName", Field::clones_name},
    {"fCheckSum", Field::checksum},
    {"fClassVersion", Field::class_version},
    {"fID", Field::id},
    {"fType", Field::type},
    {"fStreamerType", Field::streamer_type},
    {"fMaximum", Field::maximum},
    {"fBranchCount", Field::branch_count},
    {"fBranchCount2", Field::branch_count2},
};

constexpr FieldName kLeafFields[] = {
    {"fLen", Field::len},
    {"fLenType", Field::len_type},
    {"fOffset", Field::offset},
    {"fIsRange", Field::is_range},
    {"fIsUnsigned", Field::is_unsigned},
    {"fLeafCount", Field::leaf_count},
    {"fID", Field::id},
    {"fType", Field::type},
};

Field field_of(RecordKind kind, std::string_view member) {
  const auto look = [member](std::span<const FieldName> fields) {
    const auto found = std::ranges::find(fields, member, &FieldName::member);
    return found == fields.end() ? Field::none : found->field;
  };
  switch (kind) {
    case RecordKind::tree:
      return look(kTreeFields);
    case RecordKind::branch:
      return look(kBranchFields);
    case RecordKind::leaf:
      return look(kLeafFields);
    case RecordKind::other:
      return Field::none;
  }
  return Field::none;
}

// From this version of TBranch on, its streamer writes what its description says.
constexpr std::int32_t kDescribedBranchVersion = 10;

// Compiles one class's elements into steps.
class PlanCompiler {
 public:
  PlanCompiler(const StreamerInfo& info, RecordKind kind) : info_(info) { plan_.kind = kind; }

  std::unique_ptr<RecordPlan> compile();

 private:
  void add(RecordStep step);
  RecordStep step_of(const StreamerElement& element);
  static RecordStep base_step(const StreamerElement& element);
  RecordStep number_step(const StreamerElement& element, RecordStep step);
  void numbers_step(const StreamerElement& element, RecordStep& step) const;
  static void object_step(const StreamerElement& element, RecordStep& step);

  const StreamerInfo& info_;
  RecordPlan plan_;
  std::vector<std::string> counters_;
};

std::unique_ptr<RecordPlan> PlanCompiler::compile() {
  for (const StreamerElement& element : info_.elements) {
    RecordStep step = step_of(element);
    if (step.field != Field::none || step.kind == Kind::base || step.kind == Kind::tnamed) {
      plan_.useful = plan_.steps.size() + 1;
    }
    const bool stop = step.kind == Kind::stop;
    add(std::move(step));
    if (stop) break;
  }
  plan_.useful = std::min(plan_.useful, plan_.steps.size());
  return std::make_unique<RecordPlan>(std::move(plan_));
}

void PlanCompiler::add(RecordStep step) {
  // Adjacent members that are not kept become one skip.
  if (step.kind == Kind::skip && !plan_.steps.empty() && plan_.steps.back().kind == Kind::skip) {
    plan_.steps.back().bytes += step.bytes;
  } else {
    plan_.steps.push_back(std::move(step));
  }
}

RecordStep PlanCompiler::step_of(const StreamerElement& element) {
  RecordStep step;
  step.field = field_of(plan_.kind, element.name);
  using namespace element_type;
  if (element.kind == ElementKind::base) return base_step(element);
  if (number_size(element.type) != 0) return number_step(element, step);
  if (element.type > kOffsetArray && number_size(element.type - kOffsetArray) != 0) {
    step.field = Field::none;
    step.bytes = number_size(element.type - kOffsetArray) *
                 static_cast<std::uint32_t>(std::clamp(element.array_length, 0, 1 << 20));
    step.kind = Kind::skip;
  } else if (element.type > kOffsetPointer && number_size(element.type - kOffsetPointer) != 0) {
    numbers_step(element, step);
  } else if (element.type == kTString) {
    step.kind = Kind::string;
  } else if (element.type == kObject || element.type == kAny) {
    object_step(element, step);
  } else if (element.type == kObjectP || element.type == kAnyP) {
    step.kind = Kind::pointer;
  } else if (element.type == kTObject) {
    step.kind = Kind::tobject;
  } else if (element.type == kTNamed || element.kind == ElementKind::stl || element.type == kObjectp) {
    step.kind = Kind::object;
  }
  if (step.kind == Kind::stop) step.field = Field::none;
  return step;
}

RecordStep PlanCompiler::base_step(const StreamerElement& element) {
  RecordStep step;
  step.class_name = element.name;
  step.dtype = array_class_dtype(element.name).value_or(Dtype::u1);
  step.kind = element.name == "TObject"         ? Kind::tobject
              : element.name == "TNamed"        ? Kind::tnamed
              : array_class_dtype(element.name) ? Kind::tarray
                                                : Kind::base;
  return step;
}

RecordStep PlanCompiler::number_step(const StreamerElement& element, RecordStep step) {
  step.type = static_cast<std::uint8_t>(element.type);
  const bool counts = std::ranges::any_of(
      info_.elements, [&](const StreamerElement& other) { return other.count_name == element.name; });
  if (counts) {
    step.kind = Kind::count;
    step.slot = static_cast<std::uint8_t>(counters_.size());
    counters_.push_back(element.name);
    if (counters_.size() > kRecordCountersMax) step = RecordStep{};
  } else if (step.field != Field::none) {
    step.kind = Kind::number;
  } else {
    step.kind = Kind::skip;
    step.bytes = number_size(element.type);
  }
  return step;
}

void PlanCompiler::numbers_step(const StreamerElement& element, RecordStep& step) const {
  const auto counter = std::ranges::find(counters_, element.count_name);
  if (counter == counters_.end()) return;
  step.kind = Kind::numbers;
  step.slot = static_cast<std::uint8_t>(counter - counters_.begin());
  step.type = static_cast<std::uint8_t>(element.type - element_type::kOffsetPointer);
  // TBranch::Streamer of these versions writes 4-byte numbers, whatever the member's type in memory is: version 9
  // (ROOT 4.00/04) describes fBasketSeek as Long64_t*. A flag of 2 says that there are 8 bytes.
  if (step.field == Field::basket_seek && info_.version < kDescribedBranchVersion) step.type = element_type::kInt;
}

void PlanCompiler::object_step(const StreamerElement& element, RecordStep& step) {
  step.class_name = element.type_name;
  step.dtype = array_class_dtype(element.type_name).value_or(Dtype::u1);
  step.kind = step.class_name == "TObjArray"           ? Kind::tobjarray
              : step.class_name == "ROOT::TIOFeatures" ? Kind::features
              : array_class_dtype(element.type_name)   ? Kind::tarray
                                                       : Kind::object;
}

}  // namespace

const RecordPlan* RecordPlans::find(std::string_view class_name, std::uint16_t version, std::uint32_t checksum) {
  // Versions have 16 bits. A checksum that small would be taken for a version, at the cost of one wrong look-up.
  const std::pair<std::string, std::uint32_t> key(class_name, version != 0 ? version : checksum);
  if (const auto known = plans_.find(key); known != plans_.end()) return known->second.get();
  const StreamerInfo* info =
      version != 0 ? infos_.find(class_name, version) : infos_.find_by_checksum(class_name, checksum);
  auto& plan = plans_[key];
  if (info) plan = PlanCompiler(*info, kind_of(class_name)).compile();
  return plan.get();
}

RecordKind RecordPlans::kind_of(std::string_view class_name) {
  if (const auto known = kinds_.find(class_name); known != kinds_.end()) return known->second;
  const RecordKind kind = kind_by_bases(class_name, 0);
  kinds_.emplace(class_name, kind);
  return kind;
}

RecordKind RecordPlans::kind_by_bases(std::string_view class_name, int depth) const {
  if (class_name == "TTree") return RecordKind::tree;
  if (class_name == "TBranch" || class_name == "TBranchClones") return RecordKind::branch;
  if (class_name == "TLeaf") return RecordKind::leaf;
  const StreamerInfo* info = depth < kBasesMax ? infos_.newest(class_name) : nullptr;
  if (!info) return RecordKind::other;
  for (const StreamerElement& element : info->elements) {
    if (element.kind != ElementKind::base) continue;
    const RecordKind kind = kind_by_bases(element.name, depth + 1);
    if (kind != RecordKind::other) return kind;
  }
  return RecordKind::other;
}

}  // namespace tfile
