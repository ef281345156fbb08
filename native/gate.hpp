// Two mutexes per player table, always taken in this order.
//
// writers: held by whoever changes anything, for the whole of its change.
// state:   held by whoever looks at or touches nodes. A long change gives it up between chunks, so
//          that readers wait for a chunk and never for a batch, and no other change slips between.
//
// Nobody takes Python's GIL while holding either of them, so waiting for them cannot deadlock.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace toprung {

class StateMutex {
 public:
  bool try_lock() noexcept { return mutex_.try_lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  void lock() {
    if (mutex_.try_lock()) return;
    waiting_.fetch_add(1);
    mutex_.lock();
    waiting_.fetch_sub(1);
  }

  // Called by the holder between chunks. An unlocked std::mutex goes to whoever runs, which is us
  // again unless those who wait get the time to wake up.
  void give_way() {
    if (waiting_.load(std::memory_order_relaxed) == 0) return;
    unlock();
    const auto patience = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (waiting_.load() > 0 && std::chrono::steady_clock::now() < patience) {
      std::this_thread::yield();
    }
    lock();
  }

 private:
  std::mutex mutex_;
  std::atomic<int> waiting_{0};
};

struct Gate {
  std::mutex writers;
  StateMutex state;

  // Whether a change would not have to wait, at this moment.
  bool is_free() noexcept {
    const std::unique_lock alone(writers, std::try_to_lock);
    if (!alone.owns_lock()) return false;
    const std::unique_lock held(state, std::try_to_lock);
    return held.owns_lock();
  }
};

}  // namespace toprung
