// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "mutex.h"
#include "reply.h"

namespace tfilefs {

// The one byte budget. Bytes are granted in whole requests, first come first served. A request that waits holds
// nothing, and once granted needs nothing more: so every granted request ends, and no two can wait for each other. One
// that does not fit beside what writers have handed over, or not even alone, runs as soon as no request before it holds
// bytes: nothing else comes back by itself. Of more than the budget and kBeyondMax, none runs. Thread-safe; calls the
// evictor and the requests without a lock held. Bytes may be given back under any lock: what they are granted to is
// started, and answered, by another thread.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  // Bytes that were granted; given back when this goes.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept
        : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)), requested_(other.requested_) {}
    Reservation& operator=(Reservation&& other) noexcept {
      give_back(bytes_);
      budget_ = std::move(other.budget_);
      bytes_ = std::exchange(other.bytes_, 0);
      requested_ = other.requested_;
      return *this;
    }
    ~Reservation() { give_back(bytes_); }
    std::uint64_t bytes() const { return bytes_; }

    // Cuts `bytes` (at most all there are) off into a reservation of their own.
    Reservation split(std::uint64_t bytes);
    // Keeps `bytes`, gives the rest back.
    void shrink(std::uint64_t bytes) {
      if (bytes < bytes_) give_back(bytes_ - bytes);
    }
    // What was granted on an estimate turned out to be `bytes`: counted as it is, even beyond the budget, for there is
    // nothing to wait for any more.
    void settle(std::uint64_t bytes);

   private:
    friend class Budget;
    Reservation(std::shared_ptr<Budget> budget, std::uint64_t bytes, bool requested)
        : budget_(std::move(budget)), bytes_(bytes), requested_(requested) {}
    void give_back(std::uint64_t bytes);
    std::shared_ptr<Budget> budget_;
    std::uint64_t bytes_ = 0;
    bool requested_ = true;  // else taken
  };

  // What asks for bytes. `prepare` and `claim` run for one request at a time, so that what `prepare` found is still
  // true in `claim`; `start` and `denied` run with nothing held.
  class Request {
   public:
    virtual ~Request() = default;
    virtual std::uint64_t prepare() = 0;  // bytes needed now; pins what it counts on being there
    virtual void retreat() = 0;           // must wait: drops those pins
    virtual void claim(Reservation) = 0;  // granted
    virtual void start() = 0;             // after claim: go
    virtual void denied(const Error&) = 0;
  };
  enum class IfFull : std::uint8_t { wait, fail };
  enum class Evict : std::uint8_t { idle, any };  // any: also what readers hold; it is freed when they let go

  // What one request may take beyond the budget: with a small one, baskets and objects of ordinary files are still to
  // be read. What is larger is not worth more memory than the mount was given.
  static constexpr std::uint64_t kBeyondMax = 128 << 20;

  explicit Budget(std::uint64_t bytes) : size_(bytes) {}

  // How to make room for about `bytes`. Set once, before the first request.
  void set_evictor(std::function<void(std::uint64_t bytes, Evict)> evictor) { evict_ = std::move(evictor); }

  // What runs the granting of bytes that were given back; false: it takes no more jobs. Set once, before the first
  // request; without it they are granted where they are given back.
  void set_executor(std::function<bool(std::function<void()>)> executor) { run_ = std::move(executor); }

  // Each request is granted or denied, now or later. Errors: busy (nothing is free, and it does not wait; or this is
  // closed), is_refusal() (it is too large to be granted ever).
  void reserve(std::shared_ptr<Request>, IfFull);

  // Bytes that cannot wait (what a writer has handed over): counted at once, even beyond the budget; what lies idle in
  // the cache gives way to them.
  Reservation take(std::uint64_t bytes);

  // Something became evictable; looks at the waiting requests again. Cheap when none waits. Under no lock.
  void changed() {
    if (waiting_.load() > 0) pump();
  }

  // Denies what waits and all that comes.
  void close();

  std::uint64_t size() const { return size_; }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    std::shared_ptr<Request> request;
    IfFull if_full;
    std::uint64_t need = 0;         // what it said last; 0: not asked yet
    std::uint64_t freed_until = 0;  // freed_ when it said so
  };
  void pump();
  void pump_elsewhere();
  struct Served {  // neither: it waits
    bool granted = false;
    std::optional<Error> refused = {};
  };
  bool is_worth_asking(const Waiting&);
  Served serve(Waiting&);
  bool grant(const Waiting&) EXCLUDES(mutex_);
  std::uint64_t shortfall(std::uint64_t need) const;
  void add(std::uint64_t bytes, bool requested) REQUIRES(mutex_);

  const std::uint64_t size_;
  std::function<void(std::uint64_t, Evict)> evict_;
  std::function<bool(std::function<void()>)> run_;
  std::atomic<bool> will_pump_ = false;             // elsewhere
  std::atomic<std::uint64_t> used_ = 0, peak_ = 0;  // changed under mutex_
  std::atomic<std::uint64_t> freed_ = 0;            // all that was ever given back
  std::atomic<std::size_t> waiting_ = 0;            // queue_.size()

  Mutex mutex_;
  std::uint64_t requested_ GUARDED_BY(mutex_) = 0;  // of used_, without what was taken
  std::deque<Waiting> queue_ GUARDED_BY(mutex_);
  bool pumping_ GUARDED_BY(mutex_) = false;
  bool again_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
};

// Something takes more memory at once than it is given.
Error refusal(std::uint64_t need, std::string_view giver, std::uint64_t given);
// Whether an error says that something takes more memory at once than the mount was given.
inline bool is_refusal(const Error& error) { return error.kind == ErrorKind::no_space && error.system_errno == ENOMEM; }

}  // namespace tfilefs
