// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vfs/nodes/directory.h"

namespace tfilefs {

// A file or directory that is made when it is asked for, as in procfs: the functions do what those of a Vnodes do, and
// are thread-safe and do not block. Where one is null, it is as for any Vnodes.
struct GeneratedThing {
  std::shared_ptr<const Generation> generation = nullptr;
  std::function<void(Access, const CallerPtr&, Reply<void>)> admit = nullptr;
  std::function<std::optional<Attributes>()> known_attributes = nullptr, attributes_but_size = nullptr;
  std::function<void(Reply<Attributes>)> attributes = nullptr;  // null: they are always known
  std::function<void(Reply<OpenedContent>)> open = nullptr;
  std::function<void(Freshness, Reply<std::shared_ptr<const Directory>>)> enter = nullptr;
  std::function<void(Reply<Xattrs>)> xattrs = nullptr;
  std::function<void(Reply<Xattrs>)> more_xattrs = nullptr;
  std::function<void(Reply<void>)> sync = nullptr;
  std::function<void(std::string_view name, Reply<void>)> set_xattr = nullptr;
  bool goes_with_key = false;
};
Entry generated(GeneratedThing);
void admit_all(Access, const CallerPtr&, Reply<void>);  // for GeneratedThing::admit

// A file of no ROOT file, whose content may be another one whenever it is made.
struct MadeFile {
  Attributes attributes;
  std::shared_ptr<Content> content;
};
GeneratedThing made_anew(std::function<void(Freshness, Reply<MadeFile>)> make);

// The names in a directory of such things, by number.
struct GeneratedNames {
  std::size_t count = 0;
  std::function<std::string(std::size_t)> name;
  std::function<Entry(std::size_t)> thing;
  std::function<std::optional<std::size_t>(std::string_view)> number = nullptr;   // null: the names are compared
  std::function<void(std::string_view, Reply<FoundEntry>)> find_other = nullptr;  // what is found, and not listed
  mode_t type = S_IFREG;
  bool are_listed_whole = true;  // with the things: their attributes may be known without storage
  bool same_for_all = true;
  std::shared_ptr<const Generation> generation = nullptr;
  std::function<void(Access, const CallerPtr&, Reply<void>)> admit = nullptr;  // as of a GeneratedThing
};
// Those of a table.
GeneratedNames generated_names(std::vector<std::pair<std::string, Entry>>);

std::shared_ptr<const Directory> make_generated_directory(GeneratedNames);

}  // namespace tfilefs
