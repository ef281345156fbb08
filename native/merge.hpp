// Merge: a batch of submissions folded over many sets, seen by nobody until apply().
//
// A record here is [score][subscore]?[at][version]: `tied` words of raw int64 values encoded so that
// unsigned order is best first, the time encoded likewise, and the journal position as it is.
//
// plan():  one slot per distinct (player, set) holds the record as the batch sees it. Slots are
//          filled set by set with their memory waits overlapped, then rows are folded over them in
//          sequence, touching nothing else.
// apply(): changed slots are written in chunks of players, all sets of a player within one chunk, so
//          no reader sees half a submission. Between chunks readers get their turn. All memory is
//          reserved before the first write.
//
// A row that improves by more than `max_increase` is refused. What it is compared with is the player's
// record on its route's guard: the first set of the route, or another one that is read and not written.
// So is one that improves by more than `per_amount` in `per_span` microseconds, pro rata to the time since
// that record was achieved. A row that leads to a record on the guard with a better score, which is at
// least as good as the row's *limit*, is suspect: it does nothing, but it gets hold of its claim. There is
// `room` for so many of them; those after that are refused.
//
// Rows may carry a claim, of which one row of the batch gets hold: the first that is not refused. Rows
// after it with the same claim are repeated: they do nothing.
//
// Callers who wait for one submission want to know where its player stood before the batch and stands
// after it. A route's watched sets are those where that is looked up, by plan() and by apply().
#pragma once

#include <array>
#include <atomic>
#include <utility>

#include "ranked_set.hpp"

namespace toprung {

enum class Rule { keep_better, replace, add };
enum class Status : u8 {
  unchanged = 0,
  accepted = 1,
  overflow = 2,
  excessive = 3,
  repeated = 4,
  hasty = 5,
  suspect = 6,
  crowded = 7
};

struct MergeOptions {
  Rule rule = Rule::keep_better;
  u64 first_version = 0;
  u32 descending = 1;
  bool last_wins = false;
  bool has_max_increase = false;
  i64 max_increase = 0;
  bool has_max_per = false;
  i64 per_amount = 0;
  i64 per_span = 0;
  u64 room = 0;
};

class Merge {
 public:
  // `sets` are distinct and of one shape over one table; a route lists indexes into them, and
  // `watched` for each route indexes into that (or is empty: nothing is watched). `guards` names for
  // each route one of the sets, or kNone; if it is empty, the first set of the route is its guard.
  // `claims` names for each row a number below that of rows, or kNone; if it is empty, no row has one.
  // `limits` has two numbers for each row: whether it has a limit, and which; if it is empty, none has.
  Merge(PlayerTable* table, Vector<RankedSet*> sets, Vector<Vector<u32>> routes,
        Vector<Vector<u32>> watched, Vector<u32> guards, Vector<u32> claims, Vector<i64> limits,
        Vector<i64> rows, unsigned tied, const MergeOptions& options)
      : table_(table),
        sets_(std::move(sets)),
        routes_(std::move(routes)),
        watched_(std::move(watched)),
        guards_(std::move(guards)),
        claims_(std::move(claims)),
        limits_(std::move(limits)),
        rows_(std::move(rows)),
        options_(options),
        tied_(tied),
        words_(tied_ + 2),
        width_(tied_ + 3),
        row_count_(rows_.size() / width_) {}
  Merge(const Merge&) = delete;
  Merge& operator=(const Merge&) = delete;

  std::size_t size() const noexcept { return row_count_; }
  bool is_gate_free() const noexcept { return table_ == nullptr || table_->gate.is_free(); }
  unsigned words() const noexcept { return words_; }
  const Vector<u8>& statuses() const noexcept { return statuses_; }
  const Vector<i64>& versions() const noexcept { return versions_; }
  // What rows that are suspect would lead to: a score for each row, or nothing if no row has a limit.
  const Vector<i64>& led_to() const noexcept { return led_to_; }

