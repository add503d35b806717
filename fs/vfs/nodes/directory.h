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
#include "on_behalf.h"
#include "reply.h"
#include "vfs/nodes/attributes.h"
#include "vfs/nodes/caller.h"

namespace tfilefs {

class ErrorLog;
struct Generation;
class Directory;
class Vnodes;

// The file that a path shows of a thing: the thing itself, or one of the files made from it.
enum class ViewKind : std::uint8_t {
  itself,
  npy,
  text,
  arrow,
  parquet,
  csv,
  jsonl,
  json,
  schema,
  awkward,
  option_index,
  column_stats,
  column_picture,
  column_baskets,
  column_csv,
  column_parquet,
  attributes,  // the directory of attribute sets
  friends,     // the directory of friends
  object_bin,
  object_json,
  object_streamer_info,
  plot,  // this and the next seven: with logarithmic x, y, x and y, z, ...; the distance is a bit mask of the axes
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
  keys,
  original
};

// One of the things that Vnodes show.
struct VnodeId {
  std::uint32_t index = 0;  // number of the thing within its Vnodes
  ViewKind shown_as = ViewKind::itself;
};

// The thing that a path leads to.
struct Entry {
  std::shared_ptr<const Vnodes> vnodes;
  VnodeId vnode;
};

// The result of looking up a name. A thing found by a name other than its own is still that thing, and not a second
// one.
struct FoundEntry {
  Entry entry;
  std::string own_name;      // as a listing shows it; empty: the name looked up
  bool same_for_all = true;  // as Vnodes::is_same_for_all
  bool is_new = false;       // has just been made: nothing that was known before is it
};

// How old the last look at the source may be: `recent` up to kRecent; `now` not older than the request.
enum class Freshness : std::uint8_t { recent, now };

// The result of opening a file.
struct OpenedContent {
  std::shared_ptr<Content> content;
  std::shared_ptr<const Generation> generation;  // null for a file that belongs to no ROOT file
  std::uint64_t version = 0;                     // without a generation: differs when the bytes may differ; never 0
  std::uint64_t identity = 0;  // Vnodes::file_identity if that keeps its inode. The inode opened is then bound to it
  bool cacheable =
      true;  // whether the kernel may keep pages; if not, the content is asked for each read, whatever size stat gave
  bool grows = false;  // a program may append to it now
  // Used for attributes and changes through the handle; null: those go to the thing at the path.
  std::shared_ptr<const Vnodes> own = nullptr;
};

using Xattrs = std::vector<std::pair<std::string, std::string>>;

// The changes that chmod, chown, utimens and truncate ask for; members that are not set stay.
struct AttributeChange {
  std::optional<mode_t> mode;
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<std::uint64_t> size;
  std::optional<timespec> accessed, modified;  // nanoseconds of UTIME_NOW: now
};

// The owner and permission bits of something new.
struct Creation {
  mode_t mode = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

// Things that go into one of a ROOT file: keys into a directory, columns into a table or a directory of it, items
// into a column. The directory of an object, or of a part of one, can only be removed; so can that of a table that is
// not written.
enum class WriteCapability : std::uint8_t {
  nothing,
  keys,
  columns_of_table,
  columns_of_rntuple,
  columns,
  items,
  removal,
  removal_of_table
};
inline bool is_removal(WriteCapability accepts) {
  return accepts == WriteCapability::removal || accepts == WriteCapability::removal_of_table;
}

// A file that was made and opened.
struct CreatedFile {
  FoundEntry at;
  OpenedContent content;
};

// Things at some place in the mount, without their names, which a Directory has. Thread-safe, const, never blocks: an
// operation that needs storage answers later.
class Vnodes : public std::enable_shared_from_this<Vnodes> {
 public:
  virtual ~Vnodes() = default;

  // The state of the ROOT file that these things belong to; null for things that are looked at anew each time.
  virtual const std::shared_ptr<const Generation>& generation() const;

  // For things that are looked at anew each time, the state seen last; else the same as generation().
  virtual std::shared_ptr<const Generation> latest_generation() const { return generation(); }

  // Whether this only holds the place of things that are found again by their path (InodeTable::release).
  virtual bool is_released() const { return false; }

  // For things without a generation: differs when another file was put in the place of one.
  virtual std::uint64_t file_identity() const { return 1; }
  // Whether that number belongs to no other thing of the mount, and the thing may be renamed.
  virtual bool keeps_inode() const { return false; }

  // Whether a caller may have the access that it asks for, by the permissions of all files that the thing is made from.
  // With a generation this asks for its file; otherwise, unless overridden, all callers are denied. Error: denied;
  // stale if the source is another file by now.
  virtual void admit(VnodeId, Access, const CallerPtr&, Reply<void>) const;
  // Whether all callers that may enter its directory may also access the files that it is made from. If not, the kernel
  // must not cache an answer, which it would give to other callers.
  virtual bool is_same_for_all(VnodeId) const { return true; }
  // The same things, accessed on the host with the caller's own ids; this object if the host is not accessed.
  virtual std::shared_ptr<const Vnodes> acting_for(const CallerPtr&) const { return shared_from_this(); }

  virtual void attributes(VnodeId, Reply<Attributes>) const = 0;
  // The attributes, if that needs neither storage nor decoding.
  virtual std::optional<Attributes> known_attributes(VnodeId) const { return std::nullopt; }
  // All attributes but size and blocks, if only these may take long when attributes() is called for the first time.
  virtual std::optional<Attributes> attributes_but_size(VnodeId) const { return std::nullopt; }

