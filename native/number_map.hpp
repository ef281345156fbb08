// Player number -> a small value: the leaf that holds its entry, or a position in the journal.
//
// Two layouts. Dense: pages of one value per number, best when the map holds a good share of all
// players. Sparse: open addressing over pairs of number and value, for maps that hold few of them.
// reserve() picks one by share and changes it with a wide margin between, so that the cost of moving
// is paid by the growth that caused it.
#pragma once

#include <algorithm>
#include <cstring>

#include "blocks.hpp"

namespace toprung {

template <class Value>
class NumberMap {
 public:
  static constexpr Value kAbsent = static_cast<Value>(~Value{0});

  NumberMap() = default;
  NumberMap(const NumberMap&) = delete;
  NumberMap& operator=(const NumberMap&) = delete;
  ~NumberMap() { clear(); }

  u32 size() const noexcept { return size_; }
  bool is_dense() const noexcept { return dense_; }

  Value find(u32 number) const noexcept {
    if (dense_) {
      const std::size_t page = number / kPage;
      return page < pages_.size() ? pages_[page][number % kPage] : kAbsent;
    }
    const Slot* slot = slot_of(number);
    return slot == nullptr ? kAbsent : slot->value;
  }

  void prefetch_entry(u32 number) const noexcept {
    if (dense_) {
      const std::size_t page = number / kPage;
      if (page < pages_.size()) prefetch(&pages_[page][number % kPage]);
    } else if (slots_ != nullptr) {
      prefetch(&slots_[home(number)]);
    }
  }

  // Gives a number that is in the map another value.
  void move(u32 number, Value value) noexcept {
    if (dense_) {
      pages_[number / kPage][number % kPage] = value;
    } else {
      const_cast<Slot*>(slot_of(number))->value = value;
    }
  }

  // Makes room for `more` new numbers below `limit`; add() of them cannot fail afterwards.
  void reserve(u32 more, u32 limit) {
    const u64 wanted = u64{size_} + more;
    if (dense_ ? wanted * 5 < limit : wanted * 3 > limit) {
      dense_ ? become_sparse(wanted) : become_dense(limit);
    } else if (!dense_ && (wanted * 5 > slot_count() * 4)) {
      grow_slots(wanted);
    }
    if (dense_) cover(limit);
  }

  // True unless the number was there already (then nothing changes).
  bool add(u32 number, Value value) noexcept {
    if (dense_) {
      Value& entry = pages_[number / kPage][number % kPage];
      if (entry != kAbsent) return false;
      entry = value;
    } else {
      u64 i = home(number);
      for (; slots_[i].number != kNone; i = (i + 1) & mask_) {
        if (slots_[i].number == number) return false;
      }
      slots_[i] = {number, value};
    }
    ++size_;
    return true;
  }

  void remove(u32 number) noexcept {
    --size_;
    if (dense_) {
      pages_[number / kPage][number % kPage] = kAbsent;
      return;
    }
    u64 hole = static_cast<u64>(slot_of(number) - slots_);
    for (u64 i = (hole + 1) & mask_; slots_[i].number != kNone; i = (i + 1) & mask_) {
      if (((i - home(slots_[i].number)) & mask_) >= ((i - hole) & mask_)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = kFree;
  }

  void clear() noexcept {
    pages_.clear();
    drop_slots();
    size_ = 0;
    dense_ = false;
  }

  std::size_t nbytes() const noexcept {
    return pages_.nbytes() + slot_count() * sizeof(Slot);
  }

  // Calls visit(number, value) for each number, in no particular order.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t p = 0; p < pages_.size(); ++p) {
      for (u32 i = 0; i < kPage; ++i) {
        if (pages_[p][i] != kAbsent) visit(static_cast<u32>(p * kPage + i), pages_[p][i]);
      }
    }
    for (u64 i = 0; i < slot_count(); ++i) {
      if (slots_[i].number != kNone) visit(slots_[i].number, slots_[i].value);
    }
  }

 private:
  static constexpr u32 kPage = 1024;
  struct __attribute__((packed)) Slot {  // twelve bytes, not sixteen, where a value has eight
    u32 number;
    Value value;
  };
  static constexpr Slot kFree{kNone, kAbsent};

  u64 slot_count() const noexcept { return slots_ == nullptr ? 0 : mask_ + 1; }
  u64 home(u32 number) const noexcept {
    return (u64{number} * 0x9e3779b97f4a7c15u >> 32) & mask_;
  }
  const Slot* slot_of(u32 number) const noexcept {
    if (slots_ == nullptr) return nullptr;
    for (u64 i = home(number);; i = (i + 1) & mask_) {
      if (slots_[i].number == number && number != kNone) return &slots_[i];
      if (slots_[i].number == kNone) return nullptr;
    }
  }

  // Every page up to the limit, so that add() never allocates. A set is dense only when it holds a
  // good share of these numbers, so few pages stay empty.
  void cover(u32 limit) {
    const std::size_t pages = (std::size_t{limit} + kPage - 1) / kPage;
    while (pages_.size() < pages) {
      pages_.push();
      std::fill_n(pages_[pages_.size() - 1], kPage, kAbsent);
    }
  }

  void drop_slots() noexcept {
    release_large(slots_, slot_count() * sizeof(Slot));
    slots_ = nullptr;
    mask_ = 0;
  }

  void become_dense(u32 limit) {
    cover(limit);
    for (u64 i = 0; i < slot_count(); ++i) {
      const Slot slot = slots_[i];
      if (slot.number != kNone) pages_[slot.number / kPage][slot.number % kPage] = slot.value;
    }
    drop_slots();
    dense_ = true;
  }

  void become_sparse(u64 wanted) {
    Slot* slots = fresh_slots(wanted);
    Blocks<Value> pages(kPage);
    pages.swap(pages_);
    dense_ = false;
    slots_ = slots;
    for (std::size_t p = 0; p < pages.size(); ++p) {
      for (u32 i = 0; i < kPage; ++i) {
        if (pages[p][i] != kAbsent) settle({static_cast<u32>(p * kPage + i), pages[p][i]});
      }
    }
  }

  void grow_slots(u64 wanted) {
    Slot* old = slots_;
    const u64 old_count = slot_count();
    slots_ = fresh_slots(wanted);
    for (u64 i = 0; i < old_count; ++i) {
      if (old[i].number != kNone) settle(old[i]);
    }
    release_large(old, old_count * sizeof(Slot));
  }

  // Sets mask_ only when the memory is there.
  Slot* fresh_slots(u64 wanted) {
    u64 count = 8;
    while (wanted * 5 > count * 4) count *= 2;
    Slot* slots = static_cast<Slot*>(allocate_large(count * sizeof(Slot)));
    std::fill(slots, slots + count, kFree);
    mask_ = count - 1;
    return slots;
  }

  void settle(const Slot& slot) noexcept {
    u64 i = home(slot.number);
    while (slots_[i].number != kNone) i = (i + 1) & mask_;
    slots_[i] = slot;
  }

  Blocks<Value> pages_{kPage};
  Slot* slots_ = nullptr;
  u64 mask_ = 0;
  u32 size_ = 0;
  bool dense_ = false;
};

using LeafMap = NumberMap<u32>;

}  // namespace toprung
