// SPDX-License-Identifier: Apache-2.0
// What is refused when a file of a column is made, whatever other files of it are there.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fs/staging/journal_directory.h"
#include "staging/overlay/staged_table.h"
#include "staging/overlay/staged_tree.h"
#include "staging/overlay/staging_memory.h"

namespace tfilefs {
namespace {

using Paths = std::vector<std::string>;
using tfile::TableFormat;

constexpr TableFormat kTree = TableFormat::tree, kRntuple = TableFormat::rntuple;

class Refusals : public JournalDirectory {
 protected:
  void SetUp() override {
    JournalDirectory::SetUp();
    journal_ = create().value();
  }

  NodePtr table(TableFormat format) {
    root_ = std::make_shared<StagedNode>(0, true, "", nullptr);
    auto made = std::make_shared<StagedNode>(1, true, "T", root_);
    made->format = format;
    attach(root_, made, "T");
    return made;
  }

  NodePtr child(const NodePtr& in, const std::string& name, bool is_directory) {
    if (const auto known = in->children.find(name); known != in->children.end()) return known->second;
    auto made = std::make_shared<StagedNode>(++last_id_, is_directory, name, in);
    if (!is_directory) made->bytes = StagedBytes::create(last_id_, journal_, memory_);
    attach(in, made, name);
    return made;
  }

  // The directories of the path come first, as a program makes them. Why one of these, or the file, is refused.
  std::string make(const NodePtr& table, const std::string& path) {
    NodePtr at = table;
    for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
      const std::string above = path.substr(0, slash);
      const bool is_new = !at->children.contains(split_path(above).second);
      const std::string reason = is_new ? refusal_of_directory(*table, above).reason : "";
      if (!reason.empty()) return above + ": " + reason;
      at = child(at, split_path(above).second, true);
    }
    const std::string reason = refusal_of(*table, path).reason;
    if (reason.empty()) child(at, split_path(path).second, false);
    return reason.empty() ? "" : path + ": " + reason;
  }

  // Why files are refused, made in that order.
  std::string make_all(TableFormat format, const Paths& paths) {
    const NodePtr in = table(format);
    for (const std::string& path : paths) {
      if (std::string reason = make(in, path); !reason.empty()) return reason;
    }
    return "";
  }

