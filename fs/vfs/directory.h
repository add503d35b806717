// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "content.h"
#include "reply.h"
#include "vfs/attributes.h"
#include "vfs/caller.h"

namespace tfilefs {

class ErrorLog;
struct Generation;
class Directory;
class Holder;

// What of a thing a path shows: the thing itself, or one of the files that are made of it.
enum class ShownAs : std::uint8_t {
  itself,
  npy,
  text,
  arrow,
  parquet,
  csv,
  jsonl,
  schema,
  awkward,
  option_index,
  attributes,  // the directory of attribute sets
  object_bin,
  object_json,
  plot,  // this and the next seven: with logarithmic x, y, x and y, z, ... as bits of their distance
  plot_log_x,
  plot_log_y,
  plot_log_xy,
  plot_log_z,
  plot_log_xz,
  plot_log_yz,
  plot_log_xyz,
  spreadsheet,
  object_text,
  header,
  map,
  streamer_info,
  classes,
  index,
  original
};

// One of what a holder shows.
struct HeldItem {
  std::uint32_t index = 0;  // which of the holder's things
  ShownAs shown_as = ShownAs::itself;
};

// What stands at a path.
struct Entry {
  std::shared_ptr<const Holder> holder;
  HeldItem held;
};

// What a name stands for. What is found by another name than its own is still that thing, and not a second one.
struct FoundEntry {
  Entry entry;
  std::string own_name;      // as a listing shows it; empty: the name asked for
  bool same_for_all = true;  // as Holder::is_same_for_all
};

// How old a look at the source may be: `recent` up to kRecent, `now` not older than the question.
enum class Freshness : std::uint8_t { recent, now };

// What answers the reads of one open file.
struct OpenedContent {
  std::shared_ptr<Content> content;
  std::shared_ptr<const Generation> generation;  // null for what belongs to no ROOT file
  std::uint64_t version = 0;   // where there is no generation: differs when the bytes may differ; never 0
  std::uint64_t identity = 0;  // of what keeps its inode: Holder::file_identity. The inode opened is its from now on
  bool cacheable =
      true;            // whether the kernel may keep pages; else the content is asked for each read, whatever stat said
  bool grows = false;  // somebody may append to it now
  // Asked for attributes and changes through the handle; null: what stands at the path is.
  std::shared_ptr<const Holder> own = nullptr;
};

using Xattrs = std::vector<std::pair<std::string, std::string>>;

// What chmod, chown, utimens and truncate ask for; what is not set stays.
struct AttributeChange {
  std::optional<mode_t> mode;
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<std::uint64_t> size;
  std::optional<timespec> accessed, modified;  // nanoseconds of UTIME_NOW: now
};

// Who makes something, and with which permission bits.
struct Creation {
  mode_t mode = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

// Of a ROOT file: keys into a directory, columns into a table or a directory of it, items into a column; into the
// directory of an object, or of a part of one, no more than its removal; the same of a table that is not written.
enum class Accepts : std::uint8_t { nothing, keys, columns_of_table, columns, items, removal, removal_of_table };
inline bool is_removal(Accepts accepts) { return accepts == Accepts::removal || accepts == Accepts::removal_of_table; }

// A file just made, and open.
struct CreatedFile {
  FoundEntry at;
  OpenedContent content;
};

// Things that stand somewhere in the mount; their names are a Directory's matter. Thread-safe, const, never blocks:
// what needs storage answers later.
class Holder : public std::enable_shared_from_this<Holder> {
 public:
  virtual ~Holder() = default;

  // The state of the ROOT file that these things belong to; null for what is looked at anew each time.
  virtual const std::shared_ptr<const Generation>& generation() const;

  // The state that was looked at last of what is looked at anew each time; else the same as generation().
  virtual std::shared_ptr<const Generation> latest_generation() const { return generation(); }

  // Of things without a generation: differs when another file was put in the place of one.
  virtual std::uint64_t file_identity() const { return 1; }
  // Whether that number is of no other thing of the mount, and the thing may be renamed.
  virtual bool keeps_inode() const { return false; }

  // Whether a caller may have what he wants of what stands here, by the permissions of all that it is made from. What
  // belongs to a generation asks for its file; what does not, and does not say itself, is nobody's. Error: denied;
  // stale where the source is another by now.
  virtual void admit(HeldItem, Access, const CallerPtr&, Reply<void>) const;
  // Whether all who may enter its directory may also have what it is made from: else the kernel is not to answer one
  // caller with what another was told.
  virtual bool is_same_for_all(HeldItem) const { return true; }
  // The same things, which the host is asked about with the caller's own ids; themselves where it is not asked.
  virtual std::shared_ptr<const Holder> acting_for(const CallerPtr&) const { return shared_from_this(); }

