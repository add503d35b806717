// SPDX-License-Identifier: Apache-2.0
// Files of a ROOT file that is written: staged ones, and committed columns to which items can be appended.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "on_behalf.h"
#include "vfs/nodes/blocking.h"
#include "vfs/written/written_file.h"

namespace tfilefs {
namespace {

using tfile::fail;

tl::unexpected<Error> not_there_any_more() {
  return fail(ErrorKind::stale, "committed or removed since it was looked up");
}

template <class T>
Result<T> as_permission(Result<T> result) {
  if (!result && result.error().kind == ErrorKind::denied) return not_permitted(std::move(result).error().text);
  return result;
}

// Reads a column as committed now; and together with the items staged behind it.
void read_committed(const WrittenPtr&, const StagedPlace&, std::uint64_t offset, std::size_t size, Reply<Slices>);
void read_by_name(const WrittenPtr&, const StagedPlace&, std::uint64_t offset, std::size_t size, Reply<Slices>);
// Brings to disk what is staged under the name.
void sync_by_name(const WrittenPtr&, const StagedPlace&, Reply<void>);

// A copy that holds no memory of the cache: while a read waits for the rest of its answer, it must not block others.
Slices copy_of(const Slices& slices) {
  auto copy = std::make_shared<tfile::Buffer>(slices.size(), tfile::Use::passing);
  copy_slices(slices, copy->data());
  return one_slice(std::move(copy));
}

// One opening of a staged file, which was notified of it.
class StagedContent final : public Content, public std::enable_shared_from_this<StagedContent> {
 public:
  StagedContent(WrittenPtr file, NodePtr node, bool writes)
      : file_(std::move(file)), node_(std::move(node)), bytes_(node_->bytes), writes_(writes) {}
  ~StagedContent() override {
    if (writes_) file_->overlay().closed(*node_);
  }

  std::uint64_t size() const override { return bytes_->size(); }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices>) override;
  void write(std::uint64_t offset, std::span<const std::byte> bytes, Reply<std::size_t> reply) override {
    if (!writes_) return Content::write(offset, bytes, std::move(reply));
    put(offset, bytes, std::move(reply));
  }
  // Two programs that append at the same time do not overwrite each other, whatever length the kernel believes in.
  void append(std::uint64_t offset, std::span<const std::byte> bytes, Reply<std::size_t> reply) override {
    if (!writes_) return Content::write(offset, bytes, std::move(reply));
    put(std::nullopt, bytes, std::move(reply));
  }
  void flush(Reply<void> reply) override {
    if (!writes_) return reply({});
    file_->overlay().flushed(*node_);
    if (auto error = file_->overlay().take_error(*node_)) return reply(tl::unexpected(*std::move(error)));
    if (!file_->staged().is_to_be_checked(*node_)) return reply({});
    answer_blocking(
        file_->context().cache, [file = file_, node = node_] { return file->staged().check_closed(node); },
        std::move(reply));
  }
  void sync(Reply<void> reply) override {
    if (file_->overlay().is_settled(*node_))
      return sync_by_name(file_, file_->overlay().place_of(*node_), std::move(reply));
    answer_blocking(
        file_->context().cache, [file = file_, node = node_] { return file->changes().sync(node); }, std::move(reply));
  }

 private:
  void put(std::optional<std::uint64_t> offset, std::span<const std::byte>, Reply<std::size_t>);

