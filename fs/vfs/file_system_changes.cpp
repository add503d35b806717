// SPDX-License-Identifier: Apache-2.0
// The part of FileSystem that changes the source.
#include <fcntl.h>
#include <sys/stat.h>

#include <climits>
#include <limits>
#include <utility>

#include "exec/when_all.h"
#include "on_behalf.h"
#include "vfs/file_system.h"
#include "vfs/mirror/source_item.h"
#include "vfs/names/names.h"

namespace tfilefs {

using tfile::fail;
using DirectoryPtr = std::shared_ptr<const Directory>;

// Logs why a change was refused. Names that are taken or missing need no explanation.
void FileSystem::note_refusal(const Inode& inode, std::string_view below, const Error& error) {
  if (error.text.empty()) return;  // its reason was logged before
  if (is_cancelled(error)) return;
  switch (error.kind) {
    case ErrorKind::not_found:
    case ErrorKind::exists:
    case ErrorKind::not_empty:
    case ErrorKind::stale:
      return;
    default:
      break;
  }
  std::string path = path_of(inode);
  if (!below.empty()) path += (path == "/" ? "" : "/") + std::string(below);
  errors_.add(path, error);
}

// The first part of an operation on a name in a directory; `change(parent, directory, reply)` does the rest.
template <class T, class Change>
void FileSystem::change_in(InodeId parent_id, std::string_view name, const CallerPtr& by, Reply<T> reply,
                           Change change) {
  const InodePtr parent = known(parent_id);
  if (!parent) return reply(unknown_inode());
  if (is_too_long(*parent, name)) return reply(name_too_long());
  if (parent->id == kRootId && name == kControlName) return reply(read_only());
  auto note_refused = [this, parent, name = std::string(name)](const Result<T>& result) {
    if (!result) note_refusal(*parent, name, result.error());
  };
  // The opening of the directory may be given up. A change that has begun is made.
  auto begin = [parent, change = std::move(change)](const DirectoryPtr& directory, Reply<T> done) mutable {
    change(parent, directory, uninterrupted(std::move(done)));
  };
  Reply<DirectoryPtr> opened =
      value_for<DirectoryPtr>(seen_by(std::move(reply), std::move(note_refused)), std::move(begin));
  directory_of(parent, Freshness::recent, admitted_for(Access::write, by, std::move(opened)));
}

void FileSystem::create(InodeId parent, std::string_view name, const Creation& how, bool exclusive,
                        Reply<Created> reply, const CallerPtr& by) {
  auto make = [this, name = std::string(name), how, exclusive, by](const InodePtr& in, const DirectoryPtr& directory,
                                                                   Reply<Created> done) {
    auto finish = [this, in, name, by](CreatedFile made, Reply<Created> created) {
      finish_created(in, name, by, std::move(made), std::move(created));
    };
    directory->make_file(name, how, exclusive, value_for<CreatedFile>(std::move(done), std::move(finish)));
  };
  change_in(parent, name, by, std::move(reply), std::move(make));
}

// Not given up when a signal comes: the file is made.
void FileSystem::finish_created(const InodePtr& in, const std::string& name, const CallerPtr& by, CreatedFile made,
                                Reply<Created> reply) {
  reply.set_stop_token({});
  auto open = [this, content = std::move(made.content)](const Found& found, Reply<Created> done) mutable {
    auto both = [found](const Opened& opened) { return Created{found, opened}; };
    finish_open(known(found.id), std::move(content), true, answer_with<Opened>(std::move(done), std::move(both)));
  };
  finish_found({in, name, by}, std::move(made.at), value_for<Found>(std::move(reply), std::move(open)));
}

void FileSystem::make_directory(InodeId parent, std::string_view name, const Creation& how, Reply<Found> reply,
                                const CallerPtr& by) {
  auto make = [this, name = std::string(name), how, by](const InodePtr& in, const DirectoryPtr& directory,
                                                        Reply<Found> done) {
    directory->make_directory(name, how, finishing({in, name, by}, std::move(done)));
  };
  change_in(parent, name, by, std::move(reply), std::move(make));
}

void FileSystem::make_link(InodeId parent, std::string_view name, std::string_view target, const Creation& how,
                           Reply<Found> reply, const CallerPtr& by) {
  auto make = [this, name = std::string(name), target = std::string(target), how, by](
                  const InodePtr& in, const DirectoryPtr& directory, Reply<Found> done) {
    directory->make_link(name, target, how, finishing({in, name, by}, std::move(done)));
  };
  change_in(parent, name, by, std::move(reply), std::move(make));
}

void FileSystem::make_hard_link(InodeId of, InodeId parent, std::string_view name, Reply<Found> reply,
                                const CallerPtr& by) {
  const InodePtr file = known(of);
  if (!file) return reply(unknown_inode());
  auto make = value_for<Entry>(std::move(reply),
                               [this, parent, name = std::string(name), by](Entry entry, Reply<Found> answer) mutable {
                                 auto link = [this, name, by, vnodes = entry.vnodes](
                                                 const InodePtr& in, const DirectoryPtr& directory, Reply<Found> done) {
                                   directory->make_hard_link(name, *vnodes, finishing({in, name, by}, std::move(done)));
                                 };
                                 change_in(parent, name, by, std::move(answer), std::move(link));
                               });
  entry_for(file, Access::status, by, std::move(make));
}

void FileSystem::remove(InodeId parent, std::string_view name, bool directory, Reply<void> reply, const CallerPtr& by) {
  auto take_away = [this, name = std::string(name), directory](const InodePtr& from, const DirectoryPtr& in,
                                                               Reply<void> done) {
    in->remove(name, directory,
               answer_with<void>(std::move(done), [this, from, name] { inodes_->leave(*from, name); }));
  };
  change_in(parent, name, by, std::move(reply), std::move(take_away));
}

void FileSystem::rename(InodeId parent, std::string_view name, InodeId new_parent, std::string_view new_name,
                        unsigned flags, Reply<void> reply, const CallerPtr& by) {
  auto move = [this, parent, name = std::string(name), new_name = std::string(new_name), flags, by](
                  const InodePtr& into, const DirectoryPtr& to, Reply<void> done) {
    auto take = [this, into, to, name, new_name, flags](const InodePtr& out_of, const DirectoryPtr& from,
                                                        Reply<void> moved) {
      auto leave = [this, into, out_of, name, new_name] {
        inodes_->leave(*out_of, name);
        inodes_->leave(*into, new_name);
      };
      from->rename(name, *to, new_name, flags, answer_with<void>(std::move(moved), std::move(leave)));
    };
    change_in(parent, name, by, std::move(done), std::move(take));
  };
  change_in(new_parent, new_name, by, std::move(reply), std::move(move));
}

void FileSystem::change(InodeId id, const AttributeChange& change, Reply<Attributes> reply, const CallerPtr& by,
                        HandleId open) {
  InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  auto note_change = [this, inode, size = change.size](Result<Attributes>& changed) {
    if (!changed) return note_refusal(*inode, "", changed.error());
    changed->number = inode->number;
    inode->reported_size = changed->size;
    if (size) page_copies_.note_size(inode->id, *size);
  };
  Reply<Attributes> noted = seen_by(uninterrupted(std::move(reply)), std::move(note_change));
  if (const auto vnodes = open_vnodes(open)) return vnodes->change({}, change, std::move(noted));
  // A file that was removed or moved while open is changed through the open file.
  auto change_open = [this, inode, change](Result<Attributes> changed, Reply<Attributes> answer) {
    const bool is_gone = !changed && changed.error().kind == ErrorKind::stale;
    const auto vnodes = is_gone ? files_.own_of(*inode) : nullptr;
    if (vnodes) return vnodes->change({}, change, std::move(answer));
    answer(std::move(changed));
  };
  Reply<Attributes> done = on_behalf_of<Attributes>(std::move(noted), std::move(change_open));
  // The owner of a file may change its mode, whatever the mode is; the kernel has checked that.
  entry_for(inode, change.size ? Access::write : Access::status, by,
            value_for<Entry>(std::move(done), [change](const Entry& entry, Reply<Attributes> changed) {
              const std::shared_ptr<const Vnodes> vnodes = entry.vnodes;
              vnodes->change(entry.vnode, change, std::move(changed));
            }));
}

void FileSystem::set_xattr(InodeId id, std::string_view name, std::optional<std::string> value, int flags,
                           Reply<void> reply, const CallerPtr& by) {
  if (!name.starts_with("user.")) return reply(unsupported_attribute());
  InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  entry_for(inode, Access::write, by,
            value_for<Entry>(std::move(reply), [name = std::string(name), value = std::move(value), flags](
                                                   Entry entry, Reply<void> done) mutable {
              entry.vnodes->set_xattr(entry.vnode, name, std::move(value), flags, std::move(done));
            }));
}

// ---- open files

void FileSystem::write(HandleId handle, std::uint64_t offset, bool append, std::span<const std::byte> bytes,
                       Reply<std::size_t> reply, bool durable) {
  const std::shared_ptr<const OpenFile> file = files_.find(handle);
  if (!file || !file->content.content) return reply(bad_handle());
  auto tell = [this, inode = file->inode, handle, durable](Result<std::size_t> taken, Reply<std::size_t> done) {
    if (!taken) note_refusal(*inode, "", taken.error());
    if (!taken || !durable) return done(std::move(taken));
    // Not given up when a signal comes: the bytes are taken.
    sync(handle, answer_with<void>(uninterrupted(std::move(done)), [size = *taken] { return size; }));
  };
  Reply<std::size_t> noted = on_behalf_of<std::size_t>(std::move(reply), std::move(tell));
  Content& content = *file->content.content;
  if (append) {
    page_copies_.note_append(file->inode->id, offset);
    return content.append(offset, bytes, std::move(noted));
  }
  page_copies_.note_own_write(file->inode->id, offset, bytes);
  content.write(offset, bytes, std::move(noted));
}

// Null: no pages of it can have copies.
std::shared_ptr<const OpenFile> FileSystem::file_with_copies(HandleId handle) const {
  if (page_copies_.is_idle()) return nullptr;
  std::shared_ptr<const OpenFile> file = files_.find(handle);
  return file && file->content.content && host_file_of(*file->content.content) ? file : nullptr;
}

void FileSystem::read_pages(HandleId handle, std::uint64_t offset, std::size_t size, Reply<Slices> reply) {
  const auto file = file_with_copies(handle);
  if (!file) return read(handle, offset, size, std::move(reply));
  auto note_pages = [this, id = file->inode->id, offset](const Result<Slices>& slices) {
    if (slices) page_copies_.note_read(id, offset, slices->pieces);
  };
  read(handle, offset, size, seen_by(std::move(reply), std::move(note_pages)));
}

void FileSystem::write_pages(HandleId handle, std::uint64_t offset, std::span<const std::byte> bytes,
                             Reply<std::size_t> reply) {
  const auto file = file_with_copies(handle);
  if (!file) return write(handle, offset, false, bytes, std::move(reply));
  auto pieces = page_copies_.note_write(file->inode->id, offset, bytes);
  const bool is_whole = pieces.size() == 1 && pieces[0].size == bytes.size();
  if (is_whole) return write(handle, offset, false, bytes, std::move(reply));
  const std::size_t count = pieces.size();
  auto write_piece = [file, offset, copy = std::vector<std::byte>(bytes.begin(), bytes.end()),
                      pieces = std::move(pieces)](std::size_t i, Reply<void> done) {
    const std::span<const std::byte> piece = std::span(copy).subspan(pieces[i].begin, pieces[i].size);
    file->content.content->write(offset + pieces[i].begin, piece,
                                 answer_with<std::size_t>(std::move(done), [](std::size_t) {}));
  };
  auto all_taken = [size = bytes.size()] { return size; };
  when_all(count, 1, std::move(write_piece), answer_with<void>(uninterrupted(std::move(reply)), all_taken));
}

namespace {

// A file of the host, by device and inode, whichever name it was opened by; else of this mount, where no device has the
// number.
FileLocks::File locked_file(const OpenFile& open) {
  FileLocks::File file;
  file.descriptor = host_file_of(*open.content.content);
  struct stat status {};
  if (file.descriptor && ::fstat(file.descriptor->get(), &status) == 0)
    file.object = {status.st_dev, status.st_ino};
  else
    file.object = {std::numeric_limits<std::uint64_t>::max(), open.inode->id};
  return file;
}

}  // namespace

void FileSystem::flush(HandleId handle, Reply<void> reply, std::uint64_t lock_owner) {
  const std::shared_ptr<const OpenFile> file = files_.find(handle);
  if (!file || !file->content.content) return reply(bad_handle());
  auto note_refused = [this, inode = file->inode](const Result<void>& result) {
    if (!result) note_refusal(*inode, "", result.error());
  };
  auto write_out = [file](const Result<void>&, Reply<void> done) { file->content.content->flush(std::move(done)); };
  Reply<void> flushed = seen_by(uninterrupted(std::move(reply)), std::move(note_refused));
  locks_.close(locked_file(*file), lock_owner, on_behalf_of<void>(std::move(flushed), std::move(write_out)));
}

// On a thread that nothing waits for which the kernel may need to have its pages written. The queue is the inode's, so
// that no other file waits either.
void FileSystem::forget_pages(const std::shared_ptr<const OpenFile>& file, Reply<void> reply) {
  const auto done = std::make_shared<Reply<void>>(std::move(reply));
  const auto job = [this, id = file->inode->id, done] {
    kernel_.forget_pages(id);
    (*done)({});
  };
  if (!cache_->exec().serial_queues.run(file->inode.get(), job)) (*done)({});
}

void FileSystem::set_lock(HandleId handle, const FileLock& lock, bool waits, Reply<FileLocks::Grant> reply) {
  const std::shared_ptr<const OpenFile> file = files_.find(handle);
  if (!file || !file->content.content) return reply(bad_handle());
  const FileLocks::File locked = locked_file(*file);
  if (!kernel_.forget_pages || !locked.descriptor) return locks_.set(locked, handle, lock, waits, std::move(reply));
  page_copies_.watch(file->inode->id, handle);
  auto forget_first = [this, file](FileLocks::Grant grant, Reply<FileLocks::Grant> done) {
    if (done.stop_token().stop_requested()) return done(std::move(grant));
    forget_pages(file, answer_with<void>(std::move(done), [grant = std::move(grant)] { return grant; }));
  };
  if (lock.type != F_UNLCK) reply = value_for<FileLocks::Grant>(std::move(reply), std::move(forget_first));
  auto ask = [this, locked, handle, lock, waits](Reply<FileLocks::Grant> done) {
    locks_.set(locked, handle, lock, waits, std::move(done));
  };
  if (lock.type == F_WRLCK) return ask(std::move(reply));
  // A lock for reading may be what is left of one for writing.
  forget_pages(file, value_for<void>(std::move(reply), std::move(ask)));
}

void FileSystem::test_lock(HandleId handle, const FileLock& lock, Reply<FileLock> reply) {
  const std::shared_ptr<const OpenFile> file = files_.find(handle);
  if (!file || !file->content.content) return reply(bad_handle());
  locks_.test(locked_file(*file), handle, lock, std::move(reply));
}

void FileSystem::sync(HandleId handle, Reply<void> reply) {
  const std::shared_ptr<const OpenFile> file = files_.find(handle);
  if (!file) return reply(bad_handle());
  auto note_refused = [this, inode = file->inode](const Result<void>& result) {
    if (!result) note_refusal(*inode, "", result.error());
  };
  Reply<void> done = seen_by(uninterrupted(std::move(reply)), std::move(note_refused));
  if (file->content.content) return file->content.content->sync(std::move(done));
  const Entry entry = inodes_->entry(*file->inode);
  entry.vnodes->sync(entry.vnode, std::move(done));
}

}  // namespace tfilefs