  virtual void enter(VnodeId, Freshness, Reply<std::shared_ptr<const Directory>>) const;
  virtual void open(VnodeId, Reply<OpenedContent>) const;
  virtual void read_link(VnodeId, Reply<std::string>) const;
  virtual void xattrs(VnodeId, Reply<Xattrs>) const;
  // Further ones, for which storage may be read: found by their names, and not listed. Copies of files lack them.
  virtual void more_xattrs(VnodeId, Reply<Xattrs> reply) const { reply(Xattrs{}); }

  // The things that can be put into it, if files are written.
  virtual WriteCapability accepts(VnodeId) const { return WriteCapability::nothing; }
  // Whether it is a listed file that is made from a key and disappears with it: a program that removes all listed names
  // removes it first.
  virtual bool goes_with_key(VnodeId) const { return false; }
  // If this belongs to a table that is not written: its path in the mount.
  virtual std::optional<std::string> fixed_table_path(VnodeId) const { return std::nullopt; }

  // Changes. If a thing cannot be changed, each answers EROFS, or EPERM for a table that is not written. Asking for
  // another mode, time or attribute of a file that goes with its key is no error, and changes nothing.
  virtual void open_to_write(VnodeId, Reply<OpenedContent>) const;
  // Opens what need not be readable.
  virtual void open_only_to_write(VnodeId vnode, Reply<OpenedContent> reply) const {
    open_to_write(vnode, std::move(reply));
  }
  virtual void change(VnodeId, const AttributeChange&, Reply<Attributes>) const;
  // Without a value the attribute is removed. `flags`: as setxattr(2).
  virtual void set_xattr(VnodeId, std::string_view name, std::optional<std::string> value, int flags,
                         Reply<void>) const;
  // fsync(2) on a directory: brings all below it to disk, and commits the tables that are complete.
  virtual void sync(VnodeId, Reply<void>) const;
};

// The names of a directory, in an order that does not change while the listing exists.
class Listing {
 public:
  virtual ~Listing() = default;
  virtual std::size_t size() const = 0;

  // Number `i`: its name, the type bits of its mode (0: unknown) and, if its attributes may be known without storage,
  // the thing itself.
  struct Item {
    std::string name;
    mode_t type = 0;
    Entry entry;
  };
  virtual void item(std::size_t i, Item& into) const = 0;
};

// One of which all items are made beforehand.
class ItemListing final : public Listing {
 public:
  void add(std::string name, mode_t type, Entry entry = {}) {
    items_.push_back({std::move(name), type, std::move(entry)});
  }
  std::size_t size() const override { return items_.size(); }
  void item(std::size_t i, Item& into) const override { into = items_[i]; }

 private:
  std::vector<Item> items_;
};

// The names of a directory. Thread-safe, const, never blocks.
class Directory : public std::enable_shared_from_this<Directory> {
 public:
  virtual ~Directory() = default;
  virtual const std::shared_ptr<const Generation>& generation() const;

  // As those of a Vnodes.
  virtual void admit(Access, const CallerPtr&, Reply<void>) const;
  virtual std::shared_ptr<const Directory> acting_for(const CallerPtr&) const { return shared_from_this(); }

  // Looks up a name, hidden ones included. Error: not_found.
  virtual void find(std::string_view name, Reply<FoundEntry>) const = 0;
  virtual void list(Reply<std::shared_ptr<const Listing>>) const = 0;

  // As that of a Vnodes.
  virtual std::optional<std::string> fixed_table_path() const { return std::nullopt; }

  // Changes. In a directory that cannot be changed each answers EROFS, or EPERM in a table that is not written.
  // `exclusive`: EEXIST if the name is taken; without it an existing file is opened.
  virtual void make_file(std::string_view name, const Creation&, bool exclusive, Reply<CreatedFile>) const;
  virtual void make_directory(std::string_view name, const Creation&, Reply<FoundEntry>) const;
  virtual void make_link(std::string_view name, std::string_view target, const Creation&, Reply<FoundEntry>) const;
  // link(2): another name of a file.
  virtual void make_hard_link(std::string_view name, const Vnodes& of, Reply<FoundEntry>) const;
  virtual void remove(std::string_view name, bool directory, Reply<void>) const;
  // `flags`: as renameat2(2).
  virtual void rename(std::string_view name, const Directory& to, std::string_view new_name, unsigned flags,
                      Reply<void>) const;
};

// The entry as a caller may use it, or the error. With a null `caller`: the entry itself, at once.
void admitted(Entry, Access, const CallerPtr&, Reply<Entry>);
void admitted(std::shared_ptr<const Directory>, Access, const CallerPtr&, Reply<std::shared_ptr<const Directory>>);

// A reply that takes what is still to be admitted. T: Entry, or a pointer to a Directory.
template <class T>
Reply<T> admitted_for(Access access, CallerPtr by, Reply<T> reply) {
  return value_for<T>(std::move(reply), [access, by = std::move(by)](T found, Reply<T> done) {
    admitted(std::move(found), access, by, std::move(done));
  });
}

// The error for a change in a table that is not written; it also logs the reason. `path`: in the mount, of the thing to
// be changed.
tl::unexpected<Error> fixed_table(ErrorLog&, const std::string& path);
tl::unexpected<Error> not_admitted();

}  // namespace tfilefs
