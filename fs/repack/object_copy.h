// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "repack/file_keys.h"
#include "repack/open_inputs.h"
#include "repack/output_file.h"
#include "repack/repack.h"
#include "reply.h"
#include "tfile/writer.h"

namespace tfilefs {

// The keys that are no tables.
struct ObjectRequest {
  const RepackOptions& options;
  OpenInputs& inputs;
  std::span<const InputKeys::Object> objects;
};

struct ObjectSink {
  tfile::FileWriter& writer;
  OutputFile* output = nullptr;  // null: nothing is written
  std::stop_token stop;
};

// Copies them byte for byte. Those with the same path in several files become their sums (tfile/stored_object.h).
// Returns a line for each that is not in the file, and why. Blocks. Errors: damaged, those of reading and writing,
// ECANCELED.
Result<std::vector<std::string>> copy_objects(const ObjectRequest&, const ObjectSink&);

}  // namespace tfilefs
