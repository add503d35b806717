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

// The contents of a file according to its records alone, without its key lists.
struct Recovered {
  // The keys of each directory, by fSeekPdir, in the order of AppendKey: names in file order, within a name the newest
  // cycle first.
  std::map<std::int64_t, DirectoryListing> directories;
  ByteRange streamer_info;  // the last record of that name; of size 0 if there is none
  std::uint64_t end = 0;    // the end of the last whole record
  bool followed = false;    // the records could be followed to the end of the file
};

// Whether TFile::Init would recover: the file is shorter than its header says, or its root directory has no key list
// although the file contains more than that directory. (The third case, a key list without keys, is found when the list
// is read.)
bool needs_recovery(const FileHeader& header, const DirectoryRecord& root, std::uint64_t file_size);

// Collects the keys as TFile::Recover does: those of all whole records from fBEGIN on, except baskets, pages of
// RNTuples, key lists and free lists. Unlike ROOT, it also fills sub-directories. Errors: io. Reads a piece of every
// record.
Result<Recovered> recover_keys(const Source& source, const FileHeader& header);

}  // namespace tfile
