// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/directory.h"

#include <utility>

#include "error_log.h"
#include "on_behalf.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {

using tfile::fail;

namespace {
const std::shared_ptr<const Generation> kNoGeneration;
}

const std::shared_ptr<const Generation>& Vnodes::generation() const { return kNoGeneration; }
const std::shared_ptr<const Generation>& Directory::generation() const { return kNoGeneration; }

void Vnodes::admit(VnodeId, Access access, const CallerPtr& by, Reply<void> reply) const {
  if (const auto& of = generation()) return of->admit(access, by, std::move(reply));
  reply(not_admitted());
}

void Directory::admit(Access access, const CallerPtr& by, Reply<void> reply) const {
  if (const auto& of = generation()) return of->admit(access, by, std::move(reply));
  reply(not_admitted());
}

void admitted(Entry entry, Access access, const CallerPtr& by, Reply<Entry> reply) {
  if (!by) return reply(std::move(entry));
  const std::shared_ptr<const Vnodes> vnodes = entry.vnodes->acting_for(by);
  const VnodeId vnode = entry.vnode;
  auto tell = [vnodes, vnode] { return Entry{vnodes, vnode}; };
  vnodes->admit(vnode, access, by, answer_with<void>(std::move(reply), std::move(tell)));
}

void admitted(std::shared_ptr<const Directory> directory, Access access, const CallerPtr& by,
              Reply<std::shared_ptr<const Directory>> reply) {
  if (!by) return reply(std::move(directory));
  const std::shared_ptr<const Directory> bound = directory->acting_for(by);
  bound->admit(access, by, answer_with<void>(std::move(reply), [bound] { return bound; }));
}

void Vnodes::enter(VnodeId, Freshness, Reply<std::shared_ptr<const Directory>> reply) const {
  reply(not_a_directory());
}

void Vnodes::open(VnodeId, Reply<OpenedContent> reply) const { reply(is_a_directory()); }

void Vnodes::read_link(VnodeId, Reply<std::string> reply) const { reply(invalid_argument("not a symbolic link")); }

void Vnodes::xattrs(VnodeId, Reply<Xattrs> reply) const { reply(Xattrs{}); }

// The answer to each change where no changes are possible.
template <class Refusing, class... Held>
tl::unexpected<Error> refused(const Refusing& what, Held... vnode) {
  if (const auto path = what.fixed_table_path(vnode...)) return fixed_table(what.generation()->context.errors, *path);
  return read_only();
}

void Vnodes::open_to_write(VnodeId vnode, Reply<OpenedContent> reply) const { reply(refused(*this, vnode)); }
void Vnodes::change(VnodeId vnode, const AttributeChange& change, Reply<Attributes> reply) const {
  if (!change.size && (goes_with_key(vnode) || fixed_table_path(vnode))) return attributes(vnode, std::move(reply));
  reply(refused(*this, vnode));
}
void Vnodes::set_xattr(VnodeId vnode, std::string_view, std::optional<std::string>, int, Reply<void> reply) const {
  if (goes_with_key(vnode) || fixed_table_path(vnode)) return reply({});
  reply(read_only());
}
void Vnodes::sync(VnodeId, Reply<void> reply) const { reply({}); }  // there are no changes here

void Directory::make_file(std::string_view, const Creation&, bool, Reply<CreatedFile> reply) const {
  reply(refused(*this));
}
void Directory::make_directory(std::string_view, const Creation&, Reply<FoundEntry> reply) const {
  reply(refused(*this));
}
void Directory::make_link(std::string_view, std::string_view, const Creation&, Reply<FoundEntry> reply) const {
  reply(refused(*this));
}
void Directory::make_hard_link(std::string_view, const Vnodes&, Reply<FoundEntry> reply) const {
  reply(not_permitted("hard links are not supported in a ROOT file"));
}
void Directory::remove(std::string_view, bool, Reply<void> reply) const { reply(refused(*this)); }
void Directory::rename(std::string_view, const Directory&, std::string_view, unsigned, Reply<void> reply) const {
  reply(refused(*this));
}

tl::unexpected<Error> not_admitted() { return access_denied("the requesting user may not open the source"); }
tl::unexpected<Error> fixed_table(ErrorLog& errors, const std::string& path) {
  const std::string text = "an RNTuple cannot be changed, only renamed or removed as a whole";
  errors.add(path, text);
  return not_permitted(text);
}

}  // namespace tfilefs
