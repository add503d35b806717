// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/file.h"
#include "tfile/node.h"
#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// How payloads are compressed: ROOT's own algorithms and levels.
struct Compression {
  enum class Algorithm : std::uint8_t { none = 0, zlib = 1, lzma = 2, lz4 = 4, zstd = 5 };  // ROOT's numbers
  Algorithm algorithm = Algorithm::zstd;
  int level = 5;                                                                               // 1 to 9; 0 for none
  int settings() const { return level == 0 ? 0 : static_cast<int>(algorithm) * 100 + level; }  // fCompress: 505
};

// "zstd:5", "lz4" (ROOT's default level), "none". Error: invalid, with what may stand there.
Result<Compression> parse_compression(std::string_view text);

// A column as it is offered to a table: where it stands below the table, and what its name says.
struct OfferedColumn {
  std::string path;  // "Muon_pt/values.f4"
  Dtype dtype = Dtype::u1;
  std::vector<std::uint32_t> shape;
  Role role = Role::values;  // values, offsets or chars
  std::string title;
  std::string counter;  // of the items of a list: the branch that is known to count them; "": its name tells
};

// What "Muon_pt/values.f4", "Muon_pt/offsets.i8", "name/chars.u1", "px.f4" say by themselves. Error: invalid (not the
// name of a column that can be written).
Result<OfferedColumn> offered_column(std::string path);

// A branch, and the columns that make it: indices into the offered ones, outermost list first, then values or chars; of
// a record its members in order. A counted array has its counter in front (which has a branch of its own as well), so
// that the two can be held against each other.
struct BranchForm {
  enum class Kind : std::uint8_t { number, text, counted_array, vector, leaflist };
  Kind kind = Kind::number;
  std::string name;   // ROOT's: escapes of the mount undone
  std::string title;  // "" where nothing was given: the writer makes ROOT's own
  std::vector<std::uint32_t> columns;
  std::string counter;  // of a counted array: the branch that counts it ("nMuon")
};

// The branches that columns make together, in the order in which the first column of each was offered.
struct TableForm {
  std::vector<BranchForm> branches;
  std::vector<std::string> incomplete;  // one line each: "Muon_pt: offsets without values"
};

// Errors: invalid, with path and reason (a list of records, a map, a variant, a shape in a list: docs/semantics.md,
// "Writing"). Pure.
Result<TableForm> table_form(std::span<const OfferedColumn>);

// One basket as it will stand in the file, but for its own address.
struct Basket {
  Buffer record;  // key and payload; the address of the key is 0 still
  std::int64_t entries = 0;
  std::int64_t raw_bytes = 0;  // key and payload before compression (fTotBytes' share)
  std::int64_t largest = 0;    // of a branch that counts others: its largest value
};

// The branches that a table had at opening, in file order, and the columns that they make in the mount.
struct CommittedForm {
  std::vector<OfferedColumn> columns;
  std::vector<BranchForm> branches;
  std::string reason;  // why no entries can be appended ("branch tracks: a class"); `branches` is empty then
};

// A table being written: a new one, entries behind those of one there, or branches beside those there. encode() is
// const and pure, from any thread; all else from one thread.
class TableWriter {
 public:
  virtual ~TableWriter() = default;

  // Entries of branches that were there at opening. New branches beside them begin at entry 0, appended entries here.
  virtual std::int64_t committed_entries() const = 0;

  // What entries can be appended to. Its branches have the first numbers; those of add_branches follow them.
  virtual const CommittedForm& committed_form() const = 0;

  // Adds branches to the form. Errors: exists (a branch of that name), invalid.
  virtual Result<> add_branches(std::span<const OfferedColumn>, const TableForm&) = 0;

  // Of branch number `branch` (the committed form's, then all added, in order), entries `entries` as one basket.
  // `columns[i]`: the bytes of the branch's i-th column for these entries, little-endian,
  // as staged: of an offsets column one more than the items, absolute; of the inner columns the items from the first
  // offset to the last. Errors: invalid (offsets that go down, a counter that does not agree with the list it counts,
  // an entry above 1 GiB, a string with ...), each with its entry.
  virtual Result<Basket> encode(std::size_t branch, EntryRange entries,
                                std::span<const std::span<const std::byte>> columns) const = 0;

  // Takes a basket that stands at `address` (from FileWriter::place). Of one branch in the order of entries.
  virtual void add_basket(std::size_t branch, const Basket&, std::uint64_t address) = 0;

  // Every branch has the entries up to `entries` now: a cluster ends here. `auto_flush`: entries of a cluster, for
  // fAutoFlush; 0 to leave it. `basket_bytes[branch]`: fBasketSize by number; empty to leave them.
  virtual void end_cluster(std::int64_t entries, std::int64_t auto_flush,
                           std::span<const std::int32_t> basket_bytes) = 0;
};

