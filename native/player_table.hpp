// The player table: every id once, named by a 32-bit number, for all sets over it.
//
// Numbers are given in sequence, so the ids lie in the arena in the order of their numbers, each as
// one length byte (length - 1) and its bytes, never across two arena chunks. That order makes a
// place in the arena cheap to keep: a group of 28 numbers shares one 8-byte base and adds 2 bytes
// each, one cache line in all. The high bit of those 2 bytes marks a forgotten id; its bytes are
// wiped and its number is a hole for ever.
//
// id -> number is an open-addressing table with linear probing and backward-shift deletion. A slot
// is 32 bits of hash and the number: a probe reads an id only when those 32 bits agree, and the
// table grows without reading any id.
//
// A number that a set still holds can be neither forgotten nor taken back: the id orders its ties.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "blocks.hpp"
#include "dump.hpp"
#include "gate.hpp"

namespace toprung {

inline constexpr std::size_t kIdBytesMax = 256;
inline constexpr char kTableMagic[9] = "TOPRUNGP";

// An id somewhere in memory; by default the empty one, which may be compared and is nobody's.
inline constexpr u8 kEmptyId[1] = {0};
struct IdView {
  const u8* bytes = kEmptyId;
  u32 length = 0;
};

inline int compare_ids(const IdView& a, const IdView& b) noexcept {
  const int order = std::memcmp(a.bytes, b.bytes, std::min(a.length, b.length));
  if (order != 0) return order;
  return a.length < b.length ? -1 : (a.length > b.length ? 1 : 0);
}

struct unknown_player : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a table needs to know of the sets over it.
class NumberHolder {
 public:
  virtual bool holds_any(u32 first, u32 limit) const noexcept = 0;

 protected:
  ~NumberHolder() = default;

 private:
  friend class PlayerTable;
  std::size_t seat_ = 0;  // in the table's list
};

class PlayerTable {
 public:
  explicit PlayerTable(u32 number_limit = kNone) : number_limit_(number_limit) {}
  PlayerTable(const PlayerTable&) = delete;
  PlayerTable& operator=(const PlayerTable&) = delete;
  ~PlayerTable() { release_large(slots_, slot_count() * sizeof(u64)); }

  Gate gate;

  u32 limit() const noexcept { return limit_; }
  u32 present() const noexcept { return present_; }
  // Counts truncations: what was planned with numbers from before one must not be applied after.
  u64 truncations() const noexcept { return truncations_; }
  u64 forgettings() const noexcept { return forgettings_; }

  u32 tag_of(const IdView& id) const noexcept {
    return static_cast<u32>(hash_bytes(id.bytes, id.length, key_));
  }

  bool is_present(u32 number) const noexcept {
    return number < limit_ && (*delta_of(number) & kForgotten) == 0;
  }

  void require(u32 number) const {
    if (number >= limit_) throw std::out_of_range("no such player number");
    if (!is_present(number)) throw unknown_player("this player was forgotten");
  }

  // The id of a number below limit(); the length of a forgotten one is as it was, its bytes are 0.
  IdView id_of(u32 number) const noexcept {
    const u8* place = arena_at(place_of(number));
    return {place + 1, static_cast<u32>(place[0]) + 1};
  }

  // The ids of numbers (packed i64, which need not be aligned), one after the other, and where each
  // begins and the last one ends. A forgotten id is empty. Calls `pause` between chunks, in which
  // nothing may change.
  void copy_ids(const u8* numbers, std::size_t count, Vector<i32>& offsets, Vector<u8>& bytes,
                const Pause& pause) const {
    offsets.reserve(count + 1);
    offsets.push_back(0);
    std::size_t end = 0;
    each_id(numbers, count, pause, [&](const IdView& id) {
      end += id.length;
      if (end > kIdsBytesMax) throw std::overflow_error("these ids have 2 GiB or more");
      offsets.push_back(static_cast<i32>(end));
    });
    bytes.reserve(end);
    each_id(numbers, count, pause, [&](const IdView& id) {
      bytes.insert(bytes.end(), id.bytes, id.bytes + id.length);
    });
  }

  int compare_with(u32 number, const IdView& id) const noexcept {
    return compare_ids(id_of(number), id);
  }

  u32 find(const IdView& id, u32 tag) const noexcept {
    if (slots_ == nullptr) return kNone;
    for (u64 i = tag & mask_;; i = (i + 1) & mask_) {
      const u64 slot = slots_[i];
      if (slot == kEmpty) return kNone;
      if (static_cast<u32>(slot >> 32) != tag) continue;
      const u32 number = static_cast<u32>(slot);
      const IdView known = id_of(number);
      if (known.length == id.length && std::memcmp(known.bytes, id.bytes, id.length) == 0) {
        return number;
      }
    }
  }

