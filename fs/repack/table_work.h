// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>

#include "exec/thread_pool.h"
#include "repack/output_file.h"
#include "repack/repack.h"
#include "table_build/file_writes.h"
#include "tfile/writer.h"

namespace tfilefs {

// The tools of work on a table that is written.
struct TableWork {
  tfile::FileWriter& writer;
  OutputFile* output = nullptr;  // null: nothing is written
  ThreadPool& reader;            // of one thread, which reads ahead
  ThreadPool& workers;           // read, and encode what they read
  ThreadPool& coders;            // encode
  const RepackOptions& options;
  std::stop_token stop;
  std::function<void(double)> progress;  // of this table, from 0 to 1

  FileWrites* writes() const { return output == nullptr ? nullptr : &output->writes(); }
};

}  // namespace tfilefs
