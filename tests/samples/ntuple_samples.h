// SPDX-License-Identifier: Apache-2.0
// The samples of ntuple.cpp: the content of each, and how to write it.
#pragma once
#include "ntuple_table.h"

struct Sample {
  std::vector<Table> (*tables)();
  void (*write)(const std::string& file, int compression);
};

namespace encodings {
extern const Sample pairs, bits;
}
namespace types {
extern const Sample every;
}
namespace changes {
extern const Sample late, representations, projections;
}
namespace files {
extern const Sample attributes, soa, small_keys, parallel, merged, filtered, directories, no_checksums, empty;
}
// Each of these writes the tree `t` with the same branches beside its file: imported-tree.root, snapshot-tree.root.
namespace conversions {
extern const Sample imported, snapshot;
}
