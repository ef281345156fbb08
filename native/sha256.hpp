// SHA-256 (FIPS 180-4) for many short messages: with the processor's own instructions where it has them,
// otherwise in plain C++. Which one is found out once.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "memory.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TOPRUNG_SHA_INSTRUCTIONS 1
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace toprung {

using Digest = std::array<u8, 32>;

namespace sha256 {

inline constexpr std::size_t kBlock = 64;

alignas(16) inline constexpr std::array<u32, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<u32, 8>;

inline constexpr State kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

using Compress = void (*)(State& state, const u8* data, std::size_t blocks);

inline constexpr u32 rotated(u32 word, int by) noexcept { return (word >> by) | (word << (32 - by)); }

inline void compress_plain(State& state, const u8* data, std::size_t blocks) {
  for (; blocks > 0; --blocks, data += kBlock) {
    std::array<u32, 64> w;
    for (std::size_t at = 0; at < 16; ++at) {
      const u8* const word = data + 4 * at;
      w[at] = (u32{word[0]} << 24) | (u32{word[1]} << 16) | (u32{word[2]} << 8) | u32{word[3]};
    }
    for (std::size_t at = 16; at < 64; ++at) {
      const u32 s0 = rotated(w[at - 15], 7) ^ rotated(w[at - 15], 18) ^ (w[at - 15] >> 3);
      const u32 s1 = rotated(w[at - 2], 17) ^ rotated(w[at - 2], 19) ^ (w[at - 2] >> 10);
      w[at] = w[at - 16] + s0 + w[at - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t at = 0; at < 64; ++at) {
      const u32 s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const u32 one = h + s1 + ((e & f) ^ (~e & g)) + kRounds[at] + w[at];
      const u32 s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const u32 two = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const State sum = {a, b, c, d, e, f, g, h};
    for (std::size_t at = 0; at < 8; ++at) state[at] += sum[at];
  }
}

#ifdef TOPRUNG_SHA_INSTRUCTIONS

#define TOPRUNG_LOAD(from) _mm_loadu_si128(reinterpret_cast<const __m128i*>(from))

// Four rounds at a time. The instructions want the state as (a, b, e, f) and (c, d, g, h).
__attribute__((target("sha,sse4.1,ssse3"))) inline void compress_quickly(State& state, const u8* data,
                                                                        std::size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i low = _mm_shuffle_epi32(TOPRUNG_LOAD(state.data()), 0xb1);       // c d a b
  const __m128i high = _mm_shuffle_epi32(TOPRUNG_LOAD(state.data() + 4), 0x1b);  // e f g h
  __m128i abef = _mm_alignr_epi8(low, high, 8);
  __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
  for (; blocks > 0; --blocks, data += kBlock) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    std::array<__m128i, 4> w;
    for (std::size_t at = 0; at < 4; ++at) w[at] = _mm_shuffle_epi8(TOPRUNG_LOAD(data + 16 * at), swap);
    for (std::size_t at = 0; at < 16; ++at) {
      __m128i wk = _mm_add_epi32(w[at % 4], TOPRUNG_LOAD(kRounds.data() + 4 * at));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
      wk = _mm_shuffle_epi32(wk, 0x0e);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, wk);
      if (at >= 12) continue;
      __m128i next = _mm_sha256msg1_epu32(w[at % 4], w[(at + 1) % 4]);
      next = _mm_add_epi32(next, _mm_alignr_epi8(w[(at + 3) % 4], w[(at + 2) % 4], 4));
      w[at % 4] = _mm_sha256msg2_epu32(next, w[(at + 3) % 4]);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#undef TOPRUNG_LOAD

inline bool has_instructions() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 29)) != 0;
}

#endif

inline Compress chosen() noexcept {
#ifdef TOPRUNG_SHA_INSTRUCTIONS
  if (has_instructions()) return compress_quickly;
#endif
  return compress_plain;
}

inline const Compress kCompress = chosen();

}  // namespace sha256

// The hash of a prefix byte and a message; `prefix` < 0: of the message alone.
inline Digest hash_message(int prefix, const u8* data, std::size_t size,
                           sha256::Compress compress = sha256::kCompress) {
  using sha256::kBlock;
  sha256::State state = sha256::kStart;
  std::array<u8, 2 * kBlock> last{};
  const std::size_t lead = prefix < 0 ? 0 : 1;
  const u64 bits = static_cast<u64>(size + lead) * 8;
  std::size_t held = 0;
  if (lead != 0) {
    last[0] = static_cast<u8>(prefix);
    held = std::min(size, kBlock - 1);
    if (held > 0) std::memcpy(last.data() + 1, data, held);
    data += held, size -= held, held += 1;
    if (held == kBlock) {
      compress(state, last.data(), 1);
      held = 0;
    }
  }
  if (held == 0) {
    const std::size_t whole = size / kBlock;
    compress(state, data, whole);
    data += whole * kBlock, size -= whole * kBlock;
    last.fill(0);
    if (size > 0) std::memcpy(last.data(), data, size);
    held = size;
  }
  last[held] = 0x80;
  const std::size_t end = held + 9 <= kBlock ? kBlock : 2 * kBlock;
  for (std::size_t at = 0; at < 8; ++at) last[end - 1 - at] = static_cast<u8>(bits >> (8 * at));
  compress(state, last.data(), end / kBlock);
  Digest digest;
  for (std::size_t at = 0; at < 32; ++at) {
    digest[at] = static_cast<u8>(state[at / 4] >> (24 - 8 * (at % 4)));
  }
  return digest;
}

}  // namespace toprung
