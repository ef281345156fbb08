// The frame around a dump: 40 bytes of header, then 8-byte aligned little-endian sections.
//
//   0  magic (8)   8  format version (u32)  12  shape (4 x u8)   16  count (u64)
//  24  length of the whole dump (u64)       32  checksum of everything else (u64)
//
// A reader trusts nothing: length and checksum first, then counts against the length, and only then
// is anything allocated.
#pragma once

#include <array>
#include <bit>
#include <functional>
#include <stdexcept>

#include "hash.hpp"

namespace toprung {

static_assert(std::endian::native == std::endian::little, "dumps are written in native order");

inline constexpr std::size_t kHeaderBytes = 40;
inline constexpr u32 kDumpVersion = 1;

inline std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

struct DumpHeader {
  std::array<u8, 4> shape{};
  u64 count = 0;
};

inline u64 dump_checksum(const u8* dump, std::size_t length) noexcept {
  return checksum(dump + kHeaderBytes, length - kHeaderBytes, checksum(dump, 32, 0x746f7072756e67u));
}

// Called between chunks of a long dump.
using Pause = std::function<void()>;
inline constexpr std::size_t kDumpChunk = 4096;

// Writes the header of a dump, all but the checksum.
inline void head_dump(u8* dump, std::size_t length, const char (&magic)[9], const DumpHeader& header) {
  const u64 total = length;
  std::memcpy(dump, magic, 8);
  std::memcpy(dump + 8, &kDumpVersion, 4);
  std::memcpy(dump + 12, header.shape.data(), 4);
  std::memcpy(dump + 16, &header.count, 8);
  std::memcpy(dump + 24, &total, 8);
}

// Adds the checksum, when all the rest is in place.
inline void seal_dump(u8* dump, std::size_t length) {
  const u64 sum = dump_checksum(dump, length);
  std::memcpy(dump + 32, &sum, 8);
}

inline DumpHeader open_dump(const u8* dump, std::size_t length, const char (&magic)[9]) {
  if (length < kHeaderBytes) throw std::invalid_argument("the dump is truncated");
  if (std::memcmp(dump, magic, 8) != 0) throw std::invalid_argument("this is not such a dump");
  if (read32(dump + 8) != kDumpVersion) throw std::invalid_argument("unknown dump format version");
  if (read64(dump + 24) != length) throw std::invalid_argument("the dump's length is wrong");
  if (read64(dump + 32) != dump_checksum(dump, length)) {
    throw std::invalid_argument("the dump's checksum does not match");
  }
  DumpHeader header;
  std::memcpy(header.shape.data(), dump + 12, 4);
  header.count = read64(dump + 16);
  return header;
}

}  // namespace toprung