  // The three steps of find() that wait for memory, split so that a batch overlaps its waits.
  void prefetch_slot(u32 tag) const noexcept {
    if (slots_ != nullptr) prefetch(&slots_[tag & mask_]);
  }
  u32 guess(u32 tag) const noexcept {
    if (slots_ == nullptr) return kNone;
    for (u64 i = tag & mask_;; i = (i + 1) & mask_) {
      const u64 slot = slots_[i];
      if (slot == kEmpty) return kNone;
      if (static_cast<u32>(slot >> 32) == tag) return static_cast<u32>(slot);
    }
  }
  void prefetch_group(u32 number) const noexcept { prefetch(group_of(number)); }
  void prefetch_id(u32 number) const noexcept { prefetch(arena_at(place_of(number))); }

  u32 intern(const IdView& id, u32 tag) {
    const u32 known = find(id, tag);
    if (known != kNone) return known;
    if (limit_ >= number_limit_) throw std::overflow_error("the player table is full");
    reserve_slots(u64{present_} + 1);
    append(id, false);
    add_slot(tag, limit_ - 1);
    return limit_ - 1;
  }

  // Wipes an id. A number forgotten before stays so. Looking whether a set holds the number takes as long
  // as there are sets; whoever has taken it off all of them may say so.
  void forget(u32 number, bool is_off_all_sets) {
    if (number >= limit_) throw std::out_of_range("no such player number");
    if (!is_present(number)) return;
    if (!is_off_all_sets) refuse_if_held(number, number + 1);
    drop_slot(number);
    u8* place = arena_at(place_of(number));
    std::memset(place + 1, 0, static_cast<std::size_t>(place[0]) + 1);
    *delta_of(number) |= kForgotten;
    ++forgettings_;
  }

  void truncate(u32 limit) {
    if (limit >= limit_) return;
    refuse_if_held(limit, limit_);
    end_ = place_of(limit);
    for (; limit_ > limit; --limit_) {
      if (is_present(limit_ - 1)) drop_slot(limit_ - 1);
    }
    held_limit_ = std::min(held_limit_, limit);
    ++truncations_;
  }

  std::size_t nbytes() const noexcept {
    return sizeof *this + slot_count() * sizeof(u64) + pages_.nbytes() + arena_.nbytes();
  }

  std::size_t dump_bytes() const noexcept {
    std::size_t bytes = 0;
    for (u32 n = 0; n < limit_; ++n) bytes += is_present(n) ? id_of(n).length : 0;
    return kHeaderBytes + padded(std::size_t{limit_} * 2) + padded(bytes);
  }

  // Body of a dump: a u16 length per number (0 = a hole), then the bytes of all ids.
  void write_dump(u8* dump, std::size_t size, const Pause& pause) const {
    head_dump(dump, size, kTableMagic, {{}, limit_});
    u8* const ids = dump + kHeaderBytes + padded(std::size_t{limit_} * 2);
    u8* lengths = dump + kHeaderBytes;
    u8* out = ids;
    for (u32 n = 0; n < limit_; ++n, lengths += 2) {
      const IdView id = is_present(n) ? id_of(n) : IdView{};
      const u16 length = static_cast<u16>(id.length);
      std::memcpy(lengths, &length, 2);
      if (length > 0) std::memcpy(out, id.bytes, length);
      out += length;
      if (n % kDumpChunk == kDumpChunk - 1) pause();
    }
    std::fill(lengths, ids, u8{0});
    std::fill(out, dump + size, u8{0});
  }

  // Fills a new table.
  void load(const u8* dump, std::size_t length) {
    const DumpHeader header = open_dump(dump, length, kTableMagic);
    const std::size_t body = length - kHeaderBytes;
    if (header.shape != std::array<u8, 4>{}) throw std::invalid_argument("the dump is malformed");
    if (header.count > body / 2 || header.count > number_limit_) {
      throw std::invalid_argument("the dump holds fewer players than it says");
    }
    const std::size_t count = static_cast<std::size_t>(header.count);
    const u8* lengths = dump + kHeaderBytes;
    std::size_t bytes = 0;
    u64 present = 0;
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t id_length = length_at(lengths, n);
      if (id_length > kIdBytesMax) throw std::invalid_argument("an id in the dump is too long");
      bytes += id_length;
      present += id_length > 0;
    }
    if (kHeaderBytes + padded(count * 2) + padded(bytes) != length) {
      throw std::invalid_argument("the dump's ids do not fill it");
    }
    reserve_slots(present);
    load_ids(lengths, dump + kHeaderBytes + padded(count * 2), count);
  }

