// Nodes by 32-bit index, in blocks of 64, with a free list threaded through their parent links.
//
// Indexes never change. Addresses do while the pool has less than one block, because a small set must
// stay small: the first block grows by copying. So reserve() comes first, addresses afterwards.
#pragma once

#include <cstring>
#include <type_traits>

#include "blocks.hpp"

namespace toprung {

template <class Node>
class NodePool {
  static_assert(std::is_trivially_copyable_v<Node>);

 public:
  NodePool() = default;
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;
  ~NodePool() { clear(); }

  Node& operator[](u32 index) noexcept {
    return index < kBlock ? first_[index] : more_[index / kBlock - 1][index % kBlock];
  }
  const Node& operator[](u32 index) const noexcept {
    return index < kBlock ? first_[index] : more_[index / kBlock - 1][index % kBlock];
  }

  u32 in_use() const noexcept { return touched_ - free_count_; }
  u32 free_count() const noexcept { return free_count_; }
  u32 touched() const noexcept { return touched_; }

  // After this, that many take() succeed.
  void reserve(u64 nodes) {
    while (capacity_ - touched_ + u64{free_count_} < nodes) grow();
  }

  // Gives back what was reserved and not needed.
  void trim() noexcept {
    if (capacity_ <= kBlock) return;
    more_.trim(touched_ <= kBlock ? 0 : (touched_ - 1) / kBlock);
    capacity_ = u64{kBlock} * (1 + more_.size());
  }

  u32 take() noexcept {
    if (free_count_ > 0) {
      const u32 index = free_head_;
      free_head_ = (*this)[index].parent;
      --free_count_;
      return index;
    }
    return touched_++;
  }

  void give(u32 index) noexcept {
    (*this)[index].parent = free_head_;
    free_head_ = index;
    ++free_count_;
  }

  void clear() noexcept {
    release(first_);
    first_ = nullptr;
    more_.clear();
    touched_ = free_count_ = 0;
    capacity_ = 0;
    free_head_ = kNone;
  }

  // Memory that has been written to; what is merely reserved costs no pages.
  std::size_t nbytes() const noexcept {
    return touched_ * sizeof(Node);
  }

  u32 free_head() const noexcept { return free_head_; }

 private:
  static constexpr u32 kBlock = 64;

  void grow() {
    if (capacity_ >= kNone - kBlock) throw std::bad_alloc();
    if (capacity_ >= kBlock) {
      more_.push();
      capacity_ += kBlock;
      return;
    }
    const u64 wanted = capacity_ == 0 ? 1 : capacity_ * 2;
    Node* larger = static_cast<Node*>(allocate(wanted * sizeof(Node)));
    if (touched_ > 0) std::memcpy(static_cast<void*>(larger), first_, touched_ * sizeof(Node));
    release(first_);
    first_ = larger;
    capacity_ = wanted;
  }

  Node* first_ = nullptr;
  Blocks<Node> more_{kBlock};
  u64 capacity_ = 0;
  u32 touched_ = 0;
  u32 free_count_ = 0;
  u32 free_head_ = kNone;
};

}  // namespace toprung
