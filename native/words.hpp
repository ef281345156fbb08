// Words as the bytes of records: big-endian, so that bytes sort as the numbers do.
#pragma once

#include "hash.hpp"

namespace toprung {

inline u64 big_endian_word(const u8* p) noexcept { return __builtin_bswap64(read64(p)); }

inline void write_word(u64 word, u8* out) noexcept {
  const u64 big_endian = __builtin_bswap64(word);
  std::memcpy(out, &big_endian, 8);
}

inline void write_words(const u64* words, std::size_t count, u8* out) noexcept {
  for (std::size_t w = 0; w < count; ++w) write_word(words[w], out + 8 * w);
}

}  // namespace toprung