  void enlist(NumberHolder* holder) {
    const std::lock_guard guard(holders_mutex_);
    holder->seat_ = holders_.size();
    holders_.push_back(holder);
  }
  // In constant time: a board that is deleted may have had a hundred thousand sets.
  void dismiss(const NumberHolder* holder) noexcept {
    const std::lock_guard guard(holders_mutex_);
    holders_.back()->seat_ = holder->seat_;
    holders_[holder->seat_] = holders_.back();
    holders_.pop_back();
  }

  // A set has taken the number in. Sets never held numbers beyond these, so taking such numbers back, which
  // every refused newcomer leads to, needs no look at any set.
  void note_held(u32 number) noexcept { held_limit_ = std::max(held_limit_, number + 1); }

  void check() const {
    const auto demand = [](bool holds, const char* what) {
      if (!holds) throw std::runtime_error(std::string("player table: ") + what);
    };
    u64 place = 0;
    u32 present = 0;
    for (u32 n = 0; n < limit_; ++n) {
      demand(place_of(n) >= place && place_of(n) - place <= kIdBytesMax, "arena order");
      place = place_of(n);
      const IdView id = id_of(n);
      demand(place % kChunkBytes + 1 + id.length <= kChunkBytes, "an id crosses chunks");
      place += 1 + id.length;
      if (is_present(n)) {
        ++present;
        demand(find(id, tag_of(id)) == n, "an id is not found by its hash");
      } else {
        demand(std::all_of(id.bytes, id.bytes + id.length, [](u8 b) { return b == 0; }),
               "a forgotten id has bytes");
      }
    }
    demand(place == end_, "arena end");
    demand(present == present_, "count of present ids");
    demand(end_ <= arena_.size() * kChunkBytes, "arena size");
    u64 taken = 0;
    for (u64 i = 0; i < slot_count(); ++i) taken += slots_[i] != kEmpty;
    demand(taken == present_, "slots in use");
  }

 private:
  static constexpr u64 kEmpty = ~u64{0};
  static constexpr u16 kForgotten = 0x8000;
  static constexpr u32 kGroupNumbers = 28;
  static constexpr u32 kPageGroups = 64;
  static constexpr u32 kPageNumbers = kGroupNumbers * kPageGroups;
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 16;
  static constexpr std::size_t kIdsBytesMax = std::numeric_limits<i32>::max();

  struct Group {
    u64 base;
    u16 delta[kGroupNumbers];
  };
  static_assert(sizeof(Group) == 64);

  const Group* group_of(u32 number) const noexcept {
    return pages_[number / kPageNumbers] + number % kPageNumbers / kGroupNumbers;
  }
  Group* group_of(u32 number) noexcept {
    return pages_[number / kPageNumbers] + number % kPageNumbers / kGroupNumbers;
  }
  const u16* delta_of(u32 number) const noexcept {
    return &group_of(number)->delta[number % kGroupNumbers];
  }
  u16* delta_of(u32 number) noexcept { return &group_of(number)->delta[number % kGroupNumbers]; }
  u64 place_of(u32 number) const noexcept {
    const Group* group = group_of(number);
    return group->base + (group->delta[number % kGroupNumbers] & (kForgotten - 1u));
  }
  const u8* arena_at(u64 place) const noexcept {
    return arena_[place / kChunkBytes] + place % kChunkBytes;
  }
  u8* arena_at(u64 place) noexcept { return arena_[place / kChunkBytes] + place % kChunkBytes; }

  u32 known_number(i64 number) const {
    if (number < 0 || number >= i64{limit_}) throw std::out_of_range("no such player number");
    return static_cast<u32>(number);
  }
  // In blocks, so that waits for memory overlap.
  template <class Take>
  void each_id(const u8* numbers, std::size_t count, const Pause& pause, Take take) const {
    constexpr std::size_t kBlock = 32;
    u32 block[kBlock];
    for (std::size_t done = 0; done < count; done += kBlock) {
      const std::size_t size = std::min(kBlock, count - done);
      for (std::size_t i = 0; i < size; ++i) {
        block[i] = known_number(static_cast<i64>(read64(numbers + 8 * (done + i))));
        prefetch_group(block[i]);
      }
      for (std::size_t i = 0; i < size; ++i) prefetch_id(block[i]);
      for (std::size_t i = 0; i < size; ++i) take(is_present(block[i]) ? id_of(block[i]) : IdView{});
      if (done % kDumpChunk == kDumpChunk - kBlock) pause();
    }
  }

  static std::size_t length_at(const u8* lengths, std::size_t n) noexcept {
    u16 length;
    std::memcpy(&length, lengths + n * 2, 2);
    return length;
  }

