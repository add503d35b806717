// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "staging/overlay/offsets_check.h"
#include "staging/overlay/staged_bytes.h"

namespace tfilefs {

struct StagedNode;
using NodePtr = std::shared_ptr<StagedNode>;

// What the committed state has under a name. A fixed table is one that is not written, and otherwise as an object is.
// Of `other` it only knows that it lies within a table or an object.
enum class CommittedKind : std::uint8_t { nothing, directory, table, fixed_table, object, other };

// What stat(2) shows of a staged file or directory, and what was set on it.
struct StagedAttributes {
  mode_t mode = 0;  // permission bits
  timespec modified{};
  bool time_was_set = false;  // by utimens: what is committed takes it over
  std::string title;          // user.tfilefs.title
  std::map<std::string, std::string, std::less<>> xattrs;
};

// A path of a ROOT file that is being written: staged itself, or a committed directory in which something is. Its file
// guards it; only `id`, `identity` and `directory` may be read by anyone.
struct StagedNode {
  // Of no other node of this process, past ones included, and no generation's number: the top bit is set.
  static std::uint64_t next_identity() {
    static std::atomic<std::uint64_t> last = std::uint64_t{1} << 63;
    return ++last;
  }

  using Clock = std::chrono::steady_clock;

  StagedNode(std::uint64_t id_, bool directory_, std::string name_, const NodePtr& parent_)
      : id(id_), directory(directory_), name(std::move(name_)), parent(parent_) {}
  // What hangs below ends one by one, not each within the end of what is above: a journal being replayed may nest
  // deeper than the stack.
  ~StagedNode() {
    std::vector<NodePtr> ending;
    move_children(ending);
    while (!ending.empty()) {
      const NodePtr node = std::move(ending.back());
      ending.pop_back();
      if (node.use_count() == 1) node->move_children(ending);
    }
  }
  StagedNode(const StagedNode&) = delete;
  StagedNode& operator=(const StagedNode&) = delete;
  const std::uint64_t id;  // in order of making; the journal's name for it, unless that has forgotten it
  bool forgotten = false;  // of a committed directory: the journal was written anew, and goes by its path
  std::uint64_t journal_id() const { return forgotten ? 0 : id; }
  const std::uint64_t identity = next_identity();
  const bool directory;
  std::string name;
  std::weak_ptr<StagedNode> parent;
  StagedAttributes attributes;
  bool gone = false;     // removed, while somebody still has it open
  bool settled = false;  // committed, likewise

  // A directory. `base_name`: under which name the committed state knows it; empty: not there.
  std::string base_name;
  bool is_table = false;        // the committed state knows a table of it
  bool is_object = false;       // it knows an object of it, or of what it is a part of: nothing can be put into it
  bool is_fixed_table = false;  // and that is a table
  void note_committed(CommittedKind kind) {
    is_table = kind == CommittedKind::table;
    is_fixed_table = kind == CommittedKind::fixed_table;
    is_object = is_fixed_table || kind == CommittedKind::object;
  }
  std::map<std::string, NodePtr, std::less<>> children;
  std::set<std::string, std::less<>> whiteouts;  // committed names that were removed, or moved away
  // Committed names that were removed and go with the key alone: hidden, in memory, until a commit finds the key there.
  std::set<std::string, std::less<>> set_aside;
  // Why nothing below can ever be committed: found when something was made there, and told then. Nothing more is made.
  std::string refusal;
  bool examined = false;  // whether what stood in it before it was a table was looked at

  // A file. Of `bytes` those below `base` are committed, and neither read nor written here.
  std::shared_ptr<StagedBytes> bytes;
  std::uint64_t base = 0;
  bool continues = false;  // what is committed, should that be no items at all
  unsigned writers = 0;    // handles open for writing
  bool flushed = false;    // since the last write: whoever wrote has closed it, or one of several handles
  Clock::time_point first_write{}, last_write{};
  std::uint64_t changes = 0;   // counts writes and truncations
  OffsetsSeen offsets;         // of offsets: what was looked at since they changed
  std::optional<Error> error;  // of a commit, to be told at the next flush or fsync

 private:
  void move_children(std::vector<NodePtr>& into) {
    for (auto& [child_name, child] : children) into.push_back(std::move(child));
    children.clear();
  }
};

}  // namespace tfilefs