  SerialQueues queues_;
  StagingMemory memory_{std::make_shared<Budget>(0), 0, queues_};
  std::shared_ptr<Journal> journal_;
  NodePtr root_;
  std::uint64_t last_id_ = 1;
};

Paths below(const std::string& directory, Paths paths) {
  for (std::string& path : paths) path.insert(0, directory);
  return paths;
}

Paths both(Paths paths, const Paths& more) {
  paths.insert(paths.end(), more.begin(), more.end());
  return paths;
}

const Paths kText = {"offsets.i8", "chars.u1"};
const Paths kList = {"offsets.i8", "values.f4"};

std::vector<Paths> written_in_all_tables() {
  return {
      below("f/", kText),
      both({"f/offsets.i8", "f/values/offsets.i8"}, below("f/values/values/", kText)),
      {"f/offsets.i8", "f/values/x.f4", "f/values/values.f4", "f/values/y.i2"},
      both({"f/offsets.i8", "f/values/value.f8"}, below("f/values/key/", kText)),
      both(both({"f/offsets.i8"}, below("f/values/value/", kText)), below("f/values/key/", kText)),
      both(both({"f/x.f4"}, below("f/name/", kText)), both({"f/v/offsets.i8"}, below("f/v/values/", kText))),
      both({"f/x.f4"}, below("f/values/", kList)),
      both({"f/x.f4", "f/values/offsets.i8"}, below("f/values/values/", kText)),
      both({"f/x.f4"}, below("f/values/values/values/values/values/values/values/values/", kText)),
  };
}

std::vector<Paths> written_in_rntuples() {
  return {
      both(both({"f/offsets.i8", "f/values/x.f4"}, below("f/values/values/", kList)), below("f/values/name/", kText)),
      both({"f/x.f4", "f/values/offsets.i8", "f/values/values/x.f4"}, below("f/values/values/name/", kText)),
      {"f/r/x.f4", "f/r/s/y.f4", "f/values/z.f4", "f/values/values/x.f4"},
      both({"f/tags.i1", "f/index.i8", "f/std::int32_t.i4"}, below("f/std::string/", kText)),
      {"f/tags.i1", "f/index.i8", "f/std::int32_t.i4", "f/values/x.f4", "f/values/y.f4"},
      both({"f/offsets.i8", "f/values/tags.i1", "f/values/index.i8"}, below("f/values/std::vector<float>/", kList)),
  };
}

TEST_F(Refusals, NoOrderOfFilesThatAreWrittenIsRefused) {
  const auto check = [this](TableFormat format, Paths paths) {
    std::ranges::sort(paths);
    do {
      const std::string reason = make_all(format, paths);
      ASSERT_EQ(reason, "") << (format == kTree ? "tree " : "RNTuple ") << testing::PrintToString(paths);
    } while (std::ranges::next_permutation(paths).found);
  };
  for (const Paths& paths : written_in_all_tables()) {
    check(kTree, paths);
    check(kRntuple, paths);
  }
  for (const Paths& paths : written_in_rntuples()) check(kRntuple, paths);
}

TEST_F(Refusals, WhatIsNotWrittenIsRefusedInAnyOrder) {
  const std::vector<Paths> refused = {
      both({"f/offsets.i8", "f/values/x.f4"}, below("f/values/name/", kText)),
      {"f/offsets.i8", "f/values/offsets.i8", "f/values/values/x.f4", "f/values/values/y.f4"},
      {"f/r/x.f4", "f/r/y.f4", "f/x.f4"},
      {"f/tags.i1", "f/index.i8", "f/std::int32_t.i4", "f/float.f4"},
      both({"f/x.f4", "f/values/offsets.i8"}, {"f/values/values/x.f4", "f/values/values/y.f4"}),
  };
  for (Paths paths : refused) {
    std::ranges::sort(paths);
    do {
      ASSERT_NE(make_all(kTree, paths), "") << testing::PrintToString(paths);
    } while (std::ranges::next_permutation(paths).found);
  }
}

// A committed table: its field "hits" has offsets and the member "x"; its column "n" is one file.
class LateMembers : public Refusals {
 protected:
  void SetUp() override {
    Refusals::SetUp();
    table_ = table(kRntuple);
    hits_ = child(table_, "hits", true);
    values_ = child(hits_, "values", true);
    became_table(table_);
    became_committed(values_);
  }
  NodePtr table_, hits_, values_;
};

TEST_F(LateMembers, AreRefused) {
  for (const char* late : {"hits/values/y.f4", "hits/values/y.npy", "hits/values/name/chars.u1", "hits/chars.u1",
                           "hits/values.f4", "hits/other/x.f4"}) {
    const std::string reason = make(table_, late);
    EXPECT_NE(reason.find("hits is committed without it"), reason.npos) << late << " " << reason;
    EXPECT_NE(reason.find("rm -r hits"), reason.npos) << reason;
  }
  EXPECT_EQ(refusal_of(*table_, "hits/values/.y.f4.Kx2q9Z").reason, "") << "it gets its name later";
  for (const char* other : {"m.f4", "other/offsets.i8", "other/values/y.f4"}) EXPECT_EQ(make(table_, other), "");
}

TEST_F(LateMembers, AreNoneInAFieldThatIsWrittenAnew) {
  detach(hits_);
  table_->whiteouts.insert("hits");
  for (const char* path : {"hits/offsets.i8", "hits/values/x.f4", "hits/values/y.f4"})
    EXPECT_EQ(make(table_, path), "");
}

TEST_F(LateMembers, AreNotWhatTakesThePlaceOfWhatWasRemoved) {
  values_->whiteouts.insert("x.f4");
  EXPECT_EQ(make(table_, "hits/values/x.f4"), "");
  detach(values_);
  hits_->whiteouts.insert("values");
  EXPECT_EQ(make(table_, "hits/values/x.f4"), "");
}

}  // namespace
}  // namespace tfilefs
