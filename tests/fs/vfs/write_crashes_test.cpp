// SPDX-License-Identifier: Apache-2.0
// What a crash leaves between any two calls of one operation, or a fault in one of them.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "fs/staging/simulated_disk.h"
#include "fs/vfs/written_directory.h"
#include "temporary_directory.h"

namespace tfilefs {
namespace {

// A mirrored directory on a disk that stops.
class StoppedWriter : public WrittenDirectory {
 public:
  StoppedWriter() { disk_.emplace(path_, 1); }
  ~StoppedWriter() {
    disk_.reset();
    fs_.reset();
  }

  // Mounts what is left when the process has ended.
  void restart() {
    disk_->stop_in(1);
    disk_->leave(after_.path(), SimulatedDisk::Ending::process);
    fs_.reset();
    disk_.reset();
    path_ = after_.path();
    mount();
  }
  HandleId open(const std::string& path, bool to_write) {
    auto opened = ask<FileSystem::Opened>([&](auto reply) {
      to_write ? fs_->open_to_write(id_of(path), std::move(reply)) : fs_->open(id_of(path), std::move(reply));
    });
    return opened.get().value().handle;
  }
  void sync(HandleId handle) {
    EXPECT_TRUE(ask<void>([&](auto reply) { fs_->sync(handle, std::move(reply)); }).get());
  }
  // Items that are there after a crash.
  void append(const std::string& path, const std::string& bytes) {
    const std::uint64_t end = fs_->find_path(path)->attributes.size;
    const HandleId handle = open(path, true);
    EXPECT_TRUE(write(handle, end, bytes).get());
    sync(handle);
    close(handle);
  }
  void cut(const std::string& path, std::uint64_t size) {
    AttributeChange change;
    change.size = size;
    EXPECT_TRUE(ask<Attributes>([&](auto reply) { fs_->change(id_of(path), change, std::move(reply)); }).get());
  }
  void remove(const std::string& name) {
    (void)ask<void>([&](auto reply) { fs_->remove(id_of("f.root/T"), name, false, std::move(reply)); }).get();
  }
  void rename(const std::string& name, const std::string& to) {
    const InodeId in = id_of("f.root/T");
    (void)ask<void>([&](auto reply) { fs_->rename(in, name, in, to, 0, std::move(reply)); }).get();
  }
  // The content; nothing if the file is not there.
  std::optional<std::string> content(const std::string& path) {
    const auto found = fs_->find_path(path);
    if (!found) return std::nullopt;
    const HandleId handle = open(path, false);
    auto slices = ask<Slices>([&](auto reply) { fs_->read(handle, 0, found->attributes.size, std::move(reply)); });
    const Slices bytes = slices.get().value();
    std::string text(bytes.size(), 0);
    copy_slices(bytes, reinterpret_cast<std::byte*>(text.data()));
    fs_->release(handle);
    return text;
  }
  SimulatedDisk& disk() { return *disk_; }
  const std::filesystem::path& path() const { return path_; }
  using WrittenDirectory::close, WrittenDirectory::commit, WrittenDirectory::create, WrittenDirectory::make_column;
  using WrittenDirectory::write;

