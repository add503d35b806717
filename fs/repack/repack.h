// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "repack/name_filter.h"
#include "reply.h"
#include "tfile/range.h"
#include "tfile/source.h"
#include "tfile/table.h"
#include "tfile/writer.h"
#include "vfs/names/friend_names.h"

namespace tfilefs {

// The tables to write, and how.
struct RepackOptions {
  std::vector<std::string> sources;               // names of files, as chain_names() takes them
  std::string out;                                // a path of this machine
  std::optional<tfile::TableFormat> format;       // of all tables; nothing: each keeps its own
  std::optional<tfile::Compression> compression;  // nothing: as it is; what is encoded anew: that of the first source
  std::uint64_t cluster_bytes = 0;                // compressed, of a cluster; 0: clusters stay
  NameFilter tables, columns;
  std::vector<NamedFriend> friends;                              // whose columns are joined to those of the tables
  std::vector<std::pair<std::string, std::string>> renames;      // of tables: old path, new name
  std::optional<tfile::EntryRange> entries;                      // of each table; the end may be INT64_MAX
  std::string selection;                                         // a column of one table, or a NumPy file; "": none
  std::string where;                                             // an expression of columns of one table; "": none
  std::vector<std::pair<std::string, std::string>> definitions;  // names that it uses, and their expressions
  unsigned threads = 1;
  std::uint64_t memory = 0;  // bytes
  bool replaces = false;     // a file of the name of `out`
  bool is_dry = false;       // nothing is written
  bool skips_damaged = false;
  bool keeps_raw = false;         // what is not decoded, as streamer fields of RNTuples
  std::uint64_t split_bytes = 0;  // of one file, about; then there may be several: OutputSet. 0: one file
  bool adds_histograms = true;    // of the same path in all files; else those of the first file stay
  bool verifies = false;          // reads what was written, and compares, before the file has its name
  tfile::RemoteOptions remote;
};

struct RepackReport {
  struct Table {
    std::string path;
    std::int64_t entries = 0;
    std::uint64_t bytes = 0;  // stored, of its parts
    bool by_unit = true;      // its baskets or pages were taken as they are; else column by column
  };
  struct File {
    std::string path;
    std::size_t tables = 0, objects = 0;
    std::uint64_t size = 0;
  };
  std::vector<Table> tables;
  std::vector<std::string> objects;  // that are no tables: paths with classes
  std::vector<File> files;
  std::vector<std::string> not_verified;  // names of nodes that could not be compared
  std::vector<std::string> left_out;      // a line each: what could not be taken along, and why
  std::vector<std::string> renamed;       // a line each: what has another name now, and why
};

struct RepackWatch {
  std::stop_token stop;
  // How much of the sources has been read, from 0 to 1; called now and then by the thread that calls repack().
  std::function<void(double)> progress;
};

// Writes the file, or files. They have their names when all of them are whole and on disk; else there are none. Blocks.
// Errors: invalid (the request), exists, damaged (with column, entries and offset), ECANCELED (it was stopped), and
// those of reading and writing.
Result<RepackReport> repack(const RepackOptions&, const RepackWatch&);

}  // namespace tfilefs
