// What every ranked set can do, whatever the width of its records. Tree<W> does it.
//
// A record is W words; the first `order` are compared as unsigned integers, then the player's id;
// the first `tied` decide who is tied. Callers hold the table's gate: `state` to look, `writers` and
// `state` to change. Numbers passed to put() are present in the table.
#pragma once

#include <memory>

#include "player_table.hpp"

namespace toprung {

inline constexpr unsigned kWordsMax = 4;
inline constexpr char kSetMagic[9] = "TOPRUNGS";

struct Shape {
  unsigned words = 2;
  unsigned order = 2;
  unsigned tied = 1;
  bool operator==(const Shape&) const = default;
  bool is_valid() const noexcept {
    return words >= 1 && words <= kWordsMax && order >= 1 && order <= words && tied >= 1 &&
           tied <= order;
  }
};

struct PlaceOf {
  bool found = false;
  u64 offset = 0;
  u64 tied_before = 0;
  u64 distinct_before = 0;
  u64 tied_until = 0;  // entries before the end of the tie group: those that are not worse
  u64 record[kWordsMax] = {};
};

// Roughly where an entry lies: of two entries whose words differ, the better has the smaller one.
struct RoughPlace {
  u64 word;
  u32 number;
};

// Rows copied out of the set and its table, so that Python objects are made without the mutex.
struct Rows {
  u64 start = 0;
  u64 size = 0;
  u64 tied_before = 0;
  u64 distinct_before = 0;
  u64 tied_until = 0;  // of the last row; the others are those of the first
  Vector<u32> numbers;
  Vector<u64> records;
  Vector<u16> id_lengths;
  Vector<u8> id_bytes;
};

class RankedSet : public NumberHolder {
 public:
  static std::unique_ptr<RankedSet> make(PlayerTable& table, const Shape& shape);

  RankedSet(PlayerTable& table, const Shape& shape) : table_(table), shape_(shape) {}
  RankedSet(const RankedSet&) = delete;
  RankedSet& operator=(const RankedSet&) = delete;
  virtual ~RankedSet() = default;

  PlayerTable& table() const noexcept { return table_; }
  const Shape& shape() const noexcept { return shape_; }
  u64 size() const noexcept { return size_; }
  // Counts changes: a plan made at one count is void at another.
  u64 modifications() const noexcept { return modifications_; }

  virtual bool contains(u32 number) const noexcept = 0;
  virtual bool find(u32 number, u64* record) const noexcept = 0;
  virtual i64 offset(u32 number) const noexcept = 0;
  virtual PlaceOf place(u32 number) const noexcept = 0;
  virtual u64 count_before(const u64* key, const IdView& id) const noexcept = 0;
  virtual u64 distinct_before(const u64* key) const noexcept = 0;
  virtual Rows rows(u64 start, u64 stop) const = 0;
  // Numbers (i64) and records (big-endian words) of `count` rows that exist, to places that need not
  // be aligned. Calls `pause` between chunks.
  virtual void copy_rows(u64 start, u64 count, u8* numbers, u8* records, const Pause& pause) const = 0;

  virtual void offsets(const u32* numbers, std::size_t count, i64* out) const noexcept = 0;
  virtual void places(const u32* numbers, std::size_t count, PlaceOf* out) const noexcept = 0;
  // Appends the rough places of those that have an entry to `out`, which has room for all.
  virtual void rough_places(const u32* numbers, std::size_t count,
                            Vector<RoughPlace>& out) const noexcept = 0;
  virtual void find_many(const u32* numbers, std::size_t count, u64* records,
                         u8* found) const noexcept = 0;

  // Each returns whether there was an entry before, and copies its record to `old`.
  virtual bool put(u32 number, const u64* record, u64* old) = 0;
  virtual bool remove(u32 number, u64* old) noexcept = 0;
  // Makes room for that many puts, `fresh` of them of new players, so that none of them can fail;
  // trim() gives back what they did not need.
  virtual void reserve(std::size_t puts, std::size_t fresh) = 0;
  virtual void trim() noexcept = 0;
  // After reserve().
  virtual void put_many(const u32* numbers, const u64* records, std::size_t count) = 0;
  // An empty set only; `records` row by row, in any order.
  virtual void build(const u32* numbers, const u64* records, std::size_t count) = 0;
  virtual void clear() noexcept = 0;

  std::size_t dump_bytes() const noexcept {
    return kHeaderBytes + padded(static_cast<std::size_t>(size_) * 4) +
           static_cast<std::size_t>(size_) * shape_.words * 8;
  }
  virtual void write_dump(u8* dump, std::size_t size, const Pause& pause) const = 0;
  // Room for size() numbers, a bit for each in `starts` (zeros; the lowest bit of a byte first) and a
  // word for each tie group; returns how many of those there are.
  virtual std::size_t write_order(u32* numbers, u8* starts, u64* words, const Pause& pause) const = 0;
  virtual void load(const u8* dump, std::size_t length, const DumpHeader& header) = 0;
  virtual std::size_t nbytes() const noexcept = 0;
  virtual void check() const = 0;

 protected:
  PlayerTable& table_;
  const Shape shape_;
  u64 size_ = 0;
  u64 modifications_ = 0;
};

}  // namespace toprung
