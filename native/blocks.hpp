// Equal blocks of memory by index: what node pools, the arena and the paged maps are made of.
//
// Blocks are cut from slabs. A slab is a quarter of what is there already, from one block up to two
// mebibytes, so a small structure stays small. A full-sized slab is one huge page where the system has
// them: random access over many megabytes otherwise spends its time in page-table walks. Memory of a
// slab that nobody has written to costs address space only.
#pragma once

#include <algorithm>

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>
#define TOPRUNG_HUGE_PAGES 1
#endif

#include "memory.hpp"

namespace toprung {

inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

// Memory of two mebibytes or more begins at a huge page and asks for such pages.
inline void* allocate_large(std::size_t bytes) {
#if defined(TOPRUNG_HUGE_PAGES)
  if (bytes >= kHugePage) {
    count_allocation();
    const std::size_t mapped = bytes + kHugePage;
    void* start = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    char* from = static_cast<char*>(start);
    const std::size_t skip = (kHugePage - reinterpret_cast<std::uintptr_t>(from) % kHugePage) % kHugePage;
    const std::size_t page = 4096;
    const std::size_t kept = (bytes + page - 1) / page * page;
    if (skip > 0) munmap(from, skip);
    if (mapped - skip > kept) munmap(from + skip + kept, mapped - skip - kept);
    madvise(from + skip, kept, MADV_HUGEPAGE);
    return from + skip;
  }
#endif
  return allocate(bytes);
}

inline void release_large(void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
  if (memory == nullptr) return;
#if defined(TOPRUNG_HUGE_PAGES)
  if (bytes >= kHugePage) {
    munmap(memory, (bytes + 4095) / 4096 * 4096);
    return;
  }
#endif
  release(memory);
}

template <class T>
class Blocks {
 public:
  explicit Blocks(std::size_t block_items) : block_bytes_(block_items * sizeof(T)) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() { clear(); }

  T* operator[](std::size_t block) const noexcept { return blocks_[block]; }
  std::size_t size() const noexcept { return blocks_.size(); }

  void push() {
    if (blocks_.size() == blocks_.capacity()) blocks_.reserve(blocks_.size() * 3 / 2 + 4);
    if (rest_ == 0) add_slab();
    blocks_.push_back(reinterpret_cast<T*>(next_));
    next_ += block_bytes_;
    --rest_;
  }

  // Memory handed out in blocks; the rest of the newest slab has never been touched.
  std::size_t nbytes() const noexcept {
    return blocks_.size() * block_bytes_ + blocks_.capacity() * sizeof(T*) +
           slabs_.capacity() * sizeof(Slab);
  }

  void swap(Blocks& other) noexcept {
    blocks_.swap(other.blocks_);
    slabs_.swap(other.slabs_);
    std::swap(next_, other.next_);
    std::swap(rest_, other.rest_);
  }

  // Gives back the slabs that hold none of the first `keep` blocks.
  void trim(std::size_t keep) noexcept {
    while (!slabs_.empty() && slabs_.back().first_block >= keep) {
      release_large(slabs_.back().memory, slabs_.back().bytes);
      blocks_.resize(slabs_.back().first_block);
      slabs_.pop_back();
      rest_ = 0;
    }
  }

  void clear() noexcept {
    for (const Slab& slab : slabs_) release_large(slab.memory, slab.bytes);
    Vector<Slab>().swap(slabs_);
    Vector<T*>().swap(blocks_);
    next_ = nullptr;
    rest_ = 0;
  }

 private:
  struct Slab {
    void* memory;
    std::size_t bytes;
    std::size_t first_block;
  };

  void add_slab() {
    if (slabs_.size() == slabs_.capacity()) slabs_.reserve(slabs_.size() * 3 / 2 + 4);
    const std::size_t most = std::max<std::size_t>(kHugePage / block_bytes_, 1);
    std::size_t count = std::clamp<std::size_t>(blocks_.size() / 4, 1, most);
    // Once a slab is that large, it is a whole huge page.
    if (count > 1 && count * block_bytes_ > kHugePage / 2) count = (kHugePage + block_bytes_ - 1) / block_bytes_;
    const std::size_t bytes = count * block_bytes_;
    slabs_.push_back({allocate_large(bytes), bytes, blocks_.size()});
    next_ = static_cast<char*>(slabs_.back().memory);
    rest_ = count;
  }

  const std::size_t block_bytes_;
  Vector<T*> blocks_;
  Vector<Slab> slabs_;
  char* next_ = nullptr;
  std::size_t rest_ = 0;
};

}  // namespace toprung
