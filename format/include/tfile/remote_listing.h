// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// A name in a directory of a server.
struct RemoteEntry {
  std::string name;  // as the server has it: 1 to 255 bytes, neither zero nor '/'; not "." and ".."
  bool is_directory = false;
  std::uint64_t size = 0;        // of a file, in bytes
  std::int64_t modified_ns = 0;  // since the epoch; 0: not told
};

struct RemoteListing {
  std::vector<RemoteEntry> entries;   // in the order of their names' bytes, each name once
  std::vector<std::string> left_out;  // a line for each name that no file here can have, or the first of them
  std::optional<Error> gap;           // why names may be missing: one of several servers did not answer
  SourceCounts counts;                // what it took
};

// The list of a directory behind a URL, sizes included. XRootD: of all data servers that a redirector knows. HTTP: by
// PROPFIND, else as nginx's autoindex writes it in JSON. S3: the keys that begin with the path and a slash, up to their
// next slash. A slash at the end of the URL saves some servers of HTTP a redirect; without it, a file is told apart
// from a directory. Blocks, for options.timeout at most without an answer. Errors: as open_source(); invalid (not a
// directory), unsupported (a server that gives no list that is known; more names than are taken).
Result<RemoteListing> list_remote(const std::string& url, const RemoteOptions& options = {});

// The parts of a URL. `server` has all up to the path, that of a caching proxy's double form included:
// "root://cache//root://origin/", "/data/f.root", "?x=y". A question mark is taken for part of the path
// where a name that ends in ".root" goes on behind it, as in "run?.root?x=y". Pure.
struct UrlParts {
  std::string_view server, path, query;
};
UrlParts url_parts(std::string_view url);

// The URL of a name in a directory; without a name, of the directory with a slash at its end. The query string is kept.
// Pure.
std::string url_below(std::string_view directory, std::string_view name);

// A path of a URL as its server has it: in URLs of HTTP and S3 it is percent-encoded. Pure.
std::string path_as_named(std::string_view url, std::string_view path);

}  // namespace tfile