  // The sets of a row's route, each with its record before (if any) and after that row.
  struct Change {
    bool had;
    const u64* before;
    const u64* after;
  };
  std::size_t change_count(std::size_t row) const noexcept {
    const bool refused = statuses_[row] > static_cast<u8>(Status::accepted);
    return refused ? 0 : routes_[route_of(row)].size();
  }
  Change change(std::size_t row, std::size_t index) const noexcept {
    const std::size_t at = change_at_[row] + index;
    return {had_[at] != 0, &history_[at * 2 * words_], &history_[(at * 2 + 1) * words_]};
  }

  // What a row did on the watched sets of its route: none for a row that was refused.
  struct Outcome {
    bool had;
    i64 previous;  // score
    i64 score;
    const PlaceOf* before;
    const PlaceOf* after;  // null until it is applied
    u64 total;
  };
  std::size_t outcome_count(std::size_t row) const noexcept {
    return change_count(row) == 0 || watched_.empty() ? 0 : watched_[route_of(row)].size();
  }
  Outcome outcome(std::size_t row, std::size_t index) const noexcept {
    const u32 at = watched_[route_of(row)][index];
    const u32 slot = slot_ids_[blocks_[block_of_[row]].first + at];
    const Change changed = change(row, at);
    const bool applied = looked_after_.load(std::memory_order_acquire);
    const auto score = [&](const u64* record) { return decode(record[0], descends(0)); };
    return {changed.had,
            changed.had ? score(changed.before) : 0,
            score(changed.after),
            &before_[slot],
            applied ? &after_[slot] : nullptr,
            applied ? totals_[slots_[slot].set] : 0};
  }

  void plan() {
    for (std::size_t row = 0; row < row_count_; ++row) {
      const i64 route = cell(row, 1);
      if (route < 0 || static_cast<u64>(route) >= routes_.size()) {
        throw std::out_of_range("a row names a route that does not exist");
      }
    }
    make_slots();
    gather();
    fold();
  }

  std::size_t apply() {
    if (table_ == nullptr) {
      if (std::exchange(applied_, true)) throw std::runtime_error("this merge was applied before");
      return 0;
    }
    const std::lock_guard writing(table_->gate.writers);
    std::unique_lock state(table_->gate.state);
    refuse_if_void();
    Chunks chunks = chunk_slots();
    const std::size_t written = reserve();
    applied_ = true;
    for (const u32 first : chunks.first) {
      write_chunk(first, chunks);
      table_->gate.state.give_way();
    }
    for (RankedSet* set : sets_) set->trim();
    look_up(after_);
    for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] = sets_[i]->size();
    looked_after_.store(true, std::memory_order_release);
    return written;
  }

 private:
  static constexpr u32 kChunkPlayers = 128;
  static constexpr std::size_t kGatherChunk = 1024;
  static constexpr std::size_t kLookChunk = 128;

  struct Slot {
    u32 number;
    u32 player;  // index into players_
    u32 set;
    bool existed;  // before the batch
    bool exists;
    bool changed;
    bool watched;
  };
  // The slots of one player on one route, in the route's order, and the slot of the route's guard.
  struct Block {
    u32 route;
    u32 first;  // index into slot_ids_
    u32 guard;  // kNone: nothing to compare with
    u32 next;   // another block of the same player
  };
  struct Player {
    u32 number;
    u32 block;
  };
  // Changed slots by chunk of players, as linked lists.
  struct Chunks {
    Vector<u32> first;
    Vector<u32> next;
    Vector<u32> head;
    Vector<u32> touched;
    Vector<u32> numbers;
    Vector<u64> records;
  };

  i64 cell(std::size_t row, unsigned column) const noexcept { return rows_[row * width_ + column]; }
  std::size_t route_of(std::size_t row) const noexcept { return static_cast<std::size_t>(cell(row, 1)); }
  u64* record_of(u32 slot) noexcept { return &records_[std::size_t{slot} * words_]; }

  // ---- slots -----------------------------------------------------------------------------------

