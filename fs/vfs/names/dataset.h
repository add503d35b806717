// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vfs/names/chain_names.h"

namespace tfilefs {

// One of the chains that a dataset names.
struct DatasetSample {
  std::string name;
  std::vector<ChainName> files;
  std::string metadata;                                         // JSON: an object
  std::vector<std::pair<std::string, std::string>> attributes;  // its members, as text
};

// A dataset. Its friends (of an RDatasetSpec) are friends of all samples, one after the other.
struct Dataset {
  struct Friend {
    std::string alias;
    std::vector<ChainName> files;
  };
  std::vector<DatasetSample> samples;
  std::vector<Friend> friends;
};

// Whether a name stands for a dataset: "@" and a file that ends in ".json" or ".json.gz".
bool is_dataset(const std::string& name);

// A dataset, which is known by its shape: ROOT's RDatasetSpec ("samples", each with "trees", "files" and "metadata";
// and "friends", each with "trees" and "files"), or filesets of coffea (by name "files", a list or an object of names
// of tables, or of "object_path", "num_entries" and "uuid"; and "metadata"). `path`: of the file, which may be
// compressed. Names in it are relative to it. Blocks. Errors: those of reading; invalid, with the line, or the keys
// that lead to what is wrong.
Result<Dataset> read_dataset(const std::string& path);

}  // namespace tfilefs
