// Nodes by 32-bit index, in chunks, with a free list threaded through their parent links.
//
// Indexes never change; addresses do while the pool has fewer nodes than one chunk, because a small
// set must stay small. So reserve() comes first and addresses are taken afterwards.
#pragma once

#include <type_traits>

#include "memory.hpp"

namespace toprung {

template <class Node>
class NodePool {
  static_assert(std::is_trivially_copyable_v<Node>);

 public:
  NodePool() = default;
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;
  ~NodePool() { clear(); }

  Node& operator[](u32 index) noexcept { return chunks_[index / kChunk][index % kChunk]; }
  const Node& operator[](u32 index) const noexcept { return chunks_[index / kChunk][index % kChunk]; }

  u32 in_use() const noexcept { return touched_ - free_count_; }
  u32 free_count() const noexcept { return free_count_; }
  u32 touched() const noexcept { return touched_; }

  // After this, that many take() succeed.
  void reserve(u64 nodes) {
    while (capacity_ - touched_ + u64{free_count_} < nodes) grow();
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
    for (Node* chunk : chunks_) release(chunk);
    chunks_.clear();
    chunks_.shrink_to_fit();
    touched_ = free_count_ = 0;
    capacity_ = 0;
    free_head_ = kNone;
  }

  // Memory that has been written to; what is merely reserved costs no pages.
  std::size_t nbytes() const noexcept {
    return touched_ * sizeof(Node) + chunks_.capacity() * sizeof(Node*);
  }

  u32 free_head() const noexcept { return free_head_; }

 private:
  static constexpr u32 kChunk = 64;

  void grow() {
    if (capacity_ >= kNone - kChunk) throw std::bad_alloc();
    if (capacity_ == 0 || capacity_ >= kChunk) {
      if (chunks_.size() == chunks_.capacity()) chunks_.reserve(chunks_.size() * 3 / 2 + 1);
      const u32 nodes = capacity_ == 0 ? 1 : kChunk;
      chunks_.push_back(static_cast<Node*>(allocate(nodes * sizeof(Node))));
      capacity_ += nodes;
      return;
    }
    Node* larger = static_cast<Node*>(allocate(2 * capacity_ * sizeof(Node)));
    std::memcpy(static_cast<void*>(larger), chunks_[0], touched_ * sizeof(Node));
    release(chunks_[0]);
    chunks_[0] = larger;
    capacity_ *= 2;
  }

  Vector<Node*> chunks_;
  u64 capacity_ = 0;
  u32 touched_ = 0;
  u32 free_count_ = 0;
  u32 free_head_ = kNone;
};

}  // namespace toprung