  const WrittenPtr file_;
  const NodePtr node_;
  const std::shared_ptr<StagedBytes> bytes_;
  const bool writes_;
};

void StagedContent::read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) {
  // A file that is completely committed may be continued under its name.
  if (offset + size > bytes_->size() && file_->overlay().is_settled(*node_))
    return read_by_name(file_, file_->overlay().place_of(*node_), offset, size, std::move(reply));
  if (auto pinned = bytes_->pin(offset, size)) return reply(*std::move(pinned));
  const std::uint64_t base = file_->overlay().status(*node_).base;
  if (offset < base) {
    // Committed since this was opened, or before: read from the ROOT file.
    auto continue_it = [self = shared_from_this(), offset, size, base](Slices head, Reply<Slices> done) {
      if (head.size() < std::min<std::uint64_t>(size, base - offset))
        return done(fail(ErrorKind::stale,
                         "another program has changed the file: it has fewer items than were "
                         "committed before the staged ones"));
      if (offset + size <= base) return done(std::move(head));
      auto join = [all = copy_of(head)](const Slices& rest) mutable {
        all.add(rest);
        return std::move(all);
      };
      head = Slices();
      self->read(base, offset + size - base, answer_with<Slices>(std::move(done), std::move(join)));
    };
    return read_committed(file_, file_->overlay().place_of(*node_), offset,
                          std::min<std::uint64_t>(size, base - offset),
                          value_for<Slices>(std::move(reply), std::move(continue_it)));
  }
  auto job = [bytes = bytes_, offset, size]() -> Result<Slices> {
    auto copy = std::make_shared<tfile::Buffer>(size, tfile::Use::passing);
    TRY(const std::size_t got, bytes->read(offset, copy->span()));
    return one_slice(std::move(copy), 0, got);
  };
  auto finish = [self = shared_from_this(), offset, size](Result<Slices> got, Reply<Slices> done) {
    // A commit has taken the bytes meanwhile.
    if (!got && got.error().kind == ErrorKind::denied) return self->read(offset, size, std::move(done));
    done(std::move(got));
  };
  answer_reading(file_->context().cache, tfile::kLocalOrigin, std::move(job),
                 on_behalf_of<Slices>(std::move(reply), std::move(finish)));
}

void StagedContent::put(std::optional<std::uint64_t> offset, std::span<const std::byte> bytes,
                        Reply<std::size_t> reply) {
  // Without this opening: who has the answer may close it at once, and its end is then told.
  auto taken = [file = file_, node = node_, size = bytes.size()](std::uint64_t at) {
    file->overlay().written(*node, at);
    return size;
  };
  auto refuse = [](Result<std::uint64_t>& at) { at = as_permission(std::move(at)); };
  bytes_->write(offset, bytes,
                seen_by(answer_with<std::uint64_t>(std::move(reply), std::move(taken)), std::move(refuse)));
}

// Calls `then` with the entry that is committed under the name now, continued by the items staged behind it.
template <class T, class Then>
void of_committed_now(const WrittenPtr& file, const StagedPlace& at, Freshness freshness, Then then, Reply<T> reply) {
  const std::uint64_t commits = file->overlay().commits();
  auto finish = [file, at, commits, then](FoundEntry found, Reply<T> done) mutable {
    const Entry& now = found.entry;
    const bool is_column = now.vnodes->accepts(now.vnode) == WriteCapability::items;
    then(is_column ? committed_column_entry(file, at.directory, at.name, commits, now) : now, std::move(done));
  };
  file->committed_entry(at.directory, at.name, freshness, value_for<FoundEntry>(std::move(reply), std::move(finish)));
}

void ask_attributes(const Entry& entry, Reply<Attributes> reply) {
  entry.vnodes->attributes(entry.vnode, std::move(reply));
}
void open_entry(const Entry& entry, Reply<OpenedContent> reply) { entry.vnodes->open(entry.vnode, std::move(reply)); }
void open_entry_to_write(const Entry& entry, Reply<OpenedContent> reply) {
  entry.vnodes->open_to_write(entry.vnode, std::move(reply));
}

class StagedVnodes final : public Vnodes {
 public:
  StagedVnodes(WrittenPtr file, NodePtr node) : file_(std::move(file)), node_(std::move(node)) {}

