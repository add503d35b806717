// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/file.h"
#include "tfile/node.h"
#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

class TableCopy;
struct CopyOptions;
struct NewObject;

// How payloads are compressed: ROOT's own algorithms and levels.
struct Compression {
  enum class Algorithm : std::uint8_t { none = 0, zlib = 1, lzma = 2, lz4 = 4, zstd = 5 };  // ROOT's numbers
  Algorithm algorithm = Algorithm::zstd;
  int level = 5;                                                                               // 1 to 9; 0 for none
  int settings() const { return level == 0 ? 0 : static_cast<int>(algorithm) * 100 + level; }  // fCompress: 505
};

// Parses "zstd:5", "lz4" (with ROOT's default level) or "none". Errors: invalid, with the allowed values.
Result<Compression> parse_compression(std::string_view text);

// The reverse of settings(), for those in a file: FileHeader::compress. ROOT's default is zlib; what nothing writes any
// more becomes zlib, too.
Compression compression_of(std::int32_t settings);

// Compressed bytes of a cluster where nothing else is asked for. A tree's: ROOT's own default. Pages of RNTuples
// compress better the larger they are: with 30 MB a file as wide as NanoAOD is 2 to 4 % larger than with ROOT's default
// of 128 MiB, with 64 MB less than 1 %; and few files have one cluster alone, which no two threads of a reader can
// share.
constexpr std::uint64_t usual_cluster_bytes(TableFormat format) {
  return format == TableFormat::tree ? 30'000'000 : 64'000'000;
}

// How an RNTuple stores numbers of type f4, if not whole: with fewer bits, and so with a loss.
struct FloatEncoding {
  enum class Kind : std::uint8_t {
    whole,
    half,       // IEEE half precision
    truncated,  // only the highest bits of each
    quantized,  // integers that divide the range from min to max evenly; nothing else can be stored
  } kind = Kind::whole;
  std::uint16_t bits = 32;
  double min = 0, max = 0;
  friend bool operator==(const FloatEncoding&, const FloatEncoding&) = default;
};

// Parses "real16", "real32trunc:16" (10 to 31 bits), "real32quant:12:0:100" (1 to 32 bits, range), or "" for whole.
// Errors: invalid, with what is allowed.
Result<FloatEncoding> parse_float_encoding(std::string_view text);

// A column offered to a table: its path below the table, and what its file name says.
struct InputColumn {
  std::string path;  // "Muon_pt/values.f4"
  Dtype dtype = Dtype::u1;
  std::vector<std::uint32_t> shape;
  Role role = Role::values;  // values, offsets or chars
  std::string title;
  FloatEncoding encoding;  // in RNTuples
  // The directories above it that are records of a class, or variants, in RNTuples: their paths, and the names of
  // their types.
  std::vector<std::pair<std::string, std::string>> classes;
  std::string counter;  // of the items of a list: path of the column known to count them; "": names decide
  // Number of each entry, in RNTuples: path of the offsets of the list whose lengths it is known to be. It is then
  // written as a projection that shows them, without bytes of its own.
  std::string counts;
};

// Parses a path: "Muon_pt/values.f4", "Muon_pt/offsets.i8", "name/chars.u1", "px.f4". Errors: invalid (not the name of
// a column that can be written).
Result<InputColumn> offered_column(std::string path);

// The role of a column in a variant, which is the columns of tags and index, and those of its alternatives.
struct VariantPart {
  std::uint8_t tag = 0;           // of a column of an alternative (of what has the lists in it, the outermost): its tag
  std::uint8_t alternatives = 0;  // of tags, which the index follows: how many there are
};

// A field and its columns, as indices into the offered columns: those of a list, the offsets first, then its items; of
// a record, the members in order; of a variant tags and index, then the alternatives in order.
struct FieldForm {
  // `nested`: records in lists or records, lists in records; in a tree only lists of records.
  enum class Kind : std::uint8_t { number, text, list, record, nested };
  Kind kind = Kind::number;
  std::string name;   // ROOT's name: the escapes of the mount are undone
  std::string title;  // "" if none was given: the writer then makes the title that ROOT would make
  std::vector<std::uint32_t> columns;
  std::vector<std::uint32_t> encoded;  // the columns that encode() gets: those of other fields that it needs; `columns`
  // For each of `encoded`: the place in `encoded` of the offsets between which its items (or, of offsets, lists) are;
  // of an alternative that of the tags, each of which with its number has one.
  static constexpr std::uint32_t kEachEntry = UINT32_MAX;  // or one for each entry
  std::vector<std::uint32_t> lists;
  std::vector<VariantPart> variants;  // for each of `encoded`; empty: there are none
};

