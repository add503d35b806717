// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "http/item_attributes.h"
#include "http/served_item.h"

namespace tfilefs {

// A directory as a client sees it. `path`: the names from the root of the source.
struct ServedDirectory {
  std::vector<std::string> path;
  std::vector<ServedItem> items;
};

// A page of HTML with a link to each item, directories' with a slash at the end.
std::string html_listing(const ServedDirectory&);

// {"path": "/...", "entries": [{"name", "type": "directory" | "file" | "link", "size", "mtime"}, ...]}; "size" and
// "mtime" only where they are known.
std::string json_listing(const ServedDirectory&);

// One of these "entries" with {"attributes": {"class": "TTree", ...}}.
std::string json_item(const ServedItem&, const ItemAttributes&);

// The answer to PROPFIND (RFC 4918): the directory or file itself, then the items.
std::string dav_listing(const ServedDirectory&, const ServedItem& self);

}  // namespace tfilefs
