// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tfile/file.h"
#include "tfile/result.h"

namespace tfile {

// Names the records that have no name of their own, the blobs of RNTuples, after their content: "Events: header",
// "Events: page list of clusters 0 to 4", "Events: pages of pt, eta and 7 more columns". `records`: all records of the
// file, by address. Reads the directories of the file and the metadata of its RNTuples; anything unreadable names
// nothing. Errors: io. Blocks.
Result<> name_blobs(const File& file, std::vector<Record>& records);

}  // namespace tfile
