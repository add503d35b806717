// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "on_behalf.h"
#include "vfs/chain/live_table.h"
#include "vfs/nodes/column_vnodes.h"
#include "vfs/nodes/node_directory.h"
#include "vfs/nodes/shaped_table.h"

namespace tfilefs {
namespace {

using tfile::NodeId;
using DirectoryPtr = std::shared_ptr<const Directory>;

// The names that lead to a node.
bool names_to(const tfile::Table& table, NodeId from, NodeId to, std::vector<std::string>& names) {
  if (from == to) return true;
  for (const NodeId child : table.nodes[from].children) {
    names.push_back(table.nodes[child].name);
    if (names_to(table, child, to, names)) return true;
    names.pop_back();
  }
  return false;
}

std::optional<NodeId> node_at(const tfile::Table& table, const std::vector<std::string>& names) {
  NodeId at = 0;
  for (const std::string& name : names) {
    const auto& children = table.nodes[at].children;
    const auto child = std::ranges::find_if(children, [&](NodeId id) { return table.nodes[id].name == name; });
    if (child == children.end()) return std::nullopt;
    at = *child;
  }
  return at;
}

tl::unexpected<Error> changed() { return tfile::fail(ErrorKind::stale, "the table has changed since it was opened"); }

// The state of a table that is made of another one.
TableStatePtr state_made_of(const TableState& of, std::shared_ptr<const LoadedTable> made) {
  return of.made.get(made, [&]() -> TableStatePtr {
    auto state = std::make_shared<TableState>();
    state->serial = next_state();
    state->from = of.from;
    state->xattrs = of.xattrs;
    state->friends_in_expressions = of.friends_in_expressions;
    if (made->chosen_by() == of.loaded->chosen_by()) {
      state->hidden = of.hidden;
      state->friends = of.friends;
    }
    state->loaded = std::move(made);
    return state;
  });
}

// The entries that an expression chooses of such a table.
class ChosenTable final : public LiveTable, public std::enable_shared_from_this<ChosenTable> {
 public:
  ChosenTable(ErrorLog& errors, std::shared_ptr<const LiveTable> of, std::string expression)
      : errors_(errors), of_(std::move(of)), expression_(std::move(expression)) {}

  void current(Freshness freshness, Reply<TableStatePtr> reply) const override {
    using LoadedPtr = std::shared_ptr<const LoadedTable>;
    auto choose = [self = shared_from_this()](TableStatePtr of, Reply<TableStatePtr> done) {
      const LoadedTable& table = *of->loaded;
      const FriendsPtr friends = of->friends_in_expressions;
      auto show = [of = std::move(of)](LoadedPtr entries) { return state_made_of(*of, std::move(entries)); };
      table.chosen(self->expression_, friends, self->errors_, answer_with<LoadedPtr>(std::move(done), std::move(show)));
    };
    of_->current(freshness, value_for<TableStatePtr>(std::move(reply), std::move(choose)));
  }

 private:
  ErrorLog& errors_;
  const std::shared_ptr<const LiveTable> of_;
  const std::string expression_;
};

// The columns that a table lists, or those that are found by name alone.
enum class Columns : std::uint8_t { listed, hidden };

class LiveTableVnodes final : public ColumnVnodes {
 public:
  LiveTableVnodes(MountContext& context, std::shared_ptr<const LiveTable> live, TableStatePtr state, Columns which)
      : ColumnVnodes(context, which == Columns::listed ? state->loaded : state->hidden, state->from),
        live_(std::move(live)),
        state_(std::move(state)),
        which_(which) {}

  bool is_remote() const override { return false; }
  bool is_same_for_all(VnodeId) const override { return false; }
  std::uint64_t file_identity() const override { return state_->serial << 1 | 1; }
  std::shared_ptr<const ShownFriends> friends() const override {
    return which_ == Columns::listed ? state_->friends : nullptr;
  }
  std::shared_ptr<const ShownFriends> friends_in_expressions() const override {
    return which_ == Columns::listed ? state_->friends_in_expressions : nullptr;
  }

  void enter(VnodeId vnode, Freshness freshness, Reply<DirectoryPtr> reply) const override {
    auto next = [self = own(), vnode, freshness](TableStatePtr now, Reply<DirectoryPtr> done) mutable {
      self->enter_in(now, vnode, freshness, std::move(done));
    };
    live_->current(freshness, value_for<TableStatePtr>(std::move(reply), std::move(next)));
  }

  void find_chosen(const std::string& expression, ViewKind shown_as, Reply<FoundEntry> reply) const override {
    auto chosen = std::make_shared<const ChosenTable>(context().errors, live_, expression);
    auto show = [&context = context(), chosen, shown_as](TableStatePtr state) {
      return FoundEntry{{make_live_table(context, chosen, std::move(state)), {0, shown_as}}, {}, false};
    };
    chosen->current(Freshness::recent, answer_with<TableStatePtr>(std::move(reply), std::move(show)));
  }

