// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tfile/range.h"

namespace tfile {

// What a disk writes whole or not at all.
inline constexpr std::uint64_t kSectorSize = 512;

// Which bytes of a file may be written while its committed state must stay whole: what that state's list of free
// segments calls free, and everything from its fEND on. What a commit frees rests for one commit more: it is written
// into the list of the next one, and used by the one after that (docs/reliability.md, "Freed space").
class Space {
 public:
  // `free`: the segments that may be used, each beginning with its negative length; `unused`: those that stay in the
  // list but are not believed; `end`: fEND. All disjoint and before `end`.
  explicit Space(std::uint64_t end, std::vector<ByteRange> free = {}, std::vector<ByteRange> unused = {});

  // Room for a record, in the smallest segment that has it, else at the end. Never leaves a remainder of less than 4.
  ByteRange take(std::uint64_t size);
  // Room at the end, whose byte `inside` and the `together` bytes from there on lie in one sector; what is left out
  // before it is free.
  ByteRange take_in_one_sector(std::uint64_t size, std::uint64_t inside, std::uint64_t together);
  // Room for a part of a table: behind the last one's, in a large segment or at the end, lest a reader of the entries
  // in their order go backward in the file. `at_end`: not in a segment.
  ByteRange take_for_part(std::uint64_t size, bool at_end);
  // Room at the end.
  ByteRange take_last(std::uint64_t size) { return take_at_end(size); }
  // What was taken and not committed.
  void give_back(ByteRange taken);

  // Of the committed state, and not of the next one. False, and nothing done, where it cannot be (behind fEND, free
  // already): damage of the file.
  bool release(ByteRange record);
  // Forgets what release() was told since the last commit.
  void forget_released() { released_.clear(); }

  // For the list of the commit that is being planned, sorted; and those whose first bytes must be written first.
  std::vector<ByteRange> listed() const;
  std::vector<ByteRange> unmarked() const;
  // Whether a commit of nothing else would make space usable: more rests than the one list of free segments that such a
  // commit frees itself.
  bool has_resting() const { return resting_.size() > 1; }

  std::uint64_t end() const { return end_; }
  // The plan that was made when the file's end was `end` is done.
  void committed(std::uint64_t end);

 private:
  std::vector<ByteRange> merged() const;  // free and resting segments, neighbours as one
  ByteRange take_front(std::vector<ByteRange>::iterator segment, std::uint64_t size);
  ByteRange take_at_end(std::uint64_t size);

  std::uint64_t end_;
  std::uint64_t committed_end_;
  std::vector<ByteRange> free_;  // usable now; sorted, neighbours merged
  std::vector<ByteRange> unused_;
  std::vector<ByteRange> resting_;   // released by the last commit
  std::vector<ByteRange> released_;  // by the next one
  std::vector<ByteRange> marked_;    // segments of the committed list that begin with their negative length
  std::uint64_t part_end_ = 0;       // of the last one taken since the commit
};

}  // namespace tfile
