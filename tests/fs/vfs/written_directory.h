// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <span>
#include <string>

#include "cache/cluster_cache.h"
#include "exec/executors.h"
#include "on_behalf.h"
#include "temporary_directory.h"
#include "vfs/file_system.h"

namespace tfilefs {

// A mirrored directory that may be written to, without a kernel.
class WrittenDirectory {
 protected:
  explicit WrittenDirectory(const CacheOptions& cache = {}) {
    options_.cache = cache;
    options_.write.emplace().commit = std::chrono::hours(1);
    mount();
  }
  void mount() { fs_ = std::move(FileSystem::open(path_.string(), options_)).value(); }

  template <class T, class Call>
  static std::future<Result<T>> ask(Call call) {
    auto answer = std::make_shared<std::promise<Result<T>>>();
    call(Reply<T>([answer](Result<T> result) { answer->set_value(std::move(result)); }));
    return answer->get_future();
  }
  InodeId id_of(const std::string& path) { return fs_->find_path(path)->id; }
  void make_directory(const std::string& in, const std::string& name) {
    if (fs_->find_path(in.empty() ? name : in + "/" + name)) return;
    auto made = ask<FileSystem::Found>([&](auto reply) {
      fs_->make_directory(id_of(in), name, {S_IFDIR | 0755, ::geteuid(), ::getegid()}, std::move(reply));
    });
    ASSERT_TRUE(made.get());
  }
  // Creates a column of FILE/T, which stays open.
  HandleId create(const std::string& file, const std::string& column) {
    make_directory("", file);
    make_directory(file, "T");
    auto made = ask<FileSystem::Created>([&](auto reply) {
      fs_->create(id_of(file + "/T"), column, {S_IFREG | 0644, ::geteuid(), ::getegid()}, true, std::move(reply));
    });
    return made.get()->opened.handle;
  }
  std::future<Result<std::size_t>> write(HandleId handle, std::uint64_t offset, const std::string& bytes) {
    return ask<std::size_t>(
        [&](auto reply) { fs_->write(handle, offset, false, std::as_bytes(std::span(bytes)), std::move(reply)); });
  }
  void close(HandleId handle) {
    EXPECT_TRUE(ask<void>([&](auto reply) { fs_->flush(handle, std::move(reply)); }).get());
    fs_->release(handle);
    // Whoever answered the flush may still hold the file, which is closed when nobody does.
    fs_->cache().exec().job_pool.finish();
  }
  void make_column(const std::string& file, const std::string& column, const std::string& bytes) {
    const HandleId handle = create(file, column);
    EXPECT_TRUE(write(handle, 0, bytes).get());
    close(handle);
  }
  std::future<Result<void>> begin_commit(const std::string& path) {
    auto opened = ask<HandleId>([&](auto reply) { fs_->opendir(id_of(path), std::move(reply)); });
    const HandleId handle = opened.get().value();
    return ask<void>([&](auto reply) {
      fs_->sync(handle,
                seen_by(Reply<void>(std::move(reply)), [this, handle](const Result<void>&) { fs_->release(handle); }));
    });
  }
  Result<void> commit(const std::string& path) { return begin_commit(path).get(); }

  const TemporaryDirectory temporary_;
  std::filesystem::path path_ = temporary_.path();
  FileSystemOptions options_;
  std::unique_ptr<FileSystem> fs_;
};

}  // namespace tfilefs
