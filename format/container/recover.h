// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "container/directory.h"
#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// What the records of a file tell without its key lists.
struct Recovered {
  // By fSeekPdir: the keys of that directory, ordered as AppendKey orders them: names in file order, of one name the
  // newest cycle first.
  std::map<std::int64_t, DirectoryListing> directories;
  ByteRange streamer_info;  // the last record of that name; size 0 if none
  std::uint64_t end = 0;    // behind the last whole record
  bool followed = false;    // the records could be followed to the end of the file
};

// Whether TFile::Init would recover: the file is shorter than its header says, or its root directory has no key list
// though there is more in the file than that directory. (The third case, a key list without keys, shows when it is
// read.)
bool needs_recovery(const FileHeader& header, const DirectoryRecord& root, std::uint64_t file_size);

// Collects the keys as TFile::Recover does: all whole records from fBEGIN on but baskets, the pages of RNTuples, key
// lists and free lists. Unlike ROOT it fills sub-directories too. Errors: io. Reads a piece of every record.
Result<Recovered> recover_keys(const Source& source, const FileHeader& header);

}  // namespace tfile
