// Tree<W>::check(): every invariant of a ranked set, in O(n). Included by tree.hpp.
#pragma once

#include "tree.hpp"

namespace toprung {

template <unsigned W>
void Tree<W>::check() const {
  const auto demand = [](bool holds, const char* what) {
    if (!holds) throw std::runtime_error(std::string("ranked set: ") + what);
  };
  demand(map_.size() == size_, "the map's size");
  if (root_ == kNone) {
    demand(size_ == 0 && height_ == 0, "an empty set has a size or a height");
    demand(leaves_.in_use() == 0 && inners_.in_use() == 0, "an empty set has nodes");
    return;
  }

  // Leaves, left to right: order, tie bits, the map, links and fill.
  u64 entries = 0;
  u32 leaf_count = 0;
  u32 last = kNone;
  for (u32 i = first_leaf(); i != kNone; i = leaves_[i].next) {
    const LeafNode& leaf = leaves_[i];
    demand(leaf.prev == last, "leaf links");
    demand(leaf.count > 0 && leaf.count <= kLeafEntries, "leaf count");
    const bool at_an_end = leaf.prev == kNone || leaf.next == kNone;
    demand(at_an_end || leaf.count >= kLeafMin, "leaf fill");
    u64 used = 0;
    for (unsigned k = 0; k < leaf.count; ++k) used |= u64{1} << leaf.slot(k);
    demand(used == leaf.used && count_bits(used) == leaf.count, "slots in use");
    for (unsigned k = 0; k < kLeafEntries; ++k) {
      demand((leaf.used >> k & 1) != 0 || leaf.players[k] == kNone, "an unused slot names a player");
    }
    demand((leaf.starts & ~low_bits(leaf.count)) == 0, "tie bits beyond the entries");
    for (unsigned k = 0; k < leaf.count; ++k) {
      const u32 player = leaf.players[leaf.slot(k)];
      demand(table_.is_present(player), "an entry of an absent player");
      demand(map_.find(player) == i, "the map disagrees with a leaf");
      demand(index_in(leaf, player) == k, "a player twice in a leaf");
      demand(((leaf.starts >> k & 1) != 0) == is_start(i, k), "a tie bit");
      if (k == 0 && leaf.prev == kNone) continue;
      const LeafNode& left = k > 0 ? leaf : leaves_[leaf.prev];
      u64 record[W];
      copy_record(leaf, k, record);
      demand(is_before(left, k > 0 ? k - 1 : left.count - 1u, probe_of(player, record)), "order");
    }
    entries += leaf.count;
    last = i;
    ++leaf_count;
  }
  demand(entries == size_, "size");
  demand(leaf_count == leaves_.in_use(), "leaves in use");

  // Inner nodes, level by level: counts, copies of first entries, parents, fill.
  Vector<u32> level{root_};
  u32 inner_count = 0;
  demand(height_ == 0 ? leaves_[root_].parent == kNone : inners_[root_].parent == kNone, "root");
  for (unsigned depth = 0; depth < height_; ++depth) {
    Vector<u32> below;
    for (const u32 node : level) {
      const InnerNode& inner = inners_[node];
      ++inner_count;
      demand(inner.level == height_ - depth, "level");
      demand(inner.count <= kInnerChildren && inner.count >= (node == root_ ? 2u : kInnerLow),
             "inner fill");
      for (unsigned k = 0; k < inner.count; ++k) {
        const u32 child = inner.child[k];
        u64 held = 0;
        u64 starts = 0;
        u32 first = child;
        if (inner.level == 1) {
          demand(leaves_[child].parent == node, "a leaf's parent");
          held = leaves_[child].count;
          starts = count_bits(leaves_[child].starts);
        } else {
          demand(inners_[child].parent == node, "an inner node's parent");
          held = sum_of(inners_[child].counts, inners_[child].count);
          starts = sum_of(inners_[child].starts, inners_[child].count);
          first = leftmost_leaf(child);
        }
        demand(inner.counts[k] == held, "counts");
        demand(inner.starts[k] == starts, "tie counts");
        const unsigned slot = leaves_[first].slot(0);
        demand(inner.players[k] == leaves_[first].players[slot], "a first player");
        for (unsigned w = 0; w < W; ++w) {
          demand(inner.words[w][k] == leaves_[first].words[w][slot], "a first record");
        }
        below.push_back(child);
      }
    }
    level.swap(below);
  }
  demand(inner_count == inners_.in_use(), "inner nodes in use");

  const auto walk_free = [&](const auto& pool) {
    u32 steps = 0;
    for (u32 i = pool.free_head(); i != kNone && steps <= pool.free_count(); i = pool[i].parent) {
      ++steps;
    }
    demand(steps == pool.free_count(), "free list");
  };
  walk_free(leaves_);
  walk_free(inners_);
  u64 mapped = 0;
  map_.each([&](u32 number, u32 leaf) {
    demand(number < table_.limit() && leaf < leaves_.touched(), "the map's range");
    ++mapped;
  });
  demand(mapped == size_, "the map's entries");
}

}  // namespace toprung
