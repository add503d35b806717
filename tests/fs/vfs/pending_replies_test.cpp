// SPDX-License-Identifier: Apache-2.0
// Every request is answered, whatever reply on its way is destroyed: where an allocation of any thread fails, the
// replies that are held there go while the exception passes by.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "fake_file.h"
#include "fs/failing_allocations.h"

namespace tfilefs {
namespace {

// What an operation answered: a text that is made of its value, or an error.
using Text = Result<std::string>;

// An answer that is waited for without an allocation.
template <class T>
class AwaitedAnswer {
 public:
  Reply<T> reply() {
    return Reply<T>([state = state_](Result<T> result) {
      const std::lock_guard lock(state->mutex);
      state->answer = std::move(result);
      state->answered.notify_all();
    });
  }
  // Nothing if it does not come.
  std::optional<Result<T>> take() {
    std::unique_lock lock(state_->mutex);
    state_->answered.wait_for(lock, std::chrono::seconds(30), [&] { return state_->answer.has_value(); });
    return std::move(state_->answer);
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable answered;
    std::optional<Result<T>> answer;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// The requests of a program that lists a table and reads a file of it, one after the other. Allocation `failing` of
// request `request` fails, unless there are not so many.
class Program {
 public:
  Program(FakeMount& mount, std::size_t request, int failing) : mount_(mount), request_(request), failing_(failing) {}

  // False where there is no such request.
  bool run(const std::vector<std::string>& path) {
    InodeId id = kRootId;
    for (const std::string& name : path) {
      const auto found =
          ask<FileSystem::Found>("lookup " + name, [&](auto reply) { mount_.fs->lookup(id, name, std::move(reply)); });
      if (!found) return has_failed_;
      id = found->id;
    }
    (void)ask<Attributes>("getattr", [&](auto reply) { mount_.fs->getattr(id, std::move(reply)); });
    (void)ask<std::string>("listxattr", [&](auto reply) { mount_.fs->listxattr(id, std::move(reply)); });
    const auto read = [&](const FileSystem::Opened& opened) {
      (void)ask<Slices>("read", [&](auto reply) { mount_.fs->read(opened.handle, 0, 4096, std::move(reply)); });
      mount_.fs->release(opened.handle);
    };
    const auto list = [&](HandleId handle) {
      auto page = std::make_shared<PageSink>(100);
      (void)ask<void>("readdir", [&](auto reply) { mount_.fs->readdir(handle, 0, true, page, std::move(reply)); });
      mount_.fs->release(handle);
    };
    if (is_directory(id)) {
      if (const auto handle = ask<HandleId>("opendir", [&](auto reply) { mount_.fs->opendir(id, std::move(reply)); }))
        list(*handle);
    } else if (const auto opened =
                   ask<FileSystem::Opened>("open", [&](auto reply) { mount_.fs->open(id, std::move(reply)); })) {
      read(*opened);
    }
    return has_failed_;
  }

 private:
  bool is_directory(InodeId id) {
    const auto attributes = FakeMount::wait<Attributes>([&](auto reply) { mount_.fs->getattr(id, std::move(reply)); });
    return attributes && S_ISDIR(attributes->mode);
  }

  // If it fails for want of memory, it is asked once more, and must then be right.
  template <class T, class Call>
  Result<T> ask(const std::string& what, const Call& call) {
    const bool is_chosen = asked_++ == request_;
    for (;;) {
      AwaitedAnswer<T> awaited;
      Reply<T> reply = awaited.reply();
      std::optional<Result<T>> answer;
      bool has_failed = false;
      {
        std::optional<FailingAllocations> failing;
        if (is_chosen && !has_failed_) failing.emplace(failing_, 0, FailingAllocations::Of::all_threads);
        try {
          call(std::move(reply));
        } catch (const std::bad_alloc&) {
        }
        answer = awaited.take();
        has_failed = failing && failing->happened();
      }
      if (!answer) ADD_FAILURE() << what << " is not answered where allocation " << failing_ << " fails";
      if (!answer) std::abort();  // it would be waited for at the end, too
      if (!has_failed) {
        EXPECT_TRUE(*answer) << what << " after allocation " << failing_ << ": " << answer->error().text;
        return *std::move(answer);
      }
      has_failed_ = true;
      if (*answer) return *std::move(answer);
    }
  }

  FakeMount& mount_;
  const std::size_t request_;
  const int failing_;
  std::size_t asked_ = 0;
  bool has_failed_ = false;
};

std::shared_ptr<FakeFile> small_file() {
  auto table = std::make_shared<ArrayTable>();
  table->name = "Events";
  table->entries = 3;
  table->column(0, "x.f4", tfile::Role::values, std::vector<float>{1, 2, 3});
  table->string(0, "s", {"a", "bc", ""});
  auto file = std::make_shared<FakeFile>();
  file->table("Events", table, 2);
  file->object("note", "the bytes");
  file->add(file->add(FakeFile::kRootSeek, "d", tfile::KeyKind::directory), "inner", tfile::KeyKind::directory);
  return file;
}

class PendingReplies : public testing::TestWithParam<std::vector<std::string>> {};

// Each time in a mount of its own, so that nothing is there yet. Of many allocations not each one is tried.
TEST_P(PendingReplies, AreAnsweredWhereverTheyAreDestroyed) {
  if (!FailingAllocations::is_possible()) GTEST_SKIP() << "a sanitizer has operator new";
  FileSystemOptions options;
  options.views_listed = true;
  constexpr std::size_t kRequests = 8;  // of the longest program
  int tried = 0;
  for (std::size_t request = 0; request < kRequests; ++request) {
    int number = 0;
    for (bool has_failed = true; has_failed; number += 1 + number / 16, ++tried) {
      FakeMount mount(small_file(), options);
      has_failed = Program(mount, request, number).run(GetParam());
    }
  }
  EXPECT_GT(tried, 50);
}

INSTANTIATE_TEST_SUITE_P(
    Paths, PendingReplies,
    testing::Values(std::vector<std::string>{"Events", "x.f4"}, std::vector<std::string>{"Events", "s"},
                    std::vector<std::string>{"Events", "s.txt"}, std::vector<std::string>{"Events", "x.npy"},
                    std::vector<std::string>{"Events", ".schema.json"}, std::vector<std::string>{"Events.parquet"},
                    std::vector<std::string>{"note", "object.json"}, std::vector<std::string>{"d"},
                    std::vector<std::string>{".map.txt"}, std::vector<std::string>{".tfilefs", "stats.json"}));

}  // namespace
}  // namespace tfilefs
