// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <atomic>
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
#include "staging/overlay/variants_check.h"
#include "steady_clock.h"
#include "tfile/table.h"

namespace tfilefs {

struct StagedNode;
using NodePtr = std::shared_ptr<StagedNode>;

// The committed contents under a name: a table that is a tree, or an RNTuple. A fixed table is a table that is not
// written; it is handled like an object. `other` is only known to be part of a table or an object.
enum class CommittedKind : std::uint8_t { nothing, directory, table, rntuple, fixed_table, object, other };

// The attributes of a staged file or directory that stat(2) shows, or that were set.
struct StagedAttributes {
  mode_t mode = 0;  // permission bits
  timespec modified{};
  bool time_was_set = false;  // by utimens; committed with it
  std::string title;          // user.tfilefs.title
  std::string encoding;       // user.tfilefs.encoding, of a file
  std::string class_name;     // user.tfilefs.class, of a directory
  std::map<std::string, std::string, std::less<>> xattrs;
};

// A path of a ROOT file that is being written: a staged one, or a committed directory that contains staged ones. The
// file guards it; only `id`, `identity` and `directory` may be read without a lock.
struct StagedNode {
  // Unique among all nodes of this process, also past ones, and the numbers of generations: the top bit is set.
  static std::uint64_t next_identity() {
    static std::atomic<std::uint64_t> last = std::uint64_t{1} << 63;
    return ++last;
  }

  StagedNode(std::uint64_t id_, bool directory_, std::string name_, const NodePtr& parent_)
      : id(id_), directory(directory_), name(std::move(name_)), parent(parent_) {}
  // Destroys the nodes below one by one rather than recursively: those of a journal being replayed may nest deeper than
  // the stack allows.
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
  const std::uint64_t id;  // in the order of creation; also its name in the journal, unless `forgotten`
  bool forgotten = false;  // of a committed directory: the journal was rewritten, and refers to it by its path
  std::uint64_t journal_id() const { return forgotten ? 0 : id; }
  const std::uint64_t identity = next_identity();
  const bool directory;
  std::string name;
  std::weak_ptr<StagedNode> parent;
  StagedAttributes attributes;
  bool gone = false;     // removed, while a program still has it open
  bool settled = false;  // committed, likewise

  // A directory. `base_name`: its name in the committed state; empty: not committed.
  std::string base_name;
  bool is_table = false;        // it is a table in the committed state
  bool is_object = false;       // it is an object there, or part of one: no files can be put into it
  bool is_fixed_table = false;  // and that object is a table
  // The form of the table; for a new directory, that which it gets if it becomes a table (see format_of).
  tfile::TableFormat format = tfile::TableFormat::tree;
  void note_committed(CommittedKind kind) {
    is_table = kind == CommittedKind::table || kind == CommittedKind::rntuple;
    if (is_table) format = kind == CommittedKind::rntuple ? tfile::TableFormat::rntuple : tfile::TableFormat::tree;
    is_fixed_table = kind == CommittedKind::fixed_table;
    is_object = is_fixed_table || kind == CommittedKind::object;
  }
  std::map<std::string, NodePtr, std::less<>> children;
  std::set<std::string, std::less<>> whiteouts;  // committed names that were removed, or moved away
  // Committed names that were removed, but can only go with their key: hidden, in memory only, until a commit finds
  // that the key is still there.
  std::set<std::string, std::less<>> set_aside;
  // Why no file below can ever be committed: found, and reported, when one was made. Further ones are refused.
  std::string refusal;
  bool examined = false;  // whether the files from before it was a table were checked

  // A file. Bytes below `base` are committed, and neither read nor written here.
  std::shared_ptr<StagedBytes> bytes;
  std::uint64_t base = 0;
  bool continues = false;  // it continues a committed column, which may have no items
  unsigned writers = 0;    // handles open for writing
  bool flushed = false;    // since the last write: the writer has closed it, or one of several handles
  SteadyClock::Time first_write{}, last_write{};
  std::uint64_t changes = 0;                 // counts writes and truncations
  OffsetsSeen offsets;                       // of offsets: what was checked since they changed
  VariantsSeen variants;                     // of tags: what was found in them and their index
  std::uint64_t lowest_change = UINT64_MAX;  // the first byte that was changed since that was found
  std::optional<Error> error;                // of a commit, to be returned by the next flush or fsync

 private:
  void move_children(std::vector<NodePtr>& into) {
    for (auto& [child_name, child] : children) into.push_back(std::move(child));
    children.clear();
  }
};

}  // namespace tfilefs
