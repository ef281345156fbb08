// PositionMap: for each player a position in the journal, such as that of its newest submission.
//
// A batch is asked about before it is recorded and put in afterwards: previous() tells for each row what
// its player has before it, rows of the same batch included, and changes nothing.
#pragma once

#include "number_map.hpp"
#include "player_table.hpp"

namespace toprung {

class PositionMap {
 public:
  explicit PositionMap(PlayerTable& table) : table_(&table) {}
  PositionMap(const PositionMap&) = delete;
  PositionMap& operator=(const PositionMap&) = delete;

  Gate& gate() const noexcept { return table_->gate; }
  u32 size() const noexcept { return map_.size(); }
  std::size_t nbytes() const noexcept { return map_.nbytes(); }

  // 0 where there is none.
  i64 find(u32 number) const noexcept {
    const u64 position = map_.find(number);
    return position == kAbsent ? 0 : static_cast<i64>(position);
  }

  // A row of position 0 is not recorded: it has a predecessor, but is none.
  Vector<i64> previous(const Vector<u32>& numbers, const Vector<i64>& positions) const {
    require(numbers, positions);
    Vector<i64> found(numbers.size());
    NumberMap<u64> batch;
    batch.reserve(static_cast<u32>(numbers.size()), kNone);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const u64 earlier = batch.find(numbers[i]);
      found[i] = earlier == kAbsent ? find(numbers[i]) : static_cast<i64>(earlier);
      if (positions[i] != 0) set(batch, numbers[i], static_cast<u64>(positions[i]));
    }
    return found;
  }

  // The numbers that had no position before.
  Vector<u32> put(const Vector<u32>& numbers, const Vector<i64>& positions) {
    require(numbers, positions);
    Vector<u32> added;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (positions[i] == 0) continue;
      // Room for those who are new, one by one: a batch may be all of one player.
      if (map_.find(numbers[i]) == kAbsent) {
        added.push_back(numbers[i]);
        map_.reserve(1, table_->limit());
      }
      set(map_, numbers[i], static_cast<u64>(positions[i]));
    }
    return added;
  }

  void forget(u32 number) noexcept {
    if (map_.find(number) != kAbsent) map_.remove(number);
  }

  // Every number and its position.
  void items(Vector<u32>& numbers, Vector<i64>& positions) const {
    numbers.reserve(size());
    positions.reserve(size());
    map_.each([&](u32 number, u64 position) {
      numbers.push_back(number);
      positions.push_back(static_cast<i64>(position));
    });
  }

 private:
  static constexpr u64 kAbsent = NumberMap<u64>::kAbsent;

  static void set(NumberMap<u64>& map, u32 number, u64 position) noexcept {
    if (!map.add(number, position)) map.move(number, position);
  }

  void require(const Vector<u32>& numbers, const Vector<i64>& positions) const {
    if (numbers.size() != positions.size()) throw std::invalid_argument("a position for each number");
    for (const u32 number : numbers) {
      if (number >= table_->limit()) throw std::out_of_range("no such player number");
    }
    for (const i64 position : positions) {
      if (position < 0) throw std::invalid_argument("a position is not negative");
    }
  }

  PlayerTable* table_;
  NumberMap<u64> map_;
};

}  // namespace toprung
