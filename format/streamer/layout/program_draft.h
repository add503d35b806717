// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "streamer/layout/read_program.h"

namespace tfile {

// A program that is being made: instructions in blocks, one of which is open, and the slots that they fill.
class ProgramDraft {
 public:
  void add(Op op) { open_.push_back(op); }
  void need_entry_ends() { program_.needs_entry_ends = true; }

  // Runs `body` with a new open block, closes it, and returns it in `block`.
  template <class Body>
  auto in_block(Block& block, Body body) {
    std::vector<Op> outer = std::move(open_);
    open_.clear();
    auto result = body();
    block = close();
    open_ = std::move(outer);
    return result;
  }

  // Finishes the program: the open block runs once per entry. The draft cannot be used afterwards.
  Program finish();

 protected:
  Block close();
  std::uint32_t new_slot(Slot);
  // Compiles two forms of the same members into blocks that fill the same slots. `other` is empty if there is no second
  // form.
  template <class First, class Second>
  auto two_forms(Block& block, Block& other, First first, Second second) {
    const std::uint32_t first_slot = next_slot_;
    auto shape = in_block(block, first);
    if (!shape) return shape;
    const std::uint32_t end_slot = next_slot_;
    const std::size_t slot_count = program_.slots.size();
    next_slot_ = first_slot;
    const bool outer_forms_differ = std::exchange(forms_differ_, false);
    const auto same = in_block(other, second);
    if (!same || next_slot_ != end_slot || forms_differ_) other = {};
    forms_differ_ = outer_forms_differ;
    next_slot_ = end_slot;
    program_.slots.resize(slot_count);
    return shape;
  }

  // The state to which it returns after a failed attempt.
  struct Mark {
    std::size_t ops, slots, packings, pointers, clones, unknown, open, forms;
    std::uint32_t next_slot;
  };
  Mark mark() const;
  void back_to(const Mark&);

  std::vector<Op> open_;
  Program program_;
  // Below program_.slots.size() while the second of two forms fills the slots of the first.
  std::uint32_t next_slot_ = 0;
  bool forms_differ_ = false;
  bool passing_over_ = false;  // new slots are for members that the main form of a class lacks...

 private:
  std::vector<Slot> passed_over_slots_;  // ...and are placed after all others at the end
};

}  // namespace tfile