// The fields that offered columns form together, in the order in which the first column of each was offered.
struct WriteSchema {
  std::vector<FieldForm> fields;
  std::vector<std::string> incomplete;  // one line each: "Muon_pt: offsets without values"
};

// The part of the column at that place of FieldForm::variants.
inline VariantPart variant_part(std::span<const VariantPart> variants, std::size_t place) {
  return place < variants.size() ? variants[place] : VariantPart();
}

// Groups columns into fields. Errors: invalid, with path and reason (what a table of that format does not hold:
// docs/semantics/writing.md, "Writing"). Pure.
Result<WriteSchema> offered_form(std::span<const InputColumn>, TableFormat);

// A column or directory that a table of some format does not hold, and why.
struct NotHeld {
  std::string path;  // "event/tracks", "px.f4"
  std::string reason;
};

// The inputs to leave out so that offered_form() takes the rest: members of records, and whole fields if that is not
// enough. Without these there may be more. Pure.
std::vector<NotHeld> not_held(std::span<const InputColumn>, TableFormat);

// A name like this one, or this one, that offered_form() takes for a field, or for a member of a record. Pure.
std::string nearest_name(std::string_view name, TableFormat, bool is_member);

// The entries of offered columns, by their index. For each, items() gives the bytes of the items from number `first`
// on, as many as fill `into`, little-endian; of offsets one number more than there are entries. False if it cannot.
struct OfferedEntries {
  std::function<std::int64_t(std::uint32_t column)> count;
  std::function<bool(std::uint32_t column, std::int64_t first, std::span<std::byte> into)> items;
};

// Sets InputColumn::counter of lists for which it decides how they are written, or whether: by the entries of the
// columns, where their names do not tell. Does nothing where no list needs one.
void find_counters(std::span<InputColumn>, const OfferedEntries&, TableFormat);

// Sets InputColumn::counts of each u4 or u8 that counts a list by its name and by its entries: those of both that are
// there; names alone where neither has any. Does nothing for trees. Reads them.
void find_projections(std::span<InputColumn>, const OfferedEntries&, TableFormat);

// Encoded entries of one field: one contiguous piece of the file.
struct Part {
  // One stream's share of it in the file: a page, or one of several baskets. A part that is one basket lists none.
  struct Unit {
    std::uint32_t stream = 0;
    std::uint32_t elements = 0;
    std::uint64_t offset = 0, size = 0;   // in `stored`
    std::array<std::uint64_t, 2> hash{};  // of these bytes
    std::uint64_t address = 0;            // where the table has equal bytes already; they are then not in `stored`
  };
  Buffer stored;  // its bytes in the file, except for its own address, if they contain it
  std::int64_t entries = 0;
  std::int64_t raw_bytes = 0;  // before compression, with its header
  std::int64_t largest = 0;    // for add_part(): value of a field that counts others; length of texts
  std::vector<Unit> units;
};

// Entries of a field that are to be encoded.
struct OfferedPart {
  EntryRange entries;
  // The bytes of each column of FieldForm::encoded for these entries, little-endian, as staged: of an offsets column,
  // one number more than there are items, absolute; of the columns inside, the items from the first offset to the last.
  std::span<const std::span<const std::byte>> columns;
  // For each offsets column its number at which the cluster begins; for other columns any.
  std::span<const std::int64_t> cluster_begin;
  // For each column of an alternative its item (or list) at which the cluster begins. Empty: there are none.
  std::span<const std::int64_t> cluster_items = {};
};

// The fields that a table had at opening, in file order, and their columns in the mount.
struct CommittedForm {
  std::vector<InputColumn> columns;
  std::vector<FieldForm> fields;
  std::string reason;  // why no entries can be appended ("branch tracks: a class"); then `fields` is empty
};

// The number of entries per cluster, and per part of each field, by number; 0: unknown, no sample was added. Those of
// parts are powers of two, so that few parts straddle two of the blocks in which a caller keeps its columns.
struct ClusterSizes {
  std::int64_t entries = 0;
  std::vector<std::int64_t> part_entries;
};

// A table being written: a new table, entries appended to an existing one, or fields added to an existing one. encode()
// is const and pure, for any thread; all other functions are for one thread.
class TableWriter {
 public:
  virtual ~TableWriter() = default;

