// One multiplying 64-bit hash for two uses: a keyed one for player ids (ids come from strangers, so
// the key is random per process and collisions cannot be prepared), and a fixed one for dumps.
#pragma once

#include <cstring>
#include <random>

#include "memory.hpp"

namespace toprung {

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

inline u64 fold_multiply(u64 a, u64 b) noexcept {
  const u128 product = static_cast<u128>(a) * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

inline u64 read64(const u8* p) noexcept {
  u64 value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

inline u64 read32(const u8* p) noexcept {
  u32 value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

struct HashKey {
  u64 first;
  u64 second;

  static HashKey random() {
    std::random_device device;
    const auto draw = [&] { return (static_cast<u64>(device()) << 32) | device(); };
    return {draw(), draw()};
  }
};

inline u64 hash_bytes(const u8* p, std::size_t length, const HashKey& key) noexcept {
  u64 state = key.second ^ length;
  u64 a = 0;
  u64 b = 0;
  if (length > 16) {
    const u8* last = p + length - 16;
    for (; p < last; p += 16) state = fold_multiply(read64(p) ^ key.first, read64(p + 8) ^ state);
    a = read64(last);
    b = read64(last + 8);
  } else if (length >= 8) {
    a = read64(p);
    b = read64(p + length - 8);
  } else if (length >= 4) {
    a = read32(p);
    b = read32(p + length - 4);
  } else if (length > 0) {
    a = static_cast<u64>(p[0]) << 16 | static_cast<u64>(p[length / 2]) << 8 | p[length - 1];
  }
  return fold_multiply(key.first ^ length, fold_multiply(a ^ key.first, b ^ state));
}

// Four independent lanes of 16 bytes keep the multiplier busy: a dump is hashed at memory speed.
inline u64 checksum(const u8* p, std::size_t length, u64 seed) noexcept {
  constexpr u64 kOdd[4] = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
                           0xd6e8feb86659fd93u};
  u64 lane[4] = {seed ^ kOdd[0], seed ^ kOdd[1], seed ^ kOdd[2], seed ^ kOdd[3]};
  const std::size_t whole = length / 64;
  for (std::size_t block = 0; block < whole; ++block, p += 64) {
    for (int i = 0; i < 4; ++i) {
      const u64 x = read64(p + 16 * i);
      const u64 y = read64(p + 16 * i + 8);
      lane[i] = fold_multiply(x ^ kOdd[i], y ^ lane[i]) + x;
    }
  }
  u64 state = seed + length;
  for (int i = 0; i < 4; ++i) state = fold_multiply(state ^ lane[i], kOdd[i]) + lane[i];
  return hash_bytes(p, length % 64, HashKey{kOdd[1] ^ length, state}) + state;
}

}  // namespace toprung
