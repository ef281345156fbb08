// The hashes of a Merkle tree as RFC 9162 has them, and the leaves that submissions are in it.
#pragma once

#include <bit>
#include <charconv>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sha256.hpp"

namespace toprung::merkle {

inline constexpr int kLeaf = 0;
inline constexpr int kNode = 1;

inline const u8* bytes_of(std::string_view text) { return reinterpret_cast<const u8*>(text.data()); }

inline Digest leaf_hash(std::string_view leaf) {
  return hash_message(kLeaf, bytes_of(leaf), leaf.size());
}

inline Digest node_hash(const Digest& left, const Digest& right) {
  std::array<u8, 64> both;
  std::memcpy(both.data(), left.data(), 32);
  std::memcpy(both.data() + 32, right.data(), 32);
  return hash_message(kNode, both.data(), both.size());
}

// The hash of the tree over at least one hash: O(n).
inline Digest tree_hash(std::span<const Digest> hashes) {
  if (hashes.size() == 1) return hashes[0];
  const std::size_t split = std::bit_floor(hashes.size() - 1);
  return node_hash(tree_hash(hashes.first(split)), tree_hash(hashes.subspan(split)));
}

struct Other {
  i64 position;
  std::string_view leaf;
};

struct Leaves {
  std::vector<Digest> hashes;
  std::vector<i64> positions;
};

// Reads rows of numbers as databases write them in JSON: all that is no number or null lies between.
class RowReader {
 public:
  explicit RowReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool has_more() {
    while (at_ < end_ && !begins_value(*at_)) ++at_;
    return at_ < end_;
  }

  // The next value, as it is written.
  std::string_view next() {
    if (!has_more()) throw std::invalid_argument("a row has too few values");
    const char* const begin = at_;
    while (at_ < end_ && !ends_value(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  i64 next_number() { return number_in(next()); }

  static i64 number_in(std::string_view text) {
    i64 number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw std::invalid_argument("a value is not a whole number");
    }
    return number;
  }

 private:
  static bool begins_value(char c) { return c == '-' || c == 'n' || (c >= '0' && c <= '9'); }
  static bool ends_value(char c) {
    return c == ',' || c == ']' || c == ' ' || c == '\n' || c == '[';
  }

  const char* at_;
  const char* end_;
};

using Texts = std::unordered_map<i64, std::string_view>;

// Hashes the leaves of submissions and of other events, in the order of their positions. A row is
// (position, recorded_at, route, player, at, score, subscore, status); `routes` has what a leaf says of a
// route, `tails` what it says at its end, by position. Both kinds come in order.
inline Leaves hash_leaves(std::string_view rows, const Texts& routes, const Texts& tails,
                          std::span<const Other> others) {
  Leaves found;
  RowReader reader(rows);
  std::string leaf;
  std::size_t other = 0;
  i64 last = -1;
  const auto add = [&](i64 position, std::string_view text) {
    if (position <= last) throw std::invalid_argument("positions are not in order");
    last = position;
    found.hashes.push_back(leaf_hash(text));
    found.positions.push_back(position);
  };
  const auto add_others = [&](i64 before) {
    for (; other < others.size() && others[other].position < before; ++other) {
      add(others[other].position, others[other].leaf);
    }
  };
  while (reader.has_more()) {
    const std::string_view position_text = reader.next();
    const i64 position = RowReader::number_in(position_text);
    add_others(position);
    leaf.assign("[").append(position_text).append(",").append(reader.next()).append(",\"score\",");
    const auto route = routes.find(reader.next_number());
    if (route == routes.end()) throw std::invalid_argument("a route is missing");
    leaf.append(route->second);
    for (int value = 0; value < 5; ++value) leaf.append(",").append(reader.next());
    if (const auto tail = tails.find(position); tail != tails.end()) {
      leaf.append(",").append(tail->second);
    }
    leaf.append("]");
    add(position, leaf);
  }
  add_others(INT64_MAX);
  return found;
}

}  // namespace toprung::merkle