  void admit(VnodeId, Access access, const CallerPtr& by, Reply<void> reply) const override {
    file_->admit(access, by, std::move(reply));
  }
  std::uint64_t file_identity() const override { return node_->identity; }
  std::shared_ptr<const Generation> latest_generation() const override { return file_->latest_generation(); }
  bool keeps_inode() const override { return true; }
  std::optional<Attributes> known_attributes(VnodeId) const override {
    if (file_->overlay().is_settled(*node_)) return std::nullopt;
    return file_->staged_attributes(*node_);
  }
  void attributes(VnodeId vnode, Reply<Attributes> reply) const override {
    if (auto known = known_attributes(vnode)) return reply(*known);
    committed(Freshness::recent, ask_attributes, std::move(reply));
  }
  void open(VnodeId, Reply<OpenedContent> reply) const override {
    if (file_->overlay().opened(*node_, false)) return reply(opening(false));
    committed(Freshness::now, open_entry, std::move(reply));
  }
  void open_to_write(VnodeId, Reply<OpenedContent> reply) const override {
    if (file_->overlay().opened(*node_, true)) return reply(opening(true));
    committed(Freshness::now, open_entry_to_write, std::move(reply));
  }
  WriteCapability accepts(VnodeId) const override { return WriteCapability::items; }

  // While a commit reads the file, a new size waits.
  void change(VnodeId vnode, const AttributeChange& change, Reply<Attributes> reply) const override {
    if (!change.size) return change_now(vnode, change, std::move(reply));
    auto self = std::static_pointer_cast<const StagedVnodes>(shared_from_this());
    auto cut = [self, vnode, change](Reply<Attributes> done) {
      auto again = [self, vnode, change](Result<Attributes> changed, Reply<Attributes> answer) {
        const bool next_has_begun =
            !changed && changed.error().kind == ErrorKind::busy && self->node_->bytes->is_frozen_at(*change.size);
        if (!next_has_begun) return answer(std::move(changed));
        self->change(vnode, change, std::move(answer));
      };
      self->change_now(vnode, change, uninterrupted(on_behalf_of<Attributes>(std::move(done), std::move(again))));
    };
    node_->bytes->when_thawed(*change.size, value_for<void>(std::move(reply), std::move(cut)));
  }
  void change_now(VnodeId, const AttributeChange& change, Reply<Attributes> reply) const {
    auto job = [file = file_, node = node_, change]() -> Result<Attributes> {
      if (file->overlay().is_settled(*node)) return not_there_any_more();
      if (change.size) TRY_VOID(as_permission(file->changes().truncate(node, *change.size)));
      TRY_VOID(change_attributes(file->staged(), node, change));
      return file->staged_attributes(*node);
    };
    auto finish = [self = std::static_pointer_cast<const StagedVnodes>(shared_from_this()), change](
                      Result<Attributes> changed, Reply<Attributes> done) {
      if (changed || changed.error().kind != ErrorKind::stale) return done(std::move(changed));
      const auto ask = [change](const Entry& now, Reply<Attributes> answer) {
        now.vnodes->change(now.vnode, change, std::move(answer));
      };
      self->committed(Freshness::recent, ask, std::move(done));
    };
    answer_blocking(file_->context().cache, std::move(job),
                    uninterrupted(on_behalf_of<Attributes>(std::move(reply), std::move(finish))));
  }

  void xattrs(VnodeId, Reply<Xattrs> reply) const override {
    const StagedAttributes attributes = file_->overlay().status(*node_).attributes;
    Xattrs all(attributes.xattrs.begin(), attributes.xattrs.end());
    if (!attributes.title.empty()) all.emplace_back(kTitleAttribute, attributes.title);
    if (!attributes.encoding.empty()) all.emplace_back(kEncodingAttribute, attributes.encoding);
    reply(std::move(all));
  }

