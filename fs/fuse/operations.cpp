// SPDX-License-Identifier: Apache-2.0
#include "fuse/operations.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "fuse/operation.h"

namespace tfilefs {
namespace {

// The protocol of Linux 6.14. Some earlier kernels let a reader keep pages whose bytes were written past them.
constexpr unsigned kCoherentProtocolMinor = 42;

void op_init(void* userdata, fuse_conn_info* connection) {
  static_cast<Served*>(userdata)->coherent_direct_io =
      connection->proto_major == 7 && connection->proto_minor >= kCoherentProtocolMinor;
  connection->want |= connection->capable & (FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS);
  // READDIRPLUS_AUTO is off because a program that lists a table also wants sizes. SPLICE is off because it is slower
  // than a writev from our pages. ATOMIC_O_TRUNC is off because the operations expect O_TRUNC as an open and a
  // truncation.
  connection->want &= ~(FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_SPLICE_READ |
                        FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
  // Without these the kernel keeps locks by itself, for this mount alone, and sends no requests.
  constexpr unsigned kLocks = FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS;
  connection->want &= ~kLocks;
  if (static_cast<Served*>(userdata)->file_system->has_locks()) connection->want |= connection->capable & kLocks;
  connection->max_read = kBlockSize;
  connection->max_write = kBlockSize;  // libfuse derives the number of pages of one request from it, for reads as well
  // A waiting read holds no thread here, so many may wait. The default of 12 would be shared by all readers of the
  // mount.
  connection->max_background = 64;
  connection->time_gran = 1;
}

void op_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  run_for_others(request, RequestKind::lookup, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.lookup_for_thread(fuse_req_ctx(request)->pid, parent, name, reply_found(fs, pending), caller_of(request));
  });
}

void op_forget(fuse_req_t request, fuse_ino_t id, std::uint64_t times) {
  served(request).file_system->forget(id, times);
  fuse_reply_none(request);
}

void op_forget_multi(fuse_req_t request, std::size_t count, fuse_forget_data* forgets) {
  FileSystem& fs = *served(request).file_system;
  for (std::size_t i = 0; i < count; ++i) fs.forget(forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(request);
}

void op_getattr(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  run_for_others(request, RequestKind::getattr, [&](FileSystem& fs, const PendingPtr& pending) {
    auto reply = reply_to<Attributes>(pending, [&fs, id](fuse_req_t to, const Attributes& attributes) {
      const struct stat s = stat_of(attributes);
      const int told = fuse_reply_attr(to, &s, attribute_timeout(attributes));
      if (told == 0) fs.note_size_reported(id);
      return told;
    });
    reply.set_stop_token(pending->stop_token());
    fs.getattr(id, std::move(reply), caller_of(request), info ? info->fh : 0);
  });
}

void op_readlink(fuse_req_t request, fuse_ino_t id) {
  run(request, RequestKind::other, [&](FileSystem& fs, const PendingPtr& pending) {
    auto reply = reply_to<std::string>(
        pending, [](fuse_req_t to, const std::string& target) { return fuse_reply_readlink(to, target.c_str()); });
    reply.set_stop_token(pending->stop_token());
    fs.readlink(id, std::move(reply), caller_of(request));
  });
}

void op_open(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  run_for_others(request, RequestKind::open, [&](FileSystem& fs, const PendingPtr& pending) {
    auto opened = reply_opened(served(request), pending, id, *info);
    const pid_t thread = fuse_req_ctx(request)->pid;
    switch (info->flags & O_ACCMODE) {
      case O_RDONLY:
        return fs.open(id, std::move(opened), caller_of(request), thread);
      case O_WRONLY:
        return fs.open_only_to_write(id, std::move(opened), caller_of(request), thread);
      default:
        return fs.open_to_write(id, std::move(opened), caller_of(request), thread);
    }
  });
}

void op_read(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info* info) {
  run(request, RequestKind::read, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.note_request(pending->clock().begin());
    auto reply = reply_to<Slices>(pending, reply_slices);
    // Nobody's descriptor: the kernel reads for its pages.
    if (info->lock_owner == 0)
      return fs.read_pages(info->fh, static_cast<std::uint64_t>(offset), size, std::move(reply));
    fs.read(info->fh, static_cast<std::uint64_t>(offset), size, std::move(reply));
  });
}

void op_release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  served(request).file_system->release(info->fh);
  fuse_reply_err(request, 0);
}

void op_opendir(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  run_for_others(request, RequestKind::open, [&](FileSystem& fs, const PendingPtr& pending) {
    auto opened = reply_to<HandleId>(
        pending,
        [info = *info](fuse_req_t to, HandleId handle) {
          fuse_file_info answer = info;
          answer.fh = handle;
          return fuse_reply_open(to, &answer);
        },
        [&fs](HandleId handle) { fs.release(handle); });
    opened.set_stop_token(pending->stop_token());
    fs.opendir(id, std::move(opened), caller_of(request));
  });
}

// A page of directory entries in the kernel's form.
class DirentBuffer final : public DirectorySink {
 public:
  DirentBuffer(std::size_t size, bool plus) : bytes_(std::min(size, kUsualPage)), size_(size), plus_(plus) {}

