// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "vfs/chain_directory.h"
#include "vfs/node_holder.h"
#include "vfs/table_directory.h"

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

tl::unexpected<Error> changed() { return tfile::fail(ErrorKind::stale, "the chain has changed since it was opened"); }

// The columns of the table, or those that say where its entries come from.
enum class Columns : std::uint8_t { own, origins };

class ChainTableHolder final : public NodeHolder {
 public:
  ChainTableHolder(std::shared_ptr<Chain> chain, ChainStatePtr state, const ChainedTable& table, Columns which)
      : NodeHolder(chain->context(), which == Columns::own ? table.loaded : table.origins, state->from),
        chain_(std::move(chain)),
        state_(std::move(state)),
        path_(table.path),
        which_(which) {}

  bool is_far() const override { return false; }
  bool is_same_for_all(HeldItem) const override { return false; }
  std::uint64_t file_identity() const override { return state_->serial << 1 | 1; }

  void enter(HeldItem held, Freshness freshness, Reply<DirectoryPtr> reply) const override {
    const std::stop_token asker = reply.asker();
    auto told = [self = own(), held, freshness, reply = std::move(reply)](Result<ChainStatePtr> now) mutable {
      if (!now) return reply(tl::unexpected(std::move(now).error()));
      self->enter_in(*now, held, freshness, std::move(reply));
    };
    chain_->current(freshness, Reply<ChainStatePtr>(std::move(told), asker));
  }

  void open(HeldItem held, Reply<OpenedContent> reply) const override {
    const std::stop_token asker = reply.asker();
    auto told = [self = own(), held, reply = std::move(reply)](Result<ChainStatePtr> now) mutable {
      if (!now) return reply(tl::unexpected(std::move(now).error()));
      if (*now != self->state_) return reply(changed());
      self->NodeHolder::open(held, std::move(reply));
    };
    chain_->current(Freshness::now, Reply<ChainStatePtr>(std::move(told), asker));
  }

 private:
  std::shared_ptr<const ChainTableHolder> own() const {
    return std::static_pointer_cast<const ChainTableHolder>(shared_from_this());
  }

  void enter_in(const ChainStatePtr& now, HeldItem held, Freshness freshness, Reply<DirectoryPtr> reply) const;

  OpenedContent opened(std::shared_ptr<Content> content) const override {
    OpenedContent opened;
    opened.content = std::move(content);
    opened.version = state_->serial << 1 | 1;
    return opened;
  }
  std::shared_ptr<const NodeHolder> below(std::shared_ptr<const LoadedTable>) const override { return self(); }
  Xattrs table_xattrs() const override {
    return {{"user.tfilefs.name", path_.substr(path_.rfind('/') + 1)},
            {"user.tfilefs.title", table().title},
            {"user.tfilefs.class", "TChain"},
            {"user.tfilefs.files", std::to_string(state_->members.size())}};
  }

  const std::shared_ptr<Chain> chain_;
  const ChainStatePtr state_;
  const std::string path_;  // of the table
  const Columns which_;
};

// The directory of the table itself.
class ChainTableDirectory final : public Directory {
 public:
  ChainTableDirectory(DirectoryPtr own, DirectoryPtr origins) : own_(std::move(own)), origins_(std::move(origins)) {}
  // No node of a table has a name that begins with a dot.
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    const bool is_of_origins = name.starts_with(".file") || name.starts_with(".entry");
    (is_of_origins ? origins_ : own_)->find(name, std::move(reply));
  }
  void list(Reply<std::shared_ptr<const Listing>> reply) const override { own_->list(std::move(reply)); }

 private:
  const DirectoryPtr own_, origins_;
};

void ChainTableHolder::enter_in(const ChainStatePtr& now, HeldItem held, Freshness freshness,
                                Reply<DirectoryPtr> reply) const {
  auto holder = own();
  if (now != state_) {
    const ChainedTable* table = now->table(path_);
    std::vector<std::string> names;
    names_to(this->table(), 0, held.index, names);
    const auto node = table ? node_at(which_ == Columns::own ? table->loaded->table() : table->origins->table(), names)
                            : std::nullopt;
    if (!node) return reply(changed());
    holder = std::make_shared<const ChainTableHolder>(chain_, now, *table, which_);
    held.index = *node;
  }
  if (held.shown_as != ShownAs::itself || holder->node(held).column)
    return holder->NodeHolder::enter(held, freshness, std::move(reply));
  reply(now->entered.get({path_, which_ == Columns::origins, held.index}, [&]() -> DirectoryPtr {
    DirectoryPtr own = make_node_directory(holder, held.index);
    if (held.index != 0) return own;
    const auto origins = std::make_shared<const ChainTableHolder>(chain_, now, *now->table(path_), Columns::origins);
    return std::make_shared<const ChainTableDirectory>(std::move(own), make_node_directory(origins, 0));
  }));
}

}  // namespace

std::shared_ptr<const Holder> make_chain_table(std::shared_ptr<Chain> chain, ChainStatePtr state, std::string path) {
  const ChainedTable* table = state->table(path);
  return std::make_shared<const ChainTableHolder>(std::move(chain), std::move(state), *table, Columns::own);
}

}  // namespace tfilefs