  void make_slots() {
    std::size_t buckets = 16;
    while (buckets < row_count_ * 2) buckets *= 2;
    Vector<u32> index(buckets, kNone);
    block_of_.resize(row_count_);
    change_at_.resize(row_count_);
    players_.reserve(row_count_);
    std::size_t changes = 0;
    for (std::size_t row = 0; row < row_count_; ++row) {
      const i64 raw = cell(row, 0);
      if (raw < 0 || raw >= i64{kNone}) throw std::out_of_range("no such player number");
      const u32 player = player_index(index, static_cast<u32>(raw));
      block_of_[row] = block_index(player, static_cast<u32>(route_of(row)));
      change_at_[row] = changes;
      changes += routes_[route_of(row)].size();
    }
    records_.resize(slots_.size() * words_);
    history_.resize(changes * 2 * words_);
    had_.resize(changes);
  }

  u32 player_index(Vector<u32>& index, u32 number) {
    const std::size_t mask = index.size() - 1;
    std::size_t i = static_cast<std::size_t>(u64{number} * 0x9e3779b97f4a7c15u >> 32) & mask;
    for (; index[i] != kNone; i = (i + 1) & mask) {
      if (players_[index[i]].number == number) return index[i];
    }
    index[i] = static_cast<u32>(players_.size());
    players_.push_back({number, kNone});
    return index[i];
  }

  u32 block_index(u32 player, u32 route) {
    for (u32 b = players_[player].block; b != kNone; b = blocks_[b].next) {
      if (blocks_[b].route == route) return b;
    }
    const u32 first = static_cast<u32>(slot_ids_.size());
    for (const u32 set : routes_[route]) slot_ids_.push_back(slot_for(player, set));
    if (!watched_.empty()) {
      for (const u32 at : watched_[route]) slots_[slot_ids_[first + at]].watched = true;
    }
    blocks_.push_back({route, first, guard_slot(player, route, first), players_[player].block});
    players_[player].block = static_cast<u32>(blocks_.size() - 1);
    return players_[player].block;
  }

