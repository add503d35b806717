// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
  std::string counter;  // of the items of a list: path of the column that is known to count them; "": names tell
};

// What "Muon_pt/values.f4", "Muon_pt/offsets.i8", "name/chars.u1", "px.f4" say by themselves. Error: invalid (not the
// name of a column that can be written).
Result<OfferedColumn> offered_column(std::string path);

// A field, and the columns that make it: indices into the offered ones, outermost list first, then values or chars; of
// a record its members in order.
struct FieldForm {
  enum class Kind : std::uint8_t { number, text, list, record };
  Kind kind = Kind::number;
  std::string name;   // ROOT's: escapes of the mount undone
  std::string title;  // "" where nothing was given: the writer makes ROOT's own
  std::vector<std::uint32_t> columns;
  std::optional<std::uint32_t> counter;  // of a list whose items a column counts, which is a field of its own as well

  // What its parts are encoded from: the counter, where it has one, so that the two can be held against each other;
  // then its own columns.
  std::vector<std::uint32_t> encoded() const;
};

// The fields that columns make together, in the order in which the first column of each was offered.
struct OfferedForm {
  std::vector<FieldForm> fields;
  std::vector<std::string> incomplete;  // one line each: "Muon_pt: offsets without values"
};

// Errors: invalid, with path and reason (a list of records, a map, a variant, a shape in a list: docs/semantics.md,
// "Writing"). Pure.
Result<OfferedForm> offered_form(std::span<const OfferedColumn>);

// A list that is written only where a column counts its items, and the columns that may do so, by name and type: which
// of them does, their entries tell (OfferedColumn::counter). Indices into the offered ones.
struct UncountedList {
  std::uint32_t offsets = 0, items = 0;
  std::vector<std::uint32_t> counters;  // integers, one an entry
};
std::vector<UncountedList> uncounted_lists(std::span<const OfferedColumn>);

// What the writer that encoded a part keeps with it until it is added.
struct PartNotes {
  virtual ~PartNotes() = default;
};

// Some entries of one field, encoded: one piece of the file.
struct Part {
  Buffer stored;  // as it will stand there, but for its address, where it has that in it
  std::int64_t entries = 0;
  std::int64_t raw_bytes = 0;  // before compression, its head included
  std::unique_ptr<const PartNotes> notes;
};

// The fields that a table had at opening, in file order, and the columns that they make in the mount.
struct CommittedForm {
  std::vector<OfferedColumn> columns;
  std::vector<FieldForm> fields;
  std::string reason;  // why no entries can be appended ("branch tracks: a class"); `fields` is empty then
};

// How many entries go into a cluster, and into each part of a field, by number; 0: no sample tells. Those of parts are
// powers of two, so that few parts lie across two of the blocks in which a caller keeps its columns.
struct ClusterSizes {
  std::int64_t entries = 0;
  std::vector<std::int64_t> part_entries;
};

// A table being written: a new one, entries behind those of one there, or fields beside those there. encode() is const
// and pure, from any thread; all else from one thread.
class TableWriter {
 public:
  virtual ~TableWriter() = default;

  // Entries of fields that were there at opening. New fields beside them begin at entry 0, appended entries here.
  virtual std::int64_t committed_entries() const = 0;

  // What entries can be appended to. Its fields have the first numbers; those of add_fields follow them.
  virtual const CommittedForm& committed_form() const = 0;

  // Adds fields to the form. Errors: exists (a field of that name), invalid.
  virtual Result<> add_fields(std::span<const OfferedColumn>, const OfferedForm&) = 0;

  // Takes a field out of the table, also one of a type that is not written. The numbers of others stay. Errors:
  // not_found.
  virtual Result<> drop_field(std::string_view name) = 0;

  // Of field number `field` (the committed form's, then all added, in order), entries `entries` as one part.
  // `columns[i]`: the bytes of the i-th column that FieldForm::encoded names for these entries, little-endian,
  // as staged: of an offsets column one more than the items, absolute; of the inner columns the items from the first
  // offset to the last. Errors: invalid (offsets that go down, a counter that does not agree with the list it counts,
  // an entry above 1 GiB, a string with ...), each with its entry.
  virtual Result<Part> encode(std::size_t field, EntryRange entries,
                              std::span<const std::span<const std::byte>> columns) const = 0;

  // Takes a part, which need not be written, as a sample of how large entries of its field are.
  virtual void add_sample(std::size_t field, const Part&) = 0;

  // What the samples tell, for clusters of about `cluster_bytes` in the file.
  virtual ClusterSizes cluster_sizes(std::uint64_t cluster_bytes) const = 0;

  // Takes a part that is to be written to `address` (from FileWriter::place), and puts that into it. Of one field in
  // the order of entries.
  virtual void add_part(std::size_t field, Part&, std::uint64_t address) = 0;

  // Every field has the entries up to `entries` now: a cluster ends here. `cluster_entries`: those of a whole cluster
  // from this one on; 0: as before.
  virtual void end_cluster(std::int64_t entries, std::int64_t cluster_entries) = 0;
};

// What brings the file from one committed state to the next; to be done in this order, by writes that go to disk no
// later than the next sync (fdatasync), which also holds for the parts that were placed since the last plan. At any
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
// descriptor: parts and plans are written by the caller. One thread at a time.
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

  // The writers live as long as this. A table that is there is appended to or gets new fields: errors: unsupported (a
  // field of a type that is not written, for entries). The next commit replaces the record that it has, or leaves it as
  // the older cycle of its key.
  enum class OldCycle : std::uint8_t { replaced, kept };
  virtual Result<TableWriter*> create_table(std::string_view directory, std::string name, std::string title) = 0;
  virtual Result<TableWriter*> open_table(std::string_view directory, std::string_view name, OldCycle) = 0;
  // The date of the key that the next commit writes for the table; 0: that of the commit.
  virtual Result<> date_table(TableWriter*, std::uint32_t datime) = 0;

  // Where a part of `size` bytes goes: into space that is free in the committed state, or behind the end. To be written
  // there before the first sync of the plan that has it.
  virtual std::uint64_t place(std::uint64_t size) = 0;

  // The plan for all that was collected; nothing changes here until committed() says that it was done (or until the
  // next plan(), which takes its place). Between the two only tables may be written to, and parts placed. Every table
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
