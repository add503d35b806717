// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <span>

#include "fuse/operation.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

// Seconds for which the kernel may answer for an empty file just made: programs that copy ask for its status at once.
// What is written to it makes the kernel ask again.
constexpr double kNewFileTimeout = 0.1;

Creation creation(fuse_req_t request, mode_t mode) {
  const fuse_ctx* who = fuse_req_ctx(request);
  return {mode, who->uid, who->gid};
}

void op_setattr(fuse_req_t request, fuse_ino_t id, struct stat* wanted, int which, fuse_file_info* info) {
  AttributeChange change;
  if (which & FUSE_SET_ATTR_MODE) change.mode = wanted->st_mode;
  if (which & FUSE_SET_ATTR_UID) change.uid = wanted->st_uid;
  if (which & FUSE_SET_ATTR_GID) change.gid = wanted->st_gid;
  if (which & FUSE_SET_ATTR_SIZE) change.size = static_cast<std::uint64_t>(wanted->st_size);
  constexpr timespec kNow{0, UTIME_NOW};
  if (which & FUSE_SET_ATTR_ATIME) change.accessed = (which & FUSE_SET_ATTR_ATIME_NOW) ? kNow : wanted->st_atim;
  if (which & FUSE_SET_ATTR_MTIME) change.modified = (which & FUSE_SET_ATTR_MTIME_NOW) ? kNow : wanted->st_mtim;
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    auto reply = reply_to<Attributes>(pending, [](fuse_req_t to, const Attributes& attributes) {
      const struct stat s = stat_of(attributes);
      return fuse_reply_attr(to, &s, attribute_timeout(attributes));
    });
    fs.change(id, change, std::move(reply), caller_of(request), info ? info->fh : 0);
  });
}

void op_mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.make_directory(parent, name, creation(request, mode), reply_found(fs, pending), caller_of(request));
  });
}

void op_symlink(fuse_req_t request, const char* target, fuse_ino_t parent, const char* name) {
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.make_link(parent, name, target, creation(request, 0777), reply_found(fs, pending), caller_of(request));
  });
}

void op_link(fuse_req_t request, fuse_ino_t of, fuse_ino_t parent, const char* name) {
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.make_hard_link(of, parent, name, reply_found(fs, pending), caller_of(request));
  });
}

void op_unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.remove(parent, name, false, reply_done(pending), caller_of(request));
  });
}

void op_rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.remove(parent, name, true, reply_done(pending), caller_of(request));
  });
}

void op_rename(fuse_req_t request, fuse_ino_t parent, const char* name, fuse_ino_t new_parent, const char* new_name,
               unsigned flags) {
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.rename(parent, name, new_parent, new_name, flags, reply_done(pending), caller_of(request));
  });
}

void op_create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
  run_change(request, RequestKind::open, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.create(parent, name, creation(request, mode), (info->flags & O_EXCL) != 0,
              reply_to<FileSystem::Created>(
                  pending,
                  [info = *info, &served = served(request)](fuse_req_t to, const FileSystem::Created& made) {
                    const Attributes& status = made.found.attributes;
                    fuse_entry_param entry = entry_of(made.found.id, status);
                    if (status.same_for_all && status.size == 0 && !status.is_mirrored)
                      entry.attr_timeout = kNewFileTimeout;
                    const fuse_file_info answer = opened_as(served, info, made.opened);
                    return fuse_reply_create(to, &entry, &answer);
                  },
                  [&fs](const FileSystem::Created& made) {
                    fs.release(made.opened.handle);
                    fs.forget(made.found.id, 1);
                  }),
              caller_of(request));
  });
}

// For regular files only; the other files that mknod(2) makes have no meaning here.
void op_mknod(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, dev_t) {
  if (!S_ISREG(mode)) {
    fuse_reply_err(request, EPERM);
    return;
  }
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    auto close = [&fs](const FileSystem::Created& made) {
      fs.release(made.opened.handle);
      return made.found;
    };
    fs.create(parent, name, creation(request, mode), true,
              answer_with<FileSystem::Created>(reply_found(fs, pending), close), caller_of(request));
  });
}

