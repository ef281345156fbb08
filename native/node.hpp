// The two kinds of tree node, and the searches inside one node.
//
// Both keep their columns apart: all first words together, all second words together, all players
// together, so a search reads one column. What costs time is the number of cache lines touched:
//
// An entry of a leaf stays in the slot it was put in; `order` lists the slots best first. Adding or
// taking out an entry writes one slot and shifts bytes of `order`, not the entries behind it.
//
// A node remembers its place among its parent's children. That is a guess: it is checked against the
// parent and corrected when wrong, which is cheaper than keeping it right as children shift.
#pragma once

#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "memory.hpp"

namespace toprung {

inline constexpr unsigned kLeafEntries = 48;
inline constexpr unsigned kInnerChildren = 64;

// `starts` has a bit per entry, in order: set where the entry's tied prefix differs from that of the
// entry before it in the whole set. Counting bits counts distinct prefixes. `used` has a bit per slot.
// Unused slots name no player.
template <unsigned W>
struct Leaf {
  u64 starts;
  u64 used;
  u32 parent;
  u32 prev;
  u32 next;
  u8 count;
  mutable u8 place;
  u8 order[kLeafEntries];
  u32 players[kLeafEntries];
  u64 words[W][kLeafEntries];

  unsigned slot(unsigned i) const noexcept { return order[i]; }
  unsigned free_slot() const noexcept { return static_cast<unsigned>(std::countr_one(used)); }
};
static_assert(kLeafEntries < 64, "starts and used are one word, and shifts by a whole leaf are defined");

// Child i holds counts[i] entries, starts[i] of them starting a tie group; players[i] and words[..][i]
// are those of its first entry. Children of a node of level 1 are leaves.
template <unsigned W>
struct Inner {
  u32 parent;
  u16 count;
  u8 level;
  mutable u8 place;
  u32 child[kInnerChildren];
  u32 counts[kInnerChildren];
  u32 starts[kInnerChildren];
  u32 players[kInnerChildren];
  u64 words[W][kInnerChildren];

  unsigned slot(unsigned i) const noexcept { return i; }
};

inline u64 low_bits(unsigned n) noexcept { return n >= 64 ? ~u64{0} : (u64{1} << n) - 1; }
inline u64 insert_bit(u64 bits, unsigned at) noexcept {
  return (bits & low_bits(at)) | (((bits >> at) << 1) << at);
}
inline u64 remove_bit(u64 bits, unsigned at) noexcept {
  return (bits & low_bits(at)) | ((bits >> 1) & ~low_bits(at));
}
inline u32 count_bits(u64 bits) noexcept { return static_cast<u32>(std::popcount(bits)); }

// Index of the first `value`, which must be there. All of the array is looked at: a loop that stops
// early stops at random, and a mispredicted branch costs more than the rest of the array.
template <unsigned N>
unsigned index_of(const u32 (&values)[N], u32 value) noexcept {
  static_assert(N % 16 == 0 && N <= 64);
  u64 found = 0;
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(value));
  const auto equal = [&](unsigned i) {
    return _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i)), wanted);
  };
  for (unsigned i = 0; i < N; i += 16) {
    const __m128i low = _mm_packs_epi32(equal(i), equal(i + 4));
    const __m128i high = _mm_packs_epi32(equal(i + 8), equal(i + 12));
    found |= u64{static_cast<u32>(_mm_movemask_epi8(_mm_packs_epi16(low, high)))} << i;
  }
#else
  for (unsigned i = 0; i < N; ++i) found |= u64{values[i] == value} << i;
#endif
  return static_cast<unsigned>(std::countr_zero(found));
}
template <unsigned N>
unsigned index_of(const u8 (&values)[N], unsigned value) noexcept {
  static_assert(N % 16 == 0 && N <= 64);
  u64 found = 0;
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(value));
  for (unsigned i = 0; i < N; i += 16) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i));
    found |= u64{static_cast<u32>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, wanted)))} << i;
  }
#else
  for (unsigned i = 0; i < N; ++i) found |= u64{values[i] == value} << i;
#endif
  return static_cast<unsigned>(std::countr_zero(found));
}

inline u64 sum_of(const u32* values, unsigned count) noexcept {
  u32 sum = 0;  // a set has fewer than 2^32 entries, as many as there are numbers
  for (unsigned i = 0; i < count; ++i) sum += values[i];
  return sum;
}

// First index whose first word is not below the bound, without a branch to mispredict.
template <class Node>
unsigned lower_bound_of_first_word(const Node& node, u64 bound) noexcept {
  const u64* column = node.words[0];
  unsigned first = 0;
  unsigned count = node.count;
  while (count > 1) {
    const unsigned half = count / 2;
    first += column[node.slot(first + half - 1)] < bound ? half : 0;
    count -= half;
  }
  return first + (count == 1 && column[node.slot(first)] < bound ? 1 : 0);
}

template <class T>
void open_gap(T* values, unsigned at, unsigned count) noexcept {
  std::memmove(values + at + 1, values + at, (count - at) * sizeof(T));
}
template <class T>
void close_gap(T* values, unsigned at, unsigned count) noexcept {
  std::memmove(values + at, values + at + 1, (count - at - 1) * sizeof(T));
}
// Takes the value at `from` to `to`, shifting those between.
template <class T>
void shift(T* values, unsigned from, unsigned to) noexcept {
  const T moved = values[from];
  if (from < to) {
    std::memmove(values + from, values + from + 1, (to - from) * sizeof(T));
  } else {
    std::memmove(values + to + 1, values + to, (from - to) * sizeof(T));
  }
  values[to] = moved;
}

}  // namespace toprung