 private:
  const TemporaryDirectory after_;
  std::optional<SimulatedDisk> disk_;
};

// Stops the disk at each call of an operation; `check` gets what is left.
void stop_at_each_call(const std::function<void(StoppedWriter&)>& prepare,
                       const std::function<void(StoppedWriter&)>& operation,
                       const std::function<void(StoppedWriter&)>& check) {
  bool stopped = true;
  for (int call = 1; stopped; ++call) {
    ASSERT_LT(call, 100);
    StoppedWriter writer;
    prepare(writer);
    writer.disk().stop_in(static_cast<std::uint64_t>(call));
    operation(writer);
    stopped = writer.disk().has_stopped();
    SCOPED_TRACE("the disk stops at call " + std::to_string(call));
    writer.restart();
    check(writer);
  }
}

const std::string kOld(40, 'o'), kNew(60, 'n');

TEST(WriteCrashes, LeaveNothingThatWasCutOffBeforeACommit) {
  const auto prepare = [](StoppedWriter& writer) {
    writer.make_column("f.root", "a.i4", kOld);
    writer.append("f.root/T/a.i4", kNew);
    writer.cut("f.root/T/a.i4", kOld.size());
  };
  const auto commit = [](StoppedWriter& writer) { (void)writer.commit("f.root"); };
  stop_at_each_call(prepare, commit, [](StoppedWriter& writer) {
    const auto left = writer.content("f.root/T/a.i4");
    const bool is_committed = std::filesystem::exists(writer.path() / "f.root");
    EXPECT_TRUE(left == kOld || (!is_committed && left == kOld + kNew)) << left.value_or("").size();
  });
}

TEST(WriteCrashes, LeaveAFileThatIsRemovedWholeOrNotAtAll) {
  const auto prepare = [](StoppedWriter& writer) {
    writer.make_column("f.root", "a.i4", kOld);
    writer.make_column("f.root", "b.i4", kOld);
    EXPECT_TRUE(writer.commit("f.root"));
    writer.append("f.root/T/a.i4", kNew);
  };
  const auto remove = [](StoppedWriter& writer) { writer.remove("a.i4"); };
  stop_at_each_call(prepare, remove, [](StoppedWriter& writer) {
    EXPECT_EQ(writer.content("f.root/T/a.i4").value_or(kOld + kNew), kOld + kNew);
  });
}

TEST(WriteCrashes, LeaveOneOfTwoFilesUnderANameThatIsReplaced) {
  const auto prepare = [](StoppedWriter& writer) {
    for (const char* name : {"a.i4", ".part"}) {
      writer.make_column("f.root", name, "");
      writer.append(std::string("f.root/T/") + name, *name == '.' ? kNew : kOld);
    }
  };
  const auto replace = [](StoppedWriter& writer) { writer.rename(".part", "a.i4"); };
  stop_at_each_call(prepare, replace, [](StoppedWriter& writer) {
    const auto left = writer.content("f.root/T/a.i4");
    EXPECT_TRUE(left == kOld || left == kNew);
    EXPECT_EQ(left == kOld, writer.content("f.root/T/.part").has_value());
  });
}

TEST(WriteCrashes, LeaveWhatWasSyncedByAnyHandle) {
  for (const bool opened_before : {true, false}) {
    StoppedWriter writer;
    writer.make_column("f.root", "a.i4", kOld);
    HandleId reader = opened_before ? writer.open("f.root/T/a.i4", false) : 0;
    EXPECT_TRUE(writer.commit("f.root"));
    if (!opened_before) reader = writer.open("f.root/T/a.i4", false);
    const HandleId appender = writer.open("f.root/T/a.i4", true);
    EXPECT_TRUE(writer.write(appender, kOld.size(), kNew).get());
    writer.sync(reader);
    writer.restart();
    EXPECT_EQ(writer.content("f.root/T/a.i4"), kOld + kNew) << (opened_before ? "before" : "behind") << " the commit";
  }
}

TEST(WriteCrashes, FaultsOfACommitThatSucceededDoNotKeepOthersFromWriting) {
  bool failed = true;
  for (int call = 1; failed; ++call) {
    ASSERT_LT(call, 100);
    StoppedWriter writer;
    writer.make_column("f.root", "a.i4", kOld);
    writer.open("f.root/T/a.i4", false);
    writer.disk().fail_in(static_cast<std::uint64_t>(call), EIO, false);
    const auto committed = writer.commit("f.root");
    failed = writer.disk().mend();
    SCOPED_TRACE("call " + std::to_string(call) + " fails");
    if (committed) writer.append("f.root/T/a.i4", kNew);
    writer.restart();
    if (committed) {
      EXPECT_EQ(writer.content("f.root/T/a.i4"), kOld + kNew);
    }
  }
}

}  // namespace
}  // namespace tfilefs
