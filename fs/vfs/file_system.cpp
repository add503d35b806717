// SPDX-License-Identifier: Apache-2.0
#include "vfs/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <future>
#include <iterator>
#include <utility>
#include <vector>

#include "control/readme.h"
#include "control/reads.h"
#include "control/stats.h"
#include "descriptor_limit.h"
#include "on_behalf.h"
#include "tfile/buffer.h"
#include "tfile/name.h"
#include "vfs/attributes_within.h"
#include "vfs/chain/chain.h"
#include "vfs/keys/key_directory.h"
#include "vfs/metrics_file.h"
#include "vfs/mirror/source_item.h"
#include "vfs/mirror/source_tree.h"
#include "vfs/names/name_index.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/control_directory.h"
#include "vfs/nodes/expression_entries.h"
#include "vfs/nodes/root_file_vnodes.h"
#include "vfs/nodes/xattr.h"
#include "vfs/remote/remote_tree.h"
#include "vfs/written/written_file.h"
#include "waited.h"

namespace tfilefs {

using tfile::fail;
using Clock = std::chrono::steady_clock;
using DirectoryPtr = std::shared_ptr<const Directory>;

namespace {

tl::unexpected<Error> source_changed() { return fail(ErrorKind::stale, "the file has changed since it was opened"); }

// An error that users should be told of, unlike a normal negative answer.
bool is_trouble(const Error& error) {
  if (is_cancelled(error)) return false;
  switch (error.kind) {
    case ErrorKind::damaged:
    case ErrorKind::unsupported:
    case ErrorKind::io:
    case ErrorKind::timed_out:
    case ErrorKind::too_large:
      return true;
    case ErrorKind::no_space:
      return error.system_errno == ENOMEM;
    default:
      return false;
  }
}

// For a request that needs the file to stay unchanged meanwhile. A job that saves the file between two tries is rare; a
// job that writes its next basket is not.
constexpr int kTries = 4;

// How many paths the kernel may know before it is asked to forget some. One takes some 1.5 KB here, with what its
// directory keeps for it, so that they take about as much as the budget, and not more than that beside it.
std::size_t inode_limit(std::uint64_t memory) {
  constexpr std::uint64_t kBytes = 2048, kFewest = 1024;
  return std::max(memory / kBytes, kFewest);
}

// How many names of expressions it may know before that. Each keeps a bit for each entry, or a histogram and a
// descriptor.
std::size_t expression_limit() {
  constexpr std::size_t kNames = 64, kDescriptors = 4;
  return files_within_limit(kNames, kDescriptors);
}

// Staged data may take half of the memory, since reading goes on meanwhile.
std::unique_ptr<Writing> make_writing(const FileSystemOptions& options, ClusterCache& cache, ErrorLog& errors) {
  if (!options.write) return nullptr;
  return std::unique_ptr<Writing>(
      new Writing{*options.write, StagingMemory(cache.budget(), options.cache.memory / 2, cache.exec().serial_queues),
                  cache, errors, *options.clock});
}

}  // namespace

tl::unexpected<Error> FileSystem::unknown_inode() { return outdated("unknown inode"); }
tl::unexpected<Error> FileSystem::bad_handle() { return unknown_handle(); }

// ---- construction

FileSystem::FileSystem(std::unique_ptr<ClusterCache> cache, const FileSystemOptions& options)
    : names_(options.names),
      metrics_file_(options.metrics_file),
      cache_(std::move(cache)),
      writing_(make_writing(options, *cache_, errors_)),
      context_{*cache_,         errors_,        options.ownership, options.views_listed,
               options.strings, writing_.get(), options.is_shared},
      locks_(*cache_, timers()),
      retries_(*options.clock),
      timed_out_reads_(*options.clock) {
  context_.clock = options.clock;
  context_.shaping = options.shaping;
  tfile::scale_free_buffers(options.cache.memory);
  // Files that show which paths are in use are closed to other users.
  const bool closed = options.is_shared;
  readme_ = make_control_file({std::string(kReadmeName), [] { return readme_text(); }}, options.ownership);
  control_ = make_control_directory({{"README", [] { return readme_text(); }},
                                     {"config.json", [text = options.config_json] { return text; }},
                                     {"errors", [this] { return errors_.text(); }, nullptr, closed},
                                     {"metrics", [this] { return metrics(); }, nullptr, closed},
                                     {"pending.json", nullptr, nullptr, closed,
                                      [this](Reply<std::string> reply) {
                                        answer_blocking(
                                            *cache_, [this] { return pending_json(); }, std::move(reply));
                                      }},
                                     {"reads.json", [this] { return reads_json(); }, nullptr, closed},
                                     {"stats.json", [this] { return stats_json(); }, nullptr, closed}},
                                    options.ownership,
                                    {[this](Reply<void> reply) {
                                       answer_committing(
                                           *cache_, this, [this] { return commit_all(); }, std::move(reply));
                                     },
                                     [this](Reply<void> reply) {
                                       answer_blocking(
                                           *cache_, [this] { return discard_all(); }, std::move(reply));
                                     }});
}

FileSystem::FileSystem(std::unique_ptr<ClusterCache> cache, std::unique_ptr<const FileLocator> origin,
                       const FileSystemOptions& options)
    : FileSystem(std::move(cache), options) {
  auto file = std::make_shared<MountedFile>(context_, std::move(origin), "");
  set_root(Entry{std::make_shared<const RootFileVnodes>(context_, std::move(file)), {}});
}

void FileSystem::set_root(Entry root) {
  inodes_ = std::make_unique<InodeTable>(std::move(root), inode_limit(cache_->budget()->size()), expression_limit());
  context_.make_root = make_root_directory;
  context_.file_is_gone = [this](std::uint64_t number) { inodes_->remove(number); };
}

// All owners of files must be destroyed before the cache that the files use.
FileSystem::~FileSystem() {
  end();
  inodes_.reset();
  tree_.reset();
  written_.reset();
  remote_tree_.reset();
  remote_file_.reset();
  chains_.clear();
  context_.friends.clear();
  context_.recent.clear();
  cache_.reset();
}

// ---- from inodes to entries

InodePtr FileSystem::known(InodeId id) {
  last_request_.store(Clock::now(), std::memory_order_relaxed);
  return inodes_->find(id);
}

void FileSystem::note(const Inode& inode, std::string_view below, const Error& error) {
  // The source itself existed when it was mounted, so its loss is trouble.
  const bool lost_source = inode.id == kRootId && below.empty() && error.kind == ErrorKind::not_found;
  if (!is_trouble(error) && !lost_source) return;
  std::string path = path_of(inode);
  if (!below.empty()) path += (path == "/" ? "" : "/") + std::string(below);
  errors_.add(path, error);
}

// The entry at the inode's path in the current generation. For a file of an older generation, or anything in a
// directory that was moved, the answer is ESTALE: the kernel then walks the path again and finds the new one.
void FileSystem::fresh_entry(InodePtr inode, Freshness freshness, Reply<Entry> reply) {
  if (inodes_->has_left(*inode)) return reply(source_changed());
  Entry entry = inodes_->entry(*inode);
  const GenerationPtr generation = entry.vnodes->generation();
  if (!generation) return reply(std::move(entry));
  auto take = [this, inode = std::move(inode), entry = std::move(entry), generation](const GenerationPtr& now,
                                                                                     Reply<Entry> done) {
    if (now == generation && !entry.vnodes->is_released()) return done(entry);
    if (inode->state.is_file) return done(source_changed());
    resolve_again(inode, std::move(done));
  };
  generation->owner->current(freshness, value_for<GenerationPtr>(std::move(reply), std::move(take)));
}

void FileSystem::resolve_again(InodePtr inode, Reply<Entry> reply) {
  InodePtr parent = inode->parent;
  auto take = [this, inode](const std::optional<FoundEntry>& found, Reply<Entry> done) {
    if (!found) return done(source_changed());
    inodes_->set_entry(*inode, found->entry);
    done(found->entry);
  };
  auto find = [inode, take = std::move(take)](const DirectoryPtr& directory, Reply<Entry> done) mutable {
    directory->find(inode->name, found_or_not<FoundEntry>(std::move(done), std::move(take)));
  };
  directory_of(parent, Freshness::recent, value_for<DirectoryPtr>(std::move(reply), std::move(find)));
}

void FileSystem::directory_of(InodePtr inode, Freshness freshness, Reply<DirectoryPtr> reply) {
  auto enter = [this, inode, freshness](Entry entry, Reply<DirectoryPtr> done) {
    auto keep = seen_by(std::move(done), [this, inode](const Result<DirectoryPtr>& entered) {
      if (entered) inodes_->keep(*inode, *entered);
    });
    const Vnodes& vnodes = *entry.vnodes;
    if (!vnodes.generation()) return vnodes.enter(entry.vnode, freshness, std::move(keep));
    inodes_->directory_once(*inode)->get(
        [&](Reply<DirectoryPtr> made) { vnodes.enter(entry.vnode, freshness, std::move(made)); }, std::move(keep));
  };
  fresh_entry(inode, freshness, value_for<Entry>(std::move(reply), std::move(enter)));
}

// The text about the mount where nothing has its name.
Reply<FoundEntry> FileSystem::or_readme(Reply<FoundEntry> reply) const {
  auto show = [readme = readme_](std::optional<FoundEntry> found, Reply<FoundEntry> done) {
    done(found ? *std::move(found) : FoundEntry{readme, {}});
  };
  return found_or_not<FoundEntry>(std::move(reply), std::move(show));
}

void FileSystem::find_in(const InodePtr& parent, std::string_view name, const CallerPtr& by, Reply<FoundEntry> reply) {
  if (parent->id == kRootId && name == kControlName) return reply(FoundEntry{control_, {}});
  // A user who may write may want to make such a file.
  if (parent->id == kRootId && name == kReadmeName && !writing_) reply = or_readme(std::move(reply));
  auto find = value_for<DirectoryPtr>(
      std::move(reply), [name = std::string(name)](const DirectoryPtr& directory, Reply<FoundEntry> done) {
        directory->find(name, std::move(done));
      });
  directory_of(parent, Freshness::recent, admitted_for(Access::read, by, std::move(find)));
}

// The current entry of an inode, as the caller may use it.
void FileSystem::entry_for(InodePtr inode, Access access, const CallerPtr& by, Reply<Entry> reply) {
  fresh_entry(std::move(inode), Freshness::recent, admitted_for(access, by, std::move(reply)));
}

// ---- names and attributes

InodeId FileSystem::refer(const InodePtr& parent, std::string_view name, std::string_view own_name, const Entry& entry,
                          Attributes& attributes, bool is_new) {
  Inode::State state;
  state.is_file = !S_ISDIR(attributes.mode);
  if (state.is_file) {
    const GenerationPtr& generation = entry.vnodes->generation();
    state.which = generation ? generation->serial : entry.vnodes->file_identity();
    state.moves = !generation && entry.vnodes->keeps_inode();
  } else {
    state.which = name == own_name ? parent->state.which : hash_of_name(name);
  }
  const auto [id, number, is_crowded] = inodes_->refer(parent, own_name, entry, state, is_new);
  attributes.number = number;
  const bool is_one_too_many = is_of_expression(name) && inodes_->note_made(id);
  if ((is_crowded || is_one_too_many) && kernel_.forget_name && !forgetting_.exchange(true)) forget_names(is_crowded);
  return id;
}

// On a thread that nothing waits for: the kernel may hold the directory's lock until a request is answered.
void FileSystem::forget_names(bool is_crowded) {
  const auto job = [this, is_crowded] {
    std::vector<InodeTable::Name> names = inodes_->release_made();
    if (is_crowded) std::ranges::move(inodes_->oldest(), std::back_inserter(names));
    for (const InodeTable::Name& each : names) {
      if (!inodes_->is_used(each.file))
        kernel_.forget_name(each.directory, each.name);  // it may have been opened meanwhile
    }
    if (is_crowded) release_idle_tables();
    forgetting_ = false;
  };
  if (!cache_->exec().serial_queues.run(&forgetting_, job)) forgetting_ = false;
}

// Loaded tables are only given up where they may take more than is promised: to load them again takes time.
void FileSystem::release_idle_tables() {
  constexpr std::uint64_t kBeside = 16 << 20;  // of the 64 MB beside `memory=`
  const auto process = own_process();
  if (process && process->resident_bytes < cache_->budget()->size() + kBeside) return;
  for (const GenerationPtr& generation : inodes_->release_idle()) generation->release_idle_tables();
  tfile::give_back_free_buffers();
}

void FileSystem::lookup(InodeId parent_id, std::string_view name, Reply<Found> reply, const CallerPtr& by,
                        Sizes sizes) {
  const InodePtr parent = known(parent_id);
  if (!parent) return reply(unknown_inode());
  if (makes_path_too_long(*parent, name)) return reply(name_too_long());
  auto find = [this, sought = Sought{parent, std::string(name), by, sizes}](Reply<Found> found) {
    find_in(sought.parent, sought.name, sought.by, finishing(sought, std::move(found)));
  };
  with_retries(parent, name, kTries, std::move(find), std::move(reply));
}

void FileSystem::lookup_for_thread(pid_t thread, InodeId parent, std::string_view name, Reply<Found> reply,
                                   const CallerPtr& by) {
  if (name.size() > NAME_MAX) return reply(name_too_long());
  if (!retries_.awaits(thread)) return lookup(parent, name, std::move(reply), by, Sizes::soon);
  auto renew = [this, thread](const Result<Found>&) { retries_.renew(thread); };
  lookup(parent, name, seen_by(std::move(reply), std::move(renew)), by, Sizes::exact);
}

// It concerns no open handle, so the new state of the file is a correct answer.
template <class T, class Attempt>
void FileSystem::with_retries(const InodePtr& inode, std::string_view below, int tries, Attempt attempt,
                              Reply<T> reply) {
  auto check = [this, inode, below = std::string(below), tries, attempt, before = generation_of(*inode)](
                   Result<T> result, Reply<T> done) {
    if (result) return done(std::move(result));
    auto again = [this, inode, below, tries, attempt](const Result<void>& judged, Reply<T> answer) {
      const Error& error = judged.error();
      if (error.kind == ErrorKind::stale && tries > 1)
        return with_retries(inode, below, tries - 1, attempt, std::move(answer));
      note(*inode, below, error);
      answer(tl::unexpected<Error>(error));
    };
    judge(before ? before : generation_of(*inode), result.error(),
          on_behalf_of<void>(std::move(done), std::move(again)));
  };
  attempt(on_behalf_of<T>(std::move(reply), std::move(check)));
}

// Decides whether an error of damage only means that the file is being changed. If so, the error becomes stale, and the
// generation is given up. An error that was stale before says nothing about the generation: a commit may have replaced
// the entry, and readers of the generation go on. The reply is an error; the file is looked at whatever signal comes.
void FileSystem::judge(const GenerationPtr& generation, const Error& error, Reply<void> reply) {
  if (error.kind != ErrorKind::damaged || !generation) return reply(tl::unexpected<Error>(error));
  auto job = [generation, error]() -> Result<void> {
    if (!generation->source->is_changing()) return tl::unexpected<Error>(error);
    generation->source->set_stale();
    return tl::unexpected(Error{ErrorKind::stale, error.text, error.offset, 0, error.source});
  };
  answer_blocking(*cache_, std::move(job), uninterrupted(std::move(reply)));
}

// For a look-up that finds an entry.
Reply<FoundEntry> FileSystem::finishing(Sought sought, Reply<Found> reply) {
  auto finish = [this, sought = std::move(sought)](FoundEntry at, Reply<Found> done) {
    finish_found(sought, std::move(at), std::move(done));
  };
  return value_for<FoundEntry>(std::move(reply), std::move(finish));
}

// The inode's entry is the same for all callers; the attributes are those that this caller may see.
void FileSystem::finish_found(const Sought& sought, FoundEntry at, Reply<Found> reply) {
  std::string own_name = at.own_name.empty() ? sought.name : std::move(at.own_name);
  const Entry entry = at.entry;
  auto next = [this, entry, sought, own_name = std::move(own_name), same_for_all = at.same_for_all, is_new = at.is_new](
                  Attributes attributes, Reply<Found> done) mutable {
    attributes.same_for_all = !context_.is_shared || (same_for_all && entry.vnodes->is_same_for_all(entry.vnode));
    const InodeId id = refer(sought.parent, sought.name, own_name, entry, attributes, is_new);
    const InodePtr inode = inodes_->find(id);
    if (!attributes.size_is_known) inode->is_size_unreported = true;
    tell_size(inode, attributes, Found{id, attributes}, std::move(done));
  };
  auto ask = [this, sizes = sought.sizes](const Entry& own, Reply<Attributes> done) {
    if (sizes == Sizes::soon) return attributes_within(timers(), own, std::move(done));
    own.vnodes->attributes(own.vnode, std::move(done));
  };
  Reply<Attributes> finish = value_for<Attributes>(std::move(reply), std::move(next));
  admitted(entry, Access::status, sought.by, value_for<Entry>(std::move(finish), std::move(ask)));
}

// The last byte of a file of that size.
void FileSystem::last_byte(const InodePtr& inode, std::uint64_t size, Reply<std::byte> reply) {
  const Entry entry = inodes_->entry(*inode);
  auto read = [entry, size](OpenedContent opened, Reply<std::byte> done) {
    auto tell = [content = opened.content](const Slices& slices, Reply<std::byte> answer) {
      if (slices.size() != 1) return answer(fail(ErrorKind::stale, "the file has become smaller"));
      std::byte last{};
      copy_slices(slices, &last);
      answer(last);
    };
    opened.content->read(size - 1, 1, value_for<Slices>(std::move(done), std::move(tell)));
  };
  entry.vnodes->open(entry.vnode, value_for<OpenedContent>(std::move(reply), std::move(read)));
}

// From attributes the kernel takes a new size before it drops the last page, behind whose end it has zeros: another
// reader gets these in between. So a larger size is given by KernelNotices::grow_pages first.
template <class T>
void FileSystem::tell_size(const InodePtr& inode, const Attributes& attributes, T answer, Reply<T> reply) {
  if (may_tell_at_once(*inode, attributes)) return reply(std::move(answer));
  const std::uint64_t now = attributes.size;
  auto done = std::make_shared<Reply<T>>(std::move(reply));
  auto tell = [inode, now, done, answer = std::move(answer)] {
    inode->reported_size = now;
    (*done)(answer);
  };
  auto grow = [this, inode, now, tell](Result<std::byte> last) {
    if (!last) return tell();
    const auto job = [this, inode, now, last = *last, tell] {
      kernel_.grow_pages(inode->id, inode->reported_size, now, last);
      tell();
    };
    if (!cache_->exec().serial_queues.run(inode.get(), job)) tell();
  };
  last_byte(inode, now, Reply<std::byte>(std::move(grow)));
}

// Notes the size as told if it may be.
bool FileSystem::may_tell_at_once(Inode& inode, const Attributes& attributes) const {
  if (!S_ISREG(attributes.mode) || !attributes.size_is_known) return true;
  if (kernel_.grow_pages && inode.may_have_pages && inode.reported_size < attributes.size) return false;
  inode.reported_size = attributes.size;
  return true;
}

void FileSystem::note_size_reported(InodeId id) {
  if (const InodePtr inode = inodes_->find(id)) inode->is_size_unreported = false;
}

GenerationPtr FileSystem::generation_of(Inode& directory) {
  if (GenerationPtr generation = inodes_->entry(directory).vnodes->latest_generation()) return generation;
  const DirectoryPtr kept = inodes_->kept(directory);
  return kept ? kept->generation() : nullptr;
}

void FileSystem::forget(InodeId id, std::uint64_t times) { inodes_->forget(id, times); }

std::shared_ptr<const Vnodes> FileSystem::open_vnodes(HandleId handle) const {
  const auto file = handle != 0 ? files_.find(handle) : nullptr;
  return file ? file->content.own : nullptr;
}

namespace {

Reply<Entry> attributes_of(Reply<Attributes> reply) {
  auto ask = [](Entry entry, Reply<Attributes> done) mutable {
    const std::shared_ptr<const Vnodes> vnodes = entry.vnodes;
    vnodes->attributes(entry.vnode, std::move(done));
  };
  return value_for<Entry>(std::move(reply), std::move(ask));
}

}  // namespace

namespace {
bool is_remote(const Generation& generation) {
  return generation.source->traits().starts_reads && !generation.source->is_stale();
}
}  // namespace

void FileSystem::getattr(InodeId id, Reply<Attributes> reply, const CallerPtr& by, HandleId open) {
  InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  auto tell_kernel = [this, inode, of = inodes_->entry(*inode).vnodes->latest_generation()](
                         Result<Attributes> attributes, Reply<Attributes> answer) {
    if (!attributes) return tell(inode, of, attributes.error(), std::move(answer));
    attributes->number = inode->number;
    tell_size(inode, *attributes, *attributes, std::move(answer));
  };
  Reply<Attributes> done = on_behalf_of<Attributes>(std::move(reply), std::move(tell_kernel));
  if (const auto vnodes = open_vnodes(open)) return vnodes->attributes({}, std::move(done));
  // For a file that was removed or moved while open, the open file is asked. A file that a commit has replaced keeps
  // its attributes from when it was opened: the kernel asks for the size when a reader comes to the end, and does not
  // tell the handle of an fstat(2).
  const CallerPtr caller = open != 0 ? nullptr : by;
  const Entry seen = inodes_->entry(*inode);
  if (const GenerationPtr generation = seen.vnodes->generation(); open != 0 && generation && is_remote(*generation)) {
    // The kernel asks before it reads. What is in the cache does not wait for a server: a change that the look finds is
    // told by the next read.
    generation->owner->current(Freshness::recent, Reply<GenerationPtr>([](const Result<GenerationPtr>&) {}));
    return admitted(seen, Access::status, caller, attributes_of(std::move(done)));
  }
  auto ask_open = [this, inode, caller](Result<Attributes> attributes, Reply<Attributes> answer) {
    if (!attributes && attributes.error().kind == ErrorKind::not_found) attributes = source_changed();
    if (attributes || attributes.error().kind != ErrorKind::stale) return answer(std::move(attributes));
    if (const auto vnodes = files_.own_of(*inode)) return vnodes->attributes({}, std::move(answer));
    const Entry as_opened = inodes_->entry(*inode);
    const GenerationPtr generation = as_opened.vnodes->generation();
    const bool is_readable = generation && !generation->source->is_stale() && files_.is_open(*inode);
    if (!is_readable) return answer(std::move(attributes));
    admitted(as_opened, Access::status, caller, attributes_of(std::move(answer)));
  };
  Reply<Attributes> found = on_behalf_of<Attributes>(std::move(done), std::move(ask_open));
  entry_for(inode, Access::status, caller, attributes_of(std::move(found)));
}

void FileSystem::readlink(InodeId id, Reply<std::string> reply, const CallerPtr& by) {
  const InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  admitted(inodes_->entry(*inode), Access::status, by,
           value_for<Entry>(std::move(reply), [](Entry entry, Reply<std::string> done) mutable {
             entry.vnodes->read_link(entry.vnode, std::move(done));
           }));
}

// ---- files

void FileSystem::open(InodeId id, Reply<Opened> reply, const CallerPtr& by, pid_t thread) {
  open_content(id, {Access::read, &Vnodes::open, true}, by, thread, std::move(reply));
}
void FileSystem::open_to_write(InodeId id, Reply<Opened> reply, const CallerPtr& by, pid_t thread) {
  open_content(id, {Access::write, &Vnodes::open_to_write, true}, by, thread, std::move(reply));
}
void FileSystem::open_only_to_write(InodeId id, Reply<Opened> reply, const CallerPtr& by, pid_t thread) {
  open_content(id, {Access::write, &Vnodes::open_only_to_write, false}, by, thread, std::move(reply));
}

// The current entry; or, if this is the kernel's second try of one call, the entry that it has just looked up.
void FileSystem::entry_to_open(const InodePtr& inode, bool comes_back, Reply<Entry> reply) {
  Entry entry = inodes_->entry(*inode);
  // A staged file has one state only.
  if (entry.vnodes->generation() && comes_back) return reply(std::move(entry));
  fresh_entry(inode, Freshness::now, std::move(reply));
}

void FileSystem::open_content(InodeId id, How how, const CallerPtr& by, pid_t thread, Reply<Opened> reply) {
  InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  const GenerationPtr found = inodes_->entry(*inode).vnodes->generation();
  const bool comes_back = retries_.take(thread, inode->number, found ? found->serial : 0);
  auto expect = [this, inode, thread](const Result<Opened>& opened) {
    if (opened || opened.error().kind != ErrorKind::stale) return;
    const GenerationPtr of = inodes_->entry(*inode).vnodes->latest_generation();
    const GenerationPtr now = of ? of->owner->known() : nullptr;
    retries_.expect(thread, inode->number, now ? now->serial : 0);
  };
  auto open = [this, inode, how, comes_back](const Entry& entry, Reply<Opened> done) {
    const std::shared_ptr<const Vnodes> vnodes = entry.vnodes;
    auto finish = [this, inode, comes_back, may_read = how.may_read, of = vnodes->generation()](
                      Result<OpenedContent> opened, Reply<Opened> answer) {
      if (!opened) return tell(inode, of, opened.error(), std::move(answer));
      if (inode->is_size_unreported && !comes_back)
        return answer(fail(ErrorKind::stale, "opened before its size was reported; the kernel retries"));
      finish_open(inode, *std::move(opened), may_read, std::move(answer));
    };
    ((*vnodes).*how.function)(entry.vnode, on_behalf_of<OpenedContent>(std::move(done), std::move(finish)));
  };
  auto note_failed = [this, inode](const Result<Entry>& entry) {
    if (!entry) note(*inode, "", entry.error());
  };
  Reply<Entry> admit = value_for<Entry>(seen_by(std::move(reply), std::move(expect)), std::move(open));
  entry_to_open(inode, comes_back, admitted_for(how.access, by, seen_by(std::move(admit), std::move(note_failed))));
}

template <class T>
void FileSystem::tell(const InodePtr& inode, const GenerationPtr& generation, const Error& error, Reply<T> reply) {
  const GenerationPtr of = generation ? generation : inodes_->entry(*inode).vnodes->latest_generation();
  auto answer = [this, inode](const Result<void>& judged, Reply<T> done) {
    note(*inode, "", judged.error());
    done(tl::unexpected<Error>(judged.error()));
  };
  judge(of, error, on_behalf_of<void>(std::move(reply), std::move(answer)));
}

void FileSystem::finish_open(const InodePtr& inode, OpenedContent content, bool may_read, Reply<Opened> reply) {
  if (content.identity != 0) inodes_->adopt(inode, content.identity);
  Opened opened;
  opened.direct = !content.cacheable;
  opened.grows = content.grows;
  opened.shared = context_.writing && host_file_of(*content.content);
  if (content.cacheable && !opened.shared) {
    if (may_read) inode->may_have_pages = true;
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // odd: different builds have different products
    const std::uint64_t version =
        (content.generation ? content.generation->serial : content.version) + content.content->build_id() * kSpread;
    const std::uint64_t before = inodes_->exchange_version(*inode, version);
    opened.changed = before != 0 && before != version;
    opened.keep_cache = !opened.changed;
  }
  OpenFile file;
  file.inode = inode;
  file.content = std::move(content);
  opened.handle = files_.add(std::move(file));
  reply(opened);
}

void FileSystem::read(HandleId handle, std::uint64_t offset, std::size_t size, Reply<Slices> reply) {
  std::shared_ptr<const OpenFile> file = files_.find(handle);
  if (!file || !file->content.content) return reply(bad_handle());
  const GenerationPtr& generation = file->content.generation;
  if (generation && generation->source->is_stale()) return reply(source_changed());
  if (auto late = timed_out_reads_.find(handle, offset, size)) return reply(tl::unexpected(*std::move(late)));
  Content& content = *file->content.content;
  auto finish = [this, handle, offset, size, file = std::move(file)](Result<Slices> slices, Reply<Slices> done) {
    if (slices) return done(std::move(slices));
    if (slices.error().kind == ErrorKind::timed_out) timed_out_reads_.note(handle, offset, size, slices.error());
    tell(file->inode, file->content.generation, slices.error(), std::move(done));
  };
  content.read(offset, size, on_behalf_of<Slices>(std::move(reply), std::move(finish)));
}

void FileSystem::release(HandleId handle) {
  last_request_.store(Clock::now(), std::memory_order_relaxed);
  files_.remove(handle);
  locks_.release(handle);
  page_copies_.release(handle);
  timed_out_reads_.forget(handle);
}

FileSystem::OpenBytes FileSystem::bytes_of(HandleId handle) const {
  const std::shared_ptr<const OpenFile> file = files_.find(handle);
  if (!file || !file->content.content) return {};
  const OpenedContent& opened = file->content;
  return {opened.content->size(), opened.content->build_id(), opened.cacheable && !opened.grows};
}

// ---- directories

void FileSystem::opendir(InodeId id, Reply<HandleId> reply, const CallerPtr& by) {
  const InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  auto list = [this, inode, by](Reply<HandleId> opened) {
    auto add = [this](OpenFile open) { return files_.add(std::move(open)); };
    list_directory(inode, by, answer_with<OpenFile>(std::move(opened), std::move(add)));
  };
  with_retries(inode, "", kTries, std::move(list), std::move(reply));
}

void FileSystem::list_directory(const InodePtr& inode, const CallerPtr& by, Reply<OpenFile> reply) {
  using ListingPtr = std::shared_ptr<const Listing>;
  auto list = value_for<DirectoryPtr>(std::move(reply), [inode](DirectoryPtr directory, Reply<OpenFile> done) {
    const Directory& listed = *directory;
    auto take = [inode, directory = std::move(directory)](ListingPtr listing, Reply<OpenFile> opened) {
      OpenFile open;
      open.inode = inode;
      open.directory = directory;
      open.listing = std::move(listing);
      opened(std::move(open));
    };
    listed.list(value_for<ListingPtr>(std::move(done), std::move(take)));
  });
  directory_of(inode, Freshness::now, admitted_for(Access::read, by, std::move(list)));
}

void FileSystem::readdir(HandleId handle, std::uint64_t offset, bool full, std::shared_ptr<DirectorySink> sink,
                         Reply<void> reply) {
  const auto open = files_.find(handle);
  if (!open || !open->listing) return reply(bad_handle());
  if (offset != 0 || !open->listing_used) {
    if (!open->listing_used) {
      OpenFile used = *open;
      used.listing_used = true;
      files_.replace(handle, std::move(used));
    }
    fill(*open, offset, full, *sink);
    return reply({});
  }
  // rewinddir(3): as if opened again.
  const Directory& directory = *open->directory;
  auto take = [this, handle, open, full, sink = std::move(sink)](std::shared_ptr<const Listing> listing,
                                                                 Reply<void> done) {
    OpenFile again = *open;
    again.listing = std::move(listing);
    fill(again, 0, full, *sink);
    files_.replace(handle, std::move(again));
    done({});
  };
  directory.list(value_for<std::shared_ptr<const Listing>>(std::move(reply), std::move(take)));
}

// Offset 0 is ".", 1 is "..", and 2 + i is name i of the listing. The mount's root has one more, ".tfilefs".
void FileSystem::fill(const OpenFile& open, std::uint64_t offset, bool full, DirectorySink& sink) {
  const Inode& self = *open.inode;
  Attributes dots;
  dots.mode = S_IFDIR;
  dots.number = self.number;
  if (offset == 0 && !sink.add(".", 0, dots, 1)) return;
  if (self.parent) dots.number = self.parent->number;
  if (offset <= 1 && !sink.add("..", 0, dots, 2)) return;
  Listing::Item item;
  const std::size_t count = open.listing->size();
  for (std::uint64_t i = offset < 2 ? 0 : offset - 2; i < count; ++i) {
    open.listing->item(i, item);
    if (!fill_child(open, item, i + 3, full, sink)) return;
  }
  if (self.id != kRootId || !context_.views_listed || offset > count + 2) return;
  item = {std::string(kControlName), S_IFDIR, control_};
  fill_child(open, item, count + 3, full, sink);
}

bool FileSystem::fill_child(const OpenFile& open, Listing::Item& item, std::uint64_t next, bool full,
                            DirectorySink& sink) {
  std::optional<Attributes> attributes;
  const bool told =
      full && item.entry.vnodes && (!context_.is_shared || item.entry.vnodes->is_same_for_all(item.entry.vnode));
  if (told) attributes = item.entry.vnodes->known_attributes(item.entry.vnode);
  const InodeId id = attributes ? refer(open.inode, item.name, item.name, item.entry, *attributes) : 0;
  // An inode whose pages must be forgotten first is left to a look-up.
  if (id != 0 && may_tell_at_once(*inodes_->find(id), *attributes)) {
    if (sink.add(item.name, id, *attributes, next)) return true;
    inodes_->forget(id, 1);
    return false;
  }
  if (id != 0) inodes_->forget(id, 1);
  Attributes brief;
  brief.number = inodes_->number_of(*open.inode, item.name);
  brief.mode = item.type;
  return sink.add(item.name, 0, brief, next);
}

// ---- extended attributes, size

void FileSystem::entry_of(InodeId id, const CallerPtr& by, Reply<Entry> reply) {
  InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  entry_for(inode, Access::status, by, std::move(reply));
}

void FileSystem::all_xattrs(InodeId id, Reply<Xattrs> reply, const CallerPtr& by) {
  auto ask = [](const Entry& entry, Reply<Xattrs> done) {
    auto add = [entry](Xattrs listed, Reply<Xattrs> whole) {
      auto join = [listed = std::move(listed)](const Xattrs& more) mutable {
        listed.insert(listed.end(), more.begin(), more.end());
        return std::move(listed);
      };
      entry.vnodes->more_xattrs(entry.vnode, answer_with<Xattrs>(std::move(whole), std::move(join)));
    };
    entry.vnodes->xattrs(entry.vnode, value_for<Xattrs>(std::move(done), std::move(add)));
  };
  entry_of(id, by, value_for<Entry>(std::move(reply), std::move(ask)));
}

void FileSystem::getxattr(InodeId id, std::string_view name, Reply<std::string> reply, const CallerPtr& by) {
  // ENOTSUP instead of "no such attribute" makes ls ask once per mount instead of once per file.
  if (!name.starts_with("user.")) return reply(unsupported_attribute());
  auto ask = [name = std::string(name)](const Entry& entry, Reply<std::string> done) {
    auto look = [name, entry](const Xattrs& listed, Reply<std::string> answer) {
      auto found = xattr_value(listed, name);
      if (found || !name.starts_with("user.tfilefs.")) return answer(std::move(found));
      auto find = [name](const Xattrs& more) { return xattr_value(more, name); };
      entry.vnodes->more_xattrs(entry.vnode, answer_with<Xattrs>(std::move(answer), std::move(find)));
    };
    entry.vnodes->xattrs(entry.vnode, value_for<Xattrs>(std::move(done), std::move(look)));
  };
  entry_of(id, by, value_for<Entry>(std::move(reply), std::move(ask)));
}

void FileSystem::listed_xattrs(InodeId id, Reply<Xattrs> reply, const CallerPtr& by) {
  auto ask = [](const Entry& entry, Reply<Xattrs> done) { entry.vnodes->xattrs(entry.vnode, std::move(done)); };
  entry_of(id, by, value_for<Entry>(std::move(reply), std::move(ask)));
}

void FileSystem::listxattr(InodeId id, Reply<std::string> reply, const CallerPtr& by) {
  listed_xattrs(id, answer_with<Xattrs>(std::move(reply), xattr_names), by);
}

// The space of the source's file system. On a mount that is not writable none of it is free.
void FileSystem::statfs(Reply<struct statvfs> reply) {
  auto job = [ source = space_of_, writes = writing_ != nullptr ]() -> Result<struct statvfs> {
    struct statvfs space {};
    if (!source || ::fstatvfs(source->get(), &space) != 0) space.f_bsize = space.f_frsize = 4096;
    if (!writes) space.f_bfree = space.f_bavail = space.f_ffree = space.f_favail = 0;
    space.f_namemax = NAME_MAX;
    return space;
  };
  answer_blocking(*cache_, std::move(job), std::move(reply));
}

std::string FileSystem::stats_json() const {
  const CacheReport cache = cache_->report(true);
  return stats_text(cache, report(cache));
}

std::string FileSystem::reads_json() const {
  return reads_text(context_.reads->report(), cache_->report(false).reading.total());
}

std::string FileSystem::metrics() const {
  const CacheReport cache = cache_->report(false);
  return metrics_text(names_, cache, report(cache), own_process());
}

void FileSystem::begin_metrics_file() {
  if (metrics_file_.empty()) return;
  metrics_writer_ = std::make_unique<MetricsWriter>(
      metrics_file_, [this] { return metrics(); }, errors_);
}

std::vector<GenerationPtr> FileSystem::remote_files() const {
  if (remote_tree_) return remote_tree_->open_files();
  const GenerationPtr now = remote_file_ ? remote_file_->known() : nullptr;
  return now ? std::vector{now} : std::vector<GenerationPtr>{};
}

MountReport FileSystem::report(const CacheReport& cache) const {
  // An inode with its name, its place in the table, and its entry.
  constexpr std::uint64_t kInodeMemory = sizeof(Inode) + 128;
  // Lists tell nothing of the line to the server.
  constexpr tfile::SourceTraits kNoLine{.bytes_per_second = 0};
  MountReport report;
  report.metadata = {{"files", context_.files_memory},
                     {"tables", cache.reading.memory.sets},
                     {"directories", context_.directories_memory},
                     {"extents", cache.reading.memory.extents},
                     {"counts", cache.reading.memory.counts},
                     {"inodes", inodes_->size() * kInodeMemory}};
  if (remote_tree_)
    report.sources.push_back({tfile::shown_name(remote_tree_->url_of("")), remote_tree_->counts(), kNoLine});
  for (const GenerationPtr& now : remote_files()) {
    const tfile::Source& source = *now->source;
    report.sources.push_back({source.name(), source.counts(), source.traits()});
  }
  report.inodes = inodes_->size();
  report.handles = files_.size();
  report.errors = errors_.count();
  report.requests = request_times_.report();
  report.uptime_seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  return report;
}

// ---- without a kernel

Result<FileSystem::Found> FileSystem::find_path(std::string_view path) {
  TRY(const Attributes attributes, waited<Attributes>([&](auto reply) { getattr(kRootId, std::move(reply)); }));
  Found at{kRootId, attributes};
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
    if (name.empty()) continue;
    TRY(at, waited<Found>([&](auto reply) { lookup(at.id, name, std::move(reply)); }));
  }
  return at;
}

}  // namespace tfilefs
