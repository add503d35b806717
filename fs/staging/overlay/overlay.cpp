// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/overlay.h"

#include <algorithm>
#include <utility>

#include "staging/overlay/staged_arrow.h"
#include "wall_clock.h"

namespace tfilefs {

Overlay::Overlay(std::string file_path_, ErrorLog& errors_, SteadyClock& clock_, std::optional<FilePlace::Owner> owner_,
                 tfile::TableFormat format_)
    : file_path(std::move(file_path_)),
      errors(errors_),
      clock(clock_),
      format(format_),
      root(std::make_shared<StagedNode>(0, true, "", nullptr)) {
  state_.there = owner_.has_value();
  state_.file_owner = owner_.value_or(process_owner());
  root->attributes.modified = wall_clock();
  root->format = format;
}

// ---- of the file

FilePlace::Owner Overlay::owner() const {
  const Lock lock(mutex_);
  return state_.file_owner;
}

bool Overlay::is_there() const {
  const Lock lock(mutex_);
  return state_.there;
}

bool Overlay::has_pending() const {
  const Lock lock(mutex_);
  return has_changes(*root);
}

bool Overlay::is_wanted() const {
  const Lock lock(mutex_);
  return state_.there || state_.made_by_name;
}

bool Overlay::is_forgotten() const {
  const Lock lock(mutex_);
  return state_.forgotten;
}

std::uint64_t Overlay::commits() const {
  const Lock lock(mutex_);
  return state_.settled_commits;
}

void Overlay::note_there() {
  const Lock lock(mutex_);
  state_.there = true;
}

// ---- names

StagedLook Overlay::look(const StagedNode& directory, std::string_view name) const {
  const Lock lock(mutex_);
  return tfilefs::look(directory, name);
}

Overlay::Listing Overlay::list(const StagedNode& directory) const {
  const Lock lock(mutex_);
  Listing listing;
  listing.whiteouts = directory.whiteouts;
  listing.whiteouts.insert(directory.set_aside.begin(), directory.set_aside.end());
  for (const auto& [name, node] : directory.children)
    listing.staged.push_back({name, node->base_name, node->directory, node});
  return listing;
}

std::optional<std::vector<std::string>> Overlay::committed_path(const StagedNode& directory) const {
  const Lock lock(mutex_);
  return tfilefs::committed_path(directory);
}

std::string Overlay::path(const StagedNode& node) const {
  const Lock lock(mutex_);
  const std::string below = staged_path(node);
  return file_path.empty() ? below : below.empty() ? file_path : file_path + "/" + below;
}

StagedPlace Overlay::place_of(const StagedNode& node) const {
  const Lock lock(mutex_);
  return {node.parent.lock(), node.name};
}

StagedPlace Overlay::committed_place_of(const StagedNode& node) const {
  const Lock lock(mutex_);
  return {node.base_name.empty() ? nullptr : node.parent.lock(), node.base_name};
}

bool Overlay::has_room(const StagedNode& in, std::string_view name, const StagedNode* moved) const {
  const Lock lock(mutex_);
  return fits(in, name, moved);
}

NodePtr Overlay::stand_over(const NodePtr& directory, std::string_view name, CommittedKind kind) {
  const Lock lock(mutex_);
  NodePtr& node = directory->children[std::string(name)];
  if (!node) node = std::make_shared<StagedNode>(0, true, std::string(name), directory);
  if (node->base_name.empty()) node->base_name = name;
  node->note_committed(kind);
  return node;
}

void Overlay::leave(const NodePtr& node) {
  constexpr long kTheirs = 2;  // one of the caller, one of the directory
  const Lock lock(mutex_);
  const bool is_used = node.use_count() > kTheirs || !node->children.empty() || !node->set_aside.empty();
  if (node->id == 0 && node->directory && !is_used && !has_changes(*node)) detach(node);
}

NodePtr Overlay::new_node(const NodePtr& in, std::string_view name, bool directory, mode_t mode) {
  const Lock lock(mutex_);
  auto node = std::make_shared<StagedNode>(++state_.last_id, directory, std::string(name), in);
  node->attributes.mode = mode & 07777;
  node->attributes.modified = wall_clock();
  node->format = format;
  return node;
}

// ---- attributes

Overlay::Status Overlay::status(const StagedNode& node) const {
  const Lock lock(mutex_);
  Status status{node.attributes,
                node.bytes ? node.bytes->size() : 0,
                node.base,
                !node.children.empty(),
                !node.base_name.empty(),
                node.is_object,
                node.is_fixed_table};
  return status;
}

void Overlay::set_attributes(StagedNode& node, const std::function<void(StagedAttributes&)>& change) {
  const Lock lock(mutex_);
  change(node.attributes);
}

bool Overlay::is_settled(const StagedNode& node) const {
  const Lock lock(mutex_);
  return node.settled;
}

bool Overlay::continues_committed(const StagedNode& node) const {
  const Lock lock(mutex_);
  return node.continues;
}

std::string Overlay::base_name_of(const StagedNode& node) const {
  const Lock lock(mutex_);
  return node.base_name;
}

bool is_being_committed(const NodePtr& node) { return node && node->bytes && node->bytes->is_frozen(); }

bool Overlay::waits_for_commit(const StagedNode& in, std::string_view name) const {
  const StagedLook at = look(in, name);
  return at.what == StagedLook::What::directory || arrow_table_name(name) || is_being_committed(at.node) ||
         is_in_committing_field(in);
}

namespace {

bool holds_committing(const StagedNode& node) {
  if (!node.directory) return node.bytes->is_frozen();
  return std::ranges::any_of(node.children, [](const auto& child) { return holds_committing(*child.second); });
}

}  // namespace

bool Overlay::is_in_committing_field(const StagedNode& directory) const {
  const Lock lock(mutex_);
  const auto table = table_above(directory);
  if (!table) return false;
  const NodePtr field = node_at(table->first, std::string_view(table->second).substr(0, table->second.find('/')));
  return field && holds_committing(*field);
}

// ---- handles that are open for writing

bool Overlay::opened(StagedNode& node, bool to_write) {
  const Lock lock(mutex_);
  if (node.gone || node.settled) return false;
  if (to_write) {
    if (!state_.ending) ++node.writers;
    state_.last_change = clock.now();
  }
  return true;
}

void Overlay::closed(StagedNode& node) {
  {
    const Lock lock(mutex_);
    if (!state_.ending) --node.writers;
    state_.last_change = clock.now();
  }
  changed.notify_all();
}

bool Overlay::end(const Locked& lock) {
  if (std::exchange(lock->ending, true)) return false;
  forget_writers(*root);
  return true;
}

void Overlay::written(StagedNode& node, std::uint64_t offset) {
  const Lock lock(mutex_);
  ++node.changes;
  node.offsets.cut(offset);
  node.lowest_change = std::min(node.lowest_change, offset);
  const auto at = clock.now();
  if (node.first_write == SteadyClock::Time{}) node.first_write = at;
  node.last_write = state_.last_change = at;
  node.flushed = false;
  node.attributes.modified = wall_clock();
  node.attributes.time_was_set = false;
}

void Overlay::flushed(StagedNode& node) {
  const Lock lock(mutex_);
  node.flushed = true;
}

bool Overlay::is_open_to_write(const StagedNode& node) const {
  const Lock lock(mutex_);
  return node.writers > 0;
}

std::optional<Error> Overlay::take_error(StagedNode& node) {
  const Lock lock(mutex_);
  return std::exchange(node.error, std::nullopt);
}

}  // namespace tfilefs
