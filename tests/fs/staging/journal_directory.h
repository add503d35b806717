// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "descriptor.h"
#include "faults.h"
#include "staging/journal/journal.h"
#include "temporary_directory.h"

namespace tfilefs {

// An empty host directory, in which a journal "f.root.tfilefs-journal" is created and removed.
class JournalDirectory : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    faults::reset();
  }
  void TearDown() override { faults::reset(); }
  Result<std::shared_ptr<Journal>> create() {
    return Journal::create(directory_.get(), name_, begin_, ::geteuid(), ::getegid());
  }
  Result<Replayed> replay(Journal::Use use = Journal::Use::read) {
    return Journal::replay(directory_.get(), name_, ::geteuid(), use);
  }
  std::filesystem::path file() const { return path_ / name_; }
  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void set_bytes(const std::string& bytes) {
    std::ofstream(file(), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  const std::string name_ = journal_name("f.root");
  JournalBegin begin_{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 4711, {}};
  const TemporaryDirectory temporary_;
  const std::filesystem::path path_ = temporary_.path();
  Descriptor directory_;
};

}  // namespace tfilefs
