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

// Copies them byte for byte. Histograms become the sums of those with the same path in all files. Returns a line for
// each that could not be added, and why. Blocks. Errors: damaged, those of reading and writing, ECANCELED.
Result<std::vector<std::string>> copy_objects(const ObjectRequest&, const ObjectSink&);

}  // namespace tfilefs
