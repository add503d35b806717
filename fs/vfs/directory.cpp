// SPDX-License-Identifier: Apache-2.0
#include "vfs/directory.h"

#include <cerrno>

namespace tfilefs {

using tfile::fail;

namespace {
const std::shared_ptr<const Generation> kNoGeneration;
}

const std::shared_ptr<const Generation>& Holder::generation() const { return kNoGeneration; }
const std::shared_ptr<const Generation>& Directory::generation() const { return kNoGeneration; }

void Holder::enter(Slot, Freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  reply(fail(ErrorKind::invalid, "not a directory", -1, ENOTDIR));
}

void Holder::open(Slot, Reply<OpenedContent> reply) const {
  reply(fail(ErrorKind::invalid, "is a directory", -1, EISDIR));
}

void Holder::read_link(Slot, Reply<std::string> reply) const {
  reply(fail(ErrorKind::invalid, "not a symbolic link", -1, EINVAL));
}

void Holder::xattrs(Slot, Reply<Xattrs> reply) const { reply(Xattrs{}); }

tl::unexpected<Error> no_such_entry() { return fail(ErrorKind::not_found, "no such file or directory", -1, ENOENT); }

}  // namespace tfilefs
