// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "http/item_attributes.h"
#include "http/served_item.h"

namespace tfilefs {

// The parts of a listing of a directory.
struct ListingForm {
  std::string begin;
  std::string first, between;                          // in front of the first item, and of each other
  std::function<std::string(const ServedItem&)> item;  // empty: is not shown
  std::string end;
  std::size_t item_size = 0;  // the least that each item has, if it is more than its name and some words
};

// `path`: the names from the root of the source.

// A page of HTML with a link to each item, directories' with a slash at the end.
ListingForm html_listing(const std::vector<std::string>& path);

// {"path": "/...", "entries": [{"name", "type": "directory" | "file" | "link", "size", "mtime"}, ...]}; "size" and
// "mtime" only where they are known.
ListingForm json_listing(const std::vector<std::string>& path);

// One of these "entries" with {"attributes": {"class": "TTree", ...}}.
std::string json_item(const ServedItem&, const ItemAttributes&);

// The answer to PROPFIND (RFC 4918): the directory or file itself, then the items: files and directories, as WebDAV
// knows no others.
ListingForm dav_listing(const std::vector<std::string>& path, const ServedItem& self);

}  // namespace tfilefs
