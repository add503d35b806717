// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "fake_file.h"
#include "vfs/nodes/table_load.h"

namespace tfilefs {

// A file whose table `t` is opened, let go, and opened anew.
class ReopenedTable : public testing::Test {
 protected:
  using LoadedPtr = std::shared_ptr<const LoadedTable>;
  using GenerationPtr = std::shared_ptr<const Generation>;

  GenerationPtr opened() {
    return std::make_shared<const Generation>(context_, nullptr, GuardedSource::guard(file_->shared_source()).value(),
                                              file_, SourceState{});
  }
  LoadedPtr loaded(const GenerationPtr& generation) {
    return waited<LoadedPtr>([&](auto reply) { load_table(generation, file_->root(), 0, "/t", std::move(reply)); })
        .value();
  }
  // The same, opened anew when nothing uses it.
  LoadedPtr reopened(const GenerationPtr& generation, LoadedPtr table) {
    const int before = file_->tables_opened;
    for (int tries = 0; tries < 1000 && file_->tables_opened == before; ++tries) {
      table = nullptr;
      if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      generation->release_idle_tables();
      table = loaded(generation);
    }
    EXPECT_EQ(file_->tables_opened, before + 1);
    return table;
  }
  static std::shared_ptr<Content> view(const LoadedTable& table, tfile::NodeId node, ViewKind kind) {
    return waited<std::shared_ptr<Content>>(
               [&](auto reply) { table.view(node, kind, StringsAs::seen, std::move(reply)); })
        .value();
  }

  std::shared_ptr<FakeFile> file_ = std::make_shared<FakeFile>();
  std::unique_ptr<ClusterCache> cache_ =
      std::make_unique<ClusterCache>(CacheOptions{.memory = 64 << 20, .threads = 1, .io_threads = 1});
  ErrorLog errors_;
  MountContext context_{*cache_, errors_, {}};
};

}  // namespace tfilefs