  virtual TableFormat format() const = 0;

  // Entries of the fields that existed at opening. New fields added to them begin at entry 0; appended entries begin
  // here.
  virtual std::int64_t committed_entries() const = 0;

  // The form to which entries can be appended. Its fields have the first numbers; those of add_fields() follow.
  virtual const CommittedForm& committed_form() const = 0;

  // Adds fields to the form. Errors: exists (a field of that name), invalid.
  virtual Result<> add_fields(std::span<const InputColumn>, const WriteSchema&) = 0;

  // Removes a field from the table, even one whose type cannot be written. The other fields keep their numbers. Errors:
  // not_found.
  virtual Result<> drop_field(std::string_view name) = 0;

  // Encodes entries of field number `field` (first the fields of the committed form, then the added ones, in order) as
  // one part. Errors: invalid (offsets that decrease, a counter that contradicts the list that it counts, an entry
  // above 1 GiB, a string with ...), each with its entry.
  virtual Result<Part> encode(std::size_t field, const OfferedPart&) const = 0;

  // Takes a part, even one that will not be written, as a sample of the size of its field's entries.
  virtual void add_sample(std::size_t field, const Part&) = 0;

  // Sizes that follow from the samples, for clusters of about `cluster_bytes` in the file.
  virtual ClusterSizes cluster_sizes(std::uint64_t cluster_bytes) const = 0;

  // The entry at which the cluster ends that begins with `entry`, if the table has that cluster already: added fields
  // keep to its clusters. Nothing where clusters may have any size.
  virtual std::optional<std::int64_t> end_of_cluster(std::int64_t entry) const = 0;

  // Takes out of a part what the table stores already. If `stored` is then empty, the part needs no place. Blocks: it
  // may read the file.
  virtual void leave_out_stored(Part&) = 0;

  // Adds a part that will be written to `address` (from FileWriter::place), and puts the address into it. The parts of
  // one field must come in the order of their entries.
  virtual void add_part(std::size_t field, Part&, std::uint64_t address) = 0;

  // Ends a cluster: every field now has the entries up to `entries`. `cluster_entries`: the entries of each whole
  // cluster from this one on; 0: as before.
  virtual void end_cluster(std::int64_t entries, std::int64_t cluster_entries) = 0;
};

// The steps that bring the file from one committed state to the next. They must be done in this order. Writes,
// including those of the parts placed since the last plan, must reach the disk no later than the next sync (fdatasync).
// At any instant the file opens in either the old state or the new one (docs/reliability.md). The last sync makes the
// commit durable. The steps after the first sync are small, and may be repeated from a journal after a crash.
struct CommitStep {
  enum class Kind : std::uint8_t { write, sync } kind = Kind::write;
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};
struct CommitPlan {
  std::vector<CommitStep> steps;
  std::uint64_t size = 0;              // of the file afterwards
  std::vector<std::byte> head_before;  // the expected first bytes of the file; if they differ, another program wrote it
  std::vector<std::byte> head_after;   // the first bytes afterwards: repair a head that a crash has torn
  bool replace_file = false;  // the steps make a whole new file: write it beside the old, sync, rename it over the name
};

// A ROOT file that is being changed. It collects the requested changes; plan() says which bytes make them. It has no
// file descriptor: the caller writes parts and plans. For one thread at a time.
class FileWriter {
 public:
  // A file that does not exist yet. `name`: its base name, fName (cut so that header and root record share a sector).
  static Result<std::unique_ptr<FileWriter>> create(std::string name, const Compression&);
  // Errors: damaged, unsupported (the file was recovered, has records past fEND, or has an unreadable StreamerInfo),
  // io. Blocks.
  static Result<std::unique_ptr<FileWriter>> open(std::shared_ptr<const File>, const Compression&);
  virtual ~FileWriter() = default;

  // Whether the parts and plans of now make a whole new file, to be written beside the name. True for a file that does
  // not exist yet or has no keys in its root directory. False once a plan that has a key was committed.
  virtual bool makes_new_file() const = 0;