  u32 guard_slot(u32 player, u32 route, u32 first) {
    if (!options_.has_max_increase && !options_.has_max_per && limits_.empty()) return kNone;
    const Vector<u32>& sets = routes_[route];
    if (guards_.empty()) return sets.empty() ? kNone : slot_ids_[first];
    if (guards_[route] == kNone) return kNone;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i] == guards_[route]) return slot_ids_[first + i];
    }
    return slot_for(player, guards_[route]);
  }

  u32 slot_for(u32 player, u32 set) {
    for (u32 b = players_[player].block; b != kNone; b = blocks_[b].next) {
      if (blocks_[b].guard != kNone && slots_[blocks_[b].guard].set == set) return blocks_[b].guard;
      const std::size_t count = routes_[blocks_[b].route].size();
      for (std::size_t i = 0; i < count; ++i) {
        const u32 slot = slot_ids_[blocks_[b].first + i];
        if (slots_[slot].set == set) return slot;
      }
    }
    slots_.push_back({players_[player].number, player, set, false, false, false, false});
    return static_cast<u32>(slots_.size() - 1);
  }

  // Fills the slots with what the sets hold now, set by set.
  void gather() {
    if (table_ == nullptr) return;
    Vector<u32> next(slots_.size());
    Vector<u32> head(sets_.size(), kNone);
    for (u32 i = static_cast<u32>(slots_.size()); i-- > 0;) {
      next[i] = head[slots_[i].set];
      head[slots_[i].set] = i;
    }
    Vector<u32> ids(kGatherChunk);
    Vector<u32> numbers(kGatherChunk);
    Vector<u64> records(kGatherChunk * words_);
    Vector<u8> found(kGatherChunk);
    seen_.resize(sets_.size());

    const std::lock_guard writing(table_->gate.writers);
    const std::lock_guard state(table_->gate.state);
    for (const Player& player : players_) table_->require(player.number);
    truncations_ = table_->truncations();
    forgettings_ = table_->forgettings();
    for (u32 set = 0; set < sets_.size(); ++set) {
      seen_[set] = sets_[set]->modifications();
      for (u32 slot = head[set]; slot != kNone;) {
        std::size_t count = 0;
        for (; slot != kNone && count < kGatherChunk; slot = next[slot], ++count) {
          ids[count] = slot;
          numbers[count] = slots_[slot].number;
        }
        sets_[set]->find_many(numbers.data(), count, records.data(), found.data());
        for (std::size_t i = 0; i < count; ++i) {
          if (found[i] == 0) continue;
          slots_[ids[i]].existed = slots_[ids[i]].exists = true;
          std::copy_n(&records[i * words_], words_, record_of(ids[i]));
        }
        table_->gate.state.give_way();
      }
    }
    watch();
  }

  // Finds out who is watched, in the order of sets, and where they stand.
  void watch() {
    for (u32 slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot].watched) watched_slots_.push_back(slot);
    }
    if (watched_slots_.empty()) return;
    std::stable_sort(watched_slots_.begin(), watched_slots_.end(),
                     [&](u32 a, u32 b) { return slots_[a].set < slots_[b].set; });
    before_.resize(slots_.size());
    after_.resize(slots_.size());
    totals_.resize(sets_.size());
    look_up(before_);
  }

  // Never fails: it is called when the batch has been written.
  void look_up(Vector<PlaceOf>& places) {
    std::array<u32, kLookChunk> numbers;
    std::array<PlaceOf, kLookChunk> found;
    for (std::size_t first = 0, next = 0; first < watched_slots_.size(); first = next) {
      const u32 set = slots_[watched_slots_[first]].set;
      for (; next < watched_slots_.size() && next - first < kLookChunk; ++next) {
        const Slot& slot = slots_[watched_slots_[next]];
        if (slot.set != set) break;
        numbers[next - first] = slot.number;
      }
      sets_[set]->places(numbers.data(), next - first, found.data());
      for (std::size_t i = first; i < next; ++i) places[watched_slots_[i]] = found[i - first];
      table_->gate.state.give_way();
    }
  }

  // ---- the fold --------------------------------------------------------------------------------

  static constexpr u64 kSign = u64{1} << 63;
  u64 encode(i64 value, bool inverted) const noexcept {
    const u64 word = static_cast<u64>(value) ^ kSign;
    return inverted ? ~word : word;
  }
  i64 decode(u64 word, bool inverted) const noexcept {
    return static_cast<i64>((inverted ? ~word : word) ^ kSign);
  }
  bool descends(unsigned word) const noexcept { return (options_.descending >> word & 1) != 0; }

  void fold() {
    statuses_.resize(row_count_);
    versions_.resize(row_count_);
    std::size_t widest = 0;
    for (const auto& route : routes_) widest = std::max(widest, route.size());
    Vector<u64> results(widest * words_);
    Vector<u8> wins(widest);
    Vector<u8> claimed(claims_.size());
    led_to_.resize(limits_.size() / 2);
    u64 room = options_.room;
    u64 version = options_.first_version;
    for (std::size_t row = 0; row < row_count_; ++row) {
      const u32 claim = claims_.empty() ? kNone : claims_[row];
      const bool repeats = claim != kNone && claimed[claim] != 0;
      Status status = repeats ? Status::repeated : fold_row(row, version, results.data(), wins.data());
      if (status == Status::suspect && room-- == 0) {
        status = Status::crowded;
        room = 0;
      }
      statuses_[row] = static_cast<u8>(status);
      versions_[row] = 0;
      if (claim != kNone && (status <= Status::accepted || status == Status::suspect)) claimed[claim] = 1;
      if (status > Status::accepted) continue;
      versions_[row] = static_cast<i64>(version++);
    }
  }

  Status fold_row(std::size_t row, u64 version, u64* results, u8* wins) {
    const std::size_t count = routes_[route_of(row)].size();
    const u32* ids = slot_ids_.data() + blocks_[block_of_[row]].first;
    u64 fresh[kWordsMax];
    for (unsigned w = 0; w < tied_; ++w) fresh[w] = encode(cell(row, 3 + w), descends(w));
    fresh[tied_] = encode(cell(row, 2), options_.last_wins);
    fresh[tied_ + 1] = version;
    const u32 guard = blocks_[block_of_[row]].guard;
    if (is_excessive(row, guard)) return Status::excessive;
    if (is_hasty(row, guard)) return Status::hasty;
    for (std::size_t i = 0; i < count; ++i) {
      const Decision decision = decide(row, ids[i], fresh, results + i * words_);
      if (decision == Decision::overflows) return Status::overflow;
      wins[i] = decision == Decision::wins;
    }
    if (!limits_.empty() && limits_[row * 2] != 0) {
      u64 led_to[kWordsMax];
      const Decision decision = guard == kNone ? Decision::wins : decide(row, guard, fresh, led_to);
      if (decision == Decision::overflows) return Status::overflow;
      if (guard == kNone) std::copy_n(fresh, words_, led_to);
      led_to_[row] = decode(led_to[0], descends(0));
      if (decision == Decision::wins && is_suspect(row, guard, led_to[0])) return Status::suspect;
    }
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) {
      Slot& slot = slots_[ids[i]];
      u64* current = record_of(ids[i]);
      const u64* result = results + i * words_;
      const std::size_t at = change_at_[row] + i;
      had_[at] = slot.exists;
      std::copy_n(current, words_, &history_[at * 2 * words_]);
      std::copy_n(result, words_, &history_[(at * 2 + 1) * words_]);
      if (wins[i] == 0) continue;
      any = slot.exists = slot.changed = true;
      std::copy_n(result, words_, current);
    }
    return any ? Status::accepted : Status::unchanged;
  }

  // By how much a row improves the record on its guard, which exists.
  i128 increase(std::size_t row, u32 guard) noexcept {
    const i128 score = cell(row, 3);
    const bool down = descends(0);
    if (options_.rule == Rule::add) return down ? score : -score;
    const i128 held = decode(record_of(guard)[0], down);
    return down ? score - held : held - score;
  }

  bool is_excessive(std::size_t row, u32 guard) noexcept {
    if (!options_.has_max_increase || guard == kNone || !slots_[guard].exists) return false;
    return increase(row, guard) > options_.max_increase;
  }

  // Times are those of a calendar, so nothing here leaves 128 bits.
  bool is_hasty(std::size_t row, u32 guard) noexcept {
    if (!options_.has_max_per || guard == kNone || !slots_[guard].exists) return false;
    const i128 gain = increase(row, guard);
    if (gain <= 0) return false;
    const i128 passed = i128{cell(row, 2)} - decode(record_of(guard)[tied_], options_.last_wins);
    return gain * options_.per_span > (passed > 0 ? passed : 0) * options_.per_amount;
  }

  // Words are ordered best first, so the better score is the lower word.
  bool is_suspect(std::size_t row, u32 guard, u64 word) noexcept {
    if (guard != kNone && slots_[guard].exists && word >= record_of(guard)[0]) return false;
    return word <= encode(limits_[row * 2 + 1], descends(0));
  }

  enum class Decision { loses, wins, overflows };

  // What a row makes of one record.
  Decision decide(std::size_t row, u32 slot, const u64* fresh, u64* result) noexcept {
    const u64* current = record_of(slot);
    std::copy_n(fresh, words_, result);
    if (!slots_[slot].exists) return Decision::wins;
    bool wins = false;
    switch (options_.rule) {
      case Rule::add:
        return add(row, current, result) ? Decision::wins : Decision::overflows;
      case Rule::keep_better:
        wins = std::lexicographical_compare(fresh, fresh + tied_ + 1, current, current + tied_ + 1);
        break;
      case Rule::replace:
        wins = cell(row, 2) >= decode(current[tied_], options_.last_wins);
        break;
    }
    if (!wins) std::copy_n(current, words_, result);
    return wins ? Decision::wins : Decision::loses;
  }

  bool add(std::size_t row, const u64* current, u64* result) noexcept {
    for (unsigned w = 0; w < tied_; ++w) {
      i64 sum;
      if (__builtin_add_overflow(decode(current[w], descends(w)), cell(row, 3 + w), &sum)) return false;
      result[w] = encode(sum, descends(w));
    }
    const i64 at = std::max(decode(current[tied_], options_.last_wins), cell(row, 2));
    result[tied_] = encode(at, options_.last_wins);
    return true;
  }

  // ---- writing ---------------------------------------------------------------------------------

  void refuse_if_void() const {
    if (applied_) throw std::runtime_error("this merge was applied before");
    bool valid = table_->truncations() == truncations_;
    for (std::size_t i = 0; i < sets_.size(); ++i) valid &= sets_[i]->modifications() == seen_[i];
    if (valid && table_->forgettings() != forgettings_) {
      for (const Player& player : players_) valid &= table_->is_present(player.number);
    }
    if (!valid) throw std::runtime_error("a set or the player table changed after this merge was planned");
  }

  // Makes room for everything that will be written and counts it.
  std::size_t reserve() {
    Vector<u32> puts(sets_.size(), 0);
    Vector<u32> fresh(sets_.size(), 0);
    std::size_t written = 0;
    for (const Slot& slot : slots_) {
      puts[slot.set] += slot.changed;
      fresh[slot.set] += slot.changed && !slot.existed;
      written += slot.changed;
    }
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (puts[i] > 0) sets_[i]->reserve(puts[i], fresh[i]);
    }
    return written;
  }

  Chunks chunk_slots() const {
    Chunks chunks;
    chunks.first.assign((players_.size() + kChunkPlayers - 1) / kChunkPlayers, kNone);
    chunks.next.resize(slots_.size());
    std::size_t largest = 0;
    std::size_t run = 0;
    Vector<u32> sizes(chunks.first.size(), 0);
    for (u32 i = static_cast<u32>(slots_.size()); i-- > 0;) {
      if (!slots_[i].changed) continue;
      const u32 chunk = slots_[i].player / kChunkPlayers;
      chunks.next[i] = chunks.first[chunk];
      chunks.first[chunk] = i;
      run = ++sizes[chunk];
      largest = std::max(largest, run);
    }
    chunks.head.assign(sets_.size(), kNone);
    chunks.touched.reserve(sets_.size());
    chunks.numbers.resize(largest);
    chunks.records.resize(largest * words_);
    return chunks;
  }

  void write_chunk(u32 first, Chunks& chunks) {
    for (u32 slot = first; slot != kNone;) {
      const u32 following = chunks.next[slot];
      const u32 set = slots_[slot].set;
      if (chunks.head[set] == kNone) chunks.touched.push_back(set);
      chunks.next[slot] = chunks.head[set];
      chunks.head[set] = slot;
      slot = following;
    }
    for (const u32 set : chunks.touched) {
      std::size_t count = 0;
      for (u32 slot = chunks.head[set]; slot != kNone; slot = chunks.next[slot], ++count) {
        chunks.numbers[count] = slots_[slot].number;
        std::copy_n(record_of(slot), words_, &chunks.records[count * words_]);
      }
      sets_[set]->put_many(chunks.numbers.data(), chunks.records.data(), count);
      chunks.head[set] = kNone;
    }
    chunks.touched.clear();
  }

  PlayerTable* table_;
  Vector<RankedSet*> sets_;
  Vector<Vector<u32>> routes_;
  Vector<Vector<u32>> watched_;
  Vector<u32> guards_;
  Vector<u32> claims_;
  Vector<i64> limits_;
  Vector<i64> led_to_;
  Vector<i64> rows_;
  const MergeOptions options_;
  const unsigned tied_;
  const unsigned words_;
  const unsigned width_;
  const std::size_t row_count_;

  Vector<Player> players_;
  Vector<Block> blocks_;
  Vector<u32> slot_ids_;
  Vector<Slot> slots_;
  Vector<u64> records_;
  Vector<u32> block_of_;
  Vector<std::size_t> change_at_;
  Vector<u64> history_;
  Vector<u8> had_;
  Vector<u8> statuses_;
  Vector<i64> versions_;
  Vector<u64> seen_;
  Vector<u32> watched_slots_;
  Vector<PlaceOf> before_;  // by slot, like after_
  Vector<PlaceOf> after_;
  Vector<u64> totals_;      // by set
  u64 truncations_ = 0;
  u64 forgettings_ = 0;
  bool applied_ = false;
  std::atomic<bool> looked_after_{false};  // only then may after_ and totals_ be read
};

}  // namespace toprung
