// Tree<W>: a ranked set as a counted B+ tree.
//
// Shape. Entries lie in leaves, leaves are linked left to right. An inner node keeps for each child
// how many entries it holds, how many of them start a tie group, and a copy of its first entry. Those
// copies are exact at all times, so a comparison never meets a player that has left the set.
//
// Offsets need no comparison. The leaf map says which leaf holds a player; the offset is the entry's
// place in that leaf plus, for each node on the way up, the counts of the children before.
//
// Distinct prefixes. A bit per entry says that its tied prefix differs from its predecessor's. An
// insertion or removal can change only its own bit and its successor's.
//
// Fill. A full leaf first shares with a sibling; two full siblings become three. A leaf that has run
// low joins a sibling or borrows from it. Entries appended at either end of the set open a new leaf
// instead, which leaves full leaves behind sequential inserts.
//
// Failure. put() reserves nodes and map room first and changes nothing before it has them; removing
// never needs memory.
#pragma once

#include <array>
#include <numeric>
#include <string>

#include "number_map.hpp"
#include "node.hpp"
#include "node_pool.hpp"
#include "ranked_set.hpp"
#include "words.hpp"

namespace toprung {

template <unsigned W>
class Tree final : public RankedSet {
 public:
  using Record = std::array<u64, W>;

  Tree(PlayerTable& table, const Shape& shape) : RankedSet(table, shape) { table_.enlist(this); }
  ~Tree() override { table_.dismiss(this); }

  bool contains(u32 number) const noexcept override { return map_.find(number) != kNone; }

  bool find(u32 number, u64* record) const noexcept override {
    const u32 leaf = map_.find(number);
    if (leaf == kNone) return false;
    copy_slot(leaves_[leaf], index_of(leaves_[leaf].players, number), record);
    return true;
  }

  i64 offset(u32 number) const noexcept override {
    const u32 leaf = map_.find(number);
    if (leaf == kNone) return -1;
    return static_cast<i64>(index_in(leaves_[leaf], number) + entries_before(leaf));
  }

  PlaceOf place(u32 number) const noexcept override {
    PlaceOf place;
    const u32 leaf = map_.find(number);
    if (leaf != kNone) place_in_leaf(leaf, number, place);
    return place;
  }

  void places(const u32* numbers, std::size_t count, PlaceOf* out) const noexcept override {
    const auto ask = [&](std::size_t, u32 leaf) {
      prefetch_before(leaf);
      if (leaves_[leaf].parent == kNone) return;
      const InnerNode& parent = inners_[leaves_[leaf].parent];
      prefetch_range(parent.starts, (leaves_[leaf].place + 1) * sizeof(u32));
    };
    each_block(numbers, count, ask, [&](std::size_t i, u32 leaf) {
      out[i] = PlaceOf{};
      if (leaf != kNone) place_in_leaf(leaf, numbers[i], out[i]);
    });
  }

  u64 count_before(const u64* key, const IdView& id) const noexcept override {
    return locate(probe_for(key, id)).entries;
  }

  u64 distinct_before(const u64* key) const noexcept override {
    return locate(prefix_probe(key)).starts;
  }

  Rows rows(u64 start, u64 stop) const override {
    Rows rows;
    rows.size = size_;
    rows.start = std::min(start, size_);
    const u64 count = std::min(stop, size_) - std::min(rows.start, stop);
    if (stop <= rows.start || count == 0) return rows;
    u32 leaf;
    unsigned at;
    const Before left = select(rows.start, leaf, at);
    tie_group(leaf, at, left, rows.tied_before, rows.distinct_before);
    rows.numbers.reserve(count);
    rows.records.reserve(count * W);
    rows.id_lengths.reserve(count);
    rows.id_bytes.reserve(count * 16);
    for (u64 taken = 0; taken < count; ++taken, ++at) {
      if (at == leaves_[leaf].count) {
        leaf = leaves_[leaf].next;
        at = 0;
      }
      const LeafNode& node = leaves_[leaf];
      const unsigned slot = node.slot(at);
      const IdView id = table_.id_of(node.players[slot]);
      rows.numbers.push_back(node.players[slot]);
      for (unsigned w = 0; w < W; ++w) rows.records.push_back(node.words[w][slot]);
      rows.id_lengths.push_back(static_cast<u16>(id.length));
      rows.id_bytes.insert(rows.id_bytes.end(), id.bytes, id.bytes + id.length);
    }
    rows.tied_until = tied_until(leaf, at - 1, rows.start + count - at);
    return rows;
  }

  void copy_rows(u64 start, u64 count, u8* numbers, u8* records, const Pause& pause) const override {
    if (count == 0) return;
    u32 leaf;
    unsigned at;
    select(start, leaf, at);
    for (u64 left = count, rested = count;; leaf = leaves_[leaf].next, at = 0) {
      const LeafNode& node = leaves_[leaf];
      if (node.next != kNone) prefetch_range(&leaves_[node.next], sizeof(LeafNode));
      const unsigned end = static_cast<unsigned>(std::min<u64>(node.count, at + left));
      left -= end - at;
      for (; at < end; ++at, numbers += 8) {
        const unsigned slot = node.slot(at);
        const i64 number = node.players[slot];
        std::memcpy(numbers, &number, 8);
        for (unsigned w = 0; w < W; ++w, records += 8) write_word(node.words[w][slot], records);
      }
      if (left == 0) return;
      if (rested - left >= kDumpChunk) {
        pause();
        rested = left;
      }
    }
  }

  void offsets(const u32* numbers, std::size_t count, i64* out) const noexcept override {
    const auto ask = [&](std::size_t, u32 leaf) { prefetch_before(leaf); };
    each_block(numbers, count, ask, [&](std::size_t i, u32 leaf) {
      if (leaf == kNone) {
        out[i] = -1;
      } else {
        out[i] = static_cast<i64>(index_in(leaves_[leaf], numbers[i]) + entries_before(leaf));
      }
    });
  }

  // The first word of the leaf's best entry: two cache lines, where finding the entry itself takes six.
  void rough_places(const u32* numbers, std::size_t count,
                    Vector<RoughPlace>& out) const noexcept override {
    const auto word_of = [&](u32 leaf) -> const u64& {
      return leaves_[leaf].words[0][leaves_[leaf].slot(0)];
    };
    const auto touch = [&](u32 leaf) { prefetch(&leaves_[leaf].order[0]); };
    const auto ask = [&](std::size_t, u32 leaf) { prefetch(&word_of(leaf)); };
    each_block(numbers, count, touch, ask, [&](std::size_t i, u32 leaf) {
      if (leaf != kNone) out.push_back({word_of(leaf), numbers[i]});
    });
  }

  void find_many(const u32* numbers, std::size_t count, u64* records,
                 u8* found) const noexcept override {
    const auto ask = [&](std::size_t i, u32 leaf) {
      const unsigned slot = index_of(leaves_[leaf].players, numbers[i]);
      for (unsigned w = 0; w < W; ++w) prefetch(&leaves_[leaf].words[w][slot]);
    };
    each_block(numbers, count, ask, [&](std::size_t i, u32 leaf) {
      found[i] = leaf != kNone;
      if (leaf == kNone) return;
      copy_slot(leaves_[leaf], index_of(leaves_[leaf].players, numbers[i]), records + i * W);
    });
  }