  void open(VnodeId vnode, Reply<OpenedContent> reply) const override {
    auto next = [self = own(), vnode](TableStatePtr now, Reply<OpenedContent> done) mutable {
      if (now != self->state_) return done(changed());
      self->ColumnVnodes::open(vnode, std::move(done));
    };
    live_->current(Freshness::now, value_for<TableStatePtr>(std::move(reply), std::move(next)));
  }

 private:
  std::shared_ptr<const LiveTableVnodes> own() const {
    return std::static_pointer_cast<const LiveTableVnodes>(shared_from_this());
  }

  void enter_in(const TableStatePtr& now, VnodeId vnode, Freshness freshness, Reply<DirectoryPtr> reply) const;

  OpenedContent opened(std::shared_ptr<Content> content) const override {
    OpenedContent opened;
    opened.content = std::move(content);
    opened.version = state_->serial << 1 | 1;
    return opened;
  }
  std::shared_ptr<const ColumnVnodes> below(std::shared_ptr<const LoadedTable>) const override { return self(); }
  Xattrs table_xattrs() const override { return state_->xattrs; }

  const std::shared_ptr<const LiveTable> live_;
  const TableStatePtr state_;
  const Columns which_;
};

// The directory of the table itself.
class LiveTableDirectory final : public Directory {
 public:
  LiveTableDirectory(DirectoryPtr own, DirectoryPtr hidden, const tfile::Table& of_hidden)
      : own_(std::move(own)), hidden_(std::move(hidden)) {
    for (const tfile::Column& column : of_hidden.columns)
      stems_.push_back(column.name.substr(0, column.name.rfind('.')));
  }
  // No node of a table has a name that begins with a dot. Behind the name of a column may be its type, or a view.
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    const bool is_hidden = std::ranges::any_of(stems_, [&](const std::string& stem) {
      return name.starts_with(stem) && (name.size() == stem.size() || name[stem.size()] == '.');
    });
    (is_hidden ? hidden_ : own_)->find(name, std::move(reply));
  }
  void list(Reply<std::shared_ptr<const Listing>> reply) const override { own_->list(std::move(reply)); }

 private:
  const DirectoryPtr own_, hidden_;
  std::vector<std::string> stems_;  // of the hidden columns: names without a type
};

void LiveTableVnodes::enter_in(const TableStatePtr& now, VnodeId vnode, Freshness freshness,
                               Reply<DirectoryPtr> reply) const {
  auto vnodes = own();
  if (now != state_) {
    std::vector<std::string> names;
    names_to(this->table(), 0, vnode.index, names);
    const auto& of = which_ == Columns::listed ? now->loaded : now->hidden;
    const auto node = of ? node_at(of->table(), names) : std::nullopt;
    if (!node) return reply(changed());
    vnodes = std::make_shared<const LiveTableVnodes>(context(), live_, now, which_);
    vnode.index = *node;
  }
  if (vnode.shown_as != ViewKind::itself || vnodes->node(vnode).column)
    return vnodes->ColumnVnodes::enter(vnode, freshness, std::move(reply));
  reply(now->entered.get({which_ == Columns::hidden, vnode.index}, [&]() -> DirectoryPtr {
    DirectoryPtr own = make_node_directory(vnodes, vnode.index);
    if (vnode.index != 0 || !now->hidden) return own;
    auto hidden =
        make_node_directory(std::make_shared<const LiveTableVnodes>(context(), live_, now, Columns::hidden), 0);
    return std::make_shared<const LiveTableDirectory>(std::move(own), std::move(hidden), now->hidden->table());
  }));
}

}  // namespace

std::uint64_t next_state() {
  static std::atomic<std::uint64_t> made = 0;
  return ++made;
}

void shape_state(MountContext& context, TableStatePtr of, const std::string& path, Reply<TableStatePtr> reply) {
  using LoadedPtr = std::shared_ptr<const LoadedTable>;
  auto show = [of](LoadedPtr shaped) { return shaped == of->loaded ? of : state_made_of(*of, std::move(shaped)); };
  shape_table(
      context, of->loaded, path, [of]() -> FriendsPtr { return of->friends; },
      answer_with<LoadedPtr>(std::move(reply), std::move(show)));
}

std::shared_ptr<const Vnodes> make_live_table(MountContext& context, std::shared_ptr<const LiveTable> live,
                                              TableStatePtr state) {
  return std::make_shared<const LiveTableVnodes>(context, std::move(live), std::move(state), Columns::listed);
}

}  // namespace tfilefs
