// The best of some players: a friends board.
//
// What costs time is waiting for memory, for each player anew. Rough places are cheap, and tell who can
// be among the best; only those are ranked, which takes finding the entries and reading the nodes above.
#pragma once

#include <algorithm>
#include <numeric>

#include "ranked_set.hpp"

namespace toprung {

struct Best {
  std::size_t present = 0;     // how many of the players have an entry
  std::size_t tied_until = 0;  // how many of those are no worse than the last of the best
  Vector<u32> numbers;         // the best of them, best first
  Vector<PlaceOf> places;      // and where each stands
};

// How many of the players are tied with an entry, by its record.
inline std::size_t count_tied(const RankedSet& set, const Vector<u32>& numbers, const u64* record) {
  const Shape& shape = set.shape();
  Vector<u64> records(numbers.size() * shape.words);
  Vector<u8> found(numbers.size());
  set.find_many(numbers.data(), numbers.size(), records.data(), found.data());
  std::size_t tied = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    tied += found[i] != 0 && std::equal(record, record + shape.tied, &records[i * shape.words]);
  }
  return tied;
}

inline Best best_of(const RankedSet& set, const Vector<u32>& numbers, u64 wanted) {
  Vector<RoughPlace> entries;
  entries.reserve(numbers.size());
  set.rough_places(numbers.data(), numbers.size(), entries);
  const std::size_t count = static_cast<std::size_t>(std::min<u64>(wanted, entries.size()));

  Best best;
  best.present = entries.size();
  if (count == 0) return best;
  auto leading = entries.end();
  if (count < entries.size()) {
    const auto less = [](const RoughPlace& a, const RoughPlace& b) { return a.word < b.word; };
    const auto last = entries.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::nth_element(entries.begin(), last, entries.end(), less);
    // Whoever is roughly where the last of them is may be better.
    const u64 word = last->word;
    leading = std::partition(last + 1, entries.end(),
                             [&](const RoughPlace& entry) { return entry.word == word; });
  }
  Vector<u32> candidates;
  candidates.reserve(static_cast<std::size_t>(leading - entries.begin()));
  for (auto entry = entries.begin(); entry != leading; ++entry) candidates.push_back(entry->number);
  Vector<PlaceOf> places(candidates.size());
  set.places(candidates.data(), candidates.size(), places.data());

  Vector<u32> order(candidates.size());
  std::iota(order.begin(), order.end(), 0u);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](u32 a, u32 b) { return places[a].offset < places[b].offset; });
  best.numbers.reserve(count);
  best.places.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    best.numbers.push_back(candidates[order[i]]);
    best.places.push_back(places[order[i]]);
  }
  // Others who are tied with the last: their leaves begin no later than its score.
  const u64* last = best.places.back().record;
  Vector<u32> others;
  for (std::size_t i = count; i < order.size(); ++i) others.push_back(candidates[order[i]]);
  for (auto entry = leading; entry != entries.end(); ++entry) {
    if (entry->word <= last[0]) others.push_back(entry->number);
  }
  best.tied_until = count + count_tied(set, others, last);
  return best;
}

}  // namespace toprung