  bool add(const std::string& name, InodeId id, const Attributes& attributes, std::uint64_t next) override {
    std::size_t needed = write(name, id, attributes, next);
    while (needed > left() && bytes_.size() < size_) {
      bytes_.resize(std::min(2 * bytes_.size(), size_));
      needed = write(name, id, attributes, next);
    }
    if (needed > left()) return false;
    used_ += needed;
    if (id != 0) counted_.push_back(id);
    return true;
  }

  int reply(fuse_req_t request) const { return fuse_reply_buf(request, bytes_.data(), used_); }
  void forget(FileSystem& fs) const {
    for (const InodeId id : counted_) fs.forget(id, 1);
  }

 private:
  // The kernel asks for up to 1 MiB, which malloc would map anew for each of many small directories.
  static constexpr std::size_t kUsualPage = 16 << 10;

  std::size_t left() const { return bytes_.size() - used_; }
  // The bytes that the entry takes; it is written only if there are as many left.
  std::size_t write(const std::string& name, InodeId id, const Attributes& attributes, std::uint64_t next) {
    char* const to = bytes_.data() + used_;
    if (plus_) {
      // For id 0 the kernel takes name and type, and asks for the rest when it needs it.
      const fuse_entry_param entry = entry_of(id, attributes);
      return fuse_add_direntry_plus(nullptr, to, left(), name.c_str(), &entry, static_cast<off_t>(next));
    }
    struct stat brief {};
    brief.st_ino = attributes.number;
    brief.st_mode = attributes.mode;
    return fuse_add_direntry(nullptr, to, left(), name.c_str(), &brief, static_cast<off_t>(next));
  }

  std::vector<char> bytes_;
  const std::size_t size_;
  const bool plus_;
  std::size_t used_ = 0;
  std::vector<InodeId> counted_;
};

void read_directory(fuse_req_t request, std::size_t size, off_t offset, fuse_file_info* info, bool plus) {
  run(request, RequestKind::readdir, [&](FileSystem& fs, const PendingPtr& pending) {
    auto buffer = std::make_shared<DirentBuffer>(size, plus);
    Reply<void> reply([pending, buffer, &fs](Result<void> result) {
      if (!pending->claim()) return buffer->forget(fs);
      if (!result) {
        fuse_reply_err(pending->request(), errno_of(result.error()));
      } else if (buffer->reply(pending->request()) != 0) {
        buffer->forget(fs);
      }
    });
    fs.readdir(info->fh, static_cast<std::uint64_t>(offset), plus, std::move(buffer), std::move(reply));
  });
}

void op_readdir(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info* info) {
  read_directory(request, size, offset, info, false);
}

void op_readdirplus(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info* info) {
  read_directory(request, size, offset, info, true);
}

void op_statfs(fuse_req_t request, fuse_ino_t) {
  run(request, RequestKind::other, [&](FileSystem& fs, const PendingPtr& pending) {
    fs.statfs(reply_to<struct statvfs>(
        pending, [](fuse_req_t to, const struct statvfs& space) { return fuse_reply_statfs(to, &space); }));
  });
}

// As getxattr(2) and listxattr(2): size 0 asks how large a buffer is needed.
auto reply_xattr(std::size_t size) {
  return [size](fuse_req_t to, const std::string& value) {
    if (size == 0) return fuse_reply_xattr(to, value.size());
    if (value.size() > size) return fuse_reply_err(to, ERANGE);
    return fuse_reply_buf(to, value.data(), value.size());
  };
}

void op_getxattr(fuse_req_t request, fuse_ino_t id, const char* name, std::size_t size) {
  run(request, RequestKind::xattr, [&](FileSystem& fs, const PendingPtr& pending) {
    auto reply = reply_to<std::string>(pending, reply_xattr(size));
    reply.set_stop_token(pending->stop_token());
    fs.getxattr(id, name, std::move(reply), caller_of(request));
  });
}

void op_listxattr(fuse_req_t request, fuse_ino_t id, std::size_t size) {
  run(request, RequestKind::xattr, [&](FileSystem& fs, const PendingPtr& pending) {
    auto reply = reply_to<std::string>(pending, reply_xattr(size));
    reply.set_stop_token(pending->stop_token());
    fs.listxattr(id, std::move(reply), caller_of(request));
  });
}

}  // namespace

const fuse_lowlevel_ops& operations() {
  static const fuse_lowlevel_ops table = [] {
    fuse_lowlevel_ops ops{};
    ops.init = op_init;
    ops.lookup = op_lookup;
    ops.forget = op_forget;
    ops.forget_multi = op_forget_multi;
    ops.getattr = op_getattr;
    ops.readlink = op_readlink;
    ops.open = op_open;
    ops.read = op_read;
    ops.release = op_release;
    ops.opendir = op_opendir;
    ops.readdir = op_readdir;
    ops.readdirplus = op_readdirplus;
    ops.releasedir = op_release;
    ops.statfs = op_statfs;
    ops.getxattr = op_getxattr;
    ops.listxattr = op_listxattr;
    add_change_operations(ops);
    return ops;
  }();
  return table;
}

}  // namespace tfilefs