  void set_xattr(VnodeId, std::string_view name, std::optional<std::string> value, int,
                 Reply<void> reply) const override {
    if (name == kTitleAttribute || name == kEncodingAttribute) {
      auto job = [file = file_, node = node_, text = value.value_or(""), is_title = name == kTitleAttribute] {
        return is_title ? file->changes().set_title(node, text) : file->changes().set_encoding(node, text);
      };
      return answer_blocking(file_->context().cache, std::move(job), std::move(reply));
    }
    file_->overlay().set_attributes(*node_, [&](StagedAttributes& attributes) {
      if (value) {
        attributes.xattrs[std::string(name)] = *std::move(value);
      } else {
        attributes.xattrs.erase(std::string(name));
      }
    });
    reply({});
  }

 private:
  OpenedContent opening(bool to_write) const {
    OpenedContent content;
    content.content = std::make_shared<StagedContent>(file_, node_, to_write);
    content.version = content.identity = node_->identity;
    content.grows = true;
    content.own = shared_from_this();  // whatever a commit puts at its path meanwhile
    return content;
  }

  // Calls `then` with the present entry under the name, after a commit has taken this file.
  template <class T, class Then>
  void committed(Freshness freshness, Then then, Reply<T> reply) const {
    const StagedPlace at = file_->overlay().place_of(*node_);
    if (!at.directory || !file_->overlay().is_settled(*node_)) return reply(not_there_any_more());
    of_committed_now(file_, at, freshness, then, std::move(reply));
  }

  const WrittenPtr file_;
  const NodePtr node_;
};

// One opening of a committed column, for reading: it continues into the items staged behind it at the time of a read.
class CommittedContent final : public Content {
 public:
  CommittedContent(WrittenPtr file, StagedPlace at, std::shared_ptr<Content> committed)
      : file_(std::move(file)), at_(std::move(at)), committed_(std::move(committed)) {}

  std::uint64_t size() const override { return committed_->size(); }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    if (offset + size > committed_->size()) return read_by_name(file_, at_, offset, size, std::move(reply));
    committed_->read(offset, size, std::move(reply));
  }
  // A file is synced by any of its handles.
  void sync(Reply<void> reply) override { sync_by_name(file_, at_, std::move(reply)); }

 private:
  const WrittenPtr file_;
  const StagedPlace at_;
  const std::shared_ptr<Content> committed_;
};

// A look at the committed file is repeated if another commit comes in between, or another program has just written the
// file. So many tries are only needed if the file keeps changing.
constexpr int kContinueTries = 100;

// Calls `then` with the staged file that continues the committed items of a column.
template <class T, class Then>
void with_continuation(const WrittenPtr& file, const StagedPlace& at, int tries, Then then, Reply<T> reply) {
  auto again = [file, at, tries, then](Result<T> done, Reply<T> answer) {
    if (done || done.error().kind != ErrorKind::stale || file->overlay().is_forgotten()) return answer(std::move(done));
    if (tries > 1) return with_continuation(file, at, tries - 1, then, std::move(answer));
    file->context().errors.add("/" + file->path(), done.error());
    answer(busy(done.error().text));
  };
  const std::uint64_t commits = file->overlay().commits();
  auto stage = [file, at, commits, then](const GenerationPtr& of, const Attributes& committed, Reply<T> answer) {
    auto job = [file, at, commits, of, committed]() -> Result<Entry> {
      Changes::CommittedColumn column;
      column.size = committed.size;
      column.head = std::as_bytes(std::span(of->source->head()));
      column.commits = commits;
      column.mode = (committed.mode & 07777) | file->write_bits();
      TRY(const NodePtr node, file->staged().continue_file(at.directory, at.name, column));
      return staged_entry(file, node);
    };
    answer_blocking(file->context().cache, std::move(job), value_for<Entry>(uninterrupted(std::move(answer)), then));
  };
  auto ask = [stage = std::move(stage)](const FoundEntry& found, Reply<T> answer) {
    const Entry entry = found.entry;
    const GenerationPtr of = entry.vnodes->generation();
    if (!of) return answer(not_there_any_more());
    auto take = [entry, of, stage](const Attributes& committed, Reply<T> staged) {
      stage(of, committed, std::move(staged));
    };
    entry.vnodes->attributes(entry.vnode, value_for<Attributes>(std::move(answer), std::move(take)));
  };
  const Freshness freshness = tries == kContinueTries ? Freshness::recent : Freshness::now;
  file->committed_entry(at.directory, at.name, freshness,
                        value_for<FoundEntry>(on_behalf_of<T>(std::move(reply), std::move(again)), std::move(ask)));
}

