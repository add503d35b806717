// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/table_copy.h"
#include "tfile/writer.h"

namespace tfile {

struct StreamerInfo;

// Puts records of a table into the commit that is being planned, besides the record of its key.
class RecordPlaces {
 public:
  virtual ~RecordPlaces() = default;
  struct Placed {
    ByteRange record;   // key and payload
    ByteRange payload;  // as stored, compressed if that makes it smaller
  };
  virtual Result<Placed> add_blob(std::span<const std::byte> payload) = 0;
  // Frees, with this commit, a record that the table no longer needs.
  virtual void release(ByteRange record) = 0;
};

// A table being written, as the writer of its file sees it.
class RecordedTable {
 public:
  virtual ~RecordedTable() = default;

  // How it is written: column by column, or unit by unit. One of them is not null.
  virtual TableWriter* writer() { return nullptr; }
  virtual TableCopy* copy() { return nullptr; }

  // The record that a commit would write now.
  struct Draft {
    std::vector<std::byte> payload;  // for the key; empty if place() makes it
    std::uint64_t state = 0;         // differs between states of the table
    std::uint64_t size = 0;          // an upper bound of all records
  };
  // `keylen`: of the key. Errors: invalid (fields differ in their number of entries: a cluster was not ended),
  // unsupported (the record would exceed the 1 GiB of an object).
  virtual Result<Draft> draft(std::uint32_t keylen) const = 0;

  // The payload of the key for the draft of now. A table whose key refers to further records places them. Errors: as
  // draft(); io, damaged (records of the file that have to be read). Reads.
  virtual Result<std::vector<std::byte>> place(Draft, RecordPlaces&) = 0;

  // The plan with what was placed last has been carried out.
  virtual void placed() = 0;

  // The class of the key.
  virtual const std::string& class_name() const = 0;

  // The classes that the file's StreamerInfo must describe for the data written here.
  virtual std::vector<std::string> classes() const = 0;
  // Descriptions of classes that were made for it, and that it must have as well.
  virtual std::vector<const StreamerInfo*> made_classes() const { return {}; }

  // Sets the new name of the key.
  virtual void rename(std::string name) = 0;
};

}  // namespace tfile
