// SPDX-License-Identifier: Apache-2.0
// constant_server NAMES MNT [TIMEOUT]: a FUSE server that answers every call from constants: this is the cost of
// listing a directory when the server has nothing to do. NAMES has a line "SIZE NAME" for each file of the only
// directory, "t". TIMEOUT is the time in seconds for which the kernel may keep names and attributes. It answers the
// calls of the kernel for a listing of a tfilefs mount: lookup, getattr, readdirplus, getxattr.
#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct File {
  std::string name;
  off_t size;
};

constexpr fuse_ino_t kRoot = 1, kTable = 2, kFirstFile = 3;

std::vector<File> files;
std::unordered_map<std::string, fuse_ino_t> inodes;
double timeout_s = 1;

struct stat attributes(fuse_ino_t inode) {
  struct stat status = {};
  status.st_ino = inode;
  if (inode < kFirstFile) {
    status.st_mode = S_IFDIR | 0555;
    status.st_nlink = 2;
  } else {
    status.st_mode = S_IFREG | 0444;
    status.st_nlink = 1;
    status.st_size = files[inode - kFirstFile].size;
    status.st_blocks = (status.st_size + 511) / 512;
    status.st_blksize = 1 << 20;
  }
  return status;
}

fuse_entry_param entry(fuse_ino_t inode) {
  fuse_entry_param param = {};
  param.ino = inode;
  param.attr = attributes(inode);
  param.attr_timeout = param.entry_timeout = timeout_s;
  return param;
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  fuse_ino_t inode = 0;
  if (parent == kRoot && std::strcmp(name, "t") == 0) {
    inode = kTable;
  } else if (const auto found = inodes.find(name); parent == kTable && found != inodes.end()) {
    inode = found->second;
  }
  if (inode == 0) {
    fuse_reply_err(request, ENOENT);
  } else {
    const fuse_entry_param param = entry(inode);
    fuse_reply_entry(request, &param);
  }
}

void getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  const struct stat status = attributes(inode);
  fuse_reply_attr(request, &status, timeout_s);
}

void opendir(fuse_req_t request, fuse_ino_t, fuse_file_info* info) { fuse_reply_open(request, info); }

// As many entries from `offset` on as fit; with attributes if `plus`.
void list(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset, bool plus) {
  std::vector<char> buffer(size);
  std::size_t used = 0;
  const std::size_t count = inode == kRoot ? 1 : files.size();
  for (std::size_t i = static_cast<std::size_t>(offset); i < count; i++) {
    const fuse_entry_param param = entry(inode == kRoot ? kTable : kFirstFile + i);
    const char* name = inode == kRoot ? "t" : files[i].name.c_str();
    const off_t next = static_cast<off_t>(i + 1);
    const std::size_t length =
        plus ? fuse_add_direntry_plus(request, buffer.data() + used, size - used, name, &param, next)
             : fuse_add_direntry(request, buffer.data() + used, size - used, name, &param.attr, next);
    if (length > size - used) break;
    used += length;
  }
  fuse_reply_buf(request, buffer.data(), used);
}

void readdir(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*) {
  list(request, inode, size, offset, false);
}

void readdirplus(fuse_req_t request, fuse_ino_t inode, std::size_t size, off_t offset, fuse_file_info*) {
  list(request, inode, size, offset, true);
}

void getxattr(fuse_req_t request, fuse_ino_t, const char*, std::size_t) { fuse_reply_err(request, ENODATA); }

void listxattr(fuse_req_t request, fuse_ino_t, std::size_t size) {
  size == 0 ? fuse_reply_xattr(request, 0) : fuse_reply_buf(request, nullptr, 0);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  if (count > 3) timeout_s = std::atof(arguments[3]);
  std::ifstream names(arguments[1]);
  for (File file; names >> file.size && names.get() && std::getline(names, file.name);) {
    inodes.emplace(file.name, kFirstFile + files.size());
    files.push_back(file);
  }
  fuse_lowlevel_ops operations = {};
  operations.lookup = lookup;
  operations.getattr = getattr;
  operations.opendir = opendir;
  operations.readdir = readdir;
  operations.readdirplus = readdirplus;
  operations.getxattr = getxattr;
  operations.listxattr = listxattr;
  char* own[] = {arguments[0], nullptr};
  fuse_args options = FUSE_ARGS_INIT(1, own);
  fuse_session* session = fuse_session_new(&options, &operations, sizeof operations, nullptr);
  if (!session || fuse_set_signal_handlers(session) != 0 || fuse_session_mount(session, arguments[2]) != 0) return 1;
  const int status = fuse_session_loop(session);
  fuse_session_unmount(session);
  fuse_remove_signal_handlers(session);
  fuse_session_destroy(session);
  fuse_opt_free_args(&options);
  return status != 0;
}