// A committed column: its items do not change; more can be staged behind them.
class CommittedColumnVnodes final : public Vnodes {
 public:
  CommittedColumnVnodes(WrittenPtr file, StagedPlace at, std::uint64_t commits, Entry committed)
      : file_(std::move(file)), at_(std::move(at)), commits_(commits), committed_(std::move(committed)) {}

  const std::shared_ptr<const Generation>& generation() const override { return committed_.vnodes->generation(); }
  void admit(VnodeId, Access access, const CallerPtr& by, Reply<void> reply) const override {
    if (access == Access::write) return file_->admit(access, by, std::move(reply));
    committed_.vnodes->admit(committed_.vnode, access, by, std::move(reply));
  }
  std::optional<Attributes> known_attributes(VnodeId) const override {
    if (const NodePtr more = continuation()) return file_->staged_attributes(*more);
    if (is_outdated()) return std::nullopt;
    auto known = committed_.vnodes->known_attributes(committed_.vnode);
    if (known) known->mode |= file_->write_bits();
    return known;
  }
  std::optional<Attributes> attributes_but_size(VnodeId) const override {
    if (continuation() || is_outdated()) return std::nullopt;
    auto brief = committed_.vnodes->attributes_but_size(committed_.vnode);
    if (brief) brief->mode |= file_->write_bits();
    return brief;
  }
  void attributes(VnodeId, Reply<Attributes> reply) const override {
    if (const NodePtr more = continuation()) return reply(file_->staged_attributes(*more));
    if (is_outdated()) return of_committed_now(file_, at_, Freshness::recent, ask_attributes, std::move(reply));
    auto add_write_bits = [file = file_](Attributes found) {
      found.mode |= file->write_bits();
      return found;
    };
    committed_.vnodes->attributes(committed_.vnode,
                                  answer_with<Attributes>(std::move(reply), std::move(add_write_bits)));
  }
  void open(VnodeId, Reply<OpenedContent> reply) const override {
    if (const NodePtr more = continuation()) {
      const Entry staged = staged_entry(file_, more);
      return staged.vnodes->open(staged.vnode, std::move(reply));
    }
    if (is_outdated()) return of_committed_now(file_, at_, Freshness::now, open_entry, std::move(reply));
    auto show = [file = file_, at = at_](OpenedContent opened) {
      opened.content = std::make_shared<CommittedContent>(file, at, std::move(opened.content));
      return opened;
    };
    committed_.vnodes->open(committed_.vnode, answer_with<OpenedContent>(std::move(reply), std::move(show)));
  }
  void xattrs(VnodeId, Reply<Xattrs> reply) const override {
    committed_.vnodes->xattrs(committed_.vnode, std::move(reply));
  }
  void more_xattrs(VnodeId, Reply<Xattrs> reply) const override {
    committed_.vnodes->more_xattrs(committed_.vnode, std::move(reply));
  }
  WriteCapability accepts(VnodeId) const override { return WriteCapability::items; }
  // The attributes of a column in the file are not changed. Setting them is no error, since rsync -aX does.
  void set_xattr(VnodeId, std::string_view, std::optional<std::string>, int, Reply<void> reply) const override {
    reply({});
  }

  void open_to_write(VnodeId, Reply<OpenedContent> reply) const override {
    with_continuation(file_, at_, kContinueTries, open_entry_to_write, std::move(reply));
  }