  bool put(u32 number, const u64* record, u64* old) override {
    reserve_nodes();
    map_.reserve(1, table_.limit());
    const Probe probe = probe_of(number, record);
    const u32 leaf = map_.find(number);
    if (leaf == kNone) {
      insert(probe, record, kNone);
      return false;
    }
    replace(leaf, probe, record, kNone, old);
    return true;
  }

  bool remove(u32 number, u64* old) noexcept override {
    const u32 leaf = map_.find(number);
    if (leaf == kNone) return false;
    const unsigned at = index_in(leaves_[leaf], number);
    copy_record(leaves_[leaf], at, old);
    take_out(leaf, at);
    map_.remove(number);
    --size_;
    ++modifications_;
    if (size_ == 0) release_all();
    return true;
  }

  // Each put opens at most one leaf. Two siblings become three only when they hold nearly two leaves'
  // worth; so beyond a first round, in which any pair may be that full, a new leaf takes at least half a
  // leaf of puts to come about.
  void reserve(std::size_t puts, std::size_t fresh) override {
    if (stays_one_leaf(fresh + 1)) {
      leaves_.reserve(root_ == kNone ? 1 : 0);
    } else {
      const u64 leaves = std::min<u64>(puts, leaves_.in_use() / 2 + puts / (kLeafEntries / 2) + 2);
      leaves_.reserve(leaves);
      inners_.reserve(std::min<u64>(leaves * (height_ + 1), inners_.in_use() + leaves / 16) + height_ + 4);
    }
    map_.reserve(static_cast<u32>(std::min<u64>(fresh, table_.limit() - size_)), table_.limit());
  }
  void trim() noexcept override {
    leaves_.trim();
    inners_.trim();
  }

  void put_many(const u32* numbers, const u64* records, std::size_t count) override {
    const auto prefetch_entries = [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < std::min(last, count); ++i) map_.prefetch_entry(numbers[i]);
    };
    prefetch_entries(0, kBlock);
    for (std::size_t done = 0; done < count; done += kBlock) {
      prefetch_entries(done + kBlock, done + 2 * kBlock);
      put_block(numbers + done, records + done * W, std::min(kBlock, count - done));
    }
  }