// What brings the file from one committed state to the next; to be done in this order, by writes that go to disk no
// later than the next sync (fdatasync), which also holds for the baskets that were placed since the last plan. At any
// instant the file opens with the old state or the new one (docs/reliability.md). The commit is promised by the last
// sync; the steps behind the first one are small and may be done again, from a journal, after a crash.
struct CommitStep {
  enum class Kind : std::uint8_t { write, sync } kind = Kind::write;
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};
struct CommitPlan {
  std::vector<CommitStep> steps;
  std::uint64_t size = 0;              // of the file afterwards
  std::vector<std::byte> head_before;  // the first bytes of the file must be these still, else another has written it
  std::vector<std::byte> head_after;   // what they will be: a head torn by a crash is mended from them
  bool replace_file = false;  // the steps make a whole new file: to be written beside, synced and renamed over the name
};

// A ROOT file to be changed: what is asked for is collected, and plan() says which bytes do it. Knows no file
// descriptor: baskets and plans are written by the caller. One thread at a time.
class FileWriter {
 public:
  // A file that does not exist yet. `name`: fName, its base name (cut so that header and root record share a sector).
  static Result<std::unique_ptr<FileWriter>> create(std::string name, const Compression&);
  // Errors: damaged, unsupported (what was recovered, or holds records behind fEND; a StreamerInfo that cannot be
  // read), io. Blocks.
  static Result<std::unique_ptr<FileWriter>> open(std::shared_ptr<const File>, const Compression&);
  virtual ~FileWriter() = default;

  // Whether what is placed and planned now makes a whole new file, to be written beside the name: of a file that does
  // not exist yet, or whose root directory has no keys. False once such a plan was committed with a key in it.
  virtual bool makes_new_file() const = 0;

  // Directories by the path of key names, '/' between them, "" for the root.
  // `datime`: the date of its key; 0: that of the commit. Errors: exists, not_found (its parent).
  virtual Result<> make_directory(std::string_view path, std::uint32_t datime = 0) = 0;
  // Key `name` of a directory: all its cycles, or one. A directory goes with all that is in it. Errors: not_found,
  // damaged.
  virtual Result<> remove_key(std::string_view directory, std::string_view name, int cycle = 0) = 0;
  // All cycles of a key, also into another directory: one instant for both lists. It keeps its date. Errors: not_found,
  // exists, invalid.
  virtual Result<> rename_key(std::string_view directory, std::string_view name, std::string_view new_directory,
                              std::string_view new_name) = 0;

  // The writers live as long as this. A table that is there is appended to or gets new branches: errors: unsupported
  // (a branch of a type that is not written, for entries; `keep_old_cycle`: what it was stays as the older cycle).
  virtual Result<TableWriter*> create_table(std::string_view directory, std::string name, std::string title) = 0;
  virtual Result<TableWriter*> open_table(std::string_view directory, std::string_view name, bool keep_old_cycle) = 0;
  virtual Result<> drop_branch(TableWriter*, std::string_view branch) = 0;
  // The date of the key that the next commit writes for the table; 0: that of the commit.
  virtual Result<> date_table(TableWriter*, std::uint32_t datime) = 0;

  // Where the basket goes: into space that is free in the committed state, or behind the end. The record gets that
  // address written into its key. To be written there before the first sync of the plan that has it.
  virtual std::uint64_t place(Basket&) = 0;

  // The plan for all that was collected; nothing changes here until committed() says that it was done (or until the
  // next plan(), which takes its place). Between the two only tables may be written to, and baskets placed. Every table
  // must have ended its cluster. With nothing to commit: a plan that makes the space usable which the last commit freed
  // (do it before the file is left), or none at all: no steps. `now`: TDatime. Errors: unsupported, no_space, io.
  // Reads.
  virtual Result<CommitPlan> plan(std::uint32_t now) = 0;
  virtual void committed(const CommitPlan&) = 0;
};

// How many of a file's first bytes tell its state: those of the header and, where they hold it whole, of the root
// directory's record, which every save writes anew. Behind them may lie anything, also what a commit writes before it
// takes place. All of them where they are no ROOT file's. Pure.
std::size_t state_size(std::span<const std::byte> first);

// What the first bytes of a file are after a crash: those before the commit, those after it, or a sector that was torn
// inside while it was written: then `after` is to be written over it. `other`: another program has written the file.
// `before` and `after`: head_before and head_after of the plan, from the journal; `head`: as many bytes of the file.
// Pure.
enum class HeadState : std::uint8_t { before, after, torn, other };
HeadState head_state(std::span<const std::byte> head, std::span<const std::byte> before,
                     std::span<const std::byte> after);

}  // namespace tfile
