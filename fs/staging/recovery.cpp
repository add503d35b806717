// SPDX-License-Identifier: Apache-2.0
#include "staging/recovery.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tfile/name.h"
#include "tfile/writer.h"

namespace tfilefs {

using tfile::fail;

namespace {

tl::unexpected<Error> contradiction(const JournalRecord& record, const char* what) {
  return fail(ErrorKind::damaged, "journal: " + std::string(what) + ": " +
                                      (record.text.empty() ? std::to_string(record.id) : record.text));
}

class Restorer {
 public:
  Restorer(const NodePtr& root, const tfile::File* file,
           const std::function<std::shared_ptr<StagedBytes>(std::uint64_t, std::uint64_t)>& new_bytes)
      : root_(root), file_(file), new_bytes_(new_bytes) {}

  Result<> take(const JournalRecord& record) {
    switch (record.kind) {
      case JournalKind::create:
        return create(record);
      case JournalKind::whiteout: {
        const auto [directory, name] = split(record.text);
        TRY(const NodePtr in, directory_at(record, directory));
        in->hidden.emplace(name);
        return {};
      }
      case JournalKind::intend:
      case JournalKind::begin:
      case JournalKind::committed:
        return {};
      default:
        break;
    }
    const auto known = nodes_.find(record.id);
    if (known == nodes_.end()) return contradiction(record, "nothing of that number");
    return change(*known->second, known->second, record);
  }

  void finish() {
    for (const auto& [id, node] : nodes_) {
      if (node->bytes) node->bytes->replayed();
    }
  }

  RestoredTree made;

 private:
  static std::pair<std::string, std::string> split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
  }

  // The directory at a path; what is committed of it is stood over.
  Result<NodePtr> directory_at(const JournalRecord& record, const std::string& path) {
    NodePtr at = root_;
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t slash = std::min(path.find('/', begin), path.size());
      const std::string name = path.substr(begin, slash - begin);
      NodePtr& child = at->children[name];
      if (!child) {
        const CommittedKind kind = file_ ? committed_kind(*file_, path.substr(0, slash)) : CommittedKind::nothing;
        if (kind == CommittedKind::nothing && !is_in_table(*at)) return contradiction(record, "no such directory");
        child = std::make_shared<StagedNode>(0, true, name, at);
        child->base_name = name;
        child->is_table = kind == CommittedKind::table;
      }
      if (!child->directory) return contradiction(record, "not a directory");
      at = child;
      begin = slash + 1;
    }
    return at;
  }

  static bool is_in_table(const StagedNode& node) {
    NodePtr above;
    for (const StagedNode* at = &node; at; at = above.get()) {
      if (at->is_table) return true;
      above = at->parent.lock();
    }
    return false;
  }

  Result<> create(const JournalRecord& record) {
    made.last_id = std::max(made.last_id, record.id);
    if (record.text.empty()) {
      made.makes_file = true;
      return {};
    }
    const auto [directory, name] = split(record.text);
    TRY(const NodePtr in, directory_at(record, directory));
    if (nodes_.contains(record.id) || name.empty()) return contradiction(record, "made twice");
    auto node = std::make_shared<StagedNode>(record.id, record.file_kind == StagedKind::directory, name, in);
    if (!node->directory) {
      node->bytes = new_bytes_(record.id, record.offset);
      node->base = record.offset;
    }
    node->attributes.mode = node->directory ? 0755 : 0644;
    ::clock_gettime(CLOCK_REALTIME, &node->attributes.modified);
    in->children[name] = node;
    nodes_[record.id] = node;
    return {};
  }

  Result<> change(StagedNode& node, const NodePtr& pointer, const JournalRecord& record) {
    switch (record.kind) {
      case JournalKind::data:
        if (!node.bytes) return contradiction(record, "bytes of a directory");
        return node.bytes->restore(record.offset, record.location);
      case JournalKind::truncate:
        if (!node.bytes) return contradiction(record, "bytes of a directory");
        return node.bytes->truncate(record.offset);
      case JournalKind::title:
        node.attributes.title = record.text;
        return {};
      case JournalKind::remove:
        detach(pointer);
        node.gone = true;
        return {};
      case JournalKind::rename: {
        const auto [directory, name] = split(record.text);
        TRY(const NodePtr to, directory_at(record, directory));
        detach(pointer);
        attach(to, pointer, name);
        return {};
      }
      default:
        return contradiction(record, "a record of no known kind");
    }
  }

  const NodePtr& root_;
  const tfile::File* const file_;
  const std::function<std::shared_ptr<StagedBytes>(std::uint64_t, std::uint64_t)>& new_bytes_;
  std::map<std::uint64_t, NodePtr> nodes_;
};

}  // namespace

Result<RestoredTree> restore_tree(
    const NodePtr& root, const std::vector<JournalRecord>& records, const tfile::File* file,
    const std::function<std::shared_ptr<StagedBytes>(std::uint64_t id, std::uint64_t base)>& new_bytes) {
  Restorer restorer(root, file, new_bytes);
  for (const JournalRecord& record : records) TRY_VOID(restorer.take(record));
  restorer.finish();
  return std::move(restorer.made);
}

CommittedKind committed_kind(const tfile::File& file, std::string_view path) {
  std::shared_ptr<const tfile::DirectoryListing> listing = file.root();
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string name = tfile::unescape_name(path.substr(0, slash));
    const auto key = std::find_if(listing->keys.begin(), listing->keys.end(),
                                  [&](const tfile::KeyInfo& k) { return k.name == name; });
    if (key == listing->keys.end()) return CommittedKind::nothing;
    const bool last = slash == std::string_view::npos;
    if (key->kind == tfile::KeyKind::table) return last ? CommittedKind::table : CommittedKind::other;
    if (key->kind != tfile::KeyKind::directory) return CommittedKind::other;
    if (last) return CommittedKind::directory;
    auto below = file.directory(*key);
    if (!below) return CommittedKind::other;
    listing = *below;
    path.remove_prefix(slash + 1);
  }
}

JournalRecord intention(std::span<const std::byte> before, std::span<const std::byte> after) {
  JournalRecord record;
  record.kind = JournalKind::intend;
  record.offset = before.size();
  record.bytes.assign(before.begin(), before.end());
  record.bytes.insert(record.bytes.end(), after.begin(), after.end());
  return record;
}

Result<bool> mend_head(const FilePlace& place, const JournalRecord& intention) {
  const std::span<const std::byte> both = intention.bytes;
  if (intention.offset > both.size()) return fail(ErrorKind::damaged, "journal: an intention without a head");
  const auto before = both.first(intention.offset), after = both.subspan(intention.offset);
  auto file = place.open_to_write();
  if (!file) {
    if (file.error().kind == ErrorKind::not_found) return false;
    return tl::unexpected(std::move(file).error());
  }
  std::vector<std::byte> head(std::max(before.size(), after.size()));
  const ssize_t got = ::pread(file->get(), head.data(), head.size(), 0);
  if (got < 0) return system_error(place.shown, errno);
  head.resize(static_cast<std::size_t>(got));
  switch (tfile::head_state(head, before, after)) {
    case tfile::HeadState::before:
    case tfile::HeadState::after:
      return false;
    case tfile::HeadState::other:
      return fail(ErrorKind::stale, place.shown + ": another program has written the file since the crash");
    case tfile::HeadState::torn:
      break;
  }
  TRY_VOID(write_all(file->get(), 0, after));
  TRY_VOID(sync_data(file->get()));
  return true;
}

}  // namespace tfilefs
