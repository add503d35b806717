// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "mutex.h"
#include "reply.h"

namespace tfilefs {

// The one byte budget. Bytes are granted in whole requests, first come first served; a request larger than the whole
// budget runs when nothing else is alive. A request that waits holds nothing, and once granted needs nothing more: so
// every granted request ends, and no two can wait for each other. Thread-safe; calls the evictor and the requests
// without a lock held.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  // Bytes that were granted; given back when this goes.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept : budget_(std::move(other.budget_)), bytes_(other.bytes_) {
      other.bytes_ = 0;
    }
    Reservation& operator=(Reservation&& other) noexcept {
      give_back(bytes_);
      budget_ = std::move(other.budget_);
      bytes_ = std::exchange(other.bytes_, 0);
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
    Reservation(std::shared_ptr<Budget> budget, std::uint64_t bytes) : budget_(std::move(budget)), bytes_(bytes) {}
    void give_back(std::uint64_t bytes);
    std::shared_ptr<Budget> budget_;
    std::uint64_t bytes_ = 0;
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
  enum class Patience : std::uint8_t { wait, now_or_never };
  enum class Evict : std::uint8_t { idle, any };  // any: also what readers hold; it is freed when they let go

  explicit Budget(std::uint64_t bytes) : size_(bytes) {}

  // How to make room for about `bytes`. Set once, before the first request.
  void set_evictor(std::function<void(std::uint64_t bytes, Evict)> evictor) { evict_ = std::move(evictor); }

  void reserve(std::shared_ptr<Request>, Patience);

  // Bytes that cannot wait (what a writer has handed over): counted at once, even beyond the budget; what lies idle in
  // the cache gives way to them.
  Reservation take(std::uint64_t bytes);

  // Something became evictable; looks at the waiting requests again. Cheap when none waits.
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
    Patience patience;
  };
  void pump();
  bool serve(const Waiting&);
  bool grant(const Waiting&, std::uint64_t need) EXCLUDES(mutex_);
  std::uint64_t shortfall(std::uint64_t need) const;

  const std::uint64_t size_;
  std::function<void(std::uint64_t, Evict)> evict_;
  std::atomic<std::uint64_t> used_ = 0, peak_ = 0;  // changed under mutex_
  std::atomic<std::size_t> waiting_ = 0;            // queue_.size()

  Mutex mutex_;
  std::deque<Waiting> queue_ GUARDED_BY(mutex_);
  bool pumping_ GUARDED_BY(mutex_) = false;
  bool again_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
