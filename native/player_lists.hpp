// PlayerLists: for each player a few small numbers, such as those of the boards it has submitted to.
//
// A player with one of them pays for a word in a map; each further one is a node of eight bytes in a
// chain. The word is the item itself, or the first node of the chain, told apart by the highest bit.
#pragma once

#include "number_map.hpp"
#include "player_table.hpp"

namespace toprung {

class PlayerLists {
 public:
  static constexpr u32 kItemLimit = u32{1} << 31;

  explicit PlayerLists(PlayerTable& table) : table_(&table) {}
  PlayerLists(const PlayerLists&) = delete;
  PlayerLists& operator=(const PlayerLists&) = delete;

  Gate& gate() const noexcept { return table_->gate; }
  std::size_t nbytes() const noexcept { return heads_.nbytes() + nodes_.nbytes(); }

  // The newest first.
  Vector<u32> find(u32 number) const {
    Vector<u32> items;
    const u32 head = heads_.find(number);
    if (head == kAbsent) return items;
    if (!is_node(head)) {
      items.push_back(head);
      return items;
    }
    for (u32 at = head & ~kNodeBit; at != kNone; at = node(at).next) items.push_back(node(at).item);
    return items;
  }

  // Players who have the item already would have it twice: nobody looks.
  void add(u32 item, const Vector<u32>& numbers) {
    if (item >= kItemLimit) throw std::invalid_argument("an item is below 2**31");
    for (const u32 number : numbers) {
      if (number >= table_->limit()) throw std::out_of_range("no such player number");
    }
    for (const u32 number : numbers) add(item, number);
  }

  // Players who do not have the item are passed over.
  void remove(u32 item, const Vector<u32>& numbers) noexcept {
    for (const u32 number : numbers) remove(item, number);
  }

  void forget(u32 number) noexcept {
    const u32 head = heads_.find(number);
    if (head == kAbsent) return;
    heads_.remove(number);
    if (!is_node(head)) return;
    u32 last = head & ~kNodeBit;
    while (node(last).next != kNone) last = node(last).next;
    node(last).next = free_;
    free_ = head & ~kNodeBit;
  }

 private:
  struct Node {
    u32 item;
    u32 next;
  };
  static constexpr u32 kAbsent = NumberMap<u32>::kAbsent;
  static constexpr u32 kNodeBit = kItemLimit;
  static constexpr u32 kBlock = 1024;
  static constexpr u32 kNodesMax = kNodeBit - 1;  // so that no word looks like kAbsent

  static bool is_node(u32 head) noexcept { return (head & kNodeBit) != 0; }
  Node& node(u32 at) const noexcept { return nodes_[at / kBlock][at % kBlock]; }

  void add(u32 item, u32 number) {
    const u32 head = heads_.find(number);
    if (head == kAbsent) {
      heads_.reserve(1, table_->limit());
      heads_.add(number, item);
      return;
    }
    reserve_nodes(is_node(head) ? 1 : 2);
    const u32 rest = is_node(head) ? head & ~kNodeBit : take({head, kNone});
    heads_.move(number, take({item, rest}) | kNodeBit);
  }

  void remove(u32 item, u32 number) noexcept {
    const u32 head = heads_.find(number);
    if (head == kAbsent) return;
    if (!is_node(head)) {
      if (head == item) heads_.remove(number);
      return;
    }
    u32 before = kNone;
    u32 at = head & ~kNodeBit;
    while (at != kNone && node(at).item != item) {
      before = at;
      at = node(at).next;
    }
    if (at == kNone) return;
    const u32 next = node(at).next;
    give_back(at);
    if (before != kNone) {
      node(before).next = next;
    } else {
      heads_.move(number, next | kNodeBit);
    }
    shorten(number);
  }

  // A chain of one node becomes the item itself.
  void shorten(u32 number) noexcept {
    const u32 first = heads_.find(number) & ~kNodeBit;
    if (node(first).next != kNone) return;
    heads_.move(number, node(first).item);
    give_back(first);
  }

  void reserve_nodes(u32 count) {
    u32 at = free_;
    for (; count > 0 && at != kNone; --count) at = node(at).next;
    while (u64{used_} + count > u64{nodes_.size()} * kBlock) {
      if (u64{nodes_.size() + 1} * kBlock > kNodesMax) throw std::bad_alloc();
      nodes_.push();
    }
  }

  u32 take(Node value) noexcept {
    u32 at = free_;
    if (at == kNone) {
      at = used_++;
    } else {
      free_ = node(at).next;
    }
    node(at) = value;
    return at;
  }

  void give_back(u32 at) noexcept {
    node(at).next = free_;
    free_ = at;
  }

  PlayerTable* table_;
  NumberMap<u32> heads_;
  Blocks<Node> nodes_{kBlock};
  u32 used_ = 0;
  u32 free_ = kNone;
};

}  // namespace toprung
