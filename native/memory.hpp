// Memory for every structure of the core.
//
// All of it passes through allocate(), so that a test can make the n-th allocation fail and watch
// each operation leave its structure whole. The rule the structures follow: first reserve all that
// an operation may need (this may throw std::bad_alloc), then change things (this may not).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

namespace toprung {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// Names "no player", "no node", "no leaf", depending on what a u32 counts.
inline constexpr u32 kNone = std::numeric_limits<u32>::max();

// How many more allocations succeed; negative means all of them. Only tests set it.
inline std::atomic<i64> allocations_left{-1};

inline void count_allocation() {
  if (allocations_left.load(std::memory_order_relaxed) >= 0 &&
      allocations_left.fetch_sub(1, std::memory_order_relaxed) <= 0) {
    allocations_left.store(0, std::memory_order_relaxed);
    throw std::bad_alloc();
  }
}

inline void* allocate(std::size_t bytes) {
  count_allocation();
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline void release(void* memory) noexcept { std::free(memory); }

template <class T>
struct Allocator {
  using value_type = T;
  Allocator() noexcept = default;
  template <class U>
  explicit(false) Allocator(const Allocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(toprung::allocate(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept { release(memory); }
  template <class U>
  bool operator==(const Allocator<U>&) const noexcept {
    return true;
  }
};

template <class T>
using Vector = std::vector<T, Allocator<T>>;

// The empty statement is an effect: without one, GCC drops every call of a function that only
// prefetches, because nothing depends on it.
inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address);
  __asm__ volatile("");
}

}  // namespace toprung
