// SPDX-License-Identifier: Apache-2.0
#include "fuse/operation.h"

#include <signal.h>

namespace tfilefs {

bool asks_itself(fuse_req_t request) {
  const pid_t own = served(request).own_process, thread = fuse_req_ctx(request)->pid;
  return own != 0 && thread != 0 && ::tgkill(own, thread, 0) == 0;
}

struct stat stat_of(const Attributes& a) {
  struct stat s {};
  s.st_ino = a.number;
  s.st_mode = a.mode;
  s.st_nlink = a.links;
  s.st_uid = a.uid;
  s.st_gid = a.gid;
  s.st_rdev = a.device;
  s.st_size = static_cast<off_t>(a.size);
  s.st_blocks = static_cast<blkcnt_t>(a.blocks);
  s.st_blksize = kBlockSize;
  s.st_mtim = a.modified;
  s.st_atim = a.accessed.value_or(a.modified);
  s.st_ctim = a.changed;
  return s;
}

double attribute_timeout(const Attributes& a) {
  if (!a.same_for_all || !a.size_is_known) return 0;
  return S_ISREG(a.mode) && (a.mode & 0222) != 0 ? 0 : kAnswerTimeout;
}

namespace {
// Seconds for which the kernel may cache a name. 0 for a directory that can be renamed: names in it would be looked up
// in its old place, and mkdir(2), unlike open(2), does not try again.
double entry_timeout(const Attributes& a) {
  if (!a.same_for_all) return 0;
  return S_ISDIR(a.mode) && (a.mode & 0222) != 0 ? 0 : kAnswerTimeout;
}
}  // namespace

fuse_entry_param entry_of(InodeId id, const Attributes& a) {
  fuse_entry_param entry{};
  entry.ino = id;
  entry.attr = stat_of(a);
  entry.attr_timeout = attribute_timeout(a);
  entry.entry_timeout = entry_timeout(a);
  return entry;
}

Reply<FileSystem::Found> reply_found(FileSystem& fs, const PendingPtr& pending) {
  auto reply = reply_to<FileSystem::Found>(
      pending,
      [&fs](fuse_req_t to, const FileSystem::Found& found) {
        const fuse_entry_param entry = entry_of(found.id, found.attributes);
        const int error = fuse_reply_entry(to, &entry);
        if (error == 0 && found.attributes.size_is_known) fs.note_size_reported(found.id);
        return error;
      },
      [&fs](const FileSystem::Found& found) { fs.forget(found.id, 1); });
  reply.set_stop_token(pending->stop_token());
  return reply;
}

fuse_file_info opened_as(const Served& served, fuse_file_info info, const FileSystem::Opened& opened) {
  const int mode = info.flags & O_ACCMODE;
  const bool is_better_direct = mode == O_WRONLY || (mode == O_RDONLY && opened.grows) || opened.shared;
  // The kernel would keep what is appended where it believes the end to be.
  const bool is_appended = opened.shared && (info.flags & O_APPEND) != 0;
  info.fh = opened.handle;
  info.keep_cache = opened.keep_cache;
  info.direct_io = opened.direct || is_appended || (is_better_direct && served.coherent_direct_io);
  return info;
}

Reply<FileSystem::Opened> reply_opened(const Served& served, const PendingPtr& pending, fuse_ino_t id,
                                       const fuse_file_info& info) {
  auto reply = reply_to<FileSystem::Opened>(
      pending,
      [info, id, &served](fuse_req_t to, const FileSystem::Opened& opened) {
        const fuse_file_info answer = opened_as(served, info, opened);
        // Before the answer, so that the opener sees next the size of what was opened.
        if (opened.changed) forget_attributes(served.session, id);
        return fuse_reply_open(to, &answer);
      },
      [&fs = *served.file_system](const FileSystem::Opened& opened) { fs.release(opened.handle); });
  reply.set_stop_token(pending->stop_token());
  return reply;
}

Reply<void> reply_done(const PendingPtr& pending) {
  return Reply<void>([pending](const Result<void>& result) {
    if (pending->claim()) fuse_reply_err(pending->request(), result ? 0 : errno_of(result.error()));
  });
}

}  // namespace tfilefs
