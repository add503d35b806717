// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "reply.h"
#include "vfs/file_system.h"

namespace tfilefs {

// A path on the host or on a server, and the rest, which is inside the ROOT file at the end of the first part.
struct SourcePath {
  std::string source, inside;
};

// A server is not asked for each part of a path, and a pattern is no path: there, the name of a ROOT file ends in
// .root.
SourcePath split_source(const std::string& path);

// Calls an operation that answers through a Reply, and waits for the answer.
template <class T, class Call>
Result<T> waited(Call call) {
  std::promise<Result<T>> promise;
  call(Reply<T>([&](Result<T> result) { promise.set_value(std::move(result)); }));
  return promise.get_future().get();
}

struct ListedName {
  std::string name;
  bool is_directory = false;
};

// What a listing of the directory shows, sorted. Blocks.
Result<std::vector<ListedName>> names_in(FileSystem&, InodeId directory);

}  // namespace tfilefs
