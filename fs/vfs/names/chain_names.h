// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reply.h"
#include "tfile/source.h"

namespace tfilefs {

// A file of a chain as it was named.
struct ChainName {
  std::string file;   // a path or a URL
  std::string table;  // the name in the file of the table to be chained; empty: all that the files have in common
  // A dataset's claims: entries of the table; the identity that the file has in itself. It is checked when the
  // file is opened.
  std::optional<std::int64_t> entries = std::nullopt;
  std::string uuid = {};
  friend bool operator==(const ChainName&, const ChainName&) = default;
};

// Whether a local file or directory has this name.
bool is_there(const std::string& path);

// A name that a user gives: "FILE:TABLE", "FILE?#TABLE", "FILE.root/TABLE", or a file alone. A colon or slash in the
// name of a local file that is there is no separator. Looks at nothing but whether local names are there.
ChainName parse_chain_name(const std::string& name);

// The files that a name stands for: a file or URL; a directory (at a server: with a slash behind), for the files in it
// that end in ".root", in order of name; a pattern (vfs/names/path_pattern.h), where "**" is any number of directories;
// "@LIST", for the names in a text file, one per line, with comments behind "#". Each may name a table. Blocks. Errors:
// those of reading; not_found (a pattern that nothing matches); invalid (a list that is no text, or names itself).
Result<std::vector<ChainName>> chain_names(const std::string& name, const tfile::RemoteOptions& = {});
// The same for one that was parsed before: its file may be a directory or a pattern.
Result<std::vector<ChainName>> chain_names(const ChainName&, const tfile::RemoteOptions& = {});

}  // namespace tfilefs
