// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tfile/range.h"

namespace tfile {

// A disk writes a sector either whole or not at all.
inline constexpr std::uint64_t kSectorSize = 512;

// The bytes of a file that may be written while its committed state must stay intact: the segments in that state's free
// list, and everything from its fEND on. Space freed by a commit rests for one more commit: the next commit writes it
// into its free list, and the one after that may use it (docs/reliability.md, "Freed space").
class Space {
 public:
  // `free`: the usable segments, each beginning with its negative length. `unused`: segments that stay in the list but
  // are never used. `end`: fEND. All are disjoint and lie before `end`.
  explicit Space(std::uint64_t end, std::vector<ByteRange> free = {}, std::vector<ByteRange> unused = {});

  // Takes room for a record from the smallest sufficient segment, else from the end. Never leaves a remainder below 4
  // bytes.
  ByteRange take(std::uint64_t size);
  // Takes room at the end such that the `together` bytes from byte `inside` of it on lie in one sector. Bytes skipped
  // before it become free.
  ByteRange take_in_one_sector(std::uint64_t size, std::uint64_t inside, std::uint64_t together);
  // Takes room for a part of a table: after the last part, in a large segment or at the end, so that a reader of the
  // entries in order never goes backward in the file. `at_end`: not in a segment.
  ByteRange take_for_part(std::uint64_t size, bool at_end);
  // Takes room at the end.
  ByteRange take_last(std::uint64_t size) { return take_at_end(size); }
  // Returns space that was taken and not committed.
  void give_back(ByteRange taken);

  // Frees a record of the committed state in the next one. Returns false and does nothing if that is impossible (past
  // fEND, already free): the file is damaged.
  bool release(ByteRange record);
  // Whether records of the committed state may lie in a range: it is before fEND, and nothing of it is free or
  // released.
  bool is_taken(ByteRange) const;
  // Forgets everything released since the last commit.
  void forget_released() { released_.clear(); }

  // listed(): the free list for the commit being planned, sorted. unmarked(): the segments in it whose negative length
  // is not yet in the file and must be written first.
  std::vector<ByteRange> listed() const;
  std::vector<ByteRange> unmarked() const;
  // Whether a commit of nothing else would make space usable: more is resting than the one free list that such a commit
  // frees itself.
  bool has_resting() const { return resting_.size() > 1; }

  std::uint64_t end() const { return end_; }
  // The plan that was made when the file's end was `end` has been carried out.
  void committed(std::uint64_t end);

 private:
  std::vector<ByteRange> merged() const;  // free and resting segments, neighbours merged
  ByteRange take_front(std::vector<ByteRange>::iterator segment, std::uint64_t size);
  ByteRange take_at_end(std::uint64_t size);

  std::uint64_t end_;
  std::uint64_t committed_end_;
  std::vector<ByteRange> free_;  // usable now; sorted, neighbours merged
  std::vector<ByteRange> unused_;
  std::vector<ByteRange> resting_;   // released by the last commit
  std::vector<ByteRange> released_;  // to be released by the next commit
  std::vector<ByteRange> marked_;    // segments of the committed list that begin with their negative length
  std::uint64_t part_end_ = 0;       // end of the last part taken since the commit
};

}  // namespace tfile