  virtual void attributes(HeldItem, Reply<Attributes>) const = 0;
  // The same where it needs neither storage nor decoding.
  virtual std::optional<Attributes> known_attributes(HeldItem) const { return std::nullopt; }
  // All but size and blocks, where only these may be long in coming, the first time that attributes() is asked for
  // them.
  virtual std::optional<Attributes> attributes_but_size(HeldItem) const { return std::nullopt; }

  virtual void enter(HeldItem, Freshness, Reply<std::shared_ptr<const Directory>>) const;
  virtual void open(HeldItem, Reply<OpenedContent>) const;
  virtual void read_link(HeldItem, Reply<std::string>) const;
  virtual void xattrs(HeldItem, Reply<Xattrs>) const;

  // What can be put into what stands here, where files are written.
  virtual Accepts accepts(HeldItem) const { return Accepts::nothing; }
  // Whether it is a listed file that is made of a key and goes with that: who removes all that is listed removes it
  // first.
  virtual bool goes_with_key(HeldItem) const { return false; }
  // Where this belongs to a table that is not written: its path in the mount.
  virtual std::optional<std::string> fixed_table_path(HeldItem) const { return std::nullopt; }

  // Changes; of what cannot be changed each answers EROFS, or EPERM of a table that is not written. To ask for another
  // mode, time or attribute of what goes with its key is no error, and changes nothing.
  virtual void open_to_write(HeldItem, Reply<OpenedContent>) const;
  // Of what need not be readable.
  virtual void open_only_to_write(HeldItem held, Reply<OpenedContent> reply) const {
    open_to_write(held, std::move(reply));
  }
  virtual void change(HeldItem, const AttributeChange&, Reply<Attributes>) const;
  // An empty optional takes the attribute away. `flags`: as setxattr(2).
  virtual void set_xattr(HeldItem, std::string_view name, std::optional<std::string> value, int flags,
                         Reply<void>) const;
  // fsync(2) on a directory: all below it is to be on disk, tables that are whole committed.
  virtual void sync(HeldItem, Reply<void>) const;
};

// The names of a directory in an order that does not change while the listing lives.
class Listing {
 public:
  virtual ~Listing() = default;
  virtual std::size_t size() const = 0;

  // Number `i`: its name, the type bits of its mode (0: unknown) and, where its attributes may be known without
  // storage, what stands there.
  struct Item {
    std::string name;
    mode_t type = 0;
    Entry entry;
  };
  virtual void item(std::size_t i, Item& into) const = 0;
};

// The names of a directory. Thread-safe, const, never blocks.
class Directory : public std::enable_shared_from_this<Directory> {
 public:
  virtual ~Directory() = default;
  virtual const std::shared_ptr<const Generation>& generation() const;

  // As those of a Holder.
  virtual void admit(Access, const CallerPtr&, Reply<void>) const;
  virtual std::shared_ptr<const Directory> acting_for(const CallerPtr&) const { return shared_from_this(); }

  // What stands under a name, hidden ones included. Error: not_found.
  virtual void find(std::string_view name, Reply<FoundEntry>) const = 0;
  virtual void list(Reply<std::shared_ptr<const Listing>>) const = 0;

  // As that of a Holder.
  virtual std::optional<std::string> fixed_table_path() const { return std::nullopt; }

  // Changes; a directory in which nothing can be changed answers EROFS to each, or EPERM in a table that is not
  // written. `exclusive`: EEXIST where the name is taken, else what is there is opened.
  virtual void make_file(std::string_view name, const Creation&, bool exclusive, Reply<CreatedFile>) const;
  virtual void make_directory(std::string_view name, const Creation&, Reply<FoundEntry>) const;
  virtual void make_link(std::string_view name, std::string_view target, const Creation&, Reply<FoundEntry>) const;
  // link(2): another name of a file.
  virtual void make_hard_link(std::string_view name, const Holder& of, Reply<FoundEntry>) const;
  virtual void remove(std::string_view name, bool directory, Reply<void>) const;
  // `flags`: as renameat2(2).
  virtual void rename(std::string_view name, const Directory& to, std::string_view new_name, unsigned flags,
                      Reply<void>) const;
};

// What a caller may use of it in his way, or the error. `caller` null: all of it, at once.
void admitted(Entry, Access, const CallerPtr&, Reply<Entry>);
void admitted(std::shared_ptr<const Directory>, Access, const CallerPtr&, Reply<std::shared_ptr<const Directory>>);

tl::unexpected<Error> read_only();
// Of a table that is not written: the reason is among the errors then. `path`: in the mount, of what was to change.
tl::unexpected<Error> fixed_table(ErrorLog&, const std::string& path);
tl::unexpected<Error> not_admitted();
tl::unexpected<Error> no_such_entry();

}  // namespace tfilefs
