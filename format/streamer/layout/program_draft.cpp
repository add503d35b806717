// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/program_draft.h"

namespace tfile {
namespace {

// Slots from here on are renumbered at the end. No program has that many.
constexpr std::uint32_t kPassedOver = 1u << 28;

}  // namespace

ProgramDraft::Mark ProgramDraft::mark() const {
  return {program_.ops.size(),
          program_.slots.size(),
          program_.packings.size(),
          program_.pointers.size(),
          program_.clones.size(),
          program_.unknown.size(),
          open_.size(),
          program_.forms.size(),
          next_slot_};
}

void ProgramDraft::back_to(const Mark& to) {
  program_.ops.resize(to.ops);
  program_.slots.resize(to.slots);
  program_.packings.resize(to.packings);
  program_.pointers.resize(to.pointers);
  program_.clones.resize(to.clones);
  program_.unknown.resize(to.unknown);
  program_.forms.resize(to.forms);
  open_.resize(to.open);
  next_slot_ = to.next_slot;
}

Block ProgramDraft::close() {
  Block block;
  block.begin = static_cast<std::uint32_t>(program_.ops.size());
  program_.ops.insert(program_.ops.end(), open_.begin(), open_.end());
  block.end = static_cast<std::uint32_t>(program_.ops.size());
  return block;
}

std::uint32_t ProgramDraft::new_slot(Slot slot) {
  slot.is_unseen = passing_over_;
  if (passing_over_) {
    passed_over_slots_.push_back(slot);
    return kPassedOver + static_cast<std::uint32_t>(passed_over_slots_.size() - 1);
  }
  if (next_slot_ == program_.slots.size()) program_.slots.push_back(slot);
  if (program_.slots[next_slot_] != slot) forms_differ_ = true;
  return next_slot_++;
}

Program ProgramDraft::finish() {
  program_.main = close();
  open_.clear();
  const auto shift = static_cast<std::uint32_t>(program_.slots.size());
  const auto place = [&](std::uint32_t slot) { return slot < kPassedOver ? slot : slot - kPassedOver + shift; };
  for (Op& op : program_.ops) op.slot = place(op.slot);
  for (PointerChoices& choices : program_.pointers) {
    if (choices.other >= 0) choices.other = static_cast<std::int32_t>(place(static_cast<std::uint32_t>(choices.other)));
  }
  program_.slots.insert(program_.slots.end(), passed_over_slots_.begin(), passed_over_slots_.end());
  // A tree keeps thousands of programs.
  program_.ops.shrink_to_fit();
  program_.slots.shrink_to_fit();
  program_.forms.shrink_to_fit();
  return std::move(program_);
}

}  // namespace tfile