  void build(const u32* numbers, const u64* records, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) table_.require(numbers[i]);
    const auto less = [&](u32 a, u32 b) {
      const u64* x = records + std::size_t{a} * W;
      const u64* y = records + std::size_t{b} * W;
      for (unsigned w = 0; w < shape_.order; ++w) {
        if (x[w] != y[w]) return x[w] < y[w];
      }
      return compare_ids(table_.id_of(numbers[a]), table_.id_of(numbers[b])) < 0;
    };
    Vector<u32> order(count);
    std::iota(order.begin(), order.end(), 0u);
    if (!std::is_sorted(order.begin(), order.end(), less)) {
      std::sort(order.begin(), order.end(), less);
    }
    build_sorted(
        count, [&](std::size_t i) { return numbers[order[i]]; },
        [&](std::size_t i, unsigned w) { return records[std::size_t{order[i]} * W + w]; });
  }

  void clear() noexcept override {
    if (size_ == 0) return;
    release_all();
    ++modifications_;
  }

  // Body of a dump: the numbers in order, then each word's column.
  void write_dump(u8* dump, std::size_t size, const Pause& pause) const override {
    const std::size_t count = size_;
    const auto byte = [](unsigned value) { return static_cast<u8>(value); };
    head_dump(dump, size, kSetMagic,
              {{byte(shape_.words), byte(shape_.order), byte(shape_.tied), 0}, count});
    const std::size_t words_at = kHeaderBytes + padded(count * 4);
    std::size_t done = 0;
    std::size_t paused = 0;
    for (u32 i = first_leaf(); i != kNone; i = leaves_[i].next) {
      const LeafNode& leaf = leaves_[i];
      for (unsigned k = 0; k < leaf.count; ++k, ++done) {
        const unsigned slot = leaf.slot(k);
        std::memcpy(dump + kHeaderBytes + done * 4, &leaf.players[slot], 4);
        for (std::size_t w = 0; w < W; ++w) {
          std::memcpy(dump + words_at + (w * count + done) * 8, &leaf.words[w][slot], 8);
        }
      }
      if (done - paused >= kDumpChunk) {
        pause();
        paused = done;
      }
    }
    std::fill(dump + kHeaderBytes + count * 4, dump + words_at, u8{0});
  }

  std::size_t write_order(u32* numbers, u8* starts, u64* words, const Pause& pause) const override {
    std::size_t done = 0;
    std::size_t paused = 0;
    std::size_t groups = 0;
    u64 tie[W] = {};
    for (u32 i = first_leaf(); i != kNone; i = leaves_[i].next) {
      const LeafNode& leaf = leaves_[i];
      for (unsigned k = 0; k < leaf.count; ++k, ++done) {
        const unsigned slot = leaf.slot(k);
        numbers[done] = leaf.players[slot];
        bool is_start = done == 0;
        for (unsigned w = 0; w < shape_.tied; ++w) {
          is_start = is_start || leaf.words[w][slot] != tie[w];
          tie[w] = leaf.words[w][slot];
        }
        if (is_start) {
          starts[done / 8] = static_cast<u8>(starts[done / 8] | (1u << (done % 8)));
          words[groups++] = tie[0];
        }
      }
      if (done - paused >= kDumpChunk) {
        pause();
        paused = done;
      }
    }
    return groups;
  }

  // The frame is verified already; the content is not.
  void load(const u8* dump, std::size_t length, const DumpHeader& header) override {
    const std::size_t body = length - kHeaderBytes;
    if (header.count > body / (4 + 8 * W)) {
      throw std::invalid_argument("the dump holds fewer entries than it says");
    }
    const std::size_t count = static_cast<std::size_t>(header.count);
    if (padded(count * 4) + count * W * 8 != body) {
      throw std::invalid_argument("the dump's entries do not fill it");
    }
    const u8* numbers = dump + kHeaderBytes;
    const u8* words = numbers + padded(count * 4);
    const auto number = [&](std::size_t i) { return static_cast<u32>(read32(numbers + i * 4)); };
    const auto word = [&](std::size_t i, unsigned w) {
      return read64(words + (std::size_t{w} * count + i) * 8);
    };
    for (std::size_t i = 0; i < count; ++i) {
      if (!table_.is_present(number(i))) {
        throw std::invalid_argument("the dump names a player the table does not have");
      }
    }
    for (std::size_t i = 1; i < count; ++i) {
      unsigned w = 0;
      while (w < shape_.order && word(i - 1, w) == word(i, w)) ++w;
      const bool ascends =
          w < shape_.order ? word(i - 1, w) < word(i, w)
                           : compare_ids(table_.id_of(number(i - 1)), table_.id_of(number(i))) < 0;
      if (!ascends) throw std::invalid_argument("the dump is not in order");
    }
    build_sorted(count, number, word);
  }

  std::size_t nbytes() const noexcept override {
    return sizeof *this + leaves_.nbytes() + inners_.nbytes() + map_.nbytes();
  }

  bool holds_any(u32 first, u32 limit) const noexcept override {
    if (limit - first <= size_) {
      for (u32 number = first; number < limit; ++number) {
        if (contains(number)) return true;
      }
      return false;
    }
    for (u32 i = first_leaf(); i != kNone; i = leaves_[i].next) {
      for (unsigned k = 0; k < leaves_[i].count; ++k) {
        const u32 number = leaves_[i].players[leaves_[i].slot(k)];
        if (number >= first && number < limit) return true;
      }
    }
    return false;
  }

  void check() const override;

 private:
  using LeafNode = Leaf<W>;
  using InnerNode = Inner<W>;
  static constexpr std::size_t kBlock = 32;
  static constexpr unsigned kLeafLow = kLeafEntries * 7 / 12;  // worth a look at the neighbours
  static constexpr unsigned kLeafMin = kLeafEntries / 3;       // never less, but at the set's ends
  static constexpr unsigned kJoinMax = kLeafEntries * 7 / 8;
  static constexpr unsigned kShareMax = 2 * kLeafEntries - kLeafEntries / 8;
  static constexpr unsigned kInnerLow = kInnerChildren / 4;
  static constexpr unsigned kInnerJoinMax = kInnerChildren * 3 / 4;
  static constexpr unsigned kLeafBuilt = kLeafEntries * 5 / 6;
  static constexpr unsigned kInnerBuilt = kInnerChildren * 7 / 8;

  // A place in the order: words, then an id, either given or that of a player looked up only when
  // all words are equal.
  struct Probe {
    Record words;
    u32 number = kNone;
    IdView id;
  };
  struct Before {
    u64 entries = 0;
    u64 starts = 0;
  };

  static void copy_slot(const LeafNode& leaf, unsigned slot, u64* record) noexcept {
    for (unsigned w = 0; w < W; ++w) record[w] = leaf.words[w][slot];
  }
  static void copy_record(const LeafNode& leaf, unsigned at, u64* record) noexcept {
    copy_slot(leaf, leaf.slot(at), record);
  }
  static unsigned index_in(const LeafNode& leaf, u32 number) noexcept {
    return index_of(leaf.order, index_of(leaf.players, number));
  }
  template <class Node>
  static unsigned place_in(const InnerNode& parent, u32 child, const Node& node) noexcept {
    const unsigned guess = node.place;
    if (guess < parent.count && parent.child[guess] == child) return guess;
    const unsigned place = index_of(parent.child, child);
    node.place = static_cast<u8>(place);
    return place;
  }

  Probe probe_of(u32 number, const u64* record) const noexcept {
    Probe probe;
    std::copy(record, record + W, probe.words.begin());
    probe.number = number;
    return probe;
  }
  Probe probe_for(const u64* key, const IdView& id) const noexcept {
    Probe probe;
    probe.words.fill(0);
    std::copy(key, key + shape_.order, probe.words.begin());
    probe.id = id;
    return probe;
  }
  // The first place of a tie group.
  Probe prefix_probe(const u64* key) const noexcept {
    static constexpr u8 kNothing = 0;
    Probe probe;
    probe.words.fill(0);
    std::copy(key, key + shape_.tied, probe.words.begin());
    probe.id = {&kNothing, 0};
    return probe;
  }

  template <class Node>
  bool is_before(const Node& node, unsigned i, const Probe& probe) const noexcept {
    const unsigned slot = node.slot(i);
    for (unsigned w = 0; w < shape_.order; ++w) {
      const u64 word = node.words[w][slot];
      const u64 bound = probe.words[w];
      if (word != bound) return word < bound;
    }
    if (node.players[slot] == probe.number) return false;
    const IdView id = probe.number == kNone ? probe.id : table_.id_of(probe.number);
    return table_.compare_with(node.players[slot], id) < 0;
  }

  template <class Node>
  unsigned lower_bound(const Node& node, const Probe& probe) const noexcept {
    unsigned first = lower_bound_of_first_word(node, probe.words[0]);
    const auto ties = [&](unsigned i) {
      return i < node.count && node.words[0][node.slot(i)] == probe.words[0];
    };
    unsigned count = 0;
    if (ties(first)) count = ties(first + 1) ? node.count - first : 1;
    while (count > 0) {
      const unsigned half = count / 2;
      if (is_before(node, first + half, probe)) {
        first += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return first;
  }

  // The leaf where the probe belongs.
  u32 descend(const Probe& probe) const noexcept {
    u32 node = root_;
    for (unsigned level = 0; level < height_; ++level) {
      const InnerNode& inner = inners_[node];
      const unsigned after = lower_bound(inner, probe);
      const unsigned index = after == 0 ? 0 : after - 1;
      node = inner.child[index];
    }
    return node;
  }

  // What lies before the probe.
  Before locate(const Probe& probe) const noexcept {
    Before left;
    if (root_ == kNone) return left;
    u32 node = root_;
    for (unsigned level = 0; level < height_; ++level) {
      const InnerNode& inner = inners_[node];
      const unsigned after = lower_bound(inner, probe);
      const unsigned index = after == 0 ? 0 : after - 1;
      left.entries += sum_of(inner.counts, index);
      left.starts += sum_of(inner.starts, index);
      node = inner.child[index];
    }
    const unsigned at = lower_bound(leaves_[node], probe);
    left.entries += at;
    left.starts += count_bits(leaves_[node].starts & low_bits(at));
    return left;
  }

  // Calls visit(parent, place of the child in it) for each node above a leaf.
  template <class Self, class Visit>
  static void each_above(Self& self, u32 leaf, Visit visit) noexcept {
    u32 node = self.leaves_[leaf].parent;
    if (node == kNone) return;
    auto* inner = &self.inners_[node];
    unsigned place = place_in(*inner, leaf, self.leaves_[leaf]);
    for (;;) {
      if (!visit(*inner, place) || inner->parent == kNone) return;
      auto* above = &self.inners_[inner->parent];
      place = place_in(*above, node, *inner);
      node = inner->parent;
      inner = above;
    }
  }

  // What lies before a leaf.
  Before before(u32 leaf) const noexcept {
    Before left;
    each_above(*this, leaf, [&](const InnerNode& inner, unsigned place) {
      left.entries += sum_of(inner.counts, place);
      left.starts += sum_of(inner.starts, place);
      return true;
    });
    return left;
  }
  u64 entries_before(u32 leaf) const noexcept {
    u64 entries = 0;
    each_above(*this, leaf, [&](const InnerNode& inner, unsigned place) {
      entries += sum_of(inner.counts, place);
      return true;
    });
    return entries;
  }

  // The entry at an offset below size(); returns what lies before its leaf.
  Before select(u64 offset, u32& leaf, unsigned& at) const noexcept {
    Before left;
    u32 node = root_;
    for (unsigned level = 0; level < height_; ++level) {
      const InnerNode& inner = inners_[node];
      unsigned i = 0;
      while (offset - left.entries >= inner.counts[i]) {
        left.entries += inner.counts[i];
        left.starts += inner.starts[i];
        ++i;
      }
      node = inner.child[i];
    }
    leaf = node;
    at = static_cast<unsigned>(offset - left.entries);
    return left;
  }

  void place_in_leaf(u32 leaf, u32 number, PlaceOf& place) const noexcept {
    const unsigned at = index_in(leaves_[leaf], number);
    const Before left = before(leaf);
    place.found = true;
    place.offset = left.entries + at;
    copy_record(leaves_[leaf], at, place.record);
    tie_group(leaf, at, left, place.tied_before, place.distinct_before);
    place.tied_until = tied_until(leaf, at, left.entries);
  }

  // Entries and distinct prefixes before the tie group of the entry at (leaf, at).
  void tie_group(u32 leaf, unsigned at, const Before& left, u64& entries, u64& distinct) const noexcept {
    const LeafNode& node = leaves_[leaf];
    const u64 starts = node.starts & low_bits(at + 1);
    distinct = left.starts + count_bits(starts) - 1;
    if (starts != 0) {
      entries = left.entries + (63u - static_cast<unsigned>(std::countl_zero(starts)));
      return;
    }
    u64 record[W];
    copy_record(node, at, record);
    entries = locate(prefix_probe(record)).entries;
  }

  // Entries before the end of the tie group of the entry at (leaf, at); `left` lie before the leaf.
  // Nearly always the leaf's own bits tell, or the first bit of the next leaf.
  u64 tied_until(u32 leaf, unsigned at, u64 left) const noexcept {
    const LeafNode& node = leaves_[leaf];
    const u64 later = node.starts & ~low_bits(at + 1);
    if (later != 0) return left + static_cast<unsigned>(std::countr_zero(later));
    if (node.next == kNone || (leaves_[node.next].starts & 1) != 0) return left + node.count;
    u64 record[W];
    copy_record(node, at, record);
    for (unsigned w = shape_.tied; w-- > 0;) {
      if (++record[w] != 0) return locate(prefix_probe(record)).entries;  // the next prefix begins there
    }
    return size_;
  }

  u32 first_leaf() const noexcept {
    if (root_ == kNone) return kNone;
    u32 node = root_;
    for (unsigned level = 0; level < height_; ++level) node = inners_[node].child[0];
    return node;
  }

  static void prefetch_range(const void* from, std::size_t bytes) noexcept {
    const char* start = static_cast<const char*>(from);
    for (std::size_t i = 0; i < bytes; i += 64) prefetch(start + i);
    prefetch(start + bytes - 1);
  }
  // What finding a player in a leaf reads.
  void prefetch_players(u32 leaf) const noexcept {
    prefetch_range(&leaves_[leaf], offsetof(LeafNode, words));
  }
  // What counting the entries before a leaf reads.
  void prefetch_before(u32 leaf) const noexcept {
    if (leaves_[leaf].parent == kNone) return;
    const InnerNode& parent = inners_[leaves_[leaf].parent];
    const unsigned place = leaves_[leaf].place;
    prefetch(&parent);
    prefetch(&parent.child[place]);
    prefetch_range(parent.counts, (place + 1) * sizeof(u32));
  }
  // What finding the place of a key in a leaf reads.
  void prefetch_search(u32 leaf) const noexcept {
    const LeafNode& node = leaves_[leaf];
    prefetch_range(&node, offsetof(LeafNode, players));
    prefetch_range(node.words[0], sizeof node.words[0]);
  }

  // Calls visit(i, leaf of numbers[i]) with the waits for memory of a block overlapped; touch(leaf) and
  // then ask(i, leaf) are called before, for each that has one, to prefetch what the next step will read.
  template <class Touch, class Ask, class Visit>
  void each_block(const u32* numbers, std::size_t count, Touch touch, Ask ask,
                  Visit visit) const noexcept {
    constexpr std::size_t kReads = 32;
    u32 leaf[kReads];
    for (std::size_t done = 0; done < count; done += kReads) {
      const std::size_t block = std::min(kReads, count - done);
      for (std::size_t i = 0; i < block; ++i) map_.prefetch_entry(numbers[done + i]);
      for (std::size_t i = 0; i < block; ++i) {
        leaf[i] = map_.find(numbers[done + i]);
        if (leaf[i] != kNone) touch(leaf[i]);
      }
      for (std::size_t i = 0; i < block; ++i) {
        if (leaf[i] != kNone) ask(done + i, leaf[i]);
      }
      for (std::size_t i = 0; i < block; ++i) visit(done + i, leaf[i]);
    }
  }
  template <class Ask, class Visit>
  void each_block(const u32* numbers, std::size_t count, Ask ask, Visit visit) const noexcept {
    each_block(numbers, count, [&](u32 leaf) { prefetch_players(leaf); }, ask, visit);
  }

  // ---- changing --------------------------------------------------------------------------------

  // Small sets are many: they get along with one leaf and no inner node.
  bool stays_one_leaf(u64 fresh) const noexcept {
    return height_ == 0 && size_ + fresh <= kLeafEntries;
  }

  // What one put may need in nodes: a leaf, a split on each level and a new root.
  void reserve_nodes() {
    if (stays_one_leaf(1) && root_ != kNone) return;
    leaves_.reserve(1);
    if (!stays_one_leaf(1)) inners_.reserve(height_ + 1);
  }

  // Whether a leaf found ahead of time is still right for the probe, whatever happened in between: its
  // own entries tell, unless the probe lies outside them. A leaf that has left the tree is empty.
  bool still_belongs(u32 leaf, const Probe& probe) const noexcept {
    const LeafNode& node = leaves_[leaf];
    return node.count > 0 && is_before(node, 0, probe) && !is_before(node, node.count - 1u, probe);
  }

  // Puts a block with its waits for memory overlapped: each step asks for what the next one reads.
  // Leaves found ahead of time are looked for again if a put before has changed the picture.
  void put_block(const u32* numbers, const u64* records, std::size_t count) {
    u32 from[kBlock];
    u32 to[kBlock];
    Probe probes[kBlock];
    for (std::size_t i = 0; i < count; ++i) probes[i] = probe_of(numbers[i], records + i * W);
    for (std::size_t i = 0; i < count; ++i) {
      from[i] = map_.find(numbers[i]);
      if (from[i] != kNone) prefetch_players(from[i]);
    }
    descend_block(probes, count, to);
    for (std::size_t i = 0; i < count; ++i) {
      if (from[i] != kNone && from[i] != to[i]) prefetch_removal(from[i], numbers[i]);
      if (to[i] != kNone) prefetch_insertion(to[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      reserve_nodes();
      const u64* record = records + i * W;
      const u32 leaf = map_.find(numbers[i]);  // a number may come twice
      if (to[i] != kNone && !still_belongs(to[i], probes[i])) to[i] = kNone;
      if (leaf == kNone) {
        insert(probes[i], record, to[i]);
      } else {
        replace(leaf, probes[i], record, to[i], nullptr);
      }
    }
  }

  void descend_block(const Probe* probes, std::size_t count, u32* to) const noexcept {
    std::fill(to, to + count, root_);
    for (unsigned level = height_; level > 0; --level) {
      for (std::size_t i = 0; i < count; ++i) {
        const InnerNode& inner = inners_[to[i]];
        const unsigned after = lower_bound(inner, probes[i]);
        to[i] = inner.child[after == 0 ? 0 : after - 1];
        if (level == 1) {
          prefetch_search(to[i]);
        } else {
          prefetch_range(&inners_[to[i]], 64);
          prefetch_range(inners_[to[i]].words[0], sizeof inner.words[0]);
        }
      }
    }
  }

  void prefetch_removal(u32 leaf, u32 number) const noexcept {
    const LeafNode& node = leaves_[leaf];
    const unsigned at = index_in(node, number);
    if (at > 0) prefetch(&node.words[0][node.slot(at - 1)]);
    if (at + 1u < node.count) prefetch(&node.words[0][node.slot(at + 1)]);
    prefetch_parent(node);
  }
  void prefetch_insertion(u32 leaf) const noexcept {
    const LeafNode& node = leaves_[leaf];
    const unsigned slot = std::min(node.free_slot(), kLeafEntries - 1);
    prefetch(&node.players[slot]);
    for (unsigned w = 1; w < W; ++w) prefetch(&node.words[w][slot]);
    prefetch_parent(node);
  }
  void prefetch_parent(const LeafNode& node) const noexcept {
    if (node.parent == kNone) return;
    const InnerNode& parent = inners_[node.parent];
    prefetch(&parent);
    prefetch(&parent.child[node.place]);
    prefetch(&parent.counts[node.place]);
    prefetch(&parent.starts[node.place]);
  }

  // `to` may name the leaf where the probe belongs, if that is known.
  void replace(u32 leaf, const Probe& probe, const u64* record, u32 to, u64* old) noexcept {
    ++modifications_;
    if (to == kNone) {
      prefetch_players(leaf);
      to = descend(probe);
      if (to != leaf) prefetch_search(to);
    }
    LeafNode& node = leaves_[leaf];
    const unsigned at = index_in(node, probe.number);
    if (old != nullptr) copy_record(node, at, old);
    if (to == leaf) {
      unsigned target = lower_bound(node, probe);
      if (target > at) --target;
      move_within(leaf, at, target, record);
      return;
    }
    const u64 shape = restructured_;
    take_out(leaf, at);
    if (restructured_ != shape) to = descend(probe);
    put_in(to, probe, record, true);
  }

  void insert(const Probe& probe, const u64* record, u32 to) noexcept {
    if (root_ == kNone) {
      root_ = new_leaf();
      height_ = 0;
      ++restructured_;
    }
    put_in(to == kNone ? descend(probe) : to, probe, record, false);
    ++size_;
    ++modifications_;
  }

  // Adds an entry to the leaf where it belongs, or to another after making room.
  void put_in(u32 leaf, const Probe& probe, const u64* record, bool known) noexcept {
    unsigned at = lower_bound(leaves_[leaf], probe);
    if (leaves_[leaf].count == kLeafEntries) {
      const LeafNode& node = leaves_[leaf];
      const bool at_end = node.next == kNone && at == node.count;
      const bool at_front = node.prev == kNone && at == 0;
      if (at_end || at_front) {
        leaf = open_leaf(leaf, at_end, probe, record);
        at = 0;
      } else {
        make_room(leaf);
          leaf = descend(probe);
        at = lower_bound(leaves_[leaf], probe);
      }
    }
    LeafNode& node = leaves_[leaf];
    const unsigned slot = node.free_slot();
    node.used |= u64{1} << slot;
    node.players[slot] = probe.number;
    for (unsigned w = 0; w < W; ++w) node.words[w][slot] = record[w];
    open_gap(node.order, at, node.count);
    node.order[at] = static_cast<u8>(slot);
    const u32 starts = count_bits(node.starts);
    node.starts = insert_bit(node.starts, at);
    ++node.count;
    set_start(leaf, at);
    if (at + 1u < node.count) set_start(leaf, at + 1);
    add_up(leaf, 1, count_bits(node.starts) - starts);
    if (at == 0) refresh_first(leaf);
    if (at + 1u == node.count) refresh_start_after(leaf);
    if (known) {
      map_.move(probe.number, leaf);
    } else {
      map_.add(probe.number, leaf);
      table_.note_held(probe.number);
    }
  }

  void take_out(u32 leaf, unsigned at) noexcept {
    LeafNode& node = leaves_[leaf];
    const u32 starts = count_bits(node.starts);
    const unsigned slot = node.slot(at);
    node.used &= ~(u64{1} << slot);
    node.players[slot] = kNone;
    close_gap(node.order, at, node.count);
    node.starts = remove_bit(node.starts, at);
    --node.count;
    if (at < node.count) set_start(leaf, at);
    add_up(leaf, ~u32{0}, count_bits(node.starts) - starts);
    if (node.count == 0) {
      drop_leaf(leaf);
      return;
    }
    if (at == 0) refresh_first(leaf);
    if (at == node.count) refresh_start_after(leaf);
    if (node.count < kLeafLow && node.parent != kNone) refill(leaf);
  }

  void move_within(u32 leaf, unsigned from, unsigned to, const u64* record) noexcept {
    LeafNode& node = leaves_[leaf];
    const u32 starts = count_bits(node.starts);
    if (from != to) {
      shift(node.order, from, to);
      node.starts = insert_bit(remove_bit(node.starts, from), to);
    }
    const unsigned slot = node.slot(to);
    for (unsigned w = 0; w < W; ++w) node.words[w][slot] = record[w];
    const unsigned behind = from < to ? from : from + 1;  // what followed the entry
    set_start(leaf, to);
    if (to + 1u < node.count) set_start(leaf, to + 1);
    if (behind < node.count) set_start(leaf, behind);
    const u32 change = count_bits(node.starts) - starts;
    if (change != 0) add_up(leaf, 0, change);
    if (from == 0 || to == 0) refresh_first(leaf);
    if (from + 1u == node.count || to + 1u == node.count) refresh_start_after(leaf);
  }

  // ---- upkeep of what inner nodes know ---------------------------------------------------------

  // Differences are added modulo 2^32, so that "minus one" is one addition like any other.
  void add_up(u32 leaf, u32 entries, u32 starts) noexcept {
    each_above(*this, leaf, [&](InnerNode& inner, unsigned place) {
      inner.counts[place] += entries;
      if (starts != 0) inner.starts[place] += starts;
      return true;
    });
  }

  bool prefix_differs(const LeafNode& a, unsigned i, const LeafNode& b, unsigned k) const noexcept {
    const unsigned left = a.slot(i);
    const unsigned right = b.slot(k);
    for (unsigned w = 0; w < shape_.tied; ++w) {
      if (a.words[w][left] != b.words[w][right]) return true;
    }
    return false;
  }

  bool is_start(u32 leaf, unsigned at) const noexcept {
    const LeafNode& node = leaves_[leaf];
    if (at > 0) return prefix_differs(node, at - 1, node, at);
    if (node.prev == kNone) return true;
    const LeafNode& prev = leaves_[node.prev];
    return prefix_differs(prev, prev.count - 1u, node, 0);
  }

  // Corrects the bit only; the caller accounts for the change.
  void set_start(u32 leaf, unsigned at) noexcept {
    u64& starts = leaves_[leaf].starts;
    const u64 bit = u64{1} << at;
    starts = is_start(leaf, at) ? starts | bit : starts & ~bit;
  }

  // The last entry of a leaf changed: the first one of the next leaf has another predecessor.
  void refresh_start_after(u32 leaf) noexcept {
    const u32 next = leaves_[leaf].next;
    if (next != kNone) refresh_start_of_first(next);
  }
  void refresh_start_of_first(u32 leaf) noexcept {
    const u64 starts = leaves_[leaf].starts;
    set_start(leaf, 0);
    if (leaves_[leaf].starts != starts) {
      add_up(leaf, 0, static_cast<u32>(leaves_[leaf].starts & 1) - static_cast<u32>(starts & 1));
    }
  }

  void copy_first(InnerNode& parent, unsigned index, const LeafNode& leaf) noexcept {
    const unsigned slot = leaf.slot(0);
    parent.players[index] = leaf.players[slot];
    for (unsigned w = 0; w < W; ++w) parent.words[w][index] = leaf.words[w][slot];
  }

  // The first entry of a leaf changed: so did the copies above, as far as it is the first there too.
  void refresh_first(u32 leaf) noexcept {
    each_above(*this, leaf, [&](InnerNode& inner, unsigned place) {
      copy_first(inner, place, leaves_[leaf]);
      return place == 0;
    });
  }

  u32 leftmost_leaf(u32 node) const noexcept {
    while (inners_[node].level > 1) node = inners_[node].child[0];
    return inners_[node].child[0];
  }

  // ---- leaves come and go ----------------------------------------------------------------------

  u32 new_leaf() noexcept {
    const u32 leaf = leaves_.take();
    LeafNode& node = leaves_[leaf];
    node.starts = node.used = 0;
    node.parent = node.prev = node.next = kNone;
    node.count = node.place = 0;
    std::fill_n(node.players, kLeafEntries, kNone);
    return leaf;
  }

  void link_after(u32 left, u32 leaf) noexcept {
    const u32 right = leaves_[left].next;
    leaves_[leaf].prev = left;
    leaves_[leaf].next = right;
    leaves_[left].next = leaf;
    if (right != kNone) leaves_[right].prev = leaf;
  }
  void unlink(u32 leaf) noexcept {
    const u32 left = leaves_[leaf].prev;
    const u32 right = leaves_[leaf].next;
    if (left != kNone) leaves_[left].next = right;
    if (right != kNone) leaves_[right].prev = left;
  }

  // Opens an empty leaf behind the last or before the first one. Its copy above is that of the
  // entry it is opened for.
  u32 open_leaf(u32 leaf, bool behind, const Probe& probe, const u64* record) noexcept {
    ++restructured_;
    const u32 parent = parent_with_room(leaf);
    const u32 opened = new_leaf();
    if (behind) {
      link_after(leaf, opened);
    } else {
      leaves_[opened].next = leaf;
      leaves_[leaf].prev = opened;
    }
    LeafNode& node = leaves_[opened];
    node.order[0] = 0;
    node.players[0] = probe.number;
    for (unsigned w = 0; w < W; ++w) node.words[w][0] = record[w];
    insert_child(parent, behind ? inners_[parent].count : 0u, opened);
    return opened;
  }

  // The parent of a leaf, with room for one more child; makes a root above a lone leaf.
  u32 parent_with_room(u32 leaf) noexcept {
    u32 parent = leaves_[leaf].parent;
    if (parent == kNone) {
      parent = new_root(1, leaf);
      leaves_[leaf].parent = parent;
    } else if (inners_[parent].count == kInnerChildren) {
      split_inner(parent);
      parent = leaves_[leaf].parent;
    }
    return parent;
  }

  void make_room(u32 leaf) noexcept {
    ++restructured_;
    u32 parent = leaves_[leaf].parent;
    if (parent != kNone && share_with_sibling(parent, leaf)) return;
    parent = parent_with_room(leaf);
    const unsigned index = index_of(inners_[parent].child, leaf);
    const u32 fresh = new_leaf();
    if (inners_[parent].count == 1) {
      link_after(leaf, fresh);
      give_right(leaf, fresh, kLeafEntries / 2);
      insert_child(parent, index + 1, fresh);
      refresh_child(parent, index);
      return;
    }
    const unsigned left = index + 1 < inners_[parent].count ? index : index - 1;
    const u32 a = inners_[parent].child[left];
    const u32 b = inners_[parent].child[left + 1];
    const unsigned third = static_cast<unsigned>(leaves_[a].count + leaves_[b].count) / 3;
    link_after(a, fresh);
    if (leaves_[a].count > third) give_right(a, fresh, leaves_[a].count - third);
    if (leaves_[b].count > third) give_left(b, fresh, leaves_[b].count - third);
    insert_child(parent, left + 1, fresh);
    refresh_child(parent, left);
    refresh_child(parent, left + 2);
  }

  bool share_with_sibling(u32 parent, u32 leaf) noexcept {
    const InnerNode& inner = inners_[parent];
    const unsigned index = index_of(inner.child, leaf);
    const unsigned none = 2 * kLeafEntries;
    const unsigned left = index > 0 ? inner.counts[index - 1] : none;
    const unsigned right = index + 1 < inner.count ? inner.counts[index + 1] : none;
    if (inner.counts[index] + std::min(left, right) > kShareMax) return false;
    even_out(parent, left < right ? index - 1 : index);
    return true;
  }

  // Shares the entries of children `left` and `left + 1` between them.
  void even_out(u32 parent, unsigned left) noexcept {
    const u32 a = inners_[parent].child[left];
    const u32 b = inners_[parent].child[left + 1];
    const unsigned half = static_cast<unsigned>(leaves_[a].count + leaves_[b].count) / 2;
    if (leaves_[a].count > half) {
      give_right(a, b, leaves_[a].count - half);
    } else if (leaves_[a].count < half) {
      give_left(b, a, half - leaves_[a].count);
    }
    refresh_child(parent, left);
    refresh_child(parent, left + 1);
  }

  // A leaf has run low. Three neighbours that fit into two become two; this keeps leaves well filled
  // where a set thins out. Failing that, a leaf with too little joins a sibling or borrows from it.
  void refill(u32 leaf) noexcept {
    const u32 parent = leaves_[leaf].parent;
    const InnerNode& inner = inners_[parent];
    const unsigned place = place_in(inner, leaf, leaves_[leaf]);
    if (inner.count >= 3) {
      const unsigned middle = std::clamp(place, 1u, inner.count - 2u);
      if (sum_of(inner.counts + middle - 1, 3) <= 2 * kJoinMax) {
        dissolve(parent, middle);
        return;
      }
    }
    if (leaves_[leaf].count >= kLeafMin || inner.count == 1) return;
    ++restructured_;
    const unsigned none = 2 * kLeafEntries;
    const unsigned left = place > 0 ? inner.counts[place - 1] : none;
    const unsigned right = place + 1u < inner.count ? inner.counts[place + 1] : none;
    const unsigned pair = left < right ? place - 1 : place;
    if (inner.counts[place] + std::min(left, right) > kJoinMax) {
      even_out(parent, pair);
      return;
    }
    const u32 b = inner.child[pair + 1];
    give_left(b, inner.child[pair], leaves_[b].count);
    refresh_child(parent, pair);
    drop_empty(parent, pair + 1);
  }

  // The neighbours of a leaf take its entries, so that both end up with about as many.
  void dissolve(u32 parent, unsigned middle) noexcept {
    ++restructured_;
    const u32 a = inners_[parent].child[middle - 1];
    const u32 b = inners_[parent].child[middle];
    const u32 c = inners_[parent].child[middle + 1];
    const int total = leaves_[a].count + leaves_[b].count + leaves_[c].count;
    const unsigned half = static_cast<unsigned>(total) / 2;
    const unsigned wanted = half > leaves_[a].count ? half - leaves_[a].count : 0;
    const unsigned fits = kLeafEntries - leaves_[c].count;
    const unsigned least = leaves_[b].count > fits ? leaves_[b].count - fits : 0;
    give_left(b, a, std::clamp<unsigned>(wanted, least, leaves_[b].count));
    give_right(b, c, leaves_[b].count);
    refresh_child(parent, middle - 1);
    refresh_child(parent, middle + 1);
    drop_empty(parent, middle);
  }

  void drop_empty(u32 parent, unsigned place) noexcept {
    const u32 leaf = inners_[parent].child[place];
    unlink(leaf);
    leaves_.give(leaf);
    remove_child(parent, place);
  }

  // An empty leaf leaves the tree.
  void drop_leaf(u32 leaf) noexcept {
    ++restructured_;
    const u32 next = leaves_[leaf].next;
    const u32 parent = leaves_[leaf].parent;
    unlink(leaf);
    leaves_.give(leaf);
    if (parent == kNone) {
      root_ = kNone;
      return;
    }
    remove_child(parent, index_of(inners_[parent].child, leaf));
    if (next != kNone) refresh_start_of_first(next);
  }

  // Moves `count` entries from position `at` of one leaf to position `to_at` of another.
  void move_entries(u32 from, unsigned at, u32 to, unsigned to_at, unsigned count) noexcept {
    LeafNode& a = leaves_[from];
    LeafNode& b = leaves_[to];
    std::memmove(b.order + to_at + count, b.order + to_at, b.count - to_at);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned source = a.slot(at + i);
      const unsigned target = b.free_slot();
      b.order[to_at + i] = static_cast<u8>(target);
      b.players[target] = a.players[source];
      for (unsigned w = 0; w < W; ++w) b.words[w][target] = a.words[w][source];
      b.used |= u64{1} << target;
      a.used &= ~(u64{1} << source);
      a.players[source] = kNone;
      map_.move(b.players[target], to);
    }
    std::memmove(a.order + at, a.order + at + count, a.count - at - count);
    const u64 moved = (a.starts >> at) & low_bits(count);
    b.starts = (b.starts & low_bits(to_at)) | moved << to_at | (b.starts >> to_at) << (to_at + count);
    a.starts = (a.starts & low_bits(at)) | (a.starts >> (at + count)) << at;
    a.count = static_cast<u8>(a.count - count);
    b.count = static_cast<u8>(b.count + count);
  }
  // The last entries of a leaf become the first ones of its right neighbour.
  void give_right(u32 left, u32 right, unsigned count) noexcept {
    move_entries(left, leaves_[left].count - count, right, 0, count);
  }
  // The first entries of a leaf become the last ones of its left neighbour.
  void give_left(u32 right, u32 left, unsigned count) noexcept {
    move_entries(right, 0, left, leaves_[left].count, count);
  }

  // ---- inner nodes -----------------------------------------------------------------------------

  u32 new_inner(unsigned level) noexcept {
    const u32 node = inners_.take();
    InnerNode& inner = inners_[node];
    inner.parent = kNone;
    inner.count = 0;
    inner.level = static_cast<u8>(level);
    inner.place = 0;
    return node;
  }

  // A root above the old one; counts come from the child itself.
  u32 new_root(unsigned level, u32 child) noexcept {
    const u32 root = new_inner(level);
    root_ = root;
    ++height_;
    insert_child(root, 0, child);
    return root;
  }

  void set_parent(unsigned level, u32 child, u32 parent) noexcept {
    if (level == 1) {
      leaves_[child].parent = parent;
    } else {
      inners_[child].parent = parent;
    }
  }

  // What a node knows of its child, taken from the child again.
  void refresh_child(u32 parent, unsigned index) noexcept {
    InnerNode& inner = inners_[parent];
    const u32 child = inner.child[index];
    if (inner.level == 1) {
      const LeafNode& leaf = leaves_[child];
      inner.counts[index] = leaf.count;
      inner.starts[index] = count_bits(leaf.starts);
      copy_first(inner, index, leaf);
    } else {
      const InnerNode& node = inners_[child];
      inner.counts[index] = static_cast<u32>(sum_of(node.counts, node.count));
      inner.starts[index] = static_cast<u32>(sum_of(node.starts, node.count));
      inner.players[index] = node.players[0];
      for (unsigned w = 0; w < W; ++w) inner.words[w][index] = node.words[w][0];
    }
  }

  // The parent has room. Nodes above it are told of a new first entry, not of counts: what is
  // inserted came out of a sibling or is still empty.
  void insert_child(u32 parent, unsigned at, u32 child) noexcept {
    InnerNode& inner = inners_[parent];
    open_gap(inner.child, at, inner.count);
    open_gap(inner.counts, at, inner.count);
    open_gap(inner.starts, at, inner.count);
    open_gap(inner.players, at, inner.count);
    for (unsigned w = 0; w < W; ++w) open_gap(inner.words[w], at, inner.count);
    ++inner.count;
    inner.child[at] = child;
    set_parent(inner.level, child, parent);
    refresh_child(parent, at);
  }

  void remove_child(u32 parent, unsigned at) noexcept {
    InnerNode& inner = inners_[parent];
    close_gap(inner.child, at, inner.count);
    close_gap(inner.counts, at, inner.count);
    close_gap(inner.starts, at, inner.count);
    close_gap(inner.players, at, inner.count);
    for (unsigned w = 0; w < W; ++w) close_gap(inner.words[w], at, inner.count);
    --inner.count;
    if (at == 0 && inner.count > 0) refresh_first(leftmost_leaf(parent));
    if (parent == root_) {
      if (inner.count == 1) drop_root();
    } else if (inner.count < kInnerLow) {
      refill_inner(parent);
    }
  }

  void drop_root() noexcept {
    const u32 old = root_;
    root_ = inners_[old].child[0];
    set_parent(inners_[old].level, root_, kNone);
    inners_.give(old);
    --height_;
    // A root of one child can only be met again when joins below left it so.
    if (height_ > 0 && inners_[root_].count == 1) drop_root();
  }

  void split_inner(u32 node) noexcept {
    u32 parent = inners_[node].parent;
    if (parent == kNone) {
      parent = new_root(inners_[node].level + 1u, node);
    } else if (inners_[parent].count == kInnerChildren) {
      split_inner(parent);
      parent = inners_[node].parent;
    }
    const u32 right = new_inner(inners_[node].level);
    move_children(node, right, kInnerChildren / 2);
    const unsigned index = index_of(inners_[parent].child, node);
    insert_child(parent, index + 1, right);
    refresh_child(parent, index);
  }

  // The last children of `left` become the first ones of `right`.
  void move_children(u32 left, u32 right, unsigned count) noexcept {
    InnerNode& a = inners_[left];
    InnerNode& b = inners_[right];
    const unsigned kept = a.count - count;
    const auto move = [&](auto* from, auto* to) {
      std::memmove(to + count, to, b.count * sizeof *to);
      std::memcpy(to, from + kept, count * sizeof *to);
    };
    move(a.child, b.child);
    move(a.counts, b.counts);
    move(a.starts, b.starts);
    move(a.players, b.players);
    for (unsigned w = 0; w < W; ++w) move(a.words[w], b.words[w]);
    for (unsigned i = 0; i < count; ++i) set_parent(b.level, b.child[i], right);
    a.count = static_cast<u16>(kept);
    b.count = static_cast<u16>(b.count + count);
  }
  // The first children of `right` become the last ones of `left`.
  void move_children_left(u32 right, u32 left, unsigned count) noexcept {
    InnerNode& a = inners_[left];
    InnerNode& b = inners_[right];
    const unsigned kept = b.count - count;
    const auto move = [&](auto* from, auto* to) {
      std::memcpy(to + a.count, from, count * sizeof *to);
      std::memmove(from, from + count, kept * sizeof *to);
    };
    for (unsigned i = 0; i < count; ++i) set_parent(b.level, b.child[i], left);
    move(b.child, a.child);
    move(b.counts, a.counts);
    move(b.starts, a.starts);
    move(b.players, a.players);
    for (unsigned w = 0; w < W; ++w) move(b.words[w], a.words[w]);
    a.count = static_cast<u16>(a.count + count);
    b.count = static_cast<u16>(kept);
  }

  void refill_inner(u32 node) noexcept {
    const u32 parent = inners_[node].parent;
    const InnerNode& above = inners_[parent];
    if (above.count == 1) return;
    const unsigned index = index_of(above.child, node);
    const unsigned pair = index > 0 ? index - 1 : index;
    const u32 a = above.child[pair];
    const u32 b = above.child[pair + 1];
    const unsigned total = inners_[a].count + inners_[b].count;
    if (total <= kInnerJoinMax) {
      move_children_left(b, a, inners_[b].count);
      inners_.give(b);
      refresh_child(parent, pair);
      remove_child(parent, pair + 1);
      return;
    }
    if (inners_[a].count > total / 2) {
      move_children(a, b, inners_[a].count - total / 2);
    } else {
      move_children_left(b, a, total / 2 - inners_[a].count);
    }
    refresh_child(parent, pair);
    refresh_child(parent, pair + 1);
  }

  // ---- whole sets ------------------------------------------------------------------------------

  void release_all() noexcept {
    leaves_.clear();
    inners_.clear();
    map_.clear();
    root_ = kNone;
    height_ = 0;
    size_ = 0;
    ++restructured_;
  }

  // Entries come in order; a player that comes twice is found out by the map.
  template <class Number, class Word>
  void build_sorted(std::size_t count, Number number, Word word) {
    if (count == 0) return;
    try {
      fill(count, number, word);
    } catch (...) {
      release_all();
      throw;
    }
    size_ = count;
    ++modifications_;
  }

  template <class Number, class Word>
  void fill(std::size_t count, Number number, Word word) {
    if (count >= kNone) throw std::invalid_argument("too many entries");
    if (count > table_.present()) throw std::invalid_argument("a player is named twice");
    const std::size_t leaf_count = (count + kLeafBuilt - 1) / kLeafBuilt;
    std::size_t inner_count = 1;
    for (std::size_t nodes = leaf_count; nodes > 1; inner_count += nodes) {
      nodes = (nodes + kInnerBuilt - 1) / kInnerBuilt;
    }
    leaves_.reserve(leaf_count);
    inners_.reserve(inner_count);
    map_.reserve(static_cast<u32>(count), table_.limit());
    Vector<u32> nodes(leaf_count);
    std::size_t done = 0;
    for (std::size_t i = 0; i < leaf_count; ++i) {
      const u32 leaf = nodes[i] = new_leaf();
      if (i > 0) link_after(nodes[i - 1], leaf);
      LeafNode& node = leaves_[leaf];
      const std::size_t end = count * (i + 1) / leaf_count;
      node.count = static_cast<u8>(end - done);
      node.used = low_bits(node.count);
      std::iota(node.order, node.order + node.count, u8{0});
      for (unsigned k = 0; k < node.count; ++k) node.players[k] = number(done + k);
      for (unsigned w = 0; w < W; ++w) {
        for (unsigned k = 0; k < node.count; ++k) node.words[w][k] = word(done + k, w);
      }
      for (unsigned k = 0; k < node.count; ++k) {
        if (!map_.add(node.players[k], leaf)) throw std::invalid_argument("a player is named twice");
        table_.note_held(node.players[k]);
        set_start(leaf, k);
      }
      done = end;
    }
    root_ = nodes[0];
    for (unsigned level = 1; nodes.size() > 1; ++level) {
      const std::size_t parents = (nodes.size() + kInnerBuilt - 1) / kInnerBuilt;
      std::size_t from = 0;
      for (std::size_t i = 0; i < parents; ++i) {
        const u32 parent = new_inner(level);
        const std::size_t end = nodes.size() * (i + 1) / parents;
        for (unsigned k = 0; from < end; ++k, ++from) insert_child(parent, k, nodes[from]);
        nodes[i] = parent;
      }
      nodes.resize(parents);
      root_ = nodes[0];
      ++height_;
    }
  }

  NodePool<LeafNode> leaves_;
  NodePool<InnerNode> inners_;
  LeafMap map_;
  u32 root_ = kNone;
  unsigned height_ = 0;
  // Counts changes of shape, so that a leaf found before one is looked for again.
  u64 restructured_ = 0;
};

inline std::unique_ptr<RankedSet> RankedSet::make(PlayerTable& table, const Shape& shape) {
  switch (shape.words) {
    case 1: return std::make_unique<Tree<1>>(table, shape);
    case 2: return std::make_unique<Tree<2>>(table, shape);
    case 3: return std::make_unique<Tree<3>>(table, shape);
    default: return std::make_unique<Tree<4>>(table, shape);
  }
}

}  // namespace toprung

#include "tree_check.hpp"