void op_write(fuse_req_t request, fuse_ino_t, const char* bytes, std::size_t size, off_t offset, fuse_file_info* info) {
  run_change(request, RequestKind::write, [&](FileSystem& fs, const PendingPtr& pending) {
    auto reply =
        reply_to<std::size_t>(pending, [](fuse_req_t to, std::size_t taken) { return fuse_reply_write(to, taken); });
    reply.set_stop_token(pending->stop_token());
    const auto content = std::as_bytes(std::span(bytes, size));
    if (info->writepage) return fs.write_pages(info->fh, static_cast<std::uint64_t>(offset), content, std::move(reply));
    // O_SYNC has the bit of O_DSYNC. The kernel syncs by itself only what goes through its pages.
    fs.write(info->fh, static_cast<std::uint64_t>(offset), (info->flags & O_APPEND) != 0, content, std::move(reply),
             (info->flags & O_DSYNC) != 0);
  });
}

void op_flush(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  run_change(request, RequestKind::flush, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.flush(info->fh, reply_done(pending), info->lock_owner);
  });
}

void set_lock(fuse_req_t request, const fuse_file_info& info, FileLock lock, bool waits) {
  lock.owner = info.lock_owner;
  const auto ask = [&](FileSystem& fs, const PendingPtr& pending) {
    auto reply = reply_to<FileLocks::Grant>(
        pending, [](fuse_req_t to, const FileLocks::Grant&) { return fuse_reply_err(to, 0); },
        [&fs](const FileLocks::Grant& grant) { fs.take_back(grant); });
    reply.set_stop_token(pending->stop_token());
    fs.set_lock(info.fh, lock, waits, std::move(reply));
  };
  run(request, RequestKind::lock, ask, Interrupts::all);  // as fcntl(2) says it
}

FileLock lock_of(const struct flock& range) {
  FileLock lock;
  lock.type = range.l_type;
  lock.begin = range.l_start;
  lock.length = range.l_len;
  return lock;
}

void op_setlk(fuse_req_t request, fuse_ino_t, fuse_file_info* info, struct flock* range, int sleeps) {
  set_lock(request, *info, lock_of(*range), sleeps != 0);
}

void op_flock(fuse_req_t request, fuse_ino_t, fuse_file_info* info, int operation) {
  FileLock lock;
  lock.is_flock = true;
  const int kind = operation & ~LOCK_NB;
  lock.type = kind == LOCK_UN ? F_UNLCK : kind == LOCK_SH ? F_RDLCK : F_WRLCK;
  set_lock(request, *info, lock, (operation & LOCK_NB) == 0);
}

void op_getlk(fuse_req_t request, fuse_ino_t, fuse_file_info* info, struct flock* range) {
  FileLock lock = lock_of(*range);
  lock.owner = info->lock_owner;
  run(request, RequestKind::lock, [&](FileSystem& fs, const PendingPtr& pending) {
    auto reply = reply_to<FileLock>(pending, [](fuse_req_t to, const FileLock& there) {
      struct flock answer {};
      answer.l_type = there.type;
      answer.l_whence = SEEK_SET;
      answer.l_start = there.begin;
      answer.l_len = there.length;
      answer.l_pid = there.holder;
      return fuse_reply_lock(to, &answer);
    });
    fs.test_lock(info->fh, lock, std::move(reply));
  });
}

void op_fsync(fuse_req_t request, fuse_ino_t, int, fuse_file_info* info) {
  const auto sync = [&](FileSystem& fs, const PendingPtr& pending) { fs.sync(info->fh, reply_done(pending)); };
  run(request, RequestKind::fsync, sync,
      Interrupts::all);  // fsync(2): may wait for a commit; to ask again does no harm
}

void op_setxattr(fuse_req_t request, fuse_ino_t id, const char* name, const char* value, std::size_t size, int flags) {
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.set_xattr(id, name, std::string(value, size), flags, reply_done(pending), caller_of(request));
  });
}

void op_removexattr(fuse_req_t request, fuse_ino_t id, const char* name) {
  run_change(request, RequestKind::change, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.set_xattr(id, name, std::nullopt, 0, reply_done(pending), caller_of(request));
  });
}

}  // namespace

void add_change_operations(fuse_lowlevel_ops& ops) {
  ops.setattr = op_setattr;
  ops.mkdir = op_mkdir;
  ops.symlink = op_symlink;
  ops.link = op_link;
  ops.unlink = op_unlink;
  ops.rmdir = op_rmdir;
  ops.rename = op_rename;
  ops.create = op_create;
  ops.mknod = op_mknod;
  ops.write = op_write;
  ops.flush = op_flush;
  ops.setlk = op_setlk;
  ops.flock = op_flock;
  ops.getlk = op_getlk;
  ops.fsync = op_fsync;
  ops.fsyncdir = op_fsync;
  ops.setxattr = op_setxattr;
  ops.removexattr = op_removexattr;
}

}  // namespace tfilefs