  // Makes a directory. Paths of directories are key names joined by '/'; "" is the root. `datime`: the date of its key;
  // 0: the date of the commit. `title`: empty: its name. Errors: exists, not_found (its parent).
  virtual Result<> make_directory(std::string_view path, std::uint32_t datime = 0, std::string_view title = {}) = 0;
  // Removes key `name` of a directory: all cycles, or one. A directory is removed with all its content. Errors:
  // not_found, damaged.
  virtual Result<> remove_key(std::string_view directory, std::string_view name, int cycle = 0) = 0;
  // Renames all cycles of a key, or moves them into another directory; both lists change at one instant. The key keeps
  // its date. Errors: not_found, exists, invalid.
  virtual Result<> rename_key(std::string_view directory, std::string_view name, std::string_view new_directory,
                              std::string_view new_name) = 0;

  // Table writers live as long as this object. open_table() appends to an existing table, or adds fields. Errors:
  // unsupported (for entries: a field whose type cannot be written). The next commit replaces the existing record of
  // the table, or keeps it as the older cycle of its key.
  enum class OldCycle : std::uint8_t { replaced, kept };
  virtual Result<TableWriter*> create_table(std::string_view directory, std::string name, std::string title,
                                            TableFormat) = 0;
  virtual Result<TableWriter*> open_table(std::string_view directory, std::string_view name, OldCycle) = 0;
  // Sets the date of the key that the next commit writes for the table; 0: the date of the commit.
  virtual Result<> date_table(TableWriter*, std::uint32_t datime) = 0;

  // Adds the key of an object, with the descriptions of its classes that the file lacks. The caller writes the
  // resulting head, which has all bytes of the record, to its address, as it does parts. `datime`: the date of the key.
  // Errors: not_found (the directory), exists, invalid (the name), unsupported (above 1 GiB; references that cannot be
  // moved to a longer key, for not all of the object can be read), no_space (memory).
  struct CopiedKey {
    std::uint64_t address = 0;
    std::vector<std::byte> head;
  };
  virtual Result<CopiedKey> add_object(std::string_view directory, const NewObject&, std::uint32_t datime) = 0;

  // The next three are for a file that does not exist yet, and that is made of others.

  // Adds the descriptions of classes that another file has, before anything of it is copied. Errors: unsupported, io.
  // Blocks.
  virtual Result<> take_classes(const File&) = 0;
  // Adds a key whose record is that of another file. `head`: its first bytes, up to the payload. The caller writes the
  // resulting head to that address, and behind it the stored payload as it is. Errors: not_found (the directory),
  // exists, damaged (not a key), unsupported (the key has no room for the address).
  virtual Result<CopiedKey> copy_key(std::string_view directory, std::span<const std::byte> head) = 0;
  // The same with another payload of the same class. The resulting head has all bytes of the record. Errors also:
  // unsupported (above 1 GiB), no_space (memory).
  virtual Result<CopiedKey> copy_changed_key(std::string_view directory, std::span<const std::byte> head,
                                             std::span<const std::byte> payload) = 0;
  // Makes a table of stored units of others; `first` is the key of one of them. Errors: not_found, exists.
  virtual Result<TableCopy*> copy_table(std::string_view directory, std::string name, const KeyInfo& first,
                                        const CopyOptions&) = 0;

  // Returns the address for a part of `size` bytes: in space that is free in the committed state, or at the end. The
  // part must be written there before the first sync of the plan that includes it.
  virtual std::uint64_t place(std::uint64_t size) = 0;

  // Makes the plan for all collected changes. The state of this object changes only when committed() says that the plan
  // was carried out; another plan() replaces the plan. Between the two calls, only writes to tables and place() are
  // allowed. Every table must have ended its cluster. With nothing to commit, the plan makes the space usable that the
  // last commit freed (carry it out before leaving the file), or has no steps. `now`: a TDatime. Errors: unsupported,
  // no_space, io. Blocks.
  virtual Result<CommitPlan> plan(std::uint32_t now) = 0;
  virtual void committed(const CommitPlan&) = 0;
};

// How many of a file's first bytes determine its state: those of the header and, if they contain it whole, of the root
// directory's record, which every save rewrites. The bytes after them may be anything, even data that a commit writes
// before it takes effect. All of them if they are not those of a ROOT file. Pure.
std::size_t state_size(std::span<const std::byte> first);

// The state of a file's first bytes after a crash: those before the commit; those after it; torn, in a sector whose
// write was interrupted (then write `after` over them); or other, if another program has written the file. `before` and
// `after`: head_before and head_after of the plan, from the journal. `head`: the same number of bytes of the file.
// Pure.
enum class HeadState : std::uint8_t { before, after, torn, other };
HeadState head_state(std::span<const std::byte> head, std::span<const std::byte> before,
                     std::span<const std::byte> after);

}  // namespace tfile
