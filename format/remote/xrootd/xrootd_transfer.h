// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "remote/xrootd/xrootd_file.h"
#include "tfile/source.h"

namespace tfile::xrootd {

// Reads ranges that lie in the file. Sends all requests at once and waits for none of them. `done` is called once, with
// the result; the memory that `into` names is not touched after that. See Source::start_read.
//
// Each answer is received into memory of its request and copied when it is whole. A request cannot be taken back from
// the library. So the caller's memory can be given back at once when options.stop is stopped or the time is over, while
// the library still waits for a server that may answer later. The copy costs a tenth of a second for each gigabyte.
void start_transfer(std::shared_ptr<XrootdFile> file, std::span<const ByteRange> ranges,
                    std::vector<std::span<std::byte>> into, Source::ReadDone done);

}  // namespace tfile::xrootd
