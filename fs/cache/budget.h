// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string_view>

#include "mutex.h"
#include "reply.h"
#include "tfile/check.h"

namespace tfilefs {

// The one byte budget. Bytes are granted in whole requests, first come first served. A waiting request holds nothing,
// and a granted one needs nothing more: so every granted request ends, and no two can wait for each other. A request
// that does not fit beside the bytes taken for writers, or not even alone, is granted as soon as no request before it
// holds bytes: no other bytes come back by themselves. A request for more than the budget and kBeyondMax together is
// denied. Thread-safe. Calls the evictor and the requests without a lock held. Bytes may be given back under any lock:
// the requests that they are granted to are started, and answered, by another thread.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  // Granted bytes; given back when this is destroyed.
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

    // Cuts `bytes` (at most all there are) off into a separate reservation.
    Reservation split(std::uint64_t bytes);
    // Keeps `bytes` and gives the rest back.
    void shrink(std::uint64_t bytes) {
      if (bytes < bytes_) give_back(bytes_ - bytes);
    }
    // Bytes granted on an estimate turned out to be `bytes`. They are counted as they are, even beyond the budget: the
    // memory is in use already, so there is nothing to wait for.
    void settle(std::uint64_t bytes);

   private:
    friend class Budget;
    Reservation(std::shared_ptr<Budget> budget, std::uint64_t bytes, bool requested)
        : budget_(std::move(budget)), bytes_(bytes), requested_(requested) {}
    void give_back(std::uint64_t bytes);
    std::shared_ptr<Budget> budget_;
    std::uint64_t bytes_ = 0;
    bool requested_ = true;  // false: by take()
  };

  // An object that asks for bytes. `prepare` and `claim` run for one request at a time, so that the result of `prepare`
  // still holds in `claim`. `start` and `denied` run without a lock held.
  class Request {
   public:
    virtual ~Request() = default;
    virtual std::uint64_t prepare() = 0;  // bytes needed now; pins the chunks that it counts on
    virtual void retreat() = 0;           // it must wait: drops those pins
    virtual void claim(Reservation) = 0;  // granted
    virtual void start() = 0;             // after claim
    virtual void denied(const Error&) = 0;
  };
  enum class IfFull : std::uint8_t { wait, fail };
  enum class Evict : std::uint8_t { idle, any };  // any: also what readers hold; it is freed when they let go

  // The most that one request may take beyond the budget: even with a small budget, baskets and objects of ordinary
  // files must be readable. Anything larger is not worth more memory than the mount was given.
  static constexpr std::uint64_t kBeyondMax = 128 << 20;

  explicit Budget(std::uint64_t bytes) : size_(bytes) {}

  // Frees about `bytes` in the cache. Set once, before the first request.
  void set_evictor(std::function<void(std::uint64_t bytes, Evict)> evictor) {
    TFILE_DCHECK(!evict_ && used() == 0);
    evict_ = std::move(evictor);
  }

  // Runs a job that grants bytes given back; false: it takes no more jobs. Set once, before the first request. Without
  // it they are granted on the thread that gives them back.
  void set_executor(std::function<bool(std::function<void()>)> executor) {
    TFILE_DCHECK(!run_ && used() == 0);
    run_ = std::move(executor);
  }

  // Each request is granted or denied, now or later. Errors: busy (nothing is free, and the request does not wait; or
  // this is closed), is_refusal() (it is too large ever to be granted).
  void reserve(std::shared_ptr<Request>, IfFull);

  // Bytes that cannot wait (written by a program): counted at once, even beyond the budget. Idle chunks are evicted to
  // make room for them.
  Reservation take(std::uint64_t bytes);

  // To be called when something became evictable: looks at the waiting requests again. Cheap when none waits. Not under
  // a lock.
  void changed() {
    if (waiting_.load() > 0) pump();
  }

  // Denies the waiting requests and all that come later.
  void close();

  std::uint64_t size() const { return size_; }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    std::shared_ptr<Request> request;
    IfFull if_full;
    std::uint64_t need = 0;         // its last answer; 0: not asked yet
    std::uint64_t freed_until = 0;  // freed_ at that time
    std::optional<Error> refused = {};
  };
  void pump();
  void pump_elsewhere();
  struct Served {  // neither: the request waits
    bool granted = false;
    std::optional<Error> refused = {};
  };
  bool is_worth_asking(const Waiting&);
  Served serve(Waiting&);
  Served served_or_refused(Waiting&);
  bool grant(const Waiting&) EXCLUDES(mutex_);
  std::uint64_t shortfall(std::uint64_t need) const;
  void add(std::uint64_t bytes, bool requested) REQUIRES(mutex_);

  const std::uint64_t size_;
  std::function<void(std::uint64_t, Evict)> evict_;
  std::function<bool(std::function<void()>)> run_;
  std::atomic<bool> will_pump_ = false;             // a job that pumps is queued
  std::atomic<std::uint64_t> used_ = 0, peak_ = 0;  // changed under mutex_
  std::atomic<std::uint64_t> freed_ = 0;            // sum of all bytes ever given back
  std::atomic<std::size_t> waiting_ = 0;            // queue_.size()

  Mutex mutex_{"Budget::mutex_"};
  std::uint64_t requested_ GUARDED_BY(mutex_) = 0;  // of used_, without bytes taken
  std::list<Waiting> queue_ GUARDED_BY(mutex_);     // one leaves it without any memory
  bool pumping_ GUARDED_BY(mutex_) = false;
  bool again_ GUARDED_BY(mutex_) = false;
  bool closed_ GUARDED_BY(mutex_) = false;
};

// The error for something that takes more memory at once than it is given.
Error refusal(std::uint64_t need, std::string_view giver, std::uint64_t given);
// Whether an error says that something takes more memory at once than the mount was given. A lack of memory is none: it
// may end.
inline bool is_refusal(const Error& error) { return error.kind == ErrorKind::too_large; }

}  // namespace tfilefs