  // Adds an id, or a hole of one zero byte, as the next number; slots are the caller's business.
  void append(const IdView& id, bool hole) {
    const u64 bytes = 1 + u64{id.length};
    u64 place = end_;
    if (place % kChunkBytes + bytes > kChunkBytes) place += kChunkBytes - place % kChunkBytes;
    if (place / kChunkBytes >= arena_.size()) arena_.push();
    if (limit_ / kPageNumbers >= pages_.size()) pages_.push();
    Group* group = group_of(limit_);
    if (limit_ % kGroupNumbers == 0) group->base = place;
    const u64 delta = place - group->base;
    group->delta[limit_ % kGroupNumbers] = static_cast<u16>(delta | (hole ? kForgotten : 0u));
    u8* out = arena_at(place);
    out[0] = static_cast<u8>(id.length - 1);
    std::memcpy(out + 1, id.bytes, id.length);
    end_ = place + bytes;
    ++limit_;
  }

  void load_ids(const u8* lengths, const u8* ids, std::size_t count) {
    constexpr std::size_t kAhead = 16;
    u32 tags[kAhead];
    u32 numbers[kAhead];
    std::size_t waiting = 0;
    const auto settle = [&] {
      for (std::size_t i = 0; i < waiting; ++i) {
        if (find(id_of(numbers[i]), tags[i]) != kNone) {
          throw std::invalid_argument("the dump holds an id twice");
        }
        add_slot(tags[i], numbers[i]);
      }
      waiting = 0;
    };
    const u8 nothing = 0;
    for (std::size_t n = 0; n < count; ++n) {
      const u32 length = static_cast<u32>(length_at(lengths, n));
      if (length == 0) {
        append({&nothing, 1}, true);
        continue;
      }
      const IdView id{ids, length};
      append(id, false);
      tags[waiting] = tag_of(id);
      numbers[waiting] = limit_ - 1;
      prefetch_slot(tags[waiting]);
      if (++waiting == kAhead) settle();
      ids += length;
    }
    settle();
  }

  u64 slot_count() const noexcept { return slots_ == nullptr ? 0 : mask_ + 1; }

  void reserve_slots(u64 count) {
    u64 slots = slot_count();
    if (count * 5 <= slots * 4) return;
    slots = std::max<u64>(slots, 16);
    while (count * 5 > slots * 4) slots *= 2;
    u64* fresh = static_cast<u64*>(allocate_large(slots * sizeof(u64)));
    std::fill(fresh, fresh + slots, kEmpty);
    const u64 old_slots = slot_count();
    std::swap(fresh, slots_);
    mask_ = slots - 1;
    if (fresh == nullptr) return;
    for (u64 i = 0; i < old_slots; ++i) {
      if (fresh[i] != kEmpty) place_slot(fresh[i]);
    }
    release_large(fresh, old_slots * sizeof(u64));
  }
  void place_slot(u64 slot) noexcept {
    u64 i = (slot >> 32) & mask_;
    while (slots_[i] != kEmpty) i = (i + 1) & mask_;
    slots_[i] = slot;
  }
  void add_slot(u32 tag, u32 number) noexcept {
    place_slot(u64{tag} << 32 | number);
    ++present_;
  }
  void drop_slot(u32 number) noexcept {
    const u32 tag = tag_of(id_of(number));
    u64 hole = tag & mask_;
    while (static_cast<u32>(slots_[hole]) != number) hole = (hole + 1) & mask_;
    for (u64 i = (hole + 1) & mask_; slots_[i] != kEmpty; i = (i + 1) & mask_) {
      const u64 home = (slots_[i] >> 32) & mask_;
      // A slot may move back into the hole unless its home lies after the hole.
      if (((i - home) & mask_) >= ((i - hole) & mask_)) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole] = kEmpty;
    --present_;
  }

  void refuse_if_held(u32 first, u32 limit) {
    if (first >= held_limit_) return;
    const std::lock_guard guard(holders_mutex_);
    for (const NumberHolder* holder : holders_) {
      if (holder->holds_any(first, limit)) {
        throw std::invalid_argument("a ranked set still holds this player");
      }
    }
  }

  const HashKey key_ = HashKey::random();
  const u32 number_limit_;
  u32 limit_ = 0;
  u32 present_ = 0;
  u32 held_limit_ = 0;
  u64 truncations_ = 0;
  u64 forgettings_ = 0;
  u64 end_ = 0;
  u64 mask_ = 0;
  u64* slots_ = nullptr;
  Blocks<Group> pages_{kPageGroups};
  Blocks<u8> arena_{kChunkBytes};
  std::mutex holders_mutex_;
  Vector<NumberHolder*> holders_;
};

}  // namespace toprung