  // Owner, mode and times are those of the file. Setting others is no error, since cp -p and rsync -a do.
  void change(VnodeId vnode, const AttributeChange& change, Reply<Attributes> reply) const override {
    if (const NodePtr more = continuation()) {
      const Entry staged = staged_entry(file_, more);
      return staged.vnodes->change(staged.vnode, change, std::move(reply));
    }
    if (!change.size) return attributes(vnode, std::move(reply));
    auto resize = [self = std::static_pointer_cast<const CommittedColumnVnodes>(shared_from_this()), vnode, change](
                      const Attributes& now, Reply<Attributes> done) {
      if (now.size == *change.size) return done(now);
      if (*change.size < now.size) return done(not_permitted("committed entries cannot be changed"));
      const auto grow = [vnode, change](const Entry& staged, Reply<Attributes> answer) {
        staged.vnodes->change(vnode, change, std::move(answer));
      };
      with_continuation(self->file_, self->at_, kContinueTries, grow, std::move(done));
    };
    attributes(vnode, value_for<Attributes>(std::move(reply), std::move(resize)));
  }

 private:
  // The staged file that continues the committed items, if there is one; the kernel may not know of it yet.
  NodePtr continuation() const {
    const StagedLook look = file_->overlay().look(*at_.directory, at_.name);
    return look.what == StagedLook::What::file ? look.node : nullptr;
  }
  // If nothing is staged behind them, that may be because it was committed after `committed_` was found: for a moment
  // no generation has it.
  bool is_outdated() const { return file_->overlay().commits() != commits_; }

  const WrittenPtr file_;
  const StagedPlace at_;
  const std::uint64_t commits_;
  const Entry committed_;
};

void read_committed(const WrittenPtr& file, const StagedPlace& at, std::uint64_t offset, std::size_t size,
                    Reply<Slices> reply) {
  if (!at.directory) return reply(not_there_any_more());
  const auto read = [offset, size](const Entry& entry, Reply<Slices> answer) {
    auto read_opened = [offset, size](const OpenedContent& opened, Reply<Slices> done) {
      const std::shared_ptr<Content> content = opened.content;
      content->read(offset, size, answer_with<Slices>(std::move(done), [content](Slices slices) { return slices; }));
    };
    entry.vnodes->open(entry.vnode, value_for<OpenedContent>(std::move(answer), std::move(read_opened)));
  };
  auto read_found = [read](const FoundEntry& found, Reply<Slices> done) { read(found.entry, std::move(done)); };
  auto check = [](Result<FoundEntry>& found) {  // read(2) never fails with ENOENT
    if (!found && found.error().kind == ErrorKind::not_found) found = not_there_any_more();
  };
  file->committed_entry(at.directory, at.name, Freshness::recent,
                        seen_by(value_for<FoundEntry>(std::move(reply), std::move(read_found)), std::move(check)));
}

void read_by_name(const WrittenPtr& file, const StagedPlace& at, std::uint64_t offset, std::size_t size,
                  Reply<Slices> reply) {
  if (!at.directory) return reply(not_there_any_more());
  const StagedLook more = file->overlay().look(*at.directory, at.name);
  if (more.what == StagedLook::What::file)
    return std::make_shared<StagedContent>(file, more.node, false)->read(offset, size, std::move(reply));
  read_committed(file, at, offset, size, std::move(reply));
}

void sync_by_name(const WrittenPtr& file, const StagedPlace& at, Reply<void> reply) {
  const StagedLook more = at.directory ? file->overlay().look(*at.directory, at.name) : StagedLook();
  if (more.what != StagedLook::What::file) return reply({});
  std::make_shared<StagedContent>(file, more.node, false)->sync(std::move(reply));
}

}  // namespace

Entry staged_entry(const WrittenPtr& file, const NodePtr& node) {
  return {std::make_shared<const StagedVnodes>(file, node), {}};
}

Entry committed_column_entry(const WrittenPtr& file, const NodePtr& directory, std::string name, std::uint64_t commits,
                             Entry committed) {
  return {std::make_shared<const CommittedColumnVnodes>(file, StagedPlace{directory, std::move(name)}, commits,
                                                        std::move(committed)),
          {}};
}

}  // namespace tfilefs
